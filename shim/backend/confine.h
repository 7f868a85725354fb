/* SPDX-License-Identifier: MIT */
/* confine.h - how a process gives up what it could do outside: the steps that backends share. */
#ifndef CORDON_CONFINE_H
#define CORDON_CONFINE_H

#include "backend.h"
#include "seccomp.h"

/* What a backend wants around a process. */
struct confinement {
    bool landlock; /* the policy's grants by Landlock */
    struct seccomp_wants wants;
};

/*
 * No new privileges, no capabilities but those about files and ids, the policy's grants by Landlock
 * if wanted, and the system call filter last: for this process and all that it starts. 0, or -1
 * with *trouble: then the process must not go on. Allocates nothing, takes no lock, prints nothing
 * and calls nothing that a shim hooks.
 */
int confine(const struct image *image, const struct confinement *confinement,
            struct trouble *trouble);

/* The two halves of it, for who puts a supervisor in between: he keeps a few capabilities more. The
 * second returns what seccomp_enter does, or -1 with *trouble; Landlock makes it another layer, by
 * which those in there cannot reach who stands outside. */
int confine_wall(const struct image *image, const struct confinement *confinement,
                 struct trouble *trouble);
int confine_inside(const struct image *image, const struct confinement *confinement,
                   struct trouble *trouble);

/* Fills in what went wrong; -1. Texts that do not fit are cut. */
int trouble_set(struct trouble *trouble, const char *step, const char *words, const char *cause,
                const char *fix);

/* Why Landlock cannot be had, if ruleset_abi said `error`; -1. */
int trouble_landlock(struct trouble *trouble, int error);

/* How long a trial may take, in milliseconds: on a machine with a lot to do seconds pass. */
enum { TRIAL_LIMIT = 10000 };

/* Runs `attempt` in a process of its own, which may confine itself, for at most that long. 0, or -1
 * with *trouble. */
int try_apart(int (*attempt)(const struct image *image, struct trouble *trouble),
              const struct image *image, int limit, struct trouble *trouble);

#endif
