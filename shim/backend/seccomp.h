/* SPDX-License-Identifier: MIT */
/*
 * seccomp.h - the system calls that lead around a wall of paths.
 *
 * A filter for what neither Landlock nor a mount namespace holds: other architectures' numbers,
 * io_uring, mounts and namespaces, file handles, keys pushed into the terminal, sockets. The rows
 * are in seccomp.c.
 */
#ifndef CORDON_SECCOMP_H
#define CORDON_SECCOMP_H

#include <stdbool.h>
#include <stdint.h>

#include "image.h"

struct seccomp_wants {
    bool unix_sockets; /* sockets by path; without, socketpair is all there is, and no datagrams */
    bool internet;     /* TCP and UDP over IPv4 and IPv6, and reading the routes */
    bool own_pids;     /* processes outside cannot be named: a PID namespace */
    enum image_supervise supervise;
    bool many_ids; /* supervised processes can change who they are: root's */
};

/* Filters this process and all that it starts, for good. no_new_privs is set already. A negative
 * errno, or 0; with a supervisor the descriptor that he listens on. */
int seccomp_enter(const struct seccomp_wants *wants);

/* What the filter would refuse the call with, had the supervisor not to be told; 0: nothing. */
int seccomp_refuses(const struct seccomp_wants *wants, int call, const uint64_t args[6],
                    const char **name);

/* Whether such a filter is in force: it answers a prctl(2) that no kernel knows. */
bool seccomp_is_entered(void);

#endif
