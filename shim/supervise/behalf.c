/* SPDX-License-Identifier: MIT */
/* A judged call on behalf of another process: what call.h says differs. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "known.h"
#include "os.h"
#include "program.h"
#include "report.h"
#include "supervisor.h"

/* Directories that relative paths started at, by their identity. */
static struct known table[1024];

static struct known *slot_of(const struct identity *id)
{
    uint64_t hash = (id->ino ^ id->dev << 20 ^ id->mount << 40) * 0x9e3779b97f4a7c15U;

    return &table[hash >> 54];
}

bool call_is_ready(void)
{
    return true;
}

/* What lies below /proc means something else to each process: there nothing is remembered. */
void where_from(struct where *where, int dir, const char *path)
{
    struct job *job = job_now;
    struct identity id;

    where->start = (struct start){.fd = AT_FDCWD};
    if (path[0] == '/')
        return;
    where->start.fd = job_directory(job, dir);
    /* What was read by the number of a thread was this caller's, if it still waits. */
    if (where->start.fd < 0 || !listener_is_waiting(job->on->listener, job->call.id)) {
        where->start.fd = -EBADF;
        return;
    }
    if (identity_of(where->start.fd, &id) && id.dev != job->on->proc_dev &&
        known_find(slot_of(&id), &job->scope, where->start.fd, &id, &where->at))
        where->start.at = &where->at;
}

static bool begin(struct call *call, const struct scope *scope, const char *op, const char *path)
{
    if (call_is_wild(path))
        return false;
    call->scope = scope;
    call->op = op;
    call->hint = NULL;
    call->path = path;
    call->follow = true;
    call->report = (struct report){.denied = false};
    return true;
}

bool call_begin(struct call *call, const char *op, int dir, const char *path)
{
    struct job *job = job_now;

    if (!begin(call, &job->scope, op, path))
        return false;
    /* So was the path. Once a call has begun, something may be held that giving up would leak. */
    if (!job->acts_as_caller && path[0] == '/' &&
        !listener_is_waiting(job->on->listener, job->call.id))
        job_give_up(job, -EINTR);
    where_from(&call->where, dir, path);
    call->dir = call->where.start.fd;
    job_become_caller(job);
    return true;
}

bool call_begin_ours(struct call *call, const char *op, const char *name)
{
    static const struct view own = {.root = VIEW_SELF};
    static __thread struct scope scope;

    scope = job_now->scope;
    scope.view = &own;
    if (!begin(call, &scope, op, name))
        return false;
    call->dir = AT_FDCWD;
    call->where.start = (struct start){.fd = AT_FDCWD};
    return true;
}

int call_fd(int fd)
{
    return job_fd(job_now, fd);
}

/* The links below /proc/self that the kernel would follow for us lead to what is ours. */
uint64_t call_resolve(uint64_t resolve)
{
    return resolve | RESOLVE_NO_MAGICLINKS;
}

/* Nor is our own part of procfs anybody's. */
bool call_may_find(int found)
{
    char text[PATH_MAX];

    return os_path_of(found, text, sizeof text) > 0 && !job_now->view.hides(text);
}

bool call_settled(struct call *call)
{
    if (call->report.denied)
        report_call(job_now, call);
    return true;
}

bool program_needs_shim(void)
{
    return false;
}
