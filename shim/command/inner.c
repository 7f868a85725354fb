/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend.h"
#include "command.h"
#include "signals.h"
#include "supervisor.h"

struct inner {
    const char *backend;
    const char *preload;
    const char *ignored;
    const char *file;
    const char *log;
    const char *stops;
    bool try_only;
    char **command;
};

static int refuse(const char *subject, const char *words)
{
    complain(subject, words, NULL);
    return EXIT_SETUP;
}

static bool take(char ***argv, const char *option, const char **value)
{
    if (strcmp((*argv)[0], option) != 0 || (*argv)[1] == NULL)
        return false;
    *value = (*argv)[1];
    *argv += 2;
    return true;
}

/* False: not what a wrapper of ours would have written. */
static bool parse(char **argv, struct inner *inner)
{
    for (argv++; *argv != NULL && strcmp(*argv, "--") != 0;) {
        if (strcmp(*argv, "--try") == 0) {
            inner->try_only = true;
            argv++;
        } else if (!take(&argv, "--backend", &inner->backend) &&
                   !take(&argv, "--preload", &inner->preload) &&
                   !take(&argv, "--ignored", &inner->ignored) &&
                   !take(&argv, "--file", &inner->file) && !take(&argv, "--log", &inner->log) &&
                   !take(&argv, "--stops", &inner->stops)) {
            return false;
        }
    }
    inner->command = *argv != NULL ? argv + 1 : argv;
    return inner->try_only || inner->command[0] != NULL;
}

/* A directory is a way out of any mount namespace: none goes on to the command. What reads one as
 * its input, or writes to one, finds nothing there instead. */
static void close_directories(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    DIR *list = opendir("/proc/self/fd");
    struct dirent *entry;
    struct stat st;

    if (list == NULL)
        return;
    while ((entry = readdir(list)) != NULL) {
        int fd = (int)strtol(entry->d_name, NULL, 10);
        if (fd == dirfd(list) || fstat(fd, &st) < 0 || !S_ISDIR(st.st_mode))
            continue;
        if (fd > STDERR_FILENO)
            fcntl(fd, F_SETFD, FD_CLOEXEC);
        else
            dup2(null, fd);
    }
    closedir(list);
}

static int number_or_none(const char *text)
{
    return text == NULL ? -1 : (int)strtol(text, NULL, 10);
}

static int build_wall(const struct inner *inner, const struct backend *backend,
                      const struct image *image, struct trouble *trouble)
{
    struct supervised what = {
        .image = image, .log = number_or_none(inner->log), .stops = number_or_none(inner->stops)};

    if (image->supervise == SUPERVISE_NONE || backend->plan == NULL || inner->try_only)
        return backend_enter(backend, image, trouble);
    backend->plan(image, &what.confinement);
    /* The supervisor hands it in. */
    unsetenv(IMAGE_VARIABLE);
    return supervisor_begin(&what, trouble);
}

static int enter(const struct inner *inner)
{
    static _Alignas(8) unsigned char memory[IMAGE_MAX];
    const struct image *image = (const struct image *)memory;
    const char *text = getenv(IMAGE_VARIABLE);
    const char *wrong = text == NULL ? "not set" : image_read(text, memory, sizeof memory);
    const char *name = inner->backend;
    const struct backend *backend;
    struct trouble trouble;
    char line[1024];

    if (wrong != NULL)
        return refuse(IMAGE_VARIABLE, wrong);
    if (name == NULL)
        name = image_text(image, IMAGE_BACKEND);
    backend = backend_by_name(name);
    if (backend == NULL)
        return refuse(name, "there is no backend of that name");
    if (build_wall(inner, backend, image, &trouble) == 0)
        return 0;
    trouble_print(&trouble, line, sizeof line);
    return refuse(backend->name, line);
}

/* The wall stands. Where no shim will say so, we do. */
static void answer(void)
{
    const char *text = getenv("CORDON_HANDSHAKE");

    if (getenv("CORDON_ALONE") == NULL)
        return;
    if (text != NULL) {
        int fd = (int)strtol(text, NULL, 10);
        if (write(fd, "k", 1) == 1)
            close(fd);
    }
    unsetenv("CORDON_HANDSHAKE");
    unsetenv("CORDON_ALONE");
}

int command_inner(int argc, char **argv)
{
    struct inner inner = {.file = NULL};
    int status;

    if (argc < 1 || !parse(argv, &inner))
        return refuse("--inner", "not for use by hand");
    close_directories();
    status = enter(&inner);
    if (status != 0 || inner.try_only)
        return status;
    answer();
    if (inner.preload != NULL && setenv("LD_PRELOAD", inner.preload, 1) < 0)
        return refuse("LD_PRELOAD", strerror(errno));
    if (inner.ignored != NULL)
        signals_restore(strtoull(inner.ignored, NULL, 16));
    execvp(inner.file != NULL ? inner.file : inner.command[0], inner.command);
    status = errno;
    complain(inner.command[0], strerror(status), NULL);
    return status == ENOENT || status == ENOTDIR ? EXIT_NOT_FOUND : EXIT_NOT_RUN;
}
