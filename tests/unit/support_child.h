/* SPDX-License-Identifier: MIT */
/*
 * support_child.h - a check in a process of its own, with or without openat2.
 */
#ifndef SUPPORT_CHILD_H
#define SUPPORT_CHILD_H

#include <stdbool.h>

/* What becomes of openat2(2). */
enum way {
    WAY_OPENAT2, /* works */
    WAY_ENOSYS,  /* an old kernel, or a filter that pretends to be one */
    WAY_EPERM,   /* a filter of a container */
    WAYS,
};

extern const char *const way_names[WAYS];

/* Whether this kernel, and what is in front of it already, lets openat2 through. */
bool have_openat2(void);

/* Answers every openat2(2) of this process with that errno from now on. */
void forbid_openat2(int error);

/* What is wrong, in words; empty if nothing is. */
struct complaint {
    char text[2000];
};

/* Adds to it. */
void child_complain(struct complaint *complaint, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void complain_if_different(struct complaint *complaint, const char *what, const char *wanted,
                           const char *found);

/* Before and after a call: it grows if the call leaves one open. */
int lowest_free_fd(void);

/* Runs the check in a child that goes that way; a child that dies is complained about too. */
void run_child(enum way way, void (*check)(const void *argument, struct complaint *complaint),
               const void *argument, struct complaint *complaint);

#endif
