/* SPDX-License-Identifier: MIT */
/*
 * program.h - whether a file may be run, and whether the shim would be in it.
 */
#ifndef CORDON_PROGRAM_H
#define CORDON_PROGRAM_H

#include <stdbool.h>

enum { PROGRAM_HEAD = 256 }; /* as much as the kernel looks at */

/* Room for looking at a program: not for a small stack. */
struct program_room {
    char head[PROGRAM_HEAD + 1];
    char interpreter[PROGRAM_HEAD + 1]; /* of a script */
    char loader[PROGRAM_HEAD + 1];      /* of a program */
};

/* What program_judge says of a program that may be run. */
enum {
    PROGRAM_RUNS,
    PROGRAM_FOREIGN, /* its loader is another libc's, and would fail to load the shim */
};

/*
 * Judges the file, and for a script each interpreter in turn; a negative errno if it may not be
 * run. Where nothing stands behind the shim, what would run without it is refused: static programs,
 * those with a privilege of their own (the loader then ignores LD_PRELOAD), those of another
 * machine or with another loader.
 */
long program_judge(int dir, const char *path, bool follow, struct program_room *room);

/* Differs, as in call.h: whether nothing but the shim would hold a program. */
bool program_needs_shim(void);

#endif
