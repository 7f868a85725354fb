/* SPDX-License-Identifier: MIT */
/*
 * tracker_set.h - the tracker's shared memory: a set of texts that many processes add to at once.
 *
 * A header, then the slots of an open-addressing table, then the arena with the records. A slot is
 * empty (0) or names a record by its offset; once set it keeps that record for ever. Whoever can
 * write to the memory can put anything there, so nothing read from it is used before it was copied
 * and checked against what this process knows by itself (struct tracker), and every loop is
 * bounded.
 */
#ifndef CORDON_TRACKER_SET_H
#define CORDON_TRACKER_SET_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "tracker.h"

#define TRACKER_MAGIC   UINT64_C(0x72746e6f64726f63) /* "cordontr" */
#define TRACKER_VERSION 1

/* What the 40 bits of a slot can point into. */
#define TRACKER_SIZE_MAX (UINT64_C(1) << 43)

struct tracker_memory {
    /* Written once by tracker_create and copied by tracker_attach, which checks it. */
    uint64_t magic;
    uint64_t version;
    uint64_t size;
    uint64_t slots; /* a power of two */
    uint64_t paths; /* at most half the slots */
    uint64_t key[2];
    uint64_t unused;

    /* On a cache line of their own: every mark changes them, no look-up in the table reads them. */
    _Atomic uint64_t tail;     /* where the unused part of the arena begins */
    _Atomic uint64_t count;    /* how many of `paths` are taken */
    _Atomic uint64_t absorbed; /* so much of the journal is in the memory */
    _Atomic uint64_t owner;    /* which file the journal is; 0: none yet */
    uint64_t unused_too[4];

    _Atomic uint64_t slot[];
};

struct tracker_record {
    uint64_t hash;
    uint32_t length;
    uint32_t unused;
    char text[];
};

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "a lock in shared memory would outlive its owner");
_Static_assert(sizeof(_Atomic uint64_t) == 8, "the layout is the same in every process");
_Static_assert(sizeof(struct tracker_memory) == 128, "two cache lines, then the slots");

/* A text to look for. */
struct tracker_text {
    const char *text;
    size_t length;
    uint64_t hash;
};

/* A slot's flag: the path is known to be in the journal. Set after the record was appended or read
 * there; a process killed in between leaves it unset, and the next mark appends again. */
#define TRACKER_JOURNALED (UINT64_C(1) << 40)

/* SipHash-1-3. With a random key nobody can choose paths that collide. */
uint64_t tracker_hash(const uint64_t key[2], const char *text, size_t length);

/* The hash of a canonical path. -EINVAL, -ENAMETOOLONG: it is none. */
int tracker_text(const struct tracker *tracker, const char *path, size_t length,
                 struct tracker_text *text);

/* The offset of the first record. */
uint64_t tracker_arena(const struct tracker *tracker);

/* 1: there, and `*slot` is its index. 0: not there. -EBADMSG: damaged. */
int tracker_set_find(const struct tracker *tracker, const struct tracker_text *text,
                     uint64_t *slot);

/* 1: added, 0: was there. `*slot` is its index. -ENOSPC, -EBADMSG */
int tracker_set_add(const struct tracker *tracker, const struct tracker_text *text, uint64_t *slot);

/* Copies the text of the record in the slot of that value, terminated, to `path`, which has
 * PATH_MAX bytes, and returns its length. -EBADMSG */
int tracker_set_read(const struct tracker *tracker, uint64_t value, char *path);

/* The offset of the record in the slot of that value: a claim, tracker_set_read checks it. */
uint64_t tracker_slot_offset(uint64_t value);

/* Takes what was appended to the journal behind the offset `from` into the memory. 0, or 1 if half
 * a record is left at the end; `*end` is where the whole ones end. -EBADMSG, -ENOSPC */
int tracker_journal_absorb(const struct tracker *tracker, uint64_t from, uint64_t *end);

/* The same up to the end of the file; half a record has a moment to become whole. */
int tracker_journal_settle(const struct tracker *tracker, uint64_t *end);

/* Appends a path that is in the memory; `end` is where the journal ended when it was settled. */
int tracker_journal_append(const struct tracker *tracker, const char *path, size_t length,
                           uint64_t end);

#endif
