/* SPDX-License-Identifier: MIT */
#include "environment.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decide.h"
#include "path.h"
#include "supervisor.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Variables that look like secrets, or lead to somebody who holds some. */
static const char *const secrets[] = {
    "*_TOKEN",
    "TOKEN",
    "*_SECRET",
    "SECRET",
    "*_SECRETS",
    "*_KEY",
    "*_APIKEY",
    "*_PASSWORD",
    "PASSWORD",
    "*_PASSWD",
    "PASSWD",
    "*_PASSPHRASE",
    "PASSPHRASE",
    "*_CREDENTIALS",
    "*_PAT",
    "AWS_*",
    "SSH_AUTH_SOCK",
    "SSH_ASKPASS",
    "DBUS_SESSION_BUS_ADDRESS",
    "GPG_AGENT_INFO",
};

/* Where tools keep what they have fetched or made, each in a directory below the cache. */
static const char *const caches[][2] = {
    {"XDG_CACHE_HOME", ""},       {"npm_config_cache", "/npm"}, {"YARN_CACHE_FOLDER", "/yarn"},
    {"PIP_CACHE_DIR", "/pip"},    {"UV_CACHE_DIR", "/uv"},      {"GOCACHE", "/go-build"},
    {"GOMODCACHE", "/go-mod"},    {"CARGO_HOME", "/cargo"},     {"GRADLE_USER_HOME", "/gradle"},
    {"NUGET_PACKAGES", "/nuget"}, {"DENO_DIR", "/deno"},        {"CCACHE_DIR", "/ccache"},
};

static bool is_kept(const struct options *options, const char *name)
{
    for (size_t i = 0; i < options->env.count; i++)
        if (strcmp(options->env.list[i], name) == 0)
            return true;
    return false;
}

static bool is_secret(const char *name)
{
    for (size_t i = 0; i < COUNT(secrets); i++)
        if (fnmatch(secrets[i], name, FNM_CASEFOLD) == 0)
            return true;
    return false;
}

void names_free(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->list[i]);
    free(names->list);
    *names = (struct names){0};
}

int environment_secrets(const struct options *options, struct names *names)
{
    for (char **variable = environ; *variable != NULL; variable++) {
        char *name = strndup(*variable, strcspn(*variable, "="));
        char **list = realloc(names->list, (names->count + 1) * sizeof *list);
        if (list != NULL)
            names->list = list;
        if (name == NULL || list == NULL) {
            free(name);
            names_free(names);
            return -ENOMEM;
        }
        if (is_secret(name) && !is_kept(options, name))
            list[names->count++] = name;
        else
            free(name);
    }
    return 0;
}

/* A cache that the user put where it can be written stays there. */
static bool can_stay(const struct session *session, const char *name)
{
    const char *value = getenv(name);

    return is_kept(session->options, name) ||
           (value != NULL && path_is_canonical(value) &&
            decide(session->policy, value, INTENT_WRITE).allowed);
}

static int set_caches(const struct session *session)
{
    char value[PATH_MAX + 16];
    int error = 0;

    if (session->cache[0] == '\0')
        return 0;
    for (size_t i = 0; error == 0 && i < COUNT(caches); i++) {
        if (can_stay(session, caches[i][0]))
            continue;
        snprintf(value, sizeof value, "%s%s", session->cache, caches[i][1]);
        error = setenv(caches[i][0], value, 1);
    }
    return error < 0 ? -ENOMEM : 0;
}

static int set_tmp(const struct session *session)
{
    static const char *const others[] = {"TMP", "TEMP", "TEMPDIR"};
    int error;

    if (session->options->tmp != TMP_PRIVATE)
        return 0;
    error = setenv("TMPDIR", session->tmp, 1);
    for (size_t i = 0; error == 0 && i < COUNT(others); i++)
        if (getenv(others[i]) != NULL)
            error = setenv(others[i], session->tmp, 1);
    return error < 0 ? -ENOMEM : 0;
}

int environment_change(const struct session *session)
{
    struct names names = {0};
    int error = environment_secrets(session->options, &names);

    for (size_t i = 0; error == 0 && i < names.count; i++)
        unsetenv(names.list[i]);
    names_free(&names);
    if (error == 0)
        error = set_tmp(session);
    return error == 0 ? set_caches(session) : error;
}

int environment_add_preload(const char *shim)
{
    const char *others = getenv("LD_PRELOAD");
    char *value;
    int error;

    if (others == NULL || others[0] == '\0')
        return setenv("LD_PRELOAD", shim, 1);
    if (asprintf(&value, "%s:%s", others, shim) < 0)
        return -1;
    error = setenv("LD_PRELOAD", value, 1);
    free(value);
    return error;
}

int environment_add_image(const struct session *session)
{
    char *image = malloc(image_variable_size(session->image));

    if (image == NULL)
        return -ENOMEM;
    image_variable(session->image, image); /* goes into the environment as it is */
    return putenv(image) != 0 ? -ENOMEM : 0;
}

int environment_add_shim(const struct session *session, int handshake)
{
    char number[16];

    snprintf(number, sizeof number, "%d", handshake);
    if (environment_add_image(session) < 0 ||
        (!supervisor_hands_in() && environment_add_preload(session->preload) < 0) ||
        (handshake >= 0 && setenv("CORDON_HANDSHAKE", number, 1) < 0))
        return -ENOMEM;
    return 0;
}
