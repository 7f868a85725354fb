/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "cordon.h"
#include "error.h"
#include "os.h"
#include "resolve.h"
#include "syscall.h"
#include "tracker.h"

struct cordon_tracker {
    struct tracker set;
    int fd; /* the set's memory, to hand over */
};

/* Neither costs anything before it is used. */
enum { PATHS = 1 << 20, BYTES = 1 << 27 };

/* Takes `fd` over, also if it fails. */
static int make(int fd, cordon_tracker **tracker)
{
    cordon_tracker *new;
    int error;

    if (fd < 0)
        return fd;
    new = calloc(1, sizeof *new);
    error = new == NULL ? -ENOMEM : tracker_attach(&new->set, fd);
    if (error < 0) {
        free(new);
        os_close(fd);
        return error;
    }
    new->fd = fd;
    *tracker = new;
    return 0;
}

int cordon_tracker_new(cordon_tracker **tracker)
{
    return make(tracker_create(PATHS, BYTES), tracker);
}

int cordon_tracker_attach(int fd, cordon_tracker **tracker)
{
    return make(os_dup(fd), tracker);
}

int cordon_tracker_open(const char *path, cordon_tracker **tracker)
{
    const long flags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY;
    cordon_tracker *new;
    int journal;
    int error;

    if (path == NULL)
        return -EFAULT;
    journal = (int)os_syscall(SYS_openat, AT_FDCWD, (long)path, flags, 0600, 0, 0);
    if (journal < 0)
        return error_named(journal);
    error = cordon_tracker_new(&new);
    if (error == 0) {
        error = tracker_journal(&new->set, journal);
        if (error == 0) {
            *tracker = new;
            return 0;
        }
        cordon_tracker_close(new);
    }
    os_close(journal);
    return error == -EINVAL ? -EBADMSG : error;
}

int cordon_tracker_fd(const cordon_tracker *tracker)
{
    return tracker->fd;
}

void cordon_tracker_close(cordon_tracker *tracker)
{
    if (tracker == NULL)
        return;
    tracker_detach(&tracker->set);
    os_close(tracker->fd);
    free(tracker);
}

/* Does one of the two to the canonical path. */
static int with_real_path(cordon_tracker *tracker, const char *path,
                          int (*use)(struct tracker *, const char *, size_t))
{
    struct walk *walk;
    struct os_id id;
    int result = resolve_existing(path, &walk);

    if (result < 0)
        return result;
    /* A deleted file that is still open has no path any more: another may get it. */
    result = os_identify(walk->dir, "", &id);
    if (result == 0 && id.links == 0)
        result = -ENOENT;
    if (result == 0)
        result = walk->path.length == 0 ? use(&tracker->set, "/", 1)
                                        : use(&tracker->set, walk->path.text, walk->path.length);
    walk_free(walk);
    return result;
}

int cordon_tracker_mark_read(cordon_tracker *tracker, const char *path)
{
    return error_named(with_real_path(tracker, path, tracker_mark));
}

int cordon_tracker_has_been_read(cordon_tracker *tracker, const char *path)
{
    int result = with_real_path(tracker, path, tracker_has);

    return result == -ENOENT ? 0 : error_named(result);
}
