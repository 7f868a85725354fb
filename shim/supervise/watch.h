/* SPDX-License-Identifier: MIT */
/*
 * watch.h - between cordon and its guardian.
 *
 * A pipe leads from cordon to the guardian: each int is a signal for the command, and its end is
 * cordon's end. The other way there is a board that both see, with SIGCHLD as the bell: so a short
 * command costs cordon one awakening, when the guardian has ended.
 */
#ifndef CORDON_WATCH_H
#define CORDON_WATCH_H

#include <stdatomic.h>
#include <sys/types.h>

#include "guardian.h"

struct board {
    atomic_bool started; /* the command has begun some time ago */
    atomic_int stopped;  /* by this signal; 0: it is not */
    atomic_bool over;    /* the outcome is this: */
    struct outcome outcome;
};

/* The guardian's own life: starts the command, watches it, cleans up. `cordon` is its end of the
 * pipe, `parent` who it is started by. Returns the exit status. */
int guardian_live(const struct guarded *guarded, struct board *board, int cordon, pid_t parent);

/* What is to be done when a run is over, whoever does it: sets outcome->left if something stays. */
void clean_up(const struct guarded *guarded, struct outcome *outcome);

/* Closes all descriptors but standard error and those named; 0 and 1 become /dev/null. So a reader
 * of the command's output does not wait for us. */
void keep_only(const int *kept, int count);

/* A signal that came while the command was not there to get it, and that would have ended it; or
 * 0. */
int signals_pending(void);

#endif
