/* SPDX-License-Identifier: MIT */
/* tree.h - processes and directories that have to be gone when a run is over. */
#ifndef CORDON_TREE_H
#define CORDON_TREE_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Ends every descendant of the calling process, which is a subreaper, and reaps them: also those
 * that left their session, ignore signals, or fork faster than they are killed. False if some are
 * still there after `seconds`.
 */
bool tree_end(int seconds);

/* The only child of `pid`, or its first one; 0 if it has none. */
pid_t tree_child_of(pid_t pid);

/*
 * Removes a directory with all that is in it, however deep, following no link and leaving what is
 * mounted there alone. 0, or the negative errno of the first thing that could not be removed.
 */
int directory_remove(const char *path);

#endif
