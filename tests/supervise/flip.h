/* SPDX-License-Identifier: MIT */
/*
 * flip.h - a program against itself: while one thread makes a call, another one changes what the
 * call names.
 *
 * The tree, below a directory in which `a` is the workspace:
 *
 *     a/ok a/f a/d/f      may be changed; each holds "inside"
 *     a/no a/n/f a/e/f    denied by rules: FLIP_SIZE bytes, an attribute user.flip
 *     a/x1 a/x2           this program, the second one denied, and longer
 *     out b/f x2          outside; hidden; likewise
 *     ro/s                denied in what may be read; likewise
 *     l1 l2 (in a)        links to ok and no
 */
#ifndef TESTS_FLIP_H
#define TESTS_FLIP_H

#include <stdbool.h>

enum { FLIP_SIZE = 4242 };

/* What the other thread does. Of two texts it stores the one and the other, at once: they differ in
 * one byte, or have room in a word. */
struct flip_target {
    const char *allowed;
    const char *denied;
};

extern const char *flip_path; /* what it stores to */

void flip_memory(const struct flip_target *target);
void flip_bytes(void *at, const void *one, const void *other, unsigned long size);
void flip_call(void (*swap)(int turn));
void flip_stop(void);

struct flip_tally {
    unsigned long calls, ok, refused, leaks, handles;
};
extern struct flip_tally flip_tally;

/* One try of each kind comes to these. */
void flip_count(const char *kind, const char *denied, long result, bool leak);

/* The suites, with that many tries each. */
void flip_paths(unsigned long calls, const char *above);
void flip_descriptors(unsigned long calls);
void flip_run(unsigned long calls, const char *denied);
int flip_connect(unsigned long calls, unsigned allowed, unsigned denied);

#endif
