/* SPDX-License-Identifier: MIT */
#include "tally.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void tally_note_escape(struct tally *tally, const char *what)
{
    if (tally->escapes++ == 0)
        snprintf(tally->first, sizeof tally->first, "%s", what);
}

void tally_count(struct tally *tally, const struct call_result *result)
{
    tally->calls++;
    tally->results[-result->error < ERRNOS ? -result->error : EINVAL]++;
    if (result->escaped)
        tally_note_escape(tally, result->text);
}

bool tally_has_strange_error(const struct tally *tally)
{
    static const int usual[] = {0, EACCES, ENOENT, ENOTDIR, EEXIST, EISDIR, ENOTEMPTY};
    unsigned long known = 0;

    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        known += tally->results[usual[i]];
    return known != tally->calls;
}

void tally_print_head(void)
{
    printf("%-10s  %-6s %9s %9s %9s %9s %8s  %s\n", "victim", "attack", "swaps", "calls", "ok",
           "refused", "escapes", "other errors");
}

void tally_print(const struct tally *tally, const char *victim, const char *attack)
{
    printf("%-10s  %-6s %9lu %9lu %9lu %9lu %8lu ", victim, attack, tally->swaps, tally->calls,
           tally->results[0], tally->results[EACCES], tally->escapes);
    for (int i = 1; i < ERRNOS; i++)
        if (i != EACCES && tally->results[i] > 0)
            printf(" %s %lu", strerrorname_np(i), tally->results[i]);
    printf("\n");
}
