/* SPDX-License-Identifier: MIT */
/* What becomes of each call, by the table of the hooks. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <linux/stat.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "call.h"
#include "domains.h"
#include "hooks.h"
#include "names.h"
#include "network.h"
#include "program.h"
#include "report.h"
#include "run.h"
#include "supervisor.h"
#include "word.h"

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

/* --- what the caller has to do itself --------------------------------------------------------- */

static long judge_exec(struct job *job, int call)
{
    const bool at = call == SYS_execveat;
    const int flags = at ? (int)job->call.data.args[4] : 0;
    const int dir = at ? (int)job->call.data.args[0] : AT_FDCWD;
    const char *path = job_path(job, at ? 1 : 0);
    struct fd_name own = call_fd_name(dir < 0 ? 0 : dir);
    struct program_room room;

    job->end = JOB_RUN;
    if (call_is_descriptor(path, flags))
        return program_judge(AT_FDCWD, own.text, true, &room);
    return program_judge(dir, path, !(flags & AT_SYMLINK_NOFOLLOW), &room);
}

static long judge_chdir(struct job *job)
{
    struct call call;
    int fd;

    job->end = JOB_LET;
    if (!call_begin(&call, "chdir", AT_FDCWD, job_path(job, 0)))
        return 0;
    fd = call_lookup(&call, true, INTENT_STAT);
    if (fd >= 0)
        return call_end(fd, 0);
    return call_settled(&call) ? fd : 0;
}

/* --- what the loader is told ------------------------------------------------------------------ */

/* The loader asks for this file first of all, and loads what it names. Writing is not meant. */
static bool is_preload(const struct job *job, const char *path)
{
    return job->on->preload >= 0 && !call_is_wild(path) && strcmp(path, "/etc/ld.so.preload") == 0;
}

static long open_path(int dir, const char *path, int flags, mode_t mode)
{
    if (is_preload(job_now, path) && (flags & (O_ACCMODE | O_CREAT | O_TRUNC)) == O_RDONLY) {
        struct fd_name name = call_fd_name(job_now->on->preload);
        return CALL(SYS_openat, AT_FDCWD, name.text, O_RDONLY | O_CLOEXEC);
    }
    return open_at(dir, path, flags, mode);
}

static long access_path(int dir, const char *path, int mode, int flags)
{
    if (is_preload(job_now, path) && !(mode & ~R_OK))
        return 0;
    return access_at(dir, path, mode, flags);
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct open_how *read_how(struct job *job, int argument, uint64_t size)
{
    static __thread struct open_how how;
    char more[256];

    if (size < sizeof how)
        job_give_up(job, -EINVAL);
    if (size > sizeof how + sizeof more)
        job_give_up(job, -E2BIG);
    memcpy(&how, job_in(job, argument, sizeof how), sizeof how);
    if (size > sizeof how &&
        job_read(job, job->call.data.args[argument] + sizeof how, more, size - sizeof how) < 0)
        job_give_up(job, -EFAULT);
    for (size_t i = 0; i < size - sizeof how; i++)
        if (more[i] != 0)
            job_give_up(job, -E2BIG);
    /* What lies in memory may say something else when the caller opens it itself, as it would have
     * to. Without openat2 it takes openat, whose flags nobody can change meanwhile. */
    if (how.flags & O_PATH)
        job_give_up(job, -ENOSYS);
    job->open_flags = (int)how.flags;
    if (how.flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY)))
        job_mode(job, 0);
    return &how;
}

#define N(i)            ((int)a[i])
#define FD(i)           ((int)a[i])
#define PATH(i)         job_path(job, i)
#define MODE(i)         job_mode(job, i)
#define OPEN_MODE(i, f) job_open_mode(job, i, f)
#define IN(i, type)     job_in(job, i, sizeof(type))
#define OUT(i, type)    job_out(job, i, sizeof(type))
#define HOW(i, n)       read_how(job, i, a[n])
#define BYTES(i, n)     job_bytes(job, i, a[n])
#define ROOM(i, n)      job_room(job, i, a[n])

#define open_at                           open_path
#define access_at                         access_path
#define readlink_at                       names_read_link
#define open_how_at(dir, path, how, size) open_how_at(dir, path, how, sizeof(struct open_how))

#define HOOK(result, symbol, parameters, body, ...)
#define VHOOK(result, symbol, parameters, last, body, ...)
#define ALIAS(alias, symbol)
#define EXAMPLE(symbol, ...)
#define SYSCALL(name, how, body) CASE_##how(name, body)

#define CASE_ACTS(name, body) \
    case SYS_##name:          \
        return body;
#define CASE_OPENS(name, body) \
    case SYS_##name:           \
        job->end = JOB_HAND;   \
        return names_mend_terminal(job, (int)(body));
#define CASE_CHANGES(name, body) \
    case SYS_##name:             \
        return judge_chdir(job);
#define CASE_RUNS(name, body) \
    case SYS_##name:          \
        return judge_exec(job, SYS_##name);
#define CASE_PASSES(name, body)

static long judge_path_call(struct job *job, bool *known)
{
    const uint64_t *a = (const uint64_t *)job->call.data.args;

    *known = true;
    switch (job->call.data.nr) {
#include "hooks.def"
    case SYS_ioctl:
        *known = (uint32_t)a[1] == FS_IOC_SETFLAGS || (uint32_t)a[1] == FS_IOC_FSSETXATTR;
        if (!*known)
            return 0;
        return meta_flags(
            (int)a[0], (long)a[1],
            job_in(job, 2,
                   (uint32_t)a[1] == FS_IOC_SETFLAGS ? sizeof(int) : sizeof(struct fsxattr)));
    default:
        *known = false;
        return 0;
    }
}

#undef open_at
#undef access_at
#undef readlink_at
#undef open_how_at

/* --- the others ------------------------------------------------------------------------------- */

static long answer_word(struct job *job)
{
    switch (job->call.data.args[1]) {
    case WORD_IMAGE:
        job->end = JOB_HAND;
        job->open_flags = O_CLOEXEC;
        return dup(job->on->image_fd);
    case WORD_RECORD:
        return report_note(job, job->call.data.args[2]);
    default:
        return -EINVAL;
    }
}

/* What would help; most of it nothing can. */
static const char *hint_for(const struct seccomp_data *data)
{
    switch (data->nr) {
    case SYS_socket:
    case SYS_socketpair:
        if ((int)data->args[0] == AF_UNIX)
            return "-b bwrap, which has a network of its own for these";
        return "--net open";
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
        return "--net open";
    default:
        return "a confined program keeps its view of the system";
    }
}

/* What the filter would have refused by itself, but for the record of it. */
static long refuse(struct job *job)
{
    const struct seccomp_data *data = &job->call.data;
    const char *name = "";
    char what[64] = "";
    int error = seccomp_refuses(&job->on->wants, data->nr, (const uint64_t *)data->args, &name);
    bool socket = data->nr == SYS_socket || data->nr == SYS_socketpair;
    bool sends = data->nr == SYS_sendto || data->nr == SYS_sendmsg || data->nr == SYS_sendmmsg;

    if (error == 0)
        error = EACCES;
    if (socket)
        network_describe((int)data->args[0], (int)data->args[1], (int)data->args[2], what,
                         sizeof what);
    else if (data->nr == SYS_ioctl)
        snprintf(what, sizeof what, "request 0x%x", (unsigned)data->args[1]);
    report_other(job, name, socket || sends ? "connect" : "", what, error, hint_for(data));
    return -error;
}

/* To ask for the mark of one's domain is free. */
static long judge_limit(struct job *job)
{
    const struct seccomp_data *data = &job->call.data;
    const char *name;

    if (seccomp_refuses(&job->on->wants, data->nr, (const uint64_t *)data->args, &name) != 0)
        return refuse(job);
    job->end = JOB_LET;
    return data->args[2] == 0 ? 0 : -EPERM;
}

static long judge(struct job *job)
{
    bool known;
    long result;

    switch (job->call.data.nr) {
    case SYS_prctl:
        return answer_word(job);
    case SYS_connect:
        return network_connect(job);
    case SYS_bind:
        return network_bind(job);
    case SYS_listen:
        return network_listen(job);
    case SYS_landlock_restrict_self:
        job->end = JOB_LET;
        return domains_restrict(job);
    case SYS_prlimit64:
        return judge_limit(job);
    case SYS_setuid:
    case SYS_setgid:
    case SYS_setreuid:
    case SYS_setregid:
    case SYS_setresuid:
    case SYS_setresgid:
    case SYS_setfsuid:
    case SYS_setfsgid:
    case SYS_setgroups:
    case SYS_capset:
        ids_vary();
        job->end = JOB_LET;
        return 0;
    default:
        result = judge_path_call(job, &known);
        return known ? result : refuse(job);
    }
}

/* --- answers ---------------------------------------------------------------------------------- */

static long copy_out(struct job *job, long result)
{
    size_t size = job->out_size != 0 ? job->out_size : (size_t)result;

    if (result < 0 || job->out == NULL)
        return result;
    if (!listener_is_waiting(job->on->listener, job->call.id))
        return -EINTR;
    return job_write(job, job->out_address, job->out, size) < 0 ? -EFAULT : result;
}

static void hand_over(struct job *job, int fd)
{
    const int listener = job->on->listener;
    int error = listener_hand_over(listener, job->call.id, fd, job->open_flags & O_CLOEXEC);

    if (error == -EBADF)
        listener_let(listener, job->call.id);
    else if (error < 0)
        listener_answer(listener, job->call.id, error);
    close(fd);
}

static void finish(struct job *job, long result)
{
    if (job->end == JOB_HAND && result >= 0)
        hand_over(job, (int)result);
    else if (job->end == JOB_LET && result >= 0)
        listener_let(job->on->listener, job->call.id);
    else if (job->end == JOB_RUN && result >= 0)
        run_let(job);
    else
        listener_answer(job->on->listener, job->call.id, copy_out(job, result));
}

/* If handing over a descriptor is interrupted the kernel still takes the call for answered, and it
 * returns 0: so a signal that is under way has to be here before. */
static void end_work(struct job *job)
{
    int works = JOB_WORKS;

    if (atomic_compare_exchange_strong(&job->phase, &works, JOB_ENDS))
        return;
    do {
        sched_yield();
        works = JOB_WORKS;
    } while (!atomic_compare_exchange_strong(&job->phase, &works, JOB_ENDS));
    sched_yield();
}

void job_answer(struct job *job)
{
    volatile long result;
    int gone;

    job->end = JOB_ANSWER;
    job->open_flags = 0;
    job->paths = 0;
    job->path[0][0] = '\0';
    job->out = NULL;
    job->process = 0;
    job->acts_as_caller = false;
    job->borrowed = 0;
    gone = setjmp(job->gone);
    if (gone == 0)
        result = judge(job);
    else
        result = gone;
    end_work(job);
    if (gone != 0 || result == -EINTR)
        job->end = JOB_ANSWER;
    if (result == -EINTR && job->interrupted != 0)
        result = job->interrupted;
    finish(job, result);
    job_release(job);
}
