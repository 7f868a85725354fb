/* SPDX-License-Identifier: MIT */
/*
 * tree.h - the ground of the race test: a workspace, what lies outside it, and the swaps.
 *
 *     TOP/                   outside is all of TOP but base/root and base/out/park/m
 *       f
 *       base/
 *         f
 *         out/
 *           f  dir/f  par/f  park/f
 *           park/m/          changes places with root/a/m: belongs to the attackers
 *         root/              the one grant
 *           f  hop -> par  to-f -> leaf/f  to-new -> leaf/new
 *           par/f            changes places with par.alt -> TOP/base/out/dir
 *           q/  f  hop -> ../par
 *             par/f          changes places with par.alt -> ../../out/dir
 *           leaf/
 *             f              changes places with f.alt -> TOP/base/out/dir/f
 *             new            changes places with new.alt -> ../../out/dir/new, which dangles
 *           a/
 *             f  deep/f
 *             deep/b/        changes places with root/b, which is less deep
 *             m/
 *           b/
 *
 * Each of the b and m holds f, up -> ../.., up-f -> ../../f and up-new -> ../../new. Wherever a
 * path could come out when it is led astray lies an f, and no "new". What lies outside is never
 * moved in, so its inode tells it; what the attackers carry out lies in park/m and is not asked
 * about.
 */
#ifndef RACE_TREE_H
#define RACE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <time.h>

enum attack {
    ATTACK_PARENT, /* a directory on the way becomes a link that leads outside */
    ATTACK_NAME,   /* the last name becomes one */
    ATTACK_INSIDE, /* a directory changes places with one that is less deep */
    ATTACK_OUT,    /* a directory changes places with one outside */
    ATTACK_HANDLE, /* a descriptor's number gets another meaning; by a thread of the victim's own */
    ATTACKS,
};

/* The number that ATTACK_HANDLE is about: in turn the workspace, a pipe, and base. */
#define TREE_HANDLE "200"
enum { HANDLE_NUMBER = 200, HANDLES = 3 };

/* Directories that are held open from the start: through them the test itself reaches what the
 * attackers move about. */
enum home {
    HOME_ROOT,
    HOME_PAR,
    HOME_Q,
    HOME_Q_PAR,
    HOME_A,
    HOME_DEEP,
    HOME_B1,
    HOME_B2,
    HOME_M1,
    HOME_M2,
    HOME_LEAF,
    HOMES,
};

enum { OUTSIDE_MAX = 32, PLACE_SIZE = 128 };

/* Something outside, as it has to stay. */
struct sentinel {
    char path[PLACE_SIZE]; /* below TOP */
    struct stat st;
    bool seen;
};

struct tree {
    char top[PLACE_SIZE];
    char root[PLACE_SIZE]; /* canonical, as is top */
    int homes[HOMES];
    int handles[HANDLES];
    struct stat top_st;
    struct sentinel outside[OUTSIDE_MAX];
    size_t sentinels;
};

/* Builds all of it in the empty directory `top`. Ends the program if it cannot. */
void tree_build(struct tree *tree, const char *top);
void tree_remove(const char *top);

/* Makes the inside what it was: each home has its f and its links, no "new", and the names in leaf
 * are a file and a link again. */
void tree_mend(const struct tree *tree);
void tree_mend_files(const struct tree *tree);
void tree_mend_links(const struct tree *tree);
void tree_mend_names(const struct tree *tree);
void tree_clear_new(const struct tree *tree);

/* One swap. Returns 0 or -1. */
int tree_swap(const struct tree *tree, enum attack attack, unsigned turn);

/* Whether this is a file or directory outside. */
bool tree_is_outside(const struct tree *tree, const struct stat *st);

/* Whether this is a directory above the workspace: to be passed through and looked at, no more. */
bool tree_is_above(const struct tree *tree, const struct stat *st);

/* Compares the outside with what it was. Returns the number of differences, the first of them named
 * in `first`, and puts all back. */
size_t tree_check_outside(struct tree *tree, char first[static PLACE_SIZE + 16]);

#endif
