/* SPDX-License-Identifier: MIT */
/* watch.h - between cordon and its guardian: one message is one packet of a socket. */
#ifndef CORDON_WATCH_H
#define CORDON_WATCH_H

#include <sys/types.h>

#include "guardian.h"

enum message_kind {
    MESSAGE_SIGNAL,  /* to the guardian: send this one to the command */
    MESSAGE_STARTED, /* to cordon: the command has begun */
    MESSAGE_STOPPED, /* to cordon: the command was stopped by this signal */
    MESSAGE_OUTCOME, /* to cordon: all is over */
};

struct message {
    enum message_kind kind;
    int signal;
    struct outcome outcome;
};

/* The guardian's own life: starts the command, watches it, cleans up. `cordon` is its end of the
 * socket, `parent` who it is started by. Returns the exit status. */
int guardian_live(const struct guarded *guarded, int cordon, pid_t parent);

/* What is to be done when a run is over, whoever does it: sets outcome->left if something stays. */
void clean_up(const struct guarded *guarded, struct outcome *outcome);

/* Closes all descriptors but standard error and those named; 0 and 1 become /dev/null. So a reader
 * of the command's output does not wait for us. */
void keep_only(const int *kept, int count);

/* A signal that came while the command was not there to get it, and that would have ended it; or
 * 0. */
int signals_pending(void);

#endif
