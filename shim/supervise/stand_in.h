/* SPDX-License-Identifier: MIT */
/*
 * stand_in.h - a socket in place of the caller's.
 *
 * A call on a socket is made on a duplicate of it. Where nobody may have one (containers forbid
 * pidfd_getfd(2)) the supervisor makes a new socket of the same kind, makes the call on that, and
 * puts it where the caller's was before it answers. What the caller knows of the old one is lost:
 *
 *   - options that were set on it; but O_NONBLOCK and close-on-exec stay, and one that is bound may
 *     use its port again at once (SO_REUSEADDR), as most servers ask for;
 *   - that it is watched by epoll(7), and copies of the descriptor: those still mean the old one;
 *   - what became of it, if it was one of the last but 256.
 *
 * A call that cannot wait for its connection is answered when that is there, if it comes soon: who
 * calls connect(2) a second time to see how far it is gets a connection of its own.
 */
#ifndef CORDON_STAND_IN_H
#define CORDON_STAND_IN_H

#include <stdbool.h>
#include <sys/types.h>

#include "job.h"

/* How far the caller's socket has come, as far as it was by us. */
enum stage {
    STAGE_FRESH,
    STAGE_BOUND,
    STAGE_LISTENS,
    STAGE_CONNECTED,
};

struct stand_in {
    int fd;        /* the job closes it */
    int number;    /* the caller's descriptor */
    ino_t instead; /* of this socket */
    enum stage stage;
    bool is_placed; /* it is the caller's own, from an earlier call */
    int flags;      /* O_CLOEXEC */
};

/* For the caller's descriptor, of which `seen` is one with O_PATH. 0 or a negative errno. */
int stand_in_make(struct job *job, int number, int seen, struct stand_in *stand_in);

/* The call on it, which brings it to that stage, has ended with the result: puts it in place, if
 * something came of that, and says what the call ends with. */
long stand_in_settle(struct job *job, const struct stand_in *stand_in, enum stage stage,
                     long result);

#endif
