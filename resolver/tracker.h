/* SPDX-License-Identifier: MIT */
/*
 * tracker.h - which files this session has read.
 *
 * A set of canonical paths that only grows, in memory shared by every thread and process of a
 * session: a sealed memfd, so that nobody can shrink it under a reader. An entry is written first
 * and published by one atomic compare-and-swap, so a process may be killed at any instruction and
 * leaves at worst some unused bytes; there is no lock to leave behind.
 *
 * A session that outlives one run also has a journal: a file to which each new path is appended by
 * one write(2). It is read into the memory at the start, never mapped, and a journal that shrank,
 * or holds anything but whole records, is an error.
 *
 * tracker_mark and tracker_has are for hooks: they neither allocate nor lock, and return a negative
 * errno on failure. A tracker's handle belongs to one process; fork is fine. It never changes after
 * tracker_attach and tracker_journal, so it may lie in read-only memory.
 */
#ifndef CORDON_TRACKER_H
#define CORDON_TRACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tracker_memory; /* the shared form: header, slots, then the records */

/* Apart from the memory itself all of this is the process's own, out of reach of whoever else can
 * write to the memory. */
struct tracker {
    struct tracker_memory *memory;
    size_t size;
    uint64_t slots;
    uint64_t paths;
    uint64_t key[2];
    int journal; /* -1: the session ends with the memory */
    uint64_t journal_dev;
    uint64_t journal_ino;
    bool journal_named; /* it had a name: without one nobody else would find it */
};

/* A new, empty set for up to `paths` paths with `bytes` bytes of text in all, as a sealed memfd
 * that the caller closes or hands to another process. Costs no memory before it is used. -EINVAL:
 * no paths, more than 2^32, or more than 2^40 bytes. */
int tracker_create(uint64_t paths, uint64_t bytes);

/* Maps a memfd that tracker_create made, perhaps in another process. The descriptor is not kept.
 * -EINVAL: not a tracker, not sealed, or not whole. */
int tracker_attach(struct tracker *tracker, int fd);

/* Ties the open file `journal` (read, write, append) to the tracker and takes in what it holds; an
 * empty file becomes a journal. Every process that shares the memory has to come with the same
 * file. The tracker owns `journal` from here on, if this succeeds; if not, the memory may hold a
 * part of it and is of no use any more. -EBADMSG: torn or foreign. -ENOSPC: it holds more than the
 * memory can. -EBUSY: there is one already. -EINVAL: not a regular file, not opened so, or another
 * one than the memory's. */
int tracker_journal(struct tracker *tracker, int journal);

void tracker_detach(struct tracker *tracker);

/* 1: newly marked, 0: was there already. -ENOSPC: full. -ENAMETOOLONG: not below PATH_MAX.
 * -EINVAL: not canonical, that is, empty, relative, or with a NUL, an empty, "." or ".." component.
 * If the journal cannot be written, its errno (-EIO: in part only): the path is in the memory then,
 * and the next mark of it tries the journal again. */
int tracker_mark(struct tracker *tracker, const char *path, size_t length);

/* 1 or 0. With a journal, what other processes have appended since counts too. -EINVAL and
 * -ENAMETOOLONG as above. Anything else is no answer. -EBADMSG: the memory or the journal is
 * damaged. -EBADF: somebody has closed the journal. -ENOSPC: the others' paths do not fit into the
 * memory. */
int tracker_has(struct tracker *tracker, const char *path, size_t length);

/* Calls `visit` for every path in the memory, in the order of marking as far as there is one, with
 * a terminated copy; stops when it returns non-zero, and returns that. -EBADMSG. Not for hooks. */
int tracker_each(const struct tracker *tracker,
                 int (*visit)(void *context, const char *path, size_t length), void *context);

#endif
