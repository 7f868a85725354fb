/* SPDX-License-Identifier: MIT */
/*
 * environment.h - what the command finds in its environment.
 *
 * That of the caller, without what looks like a secret, with TMPDIR and the caches of tools where
 * it may write. HOME stays: what may not be read there is refused, which programs understand.
 */
#ifndef CORDON_ENVIRONMENT_H
#define CORDON_ENVIRONMENT_H

#include "options.h"
#include "session.h"

/* Names of variables, which the caller frees. */
struct names {
    char **list;
    size_t count;
};
void names_free(struct names *names);

/* Which variables would be left out. 0 or -ENOMEM */
int environment_secrets(const struct options *options, struct names *names);

/* Changes this process's own environment into that of the command, but for what the shim needs. 0
 * or -ENOMEM */
int environment_change(const struct session *session);

/* Adds what the shim needs: last of all, for from then on no program can be started without it.
 * `handshake` is the descriptor on which it is to answer, or -1. 0 or -ENOMEM */
int environment_add_image(const struct session *session);
int environment_add_shim(const struct session *session, int handshake);

/* The shim in LD_PRELOAD, after the user's own: some of them want to be the first. 0 or -1 */
int environment_add_preload(const char *shim);

#endif
