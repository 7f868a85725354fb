/* SPDX-License-Identifier: MIT */
/* place_judge.h - what the calls of place.h have in common: a path's text, its verdict, a refusal.
 */
#ifndef CORDON_PLACE_JUDGE_H
#define CORDON_PLACE_JUDGE_H

#include <errno.h>

#include "place.h"

/* A path taken by its text: what to hand to the kernel, and where the look-up stands then. */
struct plain {
    int dir;
    const char *path;
    struct policy_at at;
};

/* False if the text alone does not say where the path leads. */
bool place_follow(const struct scope *scope, const struct start *start, const char *path,
                  struct plain *plain);

/* Whether an answer to a plain call says nothing about the path itself. */
static inline bool place_must_walk(int result)
{
    return result == -ELOOP || result == -ENOSYS;
}

/* Whether a refusal of the kernel's may be ours as well: a wall that hides what a rule denies makes
 * the kernel say so. Who walks finds out, for the report. */
static inline bool place_may_be_hidden(int result, const struct report *report)
{
    return result == -EACCES && report != NULL && !report->denied;
}

/* Where the walk stands, or "" if that cannot be told. */
const char *place_text(const struct walk *walk);

/* Where the look-up stands at a canonical text. */
struct policy_at place_look_up(const struct scope *scope, const char *text);

struct verdict place_judge(const struct scope *scope, const struct walk *walk, enum intent intent);

/* Fills in the report, if there is one, and returns -EACCES. `text`: where the path leads. */
int place_refuse(const char *text, struct verdict verdict, enum intent intent,
                 struct report *report);

/* A directory that was removed takes no new name: the kernel says ENOENT, whatever the name. */
bool place_is_removed(int dir);

#endif
