/* SPDX-License-Identifier: MIT */
/*
 * supervisor.h - who judges the system calls that did not come from the shim.
 *
 *     cordon ── guardian ─║─ supervisor ─║─ command ── ...
 *
 * The supervisor stands inside the wall, one layer above the command: what it opens on behalf of
 * the command meets the wall as well, and the command can neither trace it nor send it signals. It
 * hears of every call that takes a path or an address, judges it by the resolver that the shim has,
 * and carries it out on the place that was judged. When it ends, all ends.
 */
#ifndef CORDON_SUPERVISOR_H
#define CORDON_SUPERVISOR_H

#include "backend.h"
#include "confine.h"
#include "ids.h"

/* What it needs to know. The descriptors may be -1. */
struct supervised {
    const struct image *image;
    struct confinement confinement;
    int log;   /* where refusals are written to */
    int stops; /* where to tell of it when the command is stopped: an int, its signal; 0: goes on */
};

/*
 * Builds the wall around this process, which becomes the supervisor; a child of it, in which this
 * returns, is to become the command, and is confined completely. 0, or -1 with *trouble: whoever it
 * returns to must not go on.
 */
int supervisor_begin(const struct supervised *what, struct trouble *trouble);

/* Whether this kernel, and who else filters here, lets a process have a supervisor: 0, or -1 with
 * *trouble. By trying. */
int supervisor_probe(struct trouble *trouble);

/* Whether this process has one already, by what the kernel answers. */
bool supervisor_is_above(void);

/* Whether that one hands in the shim to whatever is started from here. */
bool supervisor_hands_in(void);

/* What all jobs share; fixed once there are any. */
struct supervisor {
    const struct image *image;
    const struct policy *policy;
    struct seccomp_wants wants;
    struct ids_status own; /* who the supervisor is */
    pid_t command;         /* its child */
    int listener;
    int proc; /* /proc */
    int log;
    int preload;  /* what /etc/ld.so.preload says to the loader; -1: what it is */
    int image_fd; /* sealed */
    uint64_t proc_dev;
    bool own_abstract; /* abstract sockets of others cannot be reached by anybody in here */
};

/* Hears of one call and answers it. */
void job_answer(struct job *job);

/* The command has ended so: all ends. */
_Noreturn void supervisor_end(int status);

/* Whether the thread of that number is one of the supervisor's own. */
bool supervisor_has_thread(pid_t thread);

#endif
