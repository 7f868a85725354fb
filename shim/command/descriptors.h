/* SPDX-License-Identifier: MIT */
/* descriptors.h - which of the descriptors that cordon inherited the command has too. */
#ifndef CORDON_DESCRIPTORS_H
#define CORDON_DESCRIPTORS_H

#include "options.h"
#include "policy.h"

/* Whether the caller had closed 0, 1 and 2. */
struct standard {
    bool closed[3];
};

/* Opens those of 0, 1 and 2 that are closed, so that nothing of ours gets their numbers. To be
 * called first of all. Returns 0 or a negative errno. */
int descriptors_begin(struct standard *standard);

/* Closes them again, in the process of the command. */
void descriptors_end(const struct standard *standard);

/*
 * Closes what the command may not have. Pipes and terminals stay, and files that the policy lets it
 * open in the same way; directories, sockets and all else go, unless --fd names them. A directory
 * as standard input, output or error becomes /dev/null. Ours are close-on-exec and left alone.
 * Returns 0 or a negative errno.
 */
int descriptors_close(const struct policy *policy, const struct options *options);

#endif
