/* SPDX-License-Identifier: MIT */
/*
 * bench_calls.c - what a call costs a program, with and without shim and wall. Figures never fail
 * the bench, only wrong answers do.
 */
#include <stdio.h>

#include "support.h"
#include "support_copies.h"

/* A wall alone has no target: it is not ours. */
static const struct column columns[] = {
    {SIDE_NATIVE, SIDE_BARE, true},
    {SIDE_LANDLOCK_WALL, SIDE_BARE, false},
    {SIDE_LANDLOCK, SIDE_LANDLOCK_WALL, true},
    {SIDE_BWRAP_WALL, SIDE_BARE, false},
    {SIDE_BWRAP, SIDE_BWRAP_WALL, true},
};

int main(void)
{
    struct table table = {.title = "what a call costs",
                          .columns = columns,
                          .count = sizeof columns / sizeof columns[0],
                          .turn = copies_turn};
    struct side_place place;
    double seconds = bench_seconds(30);

    side_begin(&place);
    side_prepare(calls_prepare);
    copies_stay_here();
    if (!copies_start(&table, "bench/copy"))
        return 2;
    table_print_head(&table);
    for (size_t i = 0; i < calls_count; i++)
        if (!calls[i].connects)
            copies_row(&table, &calls[i], calls[i].target, seconds / (double)calls_count);
    copies_end();
    return table_end(&table);
}
