/* SPDX-License-Identifier: MIT */
/*
 * load.h - how the shim comes to know what it has to enforce.
 *
 * The constructor runs before those of all other objects. It takes the image from the supervisor or
 * the environment, or makes one from CORDON_ROOT and its kin (hand.h), keeps it in read-only
 * memory, takes cordon's own variables out of the environment, and says that it is there if
 * somebody waits for that. Whatever is wrong ends the process with one line on standard error and
 * status 125: a program never runs with less than was asked for.
 *
 * A hook may be called before the constructor: it loads first. Calls that the loading thread makes
 * meanwhile are passed on as they are.
 */
#ifndef CORDON_LOAD_H
#define CORDON_LOAD_H

#include <stdatomic.h>
#include <stdbool.h>

#include "image.h"
#include "place.h"

enum { LOAD_NONE, LOAD_BUSY, LOAD_READY };

/* What this process is held to. Fixed once load_state is LOAD_READY. */
struct hold {
    struct scope scope;
    const struct image *image;

    /* What the children have to be given in their environment. A supervisor hands in what he knows:
     * then that is only the image of a cordon that was made further inside, or NULL. */
    const struct image *carried;
    const char *variable; /* it as an environment string; or NULL */
    const char *preload;  /* "LD_PRELOAD=" and the shim's own path; or NULL */
};

extern struct hold load_hold;
extern _Atomic int load_state;

/* The slow way of load_is_ready. */
bool load_now(void);

/* Whether calls are to be judged; false: passed on as they are. */
static inline bool load_is_ready(void)
{
    return atomic_load_explicit(&load_state, memory_order_acquire) == LOAD_READY || load_now();
}

/* Ends the process with status 125 and "cordon: PART PART..." on standard error, without the
 * spaces. */
#define load_fail(...) load_fail_with(__VA_ARGS__, (const char *)NULL)
_Noreturn void load_fail_with(const char *part, ...);

#endif
