/* SPDX-License-Identifier: MIT */
#include "actions.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "call.h"
#include "hooks.h"
#include "os.h"

struct action {
    size_t size; /* of all of it, a multiple of 8 */
    enum action_kind kind;
    int fd;
    int more;
    char path[];
};

/* The actions in the order in which they were added. */
struct list {
    size_t size; /* of the memory */
    size_t used;
    char bytes[];
};

/* The list hangs on the end of libc's object, which libc sets to zero and does not use. */
static struct list **list_in(const posix_spawn_file_actions_t *actions)
{
    const int *end = actions->__pad + sizeof actions->__pad / sizeof *actions->__pad;

    _Static_assert(sizeof actions->__pad >= sizeof(struct list *), "there is room");
    return (struct list **)(uintptr_t)end - 1;
}

static struct action *action_at(const struct list *list, size_t offset)
{
    return (struct action *)(uintptr_t)(list->bytes + offset);
}

/* Makes room for `more` bytes. */
static int grow(struct list **list, size_t more)
{
    struct list *old = *list;
    size_t used = old == NULL ? 0 : old->used;
    size_t size = 2 * (sizeof *old + used + more + 2048);
    void *memory;

    if (old != NULL && old->size - sizeof *old - used >= more)
        return 0;
    int error = os_map(size, &memory);
    if (error < 0)
        return error;
    *list = memory;
    (*list)->size = size;
    (*list)->used = used;
    if (old != NULL) {
        memcpy((*list)->bytes, old->bytes, used);
        os_unmap(old, old->size);
    }
    return 0;
}

long actions_keep(posix_spawn_file_actions_t *actions, enum action_kind kind, int fd, int more,
                  const char *path)
{
    struct list **list = list_in(actions);
    size_t length = path == NULL ? 0 : strlen(path);
    size_t size = (sizeof(struct action) + length + 1 + 7) & ~(size_t)7;
    int error = grow(list, size);

    if (error < 0)
        return error;
    struct action *action = action_at(*list, (*list)->used);
    *action = (struct action){.size = size, .kind = kind, .fd = fd, .more = more};
    memcpy(action->path, path == NULL ? "" : path, length + 1);
    (*list)->used += size;
    return 0;
}

void actions_forget(posix_spawn_file_actions_t *actions)
{
    struct list **list = list_in(actions);

    if (*list != NULL)
        os_unmap(*list, (*list)->size);
    *list = NULL;
}

/* --- judging ---------------------------------------------------------------------------------- */

/* Where the child stands: at `text` as seen from `dir`. */
struct child {
    int dir;
    char text[PATH_MAX]; /* "" is `dir` itself */
    char joined[PATH_MAX];
};

/* The path as seen from child->dir; NULL: too long. */
static const char *seen(struct child *child, const char *path, int *dir)
{
    size_t length = strlen(child->text);
    size_t more = strlen(path);

    *dir = child->dir;
    if (path[0] == '/' || length == 0)
        return path;
    if (length + 1 + more >= sizeof child->joined)
        return NULL;
    memcpy(child->joined, child->text, length);
    child->joined[length] = '/';
    memcpy(child->joined + length + 1, path, more + 1);
    return child->joined;
}

/* The descriptor of this process that the child knows as `fd` when it has come to `end`; -1 if the
 * child will have opened it itself. */
static int origin_of(const struct list *list, size_t end, int fd)
{
    int origin = fd;

    for (size_t at = 0; at < end; at += action_at(list, at)->size) {
        const struct action *action = action_at(list, at);
        if (action->kind == ACTION_OPEN && action->fd == fd)
            origin = -1;
        else if (action->kind == ACTION_DUP && action->more == fd)
            origin = origin_of(list, at, action->fd);
    }
    return origin;
}

static long enter(struct child *child, const char *path)
{
    int dir;
    const char *text = seen(child, path, &dir);
    size_t length = text == NULL ? PATH_MAX : strlen(text);
    long error = length >= PATH_MAX ? -ENAMETOOLONG : open_judge(dir, text, O_PATH);

    if (error < 0)
        return error;
    memmove(child->text, text, length + 1);
    return 0;
}

/* A directory that the child will have opened by then cannot be looked at before. */
static long enter_fd(struct child *child, int origin)
{
    struct call call;

    if (origin >= 0) {
        child->dir = origin;
        child->text[0] = '\0';
        return open_judge(origin, ".", O_PATH);
    }
    if (!call_begin(&call, "chdir", AT_FDCWD, "."))
        return 0;
    return call_refuse(&call, INTENT_STAT, "posix_spawn: change to the directory by its name");
}

static long judge_list(struct child *child, const struct list *list)
{
    long error = 0;

    for (size_t at = 0; error == 0 && at < list->used; at += action_at(list, at)->size) {
        const struct action *action = action_at(list, at);
        int dir;
        if (action->kind == ACTION_CHDIR) {
            error = enter(child, action->path);
        } else if (action->kind == ACTION_FCHDIR) {
            error = enter_fd(child, origin_of(list, at, action->fd));
        } else if (action->kind == ACTION_OPEN) {
            const char *path = seen(child, action->path, &dir);
            error = path == NULL ? -ENAMETOOLONG : open_judge(dir, path, action->more);
        }
    }
    return error;
}

long actions_judge(const posix_spawn_file_actions_t *actions, const char *path,
                   struct program_room *room)
{
    const struct list *list = actions == NULL ? NULL : *list_in(actions);
    struct child *child;
    int dir;

    if (list == NULL)
        return program_judge(AT_FDCWD, path, true, room);
    long error = os_map(sizeof *child, (void **)&child);
    if (error < 0)
        return error;
    child->dir = AT_FDCWD;
    error = judge_list(child, list);
    if (error == 0) {
        path = seen(child, path, &dir);
        error = path == NULL ? -ENAMETOOLONG : program_judge(dir, path, true, room);
    }
    os_unmap(child, sizeof *child);
    return error;
}
