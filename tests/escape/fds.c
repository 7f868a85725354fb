/* SPDX-License-Identifier: MIT */
/*
 * Descriptors that lead outside: inherited (the harness leaves some open: the directory, a file to
 * read, a file to write, a socket with a message that carries one), received, remembered; and a
 * working directory that is not where it was.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "attack.h"
#include "layer.h"

static int number(const char *name)
{
    return (int)fact_number(name);
}

static int fd_directory(void)
{
    return spill(do_openat(number("fd_dir"), "secret", O_RDONLY, 0));
}

static int fd_directory_create(void)
{
    return scribble(do_openat(number("fd_dir"), "new", O_WRONLY | O_CREAT, 0644));
}

static int fd_directory_unlink(void)
{
    return (int)do_unlinkat(number("fd_dir"), "victim", 0);
}

static int fd_directory_dotdot(void)
{
    return spill(do_openat(number("fd_dir"), "../other/secret", O_RDONLY, 0));
}

static int fd_directory_magic(void)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d/secret", number("fd_dir"));
    return spill(do_open(path, O_RDONLY, 0));
}

static int fd_fchdir(void)
{
    long error = do_fchdir(number("fd_dir"));

    return error < 0 ? (int)error : spill(do_open("secret", O_RDONLY, 0));
}

static int fd_stdin(void)
{
    return spill(do_openat(0, "secret", O_RDONLY, 0));
}

static int fd_stdin_create(void)
{
    return scribble(do_openat(0, "new", O_WRONLY | O_CREAT, 0644));
}

static int fd_read(void)
{
    char text[128];

    return spill_text(text, sys(SYS_pread64, number("fd_read"), text, sizeof text, 0));
}

static int fd_read_magic(void)
{
    char path[64];

    snprintf(path, sizeof path, "/dev/fd/%d", number("fd_read"));
    return spill(do_open(path, O_RDONLY, 0));
}

static int fd_write(void)
{
    long error = sys(SYS_write, number("fd_write"), "scribble", 8);

    return error < 0 ? (int)error : 0;
}

static int fd_truncate(void)
{
    return (int)sys(SYS_ftruncate, number("fd_write"), 0);
}

static int fd_chmod(void)
{
    return (int)sys(SYS_fchmod, number("fd_read"), 0777);
}

/* Whatever is left open. */
static int fd_any(void)
{
    for (int fd = 3; fd < 1024; fd++)
        if (sys(SYS_fcntl, fd, F_GETFD) >= 0)
            return 0;
    return -EBADF;
}

/* A message waits in an inherited socket, and in it a descriptor. */
static int fd_received(void)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    char byte;
    struct iovec part = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    long length = sys(SYS_recvmsg, number("fd_socket"), &message, MSG_DONTWAIT);
    int fd;

    if (length < 0)
        return (int)length;
    if (CMSG_FIRSTHDR(&message) == NULL)
        return -ENOMSG;
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    return spill(do_openat(fd, "secret", O_RDONLY, 0));
}

static int environment_secret(void)
{
    const char *text = getenv("DEPLOY_TOKEN");

    return text == NULL ? -ENOENT : spill_text(text, (long)strlen(text));
}

/* --- where we are ----------------------------------------------------------------------------- */

static int cwd_deleted(void)
{
    long error = do_mkdir("gone");

    if (error == 0)
        error = do_chdir("gone");
    if (error == 0)
        error = do_rmdir("../gone");
    return error < 0 ? (int)error : spill(do_open("../../out/secret", O_RDONLY, 0));
}

static int chdir_outside(void)
{
    long error = do_chdir(fact("out"));

    return error < 0 ? (int)error : spill(do_open("secret", O_RDONLY, 0));
}

static int chdir_up(void)
{
    long error = do_chdir("..");

    return error < 0 ? (int)error : spill(do_open("out/secret", O_RDONLY, 0));
}

/* Has the harness move the directory: it looks for ws/ready, and makes ws/went when it is done. */
static int wait_for_mover(void)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    struct stat st;
    int error = scribble(do_open(in("ws", "ready"), O_WRONLY | O_CREAT, 0644));

    for (int i = 0; error == 0 && i < 1000; i++) {
        if (do_stat(in("ws", "went"), &st) == 0)
            return 0;
        nanosleep(&pause, NULL);
    }
    return error == 0 ? cannot("nobody moves the directory") : error;
}

static int cwd_moved(void)
{
    int error = (int)do_chdir("moved");

    if (error == 0)
        error = wait_for_mover();
    return error < 0 ? error : spill(do_open("../secret", O_RDONLY, 0));
}

static int cwd_moved_name(void)
{
    int error = (int)do_chdir("moved");

    if (error == 0)
        error = wait_for_mover();
    return error < 0 ? error : spill(do_open("secret", O_RDONLY, 0));
}

static int fd_moved(void)
{
    long dir = do_open("moved", O_RDONLY | O_DIRECTORY, 0);
    int error = dir < 0 ? (int)dir : wait_for_mover();

    return error < 0 ? error : spill(do_openat((int)dir, "../secret", O_RDONLY, 0));
}

static int fd_moved_name(void)
{
    long dir = do_open("moved", O_RDONLY | O_DIRECTORY, 0);
    int error = dir < 0 ? (int)dir : wait_for_mover();

    return error < 0 ? error : spill(do_openat((int)dir, "secret", O_RDONLY, 0));
}

/* A number that meant an inside directory means another one now. */
static int fd_renumbered(void)
{
    long inside = do_open("dir", O_RDONLY | O_DIRECTORY, 0);
    long outside = number("fd_dir");
    struct stat st;
    long error;

    if (inside < 0)
        return (int)inside;
    do_fstatat((int)inside, "secret", &st, 0);
    error = sys(SYS_dup3, outside, inside, 0);
    return error < 0 ? (int)error : spill(do_openat((int)inside, "secret", O_RDONLY, 0));
}

/* --- at an awkward moment --------------------------------------------------------------------- */

static atomic_bool over;
static int answer;

static void *wander(void *unused)
{
    while (!over) {
        do_chdir("dir/deeper");
        do_chdir(fact("ws"));
    }
    return unused;
}

/* From dir/deeper the path leads to nothing inside; from ws it leads outside. */
static int chdir_race(void)
{
    pthread_t thread;
    int error = -ENOENT;
    bool found = false;
    long fd;

    if (pthread_create(&thread, NULL, wander, NULL) != 0)
        return cannot("no thread");
    for (int i = 0; another_try(i, found); i++) {
        fd = do_open("../out/secret", O_RDONLY, 0);
        if (fd >= 0)
            found = spill(fd) == 0;
        else if (fd != -ENOENT)
            error = (int)fd;
    }
    over = true;
    pthread_join(thread, NULL);
    return error;
}

/* Runs with the memory of the process but a working directory of its own. */
static int go_inside(void *unused)
{
    (void)unused;
    do_chdir(fact("ws"));
    over = true;
    sys(SYS_exit, 0);
    return 0;
}

/* We stand above the workspace, somebody else of this process in it: in whose name do we open? */
static int thread_cwd(void)
{
    enum { ROOM = 65536 };
    char *stack = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    long error = do_chdir("..");

    if (error < 0)
        return (int)error;
    if (stack == MAP_FAILED ||
        clone(go_inside, stack + ROOM - 64, CLONE_VM | CLONE_THREAD | CLONE_SIGHAND, NULL) < 0)
        return cannot("no thread");
    while (!over)
        sched_yield();
    return spill(do_open("secret", O_RDONLY, 0));
}

static int vfork_cwd(void)
{
    pid_t pid = vfork(); // NOLINT: that is the point
    long error;

    if (pid == 0) {
        error = do_chdir(".."); // NOLINT(clang-analyzer-unix.Vfork)
        _exit((int)-(error < 0 ? error : spill(do_open("secret", O_RDONLY, 0))));
    }
    return pid < 0 ? -errno : reap(pid);
}

static void handler(int unused)
{
    (void)unused;
    answer = spill(do_open(in("out", "secret"), O_RDONLY, 0));
}

static int signal_handler(void)
{
    struct sigaction action = {.sa_handler = handler};

    sigaction(SIGUSR2, &action, NULL);
    raise(SIGUSR2);
    return answer;
}

#define DIRFDS                                                                                \
    "preload/where.c: what a directory descriptor is; descriptors.c: closes it; landlock.c: " \
    "READ_FILE"
#define CLOSES  "descriptors.c: closes what the policy does not allow"
#define CURRENT "preload/where.c: where the working directory is; landlock.c: READ_FILE"

/* A directory that is moved away by somebody outside while it is open: for a mount it stays what it
 * was, and the shim does not ask where the working directory is before each name in it. */
static const struct attack rows[] = {
    {"fd_directory", fd_directory, LEAK, ALL, 0, "EACCES EBADF", DIRFDS, NULL, BEFORE},
    {"fd_directory_create", fd_directory_create, CHANGE, ALL, 0, "EACCES EBADF", DIRFDS, NULL,
     BEFORE},
    {"fd_directory_unlink", fd_directory_unlink, CHANGE, ALL, 0, "EACCES EBADF", DIRFDS, NULL,
     BEFORE},
    {"fd_directory_dotdot", fd_directory_dotdot, LEAK, ALL, 0, "EACCES EBADF", DIRFDS, NULL,
     BEFORE},
    {"fd_directory_magic", fd_directory_magic, LEAK, ALL, 0, "EACCES ENOENT", DIRFDS, NULL, BEFORE},
    {"fd_fchdir", fd_fchdir, LEAK, ALL, 0, "EACCES EBADF", DIRFDS, NULL, BEFORE},
    {"fd_stdin", fd_stdin, LEAK, ALL, NEEDS_STDIN, "EACCES EBADF ENOTDIR", DIRFDS, NULL, BEFORE},
    {"fd_stdin_create", fd_stdin_create, CHANGE, ALL, NEEDS_STDIN, "EACCES EBADF ENOTDIR", DIRFDS,
     NULL, BEFORE},
    {"fd_read", fd_read, LEAK, RUN | WALL, 0, "EBADF", CLOSES, NULL, BEFORE},
    {"fd_read_magic", fd_read_magic, LEAK, ALL, 0, "EACCES ENOENT", CLOSES, NULL, BEFORE},
    {"fd_write", fd_write, CHANGE, RUN | WALL, 0, "EBADF", CLOSES, NULL, BEFORE},
    {"fd_truncate", fd_truncate, CHANGE, RUN | WALL, 0, "EBADF", CLOSES, NULL, BEFORE},
    {"fd_chmod", fd_chmod, CHANGE, RUN | WALL, 0, "EBADF", CLOSES, NULL, BEFORE},
    {"fd_any", fd_any, CLAIM, RUN | WALL, 0, "EBADF", CLOSES, NULL, BEFORE},
    {"fd_received", fd_received, LEAK, RUN | WALL, 0, "EBADF EACCES", DIRFDS, NULL, BEFORE},
    {"environment_secret", environment_secret, LEAK, RUN | WALL, 0, "ENOENT",
     "environment.c: what looks like a secret is left out", NULL, BEFORE},
    {"cwd_deleted", cwd_deleted, LEAK, ALL, 0, "EACCES ENOENT", CURRENT, NULL, "open out/secret"},
    {"chdir_outside", chdir_outside, LEAK, ALL, 0, NULL, CURRENT, NULL, "chdir out"},
    {"chdir_up", chdir_up, LEAK, ALL, 0, NULL, CURRENT, NULL, "open out/secret"},
    {"cwd_moved", cwd_moved, LEAK, ALL, NEEDS_MOVER, NULL, CURRENT, NULL, "open other/secret"},
    {"cwd_moved_name", cwd_moved_name, LEAK, LANDLOCK, NEEDS_MOVER, NULL, CURRENT, NULL,
     "raw open other/moved/secret"},
    {"fd_moved", fd_moved, LEAK, ALL, NEEDS_MOVER, NULL, DIRFDS, NULL, "open other/secret"},
    {"fd_moved_name", fd_moved_name, LEAK, SHIM | LANDLOCK, NEEDS_MOVER, NULL, DIRFDS, NULL,
     "open other/moved/secret"},
    {"fd_renumbered", fd_renumbered, LEAK, ALL, 0, "EACCES EBADF", DIRFDS, NULL, BEFORE},
    {"chdir_race", chdir_race, LEAK, ALL, 0, "EACCES ENOENT", CURRENT, NULL, RACE},
    {"thread_cwd", thread_cwd, LEAK, ALL, 0, NULL, CURRENT, NULL, "open secret"},
    {"vfork_cwd", vfork_cwd, LEAK, ALL, 0, NULL, CURRENT, NULL, "open secret"},
    {"signal_handler", signal_handler, LEAK, ALL, 0, NULL, "preload/open.c: in any context", NULL,
     "open out/secret"},
};
const struct attacks attacks_fds = ATTACKS(rows);
