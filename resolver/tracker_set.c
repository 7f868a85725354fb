/* SPDX-License-Identifier: MIT */
#include "tracker_set.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

/* A slot: 23 bits of the hash, TRACKER_JOURNALED, 40 bits of the record's offset in words. */
#define TAG_SHIFT   41
#define OFFSET_MASK ((UINT64_C(1) << 40) - 1)

/* With the table at most half full and hashes that nobody can foresee, a run of full slots as long
 * as this has a chance of less than 2^-250: it is damage, and the end of the search. */
#define PROBES_MAX 1024

uint64_t tracker_arena(const struct tracker *tracker)
{
    return sizeof(struct tracker_memory) + tracker->slots * sizeof(uint64_t);
}

uint64_t tracker_slot_offset(uint64_t value)
{
    return (value & OFFSET_MASK) * sizeof(uint64_t);
}

static struct tracker_record *record_at(const struct tracker *tracker, uint64_t offset)
{
    return (struct tracker_record *)((char *)tracker->memory + offset);
}

/* One load each, of which the compiler cannot make two: a hostile writer may change the value
 * between the check and the use. */
static uint64_t load_once64(const uint64_t *value)
{
    return *(const volatile uint64_t *)value;
}

static uint32_t load_once32(const uint32_t *value)
{
    return *(const volatile uint32_t *)value;
}

/* The record that a slot names and the length of its text, if it lies inside the arena as a whole.
 */
static int open_record(const struct tracker *tracker, uint64_t value,
                       const struct tracker_record **record, size_t *length)
{
    uint64_t offset = tracker_slot_offset(value);
    uint32_t n;

    if (offset < tracker_arena(tracker) || offset > tracker->size - sizeof **record)
        return -EBADMSG;
    *record = record_at(tracker, offset);
    n = load_once32(&(*record)->length);
    if (n == 0 || n >= PATH_MAX || n > tracker->size - offset - sizeof **record)
        return -EBADMSG;
    *length = n;
    return 0;
}

static int matches(const struct tracker *tracker, uint64_t value, const struct tracker_text *text)
{
    const struct tracker_record *record;
    uint64_t hash;
    size_t length;
    int error;

    if ((value ^ text->hash) >> TAG_SHIFT)
        return 0;
    error = open_record(tracker, value, &record, &length);
    if (error < 0)
        return error;
    hash = load_once64(&record->hash);
    if ((value ^ hash) >> TAG_SHIFT)
        return -EBADMSG;
    if (hash != text->hash)
        return 0;
    if (length == text->length && memcmp(record->text, text->text, length) == 0)
        return 1;
    /* The same 64 bits for another text: either chance, or this was the text once. */
    return tracker_hash(tracker->key, record->text, length) == hash ? 0 : -EBADMSG;
}

/* As tracker_set_find, but also says which slot is the first empty one if the text is not there. */
static int probe(const struct tracker *tracker, const struct tracker_text *text, uint64_t *slot)
{
    uint64_t mask = tracker->slots - 1;

    for (uint64_t i = 0; i < PROBES_MAX && i <= mask; i++) {
        uint64_t index = (text->hash + i) & mask;
        uint64_t value = atomic_load_explicit(&tracker->memory->slot[index], memory_order_acquire);
        int match = value == 0 ? 0 : matches(tracker, value, text);

        if (match < 0)
            return match;
        if (match == 0 && value != 0)
            continue;
        *slot = index;
        return match;
    }
    return -EBADMSG;
}

int tracker_set_find(const struct tracker *tracker, const struct tracker_text *text, uint64_t *slot)
{
    return probe(tracker, text, slot);
}

/* Adds to a counter that stays between `least` and `most`; `*before` is what it was. A plain
 * fetch_add would let many failed attempts together pass the end. */
static int counter_take(_Atomic uint64_t *counter, uint64_t amount, uint64_t least, uint64_t most,
                        uint64_t *before)
{
    uint64_t now = atomic_load_explicit(counter, memory_order_relaxed);

    do {
        if (now < least || now > most)
            return -EBADMSG;
        if (amount > most - now)
            return -ENOSPC;
    } while (!atomic_compare_exchange_weak_explicit(counter, &now, now + amount,
                                                    memory_order_acq_rel, memory_order_relaxed));
    *before = now;
    return 0;
}

struct reservation {
    uint64_t offset; /* 0: none */
    uint64_t size;
};

static int reserve(const struct tracker *tracker, size_t length, struct reservation *room)
{
    struct tracker_memory *memory = tracker->memory;
    uint64_t size = (sizeof(struct tracker_record) + length + 7) & ~UINT64_C(7);
    uint64_t before;
    int error = counter_take(&memory->count, 1, 0, tracker->paths, &before);

    if (error < 0)
        return error;
    error = counter_take(&memory->tail, size, tracker_arena(tracker), tracker->size, &before);
    if (error == 0 && before % 8 != 0)
        error = -EBADMSG;
    if (error < 0) {
        atomic_fetch_sub_explicit(&memory->count, 1, memory_order_relaxed);
        return error;
    }
    room->offset = before;
    room->size = size;
    return 0;
}

/* Gives back what was not published. The arena's part only if nobody reserved behind it since,
 * which is the usual case; release, so that the next owner's writes come after ours. */
static void give_back(const struct tracker *tracker, const struct reservation *room)
{
    struct tracker_memory *memory = tracker->memory;
    uint64_t end = room->offset + room->size;

    if (room->offset == 0)
        return;
    atomic_compare_exchange_strong_explicit(&memory->tail, &end, room->offset, memory_order_acq_rel,
                                            memory_order_relaxed);
    atomic_fetch_sub_explicit(&memory->count, 1, memory_order_relaxed);
}

static uint64_t write_record(const struct tracker *tracker, uint64_t offset,
                             const struct tracker_text *text)
{
    struct tracker_record *record = record_at(tracker, offset);

    record->hash = text->hash;
    record->length = (uint32_t)text->length;
    memcpy(record->text, text->text, text->length);
    return (text->hash >> TAG_SHIFT) << TAG_SHIFT | offset / sizeof(uint64_t);
}

int tracker_set_add(const struct tracker *tracker, const struct tracker_text *text, uint64_t *slot)
{
    struct reservation room = {0, 0};
    uint64_t value = 0;
    int result = -EBADMSG;

    /* Each time round another process has filled the slot that was empty: as often as there are
     * slots to look at, no more. */
    for (int tries = 0; tries < PROBES_MAX; tries++) {
        uint64_t empty = 0;

        result = probe(tracker, text, slot);
        if (result != 0)
            break;
        if (room.offset == 0) {
            result = reserve(tracker, text->length, &room);
            if (result < 0)
                return result;
            value = write_record(tracker, room.offset, text);
        }
        /* Publish: whoever sees the slot sees the whole record. */
        if (atomic_compare_exchange_strong_explicit(&tracker->memory->slot[*slot], &empty, value,
                                                    memory_order_release, memory_order_relaxed))
            return 1;
        result = -EBADMSG;
    }
    give_back(tracker, &room);
    return result == 1 ? 0 : result;
}

int tracker_set_read(const struct tracker *tracker, uint64_t value, char *path)
{
    const struct tracker_record *record;
    struct tracker_text text;
    size_t length;
    int error = open_record(tracker, value, &record, &length);

    if (error < 0)
        return error;
    memcpy(path, record->text, length);
    path[length] = '\0';
    if (tracker_text(tracker, path, length, &text) < 0 || (value ^ text.hash) >> TAG_SHIFT)
        return -EBADMSG;
    return (int)length;
}
