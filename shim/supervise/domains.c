/* SPDX-License-Identifier: MIT */
#include "domains.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor.h"

enum { DOMAINS_MAX = 512, SWEEP_FROM = 32, STACK = 256 * 1024 };

#define MARK RLIMIT_SIGPENDING

/* Something to be done in a domain, by a new thread of its own: it may take long. */
struct request {
    void (*act)(void *data);
    void *data;
};

/* A keeper waits for requests, and starts a thread for each. */
struct domain {
    atomic_long number; /* 0: this place is free */
    pthread_mutex_t lock;
    struct request request; /* one at a time; without an act: end */
    sem_t asked;
    sem_t taken;
    bool unseen; /* the last sweep found nobody in it */
};

static struct domain domains[DOMAINS_MAX];
static pthread_mutex_t births = PTHREAD_MUTEX_INITIALIZER;
static atomic_long last; /* number given out */
static rlim_t base;      /* what the limit is for those in no domain */

void domains_begin(void)
{
    struct rlimit limit;

    base = getrlimit(MARK, &limit) == 0 ? limit.rlim_max : 0;
}

/* --- marks ------------------------------------------------------------------------------------ */

static long read_mark(pid_t thread)
{
    struct rlimit limit;

    if (prlimit(thread, MARK, NULL, &limit) < 0)
        return -errno;
    return limit.rlim_max > base ? -EPERM : (long)(base - limit.rlim_max);
}

static int set_mark(pid_t process, long number)
{
    struct rlimit limit;

    if (prlimit(process, MARK, NULL, &limit) < 0)
        return -errno;
    limit.rlim_max = base - (rlim_t)number;
    if (limit.rlim_cur > limit.rlim_max)
        limit.rlim_cur = limit.rlim_max;
    return prlimit(process, MARK, &limit, NULL) < 0 ? -errno : 0;
}

long domains_find(const struct job *job)
{
    return atomic_load(&last) == 0 ? 0 : read_mark((pid_t)job->call.pid);
}

static struct domain *find(long number)
{
    for (int i = 0; i < DOMAINS_MAX; i++)
        if (domains[i].number == number)
            return &domains[i];
    return NULL;
}

/* --- keepers ---------------------------------------------------------------------------------- */

static bool start_thread(void *(*life)(void *data), void *data)
{
    pthread_attr_t attributes;
    pthread_t thread;
    int error;

    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK);
    error = pthread_create(&thread, &attributes, life, data);
    pthread_attr_destroy(&attributes);
    return error == 0;
}

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) < 0 && errno == EINTR)
        ;
}

static void *serve(void *data)
{
    struct request request = *(struct request *)data;

    free(data);
    request.act(request.data);
    return NULL;
}

/* Until it is asked for nothing. */
static void keep(struct domain *domain)
{
    for (;;) {
        wait_for(&domain->asked);
        if (domain->request.act == NULL) {
            domain->number = 0;
            return;
        }
        struct request *request = malloc(sizeof *request);
        if (request == NULL)
            _exit(125);
        *request = domain->request;
        sem_post(&domain->taken);
        if (!start_thread(serve, request))
            serve(request); /* at the others' cost, but not undone */
    }
}

bool domains_start(long number, void (*act)(void *data), void *data)
{
    struct domain *domain = find(number);

    if (domain == NULL)
        return false;
    pthread_mutex_lock(&domain->lock);
    domain->request = (struct request){act, data};
    sem_post(&domain->asked);
    wait_for(&domain->taken);
    pthread_mutex_unlock(&domain->lock);
    return true;
}

/* --- births ----------------------------------------------------------------------------------- */

struct birth {
    struct domain *domain;
    long number;
    int ruleset;
    long error;
    sem_t done;
};

static void *live(void *data)
{
    struct birth *birth = data;
    struct domain *domain = birth->domain;

    birth->error = syscall(SYS_landlock_restrict_self, birth->ruleset, 0);
    if (birth->error < 0) {
        birth->error = -errno;
        sem_post(&birth->done);
        return NULL;
    }
    domain->unseen = false;
    domain->number = birth->number;
    sem_post(&birth->done);
    keep(domain);
    return NULL;
}

/* In the domain that the new one lies in. */
static void bear(void *data)
{
    struct birth *birth = data;

    if (!start_thread(live, birth)) {
        birth->error = -EAGAIN;
        sem_post(&birth->done);
    }
}

/* Which domains some process is in. */
static void look_around(const struct supervisor *on, bool seen[DOMAINS_MAX])
{
    int fd = openat(on->proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *proc = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;

    memset(seen, proc == NULL, DOMAINS_MAX * sizeof *seen);
    while (proc != NULL && (entry = readdir(proc)) != NULL) {
        long number = entry->d_name[0] >= '1' && entry->d_name[0] <= '9'
                          ? read_mark((pid_t)strtol(entry->d_name, NULL, 10))
                          : 0;
        struct domain *domain = number > 0 ? find(number) : NULL;
        if (domain != NULL)
            seen[domain - domains] = true;
    }
    if (proc != NULL)
        closedir(proc);
}

/* Ends keepers of domains that nobody was found in, twice: a process may be missed that is just
 * being born. Nobody can get into an old one anew. */
static void sweep(const struct supervisor *on)
{
    bool seen[DOMAINS_MAX];
    int used = 0;

    for (int i = 0; i < DOMAINS_MAX; i++)
        used += domains[i].number != 0;
    if (used < SWEEP_FROM)
        return;
    look_around(on, seen);
    for (int i = 0; i < DOMAINS_MAX; i++) {
        struct domain *domain = &domains[i];
        if (domain->number == 0)
            continue;
        if (!seen[i] && domain->unseen) {
            domain->request.act = NULL;
            sem_post(&domain->asked);
        }
        domain->unseen = !seen[i];
    }
}

static struct domain *find_free(void)
{
    for (int i = 0; i < DOMAINS_MAX; i++) {
        if (domains[i].number != 0)
            continue;
        pthread_mutex_init(&domains[i].lock, NULL);
        sem_init(&domains[i].asked, 0, 0);
        sem_init(&domains[i].taken, 0, 0);
        return &domains[i];
    }
    return NULL;
}

static long restrict_in(struct job *job, long outer, int ruleset)
{
    struct birth birth = {
        .domain = find_free(), .number = atomic_load(&last) + 1, .ruleset = ruleset};

    if (birth.domain == NULL || (rlim_t)birth.number >= base)
        return -EPERM;
    sem_init(&birth.done, 0, 0);
    if (outer == 0)
        bear(&birth);
    else if (!domains_start(outer, bear, &birth))
        return -EPERM;
    wait_for(&birth.done);
    sem_destroy(&birth.done);
    if (birth.error < 0)
        return birth.error;
    atomic_store(&last, birth.number);
    return set_mark(job_process(job), birth.number);
}

long domains_restrict(struct job *job)
{
    int ruleset = job_fd(job, (int)job->call.data.args[0]);
    long outer = domains_find(job);
    long error;

    if (ruleset < 0 || outer < 0)
        return ruleset < 0 ? ruleset : outer;
    pthread_mutex_lock(&births);
    sweep(job->on);
    error = restrict_in(job, outer, ruleset);
    pthread_mutex_unlock(&births);
    return error;
}
