/* SPDX-License-Identifier: MIT */
#include "manner.h"
#include "os.h"

static int cordon_open(struct caller *caller, const struct aim *aim, int flags)
{
    return place_open(&caller->scope, &aim->start, aim->path, flags, 0600, NULL);
}

static int cordon_lookup(struct caller *caller, const struct aim *aim)
{
    return place_lookup(&caller->scope, &aim->start, aim->path, true, INTENT_STAT, NULL);
}

static int cordon_stat(struct caller *caller, const struct aim *aim, struct stat *st)
{
    return place_stat(&caller->scope, &aim->start, aim->path, true, st, NULL);
}

/* The effect may fail for another reason, or be gone when somebody looks: so the directory in which
 * it is about to happen is looked at, too. */
static int find_parent(struct caller *caller, const struct aim *aim, enum name_use use,
                       struct place *place)
{
    struct stat st;
    int error = place_parent(&caller->scope, &aim->start, aim->path, use, place, NULL);

    if (error == 0 && os_fstatat(place->dir, "", &st, AT_EMPTY_PATH) == 0 &&
        (tree_is_outside(caller->tree, &st) || tree_is_above(caller->tree, &st)))
        caller->escaped = true;
    return error;
}

static int cordon_unlink(struct caller *caller, const struct aim *aim, int flags)
{
    struct place place;
    int error = find_parent(caller, aim, NAME_GONE, &place);

    if (error < 0)
        return error;
    error = os_unlinkat(place.dir, place.name, flags);
    place_release(&place);
    return error;
}

static int cordon_mkdir(struct caller *caller, const struct aim *aim)
{
    struct place place;
    int error = find_parent(caller, aim, NAME_NEW, &place);

    if (error < 0)
        return error;
    error = os_mkdirat(place.dir, place.name, 0700);
    place_release(&place);
    return error;
}

static int cordon_rename(struct caller *caller, const struct aim *from, const struct aim *to)
{
    return place_rename(&caller->scope, &from->start, from->path, &to->start, to->path, 0, NULL);
}

const struct manner manner_cordon = {
    .open = cordon_open,
    .lookup = cordon_lookup,
    .stat = cordon_stat,
    .unlink = cordon_unlink,
    .mkdir = cordon_mkdir,
    .rename = cordon_rename,
};
