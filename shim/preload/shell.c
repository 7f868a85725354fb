/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hooks.h"
#include "next.h"

/* libc's own system and popen start the shell from inside, with the environment that the program
 * sees. So they are done here, with what posix_spawn can do. */

static int start_shell(pid_t *pid, const char *command, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes)
{
    static char name[] = "sh";
    static char option[] = "-c";
    char *argv[] = {name, option, (char *)command, NULL};

    return (int)spawn(pid, "/bin/sh", actions, attributes, argv, environ);
}

static int wait_for(pid_t pid)
{
    int status;
    pid_t got;

    do
        got = waitpid(pid, &status, 0);
    while (got < 0 && errno == EINTR);
    return got == pid ? status : -errno;
}

/* --- system ----------------------------------------------------------------------------------- */

/* While any thread is in system, the process ignores what the terminal sends to the command. */
static pthread_mutex_t calm_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned calm_users;
static struct sigaction calm_interrupt;
static struct sigaction calm_quit;

static void calm_begin(void)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};

    pthread_mutex_lock(&calm_lock);
    if (calm_users++ == 0) {
        sigaction(SIGINT, &ignore, &calm_interrupt);
        sigaction(SIGQUIT, &ignore, &calm_quit);
    }
    pthread_mutex_unlock(&calm_lock);
}

static void calm_end(void)
{
    pthread_mutex_lock(&calm_lock);
    if (--calm_users == 0) {
        sigaction(SIGINT, &calm_interrupt, NULL);
        sigaction(SIGQUIT, &calm_quit, NULL);
    }
    pthread_mutex_unlock(&calm_lock);
}

static int run_calmly(const char *command, const sigset_t *mask)
{
    posix_spawnattr_t attributes;
    sigset_t defaults;
    pid_t pid;
    int error;

    sigemptyset(&defaults);
    if (calm_interrupt.sa_handler != SIG_IGN)
        sigaddset(&defaults, SIGINT);
    if (calm_quit.sa_handler != SIG_IGN)
        sigaddset(&defaults, SIGQUIT);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, mask);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    error = start_shell(&pid, command, NULL, &attributes);
    posix_spawnattr_destroy(&attributes);
    return error != 0 ? 127 << 8 : wait_for(pid); /* as if the shell had not been found */
}

long shell_system(const char *command)
{
    sigset_t child;
    sigset_t mask;
    int state;
    int status;

    if (command == NULL)
        return shell_system("exit 0") == 0;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    calm_begin();
    pthread_sigmask(SIG_BLOCK, &child, &mask);
    status = run_calmly(command, &mask);
    calm_end();
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    pthread_setcancelstate(state, NULL);
    return status;
}

/* --- popen ------------------------------------------------------------------------------------ */

struct pipe_stream {
    struct pipe_stream *next;
    FILE *stream;
    pid_t pid;
};

static pthread_mutex_t streams_lock = PTHREAD_MUTEX_INITIALIZER;
static struct pipe_stream *_Atomic streams;

/* What to do with the pipe: 'r' or 'w', and whether the stream is closed by exec. -EINVAL */
static int read_mode(const char *mode, bool *reads, bool *closes)
{
    bool writes = strchr(mode, 'w') != NULL;

    *reads = strchr(mode, 'r') != NULL;
    *closes = strchr(mode, 'e') != NULL;
    return *reads != writes && mode[strspn(mode, "rwe")] == '\0' ? 0 : -EINVAL;
}

/* The child gets its end of the pipe, and none of those that other streams have. */
static int add_actions(posix_spawn_file_actions_t *actions, int end, int target)
{
    int error = 0;

    for (struct pipe_stream *other = streams; other != NULL && error == 0; other = other->next)
        if (fileno(other->stream) != target)
            error = posix_spawn_file_actions_addclose(actions, fileno(other->stream));
    return error != 0 ? error : posix_spawn_file_actions_adddup2(actions, end, target);
}

static int start_piped(struct pipe_stream *new, const char *command, int end, int target)
{
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);

    if (error == 0)
        error = add_actions(&actions, end, target);
    if (error == 0)
        error = start_shell(&new->pid, command, &actions, NULL);
    spawn_destroy(&actions);
    return -error;
}

static int open_stream(struct pipe_stream *new, const char *command, bool reads, bool closes)
{
    int fds[2];
    int error;

    if (pipe2(fds, O_CLOEXEC) < 0)
        return -errno;
    int own = reads ? fds[0] : fds[1];
    int end = reads ? fds[1] : fds[0];
    error = start_piped(new, command, end, reads ? STDOUT_FILENO : STDIN_FILENO);
    close(end);
    if (error == 0) {
        new->stream = fdopen(own, reads ? "r" : "w");
        error = new->stream == NULL ? -errno : 0;
    }
    if (error < 0)
        close(own);
    else if (!closes)
        fcntl(own, F_SETFD, 0);
    return error;
}

long shell_open(const char *command, const char *mode)
{
    struct pipe_stream *new;
    bool reads;
    bool closes;
    int error = read_mode(mode, &reads, &closes);

    if (error < 0)
        return error;
    new = calloc(1, sizeof *new);
    if (new == NULL)
        return -ENOMEM;
    pthread_mutex_lock(&streams_lock);
    error = open_stream(new, command, reads, closes);
    if (error == 0) {
        new->next = streams;
        streams = new;
    }
    pthread_mutex_unlock(&streams_lock);
    if (error == 0)
        return (long)new->stream;
    free(new);
    return error;
}

/* Takes the stream off the list; the process that it leads to, or -1. */
static pid_t forget(const FILE *stream)
{
    struct pipe_stream *before = NULL;
    struct pipe_stream *found;
    pid_t pid = -1;

    pthread_mutex_lock(&streams_lock);
    for (found = streams; found != NULL && found->stream != stream; found = found->next)
        before = found;
    if (found != NULL) {
        pid = found->pid;
        if (before != NULL)
            before->next = found->next;
        else
            streams = found->next;
    }
    pthread_mutex_unlock(&streams_lock);
    free(found);
    return pid;
}

static long close_and_wait(FILE *stream, pid_t pid)
{
    NEXT(fclose)(stream);
    return wait_for(pid);
}

long shell_close(FILE *stream)
{
    pid_t pid = forget(stream);
    int status;

    if (pid >= 0)
        return close_and_wait(stream, pid);
    status = NEXT(pclose)(stream);
    return status == -1 ? -errno : status;
}

/* fclose(3) of such a stream waits, too. */
long shell_close_any(FILE *stream)
{
    pid_t pid = streams == NULL ? -1 : forget(stream);

    if (pid >= 0)
        return close_and_wait(stream, pid);
    return NEXT(fclose)(stream) == 0 ? 0 : -errno;
}
