/* SPDX-License-Identifier: MIT */
/*
 * support_table.h - sides that take turns, and a table of their ratios.
 *
 * A ratio is that of two neighbours in one round; printed are the median, the 10th and the 90th
 * percentile over the rounds.
 */
#ifndef CORDON_BENCH_SUPPORT_TABLE_H
#define CORDON_BENCH_SUPPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "support_side.h"

/* A side against its base. One that does not count has no target: it is not ours, or is there for
 * information. */
struct column {
    enum side side;
    enum side base;
    bool counts;
};

struct table {
    const char *title;
    const struct column *columns;
    size_t count;

    /* What is timed, on one side: nanoseconds, or -1 if it failed. */
    double (*turn)(enum side side, const void *subject);

    /* How it went. */
    size_t targets;
    size_t misses;
    bool wrong;
};

struct row {
    const char *name;
    const void *subject;
    double target; /* the ratio should not be more; 0: there is no target */
    double aim;    /* and better not more than this; 0: no aim but the target */
};

/* Whether a column needs the side; the bare one always is. */
bool table_uses(const struct table *table, enum side side);

/* Names the columns, and those that are left out. */
void table_print_head(const struct table *table);

/* Measures and prints a line. At least `rounds` are made, however short the time. */
void table_row(struct table *table, const struct row *row, double seconds, size_t rounds);

/* "2 of 7 targets missed". Returns the status to exit with. */
int table_end(const struct table *table);

#endif
