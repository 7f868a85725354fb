/* SPDX-License-Identifier: MIT */
/*
 * record.h - the record of a refusal: one JSON object a line, one write(2).
 *
 * Fields: time, pid, ppid, exe, op, intent, path, resolved, verdict, rule, origin, errno, layer,
 * hint. Paths are bytes: what is no UTF-8 is written byte by byte as \u00XX.
 */
#ifndef CORDON_RECORD_H
#define CORDON_RECORD_H

#include <stdbool.h>
#include <sys/types.h>

#include "decide.h"
#include "walk.h"

struct record {
    pid_t pid;
    pid_t ppid;
    const char *exe;
    const char *op;
    const char *intent;
    const char *path;
    const char *resolved; /* where that leads; "" if it cannot be told */
    bool observed;        /* and let through */
    const struct policy *policy;
    struct verdict verdict;
    int error;
    const char *layer; /* "shim", "supervisor" */
    const char *hint;  /* NULL: the option that would allow it */
    enum intent wanted;
};

const char *record_intent(enum intent intent);

/* Writes it to `fd`. Takes its memory from the kernel; no heap, no lock, no errno. */
void record_write(int fd, const struct record *record);

/* Where a path leads, for reading: somebody may have changed that since it was judged. `place` gets
 * "" if it cannot be told. */
void record_resolve(const struct view *view, const struct start *start, const char *path,
                    bool follow, char *place, size_t size);

#endif
