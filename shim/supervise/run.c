/* SPDX-License-Identifier: MIT */
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "call.h"
#include "supervisor.h"

/* Whether what the process runs now is what it may run. */
static bool is_allowed(const struct job *job, pid_t process)
{
    char path[64];
    struct call call;
    int fd;

    snprintf(path, sizeof path, "%d/exe", (int)process);
    fd = openat(job->on->proc, path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return false;
    struct fd_name name = call_fd_name(fd);
    int found = -EACCES;
    if (call_begin_ours(&call, "exec", name.text)) {
        found = call_lookup(&call, true, INTENT_EXEC);
        if (found < 0)
            call_settled(&call);
    }
    if (found >= 0)
        close(found);
    close(fd);
    return found >= 0;
}

static pthread_mutex_t waits = PTHREAD_MUTEX_INITIALIZER;

void run_hold(void)
{
    pthread_mutex_lock(&waits);
}

void run_release(void)
{
    pthread_mutex_unlock(&waits);
}

/* Of those that this thread traces. That the command has ended nobody hears of but who hears it
 * first. */
static pid_t hear(const struct job *job, int *status)
{
    pid_t pid;

    do
        pid = waitpid(-1, status, __WALL | __WNOTHREAD);
    while (pid < 0 && errno == EINTR);
    if (pid == job->on->command && !WIFSTOPPED(*status))
        supervisor_end(*status);
    return pid;
}

/* It stops in exec, or, if that fails, right behind it: whichever comes first. */
static void watch(void *data)
{
    struct job *job = data;
    const pid_t thread = (pid_t)job->call.pid;
    int status = 0;
    pid_t pid;

    if (ptrace(PTRACE_SEIZE, thread, NULL, (void *)PTRACE_O_TRACEEXEC) < 0) {
        listener_answer(job->on->listener, job->call.id, -EACCES);
        return;
    }
    ptrace(PTRACE_INTERRUPT, thread, NULL, NULL);
    listener_let(job->on->listener, job->call.id);
    pid = hear(job, &status);
    if (pid < 0 || !WIFSTOPPED(status))
        return;
    if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8) && !is_allowed(job, pid))
        kill(pid, SIGKILL);
    /* One that is being killed has to be buried here before its parent can do so. */
    if (ptrace(PTRACE_DETACH, pid, NULL, NULL) < 0)
        hear(job, &status);
}

void run_let(struct job *job)
{
    const bool is_command = job_process(job) == job->on->command;

    if (job->on->wants.supervise != SUPERVISE_ALL) {
        listener_let(job->on->listener, job->call.id);
        return;
    }
    if (is_command)
        run_hold();
    job_send(job, watch, job);
    if (is_command)
        run_release();
}
