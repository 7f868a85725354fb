/* SPDX-License-Identifier: MIT */
#include "workers.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    WORKERS_MAX = 1024,
    IDLE_FIRST = 2, /* so that the first call need not wait for a second worker */
    IDLE_MAX = 8,
    STACK = 256 * 1024,
    TICK_MS = 20,
    INTERRUPT = SIGUSR1,
    RESTART = 512, /* the kernel makes the call again if the handler of the signal lets it */
};

struct worker {
    struct job job;
    pid_t thread;
    atomic_bool used;
    atomic_bool busy;
    atomic_ulong id;    /* of the call */
    atomic_ulong since; /* the tick at which it came */
};

static const struct supervisor *on;
static struct worker *_Atomic pool[WORKERS_MAX];
static atomic_int idle;
static atomic_ulong tick;
static atomic_bool dozing; /* nobody ticks */
static int wake = -1;

static void start_worker(void);

/* --- what a job is told about its caller ------------------------------------------------------ */

bool supervisor_has_thread(pid_t thread)
{
    if (thread == getpid())
        return true;
    for (int i = 0; i < WORKERS_MAX; i++) {
        const struct worker *worker = pool[i];
        if (worker == NULL)
            break;
        if (worker->thread == thread)
            return true;
    }
    return false;
}

/* Our own part of procfs, which the kernel would open to us but not to the caller. */
static bool hides(const char *path)
{
    return strncmp(path, "/proc/", 6) == 0 && path[6] >= '0' && path[6] <= '9' &&
           supervisor_has_thread((pid_t)strtol(path + 6, NULL, 10));
}

static void prepare_view(const struct view *view)
{
    struct job *job = job_now;
    pid_t process = job_process(job);

    (void)view;
    snprintf(job->self, sizeof job->self, "%d", (int)process);
    snprintf(job->thread_self, sizeof job->thread_self, "%d/task/%u", (int)process, job->call.pid);
}

static void prepare_job(struct job *job)
{
    static struct start home;
    static struct policy_at at;
    static atomic_bool settled;

    job->on = on;
    job->view = (struct view){.root = VIEW_SELF,
                              .self = job->self,
                              .thread_self = job->thread_self,
                              .hides = hides,
                              .prepare = prepare_view};
    if (!settled) {
        home.path = image_text(on->image, IMAGE_ROOT);
        home.at = &at;
        decide_start(on->policy, &at);
        if (!path_is_canonical(home.path) || !decide_follow(on->policy, &at, home.path))
            home.at = NULL;
        settled = true;
    }
    job->scope = (struct scope){.policy = on->policy, .view = &job->view};
    if (home.at != NULL)
        job->scope.home = &home;
}

/* --- working ---------------------------------------------------------------------------------- */

static void work(struct worker *worker)
{
    worker->id = worker->job.call.id;
    worker->since = tick;
    worker->job.interrupted = 0;
    worker->busy = true;
    if (atomic_exchange(&dozing, false))
        eventfd_write(wake, 1);
    job_answer(&worker->job);
    worker->busy = false;
}

static void *live(void *data)
{
    struct worker *worker = data;
    sigset_t one;

    worker->thread = (pid_t)syscall(SYS_gettid);
    job_now = &worker->job;
    sigemptyset(&one);
    sigaddset(&one, INTERRUPT);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    /* A umask and a working directory of its own. */
    if (unshare(CLONE_FS) < 0)
        _exit(125);
    for (;;) {
        int error = listener_receive(on->listener, &worker->job.call);
        if (error < 0) {
            if (error != -EINTR)
                sched_yield();
            continue;
        }
        if (atomic_fetch_sub(&idle, 1) == 1)
            start_worker();
        work(worker);
        if (atomic_fetch_add(&idle, 1) >= IDLE_MAX) {
            atomic_fetch_sub(&idle, 1);
            worker->thread = 0;
            worker->used = false;
            return NULL;
        }
    }
}

static struct worker *find_worker(void)
{
    for (int i = 0; i < WORKERS_MAX; i++) {
        struct worker *worker = pool[i];
        bool expected = false;
        if (worker == NULL) {
            struct worker *none = NULL;
            worker = calloc(1, sizeof *worker);
            if (worker == NULL)
                return NULL;
            worker->used = true;
            prepare_job(&worker->job);
            if (atomic_compare_exchange_strong(&pool[i], &none, worker))
                return worker;
            free(worker);
            worker = none;
        }
        if (atomic_compare_exchange_strong(&worker->used, &expected, true))
            return worker;
    }
    return NULL;
}

/* Where there can be no more, calls wait until one is free. */
static void start_worker(void)
{
    struct worker *worker = find_worker();
    pthread_attr_t attributes;
    pthread_t thread;

    if (worker == NULL)
        return;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK);
    atomic_fetch_add(&idle, 1);
    if (pthread_create(&thread, &attributes, live, worker) != 0) {
        atomic_fetch_sub(&idle, 1);
        worker->used = false;
    }
    pthread_attr_destroy(&attributes);
}

static void note_nothing(int signal)
{
    (void)signal;
}

bool workers_start(const struct supervisor *supervisor)
{
    struct sigaction action = {.sa_handler = note_nothing}; /* without SA_RESTART */

    on = supervisor;
    sigaction(INTERRUPT, &action, NULL);
    wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    dozing = true;
    for (int i = 0; i < IDLE_FIRST; i++)
        start_worker();
    return wake >= 0 && idle > 0;
}

/* --- looking after them ----------------------------------------------------------------------- */

/* What the caller's call is to end with now: 0, it waits on. */
static int why_interrupt(const struct worker *worker)
{
    struct ids_status status;

    if (!listener_is_waiting(on->listener, worker->id))
        return -EINTR;
    if (ids_read_of(on->proc, (pid_t)worker->job.call.pid, &status) < 0 || status.pending == 0)
        return 0;
    return status.restarts ? -RESTART : -EINTR;
}

static void look_after(struct worker *worker)
{
    int error = why_interrupt(worker);

    if (error == 0 || !worker->busy)
        return;
    worker->job.interrupted = error;
    syscall(SYS_tgkill, getpid(), worker->thread, INTERRUPT);
}

int workers_wake_fd(void)
{
    return wake;
}

int workers_tick(void)
{
    unsigned long now = atomic_fetch_add(&tick, 1) + 1;
    bool active = false;
    eventfd_t count;

    eventfd_read(wake, &count);
    for (int i = 0; i < WORKERS_MAX && pool[i] != NULL; i++) {
        struct worker *worker = pool[i];
        if (!worker->busy)
            continue;
        active = true;
        if (now - worker->since > 2)
            look_after(worker);
    }
    if (active)
        return TICK_MS;
    /* One that comes from now on wakes us. */
    dozing = true;
    for (int i = 0; i < WORKERS_MAX && pool[i] != NULL; i++)
        if (pool[i]->busy)
            dozing = false;
    return dozing ? -1 : TICK_MS;
}
