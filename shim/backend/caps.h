/* SPDX-License-Identifier: MIT */
/* caps.h - what is left of root's power inside. */
#ifndef CORDON_CAPS_H
#define CORDON_CAPS_H

#include <stdbool.h>

/*
 * Drops every capability but those about files and ids: root stays root towards the files that the
 * policy grants, and is nobody to the rest of the system. No no-op for other users either: what
 * they were given goes the same way. After no_new_privs, which keeps exec from giving anything
 * back. `supervises`: for who is to see what the others mean. 0 or a negative errno.
 */
int caps_drop(bool supervises);

#endif
