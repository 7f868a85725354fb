/* SPDX-License-Identifier: MIT */
/*
 * known.h - directories whose place in the policy is remembered.
 *
 * What is remembered stays true when a directory moves, since none moves to where the rules differ.
 * No lock: readers copy and look again, of two writers one gives up.
 */
#ifndef CORDON_KNOWN_H
#define CORDON_KNOWN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "place.h"

/* A place in the policy that is read and written without a lock. */
enum { KNOWN_WORDS = sizeof(struct policy_at) / sizeof(uint64_t) };
_Static_assert(sizeof(struct policy_at) % sizeof(uint64_t) == 0, "copied by words");

struct known_cell {
    _Atomic uint64_t word[KNOWN_WORDS];
};

void known_write(struct known_cell *cell, const struct policy_at *at);
void known_read(struct known_cell *cell, struct policy_at *at);

/* Inode numbers are used again; the time of birth tells the old file from the new. */
struct identity {
    uint64_t dev, ino, mount, born;
};

/* False if it is no directory, or its file system does not tell. */
bool identity_of(int fd, struct identity *id);

/* One directory; zeroed, it is none. */
struct known {
    _Atomic uint64_t turn; /* odd: being written */
    _Atomic uint64_t dev, ino, mount, born;
    struct known_cell cell;
};

/* Where the directory `fd`, which is `id`, stands in the policy: as remembered in `entry`, or found
 * out and remembered there. False if that cannot be told. */
bool known_find(struct known *entry, const struct scope *scope, int fd, const struct identity *id,
                struct policy_at *at);

#endif
