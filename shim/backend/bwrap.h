/* SPDX-License-Identifier: MIT */
/* bwrap.h - more of bubblewrap than the table of backends shows. */
#ifndef CORDON_BWRAP_H
#define CORDON_BWRAP_H

#include <sys/types.h>

#include "backend.h"

/* How bwrap is to be run. */
struct bwrap_wants {
    const char *cwd;  /* where the command starts, canonical and granted */
    const char *file; /* the program, or NULL: found by command[0] */
    int status_fd;    /* bwrap reports here, see bwrap_status; -1: it does not */
    int log;          /* descriptors for the supervisor inside, or -1 (cordon --inner) */
    int stops;
    bool try_only;  /* build the wall, enter, and end with 0: no command */
    bool host_proc; /* /proc cannot be mounted: show the host's, without a PID namespace */
};

/* Where bwrap is, written to `path` of PATH_MAX bytes unless that is NULL; false, with *trouble:
 * not here. */
bool bwrap_find(const struct policy *policy, char *path, struct trouble *trouble);

/* The whole command line, as backend_bwrap.wrap returns it. */
char **bwrap_argv(const struct image *image, const struct bwrap_wants *wants, char *const command[],
                  struct trouble *trouble);

/* Whether a trial found that host_proc is needed here. */
bool bwrap_needs_host_proc(void);

bool bwrap_likely(const struct image *image);
int bwrap_probe(const struct image *image, struct trouble *trouble);

/*
 * What bwrap reported, all of it, read from the pipe that status_fd was the end of. It exits with 1
 * when it fails, as a command may: without an exit status in the report the set-up failed, and the
 * command was never run.
 */
struct bwrap_status {
    pid_t child;   /* its init, of which the command is a child; 0: never started */
    int exit_code; /* of the command, 128+N if a signal ended it; -1: there is none */
};

struct bwrap_status bwrap_status(const char *report);

#endif
