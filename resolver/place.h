/* SPDX-License-Identifier: MIT */
/*
 * place.h - the calls that a program makes on a path, judged and carried out as one.
 *
 * Each function finds the place that a path leads to, asks the policy, and acts on the very object
 * that was judged: a path is never resolved a second time. All return a value >= 0 or a negative
 * errno: the kernel's own where the call would have failed anyway, -EACCES for a refusal. A name
 * that does not exist is -ENOENT, outside too. Nothing here allocates, locks, or touches errno; the
 * slow way takes its memory from the kernel for the time of the call.
 */
#ifndef CORDON_PLACE_H
#define CORDON_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "decide.h"
#include "walk.h"

/* Under which rules and with whose eyes. */
struct scope {
    const struct policy *policy;
    const struct view *view;
    const struct start *home; /* NULL, or where most paths lie, with path and at: saves steps */
    enum intent handles;      /* what O_PATH asks for: INTENT_STAT, or more */
};

/* Why a call was refused, for whoever wants to tell. Filled in on -EACCES from the policy only. */
struct report {
    bool denied;
    bool second; /* of the two paths of a rename it is the new one */
    struct verdict verdict;
    enum intent intent;
    char *path; /* if not NULL: where the path leads, cut to size */
    size_t size;
};

/* open(2). One system call for a plain path. */
int place_open(const struct scope *scope, const struct start *start, const char *path, int flags,
               mode_t mode, struct report *report);

/* An O_PATH descriptor of what is there, which the caller closes: for stat, chmod, chdir ... */
int place_lookup(const struct scope *scope, const struct start *start, const char *path,
                 bool follow, enum intent intent, struct report *report);

/* stat(2) or lstat(2). One system call for a name without a slash from a known start. */
int place_stat(const struct scope *scope, const struct start *start, const char *path, bool follow,
               struct stat *st, struct report *report);

/* What is to become of a name. */
enum name_use {
    NAME_NEW,      /* mkdir, symlink ...: -EEXIST if it is there, refused or not */
    NAME_BOUND,    /* a socket's: the same */
    NAME_GONE,     /* unlink, rmdir, the source of a rename: -ENOENT if it is not there */
    NAME_REPLACED, /* the target of a rename */
};

/* A directory and a name in it. */
struct place {
    int dir;
    bool owns;               /* whether place_release closes dir */
    bool allowed;            /* what the policy says of the name; always true for the caller */
    char name[NAME_MAX + 3]; /* with a trailing slash, if the path had one: it matters */
    struct policy_at above;  /* where the look-up stands at the directory ... */
    struct policy_at at;     /* ... and at the name */
};

/* The parent and the last name, which is never followed: for unlinkat, mkdirat, renameat ... */
int place_parent(const struct scope *scope, const struct start *start, const char *path,
                 enum name_use use, struct place *place, struct report *report);
void place_release(struct place *place);

/* renameat2(2). Nothing moves if that would change a verdict below it. */
int place_rename(const struct scope *scope, const struct start *old_start, const char *old_path,
                 const struct start *new_start, const char *new_path, unsigned flags,
                 struct report *report);

#endif
