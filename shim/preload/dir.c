/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "call.h"
#include "hooks.h"
#include "next.h"

/* A change of directory that is not judged still has to be known. */
static long change_raw(const char *path)
{
    long fd = CALL(SYS_openat, AT_FDCWD, path, O_PATH | O_DIRECTORY | O_CLOEXEC);

    return fd < 0 ? fd : call_end((int)fd, where_change((int)fd));
}

long dir_change(const char *path)
{
    struct call call;

    if (call_begin(&call, "chdir", AT_FDCWD, path)) {
        int fd = call_lookup(&call, true, INTENT_STAT);
        if (fd >= 0)
            return call_end(fd, where_change(fd));
        return call_settled(&call) ? fd : change_raw(path);
    }
    return CALL(SYS_chdir, path);
}

/* The program may have the descriptor from anywhere; names from its directory are judged again. */
long dir_change_to(int fd)
{
    return load_is_ready() ? where_change(fd) : CALL(SYS_fchdir, fd);
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
