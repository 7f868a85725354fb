/* SPDX-License-Identifier: MIT */
/* print.h - what a session is going to be, in words. */
#ifndef CORDON_PRINT_H
#define CORDON_PRINT_H

#include "session.h"

const char *rule_kind_word(uint32_t kind);
const char *holder_word(enum holder holder);

/* `--print`: chooses the wall by trying, and prints the policy in effect with who holds each rule.
 * Returns the exit status. */
int session_print(struct session *session);

/* Prints those gaps that are that holder's, a line each; how many there are. */
size_t print_gaps_of(const struct gap *gaps, enum holder holder, const char *indent);

#endif
