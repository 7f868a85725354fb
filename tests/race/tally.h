/* SPDX-License-Identifier: MIT */
/*
 * tally.h - what came of a victim's calls, and how it is told.
 *
 * A tally lies in memory that the processes share: the victim writes it, the swaps the attackers.
 */
#ifndef RACE_TALLY_H
#define RACE_TALLY_H

#include <stdbool.h>

#include "victim.h"

enum { ERRNOS = 134 };

struct tally {
    unsigned long swaps;
    unsigned long calls;
    unsigned long results[ERRNOS]; /* 0: success */
    unsigned long escapes;
    char first[CALL_TEXT]; /* the first escape */
};

void tally_count(struct tally *tally, const struct call_result *result);
void tally_note_escape(struct tally *tally, const char *what);

/* Whether there was an error that the kernel itself does not have for such paths: it would be the
 * resolver's own. */
bool tally_has_strange_error(const struct tally *tally);

/* A table, line by line. */
void tally_print_head(void);
void tally_print(const struct tally *tally, const char *victim, const char *attack);

#endif
