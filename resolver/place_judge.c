/* SPDX-License-Identifier: MIT */
#include "place_judge.h"

#include <string.h>

#include "os.h"

/* Follows an absolute text from the root, or from home if it lies below that. */
static bool follow_absolute(const struct scope *scope, const char *text, struct policy_at *at)
{
    const struct start *home = scope->home;

    if (home == NULL || home->path[1] == '\0' || !path_is_below(home->path, text)) {
        decide_start(scope->policy, at);
        return decide_follow(scope->policy, at, text);
    }
    *at = *home->at;
    return decide_follow(scope->policy, at, text + strlen(home->path));
}

bool place_follow(const struct scope *scope, const struct start *start, const char *path,
                  struct plain *plain)
{
    plain->dir = start->fd;
    plain->path = path;
    if (view_is_other(scope->view) && strstr(path, "proc") != NULL)
        return false;
    if (path[0] == '/' && scope->view->root != VIEW_SELF) {
        plain->dir = scope->view->root;
        plain->path += strspn(path, "/");
        if (plain->path[0] == '\0')
            plain->path = ".";
    }
    if (path[0] == '/')
        return follow_absolute(scope, path, &plain->at);
    if (start->at != NULL)
        plain->at = *start->at;
    else if (start->path == NULL || !follow_absolute(scope, start->path, &plain->at))
        return false;
    return decide_follow(scope->policy, &plain->at, path);
}

const char *place_text(const struct walk *walk)
{
    if (walk->ground != GROUND_KNOWN)
        return "";
    return walk->path.length == 0 ? "/" : walk->path.text;
}

struct policy_at place_look_up(const struct scope *scope, const char *text)
{
    struct policy_at at;

    follow_absolute(scope, text, &at);
    return at;
}

struct verdict place_judge(const struct scope *scope, const struct walk *walk, enum intent intent)
{
    struct policy_at at;

    if (walk->ground != GROUND_KNOWN)
        return (struct verdict){.allowed = walk->ground == GROUND_OBJECT, .rule = POLICY_NONE};
    if (scope->view->hides != NULL && scope->view->hides(walk->path.text))
        return (struct verdict){.allowed = false, .rule = POLICY_NONE};
    at = place_look_up(scope, walk->path.text);
    return decide_here(scope->policy, &at, intent);
}

int place_refuse(const char *text, struct verdict verdict, enum intent intent,
                 struct report *report)
{
    if (report == NULL)
        return -EACCES;
    report->denied = true;
    report->verdict = verdict;
    report->intent = intent;
    if (report->path != NULL && report->size > 0) {
        size_t length = strnlen(text, report->size - 1);
        memcpy(report->path, text, length);
        report->path[length] = '\0';
    }
    return -EACCES;
}

bool place_is_removed(int dir)
{
    struct os_id id;

    return os_identify(dir, "", &id) == 0 && id.links == 0;
}
