/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "ask.h"
#include "os.h"
#include "place_judge.h"

static int lookup_plain(const struct scope *scope, const struct start *start, const char *path,
                        bool follow, enum intent intent)
{
    struct plain plain;

    if (!place_follow(scope, start, path, &plain) ||
        !decide_here(scope->policy, &plain.at, intent).allowed)
        return -ELOOP;
    return os_open_plain(plain.dir, plain.path, O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW), 0);
}

static int lookup_by_asking(const struct scope *scope, const struct start *start, const char *path,
                            bool follow, enum intent intent, struct report *report)
{
    struct asked asked;
    struct policy_at at;
    struct verdict verdict;
    int result = ask(scope->view, start, path, follow ? 0 : O_NOFOLLOW, &asked);

    if (result < 0)
        return result;
    at = place_look_up(scope, asked.text);
    verdict = decide_here(scope->policy, &at, intent);
    if (verdict.allowed)
        return asked.fd;
    os_close(asked.fd);
    return place_refuse(asked.text, verdict, intent, report);
}

static int lookup_by_walk(const struct scope *scope, struct walk *walk, bool follow,
                          enum intent intent, struct report *report)
{
    int error = walk_object(walk, follow);
    bool hidden = error == -EACCES && walk_has_name(walk) && walk_name_place(walk) == 0;
    struct verdict verdict;

    if (error < 0 && !hidden)
        return error;
    verdict = place_judge(scope, walk, intent);
    if (hidden && (verdict.allowed || verdict.rule == POLICY_NONE))
        return error;
    return verdict.allowed ? walk_steal(walk)
                           : place_refuse(place_text(walk), verdict, intent, report);
}

int place_lookup(const struct scope *scope, const struct start *start, const char *path,
                 bool follow, enum intent intent, struct report *report)
{
    struct walk *walk;
    int result;

    if (path == NULL)
        return -EFAULT;
    result = lookup_plain(scope, start, path, follow, intent);
    if (result == -ELOOP)
        result = lookup_by_asking(scope, start, path, follow, intent, report);
    if (!place_must_walk(result) && !place_may_be_hidden(result, report))
        return result;
    result = walk_new(&walk, scope->view, start, path);
    if (result < 0)
        return result;
    result = lookup_by_walk(scope, walk, follow, intent, report);
    walk_free(walk);
    return result;
}

/* A bare name in a known directory: nothing to go through, and a link shows itself. */
static int stat_name(const struct scope *scope, const struct start *start, const char *name,
                     bool follow, struct stat *st)
{
    struct name whole = {name, strlen(name)};
    struct plain plain;
    int error;

    if (whole.length == 0 || strchr(name, '/') != NULL || name_is_dotdot(whole) ||
        !place_follow(scope, start, name, &plain) ||
        !decide_here(scope->policy, &plain.at, INTENT_STAT).allowed)
        return -ELOOP;
    error = os_fstatat(plain.dir, name, st, AT_SYMLINK_NOFOLLOW);
    return error == 0 && follow && S_ISLNK(st->st_mode) ? -ELOOP : error;
}

int place_stat(const struct scope *scope, const struct start *start, const char *path, bool follow,
               struct stat *st, struct report *report)
{
    int result;

    if (path == NULL)
        return -EFAULT;
    result = stat_name(scope, start, path, follow, st);
    if (!place_must_walk(result))
        return result;
    int fd = place_lookup(scope, start, path, follow, INTENT_STAT, report);
    if (fd < 0)
        return fd;
    result = os_fstatat(fd, "", st, AT_EMPTY_PATH);
    os_close(fd);
    return result;
}
