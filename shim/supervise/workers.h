/* SPDX-License-Identifier: MIT */
/*
 * workers.h - the threads that answer.
 *
 * There is always one that waits for the next call, whatever the others are held up by: a FIFO that
 * nobody reads, a server that does not answer. One that is held up for long is looked after: when
 * its caller is gone, or has a signal to handle, what it waits for is interrupted.
 */
#ifndef CORDON_WORKERS_H
#define CORDON_WORKERS_H

#include <stdbool.h>

#include "supervisor.h"

bool workers_start(const struct supervisor *supervisor);

/* To be called now and then: looks after those that are held up. How long until the next time, in
 * milliseconds; -1: when the descriptor below can be read. */
int workers_tick(void);
int workers_wake_fd(void);

#endif
