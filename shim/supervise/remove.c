/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tree.h"

/* When a directory is empty the way begins at the top again. Going up by ".." would lead into
 * whatever a directory was moved to meanwhile, and remove what is there. So any depth takes two
 * descriptors and no memory. */
enum { IDLE_MAX = 100 };

struct removal {
    int top;
    int dir;
    bool is_top;
    int idle; /* how often it began again without anything having been removed */
};

static bool is_dots(const char *name)
{
    return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

/* Takes the place of the current directory. */
static bool step(struct removal *removal, const char *name)
{
    int fd = openat(removal->dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0)
        return false;
    close(removal->dir);
    removal->dir = fd;
    return true;
}

static bool go_down(struct removal *removal, const char *name)
{
    struct stat here;
    struct stat there;

    if (fstat(removal->dir, &here) < 0 ||
        fstatat(removal->dir, name, &there, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    if (here.st_dev != there.st_dev) {
        errno = EBUSY;
        return false;
    }
    /* Programs leave directories behind that not even their owner may read. */
    if (S_ISDIR(there.st_mode) && (there.st_mode & S_IRWXU) != S_IRWXU)
        fchmodat(removal->dir, name, S_IRWXU, 0);
    if (!step(removal, name))
        return false;
    removal->is_top = false;
    return true;
}

/* Removes one entry, or goes into it. False if neither can be done. */
static bool remove_entry(struct removal *removal, const char *name, bool *went)
{
    *went = false;
    if (unlinkat(removal->dir, name, 0) == 0 || unlinkat(removal->dir, name, AT_REMOVEDIR) == 0) {
        removal->idle = 0;
        return true;
    }
    if (removal->idle > IDLE_MAX || (errno != ENOTEMPTY && errno != EEXIST))
        return false;
    *went = go_down(removal, name);
    return *went;
}

/* One reading of the current directory: until it is empty, or one level further down. Returns 1 if
 * it is empty. */
static int sweep(struct removal *removal)
{
    int fd = openat(removal->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;
    bool went = false;
    int error = 0;

    if (stream == NULL)
        return -errno;
    while (!went && error == 0 && (entry = readdir(stream)) != NULL) {
        if (is_dots(entry->d_name))
            continue;
        if (!remove_entry(removal, entry->d_name, &went))
            error = -errno;
    }
    closedir(stream);
    return error < 0 ? error : !went;
}

static bool begin_again(struct removal *removal)
{
    int fd = openat(removal->top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return false;
    close(removal->dir);
    removal->dir = fd;
    removal->is_top = true;
    return true;
}

static int empty(struct removal *removal)
{
    for (;;) {
        int done = sweep(removal);
        if (done < 0)
            return done;
        if (done == 0)
            continue;
        if (removal->is_top)
            return 0;
        if (!begin_again(removal))
            return -errno;
        removal->idle++;
    }
}

int directory_remove(const char *path)
{
    struct removal removal = {
        .top = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
        .dir = -1,
    };
    int error;

    if (removal.top < 0)
        return -errno;
    error = begin_again(&removal) ? empty(&removal) : -errno;
    close(removal.dir);
    close(removal.top);
    if (error == 0 && rmdir(path) < 0)
        error = -errno;
    return error;
}
