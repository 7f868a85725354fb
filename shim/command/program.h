/* SPDX-License-Identifier: MIT */
/* program.h - the file that a command line names, and whether the shim can enter it. */
#ifndef CORDON_PROGRAM_H
#define CORDON_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

#include "policy.h"

struct program {
    char path[PATH_MAX]; /* as it is to be executed */
    bool privileged;     /* set-user-ID and the like: it runs without that */
    const char *alone;   /* why the shim cannot enter it; NULL: it can */
};

/*
 * Finds `name` as execvp(3) would, among the places that the policy lets be executed. Returns 0, or
 * EXIT_NOT_FOUND or EXIT_NOT_RUN after a message. The policy may be NULL.
 */
int program_find(const char *name, const struct policy *policy, struct program *program);

/* execv(3), but a file that the kernel does not know how to run is a script of the shell, as for
 * execvp(3). Returns only if it fails: the errno. */
int program_become(const char *path, char **argv);

#endif
