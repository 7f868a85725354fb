/* SPDX-License-Identifier: MIT */
/* cordon's side of a run. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
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

/* To the command, by the guardian. */
static void pass_on(int guardian, int signal)
{
    while (write(guardian, &signal, sizeof signal) < 0 && errno == EINTR)
        ;
}

/* Stops as the command did, until somebody continues us; then so does the command. */
static void stop(int guardian, int signal)
{
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigset_t one;

    sigemptyset(&one);
    sigaddset(&one, signal);
    sigaction(signal, &standard, NULL);
    raise(signal);
    sigprocmask(SIG_UNBLOCK, &one, NULL); /* here we stop */
    sigprocmask(SIG_BLOCK, &one, NULL);
    pass_on(guardian, SIGCONT);
}

/* What the terminal sends goes to the whole group: the command has it already. What somebody sent
 * was meant for the command that he thinks we are. */
static bool is_for_command(const struct signalfd_siginfo *info)
{
    return info->ssi_signo != SIGCHLD && info->ssi_code <= 0 && info->ssi_pid != (uint32_t)getpid();
}

/* Something stands on the board. */
static void look(struct board *board, int guardian, int signals, int report)
{
    const int kept[] = {guardian, signals, report};
    int stopped = atomic_exchange(&board->stopped, 0);

    if (atomic_exchange(&board->started, false))
        keep_only(kept, 3);
    if (stopped != 0)
        stop(guardian, stopped);
}

/* Until the guardian has ended. */
static void wait_for_guardian(struct board *board, int guardian, pid_t pid, int report)
{
    struct signalfd_siginfo info;
    sigset_t all;
    int signals;

    signals_fill(&all);
    signals = signalfd(-1, &all, SFD_CLOEXEC);
    /* Without it we would be deaf: then the guardian has to end the run. */
    if (signals < 0)
        kill(pid, SIGKILL);
    while (waitpid(pid, NULL, signals < 0 ? 0 : WNOHANG) == 0) {
        if (read(signals, &info, sizeof info) != (ssize_t)sizeof info)
            continue;
        if (is_for_command(&info))
            pass_on(guardian, (int)info.ssi_signo);
        else if (info.ssi_signo == SIGCHLD)
            look(board, guardian, signals, report);
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
    const int access = PROT_READ | PROT_WRITE;
    struct board *board;
    pid_t self = getpid();
    int ends[2];
    pid_t pid;

    *outcome = (struct outcome){.kind = OUTCOME_ENDED, .status = signals_pending()};
    if (outcome->status != 0)
        return 0;
    board = mmap(NULL, sizeof *board, access, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (board == MAP_FAILED)
        return -errno;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        close(ends[1]);
        _exit(guardian_live(guarded, board, ends[0], self));
    }
    close(ends[0]);
    if (pid < 0) {
        int error = -errno;
        close(ends[1]);
        return error;
    }
    forget(guarded->handshake[0]);
    forget(guarded->handshake[1]);
    forget(guarded->report[1]);
    forget(guarded->stops[0]);
    forget(guarded->stops[1]);
    wait_for_guardian(board, ends[1], pid, guarded->report[0]);
    close(ends[1]);
    *outcome = (struct outcome){.kind = OUTCOME_LOST, .status = -1};
    if (board->over)
        *outcome = board->outcome;
    else
        clean_up(guarded, outcome);
    munmap(board, sizeof *board);
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
