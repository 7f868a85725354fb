/* SPDX-License-Identifier: MIT */
/*
 * log.h - the record of a refusal: one JSON object a line, one write(2).
 *
 * Fields: time, pid, ppid, exe, op, intent, path, resolved, verdict, rule, origin, errno, layer,
 * hint. Paths are bytes: what is no UTF-8 is written byte by byte as \u00XX.
 */
#ifndef CORDON_LOG_H
#define CORDON_LOG_H

#include "call.h"

/* Writes the record of a call whose report says that it was refused, if there is a log. */
void log_refusal(const struct call *call);

#endif
