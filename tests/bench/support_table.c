/* SPDX-License-Identifier: MIT */
#include "support_table.h"

#include <stdio.h>
#include <string.h>

#include "support.h"

enum { ROUNDS_MAX = 4000 };

static double times[SIDES][ROUNDS_MAX];

bool table_uses(const struct table *table, enum side side)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->columns[i].side == side || table->columns[i].base == side)
            return true;
    return side == SIDE_BARE;
}

static bool is_there(const struct table *table, enum side side)
{
    return table_uses(table, side) && side_works(side);
}

static bool is_shown(const struct column *column)
{
    return side_works(column->side) && side_works(column->base);
}

/* --- measuring -------------------------------------------------------------------------------- */

/* Who goes first changes, so that nobody always finds the caches warm. False if a turn failed. */
static bool run_round(const struct table *table, const void *subject, size_t round)
{
    for (size_t i = 0; i < SIDES; i++) {
        enum side side = (enum side)((i + round) % SIDES);
        if (!is_there(table, side))
            continue;
        times[side][round] = table->turn(side, subject);
        if (times[side][round] < 0)
            return false;
    }
    return true;
}

/* Fills in `times`; returns the number of rounds, 0 if a turn failed. */
static size_t measure(const struct table *table, const void *subject, double seconds, size_t least)
{
    double end = bench_now() + seconds * 1e9;
    size_t round = 0;

    if (table->turn(SIDE_BARE, subject) < 0)
        return 0;
    while (round < ROUNDS_MAX && (round < least || bench_now() < end))
        if (!run_round(table, subject, round++))
            return 0;
    return round;
}

/* --- printing --------------------------------------------------------------------------------- */

static const char *base_name(enum side side)
{
    return side == SIDE_LANDLOCK_WALL || side == SIDE_BWRAP_WALL ? "the wall" : side_name(side);
}

void table_print_head(const struct table *table)
{
    for (int side = 0; side < SIDES; side++)
        if (table_uses(table, (enum side)side) && !side_works((enum side)side))
            printf("%s %s: its columns are left out\n", side_name((enum side)side),
                   side_is_missing((enum side)side) ? "is not installed" : "does not work here");
    printf("%-30s %8s", table->title, "bare");
    for (size_t i = 0; i < table->count; i++)
        if (is_shown(&table->columns[i]))
            printf("  %-16s", side_name(table->columns[i].side));
    printf("\n%-30s %8s", "", "");
    for (size_t i = 0; i < table->count; i++)
        if (is_shown(&table->columns[i]))
            printf("  of %-13s", base_name(table->columns[i].base));
    printf("  target\n");
}

/* Prints one column and returns its ratio. */
static double print_column(const struct column *column, size_t rounds)
{
    static double ratios[ROUNDS_MAX];
    struct bench_spread spread;
    char text[48];

    for (size_t i = 0; i < rounds; i++)
        ratios[i] = times[column->side][i] / times[column->base][i];
    spread = bench_spread(ratios, rounds);
    snprintf(text, sizeof text, "%.2f %.2f-%.2f", spread.middle, spread.low, spread.high);
    printf("  %-16s", text);
    return spread.middle;
}

static void print_row(struct table *table, const struct row *row, size_t rounds)
{
    static double bare[ROUNDS_MAX];
    double worst = 0;
    char text[32];

    memcpy(bare, times[SIDE_BARE], sizeof bare);
    printf("  %-28s %8s", row->name, bench_duration(bench_spread(bare, rounds).middle, text));
    for (size_t i = 0; i < table->count; i++) {
        const struct column *column = &table->columns[i];
        if (!is_shown(column))
            continue;
        double ratio = print_column(column, rounds);
        if (column->counts && ratio > worst)
            worst = ratio;
    }
    bench_print_verdict(worst, row->target, row->aim);
    printf("\n");
    table->targets += row->target > 0 && worst > 0;
    table->misses += row->target > 0 && worst > row->target;
}

void table_row(struct table *table, const struct row *row, double seconds, size_t rounds)
{
    size_t done = measure(table, row->subject, seconds, rounds);

    if (done == 0) {
        printf("  %-28s fails\n", row->name);
        table->wrong = true;
    } else {
        print_row(table, row, done);
    }
    fflush(stdout);
}

int table_end(const struct table *table)
{
    printf("%zu of %zu targets missed\n\n", table->misses, table->targets);
    return table->wrong;
}
