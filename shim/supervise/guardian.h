/* SPDX-License-Identifier: MIT */
/*
 * guardian.h - a command that is watched to its end, and nothing of which is left afterwards.
 *
 *     cordon ── guardian ── command ── ...
 *
 * cordon stays what the caller's shell knows: in its process group, stopping when the command
 * stops, passing on the signals that were meant for it alone, and ending as the command ended. The
 * guardian, in a group of its own, adopts what the command leaves behind. When the command ends, or
 * cordon does, it ends all of it and removes the temporary directory. If the guardian is killed
 * cordon does that.
 */
#ifndef CORDON_GUARDIAN_H
#define CORDON_GUARDIAN_H

#include <signal.h>
#include <stdbool.h>

/* What the caller had set, so that the command finds it as if cordon were not there. */
struct signals {
    sigset_t mask;
    struct sigaction child;
};

/* Blocks all that can be sent, and lets children be waited for. */
void signals_take(struct signals *original);
void signals_give_back(const struct signals *original);

/* Why a command was not started. */
struct failure {
    int status;      /* to exit with */
    bool wall;       /* the wall could not be built: another one might */
    char text[1024]; /* one line */
};

struct guarded {
    const char *tmp;        /* a directory to be made for this run and removed after it; or NULL */
    const char *cache;      /* a directory in there that may come to be ... */
    const char *cache_home; /* ... and then is kept under this name, or at least an empty one is;
                               or NULL */
    int below; /* how many processes stand between ours and the command, such as bwrap's */

    /* A pipe on which the shim says that it is there; the second end is for the command. Both -1:
     * it need not. */
    int handshake[2];

    /* A pipe on which the command, or what starts it, tells cordon something to be read when all is
     * over. Both -1: none. */
    int report[2];

    /* A pipe on which the supervisor tells that the command was stopped: an int, the signal, or 0
     * when it goes on. Both -1: there is none, and the command is our child. */
    int stops[2];

    /* In the process of the command: becomes it, or says why not. */
    void (*become)(const void *data, struct failure *failure);
    const void *data;

    const struct signals *signals;
};

enum outcome_kind {
    OUTCOME_ENDED,       /* status is the command's, as wait(2) gives it */
    OUTCOME_NOT_STARTED, /* failure says why */
    OUTCOME_NO_SHIM,     /* the program ran without the shim, and was ended; status is how, if it
                            ended by itself, else -1 */
    OUTCOME_LOST,        /* the guardian was killed, and the command with it */
};

struct outcome {
    enum outcome_kind kind;
    int status;
    bool left; /* some process or file could not be removed */
    struct failure failure;
};

/* Runs the command and returns when nothing is left of it. Signals have been taken. 0, or a
 * negative errno if there could be no guardian. */
int guardian_run(const struct guarded *guarded, struct outcome *outcome);

/* Ends this process as the one with that wait status ended: by the same status or signal. */
void end_like(int status) __attribute__((noreturn));

#endif
