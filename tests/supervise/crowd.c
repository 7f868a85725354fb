/* SPDX-License-Identifier: MIT */
/*
 * usage: crowd PROCESSES AT_ONCE
 *
 * In the current directory: waits for a line, then starts that many processes, so many at once.
 * Each opens, makes and removes files, and some wait for a FIFO; most are killed at some moment.
 * Prints `born N reaped N killed N`, waits for another line, and ends with status 7.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "raw.h"

static unsigned seed = 1;

static unsigned below(unsigned limit)
{
    seed = seed * 1103515245 + 12345;
    return (seed >> 16) % limit;
}

static _Noreturn void live(unsigned number)
{
    char name[32];
    struct stat st;

    snprintf(name, sizeof name, "crowd.%d", (int)getpid());
    for (unsigned i = 0; number % 4 == 3 || i < 20; i++) {
        RAW(SYS_close, RAW(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY, 0));
        RAW(SYS_close, RAW(SYS_openat, AT_FDCWD, name, O_RDWR | O_CREAT, 0600));
        RAW(SYS_newfstatat, AT_FDCWD, name, &st, 0);
        RAW(SYS_openat, AT_FDCWD, "/root/.ssh/none", O_RDONLY, 0);
        RAW(SYS_unlinkat, AT_FDCWD, name, 0);
        if (number % 4 == 2)
            RAW(SYS_openat, AT_FDCWD, "fifo", O_RDONLY, 0);
    }
    _exit(0);
}

/* Ends one of those that run: half of them never end by themselves. */
static int reap(pid_t *running, int count, int *killed)
{
    int which = (int)below((unsigned)count);
    const struct timespec time = {.tv_nsec = below(3000) * 1000L};
    int status;

    nanosleep(&time, NULL);
    kill(running[which], SIGKILL);
    if (waitpid(running[which], &status, 0) != running[which])
        return -1;
    *killed += WIFSIGNALED(status);
    running[which] = running[count - 1];
    return 1;
}

int main(int argc, char **argv)
{
    int processes = argc == 3 ? (int)strtol(argv[1], NULL, 10) : 0;
    int at_once = argc == 3 ? (int)strtol(argv[2], NULL, 10) : 0;
    pid_t running[256];
    int count = 0;
    int born = 0;
    int reaped = 0;
    int killed = 0;
    char line[16];

    if (at_once <= 0 || at_once > 256 || mknod("fifo", S_IFIFO | 0600, 0) < 0 ||
        fgets(line, sizeof line, stdin) == NULL)
        return 2;
    while (born < processes || count > 0) {
        if (born < processes && count < at_once) {
            pid_t child = fork();
            if (child == 0)
                live((unsigned)born);
            if (child < 0)
                return 2;
            running[count++] = child;
            born++;
            continue;
        }
        reaped += reap(running, count--, &killed);
    }
    printf("born %d reaped %d killed %d\n", born, reaped, killed);
    fflush(stdout);
    if (waitpid(-1, NULL, 0) > 0 || fgets(line, sizeof line, stdin) == NULL)
        return 2;
    return 7;
}
