/* SPDX-License-Identifier: MIT */
/* grants.h - the rules of a session: those of the options, then the defaults. */
#ifndef CORDON_GRANTS_H
#define CORDON_GRANTS_H

#include "policy.h"
#include "session.h"

/* Returns 0, or EXIT_SETUP after a message. */
int grants_add(struct policy_builder *builder, const struct session *session);

#endif
