/* SPDX-License-Identifier: MIT */
#include "descriptors.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "decide.h"
#include "path.h"

int descriptors_begin(struct standard *standard)
{
    for (int fd = 0; fd < 3; fd++) {
        standard->closed[fd] = fcntl(fd, F_GETFD) < 0;
        /* The lowest free number is the one that is missing. */
        if (standard->closed[fd] && open("/dev/null", O_RDWR) != fd)
            return -EBADF;
    }
    return 0;
}

void descriptors_end(const struct standard *standard)
{
    for (int fd = 0; fd < 3; fd++)
        if (standard->closed[fd])
            close(fd);
}

/* Whether the policy would let the command open this file as it is open. */
static bool is_allowed(const struct policy *policy, int fd, const struct stat *st)
{
    char link[64];
    char place[PATH_MAX];
    struct stat there;
    ssize_t length;
    int flags = fcntl(fd, F_GETFL);
    bool reads = (flags & O_ACCMODE) != O_WRONLY;
    bool writes = (flags & O_ACCMODE) != O_RDONLY;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    length = readlink(link, place, sizeof place - 1);
    if (flags < 0 || (flags & O_PATH) != 0 || length <= 0 || (size_t)length >= sizeof place - 1)
        return false;
    place[length] = '\0';
    /* The text is a claim: the file may have been moved or deleted. */
    if (!path_is_canonical(place) || lstat(place, &there) < 0 || there.st_dev != st->st_dev ||
        there.st_ino != st->st_ino)
        return false;
    return (!reads || decide(policy, place, INTENT_READ).allowed) &&
           (!writes || decide(policy, place, INTENT_WRITE).allowed);
}

/* One without a name: those with one are judged as files are. */
static bool is_pipe(int fd)
{
    char link[64];
    char text[16];
    ssize_t length;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    length = readlink(link, text, sizeof text);
    return length > 6 && strncmp(text, "pipe:[", 6) == 0;
}

static bool may_stay(const struct policy *policy, const struct options *options, int fd)
{
    struct stat st;

    for (size_t i = 0; i < options->fds.count; i++)
        if (strtol(options->fds.list[i], NULL, 10) == fd)
            return true;
    if (fstat(fd, &st) < 0)
        return false;
    if (S_ISFIFO(st.st_mode) && is_pipe(fd))
        return true;
    if (S_ISCHR(st.st_mode) && isatty(fd))
        return true;
    if (S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode))
        return is_allowed(policy, fd, &st);
    return false;
}

/* One that is not bound to another end can send to anybody, whatever the rules say of new ones. */
static bool is_loose_socket(int fd)
{
    int type = 0;
    socklen_t size = sizeof type;

    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type != SOCK_STREAM &&
           type != SOCK_SEQPACKET;
}

/* A directory would be a way out of a wall made of mounts. */
static int shut_standard(int fd)
{
    struct stat st;
    int null;

    if (fstat(fd, &st) < 0 || !(S_ISDIR(st.st_mode) || is_loose_socket(fd)))
        return 0;
    null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0 || dup2(null, fd) < 0)
        return -errno;
    close(null);
    return 0;
}

int descriptors_close(const struct policy *policy, const struct options *options)
{
    DIR *list = opendir("/proc/self/fd");
    const struct dirent *entry;
    int error = 0;

    for (int fd = 0; error == 0 && fd < 3; fd++)
        error = shut_standard(fd);
    /* Where they cannot be looked at none stays. */
    if (list == NULL)
        return error == 0 && close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) < 0 ? -errno : error;
    while (error == 0 && (entry = readdir(list)) != NULL) {
        int fd = (int)strtol(entry->d_name, NULL, 10);
        if (fd < 3 || (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0)
            continue;
        if (!may_stay(policy, options, fd))
            close(fd);
    }
    closedir(list);
    return error;
}
