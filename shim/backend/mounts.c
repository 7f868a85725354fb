/* SPDX-License-Identifier: MIT */
#include "mounts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What the policy says at a canonical path. A wall is built for one layer: those around it stand.
 */
static struct layer_at stand(const struct policy *policy, const char *path)
{
    struct policy_at at;

    decide_start(policy, &at);
    if (!decide_follow(policy, &at, path))
        at.layers[0] = (struct layer_at){.socket = POLICY_NONE};
    return at.layers[0];
}

static bool is_above(const char *root, const char *path)
{
    return path_is_below(root, path) && strcmp(root, path) != 0;
}

/* The nearest rule by path above a path, or NULL. A pattern has no mount: it does not change what
 * is visible. */
static const char *rule_above(const struct policy *policy, const char *path)
{
    const char *nearest = NULL;

    for (uint32_t i = 0; i < policy->rules; i++) {
        const struct policy_rule *rule = &policy_rules(policy)[i];
        const char *root = policy_string(policy, rule->text);
        if (rule->is_path && rule->kind != RULE_UNIX && is_above(root, path) &&
            (nearest == NULL || strlen(root) > strlen(nearest)))
            nearest = root;
    }
    return nearest;
}

/* The access that a rule of that path gives; without one, that of the empty tree. */
static enum access access_by(const struct policy *policy, const char *rule)
{
    return rule == NULL ? ACCESS_NONE : (enum access)stand(policy, rule).access;
}

/* The nearest one with a mount of its own: one that changes nothing has none. */
static const char *mount_above(const struct policy *policy, const char *path)
{
    const char *nearest = rule_above(policy, path);

    while (nearest != NULL) {
        const char *next = rule_above(policy, nearest);
        if (access_by(policy, nearest) != access_by(policy, next))
            break;
        nearest = next;
    }
    return nearest;
}

bool mounts_hold(const struct policy *policy, const struct policy_rule *rule)
{
    const char *path = policy_string(policy, rule->text);
    struct stat st;

    if (!rule->is_path)
        return false;
    /* What is not there cannot be covered without leaving a file behind. */
    return stand(policy, path).access >= access_by(policy, mount_above(policy, path)) ||
           lstat(path, &st) == 0;
}

/* Takes the path along; NULL: no memory. */
static int append(struct mounts *mounts, char *path, struct mount mount)
{
    struct mount *list = reallocarray(mounts->list, mounts->count + 1, sizeof *list);

    if (list != NULL)
        mounts->list = list;
    if (list == NULL || path == NULL) {
        free(path);
        return -ENOMEM;
    }
    mount.path = path;
    list[mounts->count++] = mount;
    return 0;
}

/* Every directory between a write grant and what is taken away inside of it. */
static int pin_way(struct mounts *mounts, const char *outer, const char *path)
{
    size_t length = strcmp(outer, "/") == 0 ? 0 : strlen(outer);
    const char *slash = path + length;
    int error = 0;

    while (error == 0 && (slash = strchr(slash + 1, '/')) != NULL)
        error = append(mounts, strndup(path, (size_t)(slash - path)),
                       (struct mount){.access = ACCESS_WRITE, .mode = S_IFDIR, .pin = true});
    return error;
}

static int plan_rule(struct mounts *mounts, const struct policy *policy,
                     const struct policy_rule *rule)
{
    const char *path = policy_string(policy, rule->text);
    const char *outer = mount_above(policy, path);
    enum access outside = access_by(policy, outer);
    struct layer_at at = stand(policy, path);
    struct mount mount = {.access = (enum access)at.access};
    struct stat st;
    int error = 0;

    if (rule->kind == RULE_UNIX) {
        if (at.access != ACCESS_NONE || at.socket == POLICY_NONE)
            return 0;
        mount.socket = true;
    } else if (mount.access == outside) {
        return 0;
    }
    if (lstat(path, &st) < 0 || S_ISLNK(st.st_mode))
        return 0;
    mount.mode = st.st_mode;
    if (outside == ACCESS_WRITE && mount.access < outside)
        error = pin_way(mounts, outer, path);
    return error < 0 ? error : append(mounts, strdup(path), mount);
}

/* The command has to be there for its helper, whatever the policy says, and the shim to be loaded.
 */
static int plan_own(struct mounts *mounts, const struct policy *policy, const char *path)
{
    struct stat st;

    if (path[0] == '\0' || decide(policy, path, INTENT_READ).allowed || lstat(path, &st) < 0)
        return 0;
    return append(mounts, strdup(path), (struct mount){.access = ACCESS_READ, .mode = st.st_mode});
}

/* In the order of the text an ancestor comes first; of equals the pin goes last, and away. */
static int compare(const void *a, const void *b)
{
    const struct mount *left = a;
    const struct mount *right = b;
    int order = strcmp(left->path, right->path);

    return order != 0 ? order : (int)left->pin - (int)right->pin;
}

static void drop_doubles(struct mounts *mounts)
{
    size_t kept = 0;

    for (size_t i = 0; i < mounts->count; i++)
        if (kept > 0 && strcmp(mounts->list[kept - 1].path, mounts->list[i].path) == 0)
            free(mounts->list[i].path);
        else
            mounts->list[kept++] = mounts->list[i];
    mounts->count = kept;
}

static void note_opened(struct mounts *mounts)
{
    for (size_t i = 0; i < mounts->count; i++)
        for (size_t j = 0; j < mounts->count; j++)
            if (is_above(mounts->list[i].path, mounts->list[j].path))
                mounts->list[i].opened = true;
}

int mounts_plan(const struct image *image, struct mounts *mounts)
{
    const struct policy *policy = image_policy(image);
    struct mounts new = {.count = 0};
    int error = 0;

    for (uint32_t i = 0; error == 0 && i < policy->rules; i++)
        if (policy_rules(policy)[i].is_path)
            error = plan_rule(&new, policy, &policy_rules(policy)[i]);
    if (error == 0)
        error = plan_own(&new, policy, image_text(image, IMAGE_COMMAND));
    if (error == 0)
        error = plan_own(&new, policy, image_text(image, IMAGE_SHIM));
    if (error < 0) {
        mounts_release(&new);
        return error;
    }
    if (new.count > 0)
        qsort(new.list, new.count, sizeof *new.list, compare);
    drop_doubles(&new);
    note_opened(&new);
    *mounts = new;
    return 0;
}

void mounts_release(struct mounts *mounts)
{
    for (size_t i = 0; i < mounts->count; i++)
        free(mounts->list[i].path);
    free(mounts->list);
    *mounts = (struct mounts){.count = 0};
}
