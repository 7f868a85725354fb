/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "manner.h"

/* The path as one text, which realpath can take. */
static int whole_text(const struct aim *aim, char text[static PATH_MAX])
{
    char link[40];
    ssize_t length = 0;

    if (aim->path[0] != '/' && aim->start.fd != AT_FDCWD) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", aim->start.fd);
        length = readlink(link, text, PATH_MAX - 1);
        if (length < 0)
            return -errno;
        text[length++] = '/';
    }
    if ((size_t)length + strlen(aim->path) >= PATH_MAX)
        return -ENAMETOOLONG;
    memcpy(text + length, aim->path, strlen(aim->path) + 1);
    return 0;
}

static void cut_last_name(char *text)
{
    char *slash = strrchr(text, '/');

    if (slash == NULL)
        memcpy(text, ".", 2);
    else
        slash[slash == text] = '\0';
}

/* The check: right, at the moment that it is made. */
static int check(const struct caller *caller, const struct aim *aim, bool parent)
{
    const char *root = caller->tree->root;
    char resolved[PATH_MAX];
    char text[PATH_MAX];
    int error = whole_text(aim, text);

    if (error < 0)
        return error;
    if (parent)
        cut_last_name(text);
    if (realpath(text, resolved) == NULL)
        return -errno;
    size_t length = strlen(root);
    bool inside = strncmp(resolved, root, length) == 0 &&
                  (resolved[length] == '\0' || resolved[length] == '/');
    return inside ? 0 : -EACCES;
}

/* -1 and errno, or a result, to what this test passes on. */
static int answer(int result)
{
    return result < 0 ? -errno : result;
}

static int naive_open(struct caller *caller, const struct aim *aim, int flags)
{
    int error = check(caller, aim, false);

    if (error == -ENOENT && (flags & O_CREAT))
        error = check(caller, aim, true);
    return error < 0 ? error : answer(openat(aim->start.fd, aim->path, flags, 0600));
}

static int naive_lookup(struct caller *caller, const struct aim *aim)
{
    return naive_open(caller, aim, O_PATH | O_CLOEXEC);
}

static int naive_stat(struct caller *caller, const struct aim *aim, struct stat *st)
{
    int error = check(caller, aim, false);

    return error < 0 ? error : answer(fstatat(aim->start.fd, aim->path, st, 0));
}

static int naive_unlink(struct caller *caller, const struct aim *aim, int flags)
{
    int error = check(caller, aim, true);

    return error < 0 ? error : answer(unlinkat(aim->start.fd, aim->path, flags));
}

static int naive_mkdir(struct caller *caller, const struct aim *aim)
{
    int error = check(caller, aim, true);

    return error < 0 ? error : answer(mkdirat(aim->start.fd, aim->path, 0700));
}

static int naive_rename(struct caller *caller, const struct aim *from, const struct aim *to)
{
    int error = check(caller, from, true);

    if (error == 0)
        error = check(caller, to, true);
    return error < 0 ? error : answer(renameat(from->start.fd, from->path, to->start.fd, to->path));
}

const struct manner manner_naive = {
    .open = naive_open,
    .lookup = naive_lookup,
    .stat = naive_stat,
    .unlink = naive_unlink,
    .mkdir = naive_mkdir,
    .rename = naive_rename,
};
