/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "call.h"
#include "hooks.h"
#include "os.h"

long stat_at(int dir, const char *path, struct stat *st, int flags)
{
    const int known = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH;
    struct call call;

    if (!(flags & ~known) && !call_is_descriptor(path, flags) &&
        call_begin(&call, "stat", dir, path)) {
        call.follow = !(flags & AT_SYMLINK_NOFOLLOW);
        int error = place_stat(call.scope, &call.where.start, path, call.follow, st, &call.report);
        if (error == 0 || call_settled(&call))
            return error;
    }
    return CALL(SYS_newfstatat, call_fd(dir), path, st, flags);
}

long statx_at(int dir, const char *path, int flags, unsigned mask, struct statx *stx)
{
    bool follow = !(flags & AT_SYMLINK_NOFOLLOW);
    struct call call;
    int fd;

    if (call_is_descriptor(path, flags) || call_is_wild(stx) ||
        !call_begin(&call, "stat", dir, path))
        return CALL(SYS_statx, call_fd(dir), path, flags, mask, stx);
    if (call_is_name(&call, INTENT_STAT)) {
        long error = CALL(SYS_statx, call.dir, path, flags | AT_SYMLINK_NOFOLLOW, mask, stx);
        if (error < 0 || !follow || !S_ISLNK(stx->stx_mode))
            return error;
    }
    fd = call_lookup(&call, follow, INTENT_STAT);
    if (fd >= 0)
        return call_end(fd, CALL(SYS_statx, fd, "", flags | AT_EMPTY_PATH, mask, stx));
    return call_settled(&call) ? fd : CALL(SYS_statx, dir, path, flags, mask, stx);
}

/* --- access ----------------------------------------------------------------------------------- */

static enum intent intent_of_access(int mode)
{
    if (mode & W_OK)
        return INTENT_WRITE;
    if (mode & R_OK)
        return INTENT_READ;
    return (mode & X_OK) ? INTENT_EXEC : INTENT_STAT;
}

/* access(2) by a descriptor. Before faccessat2 only the name of the descriptor will do. */
static long access_fd(int fd, int mode, int flags)
{
    long error = CALL(SYS_faccessat2, fd, "", mode, flags | AT_EMPTY_PATH);

    if ((error == -ENOSYS || error == -EPERM) && !(flags & AT_EACCESS)) {
        struct fd_name name = call_fd_name(fd);
        error = CALL(SYS_faccessat, AT_FDCWD, name.text, mode);
    }
    return error;
}

static long access_raw(int dir, const char *path, int mode, int flags)
{
    return flags == 0 ? CALL(SYS_faccessat, call_fd(dir), path, mode)
                      : CALL(SYS_faccessat2, call_fd(dir), path, mode, flags);
}

/* What the kernel refuses anyhow is no refusal of ours: programs ask before they act. */
static long access_refused(struct call *call, int mode, int flags)
{
    struct report report = call->report;
    int fd = call_lookup(call, call->follow, INTENT_STAT);

    call->report = report;
    if (fd < 0)
        return call_settled(call) ? -EACCES : 0;
    long error = call_end(fd, access_fd(fd, mode, flags));
    return error < 0 ? error : (call_settled(call) ? -EACCES : 0);
}

long access_at(int dir, const char *path, int mode, int flags)
{
    const int known = AT_SYMLINK_NOFOLLOW | AT_EACCESS | AT_EMPTY_PATH;
    struct call call;
    int fd;

    if ((flags & ~known) || (mode & ~(R_OK | W_OK | X_OK)))
        return -EINVAL;
    if (call_is_descriptor(path, flags) || !call_begin(&call, "access", dir, path))
        return access_raw(dir, path, mode, flags);
    fd = call_lookup(&call, !(flags & AT_SYMLINK_NOFOLLOW), intent_of_access(mode));
    if (fd >= 0)
        return call_end(fd, access_fd(fd, mode, flags));
    return call.report.denied ? access_refused(&call, mode, flags) : fd;
}

long readlink_at(int dir, const char *path, char *target, size_t size)
{
    struct call call;

    if ((ssize_t)size <= 0)
        return -EINVAL;
    if (!call_is_wild(path) && path[0] != '\0' && call_begin(&call, "readlink", dir, path)) {
        if (call_is_name(&call, INTENT_STAT))
            return os_readlink(call.dir, path, target, size);
        int fd = call_lookup(&call, false, INTENT_STAT);
        if (fd >= 0) {
            long length = os_readlink(fd, "", target, size);
            return call_end(fd, length == -ENOENT ? -EINVAL : length); /* of what is no link */
        }
        if (call_settled(&call))
            return fd;
    }
    return os_readlink(call_fd(dir), path, target, size);
}

long stat_fs(const char *path, struct statfs *fs)
{
    struct call call;

    if (call_begin(&call, "statfs", AT_FDCWD, path)) {
        int fd = call_lookup(&call, true, INTENT_STAT);
        if (fd >= 0)
            return call_end(fd, CALL(SYS_fstatfs, fd, fs));
        if (call_settled(&call))
            return fd;
    }
    return CALL(SYS_statfs, path, fs);
}

/* What happens to a file, or to the names in a directory, is contents. */
long watch_add(int fd, const char *path, uint32_t mask)
{
    struct call call;

    if (call_begin(&call, "watch", AT_FDCWD, path)) {
        int found = call_lookup(&call, !(mask & IN_DONT_FOLLOW), INTENT_READ);
        struct fd_name name = call_fd_name(found < 0 ? 0 : found);
        if (found >= 0)
            return call_end(found, CALL(SYS_inotify_add_watch, call_fd(fd), name.text,
                                        mask & ~(uint32_t)IN_DONT_FOLLOW));
        if (call_settled(&call))
            return found;
    }
    return CALL(SYS_inotify_add_watch, call_fd(fd), path, mask);
}
