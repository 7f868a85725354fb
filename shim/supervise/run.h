/* SPDX-License-Identifier: MIT */
/*
 * run.h - letting a caller run a program.
 *
 * Nobody else can do that for it, so between the look and the call the path may change. Where no
 * gate leads past the supervisor that is closed as well: the caller is stopped before the first
 * instruction of what it runs, and does not go on if that is not allowed.
 */
#ifndef CORDON_RUN_H
#define CORDON_RUN_H

#include "job.h"

/* Lets the caller go on with an exec that was judged. */
void run_let(struct job *job);

/* Around waitpid(2) for the command, by its parent: who waits there would get what we wait for. */
void run_hold(void);
void run_release(void);

#endif
