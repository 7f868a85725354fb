/* SPDX-License-Identifier: MIT */
#include "job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "ids.h"
#include "os.h"
#include "supervisor.h"

#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL
#endif

__thread struct job *job_now;

void job_give_up(struct job *job, int error)
{
    longjmp(job->gone, error);
}

/* --- errands ---------------------------------------------------------------------------------- */

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) < 0 && errno == EINTR)
        ;
}

void job_send(struct job *job, void (*errand)(void *data), void *data)
{
    if (!job->away) {
        ids_pause(job);
        errand(data);
        ids_resume(job);
        return;
    }
    job->errand = errand;
    job->errand_data = data;
    sem_post(&job->sent);
    if (errand != NULL)
        wait_for(&job->back);
}

void job_run_errands(struct job *job)
{
    for (;;) {
        wait_for(&job->sent);
        if (job->errand == NULL)
            return;
        job->errand(job->errand_data);
        sem_post(&job->back);
    }
}

/* --- memory ----------------------------------------------------------------------------------- */

struct transfer {
    pid_t thread;
    struct iovec here;
    struct iovec there;
    bool writes;
    ssize_t result;
};

static void move(void *data)
{
    struct transfer *transfer = data;
    const struct iovec *here = &transfer->here;
    const struct iovec *there = &transfer->there;

    transfer->result = transfer->writes ? process_vm_writev(transfer->thread, here, 1, there, 1, 0)
                                        : process_vm_readv(transfer->thread, here, 1, there, 1, 0);
}

static int transfer_bytes(struct job *job, uint64_t address, void *bytes, size_t size, bool writes)
{
    struct transfer transfer = {
        .thread = (pid_t)job->call.pid,
        .here = {bytes, size},
        .there = {(void *)(uintptr_t)address, size},
        .writes = writes,
    };

    if (size == 0)
        return 0;
    job_send(job, move, &transfer);
    return transfer.result == (ssize_t)size ? 0 : -EFAULT;
}

int job_read(struct job *job, uint64_t address, void *bytes, size_t size)
{
    return transfer_bytes(job, address, bytes, size, false);
}

int job_write(struct job *job, uint64_t address, const void *bytes, size_t size)
{
    return transfer_bytes(job, address, (void *)(uintptr_t)bytes, size, true);
}

/* Page by page: what follows the text may not be there. */
ssize_t job_read_text(struct job *job, uint64_t address, char *text, size_t size)
{
    size_t length = 0;

    while (length < size - 1) {
        size_t chunk = 4096 - (size_t)((address + length) & 4095);
        if (chunk > size - 1 - length)
            chunk = size - 1 - length;
        if (job_read(job, address + length, text + length, chunk) < 0)
            return -EFAULT;
        const char *end = memchr(text + length, '\0', chunk);
        if (end != NULL)
            return end - text;
        length += chunk;
    }
    text[length] = '\0';
    return (ssize_t)length;
}

const char *job_path(struct job *job, int argument)
{
    uint64_t address = job->call.data.args[argument];
    char *path;

    if (address == 0)
        return NULL;
    if (job->paths == JOB_PATHS)
        job_give_up(job, -EFAULT);
    path = job->path[job->paths++];
    /* One that is too long stays so. */
    if (job_read_text(job, address, path, PATH_MAX + 1) < 0)
        job_give_up(job, -EFAULT);
    return path;
}

const void *job_in(struct job *job, int argument, size_t size)
{
    uint64_t address = job->call.data.args[argument];

    if (address == 0)
        return NULL;
    if (size > sizeof job->in || job_read(job, address, job->in, size) < 0)
        job_give_up(job, -EFAULT);
    return job->in;
}

static char *room_of(struct job *job)
{
    if (job->room == NULL)
        job->room = malloc(JOB_ROOM);
    if (job->room == NULL)
        job_give_up(job, -ENOMEM);
    return job->room;
}

const void *job_bytes(struct job *job, int argument, uint64_t size)
{
    uint64_t address = job->call.data.args[argument];
    char *room = room_of(job);

    if (size > JOB_ROOM)
        job_give_up(job, -E2BIG);
    if (size > 0 && job_read(job, address, room, (size_t)size) < 0)
        job_give_up(job, -EFAULT);
    return room;
}

void *job_out(struct job *job, int argument, size_t size)
{
    memset(job->out_bytes, 0, size);
    job->out = job->out_bytes;
    job->out_size = size;
    job->out_address = job->call.data.args[argument];
    return job->out;
}

void *job_room(struct job *job, int argument, uint64_t size)
{
    if (size == 0)
        return NULL;
    /* No call fills more than this, whatever the caller says. */
    job->out = room_of(job);
    job->out_size = 0;
    job->out_address = job->call.data.args[argument];
    return job->out;
}

/* --- descriptors ------------------------------------------------------------------------------ */

struct opening {
    int dir;
    const char *path;
    int flags;
    int fd;
};

static void open_for(void *data)
{
    struct opening *opening = data;

    opening->fd = openat(opening->dir, opening->path, opening->flags | O_CLOEXEC);
    if (opening->fd < 0)
        opening->fd = -errno;
}

int job_open_path(struct job *job, int dir, const char *path)
{
    struct opening opening = {.dir = dir, .path = path, .flags = O_PATH};

    job_send(job, open_for, &opening);
    return opening.fd;
}

struct reading {
    int dir;
    const char *path;
    char *target;
    size_t size;
    ssize_t length;
};

static void read_for(void *data)
{
    struct reading *reading = data;

    reading->length = os_readlink(reading->dir, reading->path, reading->target, reading->size);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): it is written to */
ssize_t job_read_link(struct job *job, int dir, const char *path, char *target, size_t size)
{
    struct reading reading = {.dir = dir, .path = path, .target = target, .size = size};

    job_send(job, read_for, &reading);
    return reading.length;
}

int job_open_proc(struct job *job, const char *name, int flags)
{
    char path[64];
    struct opening opening = {.dir = job->on->proc, .path = path, .flags = flags};

    snprintf(path, sizeof path, "%u/%s", job->call.pid, name);
    job_send(job, open_for, &opening);
    return opening.fd;
}

int job_lend(struct job *job, int number, int fd)
{
    if (fd < 0)
        return fd;
    if (job->borrowed == JOB_BORROWED) {
        close(fd);
        return -EMFILE;
    }
    job->lent[job->borrowed].number = number;
    job->lent[job->borrowed++].fd = fd;
    return fd;
}

static int find_lent(const struct job *job, int number)
{
    for (int i = 0; i < job->borrowed; i++)
        if (job->lent[i].number == number)
            return job->lent[i].fd;
    return -ENOENT;
}

struct copying {
    struct job *job;
    int number;
    int fd;
};

/* By a descriptor of the thread itself, or, before Linux 6.9, of its process. */
static void copy_for(void *data)
{
    struct copying *copying = data;
    int pidfd = (int)syscall(SYS_pidfd_open, copying->job->call.pid, PIDFD_THREAD);

    if (pidfd < 0 && errno == EINVAL)
        pidfd = (int)syscall(SYS_pidfd_open, copying->job->process, 0);
    copying->fd = pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, copying->number, 0);
    if (copying->fd < 0)
        copying->fd = -errno;
    if (pidfd >= 0)
        close(pidfd);
}

/* The same open file; where that is forbidden at least the same file. */
static int duplicate(struct job *job, int number)
{
    struct copying copying = {.job = job, .number = number};
    char name[32];

    job_process(job);
    job_send(job, copy_for, &copying);
    if (copying.fd >= 0 || copying.fd == -EBADF)
        return copying.fd;
    snprintf(name, sizeof name, "fd/%d", number);
    copying.fd = job_open_proc(job, name, O_PATH);
    return copying.fd == -ENOENT ? -EBADF : copying.fd;
}

int job_fd(struct job *job, int number)
{
    int fd = find_lent(job, number);

    if (number == AT_FDCWD)
        return job_directory(job, number);
    if (number < 0)
        return -EBADF;
    return fd >= 0 ? fd : job_lend(job, number, duplicate(job, number));
}

int job_directory(struct job *job, int number)
{
    char name[32];
    int fd = find_lent(job, number);

    if (fd >= 0)
        return fd;
    if (number == AT_FDCWD)
        return job_lend(job, number, job_open_proc(job, "cwd", O_PATH | O_DIRECTORY));
    if (number < 0)
        return -EBADF;
    snprintf(name, sizeof name, "fd/%d", number);
    fd = job_open_proc(job, name, O_PATH);
    return fd == -ENOENT ? -EBADF : job_lend(job, number, fd);
}

/* --- who it is -------------------------------------------------------------------------------- */

pid_t job_process(struct job *job)
{
    struct ids_status status;
    int fd;

    if (job->process != 0)
        return job->process;
    /* Of a thread that is not the first one no such descriptor can be had. */
    fd = (int)syscall(SYS_pidfd_open, job->call.pid, 0);
    if (fd >= 0)
        close(fd);
    job->process = (pid_t)job->call.pid;
    if (fd < 0 && ids_read(job, &status) == 0)
        job->process = status.process;
    return job->process;
}

static void set_umask(struct job *job)
{
    struct ids_status status;

    if (ids_read(job, &status) < 0)
        job_give_up(job, -EACCES);
    umask(status.umask);
}

mode_t job_mode(struct job *job, int argument)
{
    set_umask(job);
    return (mode_t)job->call.data.args[argument];
}

mode_t job_open_mode(struct job *job, int argument, int flags)
{
    int given = (int)job->call.data.args[flags];

    job->open_flags = given;
    if (!(given & O_CREAT) && (given & O_TMPFILE) != O_TMPFILE)
        return 0;
    return job_mode(job, argument);
}

void job_become_caller(struct job *job)
{
    if (job->acts_as_caller)
        return;
    job->acts_as_caller = true;
    ids_become(job);
}

void job_release(struct job *job)
{
    for (int i = 0; i < job->borrowed; i++)
        close(job->lent[i].fd);
    job->borrowed = 0;
    if (job->acts_as_caller)
        ids_return(job);
}
