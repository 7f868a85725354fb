/* SPDX-License-Identifier: MIT */
#include "support_leaf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- system calls -------------------------------------------------------------------------------
 */

static int negative(int result)
{
    return result < 0 ? -errno : result;
}

/* A name in a directory, for the bare call the whole path. A source lies in the root. */
typedef int act_on_name(int root, int dir, const char *name);

static int act_unlink(int root, int dir, const char *name)
{
    (void)root;
    return negative(unlinkat(dir, name, 0));
}

static int act_rmdir(int root, int dir, const char *name)
{
    (void)root;
    return negative(unlinkat(dir, name, AT_REMOVEDIR));
}

static int act_mkdir(int root, int dir, const char *name)
{
    (void)root;
    return negative(mkdirat(dir, name, 0755));
}

static int act_symlink(int root, int dir, const char *name)
{
    (void)root;
    return negative(symlinkat("anything", dir, name));
}

static int act_mkfifo(int root, int dir, const char *name)
{
    (void)root;
    return negative(mknodat(dir, name, S_IFIFO | 0644, 0));
}

static int act_link_new(int root, int dir, const char *name)
{
    return negative(linkat(root, "f", dir, name, 0));
}

/* An object: a path for the bare call, else the magic link of its descriptor, to be followed. */
typedef int act_on_object(int root, int dir, const char *path, bool follow);

static int act_link_old(int root, int dir, const char *path, bool follow)
{
    return negative(linkat(dir, path, root, "linked", follow ? AT_SYMLINK_FOLLOW : 0));
}

static int act_chmod(int root, int dir, const char *path, bool follow)
{
    (void)root;
    (void)follow;
    return negative(fchmodat(dir, path, 0711, 0));
}

static int act_utimens(int root, int dir, const char *path, bool follow)
{
    const struct timespec times[2] = {{.tv_sec = TREE_TOUCHED}, {.tv_sec = TREE_TOUCHED}};

    (void)root;
    return negative(utimensat(dir, path, times, follow ? 0 : AT_SYMLINK_NOFOLLOW));
}

/* Who may not give files away gives them to himself: then only the errno tells. */
static int act_chown(int root, int dir, const char *path, bool follow)
{
    int flags = follow ? 0 : AT_SYMLINK_NOFOLLOW;

    (void)root;
    if (fchownat(dir, path, 1, 1, flags) == 0)
        return 0;
    return negative(fchownat(dir, path, geteuid(), getegid(), flags));
}

struct operation {
    const char *name;
    enum { STAT, READLINK, NAME, OBJECT, RENAME_FROM, RENAME_TO } kind;
    bool follow;
    enum name_use use;
    act_on_name *on_name;
    act_on_object *on_object;
    const char *source;
};

static const struct operation operations[] = {
    {.name = "stat", .kind = STAT, .follow = true},
    {.name = "lstat", .kind = STAT},
    {.name = "readlink", .kind = READLINK},
    {.name = "unlink", .kind = NAME, .use = NAME_GONE, .on_name = act_unlink},
    {.name = "rmdir", .kind = NAME, .use = NAME_GONE, .on_name = act_rmdir},
    {.name = "mkdir", .kind = NAME, .use = NAME_NEW, .on_name = act_mkdir},
    {.name = "symlink", .kind = NAME, .use = NAME_NEW, .on_name = act_symlink},
    {.name = "mkfifo", .kind = NAME, .use = NAME_NEW, .on_name = act_mkfifo},
    {.name = "rename-from", .kind = RENAME_FROM},
    {.name = "rename-to(file)", .kind = RENAME_TO, .source = "source"},
    {.name = "rename-to(dir)", .kind = RENAME_TO, .source = "source-dir"},
    {.name = "link-old", .kind = OBJECT, .on_object = act_link_old},
    {.name = "link-old-FOLLOW", .kind = OBJECT, .follow = true, .on_object = act_link_old},
    {.name = "link-new", .kind = NAME, .use = NAME_NEW, .on_name = act_link_new},
    {.name = "chmod", .kind = OBJECT, .follow = true, .on_object = act_chmod},
    {.name = "utimens-NOF", .kind = OBJECT, .on_object = act_utimens},
    {.name = "chown-NOF", .kind = OBJECT, .on_object = act_chown},
};

/* --- on a path
 * ------------------------------------------------------------------------------------ */

static void tell_kind(mode_t mode, char *outcome, size_t size)
{
    const char *kind = S_ISREG(mode) ? "reg" : S_ISDIR(mode) ? "dir" : "lnk";

    snprintf(outcome, size, "%s", kind);
}

static int call_stat(const struct scene *scene, bool follow, const char *path, char *outcome,
                     size_t size)
{
    struct stat st;
    int error = scene->scope != NULL
                    ? place_stat(scene->scope, scene->start, path, follow, &st, NULL)
                    : negative(fstatat(scene->root, path, &st, follow ? 0 : AT_SYMLINK_NOFOLLOW));

    if (error == 0)
        tell_kind(st.st_mode, outcome, size);
    return error;
}

static int call_readlink(const struct scene *scene, const char *path, char *outcome, size_t size)
{
    char target[TREE_TEXT];
    size_t base = strlen(scene->tree->base);
    int dir = scene->root;

    if (scene->scope != NULL) {
        dir = place_lookup(scene->scope, scene->start, path, false, INTENT_STAT, NULL);
        if (dir < 0)
            return dir;
        path = "";
    }
    int length = negative((int)readlinkat(dir, path, target, sizeof target - 1));
    if (scene->scope != NULL) {
        close(dir);
        if (length == -ENOENT) /* the kernel's word for a descriptor of what is no link */
            length = -EINVAL;
    }
    if (length < 0)
        return length;
    target[length] = '\0';
    bool absolute = strncmp(target, scene->tree->base, base) == 0;
    snprintf(outcome, size, "->%.64s", absolute ? target + base + 1 : target);
    return 0;
}

static int call_on_name(const struct scene *scene, const struct operation *operation,
                        const char *path)
{
    struct place place;

    if (scene->scope == NULL)
        return operation->on_name(scene->root, scene->root, path);
    int error = place_parent(scene->scope, scene->start, path, operation->use, &place, NULL);
    if (error < 0)
        return error;
    error = operation->on_name(scene->root, place.dir, place.name);
    place_release(&place);
    return error;
}

/* To link a file is to give it another name under which it may be written: hence that intent. */
static int call_on_object(const struct scene *scene, const struct operation *operation,
                          const char *path)
{
    char link[64];

    if (scene->scope == NULL)
        return operation->on_object(scene->root, scene->root, path, operation->follow);
    int fd = place_lookup(scene->scope, scene->start, path, operation->follow, INTENT_WRITE, NULL);
    if (fd < 0)
        return fd;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    int error = operation->on_object(scene->root, AT_FDCWD, link, true);
    close(fd);
    return error;
}

static int call_rename(const struct scene *scene, const char *from, const char *to)
{
    if (scene->scope == NULL)
        return negative(renameat(scene->root, from, scene->root, to));
    return place_rename(scene->scope, scene->start, from, scene->start, to, 0, NULL);
}

const struct operation *operation_named(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
        if (strlen(operations[i].name) == length && strncmp(operations[i].name, name, length) == 0)
            return &operations[i];
    return NULL;
}

const char *operation_name(const struct operation *operation)
{
    return operation->name;
}

void operation_call(const struct operation *operation, const struct scene *scene, const char *path,
                    char *outcome, size_t size)
{
    int error = -ENOSYS;

    snprintf(outcome, size, "ok");
    switch (operation->kind) {
    case STAT:
        error = call_stat(scene, operation->follow, path, outcome, size);
        break;
    case READLINK:
        error = call_readlink(scene, path, outcome, size);
        break;
    case NAME:
        error = call_on_name(scene, operation, path);
        break;
    case OBJECT:
        error = call_on_object(scene, operation, path);
        break;
    case RENAME_FROM:
        error = call_rename(scene, path, "moved");
        break;
    case RENAME_TO:
        error = call_rename(scene, operation->source, path);
        break;
    default:
        break;
    }
    if (error < 0)
        snprintf(outcome, size, "%s", strerrorname_np(-error));
}
