/* SPDX-License-Identifier: MIT */
/* Extended attributes. No call takes a descriptor that was opened with O_PATH: its name does. */
#include <fcntl.h>
#include <sys/syscall.h>

#include "call.h"
#include "hooks.h"

/* Begins a call on the attributes of a file. True: `own` is the name of *fd, which is to be closed.
 * False: *result says all, unless the call is to be passed on as it is: then *result is 0. */
static bool begin(const char *op, const char *path, bool follow, enum intent intent, int *fd,
                  struct fd_name *own, long *result)
{
    struct call call;

    *result = 0;
    if (!call_begin(&call, op, AT_FDCWD, path))
        return false;
    *fd = call_lookup(&call, follow, intent);
    if (*fd >= 0) {
        *own = call_fd_name(*fd);
        return true;
    }
    if (call_settled(&call))
        *result = *fd;
    return false;
}

long xattr_get(const char *path, bool follow, const char *name, void *value, size_t size)
{
    struct fd_name own;
    long result;
    int fd;

    if (begin("getxattr", path, follow, INTENT_STAT, &fd, &own, &result))
        return call_end(fd, CALL(SYS_getxattr, own.text, name, value, size));
    return result < 0 ? result
                      : CALL(follow ? SYS_getxattr : SYS_lgetxattr, path, name, value, size);
}

long xattr_list(const char *path, bool follow, char *list, size_t size)
{
    struct fd_name own;
    long result;
    int fd;

    if (begin("listxattr", path, follow, INTENT_STAT, &fd, &own, &result))
        return call_end(fd, CALL(SYS_listxattr, own.text, list, size));
    return result < 0 ? result : CALL(follow ? SYS_listxattr : SYS_llistxattr, path, list, size);
}

long xattr_set(const char *path, bool follow, const char *name, const void *value, size_t size,
               int flags)
{
    struct fd_name own;
    long result;
    int fd;

    if (begin("setxattr", path, follow, INTENT_WRITE, &fd, &own, &result))
        return call_end(fd, CALL(SYS_setxattr, own.text, name, value, size, flags));
    return result < 0 ? result
                      : CALL(follow ? SYS_setxattr : SYS_lsetxattr, path, name, value, size, flags);
}

long xattr_set_fd(int fd, const char *name, const void *value, size_t size, int flags)
{
    long error = meta_judge_fd("setxattr", fd);

    return error < 0 ? error : CALL(SYS_fsetxattr, call_fd(fd), name, value, size, flags);
}

long xattr_remove(const char *path, bool follow, const char *name)
{
    struct fd_name own;
    long result;
    int fd;

    if (begin("removexattr", path, follow, INTENT_WRITE, &fd, &own, &result))
        return call_end(fd, CALL(SYS_removexattr, own.text, name));
    return result < 0 ? result : CALL(follow ? SYS_removexattr : SYS_lremovexattr, path, name);
}

long xattr_remove_fd(int fd, const char *name)
{
    long error = meta_judge_fd("removexattr", fd);

    return error < 0 ? error : CALL(SYS_fremovexattr, call_fd(fd), name);
}
