/* SPDX-License-Identifier: MIT */
/* random.h - numbers that a seed repeats. */
#ifndef FUZZ_RANDOM_H
#define FUZZ_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct random {
    uint64_t state;
};

/* splitmix64: any seed will do, also 0 and its neighbours. */
static inline uint64_t random_next(struct random *random)
{
    uint64_t x = random->state += 0x9e3779b97f4a7c15U;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

/* The stream of one thing of a kind: the case can be repeated without those before it. */
static inline struct random random_of(uint64_t seed, uint64_t kind, uint64_t number)
{
    struct random random = {seed};

    random.state ^= random_next(&(struct random){kind});
    random.state ^= random_next(&(struct random){~number});
    return random;
}

static inline unsigned random_below(struct random *random, unsigned limit)
{
    return (unsigned)((random_next(random) >> 33) % limit);
}

static inline bool random_percent(struct random *random, unsigned percent)
{
    return random_below(random, 100) < percent;
}

#endif
