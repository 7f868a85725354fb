/* SPDX-License-Identifier: MIT */
/*
 * matrix.h - every hooked name against every form of path, with the bare call as the oracle.
 *
 * One program runs all cases twice, as two processes: as it is, and with the shim in front of libc.
 * Each case leaves a line that says all that can be seen of it: the result, errno, what was found,
 * and the tree afterwards. For a path that leads inside both lines have to be the same. For one
 * that leads outside, what succeeded without the shim has to be EACCES with it, what failed may
 * stay what it was, and the tree must be untouched.
 *
 * Trees are made and read by raw system calls, which no hook sees.
 */
#ifndef MATRIX_H
#define MATRIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- cases.c: from hooks.def --- */

/* What an example's argument list is made of. */
struct given {
    int dir;
    const char *path;
    int opened; /* a descriptor of the path, for reading, opened behind the shim's back */
};

/* What came of it. */
struct outcome {
    long result; /* 0 or more: success */
    int error;
    char text[600]; /* what was found */
};

struct example {
    const char *symbol;
    const char *arguments; /* as written in the table; "" if there is none to try */
    void (*call)(void *function, const struct given *given, struct outcome *outcome);
    const char *of; /* the row that this is an alias of, or NULL */
};

extern const struct example examples[];
extern const size_t example_count;

/* --- tree.c --- */

enum { BASE_MAX = 256 };
extern char tree_base[BASE_MAX]; /* where ws and out lie */

/*
 *   ws/    file other dir/inner empty/  link->file dlink->dir dangling->missing loop->loop
 *          out->../out outfile->../out/secret outnew->../out/new absolute->BASE/out/secret
 *   out/   secret dir/inner empty/  back->../ws/file
 */
void tree_make(void);
void tree_remove(void);

/* A number for all that is in ws, or out: names, types, modes, owners, sizes, contents. */
uint64_t tree_digest(const char *which);

/* --- forms.c --- */

enum leads {
    INSIDE,
    OUTSIDE,
    LINK_OUT, /* a link inside that leads outside: it depends on who follows it */
    LINK_IN,  /* and one outside that leads inside */
};

struct form {
    const char *dir;  /* NULL: the working directory, which is ws; or a directory below the base */
    const char *path; /* "@" stands for the base */
    enum leads leads;
};

extern const struct form forms[];
extern const size_t form_count;

#endif
