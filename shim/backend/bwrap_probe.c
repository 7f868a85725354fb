/* SPDX-License-Identifier: MIT */
/* Whether bubblewrap works here: by running it, and by what it says if it does not. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bwrap.h"
#include "confine.h"

static const struct {
    const char *words;
    const char *cause;
    const char *fix;
} known[] = {
    {"setting up uid map: Permission denied", "AppArmor forbids user namespaces",
     "sysctl kernel.apparmor_restrict_unprivileged_userns=0, or a profile for bwrap"},
    {"Creating new namespace failed: Operation not permitted",
     "the container's seccomp profile forbids namespaces",
     "docker run --security-opt seccomp=unconfined, or use -b landlock"},
    {"ermissions to create", "user namespaces are forbidden, by a sysctl or a seccomp filter",
     "sysctl kernel.unprivileged_userns_clone=1, or use -b landlock"},
    {"namespaces exceeded", "the limit of namespaces is reached, or set to 0 by a sandbox outside",
     "sysctl user.max_user_namespaces=10000, or use -b landlock"},
    {"No space left on device", "the limit of namespaces is reached",
     "sysctl user.max_user_namespaces=10000, or use -b landlock"},
    {"Failed to make / slave", "inside a Landlock sandbox no mounts can be made",
     "use -b landlock, which can be nested"},
    {"Can't mount proc", "/proc is masked, as in a container", "use -b landlock"},
    {"RTM_NEWADDR", "this user namespace may not set up a network",
     "use --net open, or -b landlock"},
    {"Unknown option", "this bubblewrap is too old", "install bubblewrap 0.5 or newer"},
    {"cordon: ", "", ""},
};

static bool host_proc;

bool bwrap_needs_host_proc(void)
{
    return host_proc;
}

/* Whether something may be mounted over a part of /proc: then perhaps no other can be mounted. What
 * lies in empty directories made for it does no harm. */
static bool proc_is_covered(void)
{
    FILE *file = fopen("/proc/self/mountinfo", "re");
    char *line = NULL;
    size_t size = 0;
    bool covered = file == NULL;
    char place[256];

    while (!covered && getline(&line, &size, file) > 0)
        covered = sscanf(line, "%*d %*d %*s %*s %255s", place) == 1 &&
                  strncmp(place, "/proc/", strlen("/proc/")) == 0 &&
                  strcmp(place, "/proc/sys/fs/binfmt_misc") != 0;
    free(line);
    if (file != NULL)
        fclose(file);
    return covered;
}

bool bwrap_likely(const struct image *image)
{
    struct trouble trouble;

    return bwrap_find(image_policy(image), NULL, &trouble) && !backend_is_inside() &&
           !proc_is_covered();
}

static int explain(struct trouble *trouble, char *words)
{
    static const char name[] = "bwrap: ";

    words[strcspn(words, "\n")] = '\0';
    if (strncmp(words, name, strlen(name)) == 0)
        words += strlen(name);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strstr(words, known[i].words) != NULL)
            return trouble_set(trouble, "a trial", words, known[i].cause, known[i].fix);
    return trouble_set(trouble, "a trial", words[0] == '\0' ? "it failed without a word" : words,
                       "", "");
}

static long now_ms(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* All that comes from `fd` until its end, cut to size; false: it did not end in time. */
static bool listen_to(int fd, char *words, size_t size)
{
    long end = now_ms() + TRIAL_LIMIT;
    size_t length = 0;
    char rest[256];

    words[0] = '\0';
    for (;;) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        long left = end - now_ms();
        if (left <= 0 || (poll(&wait, 1, (int)left) < 0 && errno != EINTR))
            return false;
        if (wait.revents == 0)
            continue;
        bool full = length + 1 >= size;
        ssize_t got =
            full ? read(fd, rest, sizeof rest) : read(fd, words + length, size - length - 1);
        if (got <= 0)
            return got == 0;
        if (!full)
            length += (size_t)got;
        words[length] = '\0';
    }
}

/* In the child: bwrap with its standard error going to us, and nothing else to talk to. */
static void run(const struct image *image, const struct bwrap_wants *wants, int err)
{
    char *variable = malloc(image_variable_size(image));
    struct trouble trouble;
    char **argv;
    int null = open("/dev/null", O_RDWR);

    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    if (variable != NULL) {
        image_variable(image, variable);
        putenv(variable);
    }
    argv = bwrap_argv(image, wants, (char *[]){NULL}, &trouble);
    if (argv == NULL)
        dprintf(STDERR_FILENO, "%s\n", trouble.words);
    else
        dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(-backend_exec(argv)));
    _exit(EXIT_FAILURE);
}

/* 0: it worked; else what it said is in `words`. */
static int run_apart(const struct image *image, const struct bwrap_wants *wants, char *words,
                     size_t size)
{
    int ends[2];
    int status = -1;
    bool ended;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0)
        run(image, wants, ends[1]);
    close(ends[1]);
    ended = pid > 0 && listen_to(ends[0], words, size);
    close(ends[0]);
    if (pid < 0)
        return -1;
    if (!ended) {
        kill(pid, SIGKILL);
        snprintf(words, size, "no answer in time");
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return ended && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

int bwrap_probe(const struct image *image, struct trouble *trouble)
{
    struct bwrap_wants wants = {.cwd = image_text(image, IMAGE_ROOT),
                                .status_fd = -1,
                                .log = -1,
                                .stops = -1,
                                .try_only = true};
    char words[sizeof trouble->words] = "";

    if (!bwrap_find(image_policy(image), NULL, trouble))
        return -1;
    if (run_apart(image, &wants, words, sizeof words) == 0)
        return 0;
    if (strstr(words, "Can't mount proc") != NULL) {
        wants.host_proc = true;
        if (run_apart(image, &wants, words, sizeof words) == 0) {
            host_proc = true;
            return 0;
        }
    }
    return explain(trouble, words);
}
