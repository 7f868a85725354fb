/* SPDX-License-Identifier: MIT */
/*
 * support_leaf.h - the operations of tests/vectors/leaf-ops.txt, each as the bare system call and
 * by way of the resolver, as a shim makes it.
 */
#ifndef SUPPORT_LEAF_H
#define SUPPORT_LEAF_H

#include <stddef.h>

#include "place.h"
#include "support_tree.h"

/* Where a call is made: from the root of a tree. Those that rename or link a file use `f`, `source`
 * or `source-dir` of it as the other path, and `moved` or `linked` as the new name. */
struct scene {
    const struct tree *tree;
    int root;
    const struct scope *scope; /* NULL: bare */
    const struct start *start;
};

struct operation;

/* NULL: there is none of that name. */
const struct operation *operation_named(const char *name, size_t length);
const char *operation_name(const struct operation *operation);

/* Tells the outcome in the words of the vectors: ok, an errno, `dir` for stat, `->f` for readlink.
 */
void operation_call(const struct operation *operation, const struct scene *scene, const char *path,
                    char *outcome, size_t size);

#endif
