/* SPDX-License-Identifier: MIT */
/*
 * support.h - timing, counting system calls and printing, for the benches.
 *
 * The machines that this runs on are noisy, so nothing is said about one thing alone that can be
 * said by comparison: both sides run in short batches that take turns, and what counts is the
 * median of the ratios of neighbours.
 */
#ifndef CORDON_BENCH_SUPPORT_H
#define CORDON_BENCH_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Something to be timed: `call` does it once, and its answer is always `expected`. */
struct bench_side {
    long (*call)(void *subject);
    void *subject;
    long expected;
};

struct bench_cost {
    double ns;   /* of one call, the median */
    double low;  /* 10th percentile */
    double high; /* 90th percentile */
};

struct bench_ratio {
    double base_ns; /* of one call of the base, the median */
    double ratio;   /* median of the batches */
    double low;     /* 10th percentile */
    double high;    /* 90th percentile */
    int base_calls; /* system calls in one call, rounded; -1: could not be counted */
    int calls;
};

/* Many numbers in three: the median, the 10th and the 90th percentile. Sorts them. */
struct bench_spread {
    double middle;
    double low;
    double high;
};
struct bench_spread bench_spread(double *numbers, size_t count);

/* How long all is to take: BENCH_SECONDS, or `usual`. */
double bench_seconds(double usual);

/* Time in nanoseconds, from anywhere. */
double bench_now(void);

/* Both return false, and say so on stderr, if a call gave another answer than the one expected. At
 * least one batch is run, however short the time. */
bool bench_time(const struct bench_side *side, double seconds, struct bench_cost *cost);
bool bench_compare(const struct bench_side *base, const struct bench_side *other, double seconds,
                   struct bench_ratio *ratio);

/* A line of the table. */
struct bench_row {
    const char *name;
    const struct bench_ratio *with;
    const struct bench_ratio *without; /* without openat2; NULL: not measured */
    double target;                     /* the ratio should not be more; 0: there is no target */
    double aim;                        /* and better not more than this; 0: no aim but the target */
};

/* The head names what the base is: "bare" or the like. A title stands above a group of lines. */
void bench_print_head(const char *base);
void bench_print_title(const char *title);
void bench_print_row(const struct bench_row *row);

/* "1.15 OK", "1.15 MISS" or "2.50 OK, aim 1.5"; nothing where there is no target or no ratio. */
void bench_print_verdict(double ratio, double target, double aim);

/* Whether the row is above its target. */
bool bench_misses(const struct bench_row *row);

/* "1.5 us", "3.2 kB": three significant digits in a buffer of the caller's. */
const char *bench_duration(double ns, char text[static 32]);
const char *bench_bytes(uint64_t bytes, char text[static 32]);

#endif
