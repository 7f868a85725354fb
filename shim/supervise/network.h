/* SPDX-License-Identifier: MIT */
/*
 * network.h - where sockets may lead.
 *
 * The address is read once, judged, and used by the supervisor on a duplicate of the caller's
 * socket: what it says in memory by then no longer matters.
 */
#ifndef CORDON_NETWORK_H
#define CORDON_NETWORK_H

#include "job.h"

/* The calls of that name, with the arguments of the job. */
long network_connect(struct job *job);
long network_bind(struct job *job);
long network_listen(struct job *job);

/* "AF_INET SOCK_DGRAM": what kind of socket was asked for. */
void network_describe(int family, int type, int protocol, char *text, size_t size);

#endif
