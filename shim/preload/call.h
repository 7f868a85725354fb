/* SPDX-License-Identifier: MIT */
/*
 * call.h - one judged call, as the hook bodies make it:
 *
 *     struct call call;
 *     if (call_begin(&call, "chmod", dir, path)) {
 *         int fd = call_lookup(&call, follow, INTENT_WRITE);
 *         if (fd >= 0)
 *             return call_end(fd, chmod_by_descriptor(fd, mode));
 *         if (call_settled(&call))
 *             return fd;
 *     }
 *     return os_syscall(SYS_fchmodat, dir, path, mode);
 *
 * The last line is reached while loading, for a pointer that only the kernel may look behind, and
 * by a refused call that is observed, not enforced.
 */
#ifndef CORDON_CALL_H
#define CORDON_CALL_H

#include <stdbool.h>

#include "load.h"
#include "place.h"
#include "syscall.h"
#include "where.h"

struct call {
    const char *op;   /* for the record */
    const char *hint; /* for the record: what would help; NULL: the usual */
    int dir;
    const char *path;
    bool follow; /* whether the last link was followed */
    struct where where;
    struct report report;
};

#define CALL(number, ...) CALL_(number, __VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define CALL_(number, a, b, c, d, e, f, ...) \
    os_syscall(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* Whether the kernel would fault on the pointer for sure. Null pages and its own half of memory. */
static inline bool call_is_wild(const void *pointer)
{
    return (long)pointer < 4096;
}

/* True if the call is to be judged. */
bool call_begin(struct call *call, const char *op, int dir, const char *path);

/* place_lookup for the call's path. */
int call_lookup(struct call *call, bool follow, enum intent intent);

/* After a failure: true if it stands. A refusal is recorded first; if it is only to be observed,
 * the call goes on. */
bool call_settled(struct call *call);

/* Refuses for a reason that is not the policy's: records it. -EACCES, or 0 if it is only observed.
 */
long call_refuse(struct call *call, enum intent intent, const char *hint);

/* Whether `path` is one plain name that may be met so, in a directory that is known: then the call
 * may be made by this name, if the kernel does not follow a link behind it. */
bool call_is_name(const struct call *call, enum intent intent);

/* Closes the descriptor and hands the result on. */
long call_end(int fd, long result);

/* "/proc/thread-self/fd/N": by this name the kernel finds what the descriptor stands for. */
struct fd_name {
    char text[40];
};
struct fd_name call_fd_name(int fd);

#endif
