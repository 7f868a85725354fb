/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "tracker_set.h"

struct state {
    uint64_t v0, v1, v2, v3;
};

static inline uint64_t rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static inline void mix(struct state *s)
{
    s->v0 += s->v1;
    s->v2 += s->v3;
    s->v1 = rotate(s->v1, 13) ^ s->v0;
    s->v3 = rotate(s->v3, 16) ^ s->v2;
    s->v0 = rotate(s->v0, 32);
    s->v2 += s->v1;
    s->v0 += s->v3;
    s->v1 = rotate(s->v1, 17) ^ s->v2;
    s->v3 = rotate(s->v3, 21) ^ s->v0;
    s->v2 = rotate(s->v2, 32);
}

static inline void take(struct state *s, uint64_t word)
{
    s->v3 ^= word;
    mix(s);
    s->v0 ^= word;
}

/* Words are read as the machine has them: neither the memory nor the journal ever leaves it. */
uint64_t tracker_hash(const uint64_t key[2], const char *text, size_t length)
{
    struct state s = {
        .v0 = key[0] ^ UINT64_C(0x736f6d6570736575),
        .v1 = key[1] ^ UINT64_C(0x646f72616e646f6d),
        .v2 = key[0] ^ UINT64_C(0x6c7967656e657261),
        .v3 = key[1] ^ UINT64_C(0x7465646279746573),
    };
    uint64_t word;
    size_t done = 0;

    for (; length - done >= sizeof word; done += sizeof word) {
        memcpy(&word, text + done, sizeof word);
        take(&s, word);
    }
    word = 0;
    memcpy(&word, text + done, length - done);
    take(&s, word ^ (uint64_t)length << 56);

    s.v2 ^= 0xff;
    mix(&s);
    mix(&s);
    mix(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
