/* SPDX-License-Identifier: MIT */
/*
 * domains.h - processes that have confined themselves further, by Landlock: a cordon in this one,
 * or a program with a sandbox of its own.
 *
 * What the supervisor does for such a process must not go beyond what the process could do itself.
 * So when one restricts itself, a thread of the supervisor takes on the same restrictions, and from
 * then on threads that are started by this one act for that process and its children. Whose domain
 * a caller is in, is told by a resource limit: the supervisor lowers it by the domain's number, it
 * is inherited, and the filter lets nobody else change it.
 */
#ifndef CORDON_DOMAINS_H
#define CORDON_DOMAINS_H

#include <stdbool.h>

#include "job.h"

/* Before there are any jobs. */
void domains_begin(void);

/* The domain that the caller is in: 0, the one that all begin in; negative: cannot be told. */
long domains_find(const struct job *job);

/* Runs `act` in a new thread that is in the domain, and does not wait for it. False: there is no
 * such domain. */
bool domains_start(long domain, void (*act)(void *data), void *data);

/* The caller is about to restrict itself: landlock_restrict_self(2). 0 or a negative errno. */
long domains_restrict(struct job *job);

#endif
