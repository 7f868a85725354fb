/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cordon.h"
#include "error.h"
#include "os.h"
#include "place.h"
#include "resolve.h"

struct cordon_workspace {
    char *root;
    struct policy *policy; /* one grant: the root */
    struct policy_at at;   /* where a look-up stands at the root */
    int fd;
};

static const char *text_of(const struct walk *walk)
{
    return walk->path.length == 0 ? "/" : walk->path.text;
}

static struct start start_of(const cordon_workspace *workspace)
{
    return (struct start){.fd = workspace->fd, .path = workspace->root, .at = &workspace->at};
}

static int grant_root(cordon_workspace *workspace)
{
    struct policy_builder *builder = policy_builder_new();

    if (builder == NULL)
        return -ENOMEM;
    if (policy_add(builder, RULE_WRITE, workspace->root, "workspace") == 0)
        workspace->policy = policy_build(builder);
    policy_builder_free(builder);
    if (workspace->policy == NULL)
        return -ENOMEM;
    decide_start(workspace->policy, &workspace->at);
    decide_follow(workspace->policy, &workspace->at, workspace->root);
    return 0;
}

/* Takes the directory that the walk found as the root. */
static int settle_root(cordon_workspace *workspace, struct walk *walk)
{
    struct os_id id;
    int error = os_identify(walk->dir, "", &id);

    if (error < 0)
        return error;
    if (!S_ISDIR(id.mode))
        return CORDON_ENOTDIR;
    workspace->root = strdup(text_of(walk));
    if (workspace->root == NULL)
        return -ENOMEM;
    workspace->fd = walk_steal(walk);
    return workspace->fd < 0 ? workspace->fd : grant_root(workspace);
}

int cordon_workspace_new(const char *root, cordon_workspace **workspace)
{
    cordon_workspace *new;
    struct walk *walk;
    int error;

    if (root == NULL)
        return -EFAULT;
    if (root[0] == '\0')
        return CORDON_EEMPTY;
    if (root[0] != '/')
        return CORDON_ERELATIVE;
    error = resolve_existing(root, &walk);
    if (error < 0)
        return error_named(error);
    new = calloc(1, sizeof *new);
    error = -ENOMEM;
    if (new != NULL) {
        new->fd = -1;
        error = settle_root(new, walk);
    }
    walk_free(walk);
    if (error < 0)
        cordon_workspace_close(new);
    else
        *workspace = new;
    return error;
}

const char *cordon_workspace_root(const cordon_workspace *workspace)
{
    return workspace->root;
}

void cordon_workspace_close(cordon_workspace *workspace)
{
    if (workspace == NULL)
        return;
    if (workspace->fd >= 0)
        os_close(workspace->fd);
    free(workspace->policy);
    free(workspace->root);
    free(workspace);
}

static ssize_t give_text(const char *text, char *place, size_t size, bool cut)
{
    size_t length = strlen(text);

    if (length >= PATH_MAX && !cut)
        return CORDON_ETOOLONG;
    if (length >= size && !cut)
        return -ERANGE;
    if (size > 0) {
        size_t fits = length < size ? length : size - 1;
        memcpy(place, text, fits);
        place[fits] = '\0';
    }
    return (ssize_t)length;
}

ssize_t cordon_workspace_resolve(const cordon_workspace *workspace, enum cordon_mode mode,
                                 const char *path, char *place, size_t size)
{
    struct start start = start_of(workspace);
    struct walk *walk = NULL;
    ssize_t result =
        mode < CORDON_KERNEL || mode > CORDON_STRICT ? -EINVAL : resolve(mode, &start, path, &walk);

    if (walk == NULL)
        return error_named((int)result);
    if (walk->ground != GROUND_KNOWN || !path_is_below(workspace->root, text_of(walk))) {
        give_text(walk->ground == GROUND_KNOWN ? text_of(walk) : "", place, size, true);
        result = CORDON_EOUTSIDE;
    } else if (result == 0) {
        result = give_text(text_of(walk), place, size, false);
    }
    walk_free(walk);
    return result;
}

int cordon_workspace_open(const cordon_workspace *workspace, const char *path, int flags,
                          mode_t mode)
{
    struct start start = start_of(workspace);
    /* Whoever has a handle of a directory can go on from there: ancestors of the root are no places
     * to hand out, though their metadata is no secret. */
    struct scope scope = {
        .policy = workspace->policy, .view = &view_self, .home = &start, .handles = INTENT_READ};
    struct report report = {.denied = false};
    int fd = place_open(&scope, &start, path, flags, mode, &report);

    return report.denied ? CORDON_EOUTSIDE : error_named(fd);
}
