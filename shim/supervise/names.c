/* SPDX-License-Identifier: MIT */
#include "names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "call.h"
#include "hooks.h"
#include "supervisor.h"

/* What the links of that name say to us is about us. */
long names_read_link(int dir, const char *path, char *target, size_t size)
{
    struct job *job = job_now;
    long length = readlink_at(dir, path, target, size);
    const char *name = call_is_wild(path) ? "" : strrchr(path, '/');
    const char *text = NULL;

    name = name == NULL ? path : name + 1;
    if (length <= 0 || length > 40 || target[0] < '0' || target[0] > '9')
        return length;
    if (strcmp(name, "self") == 0)
        text = job->self;
    else if (strcmp(name, "thread-self") == 0)
        text = job->thread_self;
    if (text == NULL || !supervisor_has_thread((pid_t)strtol(target, NULL, 10)))
        return length;
    job->view.prepare(&job->view);
    length = (long)strnlen(text, size);
    memcpy(target, text, (size_t)length);
    return length;
}

/* The terminal that controls the caller, opened by its own name. */
static int open_terminal(struct job *job, int flags)
{
    char text[512];
    char path[64];
    int fd = job_open_proc(job, "stat", O_RDONLY);
    ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    const char *at;
    unsigned long terminal;

    if (fd >= 0)
        close(fd);
    text[length < 0 ? 0 : length] = '\0';
    /* Behind the name: state, parent, group, session, terminal. */
    at = strrchr(text, ')');
    for (int i = 0; i < 5 && at != NULL; i++)
        at = strchr(at + 1, ' ');
    terminal = at == NULL ? 0 : strtoul(at, NULL, 10);
    if (terminal == 0)
        return -ENXIO;
    if (major(terminal) >= 136 && major(terminal) <= 143)
        snprintf(path, sizeof path, "/dev/pts/%u", (major(terminal) - 136) * 256 + minor(terminal));
    else if (major(terminal) == 4 && minor(terminal) < 64)
        snprintf(path, sizeof path, "/dev/tty%u", minor(terminal));
    else
        return -ENXIO;
    fd = open(path, flags | O_NOCTTY);
    return fd < 0 ? -errno : fd;
}

/* /dev/tty is the terminal of whoever opens it. */
int names_mend_terminal(struct job *job, int fd)
{
    struct stat st;
    bool is_tty = fd == -ENXIO && strcmp(job->path[0], "/dev/tty") == 0;

    if (fd >= 0)
        is_tty = fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(5, 0);
    if (!is_tty || getsid(job_process(job)) == getsid(0))
        return fd;
    if (fd >= 0)
        close(fd);
    return open_terminal(job, job->open_flags);
}
