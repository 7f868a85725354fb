/* SPDX-License-Identifier: MIT */
/* call.h - random calls on a tree, made bare or through cordon. */
#ifndef FUZZ_CALL_H
#define FUZZ_CALL_H

#include <stdbool.h>
#include <sys/stat.h>

#include "place.h"
#include "random.h"
#include "reference.h"
#include "tree.h"

enum op { OP_OPEN, OP_STAT, OP_LOOKUP, OP_MKDIR, OP_UNLINK, OP_RMDIR, OP_RENAME, OPS };

enum {
    CALL_TEXT = PATH_MAX + 64, /* of a template ... */
    FULL_TEXT = 4 * PATH_MAX,  /* ... and of what it means */
};

/* What the caller says of the start of a relative path. */
enum knowledge { KNOWS_NOTHING, KNOWS_PATH, KNOWS_VERDICT };

/* Which descriptor a relative path starts from, besides enum prop. */
enum { FROM_CWD = -1, FROM_NOTHING = -2 };

struct from {
    int prop;
    enum knowledge knowledge;
};

struct call {
    enum op op;
    int cwd; /* an entry, or -1: the deleted directory */
    int flags;
    mode_t mode;
    bool follow;
    enum intent intent;
    struct from from[2];
    char path[2][CALL_TEXT]; /* templates */
};

struct outcome {
    int result; /* a descriptor, 0, or a negative errno */
    int getfl;
    int getfd;
    struct stat st;
    char place[PATH_MAX]; /* the kernel's text for the descriptor */
    /* cordon only */
    bool denied;
    bool leaks;
    bool spoils_errno;
    char report[TEXT_SIZE];
};

void call_generate(struct call *call, const struct tree *tree, struct random *random);

/* A path to try, as a template. `base`: where it starts, from the copy. */
void path_generate(char path[CALL_TEXT], const struct tree *tree, const char *base,
                   struct random *random);

/* Makes it one that an ordinary user can make: not from a directory that is locked. */
void call_settle(struct call *call, const struct tree *tree);

/* Whether it could change something. */
bool call_changes(const struct call *call);
int call_paths(const struct call *call);

/* Where its relative paths start, on a side. */
void call_origin(const struct call *call, const struct tree *tree, int which, int side,
                 struct origin *origin);

void call_bare(const struct call *call, const struct tree *tree, int side, struct outcome *outcome);
void call_cordon(const struct call *call, const struct tree *tree, int side,
                 const struct policy *policy, struct outcome *outcome);

void call_print(const struct call *call, const struct tree *tree);

#endif
