/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>

#include "call.h"
#include "hooks.h"
#include "os.h"

static bool makes_file(int flags)
{
    return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
}

mode_t open_mode(int flags, va_list args)
{
    return makes_file(flags) ? va_arg(args, mode_t) : 0;
}

long open_at(int dir, const char *path, int flags, mode_t mode)
{
    struct call call;

    if (call_begin(&call, "open", dir, path)) {
        int fd = place_open(&load_hold.scope, &call.where.start, path, flags, mode, &call.report);
        if (fd >= 0 || call_settled(&call))
            return fd;
    }
    return CALL(SYS_openat, dir, path, flags, mode);
}

/* Judges an open that only the kernel can do; 0: it may. */
static long judge(const struct scope *scope, int dir, const char *path, int flags)
{
    struct call call;
    struct place place;
    enum intent intent = INTENT_READ;
    int fd;

    if (!call_begin(&call, "open", dir, path))
        return 0;
    if (flags & O_PATH)
        intent = INTENT_STAT;
    else if ((flags & (O_ACCMODE | O_TRUNC)) || makes_file(flags))
        intent = INTENT_WRITE;
    fd = place_lookup(scope, &call.where.start, path, !(flags & O_NOFOLLOW), intent, &call.report);
    if (fd >= 0)
        return call_end(fd, 0);
    if (fd == -ENOENT && (flags & O_CREAT)) {
        fd = place_parent(scope, &call.where.start, path, NAME_NEW, &place, &call.report);
        if (fd == 0)
            place_release(&place);
        else if (fd == -EEXIST) /* a link that dangles, who knows where to */
            return call_refuse(&call, INTENT_CREATE, NULL);
    }
    return call.report.denied && call_settled(&call) ? fd : 0;
}

long open_judge(int dir, const char *path, int flags)
{
    return judge(&load_hold.scope, dir, path, flags);
}

/* RESOLVE_IN_ROOT makes `dir` the root of the path. */
static long judge_how(int dir, const char *path, const struct open_how *how)
{
    const struct view inside = {.root = dir};
    const struct scope scope = {.policy = load_hold.scope.policy, .view = &inside};
    bool in_root = (how->resolve & RESOLVE_IN_ROOT) && dir != AT_FDCWD;

    return judge(in_root ? &scope : &load_hold.scope, dir, path, (int)how->flags);
}

long open_how_at(int dir, const char *path, const struct open_how *how, size_t size)
{
    long error = 0;

    if (!call_is_wild(how) && size >= sizeof *how) {
        if (how->resolve == 0 && how->flags <= INT_MAX && load_is_ready() &&
            (how->mode == 0 || makes_file((int)how->flags)))
            return open_at(dir, path, (int)how->flags, (mode_t)how->mode);
        error = judge_how(dir, path, how);
    }
    return error < 0 ? error : CALL(SYS_openat2, dir, path, how, size);
}

long open_directory(const char *path)
{
    long fd = open_at(AT_FDCWD, path, O_RDONLY | O_NDELAY | O_DIRECTORY | O_CLOEXEC, 0);
    DIR *stream;

    if (fd < 0)
        return fd;
    stream = fdopendir((int)fd);
    return stream == NULL ? call_end((int)fd, -errno) : (long)stream;
}
