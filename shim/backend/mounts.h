/* SPDX-License-Identifier: MIT */
/*
 * mounts.h - a policy as a mount namespace shows it.
 *
 * What is granted is bound into an empty tree at its own place, for writing or read-only; what is
 * denied inside a grant is covered; what is protected there is bound read-only. Where a rule takes
 * something away inside of a write grant, the directories on the way down to it are bound onto
 * themselves: a mount point cannot be moved or removed, so that nothing else can take its place.
 * (Between such a directory and its surroundings rename(2) and link(2) then fail with EXDEV, as
 * between file systems.)
 */
#ifndef CORDON_MOUNTS_H
#define CORDON_MOUNTS_H

#include <sys/types.h>

#include "decide.h"
#include "image.h"

struct mount {
    char *path;
    enum access access; /* ACCESS_NONE: to be covered */
    mode_t mode;        /* what is there now */
    bool pin;           /* bound for its own sake */
    bool opened;        /* something below it is mounted */
    bool socket;        /* sockets may be connected to, and nothing else */
};

struct mounts {
    size_t count;
    struct mount *list; /* what lies above comes first */
};

/* What is to be mounted now for the image's policy and cordon's own files; paths that are not there
 * are left out. 0 or -ENOMEM; the caller releases it. */
int mounts_plan(const struct image *image, struct mounts *mounts);
void mounts_release(struct mounts *mounts);

/* Whether mounts hold that rule as things are now. */
bool mounts_hold(const struct policy *policy, const struct policy_rule *rule);

#endif
