/* SPDX-License-Identifier: MIT */
/*
 * actions.h - what a child of posix_spawn opens, and where it goes, before it becomes the program.
 *
 * libc carries the actions out in the child, without a hook. So what they name is kept beside them,
 * and judged, one after the other as the child will see it, when the child is about to be started.
 */
#ifndef CORDON_ACTIONS_H
#define CORDON_ACTIONS_H

#include <spawn.h>

#include "program.h"

enum action_kind { ACTION_OPEN, ACTION_DUP, ACTION_CHDIR, ACTION_FCHDIR };

/* Keeps an action: its descriptor, the flags of an open or the target of a dup, its path or NULL.
 * 0 or a negative errno. */
long actions_keep(posix_spawn_file_actions_t *actions, enum action_kind kind, int fd, int more,
                  const char *path);
void actions_forget(posix_spawn_file_actions_t *actions);

/* program_judge for `path`, after the actions (NULL: there are none) have been judged. */
long actions_judge(const posix_spawn_file_actions_t *actions, const char *path,
                   struct program_room *room);

#endif
