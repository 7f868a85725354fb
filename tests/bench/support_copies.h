/* SPDX-License-Identifier: MIT */
/*
 * support_copies.h - a program that makes calls, started once on each side.
 *
 * The copies take turns: a batch of calls here, the same batch there, all within a millisecond or
 * so. The program is bench/copy, or bench/copy-static.
 */
#ifndef CORDON_BENCH_SUPPORT_COPIES_H
#define CORDON_BENCH_SUPPORT_COPIES_H

#include "support_calls.h"
#include "support_table.h"

/* What is asked of a copy. Its answer: a double, the nanoseconds, or -1. */
struct order {
    size_t call;
    int times;
};

/* Keeps this process, and so all copies, on one processor: else one of them sits on the busier one
 * for as long as it runs. */
void copies_stay_here(void);

/* Starts them on all sides that the table uses. False if that program was not built. */
bool copies_start(const struct table *table, const char *program);
void copies_end(void);

/* A row for a call, with a target of the table's. The turn of the table is to be this one. */
double copies_turn(enum side side, const void *subject);
void copies_row(struct table *table, const struct call *call, double target, double seconds);

#endif
