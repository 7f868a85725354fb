/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include "call.h"
#include "hooks.h"

/* Begins a call on a name that is not followed. True: `place` is to be used and released. False:
 * *result says all, unless the call is to be passed on as it is: then *result is 0. */
static bool begin_name(struct call *call, const char *op, int dir, const char *path,
                       enum name_use use, struct place *place, long *result)
{
    *result = 0;
    if (!call_begin(call, op, dir, path))
        return false;
    call->follow = false;
    *result = place_parent(call->scope, &call->where.start, path, use, place, &call->report);
    if (*result == 0)
        return true;
    if (!call_settled(call))
        *result = 0;
    return false;
}

static long end_name(struct place *place, long result)
{
    place_release(place);
    return result;
}

long name_unlink(int dir, const char *path, int flags)
{
    const char *op = (flags & AT_REMOVEDIR) ? "rmdir" : "unlink";
    struct place place;
    struct call call;
    long result;

    if (begin_name(&call, op, dir, path, NAME_GONE, &place, &result))
        return end_name(&place, CALL(SYS_unlinkat, place.dir, place.name, flags));
    return result < 0 ? result : CALL(SYS_unlinkat, dir, path, flags);
}

long name_remove(const char *path)
{
    long result = name_unlink(AT_FDCWD, path, 0);

    return result == -EISDIR ? name_unlink(AT_FDCWD, path, AT_REMOVEDIR) : result;
}

long name_mkdir(int dir, const char *path, mode_t mode)
{
    struct place place;
    struct call call;
    long result;

    if (begin_name(&call, "mkdir", dir, path, NAME_NEW, &place, &result))
        return end_name(&place, CALL(SYS_mkdirat, place.dir, place.name, mode));
    return result < 0 ? result : CALL(SYS_mkdirat, dir, path, mode);
}

long name_mknod(int dir, const char *path, mode_t mode, dev_t device)
{
    struct place place;
    struct call call;
    long result;

    if (begin_name(&call, "mknod", dir, path, NAME_NEW, &place, &result))
        return end_name(&place, CALL(SYS_mknodat, place.dir, place.name, mode, device));
    return result < 0 ? result : CALL(SYS_mknodat, dir, path, mode, device);
}

long name_symlink(const char *target, int dir, const char *path)
{
    struct place place;
    struct call call;
    long result;

    if (begin_name(&call, "symlink", dir, path, NAME_NEW, &place, &result))
        return end_name(&place, CALL(SYS_symlinkat, target, place.dir, place.name));
    return result < 0 ? result : CALL(SYS_symlinkat, target, dir, path);
}

long name_rename(int old_dir, const char *old, int new_dir, const char *new, unsigned flags)
{
    struct where to;
    struct call call;

    if (!call_is_wild(new) && call_begin(&call, "rename", old_dir, old)) {
        call.follow = false;
        where_from(&to, new_dir, new);
        int error =
            place_rename(call.scope, &call.where.start, old, &to.start, new, flags, &call.report);
        if (call.report.second) {
            call.path = new;
            call.where = to;
        }
        if (error == 0 || call_settled(&call))
            return error;
    }
    return CALL(SYS_renameat2, old_dir, old, new_dir, new, flags);
}

/* --- link ------------------------------------------------------------------------------------- */

/* The file that gets another name. A link to a file that may not be written would make it a file
 * that may, so it has to be writable already. */
struct source {
    struct place place; /* by name, if fd is -1 */
    int fd;
};

/* A call on the descriptor itself, by the name it has in procfs. */
static bool is_descriptor(int dir, const char *path, int flags)
{
    return (flags & AT_EMPTY_PATH) && dir != AT_FDCWD && !call_is_wild(path) && path[0] == '\0';
}

static long begin_source(struct call *call, int flags, struct source *source)
{
    source->fd = -1;
    if (flags & AT_SYMLINK_FOLLOW) {
        source->fd = call_lookup(call, true, INTENT_WRITE);
        return source->fd < 0 ? source->fd : 0;
    }
    call->follow = false;
    return place_parent(call->scope, &call->where.start, call->path, NAME_GONE, &source->place,
                        &call->report);
}

static long link_source(const struct source *source, int dir, const char *name)
{
    if (source->fd < 0)
        return CALL(SYS_linkat, source->place.dir, source->place.name, dir, name, 0);
    struct fd_name own = call_fd_name(source->fd);
    return CALL(SYS_linkat, AT_FDCWD, own.text, dir, name, AT_SYMLINK_FOLLOW);
}

static void end_source(struct source *source)
{
    if (source->fd < 0)
        place_release(&source->place);
    else
        call_end(source->fd, 0);
}

/* Judges both ends and links them. *done is false if the call is to be passed on as it is. */
static long link_checked(struct call *call, int flags, int new_dir, const char *new, bool *done)
{
    struct source source;
    struct place place;
    struct call second;
    long result = begin_source(call, flags, &source);

    *done = true;
    if (result < 0) {
        *done = call_settled(call);
        return result;
    }
    if (begin_name(&second, "link", new_dir, new, NAME_NEW, &place, &result))
        result = end_name(&place, link_source(&source, place.dir, place.name));
    else
        *done = result < 0;
    end_source(&source);
    return result;
}

long name_link(int old_dir, const char *old, int new_dir, const char *new, int flags)
{
    struct fd_name own = call_fd_name(old_dir < 0 ? 0 : old_dir);
    bool itself = is_descriptor(old_dir, old, flags);
    struct call call;
    bool done;
    long result;

    if (flags & ~(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
        return -EINVAL;
    if (itself) { /* without a privilege that nobody here has, this is what the kernel would do */
        old = own.text;
        old_dir = AT_FDCWD;
        flags = AT_SYMLINK_FOLLOW;
    }
    if (call_begin(&call, "link", old_dir, old)) {
        result = link_checked(&call, flags, new_dir, new, &done);
        if (done)
            return result;
    }
    return CALL(SYS_linkat, old_dir, old, new_dir, new, flags);
}
