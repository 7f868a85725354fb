/* SPDX-License-Identifier: MIT */
/*
 * manner.h - two ways to make a call on a path that is to stay inside.
 *
 * `cordon` is what is tested. `naive` is what programs do: ask realpath, compare, then use the same
 * text again. It has to be led outside by the same swaps, else they prove nothing.
 */
#ifndef RACE_MANNER_H
#define RACE_MANNER_H

#include <stdbool.h>
#include <sys/stat.h>

#include "place.h"
#include "tree.h"

/* What a call is aimed at. */
struct aim {
    struct start start;
    const char *path;
};

/* Whose calls these are. */
struct caller {
    const struct tree *tree;
    struct scope scope;
    bool escaped; /* set when a call has got hold of something outside */
};

/* All return a value >= 0 or a negative errno, -EACCES for a refusal. */
struct manner {
    int (*open)(struct caller *caller, const struct aim *aim, int flags);
    int (*lookup)(struct caller *caller, const struct aim *aim); /* an O_PATH descriptor */
    int (*stat)(struct caller *caller, const struct aim *aim, struct stat *st);
    int (*unlink)(struct caller *caller, const struct aim *aim, int flags);
    int (*mkdir)(struct caller *caller, const struct aim *aim);
    int (*rename)(struct caller *caller, const struct aim *from, const struct aim *to);
};

extern const struct manner manner_cordon;
extern const struct manner manner_naive;

#endif
