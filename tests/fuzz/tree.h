/* SPDX-License-Identifier: MIT */
/*
 * tree.h - a description of a tree, and two copies of it on the disk.
 *
 * The bare kernel changes copy A, cordon copy B. Whatever names a copy is a template, in which
 * COPY_MARK stands for the directory of the copy and SIDE_MARK for a digit of its descriptors: so
 * the links of each copy lead into that copy, and texts have equal lengths on both sides.
 *
 *   COPY/root       the workspace
 *   COPY/root-evil  begins like it
 *   COPY/out        the rest of the world
 */
#ifndef FUZZ_TREE_H
#define FUZZ_TREE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "random.h"

#define COPY_MARK '\1'
#define SIDE_MARK '\2'

enum { SIDE_A, SIDE_B, SIDES };
enum {
    TREE_MAX = 200,
    TREE_TOPS = 3,            /* the first entries: root, out and root-evil */
    TEXT_SIZE = 4 * PATH_MAX, /* canonical texts may be longer than the kernel takes */
    LONG_NAME = NAME_MAX,
    FIRST_PROP = 100,
};

struct entry {
    char kind;    /* 'd', 'f' or 'l' */
    char *path;   /* from the copy: "root/a" */
    char *target; /* of a link, a template */
    mode_t mode;
    bool foreign; /* given to another user, if we may */
};

/* Descriptors that each copy has open, under numbers that the paths can name. */
enum prop {
    PROP_DIR_IN,
    PROP_DIR_OUT,
    PROP_FILE_IN,
    PROP_FILE_OUT,
    PROP_GONE_DIR, /* inside, deleted */
    PROP_GONE_IN,
    PROP_GONE_OUT,
    PROP_PIPE,
    PROP_MEMFD,
    PROP_LINK, /* a link itself */
    PROPS,
};

struct tree {
    struct entry entries[TREE_MAX];
    int count;
    int props[PROPS]; /* indices of entries, or -1 */
};

/* The directory that holds both copies; canonical. */
extern char tree_top[PATH_MAX];

void tree_generate(struct tree *tree, struct random *random);
void tree_release(struct tree *tree);

/* A random entry of one of these kinds below COPY/`where`; -1 if there is none. */
int tree_pick(const struct tree *tree, struct random *random, const char *kinds, const char *where);

/* A name that a tree might have. */
const char *tree_name(struct random *random);

/* Makes the copy, and its descriptors, anew. */
void tree_build(const struct tree *tree, int side);
void tree_wipe(int side);
void tree_close_props(int side);

int tree_prop(int side, enum prop prop);

/* Removes all below `path` in `dir`, and it. */
void tree_remove(int dir, const char *path);

/* What the copy holds, as a number: equal trees in A and B have equal numbers. */
uint64_t tree_digest(int side);

/* The text that the template means in a copy. False if it does not fit. */
bool tree_expand(const char *template, int side, char *text, size_t size);

/* COPY, without a slash at its end. */
const char *tree_copy(int side);

void tree_print(const struct tree *tree);

/* Prints a text so that it can be read, and the directory of a copy as COPY. */
void print_text(const char *text);

#endif
