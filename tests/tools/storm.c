/* SPDX-License-Identifier: MIT */
/*
 * usage: storm DAEMONS HOPPERS [stay]
 *
 * Starts that many processes that want to stay: they leave their parent, session and group, ignore
 * what can be ignored and sleep for ten minutes. A hopper moreover goes from process to process: it
 * forks every few milliseconds, and the older half ends. Prints "ready" when all are there, and
 * ends itself, or with `stay` sleeps too.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LIFE = 600 };

static void ignore_signals(void)
{
    for (int signal_number = 1; signal_number < NSIG; signal_number++)
        signal(signal_number, SIG_IGN);
}

static _Noreturn void hop(void)
{
    const struct timespec pause = {.tv_nsec = 3000000};
    time_t end = time(NULL) + LIFE;

    while (time(NULL) < end) {
        nanosleep(&pause, NULL);
        if (fork() > 0)
            _exit(0);
    }
    _exit(0);
}

/* The process that stays is a grandchild: nobody here is its parent. */
static void start(int ready, int hops)
{
    pid_t child = fork();

    if (child == 0) {
        setsid();
        if (fork() != 0)
            _exit(0);
        ignore_signals();
        close(STDIN_FILENO);
        close(STDOUT_FILENO);
        close(STDERR_FILENO);
        if (write(ready, "r", 1) != 1)
            _exit(1);
        close(ready);
        if (hops)
            hop();
        sleep(LIFE);
        _exit(0);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
    long daemons = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
    long hoppers = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    int ready[2];
    char byte;

    if (pipe(ready) < 0)
        return 1;
    for (long i = 0; i < daemons + hoppers; i++)
        start(ready[1], i >= daemons);
    for (long i = 0; i < daemons + hoppers; i++)
        if (read(ready[0], &byte, 1) != 1)
            return 1;
    printf("ready\n");
    fflush(stdout);
    if (argc > 3)
        sleep(LIFE);
    return 0;
}
