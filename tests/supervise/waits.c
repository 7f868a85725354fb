/* SPDX-License-Identifier: MIT */
/*
 * usage: waits [hold N]
 *
 * Calls that wait, in the current directory: what becomes of them and of others when signals come,
 * when the caller is stopped or killed, and when nobody else may be held up. Each prints a line
 * that is the same with and without cordon. With `hold` N processes wait to open a FIFO, for good;
 * prints "held" and then waits for a line, kills them, prints "freed", waits for another one.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "raw.h"

static void moment(void)
{
    const struct timespec time = {.tv_nsec = 150000000};

    nanosleep(&time, NULL);
}

static long open_raw(const char *path, int flags)
{
    return RAW(SYS_openat, AT_FDCWD, path, flags, 0600);
}

static void make_fifo(void)
{
    unlink("fifo");
    if (mknod("fifo", S_IFIFO | 0600, 0) < 0)
        exit(2);
}

static const char *ending(int status)
{
    static char text[64];

    if (WIFSTOPPED(status))
        snprintf(text, sizeof text, "stopped by %d", WSTOPSIG(status));
    else if (WIFCONTINUED(status))
        snprintf(text, sizeof text, "goes on");
    else if (WIFSIGNALED(status))
        snprintf(text, sizeof text, "ended by %d", WTERMSIG(status));
    else
        snprintf(text, sizeof text, "exit %d", WEXITSTATUS(status));
    return text;
}

static const char *wait_for(pid_t child, int flags)
{
    int status = 0;

    if (waitpid(child, &status, flags) < 0)
        return "lost";
    return ending(status);
}

static volatile sig_atomic_t signals;

static void count(int unused)
{
    (void)unused;
    signals++;
}

static void handle(int number, int flags)
{
    struct sigaction action = {.sa_handler = count, .sa_flags = flags};

    sigaction(number, &action, NULL);
}

/* The status of who opened a FIFO: 0, or the errno. */
static _Noreturn void open_fifo(void)
{
    long fd = open_raw("fifo", O_RDONLY);

    _exit(fd >= 0 ? 0 : (int)-fd);
}

static pid_t start_opener(void)
{
    pid_t child = fork();

    if (child == 0)
        open_fifo();
    return child;
}

/* Somebody at the other end, for whoever waits; waits itself until one does. */
static int open_other_end(void)
{
    return (int)open_raw("fifo", O_WRONLY);
}

/* --- others are not held up ------------------------------------------------------------------- */

static void others(void)
{
    enum { WAITING = 40, CALLS = 300 };
    pid_t children[WAITING];
    int opened = 0;
    int ended = 0;

    make_fifo();
    for (int i = 0; i < WAITING; i++)
        children[i] = start_opener();
    moment();
    for (int i = 0; i < CALLS; i++) {
        long fd = open_raw(".", O_RDONLY | O_DIRECTORY);
        opened += fd >= 0;
        close((int)fd);
    }
    int end = (int)open_raw("fifo", O_RDWR);
    for (int i = 0; i < WAITING; i++)
        ended += strcmp(wait_for(children[i], 0), "exit 0") == 0;
    close(end);
    printf("others: %d opened, %d ended\n", opened, ended);
}

/* --- signals ---------------------------------------------------------------------------------- */

static void restarted(void)
{
    pid_t child;

    make_fifo();
    handle(SIGUSR1, SA_RESTART);
    child = start_opener();
    for (int i = 0; i < 3; i++) {
        moment();
        kill(child, SIGUSR1);
    }
    int end = open_other_end();
    printf("restarted: %s\n", wait_for(child, 0));
    close(end);
    signal(SIGUSR1, SIG_DFL);
}

/* Until it ends: it may not have been waiting yet when the first one came. */
static const char *end_by(pid_t child, int number)
{
    int status;

    while (waitpid(child, &status, WNOHANG) == 0) {
        moment();
        kill(child, number);
    }
    return ending(status);
}

static void interrupted(void)
{
    make_fifo();
    handle(SIGUSR1, 0);
    printf("interrupted: %s\n", end_by(start_opener(), SIGUSR1));
    signal(SIGUSR1, SIG_DFL);
}

static void by_alarm(void)
{
    pid_t child;

    make_fifo();
    child = fork();
    if (child == 0) {
        handle(SIGALRM, 0);
        alarm(1);
        open_fifo();
    }
    printf("alarm: %s\n", wait_for(child, 0));
}

static void handled_once(void)
{
    pid_t child;

    make_fifo();
    child = fork();
    if (child == 0) {
        long fd;
        handle(SIGUSR1, SA_RESTART);
        fd = open_raw("fifo", O_RDONLY);
        _exit(fd < 0 ? 99 : (int)signals);
    }
    moment();
    kill(child, SIGUSR1);
    moment();
    int end = open_other_end();
    printf("handled: %s\n", wait_for(child, 0));
    close(end);
}

static void *open_in_thread(void *result)
{
    *(long *)result = open_raw("fifo", O_RDONLY);
    return NULL;
}

static void in_thread(int flags, const char *name)
{
    pthread_t thread;
    long result = 0;
    int end = -1;

    make_fifo();
    handle(SIGUSR1, flags);
    pthread_create(&thread, NULL, open_in_thread, &result);
    for (int i = 0; i < 3; i++) {
        moment();
        if (flags == SA_RESTART || result == 0)
            pthread_kill(thread, SIGUSR1);
    }
    if (flags == SA_RESTART)
        end = open_other_end();
    pthread_join(thread, NULL);
    printf("%s: %s\n", name, result >= 0 ? "opened" : strerror((int)-result));
    close(end);
    signal(SIGUSR1, SIG_DFL);
}

static void ended_by(int number)
{
    make_fifo();
    printf("signal %d: %s\n", number, end_by(start_opener(), number));
}

static void ignored(void)
{
    pid_t child;

    make_fifo();
    signal(SIGUSR1, SIG_IGN);
    child = start_opener();
    moment();
    kill(child, SIGUSR1);
    kill(child, SIGWINCH);
    moment();
    int end = open_other_end();
    printf("ignored: %s\n", wait_for(child, 0));
    close(end);
    signal(SIGUSR1, SIG_DFL);
}

/* --- stopping --------------------------------------------------------------------------------- */

static void stopped_by(int number)
{
    pid_t child;

    make_fifo();
    child = fork();
    if (child == 0) {
        setpgid(0, 0);
        open_fifo();
    }
    moment();
    kill(child, number);
    printf("stop %d: %s", number, wait_for(child, WUNTRACED));
    kill(child, SIGCONT);
    printf(", %s", wait_for(child, WCONTINUED));
    int end = open_other_end();
    printf(", %s\n", wait_for(child, 0));
    close(end);
}

/* --- sockets ---------------------------------------------------------------------------------- */

static struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};

static long connect_raw(int flags)
{
    long fd = RAW(SYS_socket, AF_UNIX, SOCK_STREAM | flags, 0);
    long result = RAW(SYS_connect, fd, &address, sizeof address);

    RAW(SYS_close, fd);
    return result;
}

static void connecting(void)
{
    enum { WAITING = 6 };
    pid_t children[WAITING];
    int server = socket(AF_UNIX, SOCK_STREAM, 0);
    int ended = 0;
    long full = 0;

    unlink("socket");
    if (bind(server, (struct sockaddr *)&address, sizeof address) < 0 || listen(server, 1) < 0) {
        printf("connecting: no server: %s\n", strerror(errno));
        return;
    }
    for (int i = 0; i < 10 && full == 0; i++)
        full = connect_raw(SOCK_NONBLOCK);
    printf("connecting: %s", full < 0 ? strerror((int)-full) : "never full");
    for (int i = 0; i < WAITING; i++) {
        children[i] = fork();
        if (children[i] == 0)
            _exit(connect_raw(0) == 0 ? 0 : 1);
    }
    moment();
    for (int i = 0; i < 100; i++)
        close((int)open_raw(".", O_RDONLY | O_DIRECTORY));
    kill(children[0], SIGKILL);
    printf(", %s", wait_for(children[0], 0));
    fcntl(server, F_SETFL, O_NONBLOCK);
    while (ended < WAITING - 1) {
        int status;
        int fd = accept(server, NULL, NULL);
        if (fd >= 0)
            close(fd);
        else if (waitpid(-1, &status, WNOHANG) > 0)
            ended += WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 1 : 100;
    }
    printf(", %d connected\n", ended);
    close(server);
}

/* --- threads and exec ------------------------------------------------------------------------- */

enum { THREADS = 32, OPENS = 200 };

static void *open_many(void *failed)
{
    for (int i = 0; i < OPENS; i++) {
        char name[32];
        long fd;
        snprintf(name, sizeof name, "many.%ld", (long)RAW(SYS_gettid));
        fd = open_raw(name, O_RDWR | O_CREAT);
        *(int *)failed += fd < 0 || RAW(SYS_close, fd) < 0 ||
                          RAW(SYS_unlinkat, AT_FDCWD, name, 0) < 0 ||
                          open_raw(name, O_RDONLY) != -ENOENT;
    }
    return NULL;
}

static void threads(void)
{
    pthread_t thread[THREADS];
    int failed[THREADS] = {0};
    int sum = 0;

    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, open_many, &failed[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        sum += failed[i];
    }
    printf("threads: %d failed\n", sum);
}

static char *const exit_argv[] = {(char[]){"waits"}, (char[]){"exit"}, NULL};
static char *const no_environment[] = {NULL};

static void *exec_self(void *unused)
{
    (void)unused;
    RAW(SYS_execve, "/proc/self/exe", exit_argv, no_environment);
    _exit(1);
}

/* While others of the process open, or wait for a FIFO. */
static void exec_in_thread(void)
{
    pid_t child;

    make_fifo();
    child = fork();
    if (child == 0) {
        pthread_t thread;
        int failed = 0;
        long result;
        for (int i = 0; i < 8; i++)
            pthread_create(&thread, NULL, open_many, &failed);
        pthread_create(&thread, NULL, open_in_thread, &result);
        moment();
        pthread_create(&thread, NULL, exec_self, NULL);
        for (;;)
            pause();
    }
    printf("exec in a thread: %s\n", wait_for(child, 0));
}

static void by_vfork(void)
{
    pid_t child = vfork();

    if (child == 0) {
        if (open_raw(".", O_RDONLY) < 0)
            _exit(1);
        RAW(SYS_execve, "/proc/self/exe", exit_argv, no_environment);
        _exit(1);
    }
    printf("vfork: %s\n", wait_for(child, 0));
}

/* --- for good --------------------------------------------------------------------------------- */

static int hold(int number)
{
    pid_t *children = calloc((size_t)number, sizeof *children);
    char line[16];

    if (children == NULL)
        return 2;
    make_fifo();
    if (fgets(line, sizeof line, stdin) == NULL)
        return 2;
    for (int i = 0; i < number; i++)
        children[i] = start_opener();
    moment();
    for (int i = 0; i < 100; i++)
        close((int)open_raw(".", O_RDONLY));
    puts("held");
    fflush(stdout);
    if (fgets(line, sizeof line, stdin) == NULL)
        return 2;
    for (int i = 0; i < number; i++)
        kill(children[i], SIGKILL);
    for (int i = 0; i < number; i++)
        waitpid(children[i], NULL, 0);
    puts("freed");
    fflush(stdout);
    if (fgets(line, sizeof line, stdin) == NULL)
        return 2;
    free(children);
    return 7;
}

int main(int argc, char **argv)
{
    const struct rlimit none = {0, 0};

    if (argc == 2 && strcmp(argv[1], "exit") == 0)
        return 5;
    if (argc == 3 && strcmp(argv[1], "hold") == 0)
        return hold((int)strtol(argv[2], NULL, 10));
    setrlimit(RLIMIT_CORE, &none);
    setvbuf(stdout, NULL, _IONBF, 0); /* else what is forked says it again */
    others();
    restarted();
    interrupted();
    by_alarm();
    handled_once();
    in_thread(0, "a thread interrupted");
    in_thread(SA_RESTART, "a thread restarted");
    ended_by(SIGTERM);
    ended_by(SIGQUIT);
    ended_by(SIGKILL);
    ignored();
    stopped_by(SIGSTOP);
    stopped_by(SIGTSTP);
    connecting();
    threads();
    exec_in_thread();
    by_vfork();
    return 0;
}
