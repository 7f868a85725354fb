/* SPDX-License-Identifier: MIT */
/*
 * defaults.h - the policy that holds when nobody asks for another.
 *
 * Write the workspace and the private directory for temporary files; read the system and the
 * toolchains that PATH names; nothing else of the home directory, no other user's files. The tables
 * at the top of defaults.c are the policy.
 */
#ifndef CORDON_DEFAULTS_H
#define CORDON_DEFAULTS_H

#include <stdbool.h>

#include "policy.h"

/* What the policy depends on. Texts are canonical, or NULL if there is no such thing; `path` is
 * $PATH as it stands. */
struct surroundings {
    const char *root;            /* the workspace */
    const char *home;            /* the home directory */
    const char *path;            /* where programs are searched */
    const char *tmp;             /* a private directory for temporary files */
    const char *shim;            /* libcordon-shim.so */
    const char *command;         /* the cordon command */
    bool protect;                /* protect what makes programs outside run code */
    const char *const *writable; /* NULL, or what else may be written, ending with NULL: a default
                                    for reading in there would only narrow it */
};

/*
 * Adds the rules, all of origin "default", for what exists: a path that is not there has none. The
 * home directory is never opened as a part of something larger. Returns 0 or a negative errno.
 */
int defaults_add(struct policy_builder *builder, const struct surroundings *around);

#endif
