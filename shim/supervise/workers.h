/* SPDX-License-Identifier: MIT */
/*
 * workers.h - the threads that answer.
 *
 * One waits for the next call, and answers it. When it is held up, by a FIFO that nobody reads or a
 * server that does not answer, another takes its place within a few milliseconds. One that is held
 * up for long is looked after: when its caller is gone, or has a signal to handle, what it waits
 * for is interrupted.
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
