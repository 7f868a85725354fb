/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
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
        int fd = place_open(call.scope, &call.where.start, path, flags, mode, &call.report);
        if (fd >= 0 || call_settled(&call))
            return fd;
    }
    return CALL(SYS_openat, dir, path, flags, mode);
}

static enum intent intent_of(int flags)
{
    if (flags & O_PATH)
        return INTENT_STAT;
    return (flags & (O_ACCMODE | O_TRUNC)) || makes_file(flags) ? INTENT_WRITE : INTENT_READ;
}

long open_judge(int dir, const char *path, int flags)
{
    struct call call;
    struct place place;
    int fd;

    if (!call_begin(&call, "open", dir, path))
        return 0;
    fd = call_lookup(&call, !(flags & O_NOFOLLOW), intent_of(flags));
    if (fd >= 0)
        return call_end(fd, 0);
    if (fd == -ENOENT && (flags & O_CREAT)) {
        fd = place_parent(call.scope, &call.where.start, path, NAME_NEW, &place, &call.report);
        if (fd == 0)
            place_release(&place);
        else if (fd == -EEXIST) /* a link that dangles, who knows where to */
            return call_refuse(&call, INTENT_CREATE, NULL);
    }
    return call.report.denied && call_settled(&call) ? fd : 0;
}

/* --- openat2 ---------------------------------------------------------------------------------- */

/* Where a path leads under restrictions only the kernel can say: a descriptor of that. */
static long open_restricted(int dir, const char *path, int flags, uint64_t resolve)
{
    const struct open_how how = {.flags = (unsigned)flags | O_PATH,
                                 .resolve = call_resolve(resolve)};
    long found = CALL(SYS_openat2, dir, path, &how, sizeof how);

    return found >= 0 && !call_may_find((int)found) ? call_end((int)found, -EACCES) : found;
}

/* 0 if what the kernel found, a descriptor of ours, may be opened so. */
static long judge_found(int found, int flags)
{
    struct fd_name name = call_fd_name(found);
    struct call call;
    int fd;

    if (!call_begin_ours(&call, "open", name.text))
        return 0;
    fd = call_lookup(&call, true, intent_of(flags));
    if (fd >= 0)
        return call_end(fd, 0);
    return call_settled(&call) ? fd : 0;
}

/* The new file, in the directory that the kernel finds. A link in its place is not followed. */
static long create_restricted(int dir, const char *path, const struct open_how *how)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    char parent[512];

    if (length >= sizeof parent)
        return -ENAMETOOLONG;
    memcpy(parent, path, length);
    memcpy(parent + length, ".", 2);
    long fd = open_restricted(dir, parent, O_DIRECTORY | O_CLOEXEC, how->resolve);
    if (fd < 0)
        return fd;
    return call_end(
        (int)fd, open_at((int)fd, path + length, (int)how->flags | O_NOFOLLOW, (mode_t)how->mode));
}

/* Judges what the kernel found, and opens that. */
static long open_found(int found, const struct open_how *how)
{
    int flags = (int)how->flags & ~(O_CREAT | O_NOFOLLOW);
    long error = judge_found(found, (int)how->flags);
    struct os_id id = {.mode = 0};

    if (error == 0)
        error = os_identify(found, "", &id);
    if (error < 0)
        return error;
    if (S_ISLNK(id.mode))
        return -ELOOP;
    return S_ISDIR(id.mode) ? os_open_here(found, flags, (mode_t)how->mode)
                            : os_reopen(found, flags);
}

static long open_how(int dir, const char *path, const struct open_how *how)
{
    const int kept = O_DIRECTORY | O_NOFOLLOW;
    int flags = (int)how->flags;
    long found;

    if (flags & O_PATH) {
        found = open_restricted(dir, path, flags, how->resolve);
        long error = found < 0 ? found : judge_found((int)found, O_PATH);
        return error < 0 && found >= 0 ? call_end((int)found, error) : found;
    }
    found = open_restricted(dir, path, (flags & kept) | O_CLOEXEC, how->resolve);
    if (found == -ENOENT && (flags & O_CREAT))
        return create_restricted(dir, path, how);
    if (found < 0)
        return found;
    if ((flags & O_CREAT) && (flags & O_EXCL))
        return call_end((int)found, -EEXIST);
    return call_end((int)found, open_found((int)found, how));
}

/* A longer form of a later kernel will do, if it asks for nothing new. */
static bool is_known_form(const struct open_how *how, size_t size)
{
    const char *bytes = (const char *)how;

    for (size_t i = sizeof *how; i < size; i++)
        if (bytes[i] != 0)
            return false;
    return size >= sizeof *how && size <= 4096;
}

long open_how_at(int dir, const char *path, const struct open_how *how, size_t size)
{
    if (!call_is_ready() || call_is_wild(how) || call_is_wild(path) || size < sizeof *how)
        return CALL(SYS_openat2, dir, path, how, size);
    if (!is_known_form(how, size))
        return -E2BIG;
    const struct open_how own = *how;
    /* The kernel looks at the flags first, and finds no path behind them. */
    long error = CALL(SYS_openat2, AT_FDCWD, "", &own, sizeof own);
    if (error != -ENOENT)
        return error;
    return own.resolve == 0 ? open_at(dir, path, (int)own.flags, (mode_t)own.mode)
                            : open_how(call_fd(dir), path, &own);
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
