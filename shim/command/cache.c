/* SPDX-License-Identifier: MIT */
#include "cache.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t hash(const char *text)
{
    uint64_t value = 14695981039346656037U;

    for (; *text != '\0'; text++)
        value = (value ^ (unsigned char)*text) * 1099511628211U;
    return value;
}

/* BASE/cordon/HASH, which need not be there. */
static bool name_home(struct session *session)
{
    const char *asked = getenv("XDG_CACHE_HOME");
    const bool given = asked != NULL && asked[0] == '/';
    const char *base = given ? asked : session->home;

    return base[0] != '\0' &&
           snprintf(session->cache_home, PATH_MAX, "%s%s/cordon/%016llx", base,
                    given ? "" : "/.cache", (unsigned long long)hash(session->root)) < PATH_MAX;
}

void cache_find(struct session *session)
{
    struct stat st;

    session->cache[0] = '\0';
    if (!name_home(session))
        session->cache_home[0] = '\0';
    else if (realpath(session->cache_home, session->cache) != NULL &&
             stat(session->cache, &st) == 0 && S_ISDIR(st.st_mode) &&
             access(session->cache, W_OK | X_OK) == 0) {
        session->cache_home[0] = '\0';
        return;
    }
    if (session->options->tmp != TMP_PRIVATE ||
        snprintf(session->cache, PATH_MAX, "%s/cache", session->tmp) >= PATH_MAX) {
        session->cache[0] = '\0';
        session->cache_home[0] = '\0';
    }
}
