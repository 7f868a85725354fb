/* SPDX-License-Identifier: MIT */
/*
 * call.h - one judged call, as the bodies of hooks.h make it:
 *
 *     struct call call;
 *     if (call_begin(&call, "chmod", dir, path)) {
 *         int fd = call_lookup(&call, follow, INTENT_WRITE);
 *         if (fd >= 0)
 *             return call_end(fd, chmod_by_descriptor(fd, mode));
 *         if (call_settled(&call))
 *             return fd;
 *     }
 *     return CALL(SYS_fchmodat, dir, path, mode);
 *
 * The last line is reached while loading, for a pointer that only the kernel may look behind, and
 * by a refused call that is observed, not enforced.
 *
 * The bodies run in two places: in the program that makes the call (own.c), and in the supervisor
 * on behalf of a program that made the call in another way (supervise/behalf.c). Some functions
 * differ, and say so; where_from does, too.
 */
#ifndef CORDON_CALL_H
#define CORDON_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "place.h"
#include "syscall.h"
#include "where.h"

struct call {
    const struct scope *scope; /* what it is judged by */
    const char *op;            /* for the record */
    const char *hint;          /* for the record: what would help; NULL: the usual */
    int dir;                   /* a descriptor of ours for where a relative path starts */
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

/* Differs. Whether anything can be judged yet. */
bool call_is_ready(void);

/* Differs. True if the call is to be judged. `dir` is the caller's descriptor. */
bool call_begin(struct call *call, const char *op, int dir, const char *path);

/* Differs. A descriptor of ours for the caller's `fd`, or AT_FDCWD; a negative errno. Who closes it
 * is not who asks. */
int call_fd(int fd);

/* Differs. How openat2 is to follow the caller's path: `resolve`, or stricter. */
uint64_t call_resolve(uint64_t resolve);

/* Differs. Whether what openat2 found, a descriptor of ours, is none of our own business alone. */
bool call_may_find(int found);

/* Differs. After a failure: true if it stands. A refusal is recorded first; if it is only to be
 * observed, the call goes on. */
bool call_settled(struct call *call);

/* Differs. The same as call_begin for a descriptor that is ours, not the caller's, by its name. */
bool call_begin_ours(struct call *call, const char *op, const char *name);

/* place_lookup for the call's path. */
int call_lookup(struct call *call, bool follow, enum intent intent);

/* Refuses for a reason that is not the policy's: records it. -EACCES, or 0 if it is only observed.
 */
long call_refuse(struct call *call, enum intent intent, const char *hint);

/* Whether `path` is one plain name that may be met so, in a directory that is known: then the call
 * may be made by this name, if the kernel does not follow a link behind it. */
bool call_is_name(const struct call *call, enum intent intent);

/* Whether the call means the descriptor itself, which the program has. */
bool call_is_descriptor(const char *path, int flags);

/* Closes the descriptor and hands the result on. */
long call_end(int fd, long result);

/* "/proc/thread-self/fd/N": by this name the kernel finds what the descriptor stands for. */
struct fd_name {
    char text[40];
};
struct fd_name call_fd_name(int fd);

#endif
