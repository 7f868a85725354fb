/* SPDX-License-Identifier: MIT */
/*
 * support_acts.h - small deeds, to see whether a wall stops them.
 */
#ifndef SUPPORT_ACTS_H
#define SUPPORT_ACTS_H

#include <sys/types.h>

/* Where and at whom. */
struct scene {
    const char *in;  /* the workspace: f, d/g, secret, .git/hooks/h */
    const char *out; /* outside: secret, d/, prog, socket (which listens) */
    pid_t victim;    /* a process outside, of the same user */
    int port;        /* TCP, on the loopback */
};

/* Does what the name says: 0 if it worked, else its errno. */
int act(const char *name, const struct scene *scene);

#endif
