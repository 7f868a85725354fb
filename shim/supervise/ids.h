/* SPDX-License-Identifier: MIT */
/*
 * ids.h - acting with the rights of another process.
 *
 * Whoever is not root has one user and group for all that he starts. For root's processes the
 * supervisor is told when one of them first changes who it is; from then on it looks before it
 * acts. The rights are the thread's: libc, which would change them for all threads, is not asked.
 */
#ifndef CORDON_IDS_H
#define CORDON_IDS_H

#include <stdbool.h>
#include <sys/types.h>

#include "job.h"

enum { IDS_GROUPS = 64 };

/* What the kernel tells of a process. */
struct ids_status {
    pid_t process;
    pid_t parent;
    mode_t umask;
    uid_t uid[4]; /* real, effective, saved, for files */
    gid_t gid[4];
    unsigned long long caps; /* effective */
    int groups;              /* -1: more than we take */
    gid_t group[IDS_GROUPS];
    unsigned long long pending; /* signals that would interrupt it */
    bool restarts;              /* they are for this very thread */
};

int ids_read(struct job *job, struct ids_status *status);
int ids_read_of(int proc, pid_t thread, struct ids_status *status);

/* Whether this process, and so those that it starts, can become others. */
bool ids_can_change(void);

/* A process of the tree is about to change who it is. */
void ids_vary(void);

void ids_become(struct job *job);
void ids_return(struct job *job);

/* For a moment all that the supervisor may, such as to look into the caller, and back. */
void ids_pause(struct job *job);
void ids_resume(struct job *job);

#endif
