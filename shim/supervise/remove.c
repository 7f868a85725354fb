/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tree.h"

/* The last directories on the way down are kept open. Going up by ".." would lead into whatever a
 * directory was moved to meanwhile, and remove what is there. Where the way is longer it begins at
 * the top again: so any depth takes few descriptors and no memory. */
enum { IDLE_MAX = 100, WAY_MAX = 64 };

struct removal {
    int top;
    int way[WAY_MAX];
    int length;
    bool from_top; /* whether the first of them is the top */
    int idle;      /* how often it went back without anything having been removed */
};

static int here(const struct removal *removal)
{
    return removal->way[removal->length - 1];
}

static bool is_dots(const char *name)
{
    return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

/* Puts a directory at the end of the way. */
static void enter(struct removal *removal, int fd)
{
    if (removal->length == WAY_MAX) {
        close(removal->way[0]);
        removal->length--;
        memmove(removal->way, removal->way + 1, (size_t)removal->length * sizeof removal->way[0]);
        removal->from_top = false;
    }
    removal->way[removal->length++] = fd;
}

static bool go_down(struct removal *removal, const char *name)
{
    struct stat above;
    struct stat there;
    int fd;

    if (fstat(here(removal), &above) < 0 ||
        fstatat(here(removal), name, &there, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    if (above.st_dev != there.st_dev) {
        errno = EBUSY;
        return false;
    }
    /* Programs leave directories behind that not even their owner may read. */
    if (S_ISDIR(there.st_mode) && (there.st_mode & S_IRWXU) != S_IRWXU)
        fchmodat(here(removal), name, S_IRWXU, 0);
    fd = openat(here(removal), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    enter(removal, fd);
    return true;
}

/* Removes one entry, or goes into it. False if neither can be done. */
static bool remove_entry(struct removal *removal, const char *name, bool *went)
{
    *went = false;
    if (unlinkat(here(removal), name, 0) == 0 || unlinkat(here(removal), name, AT_REMOVEDIR) == 0) {
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
    int fd = openat(here(removal), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
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
    enter(removal, fd);
    removal->from_top = true;
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
        if (removal->length == 1 && removal->from_top)
            return 0;
        close(removal->way[--removal->length]);
        if (removal->length == 0 && !begin_again(removal))
            return -errno;
        removal->idle++;
    }
}

int directory_remove(const char *path)
{
    struct removal removal = {
        .top = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
    };
    int error;

    if (removal.top < 0)
        return -errno;
    error = begin_again(&removal) ? empty(&removal) : -errno;
    while (removal.length > 0)
        close(removal.way[--removal.length]);
    close(removal.top);
    if (error == 0 && rmdir(path) < 0)
        error = -errno;
    return error;
}
