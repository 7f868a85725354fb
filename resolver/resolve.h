/* SPDX-License-Identifier: MIT */
/*
 * resolve.h - where a path leads, as text, in the three readings of cordon.h. Says nothing about
 * inside and outside: that is for who asks.
 */
#ifndef CORDON_RESOLVE_H
#define CORDON_RESOLVE_H

#include "cordon.h"
#include "walk.h"

/*
 * On success *walk is a walk whose path is the answer, and whose ground says whether it is one; the
 * caller frees it. A link that dangles in clean mode is -ENOENT with the walk handed out all the
 * same, so that the caller can look where it would have led; otherwise there is no walk on failure.
 * `start` has a path.
 */
int resolve(enum cordon_mode mode, const struct start *start, const char *path, struct walk **walk);

/* The canonical text of a path that exists, from the caller's own working directory. */
int resolve_existing(const char *path, struct walk **walk);

#endif
