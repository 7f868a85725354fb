/* SPDX-License-Identifier: MIT */
/* ruleset.h - a policy as Landlock understands it. */
#ifndef CORDON_RULESET_H
#define CORDON_RULESET_H

#include "decide.h"
#include "image.h"

/* What the running kernel's Landlock knows:
 *   1 reads, writes and names   2 moving between directories   3 truncate   4 TCP
 *   5 ioctl on devices          6 abstract sockets, signals    7 (nothing that concerns us)
 * Negative errno: it has none (-ENOSYS), it is switched off (-EOPNOTSUPP), or a filter stands in
 * front of it. */
int ruleset_abi(void);

/*
 * Restricts this process, and all that it starts, to the grants of the image's policy, for good.
 * no_new_privs is set already. Grants only add up: a rule that takes away inside of a grant is not
 * in force then; ruleset_gives says which. A granted path that is not there, or is now reached by a
 * link, is left out. 0 or a negative errno; no heap, no lock, no libc call that could be hooked.
 */
int ruleset_enforce(const struct image *image, bool supervises);

/* The layer between a supervisor and those below him, who cannot trace him or send him signals, and
 * make no connections themselves: he makes them. So `supervises` above leaves the network open. */
int ruleset_enclose(const struct image *image);

/* What the grants add up to at that canonical path. */
enum access ruleset_gives(const struct policy *policy, const char *path);

#endif
