/* SPDX-License-Identifier: MIT */
#include "resolve.h"

#include <errno.h>
#include <sys/stat.h>

/* Go's filepath.EvalSymlinks, which clean mode is measured against, gives up here. */
enum { CLEAN_LINKS = 255 };

/* The last name: a link is put in front of what is left, anything else is the answer. Returns 1 if
 * the walk has arrived. */
static int finish(struct walk *walk)
{
    struct os_id id;
    int error;

    if (!walk_has_name(walk))
        error = walk_settle(walk);
    else if ((error = walk_identify_leaf(walk, &id)) == 0) {
        if (S_ISLNK(id.mode)) {
            error = walk_follow_leaf(walk);
            return error;
        }
        error = walk->slash && !S_ISDIR(id.mode) ? -ENOTDIR : walk_name_place(walk);
    }
    return error < 0 ? error : 1;
}

/* Goes as far as there is something; -ENOENT leaves walk->todo at what is missing. */
static int go(struct walk *walk)
{
    int arrived = 0;

    while (arrived == 0) {
        arrived = walk_parent(walk);
        if (arrived == 0)
            arrived = finish(walk);
    }
    return arrived < 0 ? arrived : 0;
}

/* Only the very last name may be missing. */
static int allow_missing_name(struct walk *walk)
{
    const char *rest = walk->todo;
    struct name name;

    if (!path_next(&rest, &name) || !path_ends(rest) || name_is_dotdot(name))
        return -ENOENT;
    return path_push(&walk->path, name);
}

/* All that is missing is kept, unless a link named it: that one dangles. */
static int allow_missing_rest(struct walk *walk)
{
    bool dangles = walk->todo < walk->own;
    int error = path_append_clean(&walk->path, walk->todo);

    return error == 0 && dangles ? -ENOENT : error;
}

static int resolve_cleaned(enum cordon_mode mode, const struct start *start, const char *path,
                           struct walk **walk)
{
    char text[PATH_MAX];
    struct path cleaned = {.text = text, .size = sizeof text};
    int error = path_set(&cleaned, path[0] == '/' ? "/" : start->path);

    if (error == 0)
        error = path_append_clean(&cleaned, path);
    if (error < 0)
        return error;
    error = walk_new(walk, &view_self, start, cleaned.length == 0 ? "/" : text);
    if (error < 0)
        return error;
    (*walk)->single = true;
    if (mode == CORDON_CLEAN)
        (*walk)->max_links = CLEAN_LINKS;
    error = go(*walk);
    if (error == -ENOENT)
        return mode == CORDON_CLEAN ? allow_missing_rest(*walk) : allow_missing_name(*walk);
    return error;
}

static int resolve_as_kernel(const struct start *start, const char *path, struct walk **walk)
{
    int error = walk_new(walk, &view_self, start, path);

    if (error < 0)
        return error;
    (*walk)->single = true;
    error = go(*walk);
    return error == -ENOENT ? allow_missing_name(*walk) : error;
}

int resolve(enum cordon_mode mode, const struct start *start, const char *path, struct walk **walk)
{
    struct walk *made = NULL;
    int error;

    if (path == NULL)
        return -EFAULT;
    if (path[0] == '\0' && mode != CORDON_CLEAN)
        return CORDON_EEMPTY;
    if (mode == CORDON_STRICT && path_has_dotdot(path))
        return CORDON_EDOTDOT;
    error = mode == CORDON_KERNEL ? resolve_as_kernel(start, path, &made)
                                  : resolve_cleaned(mode, start, path, &made);
    if (error == 0 || (error == -ENOENT && mode == CORDON_CLEAN && made != NULL))
        *walk = made;
    else if (made != NULL)
        walk_free(made);
    return error;
}

int resolve_existing(const char *path, struct walk **walk)
{
    const struct start here = {.fd = AT_FDCWD};
    int error;

    if (path == NULL)
        return -EFAULT;
    error = walk_new(walk, &view_self, &here, path);
    if (error < 0)
        return error;
    error = walk_object(*walk, true);
    if (error == 0 && (*walk)->ground != GROUND_KNOWN)
        error = -EACCES;
    if (error < 0)
        walk_free(*walk);
    return error;
}
