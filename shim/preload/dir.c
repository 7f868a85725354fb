/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "call.h"
#include "hooks.h"
#include "load.h"
#include "next.h"
#include "os.h"

/* A change of directory that is not judged still has to be known. */
static long change_raw(const char *path)
{
    long fd = CALL(SYS_openat, AT_FDCWD, path, O_PATH | O_DIRECTORY | O_CLOEXEC);

    return fd < 0 ? fd : call_end((int)fd, where_change((int)fd, NULL));
}

/* Opens the directory if no link leads there: then the text tells where it is, and nobody has to
 * ask. */
static int open_plain(const struct call *call, struct policy_at *at)
{
    const struct policy *policy = load_hold.scope.policy;

    if (call->path[0] == '/')
        decide_start(policy, at);
    else if (call->where.start.at != NULL)
        *at = call->where.at;
    else
        return -ELOOP;
    if (!decide_follow(policy, at, call->path) || !decide_here(policy, at, INTENT_STAT).allowed)
        return -ELOOP;
    return os_open_plain(call->dir, call->path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
}

static long change(struct call *call)
{
    struct policy_at at;
    int fd = open_plain(call, &at);

    if (fd >= 0)
        return call_end(fd, where_change(fd, &at));
    fd = call_lookup(call, true, INTENT_STAT);
    return fd < 0 ? fd : call_end(fd, where_change(fd, NULL));
}

long dir_change(const char *path)
{
    struct call call;

    if (call_begin(&call, "chdir", AT_FDCWD, path)) {
        long result = change(&call);
        if (result >= 0 || call_settled(&call))
            return result;
        return change_raw(path);
    }
    return CALL(SYS_chdir, path);
}

long dir_change_to(int fd)
{
    struct call call;

    if (fd < 0)
        return -EBADF;
    if (call_begin(&call, "chdir", fd, ".")) {
        long result = change(&call);
        if (result >= 0 || call_settled(&call))
            return result;
        return where_change(fd, NULL);
    }
    return CALL(SYS_fchdir, fd);
}

/* The text of a place that may be seen. It tells only what is, so libc may find it by name. */
long dir_real(const char *path, char *resolved)
{
    struct call call;
    char *real;

    if (path != NULL && call_begin(&call, "realpath", AT_FDCWD, path)) {
        int fd = call_lookup(&call, true, INTENT_STAT);
        if (fd >= 0)
            call_end(fd, 0);
        else if (call.report.denied && call_settled(&call))
            return fd;
    }
    real = NEXT(realpath)(path, resolved);
    return real == NULL ? -errno : (long)real;
}

/* Behind another root every path would mean something else than what is judged. */
long dir_chroot(const char *path)
{
    struct call call;
    long error = 0;

    if (call_begin(&call, "chroot", AT_FDCWD, path))
        error = call_refuse(&call, INTENT_EXEC, "a confined program keeps its root");
    return error < 0 ? error : CALL(SYS_chroot, path);
}

long dir_unshare(int flags)
{
    if (flags & (CLONE_FS | CLONE_NEWNS | CLONE_NEWUSER))
        where_forget();
    return CALL(SYS_unshare, flags);
}

/* Whoever shares memory has to share the working directory, too, or what is remembered is not true
 * for both. A child of vfork is known by its number. */
void dir_clones(unsigned long flags)
{
    bool memory = flags & CLONE_VM;
    bool directory = flags & CLONE_FS;

    if (memory != directory && !(memory && (flags & CLONE_VFORK) && !(flags & CLONE_THREAD)))
        where_forget();
}

long dir_clone(int (*start)(void *), void *stack, int flags, void *arg, va_list args)
{
    void *parent = va_arg(args, void *);
    void *tls = va_arg(args, void *);
    void *child = va_arg(args, void *);
    int pid;

    dir_clones((unsigned)flags);
    pid = NEXT(clone)(start, stack, flags, arg, parent, tls, child);
    return pid < 0 ? -errno : pid;
}
