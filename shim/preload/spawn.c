/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "actions.h"
#include "call.h"
#include "exec.h"
#include "hooks.h"
#include "load.h"
#include "next.h"
#include "os.h"

/* --- actions ---------------------------------------------------------------------------------- */

long spawn_add_open(posix_spawn_file_actions_t *actions, int fd, const char *path, int flags,
                    mode_t mode)
{
    long error = actions_keep(actions, ACTION_OPEN, fd, flags, path);

    return error < 0 ? -error
                     : NEXT(posix_spawn_file_actions_addopen)(actions, fd, path, flags, mode);
}

long spawn_add_dup2(posix_spawn_file_actions_t *actions, int fd, int target)
{
    long error = actions_keep(actions, ACTION_DUP, fd, target, NULL);

    return error < 0 ? -error : NEXT(posix_spawn_file_actions_adddup2)(actions, fd, target);
}

long spawn_add_chdir(posix_spawn_file_actions_t *actions, const char *path)
{
    long error = actions_keep(actions, ACTION_CHDIR, -1, 0, path);

    return error < 0 ? -error : NEXT(posix_spawn_file_actions_addchdir_np)(actions, path);
}

long spawn_add_fchdir(posix_spawn_file_actions_t *actions, int fd)
{
    long error = actions_keep(actions, ACTION_FCHDIR, fd, 0, NULL);

    return error < 0 ? -error : NEXT(posix_spawn_file_actions_addfchdir_np)(actions, fd);
}

long spawn_destroy(posix_spawn_file_actions_t *actions)
{
    actions_forget(actions);
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
    long judged = actions_judge(request->actions, path, &room->program);

    if (judged < 0)
        return judged;
    exec_wrap(room, &path, &argv);
    return -NEXT(posix_spawn)(request->pid, path, request->actions, request->attributes, argv,
                              exec_environ(room, judged));
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
