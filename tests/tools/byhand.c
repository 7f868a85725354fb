/* SPDX-License-Identifier: MIT */
/*
 * byhand.c - a program for tests/tools/byhand.sh: reads a file in some way and says what came of
 * it, the first line or the name of the errno.
 *
 * usage: byhand WAY [WAY...] FILE      the last way reads, those before it start the rest as a
 * child
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *file;
static int outcome; /* of the last attempt: errno */

static int attempt(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    outcome = fd < 0 ? errno : 0; // NOLINT(bugprone-signal-handler,cert-sig30-c)
    if (fd >= 0)
        close(fd);
    return outcome;
}

static int say(int error)
{
    puts(error == 0 ? "ok" : strerrorname_np(error));
    return error == 0 ? 0 : 1;
}

static int finish(int status)
{
    fflush(stdout);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* --- ways to read ----------------------------------------------------------------------------- */

static int by_open(void)
{
    return say(attempt(file));
}

static void on_signal(int number)
{
    (void)number;
    attempt(file);
}

/* In a handler that interrupts the same call, over and over. */
static int by_handler(void)
{
    const struct itimerval often = {{0, 200}, {0, 200}};
    const struct itimerval never = {{0, 0}, {0, 0}};

    signal(SIGALRM, on_signal); // NOLINT: that is the point
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 20000; i++)
        attempt(file);
    setitimer(ITIMER_REAL, &never, NULL);
    raise(SIGALRM);
    return say(outcome);
}

static int on_small_stack(void *unused)
{
    (void)unused;
    attempt(file);
    return 0;
}

/* With 8 KiB of stack, and a page below it that must not be touched. */
static int by_small_stack(void)
{
    char *low = mmap(NULL, 4096 + 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int status;

    if (low == MAP_FAILED || mprotect(low, 4096, PROT_NONE) < 0)
        return 2;
    pid_t pid = clone(on_small_stack, low + 4096 + 8192, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return 2;
    return WIFEXITED(status) ? say(outcome) : say(EFAULT);
}

/* The child of vfork goes elsewhere, and reads from there; its parent stays where it was. */
static int by_vfork(void)
{
    static volatile int in_child;
    char own[] = "byhand-vfork-XXXXXX";
    int made = mkstemp(own);
    int status;
    pid_t pid = vfork(); // NOLINT: that is the point

    if (pid == 0) {
        in_child = chdir("/usr") < 0 ? errno : attempt("bin/env"); // NOLINT
        if (in_child == 0)
            in_child = attempt(own) == ENOENT ? 0 : EEXIST;
        _exit(0);
    }
    waitpid(pid, &status, 0);
    int parent = attempt(own);
    unlink(own);
    close(made);
    if (in_child != 0 || parent != 0)
        return say(in_child != 0 ? in_child : parent);
    return say(attempt(file));
}

static void *in_thread(void *failures)
{
    for (int i = 0; i < 2000; i++) {
        int fd = open("/usr/bin/env", O_RDONLY | O_CLOEXEC);
        if (fd < 0 || open(file, O_RDONLY) >= 0 || errno != EACCES)
            __atomic_add_fetch((int *)failures, 1, __ATOMIC_RELAXED);
        close(fd);
    }
    return NULL;
}

/* Many threads, while one changes the directory all the time. EACCES if each of them was refused.
 */
static int by_threads(void)
{
    pthread_t threads[8];
    int failures = 0;

    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, in_thread, &failures);
    for (int i = 0; i < 2000; i++)
        if (chdir("/usr/bin") < 0 || attempt("env") != 0 || chdir("/usr") < 0 ||
            attempt("env") != ENOENT)
            failures++;
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    return say(failures == 0 ? EACCES : 0);
}

static int by_close_all(void)
{
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    close_range(3, ~0U, 0);
    return say(attempt(file));
}

static int by_number(void)
{
    long fd = syscall(SYS_openat, AT_FDCWD, file, O_RDONLY, 0);

    return say(fd < 0 ? errno : 0);
}

/* Forks, so that the directory of the child is its own, and asks in both. */
static int by_fork(void)
{
    int status;
    pid_t pid = fork();

    if (pid == 0)
        _exit(chdir("/usr") == 0 && attempt("bin/env") == 0 ? 0 : 1);
    waitpid(pid, &status, 0);
    if (status != 0 || attempt("bin/env") != ENOENT)
        return say(EINVAL);
    return say(attempt(file));
}

/* --- ways to start a child -------------------------------------------------------------------- */

static char **rest; /* what the child is to be called with */

static int run_spawn(char *const envp[])
{
    pid_t pid;
    int status;
    int error = posix_spawn(&pid, rest[0], NULL, NULL, rest, envp);

    if (error != 0)
        return say(error);
    waitpid(pid, &status, 0);
    return finish(status);
}

static int by_spawn(void)
{
    return run_spawn(environ);
}

static int by_spawnp(void)
{
    pid_t pid;
    int status;
    int error = posix_spawnp(&pid, rest[0], NULL, NULL, rest, environ);

    if (error != 0)
        return say(error);
    waitpid(pid, &status, 0);
    return finish(status);
}

static int by_empty(void)
{
    char *nothing[] = {NULL};

    return run_spawn(nothing);
}

static int by_execve(void)
{
    execve(rest[0], rest, environ);
    return say(errno);
}

static int by_execve_null(void)
{
    char **volatile nothing = NULL;

    execve(rest[0], rest, nothing);
    return say(errno);
}

static int by_execvp(void)
{
    execvp(rest[0], rest);
    return say(errno);
}

static int by_execl(void)
{
    execl(rest[0], rest[0], rest[1], rest[2], rest[2] == NULL ? NULL : rest[3], (char *)NULL);
    return say(errno);
}

static int by_fexecve(void)
{
    fexecve(open(rest[0], O_RDONLY | O_CLOEXEC), rest, environ);
    return say(errno);
}

static int by_syscall(void)
{
    syscall(SYS_execve, rest[0], rest, environ);
    return say(errno);
}

static int by_vfork_exec(void)
{
    int status;

    for (int i = 0; i < 200; i++) { /* what the child maps must not pile up here */
        pid_t pid = vfork();        // NOLINT: that is the point
        if (pid == 0) {
            execl("/bin/true", "true", (char *)NULL);
            _exit(127);
        }
        waitpid(pid, &status, 0);
    }
    char line[256];
    int maps = 0;
    FILE *list = fopen("/proc/self/maps", "r");
    while (list != NULL && fgets(line, sizeof line, list) != NULL)
        maps++;
    fclose(list);
    return maps > 150 ? say(ENOMEM) : by_execve();
}

static void command_line(char *line, size_t size)
{
    line[0] = '\0';
    for (char **word = rest; *word != NULL; word++)
        snprintf(line + strlen(line), size - strlen(line), "'%s' ", *word);
}

static int by_system(void)
{
    char line[4096];

    command_line(line, sizeof line);
    return finish(system(line)); // NOLINT(cert-env33-c)
}

static int by_popen(void)
{
    char line[4096];
    FILE *stream;

    command_line(line, sizeof line);
    stream = popen(line, "r"); // NOLINT(cert-env33-c)
    while (stream != NULL && fgets(line, sizeof line, stream) != NULL)
        fputs(line, stdout);
    return finish(pclose(stream));
}

static int by_setenv(void)
{
    setenv("CORDON_ROOT", "/", 1);
    setenv("CORDON_BACKEND", "native", 1);
    setenv("CORDON_WRITE", "/", 1);
    return run_spawn(environ);
}

static int by_unsetenv(void)
{
    unsetenv("LD_PRELOAD");
    return run_spawn(environ);
}

static int by_forgery(void)
{
    setenv("CORDON_IMAGE", "AAAA", 1);
    setenv("LD_PRELOAD", "", 1);
    return run_spawn(environ);
}

static const struct way {
    const char *name;
    int (*go)(void);
    int starts; /* a child that does the rest */
} ways[] = {
    {"open", by_open, 0},
    {"handler", by_handler, 0},
    {"small-stack", by_small_stack, 0},
    {"vfork", by_vfork, 0},
    {"fork", by_fork, 0},
    {"threads", by_threads, 0},
    {"close-all", by_close_all, 0},
    {"number", by_number, 0},
    {"spawn", by_spawn, 1},
    {"spawnp", by_spawnp, 1},
    {"empty", by_empty, 1},
    {"execve", by_execve, 1},
    {"execve-null", by_execve_null, 1},
    {"execvp", by_execvp, 1},
    {"execl", by_execl, 1},
    {"fexecve", by_fexecve, 1},
    {"syscall", by_syscall, 1},
    {"vfork-exec", by_vfork_exec, 1},
    {"system", by_system, 1},
    {"popen", by_popen, 1},
    {"setenv", by_setenv, 1},
    {"unsetenv", by_unsetenv, 1},
    {"forgery", by_forgery, 1},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 2 && i < sizeof ways / sizeof *ways; i++) {
        if (strcmp(argv[1], ways[i].name) != 0)
            continue;
        file = argv[argc - 1];
        rest = argv + 1; /* the child is this program again, with one way less */
        rest[0] = argv[0];
        if (ways[i].starts && argc < 4)
            return 2;
        return ways[i].go();
    }
    fprintf(stderr, "usage: byhand WAY... FILE\n");
    return 2;
}
