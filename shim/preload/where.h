/* SPDX-License-Identifier: MIT */
/*
 * where.h - what relative paths start at, and what is known about it.
 *
 * The working directory's place in the policy is remembered for the whole process, so that a bare
 * name costs no extra call; every change of directory through a hook renews it. Directory
 * descriptors are remembered by number and confirmed by identity before each use, since programs
 * close them behind our back. What is not known for sure is left open: then the walk asks the
 * kernel. What is remembered stays true when a directory moves, since none moves to where the rules
 * differ.
 *
 * No lock: readers copy and look again, writers that meet each other leave the place unknown.
 */
#ifndef CORDON_WHERE_H
#define CORDON_WHERE_H

#include "decide.h"
#include "walk.h"

struct where {
    struct start start;
    struct policy_at at; /* what start.at points to, if it is known */
};

/* Fills in where `path`, seen from the descriptor `dir` or AT_FDCWD, starts. `where` must not move.
 */
void where_from(struct where *where, int dir, const char *path);

/* fchdir(2) to `fd`, which is known to be at `place`, or NULL: find out. */
long where_change(int fd, const struct policy_at *place);

/* Takes the working directory into memory; while loading. */
void where_load(void);

/* From now on nothing is remembered: threads no longer share one working directory. */
void where_forget(void);

#endif
