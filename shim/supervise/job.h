/* SPDX-License-Identifier: MIT */
/*
 * job.h - one system call of another process, while it is judged and carried out.
 *
 * What the call names, a job reads once and keeps: its paths, structures and descriptors. So what
 * is judged is what is acted on, whatever the caller's other threads do to its memory meanwhile.
 * Whoever finds that the caller cannot be read gives the job up: it does not return.
 */
#ifndef CORDON_JOB_H
#define CORDON_JOB_H

#include <limits.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "listener.h"
#include "place.h"

enum {
    JOB_PATHS = 2,
    JOB_BORROWED = 4,
    JOB_UNASKED = INT_MIN, /* no number of a descriptor */
    JOB_ROOM = 65536,      /* as much as an extended attribute may have */
};

/* How the call ends. */
enum job_end {
    JOB_ANSWER, /* with the result */
    JOB_HAND,   /* with the result as a new descriptor of the caller's */
    JOB_LET,    /* if the result is no error: the caller makes the call itself */
    JOB_RUN,    /* the same, of an exec */
};

/* Whether what it waits for may be interrupted. */
enum job_phase {
    JOB_WORKS,
    JOB_IS_INTERRUPTED, /* right now */
    JOB_ENDS,           /* no more */
};

struct job {
    const struct supervisor *on;
    struct seccomp_notif call;
    enum job_end end;
    int open_flags; /* of what is handed over */

    /* Whose eyes to look with. */
    struct scope scope;
    struct view view;
    char self[16];
    char thread_self[40];
    pid_t process; /* 0: not asked for yet */

    /* What was read, and what is to be written. */
    int paths;
    char path[JOB_PATHS][PATH_MAX + 1];
    unsigned char in[64];
    char *room;
    void *out;
    size_t out_size; /* 0: as long as the result says */
    uint64_t out_address;
    unsigned char out_bytes[512];

    /* Descriptors of ours for the caller's. */
    int borrowed;
    struct {
        int number;
        int fd;
    } lent[JOB_BORROWED];

    /* In another domain (domains.h) this thread cannot look into the caller: one that can does it.
     */
    bool away;
    void (*errand)(void *data); /* NULL: all is done */
    void *errand_data;
    sem_t sent;
    sem_t back;

    bool acts_as_caller;
    bool lowered; /* it has the caller's rights, and of capabilities these */
    unsigned long long caps;
    _Atomic int phase;       /* enum job_phase */
    _Atomic int interrupted; /* what a call that was interrupted is to end with; 0: it was not */
    jmp_buf gone;            /* with the negative errno to answer */
};

/* The one that this thread works on. */
extern __thread struct job *job_now;

/* Ends the job with that answer. */
_Noreturn void job_give_up(struct job *job, int error);

/* What the call's argument points at; NULL stays NULL. */
const char *job_path(struct job *job, int argument);
const void *job_in(struct job *job, int argument, size_t size);
const void *job_bytes(struct job *job, int argument, uint64_t size);
void *job_out(struct job *job, int argument, size_t size);
void *job_room(struct job *job, int argument, uint64_t size);

/* The mode of what is to be made; the caller's umask will count. */
mode_t job_mode(struct job *job, int argument);

/* The same, if flags that are the argument `flags` make something. */
mode_t job_open_mode(struct job *job, int argument, int flags);

/* Calls `errand` in a thread that may look into the caller: this one, or the one that waits for it
 * in job_run_errands, until that is told that all is done. */
void job_send(struct job *job, void (*errand)(void *data), void *data);
void job_run_errands(struct job *job);

/* Reads and writes the caller's memory. 0 or -EFAULT. */
int job_read(struct job *job, uint64_t address, void *bytes, size_t size);
int job_write(struct job *job, uint64_t address, const void *bytes, size_t size);
/* A text that ends with NUL, cut to size - 1 bytes; its length, or -EFAULT. */
ssize_t job_read_text(struct job *job, uint64_t address, char *text, size_t size);

/* A descriptor of ours for the caller's: the same open file. -EBADF ... The job closes it. */
int job_fd(struct job *job, int number);

/* Has the job close a descriptor of ours, which is what it has for the caller's `number`, or for
 * JOB_UNASKED. The descriptor, or a negative errno. */
int job_lend(struct job *job, int number, int fd);

/* A descriptor of ours for where the caller's relative paths start: AT_FDCWD or a directory. */
int job_directory(struct job *job, int number);

/* The process that the calling thread belongs to. */
pid_t job_process(struct job *job);

/* Opens a file of the caller's own part of procfs, such as "status". */
int job_open_proc(struct job *job, const char *name, int flags);

/* Opens a path below a directory of ours, with O_PATH, as who may look into the caller. */
int job_open_path(struct job *job, int dir, const char *path);
ssize_t job_read_link(struct job *job, int dir, const char *path, char *target, size_t size);

/* From now on this thread acts with the rights of the caller. */
void job_become_caller(struct job *job);

/* Closes what was borrowed, and acts as the supervisor again. */
void job_release(struct job *job);

#endif
