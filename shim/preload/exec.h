/* SPDX-License-Identifier: MIT */
/*
 * exec.h - what an exec needs room for, shared with posix_spawn.
 *
 * A child of vfork uses its parent's memory, and what it maps stays there when it is gone: hence
 * the room is kept for the thread's next exec.
 */
#ifndef CORDON_EXEC_H
#define CORDON_EXEC_H

#include <limits.h>
#include <stddef.h>

#include "program.h"

struct exec_room {
    size_t size;
    int user; /* the thread that is using it; 0: none */
    struct program_room program;
    char path[PATH_MAX]; /* a candidate, or the name of a descriptor */
    char *const *given;  /* the environment as the program gave it ... */
    void *memory;        /* ... and where the child's is made */
    char **envp;         /* for the child */
    char **argv;         /* for a shell or a wrapper in front of the program */
    char tail[];
};

/* Room with the child's environment made from `envp`, or NULL: no memory. */
struct exec_room *exec_begin(char *const argv[], char *const envp[]);
void exec_end(struct exec_room *room);

/* The environment for what program_judge said of the program. */
char **exec_environ(struct exec_room *room, long judged);

/* Where an exec leads when each child gets a wall of its own: to `cordon --hand PATH ARGV...`.
 * Changes both.
 */
void exec_wrap(struct exec_room *room, const char **path, char *const **argv);

/* Goes through PATH: calls `attempt` for each candidate, in room->path, until one does not fail for
 * lack of a file. What libc would say in the end. */
long exec_each(struct exec_room *room, const char *file,
               long (*attempt)(struct exec_room *room, void *context), void *context);

#endif
