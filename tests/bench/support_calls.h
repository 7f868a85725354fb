/* SPDX-License-Identifier: MIT */
/*
 * support_calls.h - the libc calls whose cost is compared, each ready to be made again and again.
 *
 * They work on a tree below the current directory, which calls_prepare makes:
 *
 *     file   d1/d2/d3/d4/d5/file   d1/d2/link -> d3   to -> file   a/
 */
#ifndef CORDON_BENCH_SUPPORT_CALLS_H
#define CORDON_BENCH_SUPPORT_CALLS_H

#include <stdbool.h>
#include <stddef.h>

struct call {
    const char *name;
    long (*make)(void); /* 0, or a negative errno */
    long expected;
    double target; /* the ratio should not be more; 0: there is no target */
    double aim;    /* and better not more than this; 0: no aim but the target */
    bool connects; /* for sides that have a network */
};

extern const struct call calls[];
extern const size_t calls_count;

/* The one of that name, or NULL. */
const struct call *calls_find(const char *name);

/* A shell script that makes the tree. */
extern const char calls_prepare[];

/* To be called in the directory with the tree, once, before the first call. 0 or a negative errno.
 */
int calls_begin(void);

#endif
