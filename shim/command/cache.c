/* SPDX-License-Identifier: MIT */
#include "cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t hash(const char *text)
{
    uint64_t value = 14695981039346656037U;

    for (; *text != '\0'; text++)
        value = (value ^ (unsigned char)*text) * 1099511628211U;
    return value;
}

/* The user's cache, which need not be there. */
static bool find_base(const struct session *session, char base[PATH_MAX])
{
    const char *asked = getenv("XDG_CACHE_HOME");

    if (asked != NULL && asked[0] == '/')
        return snprintf(base, PATH_MAX, "%s", asked) < PATH_MAX;
    return session->home[0] != '\0' &&
           snprintf(base, PATH_MAX, "%s/.cache", session->home) < PATH_MAX;
}

/* Makes a directory in one that is there. Returns whether it was made now, or -1. */
static int make(const char *path)
{
    if (mkdir(path, 0700) == 0)
        return 1;
    return errno == EEXIST ? 0 : -1;
}

/* Opens and locks it; false if another run has just taken it away. */
static bool lock(struct session *session, const char *path)
{
    struct stat held;
    struct stat there;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return false;
    if (flock(fd, LOCK_SH) == 0 && fstat(fd, &held) == 0 && stat(path, &there) == 0 &&
        held.st_dev == there.st_dev && held.st_ino == there.st_ino &&
        realpath(path, session->cache) != NULL) {
        session->cache_fd = fd;
        return true;
    }
    close(fd);
    return false;
}

/* False: there can be none. */
static bool make_own(struct session *session, const char *base)
{
    char ours[PATH_MAX];
    char path[PATH_MAX];

    if (snprintf(ours, PATH_MAX, "%s/cordon", base) >= PATH_MAX ||
        snprintf(path, PATH_MAX, "%s/%016llx", ours, (unsigned long long)hash(session->root)) >=
            PATH_MAX)
        return false;
    for (int i = 0; i < 100; i++) {
        int made = make(base);
        if (made < 0)
            return false;
        if (made == 1)
            session->cache_levels = 3;
        if (make(ours) < 0 && errno != ENOENT)
            return false;
        if (make(path) < 0 && errno != ENOENT)
            return false;
        if (lock(session, path)) {
            if (session->cache_levels == 0)
                session->cache_levels = 2;
            return true;
        }
    }
    return false;
}

void cache_begin(struct session *session, bool dry)
{
    char base[PATH_MAX];

    if (dry) {
        /* Where it would be. */
        if (find_base(session, base))
            snprintf(session->cache, PATH_MAX, "%.3000s/cordon/%016llx", base,
                     (unsigned long long)hash(session->root));
        return;
    }
    if (find_base(session, base) && make_own(session, base))
        return;
    session->cache[0] = '\0';
    if (session->options->tmp == TMP_PRIVATE &&
        snprintf(session->cache, PATH_MAX, "%s/cache", session->tmp) >= PATH_MAX)
        session->cache[0] = '\0';
}
