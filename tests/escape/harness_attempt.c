/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"

const char *const mode_names[MODES] = {"bare",
                                       "landlock",
                                       "bwrap",
                                       "landlock --no-supervise",
                                       "native",
                                       "landlock --net open",
                                       "bwrap --net open",
                                       "landlock by hand",
                                       "native by hand"};
const char *const setting_names[SETTINGS] = {"", " without namespaces", " inside cordon",
                                             " inside bwrap"};

/* The numbers under which an attempt inherits what it should not have. */
enum { FD_DIRECTORY = 9, FD_READ = 8, FD_WRITE = 7, FD_SOCKET = 6, FD_HIGH = 100 };
enum { LIMIT_SECONDS = 30, WORDS = 96, WORD_ROOM = 8192 };

/* A list of words, for argv and envp. */
struct words {
    char *at[WORDS];
    size_t count;
};

static void add(struct words *words, const char *name, const char *value)
{
    char *text;

    if (words->count == WORDS - 1 || asprintf(&text, "%s%s", name, value) < 0)
        die("words");
    words->at[words->count++] = text;
}

static void add_number(struct words *words, const char *name, long value)
{
    char text[32];

    snprintf(text, sizeof text, "%ld", value);
    add(words, name, text);
}

static bool needs(const struct attempt *attempt, unsigned what)
{
    return attempt->attack != NULL && (attempt->attack->needs & what) != 0;
}

/* --- the command line ------------------------------------------------------------------------- */

static const char *cordon_of(const struct attempt *attempt)
{
    return needs(attempt, NEEDS_OWN) ? "ws/tool/cordon" : "bin/cordon";
}

static const char *shim_of(const struct attempt *attempt)
{
    return needs(attempt, NEEDS_OWN) ? "ws/tool/libcordon-shim.so" : "bin/libcordon-shim.so";
}

static void add_setting(const struct attempt *attempt, const struct stage *stage,
                        struct words *argv)
{
    static const char *const bwrap[] = {"bwrap", "--bind", "/",      "/",     "--dev-bind",
                                        "/dev",  "/dev",   "--proc", "/proc", "--"};

    if (attempt->setting == SETTING_IN_CORDON) {
        add(argv, stage_path(stage, "bin/cordon"), "");
        for (const char *const *word =
                 (const char *const[]){"run", "-b", "landlock", "--any-root", "-C", NULL};
             *word != NULL; word++)
            add(argv, *word, "");
        add(argv, stage->top, "");
        add(argv, "--", "");
    }
    for (size_t i = 0; attempt->setting == SETTING_IN_BWRAP && i < sizeof bwrap / sizeof *bwrap;
         i++)
        add(argv, bwrap[i], "");
}

bool attempt_is_supervised(const struct attempt *attempt)
{
    /* A process can have one only. */
    if (attempt->setting == SETTING_IN_CORDON)
        return false;
    return attempt->mode == MODE_LANDLOCK || attempt->mode == MODE_BWRAP ||
           attempt->mode == MODE_LANDLOCK_OPEN || attempt->mode == MODE_BWRAP_OPEN;
}

static void add_cordon(const struct attempt *attempt, const struct stage *stage, struct words *argv)
{
    static const char *const backends[MODES] = {
        [MODE_LANDLOCK] = "landlock",      [MODE_BWRAP] = "bwrap",
        [MODE_UNSUPERVISED] = "landlock",  [MODE_NATIVE_RUN] = "native",
        [MODE_LANDLOCK_OPEN] = "landlock", [MODE_BWRAP_OPEN] = "bwrap"};

    if (backends[attempt->mode] == NULL)
        return;
    add(argv, stage_path(stage, cordon_of(attempt)), "");
    add(argv, "run", "");
    add(argv, "-q", "");
    add(argv, "-C", "");
    add(argv, stage_path(stage, "ws"), "");
    add(argv, "-b", "");
    add(argv, backends[attempt->mode], "");
    add(argv, "-d", "");
    add(argv, "denied", "");
    if (attempt->mode == MODE_UNSUPERVISED)
        add(argv, "--no-supervise", "");
    if (attempt_is_supervised(attempt)) {
        add(argv, "--log", "");
        add(argv, stage_path(stage, "log"), "");
    }
    if (attempt->mode == MODE_LANDLOCK_OPEN || attempt->mode == MODE_BWRAP_OPEN)
        add(argv, "--net=open", "");
    add(argv, "--", "");
}

static void add_facts(const struct attempt *attempt, const struct stage *stage,
                      const struct outside *outside, const char *handle, struct words *argv)
{
    add(argv, "top=", stage->top);
    add(argv, "ws=", stage_path(stage, "ws"));
    add(argv, "out=", stage_path(stage, "out"));
    add(argv, "shim=", stage_path(stage, shim_of(attempt)));
    add(argv, "cordon=", stage_path(stage, cordon_of(attempt)));
    add(argv, "abstract=", outside->abstract);
    add(argv, "abstract_dgram=", outside->abstract_dgram);
    add(argv, "address=", outside->page + 256);
    add(argv, "log=", stage_path(stage, "log"));
    add(argv, "terminal=", outside->other_name);
    add(argv, "queue=", outside->queue);
    add(argv, "handle=", handle);
    add_number(argv, "victim=", outside->victim);
    add_number(argv, "victim_fd=", 5);
    add_number(argv, "tcp=", outside->tcp);
    add_number(argv, "tcp6=", outside->tcp6);
    add_number(argv, "udp=", outside->udp);
    add_number(argv, "memory=", outside->memory);
    add_number(argv, "key=", outside->key);
    add_number(argv, "fd_dir=", FD_DIRECTORY);
    add_number(argv, "fd_read=", FD_READ);
    add_number(argv, "fd_write=", FD_WRITE);
    add_number(argv, "fd_socket=", FD_SOCKET);
    add_number(argv, "bare=", attempt->mode == MODE_BARE);
}

/* What open_by_handle_at would need, for whoever has got hold of it. */
static void handle_text(const struct stage *stage, char *text, size_t size)
{
    union {
        struct file_handle head;
        char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
    } handle = {.head.handle_bytes = MAX_HANDLE_SZ};
    int mount_id;
    int length;

    text[0] = '\0';
    if (name_to_handle_at(AT_FDCWD, stage_path(stage, "out/secret"), &handle.head, &mount_id, 0) <
        0)
        return;
    length = snprintf(text, size, "%d:%u:", handle.head.handle_type, handle.head.handle_bytes);
    for (unsigned i = 0; i < handle.head.handle_bytes; i++)
        length += snprintf(text + length, size - (size_t)length, "%02x", handle.head.f_handle[i]);
}

/* --- the child -------------------------------------------------------------------------------- */

/* What distributions and container engines do to user namespaces. */
static void forbid_namespaces(void)
{
    enum { NEW_USER_BIT = 0x10000000 };
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 5, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NEW_USER_BIT, 0, 2),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        die("seccomp");
}

static void place_at(int number, int fd)
{
    if (fd < 0 || dup2(fd, number) < 0)
        die("descriptor");
}

/* A message that waits, with the directory outside in it. */
static int loaded_socket(int directory)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
                            .cmsg_level = SOL_SOCKET,
                            .cmsg_type = SCM_RIGHTS}};
    char byte = 'x';
    struct iovec part = {.iov_base = &byte, .iov_len = 1};
    const struct msghdr message = {.msg_iov = &part,
                                   .msg_iovlen = 1,
                                   .msg_control = &control,
                                   .msg_controllen = sizeof control};
    int pair[2];

    memcpy(CMSG_DATA(&control.header), &directory, sizeof directory);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 ||
        sendmsg(pair[0], &message, 0) < 0)
        die("socketpair");
    return pair[1];
}

static void set_descriptors(const struct attempt *attempt, const struct stage *stage, int output)
{
    int high = fcntl(output, F_DUPFD_CLOEXEC, FD_HIGH);
    int directory = open(stage_path(stage, "out"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    directory = fcntl(directory, F_DUPFD_CLOEXEC, FD_HIGH);
    place_at(1, high);
    place_at(2, high);
    place_at(0, needs(attempt, NEEDS_STDIN) ? directory : open("/dev/null", O_RDWR | O_CLOEXEC));
    place_at(FD_SOCKET, fcntl(loaded_socket(directory), F_DUPFD_CLOEXEC, FD_HIGH));
    place_at(FD_WRITE, fcntl(open(stage_path(stage, "out/victim"), O_RDWR | O_CLOEXEC),
                             F_DUPFD_CLOEXEC, FD_HIGH));
    place_at(FD_READ, fcntl(open(stage_path(stage, "out/secret"), O_RDONLY | O_CLOEXEC),
                            F_DUPFD_CLOEXEC, FD_HIGH));
    place_at(FD_DIRECTORY, directory);
    close_range(3, FD_SOCKET - 1, 0);
    close_range(FD_DIRECTORY + 1, ~0U, 0);
}

static void set_surroundings(const struct attempt *attempt, const struct stage *stage,
                             const struct outside *outside)
{
    if (needs(attempt, NEEDS_GROUP)) {
        if (setpgid(0, outside->victim) < 0)
            die("setpgid");
    } else if (setsid() < 0) {
        die("setsid");
    }
    if (needs(attempt, NEEDS_TTY) && ioctl(outside->terminal, TIOCSCTTY, 0) < 0)
        die("TIOCSCTTY");
    if (needs(attempt, NEEDS_MOUNTS) &&
        (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0))
        die("mount namespace");
    if (attempt->setting == SETTING_NO_NAMESPACES)
        forbid_namespaces();
    if (chdir(stage_path(stage, "ws")) < 0)
        die("ws");
}

static void set_environment(const struct attempt *attempt, const struct stage *stage,
                            struct words *envp)
{
    add(envp, "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "");
    add(envp, "LANG=C", "");
    add(envp, "HOME=", stage_path(stage, "home"));
    add(envp, "DEPLOY_TOKEN=", stage->secret);
    if (attempt->mode != MODE_HAND_LANDLOCK && attempt->mode != MODE_HAND_NATIVE)
        return;
    add(envp, "LD_PRELOAD=", stage_path(stage, shim_of(attempt)));
    add(envp, "CORDON_ROOT=", stage_path(stage, "ws"));
    add(envp, "CORDON_DENY=denied", "");
    add(envp, "CORDON_BACKEND=", attempt->mode == MODE_HAND_NATIVE ? "native" : "landlock");
}

_Noreturn static void become_attempt(const struct attempt *attempt, const struct stage *stage,
                                     const struct outside *outside, int output)
{
    struct words argv = {.count = 0};
    struct words envp = {.count = 0};
    char handle[512];

    handle_text(stage, handle, sizeof handle);
    set_environment(attempt, stage, &envp);
    add_setting(attempt, stage, &argv);
    add_cordon(attempt, stage, &argv);
    add(&argv, stage_path(stage, attempt->is_static ? "ws/attack-static" : "ws/attack"), "");
    add(&argv, attempt->name, "");
    add_facts(attempt, stage, outside, handle, &argv);
    set_surroundings(attempt, stage, outside);
    set_descriptors(attempt, stage, output);
    execvpe(argv.at[0], argv.at, envp.at);
    dprintf(1, "%s: %s\n", argv.at[0], strerror(errno));
    _exit(127);
}

/* --- watching it ------------------------------------------------------------------------------ */

/* Moves the directory away from under the attempt when it says that it is in it. */
static void move(const struct stage *stage)
{
    char path[2 * PATH_ROOM];
    int fd;

    if (access(stage_path(stage, "ws/ready"), F_OK) < 0)
        return;
    if (rename(stage_path(stage, "ws/moved"), stage_path(stage, "other/moved")) < 0)
        return; /* it has been moved */
    snprintf(path, sizeof path, "%s/other/moved/secret", stage->top);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, stage->secret, SECRET_LENGTH) != SECRET_LENGTH)
        die(path);
    close(fd);
    close(open(stage_path(stage, "ws/went"), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
}

static long now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Reads until nobody can write any more, or the time is up: then all of the session is ended. */
static bool collect(int fd, pid_t pid, const struct stage *mover, char *text, size_t size,
                    size_t *total)
{
    long end = now_ms() + 1000L * LIMIT_SECONDS;
    struct pollfd poller = {.fd = fd, .events = POLLIN};
    size_t length = 0;
    ssize_t got = 1;

    while (got > 0 && now_ms() < end) {
        int ready = poll(&poller, 1, mover != NULL ? 2 : 200);
        if (mover != NULL)
            move(mover);
        if (ready <= 0)
            continue;
        got = read(fd, text + length, size - 1 - length);
        if (got > 0)
            length += (size_t)got;
        if (length >= size - 1)
            length = 0; /* it is all noise: the end counts */
    }
    text[length] = '\0';
    *total = length;
    if (got > 0)
        kill(pid, SIGKILL);
    return got > 0;
}

static pid_t start(const struct attempt *attempt, const struct stage *stage,
                   const struct outside *outside, int *output)
{
    int ends[2];
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) < 0)
        die("pipe");
    pid = fork();
    if (pid < 0)
        die("fork");
    if (pid == 0)
        become_attempt(attempt, stage, outside, ends[1]);
    close(ends[1]);
    *output = ends[0];
    return pid;
}

/* The last line that an attack printed. */
static void find_word(struct outcome *outcome)
{
    static const char *const words[] = {"WON", "LOST ", "CANNOT "};
    const char *line = outcome->output;

    outcome->word[0] = '\0';
    while (line != NULL && *line != '\0') {
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (strncmp(line, words[i], strlen(words[i])) == 0)
                snprintf(outcome->word, sizeof outcome->word, "%.*s", (int)strcspn(line, "\n"),
                         line);
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
    outcome->won = strcmp(outcome->word, "WON") == 0;
}

/* Names the first line that is not in the other digest. */
static void compare(const char *before, const char *after, char *change, size_t size)
{
    change[0] = '\0';
    while (*before != '\0' || *after != '\0') {
        size_t old_length = strcspn(before, "\n");
        size_t new_length = strcspn(after, "\n");
        if (old_length != new_length || memcmp(before, after, old_length) != 0) {
            snprintf(change, size, "[%.*s] became [%.*s]",
                     (int)(old_length < 230 ? old_length : 230), before,
                     (int)(new_length < 230 ? new_length : 230), after);
            return;
        }
        before += old_length + (before[old_length] == '\n');
        after += new_length + (after[new_length] == '\n');
    }
}

/* A signal takes its time, and it must not be missed in either case. */
static long patience(const struct attempt *attempt)
{
    if (attempt->attack == NULL || attempt->attack->aim != REACH)
        return 0;
    return attempt->mode == MODE_BARE ? 2000 : 20;
}

static void start_log(const struct stage *stage)
{
    const char *line = record_first_line();
    int fd;

    unlink(stage_path(stage, "log"));
    fd = open(stage_path(stage, "log"), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, line, strlen(line)) != (ssize_t)strlen(line))
        die("log");
    close(fd);
}

static void read_log(const struct attempt *attempt, const struct stage *stage,
                     const struct outside *outside, struct outcome *outcome)
{
    int fd = open(stage_path(stage, "log"), O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? 0 : read(fd, outcome->log, sizeof outcome->log - 1);
    const char *spoiled;

    outcome->log[length < 0 ? 0 : length] = '\0';
    if (fd >= 0)
        close(fd);
    spoiled = record_spoiled(stage, outside, outcome);
    if (spoiled != NULL && outcome->change[0] == '\0')
        snprintf(outcome->change, sizeof outcome->change, "%s", spoiled);
    outcome->recorded = attempt->attack == NULL || record_is_there(attempt, stage, outcome);
}

void attempt_make(const struct attempt *attempt, struct stage *stage, struct outside *outside,
                  struct outcome *outcome)
{
    bool own = needs(attempt, NEEDS_OWN);
    bool moves = needs(attempt, NEEDS_MOVER);
    char *before;
    char *after;
    int output;
    pid_t pid;

    memset(outcome, 0, sizeof *outcome);
    stage_reset(stage, own);
    start_log(stage);
    outside_start(outside, stage);
    before = stage_digest(stage, !moves, own);
    pid = start(attempt, stage, outside, &output);
    outcome->hung =
        collect(output, pid, moves ? stage : NULL, outcome->output, OUTPUT_ROOM, &outcome->length);
    close(output);
    while (waitpid(pid, &outcome->status, 0) < 0 && errno == EINTR)
        continue;
    outcome->reached = outside_reached(outside, patience(attempt));
    after = stage_digest(stage, !moves, own);
    outside_stop(outside);
    compare(before, after, outcome->change, sizeof outcome->change);
    free(before);
    free(after);
    outcome->leaked =
        memmem(outcome->output, outcome->length, stage->secret, SECRET_LENGTH) != NULL;
    for (size_t i = 0; i < outcome->length; i++)
        if (outcome->output[i] == '\0')
            outcome->output[i] = ' ';
    find_word(outcome);
    read_log(attempt, stage, outside, outcome);
}

void attempt_print(const struct stage *stage, char *text, size_t size)
{
    struct words argv = {.count = 0};
    struct words envp = {.count = 0};
    const struct attempt attempt = {.mode = MODE_UNSUPERVISED};
    size_t length;
    int ends[2];
    pid_t pid;

    set_environment(&attempt, stage, &envp);
    add_cordon(&attempt, stage, &argv);
    argv.count--;
    add(&argv, "--print", "");
    if (pipe2(ends, O_CLOEXEC) < 0 || (pid = fork()) < 0)
        die("fork");
    if (pid == 0) {
        dup2(ends[1], 1);
        dup2(ends[1], 2);
        execvpe(argv.at[0], argv.at, envp.at);
        _exit(127);
    }
    close(ends[1]);
    collect(ends[0], pid, NULL, text, size, &length);
    close(ends[0]);
    waitpid(pid, NULL, 0);
}
