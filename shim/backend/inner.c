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
#include "signals.h"

enum { SETUP_FAILED = 125, NOT_RUN = 126, NOT_FOUND = 127 };

struct inner {
    const char *backend;
    const char *preload;
    const char *ignored;
    const char *file;
    bool try_only;
    char **command;
};

static int complain(const char *subject, const char *words)
{
    dprintf(STDERR_FILENO, "cordon: %s: %s\n", subject, words);
    return SETUP_FAILED;
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
                   !take(&argv, "--file", &inner->file)) {
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

static int enter(const char *name)
{
    static _Alignas(8) unsigned char memory[IMAGE_MAX];
    const struct image *image = (const struct image *)memory;
    const char *text = getenv(IMAGE_VARIABLE);
    const char *wrong = text == NULL ? "not set" : image_read(text, memory, sizeof memory);
    const struct backend *backend;
    struct trouble trouble;
    char line[1024];

    if (wrong != NULL)
        return complain(IMAGE_VARIABLE, wrong);
    if (name == NULL)
        name = image_text(image, IMAGE_BACKEND);
    backend = backend_by_name(name);
    if (backend == NULL)
        return complain(name, "there is no backend of that name");
    if (backend->enter(image, &trouble) == 0)
        return 0;
    trouble_print(&trouble, line, sizeof line);
    return complain(backend->name, line);
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

int inner_main(int argc, char **argv)
{
    struct inner inner = {.file = NULL};
    int status;

    if (argc < 1 || !parse(argv, &inner))
        return complain("--inner", "not for use by hand");
    close_directories();
    status = enter(inner.backend);
    if (status != 0 || inner.try_only)
        return status;
    answer();
    if (inner.preload != NULL && setenv("LD_PRELOAD", inner.preload, 1) < 0)
        return complain("LD_PRELOAD", strerror(errno));
    if (inner.ignored != NULL)
        signals_restore(strtoull(inner.ignored, NULL, 16));
    execvp(inner.file != NULL ? inner.file : inner.command[0], inner.command);
    status = errno;
    complain(inner.command[0], strerror(status));
    return status == ENOENT || status == ENOTDIR ? NOT_FOUND : NOT_RUN;
}
