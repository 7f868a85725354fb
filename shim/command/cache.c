/* SPDX-License-Identifier: MIT */
#include "cache.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "path.h"

static uint64_t hash(const char *text)
{
    uint64_t value = 14695981039346656037U;

    for (; *text != '\0'; text++)
        value = (value ^ (unsigned char)*text) * 1099511628211U;
    return value;
}

/* BASE/cordon/HASH, which need not be there; BASE is canonical if it is there. */
static bool name_home(struct session *session)
{
    const char *asked = getenv("XDG_CACHE_HOME");
    const bool given = asked != NULL && asked[0] == '/';
    char base[PATH_MAX];
    char real[PATH_MAX];

    if ((!given && session->home[0] == '\0') ||
        snprintf(base, sizeof base, "%s%s", given ? asked : session->home,
                 given ? "" : "/.cache") >= (int)sizeof base)
        return false;
    return snprintf(session->cache_home, PATH_MAX, "%s/cordon/%016llx",
                    realpath(base, real) != NULL ? real : base,
                    (unsigned long long)hash(session->root)) < PATH_MAX;
}

/* Whether the directory really is at its own name, and ours: a program that could write near it
 * may have put a link there. */
static bool is_sound(const struct session *session)
{
    struct stat st;

    return strcmp(session->cache, session->cache_home) == 0 &&
           lstat(session->cache_home, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
           access(session->cache_home, W_OK | X_OK) == 0;
}

void cache_find(struct session *session)
{
    session->cache[0] = '\0';
    if (!name_home(session) || path_is_below(session->root, session->cache_home))
        session->cache_home[0] = '\0';
    else if (realpath(session->cache_home, session->cache) != NULL) {
        bool sound = is_sound(session);
        session->cache_home[0] = '\0';
        if (sound)
            return;
    }
    if (session->options->tmp != TMP_PRIVATE ||
        snprintf(session->cache, PATH_MAX, "%s/cache", session->tmp) >= PATH_MAX) {
        session->cache[0] = '\0';
        session->cache_home[0] = '\0';
    }
}
