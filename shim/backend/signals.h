/* SPDX-License-Identifier: MIT */
/*
 * signals.h - signals past a wrapper.
 *
 * Ctrl-C goes to every process of the foreground group. The command may handle it and go on; a
 * wrapper around it that dies of it would take the command along. So wrappers are started with such
 * signals ignored, and the helper inside puts them back for the command.
 */
#ifndef CORDON_SIGNALS_H
#define CORDON_SIGNALS_H

#include <stdint.h>

/* Those among the signals in question that this process ignores: bit N-1 for signal N. */
uint64_t signals_ignored(void);

/* Ignores them all. */
void signals_ignore(void);

/* Ignores those of the mask, and puts the others at their default. */
void signals_restore(uint64_t ignored);

#endif
