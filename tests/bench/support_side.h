/* SPDX-License-Identifier: MIT */
/*
 * support_side.h - a program on one of several sides: bare, with the shim, behind a wall, or both.
 *
 * What the shim costs is the ratio of two sides that differ in nothing but the shim. Behind a wall
 * the other one has no supervisor, which would hand the shim in, and is started by bench/plain,
 * which the shim cannot enter and which takes it out of the environment.
 */
#ifndef CORDON_BENCH_SUPPORT_SIDE_H
#define CORDON_BENCH_SUPPORT_SIDE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum side {
    SIDE_BARE,
    SIDE_NATIVE,        /* the shim alone, preloaded by hand */
    SIDE_LANDLOCK_WALL, /* the wall alone */
    SIDE_LANDLOCK,      /* `cordon run`: wall, shim and supervisor */
    SIDE_BWRAP_WALL,
    SIDE_BWRAP,
    SIDE_SHIM,     /* with Landlock, but no supervisor */
    SIDE_STRICT,   /* with Landlock and a supervisor that has no gate */
    SIDE_LOOPBACK, /* with Landlock, and what the supervisor lets connect */
    SIDE_PROOT,
    SIDE_STRACE,
    SIDES,
};

/* Where the bench works: a canonical temporary directory with a workspace in it, in which the
 * process stands. It goes when the process that made it exits. */
struct side_place {
    char base[PATH_MAX];
    char ws[PATH_MAX];
};

/* Exits with a line on stderr if it cannot be made, or the products are not built. */
void side_begin(struct side_place *place);

/* Runs a shell script in the workspace; exits if it fails. */
void side_prepare(const char *script);

/* Whether a shell script, run in the workspace, succeeds. */
bool side_agrees(const char *script);

/* Whether PATH leads to that command. */
bool side_finds(const char *command);

/* A path in the directory of the products: "cordon". In memory that is never freed. */
const char *side_product(const char *name);

const char *side_name(enum side side);

/* Whether programs can be run on that side on this machine. Asked for the first time it tries. */
bool side_works(enum side side);

/* Whether it is a tool of others that is not there. */
bool side_is_missing(enum side side);

/* Starts argv on that side, with these descriptors as standard input and output; -1: as they are.
 * Returns its process id. */
pid_t side_start(enum side side, const char *const argv[], int in, int out);

/* Runs argv to its end, output thrown away. Returns the nanoseconds, or -1 and a line on stderr if
 * it did not exit with 0. */
double side_run(enum side side, const char *const argv[]);

#endif
