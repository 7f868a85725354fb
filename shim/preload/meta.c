/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include "call.h"
#include "hooks.h"

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

/* One that is open for writing was judged then. */
long meta_judge_fd(const char *op, int fd)
{
    struct fd_name name = call_fd_name(fd < 0 ? 0 : fd);
    long flags = CALL(SYS_fcntl, call_fd(fd), F_GETFL);
    struct call call;
    int found;

    if (fd < 0 || flags < 0)
        return fd < 0 ? -EBADF : flags;
    if ((!(flags & O_PATH) && (flags & O_ACCMODE) != O_RDONLY) ||
        !call_begin(&call, op, AT_FDCWD, name.text))
        return 0;
    found = call_lookup(&call, true, INTENT_WRITE);
    if (found >= 0)
        return call_end(found, 0);
    return call_settled(&call) ? found : 0;
}

/* --- chmod ------------------------------------------------------------------------------------ */

/* Before fchmodat2 a mode can be changed by a name only, and never a link's. */
static long chmod_fd(int fd, mode_t mode, bool follow)
{
    long error = CALL(SYS_fchmodat2, fd, "", mode, AT_EMPTY_PATH);
    struct stat st;

    if (error != -ENOSYS && error != -EPERM)
        return error;
    if (!follow && CALL(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH) == 0 && S_ISLNK(st.st_mode))
        return -EOPNOTSUPP;
    struct fd_name name = call_fd_name(fd);
    return CALL(SYS_fchmodat, AT_FDCWD, name.text, mode);
}

long meta_chmod(int dir, const char *path, mode_t mode, int flags)
{
    bool follow = !(flags & AT_SYMLINK_NOFOLLOW);
    struct call call;

    if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
        return -EINVAL;
    if (call_is_descriptor(path, flags)) {
        long error = meta_judge_fd("chmod", dir);
        return error < 0 ? error : chmod_fd(call_fd(dir), mode, follow);
    }
    if (call_begin(&call, "chmod", dir, path)) {
        int fd = call_lookup(&call, follow, INTENT_WRITE);
        if (fd >= 0)
            return call_end(fd, chmod_fd(fd, mode, follow));
        if (call_settled(&call))
            return fd;
    }
    return flags == 0 ? CALL(SYS_fchmodat, dir, path, mode)
                      : CALL(SYS_fchmodat2, dir, path, mode, flags);
}

long meta_fchmod(int fd, mode_t mode)
{
    long error = meta_judge_fd("chmod", fd);

    return error < 0 ? error : CALL(SYS_fchmod, call_fd(fd), mode);
}

/* --- chown ------------------------------------------------------------------------------------ */

long meta_chown(int dir, const char *path, uid_t uid, gid_t gid, int flags)
{
    struct call call;

    if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
        return -EINVAL;
    if (call_is_descriptor(path, flags)) {
        long error = meta_judge_fd("chown", dir);
        return error < 0 ? error : CALL(SYS_fchownat, call_fd(dir), "", uid, gid, flags);
    }
    if (call_begin(&call, "chown", dir, path)) {
        int fd = call_lookup(&call, !(flags & AT_SYMLINK_NOFOLLOW), INTENT_WRITE);
        if (fd >= 0)
            return call_end(fd, CALL(SYS_fchownat, fd, "", uid, gid, AT_EMPTY_PATH));
        if (call_settled(&call))
            return fd;
    }
    return CALL(SYS_fchownat, dir, path, uid, gid, flags);
}

long meta_fchown(int fd, uid_t uid, gid_t gid)
{
    long error = meta_judge_fd("chown", fd);

    return error < 0 ? error : CALL(SYS_fchown, call_fd(fd), uid, gid);
}

/* --- times ------------------------------------------------------------------------------------ */

/* Old kernels set times by a descriptor only if it is open; by its name always. */
static long utimens_fd(int fd, const struct timespec times[2])
{
    long error = CALL(SYS_utimensat, fd, "", times, AT_EMPTY_PATH);

    if (error == -EINVAL) {
        struct fd_name name = call_fd_name(fd);
        error = CALL(SYS_utimensat, AT_FDCWD, name.text, times, 0);
    }
    return error;
}

long meta_utimens(int dir, const char *path, const struct timespec times[2], int flags)
{
    struct call call;

    if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
        return -EINVAL;
    if (path == NULL || call_is_descriptor(path, flags)) {
        long error = meta_judge_fd("utime", dir);
        return error < 0 ? error : CALL(SYS_utimensat, call_fd(dir), path, times, flags);
    }
    if (call_begin(&call, "utime", dir, path)) {
        int fd = call_lookup(&call, !(flags & AT_SYMLINK_NOFOLLOW), INTENT_WRITE);
        if (fd >= 0)
            return call_end(fd, utimens_fd(fd, times));
        if (call_settled(&call))
            return fd;
    }
    return CALL(SYS_utimensat, dir, path, times, flags);
}

long meta_utimes(int dir, const char *path, const struct timeval times[2], int flags)
{
    struct timespec exact[2];

    if (times == NULL)
        return meta_utimens(dir, path, NULL, flags);
    for (int i = 0; i < 2; i++) {
        if (times[i].tv_usec < 0 || times[i].tv_usec >= 1000000)
            return -EINVAL;
        exact[i] = (struct timespec){times[i].tv_sec, times[i].tv_usec * 1000};
    }
    return meta_utimens(dir, path, exact, flags);
}

long meta_utime(const char *path, const struct utimbuf *times)
{
    struct timespec exact[2];

    if (times == NULL)
        return meta_utimens(AT_FDCWD, path, NULL, 0);
    exact[0] = (struct timespec){.tv_sec = times->actime};
    exact[1] = (struct timespec){.tv_sec = times->modtime};
    return meta_utimens(AT_FDCWD, path, exact, 0);
}

/* --- truncate --------------------------------------------------------------------------------- */

long meta_truncate(const char *path, off_t length)
{
    struct call call;

    if (call_begin(&call, "truncate", AT_FDCWD, path)) {
        int fd = call_lookup(&call, true, INTENT_WRITE);
        if (fd >= 0) {
            struct fd_name name = call_fd_name(fd);
            return call_end(fd, CALL(SYS_truncate, name.text, length));
        }
        if (call_settled(&call))
            return fd;
    }
    return CALL(SYS_truncate, path, length);
}

/* --- flags of the inode ----------------------------------------------------------------------- */

long meta_flags(int fd, long request, const void *flags)
{
    long error = meta_judge_fd("chattr", fd);

    return error < 0 ? error : CALL(SYS_ioctl, call_fd(fd), request, flags);
}
