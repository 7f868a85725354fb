/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "call.h"
#include "exec.h"
#include "hooks.h"
#include "next.h"
#include "os.h"

/* libc carries the actions out in the child, without a hook: so their paths are judged when they
 * are added. From where relative ones start is kept in the unused end of the actions. */
struct start_of_child {
    char *text; /* PATH_MAX bytes, or NULL */
    int fd;     /* plus one; 0: none */
};

static struct start_of_child *start_in(const posix_spawn_file_actions_t *actions)
{
    _Static_assert(sizeof actions->__pad >= 2 * sizeof(struct start_of_child), "there is room");
    const int *end = actions->__pad + sizeof actions->__pad / sizeof *actions->__pad;

    return (struct start_of_child *)(uintptr_t)end - 1;
}

/* The path as the child will see it: from *dir. Uses `room`, of PATH_MAX bytes. NULL: too long. */
static const char *seen_by_child(const posix_spawn_file_actions_t *actions, const char *path,
                                 int *dir, char *room)
{
    *dir = AT_FDCWD;
    if (actions == NULL || path[0] == '/')
        return path;
    const struct start_of_child *start = start_in(actions);
    if (start->fd != 0)
        *dir = start->fd - 1;
    if (start->text == NULL)
        return path;
    size_t length = strlen(start->text);
    size_t more = strlen(path) + 1;
    if (length + 1 + more > PATH_MAX)
        return NULL;
    memmove(room, start->text, length);
    room[length] = '/';
    memmove(room + length + 1, path, more);
    return room;
}

/* --- actions ---------------------------------------------------------------------------------- */

/* Room for a path, for a moment. */
static int map_path(char **room)
{
    return os_map(PATH_MAX, (void **)room);
}

static long judge_action(const posix_spawn_file_actions_t *actions, const char *path, int flags)
{
    char *room;
    int dir;
    long error = map_path(&room);

    if (error < 0)
        return error;
    const char *seen = seen_by_child(actions, path, &dir, room);
    error = seen == NULL ? 0 : open_judge(dir, seen, flags);
    os_unmap(room, PATH_MAX);
    return error;
}

long spawn_add_open(posix_spawn_file_actions_t *actions, int fd, const char *path, int flags,
                    mode_t mode)
{
    long error = load_is_ready() ? judge_action(actions, path, flags) : 0;

    return error < 0 ? -error
                     : NEXT(posix_spawn_file_actions_addopen)(actions, fd, path, flags, mode);
}

/* Remembers where the child will be from here on. */
static long enter(posix_spawn_file_actions_t *actions, const char *path)
{
    struct start_of_child *start = start_in(actions);
    char *room;
    int dir;
    long error = map_path(&room);

    if (error < 0)
        return error;
    const char *seen = seen_by_child(actions, path, &dir, room);
    if (seen == NULL || strlen(seen) >= PATH_MAX) {
        os_unmap(room, PATH_MAX);
        return -ENAMETOOLONG;
    }
    memmove(room, seen, strlen(seen) + 1);
    if (start->text != NULL)
        os_unmap(start->text, PATH_MAX);
    start->text = room;
    if (dir == AT_FDCWD)
        start->fd = 0;
    return 0;
}

long spawn_add_chdir(posix_spawn_file_actions_t *actions, const char *path)
{
    long error = 0;

    if (load_is_ready())
        error = judge_action(actions, path, O_PATH);
    if (error == 0)
        error = -NEXT(posix_spawn_file_actions_addchdir_np)(actions, path);
    return error < 0 ? -error : -enter(actions, path);
}

long spawn_add_fchdir(posix_spawn_file_actions_t *actions, int fd)
{
    struct start_of_child *start = start_in(actions);
    int error = NEXT(posix_spawn_file_actions_addfchdir_np)(actions, fd);

    if (error != 0)
        return error;
    if (start->text != NULL)
        os_unmap(start->text, PATH_MAX);
    *start = (struct start_of_child){.fd = fd + 1};
    return 0;
}

long spawn_destroy(posix_spawn_file_actions_t *actions)
{
    struct start_of_child *start = start_in(actions);

    if (start->text != NULL)
        os_unmap(start->text, PATH_MAX);
    *start = (struct start_of_child){.fd = 0};
    return NEXT(posix_spawn_file_actions_destroy)(actions);
}

/* --- spawn ------------------------------------------------------------------------------------ */

struct request {
    pid_t *pid;
    const posix_spawn_file_actions_t *actions;
    const posix_spawnattr_t *attributes;
    char *const *argv;
};

/* Judges and starts `path`; a negative errno. */
static long start_child(struct exec_room *room, const struct request *request, const char *path)
{
    char *const *argv = request->argv;
    char *seen_room;
    int dir;
    long error = map_path(&seen_room);

    if (error < 0)
        return error;
    const char *seen = seen_by_child(request->actions, path, &dir, seen_room);
    error = seen == NULL ? -ENAMETOOLONG : program_judge(dir, seen, true, &room->program);
    os_unmap(seen_room, PATH_MAX);
    if (error < 0)
        return error;
    exec_wrap(room, &path, &argv);
    return -NEXT(posix_spawn)(request->pid, path, request->actions, request->attributes, argv,
                              exec_environ(room, error));
}

static long attempt_spawn(struct exec_room *room, void *context)
{
    return start_child(room, context, room->path);
}

long spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
           const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
    const struct request request = {pid, actions, attributes, argv};
    struct exec_room *room;
    long error;

    if (!load_is_ready())
        return NEXT(posix_spawn)(pid, path, actions, attributes, argv, envp);
    room = exec_begin(argv, envp);
    if (room == NULL)
        return ENOMEM;
    error = start_child(room, &request, path);
    exec_end(room);
    return -error;
}

long spawn_search(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                  const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
    struct request request = {pid, actions, attributes, argv};
    struct exec_room *room;
    long error;

    if (!load_is_ready())
        return NEXT(posix_spawnp)(pid, file, actions, attributes, argv, envp);
    room = exec_begin(argv, envp);
    if (room == NULL)
        return ENOMEM;
    error = exec_each(room, file, attempt_spawn, &request);
    exec_end(room);
    return -error;
}
