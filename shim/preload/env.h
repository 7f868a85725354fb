/* SPDX-License-Identifier: MIT */
/*
 * env.h - cordon's variables in environments.
 *
 * The program sees the environment that it would have without cordon; its children get what the
 * shim needs to hold them, whatever the program did to its own. An entry of LD_PRELOAD with the
 * shim's file name is taken for the shim; the other entries are the user's, stay in their order and
 * come first.
 */
#ifndef CORDON_ENV_H
#define CORDON_ENV_H

#include <stdbool.h>
#include <stddef.h>

/* The value of `name` in `envp`, or NULL. */
const char *env_get(char *const envp[], const char *name);

/* Takes cordon's own variables out of `envp`, in place. */
void env_strip(char **envp);

/* How many bytes env_make needs for this environment. */
size_t env_size(char *const envp[]);

/* The environment for a child, in `memory`, aligned to 8; it uses the strings of `envp`, or is
 * that, where a supervisor hands in what the child needs. `preload`:
 * whether the child is to load the shim. NULL: it cannot be made (nest.h). */
char **env_make(void *memory, char *const envp[], bool preload);

#endif
