/* SPDX-License-Identifier: MIT */
#include "grants.h"

#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "defaults.h"
#include "path.h"
#include "pattern.h"

/* A rule that was refused says why itself. */
static int check(struct policy_builder *builder, int error)
{
    if (error == 0)
        return 0;
    return setup_error("%s", policy_builder_error(builder) != NULL ? policy_builder_error(builder)
                                                                   : strerror(-error));
}

static int add_paths(struct policy_builder *builder, enum rule_kind kind, const struct words *words,
                     const char *option)
{
    char place[PATH_MAX];
    int status = 0;

    for (size_t i = 0; status == 0 && i < words->count; i++) {
        if (realpath(words->list[i], place) == NULL) {
            complain(option, words->list[i], strerror(errno));
            return EXIT_SETUP;
        }
        status = check(builder, policy_add(builder, kind, place, option));
    }
    return status;
}

/* Whether the pattern stands for one path, and not for names at any depth. */
static bool is_one_path(const char *pattern)
{
    const char *slash = strchr(pattern, '/');

    return pattern[0] == '/' || strncmp(pattern, "./", 2) == 0 ||
           (slash != NULL && !path_ends(slash));
}

/* The directory where the last name of `path` really is, and that name: "" if there is no such. */
static void find_name(const char *path, char place[PATH_MAX])
{
    char parent[2 * PATH_MAX];
    char directory[PATH_MAX];
    size_t length = strlen(path);
    const char *name;

    while (length > 1 && path[length - 1] == '/')
        length--;
    snprintf(parent, sizeof parent, "%.*s", (int)length, path);
    name = strrchr(parent, '/') + 1;
    parent[name - parent - 1] = '\0';
    if (realpath(parent[0] == '\0' ? "/" : parent, directory) == NULL ||
        snprintf(place, PATH_MAX, "%s/%s", strcmp(directory, "/") == 0 ? "" : directory, name) >=
            PATH_MAX ||
        !path_is_canonical(place))
        place[0] = '\0';
}

/*
 * Denies what the pattern leads to now, as a path: a wall can hold that. A link is shut at both
 * ends. Returns 1 if there is something, 0 if not, -1 after a message.
 */
static int deny_path(struct policy_builder *builder, const char *root, const char *pattern)
{
    char literal[PATH_MAX];
    char path[2 * PATH_MAX];
    char place[PATH_MAX];
    char name[PATH_MAX];
    int error;

    if (strlen(pattern) >= sizeof literal || pattern_is_wild(pattern, strlen(pattern)))
        return 0;
    literal[pattern_literal(literal, pattern, strlen(pattern))] = '\0';
    snprintf(path, sizeof path, "%s/%s", literal[0] == '/' ? "" : root, literal);
    if (realpath(path, place) == NULL)
        return 0;
    error = policy_add(builder, RULE_DENY, place, "--deny");
    find_name(path, name);
    if (error == 0 && name[0] != '\0' && strcmp(name, place) != 0)
        error = policy_add(builder, RULE_DENY, name, "--deny");
    return check(builder, error) == 0 ? 1 : -1;
}

static int add_denies(struct policy_builder *builder, const struct session *session)
{
    const struct words *deny = &session->options->deny;

    for (size_t i = 0; i < deny->count; i++) {
        int found = deny_path(builder, session->root, deny->list[i]);
        if (found < 0)
            return EXIT_SETUP;
        if (found == 1 && is_one_path(deny->list[i]))
            continue;
        if (check(builder, policy_add_pattern(builder, RULE_DENY, session->root, deny->list[i],
                                              "--deny")) != 0)
            return EXIT_SETUP;
    }
    return 0;
}

/* Where --write leads. The caller frees each and the list; NULL: no memory. */
static char **writable_places(const struct words *write)
{
    char **places = calloc(write->count + 1, sizeof *places);

    for (size_t i = 0, n = 0; places != NULL && i < write->count; i++) {
        places[n] = realpath(write->list[i], NULL);
        if (places[n] != NULL)
            n++;
    }
    return places;
}

static void free_places(char **places)
{
    for (size_t i = 0; places != NULL && places[i] != NULL; i++)
        free(places[i]);
    free(places);
}

/* Inside another cordon its shim is in this process, and will be in the command. */
static int note_shim(struct dl_phdr_info *info, size_t size, void *data)
{
    static const char name[] = "/libcordon-shim.so";
    size_t length = strlen(info->dlpi_name);

    (void)size;
    if (length < sizeof name || strcmp(info->dlpi_name + length - (sizeof name - 1), name) != 0)
        return 0;
    return realpath(info->dlpi_name, data) != NULL;
}

/* That one has to be readable as well. */
static int add_outer_shim(struct policy_builder *builder, const struct surroundings *around)
{
    char shim[PATH_MAX];
    bool open;

    if (dl_iterate_phdr(note_shim, shim) == 0 || strcmp(shim, around->shim) == 0)
        return 0;
    open = path_is_below(around->root, shim);
    for (const char *const *place = around->writable; !open && place != NULL && *place != NULL;
         place++)
        open = path_is_below(*place, shim);
    if (!open && check(builder, policy_add(builder, RULE_READ, shim, "default")) != 0)
        return EXIT_SETUP;
    return check(builder, policy_add(builder, RULE_PROTECT, shim, "default"));
}

static const char *or_null(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

/* What cordon itself needs. */
static int add_session(struct policy_builder *builder, const struct session *session)
{
    int status = 0;

    if (session->cache[0] != '\0' &&
        (session->tmp[0] == '\0' || !path_is_below(session->tmp, session->cache)))
        status = check(builder, policy_add(builder, RULE_WRITE, session->cache, "default"));
    /* A supervisor keeps it himself, from everybody in there. */
    if (status == 0 && session->log[0] == '/')
        status = check(builder,
                       policy_add(builder,
                                  session->supervise == SUPERVISE_NONE ? RULE_WRITE : RULE_PROTECT,
                                  session->log, "--log"));
    /* bwrap makes one that is the command's alone; with the others it is the machine's. */
    if (status == 0 && session->backend == &backend_bwrap)
        status = check(builder, policy_add(builder, RULE_WRITE, "/dev/shm", "default"));
    /* The link to the shim is the program's to read, not to turn elsewhere. */
    if (status == 0 && strcmp(session->preload, session->shim) != 0)
        status = check(builder, policy_add(builder, RULE_PROTECT, session->preload, "default"));
    return status;
}

static int add_options(struct policy_builder *builder, const struct session *session)
{
    const struct options *options = session->options;
    int status = add_paths(builder, RULE_READ, &options->read, "--read");

    if (status == 0)
        status = add_paths(builder, RULE_WRITE, &options->write, "--write");
    if (status == 0)
        status = add_paths(builder, RULE_UNIX, &options->sockets, "--unix");
    return status == 0 ? add_denies(builder, session) : status;
}

int grants_add(struct policy_builder *builder, const struct session *session)
{
    char **writable = writable_places(&session->options->write);
    const struct surroundings around = {
        .root = session->root,
        .home = or_null(session->home),
        .path = getenv("PATH"),
        .tmp = or_null(session->tmp),
        .shim = session->shim,
        .command = session->command,
        .protect = session->options->protect,
        .writable = (const char *const *)writable,
    };
    int status = writable == NULL ? setup_error("out of memory") : add_options(builder, session);

    if (status == 0)
        status = check(builder, defaults_add(builder, &around));
    if (status == 0)
        status = add_outer_shim(builder, &around);
    if (status == 0)
        status = add_session(builder, session);
    free_places(writable);
    return status;
}
