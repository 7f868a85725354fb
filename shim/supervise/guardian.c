/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tree.h"
#include "watch.h"

/* A command that ends within the first few moments is looked at only once. */
enum { PATIENCE_MS = 20, SHAKE_MS = 10000, END_SECONDS = 10 };

struct watch {
    const struct guarded *guarded;
    struct board *board;
    pid_t parent;
    pid_t command;
    int cordon;    /* -1: it is gone */
    int report;    /* where a command that cannot be started says why; -1: no more of that */
    int handshake; /* -1: done, or none */
    int stops;     /* -1: none */
    int children;  /* tells that something became of one */
    long patience; /* until when it is left alone, in milliseconds */
    long deadline; /* for the handshake */
    bool over;     /* nothing more is to be waited for */
    struct outcome outcome;
};

static long now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void forget(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Makes the last two directories of the path and the one that they lie in. */
static bool make_home(const char *path)
{
    char part[PATH_MAX];
    size_t length = strlen(path);

    for (int above = 2; above >= 0; above--) {
        size_t end = length;
        for (int i = 0; i < above; i++)
            while (end > 1 && path[--end] != '/')
                ;
        snprintf(part, sizeof part, "%.*s", (int)end, path);
        if (mkdir(part, 0700) < 0 && errno != EEXIST)
            return false;
    }
    return true;
}

/* On another file system an empty one is made: then the next run fills it. */
static void keep_cache(const char *cache, const char *home)
{
    if (access(cache, F_OK) == 0 && make_home(home))
        rename(cache, home);
}

void clean_up(const struct guarded *guarded, struct outcome *outcome)
{
    int error = 0;

    if (!tree_end(END_SECONDS))
        outcome->left = true;
    if (guarded->cache_home != NULL)
        keep_cache(guarded->cache, guarded->cache_home);
    if (guarded->tmp != NULL)
        error = directory_remove(guarded->tmp);
    if (error < 0 && error != -ENOENT)
        outcome->left = true;
}

/* Cordon is to look at the board. */
static void ring(const struct watch *watch)
{
    if (getppid() == watch->parent)
        kill(watch->parent, SIGCHLD);
}

/* The process of the command: never returns. */
static void be_command(const struct guarded *guarded, int report, pid_t guardian)
{
    struct failure failure = {.status = 125};

    /* Should both cordon and the guardian be killed, at least the command is as well. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != guardian)
        _exit(125);
    if (guarded->handshake[0] >= 0)
        close(guarded->handshake[0]);
    if (guarded->stops[0] >= 0)
        close(guarded->stops[0]);
    signals_give_back(guarded->signals);
    guarded->become(guarded->data, &failure);
    while (write(report, &failure, sizeof failure) < 0 && errno == EINTR)
        ;
    _exit(failure.status);
}

/* Returns false, with the outcome set, if it could not even be tried. */
static bool start(struct watch *watch)
{
    const struct guarded *guarded = watch->guarded;
    const int handshake = guarded->handshake[0];
    pid_t self = getpid();
    int report[2];

    if (pipe2(report, O_CLOEXEC) < 0)
        return false;
    if (handshake >= 0)
        fcntl(handshake, F_SETFL, O_NONBLOCK);
    watch->command = fork();
    if (watch->command < 0) {
        close(report[0]);
        close(report[1]);
        return false;
    }
    if (watch->command == 0)
        be_command(guarded, report[1], self);
    close(report[1]);
    watch->report = report[0];
    watch->handshake = handshake;
    watch->stops = guarded->stops[0];
    watch->patience = now() + PATIENCE_MS;
    watch->deadline = watch->patience + SHAKE_MS;
    return true;
}

static void hear_report(struct watch *watch)
{
    ssize_t length = read(watch->report, &watch->outcome.failure, sizeof watch->outcome.failure);

    if (length < 0 && errno == EINTR)
        return;
    if (length == (ssize_t)sizeof watch->outcome.failure) {
        watch->outcome.kind = OUTCOME_NOT_STARTED;
        watch->over = true;
    } else if (!watch->over) {
        watch->board->started = true;
        ring(watch);
    }
    forget(&watch->report);
}

/* One byte says that the shim is there. Without it the program must not go on. */
static void hear_handshake(struct watch *watch)
{
    char byte;
    ssize_t length = read(watch->handshake, &byte, 1);

    if (length < 0 && errno == EINTR)
        return;
    forget(&watch->handshake);
    if (length == 1 && byte == 'k')
        return;
    /* One that could not be started does not shake hands either. */
    if (watch->report >= 0)
        hear_report(watch);
    if (watch->outcome.kind == OUTCOME_NOT_STARTED)
        return;
    watch->outcome.kind = OUTCOME_NO_SHIM;
    watch->deadline = now() + 100; /* it may just be ending: how? */
}

static void hear_cordon(struct watch *watch)
{
    pid_t target = watch->command;
    int signal;
    ssize_t length = read(watch->cordon, &signal, sizeof signal);

    if (length < 0 && errno == EINTR)
        return;
    if (length != (ssize_t)sizeof signal) {
        forget(&watch->cordon);
        watch->over = true;
        return;
    }
    for (int i = 0; i < watch->guarded->below && target > 0; i++)
        target = tree_child_of(target);
    if (target > 0)
        kill(target, signal);
}

static void note_stop(struct watch *watch, int signal)
{
    watch->board->stopped = signal;
    if (signal != 0)
        ring(watch);
}

static void hear_stops(struct watch *watch)
{
    int signal;
    ssize_t length = read(watch->stops, &signal, sizeof signal);

    if (length == (ssize_t)sizeof signal)
        note_stop(watch, signal);
    else if (length >= 0 || errno != EINTR)
        forget(&watch->stops);
}

/* Buries those that ended, and tells cordon if the command was stopped. */
static void hear_children(struct watch *watch)
{
    struct signalfd_siginfo info;
    int status;
    pid_t pid;

    while (read(watch->children, &info, sizeof info) > 0)
        ;
    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
        if (pid != watch->command)
            continue;
        if (WIFSTOPPED(status) || WIFCONTINUED(status)) {
            /* What stands between may stop as well: once is enough. */
            if (watch->stops < 0)
                note_stop(watch, WIFSTOPPED(status) ? WSTOPSIG(status) : 0);
            continue;
        }
        watch->command = -1;
        watch->outcome.status = status;
        watch->over = true;
    }
}

static int time_left(const struct watch *watch, bool patient)
{
    long left = (patient ? watch->patience : watch->deadline) - now();

    if (!patient && watch->handshake < 0 && watch->outcome.kind != OUTCOME_NO_SHIM)
        return -1;
    return left < 0 ? 0 : (int)left;
}

static void watch_on(struct watch *watch)
{
    const bool patient = now() < watch->patience;
    struct pollfd fds[] = {
        {.fd = watch->children, .events = POLLIN},
        {.fd = watch->cordon, .events = POLLIN},
        {.fd = patient ? -1 : watch->report, .events = POLLIN},
        {.fd = patient ? -1 : watch->handshake, .events = POLLIN},
        {.fd = watch->stops, .events = POLLIN},
    };
    int ready = poll(fds, sizeof fds / sizeof fds[0], time_left(watch, patient));

    if (ready == 0 && !patient) {
        watch->outcome.kind = OUTCOME_NO_SHIM;
        watch->over = true;
    }
    if (ready <= 0)
        return;
    if (fds[2].revents != 0)
        hear_report(watch);
    if (fds[3].revents != 0 && watch->handshake >= 0)
        hear_handshake(watch);
    if (fds[4].revents != 0)
        hear_stops(watch);
    if (fds[0].revents != 0)
        hear_children(watch);
    if (fds[1].revents != 0)
        hear_cordon(watch);
}

/* The command has ended: what it had to say before is still in the pipes. */
static void hear_the_rest(struct watch *watch)
{
    if (watch->command >= 0)
        return;
    if (watch->report >= 0)
        hear_report(watch);
    if (watch->handshake >= 0)
        hear_handshake(watch);
}

/* Lives in a group of its own: what is sent to the group of the command is not for us. */
static bool settle(struct watch *watch)
{
    sigset_t children;
    const int kept[] = {watch->cordon, watch->report, watch->handshake, watch->stops};

    setpgid(0, 0);
    keep_only(kept, sizeof kept / sizeof kept[0]);
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    watch->children = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    return watch->children >= 0 && getppid() == watch->parent;
}

/* Whatever the caller's umask is. */
static bool make_private(const char *path)
{
    return mkdir(path, 0700) == 0 ? chmod(path, 0700) == 0 : errno == EEXIST;
}

int guardian_live(const struct guarded *guarded, struct board *board, int cordon, pid_t parent)
{
    struct watch watch = {.guarded = guarded,
                          .board = board,
                          .parent = parent,
                          .cordon = cordon,
                          .report = -1,
                          .handshake = -1,
                          .stops = -1,
                          .children = -1,
                          .outcome = {.kind = OUTCOME_ENDED, .status = -1}};

    /* Should we have been stopped, cordon's end wakes us; that it ended is seen on the pipe. */
    prctl(PR_SET_PDEATHSIG, SIGCONT);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_NAME, "cordon-guardian");
    watch.outcome.status = signals_pending();
    if (watch.outcome.status != 0) {
        watch.over = true;
    } else if ((guarded->tmp != NULL && !make_private(guarded->tmp)) || !start(&watch)) {
        watch.outcome.kind = OUTCOME_NOT_STARTED;
        watch.outcome.failure.status = 125;
        snprintf(watch.outcome.failure.text, sizeof watch.outcome.failure.text,
                 "the command cannot be started: %s", strerror(errno));
        watch.over = true;
    } else {
        watch.over = !settle(&watch);
    }
    while (!watch.over)
        watch_on(&watch);
    hear_the_rest(&watch);
    clean_up(guarded, &watch.outcome);
    board->outcome = watch.outcome;
    board->over = true;
    return 0;
}
