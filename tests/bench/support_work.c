/* SPDX-License-Identifier: MIT */
#include "support_work.h"

#include <stdio.h>

double work_turn(enum side side, const void *subject)
{
    const struct work *work = subject;

    return side_run(side, (const char *const[]){"sh", "-c", work->script, NULL});
}

static bool is_there(const struct work *work)
{
    return work->check == NULL ? side_finds(work->needs) : side_agrees(work->check);
}

void work_rows(struct table *table, const struct work *works, size_t count, double seconds)
{
    for (size_t i = 0; i < count; i++) {
        const struct work *work = &works[i];
        const struct row row = {work->name, work, work->target, work->aim};
        if (!is_there(work)) {
            printf("  %-28s %s is not installed\n", work->name, work->needs);
            continue;
        }
        if (work->prepare != NULL)
            side_prepare(work->prepare);
        table_row(table, &row, seconds / (double)count, 3);
    }
}
