/* SPDX-License-Identifier: MIT */
/*
 * cache.h - where the caches of tools go: a directory for each workspace, in the user's own cache.
 *
 * Most commands need none, and what is made for nothing costs time and leaves a trace. So the first
 * that does finds a place in the private directory for temporary files, and what it left there is
 * kept when the run is over; from then on the directory is there.
 */
#ifndef CORDON_CACHE_H
#define CORDON_CACHE_H

#include "session.h"

/* Sets session->cache, and session->cache_home if what is in there is to be kept. "" is no cache.
 */
void cache_find(struct session *session);

#endif
