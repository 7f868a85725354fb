/* SPDX-License-Identifier: MIT */
#include "workers.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "domains.h"

/*
 * The kernel tells every worker that listens of every call, and only one of them gets it: so one
 * listens, works, and listens again, and the others are parked. When calls wait meanwhile, all are
 * to listen for a while.
 */
enum {
    WORKERS_MAX = 4096,
    LISTENING_MAX = 8,
    PARKED_MAX = 8,
    STACK = 256 * 1024,
    TICK_MS = 2,
    TICKS_CALM = 250,   /* so long no call may have to wait until one listener is enough again */
    TICKS_PATIENT = 20, /* so long a call may take until its caller is looked after ... */
    TICKS_BETWEEN = 10, /* ... and then again and again */
    TICKS_QUIET = 20,   /* so long without a call, and nobody ticks */
    INTERRUPT = SIGUSR1,
    RESTART = 512, /* the kernel makes the call again if the handler of the signal lets it */
};

struct worker {
    struct job job;
    pid_t thread;
    atomic_int acting; /* the thread that answers: this one, or one of another domain */
    atomic_bool used;
    atomic_bool busy;
    atomic_ulong id;    /* of the call */
    atomic_ulong since; /* the tick at which it came */
};

static const struct supervisor *on;
static struct worker *_Atomic pool[WORKERS_MAX];
static atomic_int listening;
static atomic_int wanted = 1; /* how many are to listen at a time */
static atomic_int parked;
static sem_t baton;        /* who gets it listens, and is counted so already */
static atomic_ulong taken; /* calls */
static atomic_ulong tick;
static atomic_ulong crowded; /* the tick at which a call had to wait */
static atomic_bool dozing;   /* nobody ticks */
static int wake = -1;

/* --- what a job is told about its caller ------------------------------------------------------ */

/* By what the kernel says: a list of our own would miss those that begin or end right now. */
bool supervisor_has_thread(pid_t thread)
{
    char path[64];

    snprintf(path, sizeof path, "%d/task/%d", (int)getpid(), (int)thread);
    return faccessat(on->proc, path, F_OK, AT_EACCESS) == 0 || errno != ENOENT;
}

/* Our own part of procfs, which the kernel would open to us but not to the caller. */
static bool hides(const char *path)
{
    return strncmp(path, "/proc/", 6) == 0 && path[6] >= '0' && path[6] <= '9' &&
           supervisor_has_thread((pid_t)strtol(path + 6, NULL, 10));
}

static int open_magic(int dir, const char *name)
{
    return job_open_path(job_now, dir, name);
}

static ssize_t read_link(int dir, const char *name, char *target, size_t size)
{
    return job_read_link(job_now, dir, name, target, size);
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
    sem_init(&job->sent, 0, 0);
    sem_init(&job->back, 0, 0);
    job->view = (struct view){.root = VIEW_SELF,
                              .self = job->self,
                              .thread_self = job->thread_self,
                              .hides = hides,
                              .open_magic = open_magic,
                              .read_link = read_link,
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

/* A thread that answers can be interrupted, and has a umask and a working directory of its own. */
static void prepare_thread(struct worker *worker)
{
    sigset_t one;

    job_now = &worker->job;
    sigemptyset(&one);
    sigaddset(&one, INTERRUPT);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    if (unshare(CLONE_FS) < 0)
        _exit(125);
}

static void work_in_domain(void *data)
{
    struct worker *worker = data;

    prepare_thread(worker);
    worker->acting = (int)syscall(SYS_gettid);
    job_answer(&worker->job);
    job_send(&worker->job, NULL, NULL);
}

/* On behalf of a caller that is restricted further than we are. */
static void work_elsewhere(struct worker *worker, long domain)
{
    struct job *job = &worker->job;

    job->away = true;
    if (domain > 0 && domains_start(domain, work_in_domain, worker))
        job_run_errands(job);
    else
        listener_answer(on->listener, job->call.id, -EACCES);
    job->away = false;
    worker->acting = worker->thread;
}

static void work(struct worker *worker)
{
    long domain = domains_find(&worker->job);

    worker->id = worker->job.call.id;
    worker->since = tick;
    worker->job.interrupted = 0;
    worker->job.phase = JOB_WORKS;
    worker->busy = true;
    atomic_fetch_add(&taken, 1);
    if (atomic_exchange(&dozing, false))
        eventfd_write(wake, 1);
    if (domain == 0)
        job_answer(&worker->job);
    else
        work_elsewhere(worker, domain);
    worker->busy = false;
}

/* Whether the caller is one of those who listen now. */
static bool join_listeners(void)
{
    int count = listening;

    while (count < wanted)
        if (atomic_compare_exchange_weak(&listening, &count, count + 1))
            return true;
    return false;
}

/* False: nobody has to wait for anything here. */
static bool listen_again(void)
{
    if (join_listeners())
        return true;
    if (atomic_fetch_add(&parked, 1) >= PARKED_MAX) {
        atomic_fetch_sub(&parked, 1);
        return false;
    }
    while (sem_wait(&baton) < 0)
        ;
    return true;
}

static void send_listener(void);

/* A call that nobody has heard of is interrupted by any signal, which the program would not expect.
 * So where several call at a time there is always somebody who listens. */
static void leave_listeners(void)
{
    if (wanted == 1 && listener_has_calls(on->listener)) {
        wanted = LISTENING_MAX;
        crowded = tick;
    }
    if (wanted > 1)
        send_listener();
}

static void *live(void *data)
{
    struct worker *worker = data;

    worker->thread = (pid_t)syscall(SYS_gettid);
    worker->acting = worker->thread;
    prepare_thread(worker);
    for (;;) {
        int error = listener_receive(on->listener, &worker->job.call);
        if (error < 0) {
            if (error != -EINTR)
                sched_yield();
            continue;
        }
        if (atomic_fetch_sub(&listening, 1) == 1)
            leave_listeners();
        work(worker);
        if (!listen_again()) {
            worker->thread = 0;
            worker->acting = 0;
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

/* One that listens. Where there can be no more, calls wait until one is free. */
static bool start_worker(void)
{
    struct worker *worker = find_worker();
    pthread_attr_t attributes;
    pthread_t thread;
    bool started;

    if (worker == NULL)
        return false;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK);
    atomic_fetch_add(&listening, 1);
    started = pthread_create(&thread, &attributes, live, worker) == 0;
    if (!started) {
        atomic_fetch_sub(&listening, 1);
        worker->used = false;
    }
    pthread_attr_destroy(&attributes);
    return started;
}

/* One more listens. */
static void send_listener(void)
{
    int count = parked;

    while (count > 0)
        if (atomic_compare_exchange_weak(&parked, &count, count - 1)) {
            atomic_fetch_add(&listening, 1);
            sem_post(&baton);
            return;
        }
    start_worker();
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
    domains_begin();
    sem_init(&baton, 0, 0);
    return wake >= 0 && start_worker();
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
    unsigned long id = worker->id;
    int error = why_interrupt(worker);
    int works = JOB_WORKS;

    if (error == 0 || !worker->busy ||
        !atomic_compare_exchange_strong(&worker->job.phase, &works, JOB_IS_INTERRUPTED))
        return;
    /* It may have come to another call meanwhile. */
    if (worker->id == id) {
        worker->job.interrupted = error;
        syscall(SYS_tgkill, getpid(), worker->acting, INTERRUPT);
    }
    worker->job.phase = JOB_WORKS;
}

int workers_wake_fd(void)
{
    return wake;
}

/* Nobody listens, calls wait, and none was taken meanwhile: the one who works is held up. */
static void look_for_waiting(unsigned long now, bool moves)
{
    if (!moves && listening == 0 && listener_has_calls(on->listener)) {
        wanted = LISTENING_MAX;
        crowded = now;
        send_listener();
    } else if (now - crowded > TICKS_CALM) {
        wanted = 1;
    }
}

static bool look_for_busy(unsigned long now)
{
    bool busy = false;

    for (int i = 0; i < WORKERS_MAX && pool[i] != NULL; i++) {
        struct worker *worker = pool[i];
        if (!worker->busy)
            continue;
        busy = true;
        unsigned long took = now - worker->since;
        if (took >= TICKS_PATIENT && took % TICKS_BETWEEN == 0)
            look_after(worker);
    }
    return busy;
}

int workers_tick(void)
{
    static unsigned long before; /* calls until the last time */
    static unsigned long last;   /* when there was something to do */
    static bool dozed = true;
    unsigned long now = atomic_fetch_add(&tick, 1) + 1;
    unsigned long calls = taken;
    eventfd_t count;

    if (dozed)
        eventfd_read(wake, &count);
    dozed = false;
    look_for_waiting(now, calls != before);
    if (look_for_busy(now) || calls != before)
        last = now;
    before = calls;
    if (now - last < TICKS_QUIET)
        return TICK_MS;
    /* One that comes from now on wakes us: also if we find it before we sleep. */
    dozed = true;
    dozing = true;
    if (taken != calls)
        dozing = false;
    return dozing ? -1 : TICK_MS;
}
