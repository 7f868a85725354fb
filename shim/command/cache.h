/* SPDX-License-Identifier: MIT */
/*
 * cache.h - where the caches of tools go: a directory for each workspace, in the user's own cache.
 *
 * It is made at the start, for what is not there cannot be granted, and goes at the end if nothing
 * was put into it. A lock keeps runs in the same workspace from taking it away from each other.
 * Where the user has no place for it, it lies in the private directory for temporary files.
 */
#ifndef CORDON_CACHE_H
#define CORDON_CACHE_H

#include "session.h"

/* Sets cache, and for one of our own cache_fd and cache_levels. Never fails: "" is no cache. With
 * `dry` nothing is made. */
void cache_begin(struct session *session, bool dry);

#endif
