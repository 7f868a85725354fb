/* SPDX-License-Identifier: MIT */
/* cordon's side of a run. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "watch.h"

static void signals_fill(sigset_t *set)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

    sigfillset(set);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        sigdelset(set, own[i]);
}

void signals_take(struct signals *original)
{
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigset_t all;

    signals_fill(&all);
    sigprocmask(SIG_BLOCK, &all, &original->mask);
    /* Where it is ignored nobody can be waited for. */
    sigaction(SIGCHLD, &standard, &original->child);
}

void signals_give_back(const struct signals *original)
{
    sigaction(SIGCHLD, &original->child, NULL);
    sigprocmask(SIG_SETMASK, &original->mask, NULL);
}

int signals_pending(void)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction action;
    sigset_t pending;

    sigpending(&pending);
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++)
        if (sigismember(&pending, ending[i]) && sigaction(ending[i], NULL, &action) == 0 &&
            action.sa_handler != SIG_IGN)
            return ending[i];
    return 0;
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

void keep_only(const int *kept, int count)
{
    int sorted[16] = {STDERR_FILENO};
    int n = 1;
    int from = 0;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int i = 0; i < count && n < 15; i++)
        if (kept[i] > STDERR_FILENO)
            sorted[n++] = kept[i];
    sorted[n++] = null;
    qsort(sorted, (size_t)n, sizeof sorted[0], compare);
    for (int i = 0; i < n; i++) {
        if (sorted[i] > from)
            close_range((unsigned)from, (unsigned)sorted[i] - 1, 0);
        if (sorted[i] >= from)
            from = sorted[i] + 1;
    }
    close_range((unsigned)from, ~0U, 0);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    if (null > STDERR_FILENO)
        close(null);
}

/* Stops as the command did, until somebody continues us; then so does the command. */
static void stop(int guardian, int signal)
{
    const struct message go_on = {.kind = MESSAGE_SIGNAL, .signal = SIGCONT};
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigset_t one;

    sigemptyset(&one);
    sigaddset(&one, signal);
    sigaction(signal, &standard, NULL);
    raise(signal);
    sigprocmask(SIG_UNBLOCK, &one, NULL); /* here we stop */
    sigprocmask(SIG_BLOCK, &one, NULL);
    send(guardian, &go_on, sizeof go_on, MSG_NOSIGNAL);
}

/* What the terminal sends goes to the whole group: the command has it already. What somebody sent
 * was meant for the command that he thinks we are. */
static void pass_on(int guardian, const struct signalfd_siginfo *info)
{
    struct message message = {.kind = MESSAGE_SIGNAL, .signal = (int)info->ssi_signo};

    if (info->ssi_signo != SIGCHLD && info->ssi_code <= 0)
        send(guardian, &message, sizeof message, MSG_NOSIGNAL);
}

/* Until there is an outcome, or no guardian any more. */
static bool wait_for_outcome(int guardian, int signals, int report, struct outcome *outcome)
{
    const int kept[] = {guardian, signals, report};
    struct pollfd fds[] = {{.fd = guardian, .events = POLLIN}, {.fd = signals, .events = POLLIN}};

    for (;;) {
        struct signalfd_siginfo info;
        struct message message;

        if (poll(fds, 2, -1) < 0)
            continue;
        if (fds[1].revents != 0 && read(signals, &info, sizeof info) == (ssize_t)sizeof info)
            pass_on(guardian, &info);
        if (fds[0].revents == 0)
            continue;
        if (recv(guardian, &message, sizeof message, 0) != (ssize_t)sizeof message)
            return false;
        if (message.kind == MESSAGE_STARTED)
            keep_only(kept, 3);
        if (message.kind == MESSAGE_STOPPED)
            stop(guardian, message.signal);
        if (message.kind == MESSAGE_OUTCOME) {
            *outcome = message.outcome;
            return true;
        }
    }
}

static void watch(const struct guarded *guarded, int guardian, pid_t pid, struct outcome *outcome)
{
    sigset_t all;
    int signals;

    signals_fill(&all);
    signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
    /* Without the descriptor we would be deaf; a guardian whose cordon is gone cleans up. */
    if (signals < 0 || !wait_for_outcome(guardian, signals, guarded->report[0], outcome)) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        *outcome = (struct outcome){.kind = OUTCOME_LOST, .status = -1};
        clean_up(guarded, outcome);
    } else {
        waitpid(pid, NULL, 0);
    }
    if (signals >= 0)
        close(signals);
}

static void forget(int fd)
{
    if (fd >= 0)
        close(fd);
}

int guardian_run(const struct guarded *guarded, struct outcome *outcome)
{
    pid_t self = getpid();
    int ends[2];
    pid_t pid;

    *outcome = (struct outcome){.kind = OUTCOME_ENDED, .status = signals_pending()};
    if (outcome->status != 0)
        return 0;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return -errno;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        close(ends[0]);
        _exit(guardian_live(guarded, ends[1], self));
    }
    close(ends[1]);
    if (pid < 0) {
        int error = -errno;
        close(ends[0]);
        return error;
    }
    forget(guarded->handshake[0]);
    forget(guarded->handshake[1]);
    forget(guarded->report[1]);
    watch(guarded, ends[0], pid, outcome);
    close(ends[0]);
    return 0;
}

void end_like(int status)
{
    const struct rlimit none = {0, 0};
    sigset_t one;
    int sig;

    if (WIFEXITED(status))
        exit(WEXITSTATUS(status));
    /* One core file is enough, and ours would say nothing. */
    sig = WTERMSIG(status);
    setrlimit(RLIMIT_CORE, &none);
    signal(sig, SIG_DFL);
    sigemptyset(&one);
    sigaddset(&one, sig);
    raise(sig);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    exit(128 + sig);
}
