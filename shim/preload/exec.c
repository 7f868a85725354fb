/* SPDX-License-Identifier: MIT */
#include "exec.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "call.h"
#include "env.h"
#include "hooks.h"
#include "load.h"
#include "os.h"

/* How many words a wrapper puts in front: cordon --hand PATH. A shell puts two. */
enum { WRAPPER_WORDS = 3 };

static __thread struct exec_room *kept __attribute__((tls_model("initial-exec")));

static size_t count(char *const list[])
{
    size_t n = 0;

    while (list != NULL && list[n] != NULL)
        n++;
    return n;
}

/* The room of this thread. If it is in use by another one, that was a child of vfork, and is gone;
 * if by this one, then we are in a signal handler that interrupted an exec. */
static struct exec_room *find_room(size_t size)
{
    int self = (int)CALL(SYS_gettid, 0);
    struct exec_room *room = kept;
    void *memory;

    if (room != NULL && room->user != self && room->size >= size) {
        room->user = self;
        return room;
    }
    if (os_map(size, &memory) < 0)
        return NULL;
    if (room == NULL || room->user != self) {
        if (room != NULL)
            os_unmap(room, room->size);
        kept = memory;
    }
    room = memory;
    room->size = size;
    room->user = self;
    return room;
}

struct exec_room *exec_begin(char *const argv[], char *const envp[])
{
    size_t words = count(argv) + WRAPPER_WORDS + 3;
    size_t size = sizeof(struct exec_room) + words * sizeof(char *) + env_size(envp);
    struct exec_room *room = find_room((size + 0x3fff) & ~(size_t)0xfff);

    if (room == NULL)
        return NULL;
    room->given = envp;
    room->argv = (char **)room->tail;
    room->memory = room->argv + words;
    room->envp = env_make(room->memory, envp, load_hold.image->wall != WALL_WRAP);
    if (room->envp == NULL) {
        exec_end(room);
        return NULL;
    }
    return room;
}

void exec_end(struct exec_room *room)
{
    room->user = 0;
    if (room != kept)
        os_unmap(room, room->size);
}

char **exec_environ(struct exec_room *room, long judged)
{
    return judged == PROGRAM_FOREIGN ? env_make(room->memory, room->given, false) : room->envp;
}

void exec_wrap(struct exec_room *room, const char **path, char *const **argv)
{
    static char name[] = "cordon";
    static char option[] = "--hand";

    if (load_hold.image->wall != WALL_WRAP)
        return;
    size_t words = count(*argv); /* perhaps a shell's, in this very room */
    memmove(room->argv + WRAPPER_WORDS, *argv, words * sizeof **argv);
    room->argv[WRAPPER_WORDS + words] = NULL;
    room->argv[0] = name;
    room->argv[1] = option;
    room->argv[2] = (char *)*path;
    *path = image_text(load_hold.image, IMAGE_COMMAND);
    *argv = room->argv;
}

/* --- one file --------------------------------------------------------------------------------- */

static long run(struct exec_room *room, const char *path, char *const argv[])
{
    long judged = program_judge(AT_FDCWD, path, true, &room->program);

    if (judged < 0)
        return judged;
    exec_wrap(room, &path, &argv);
    return CALL(SYS_execve, path, argv, exec_environ(room, judged));
}

/* By descriptor, or from one. A wrapper can only be told a name. */
static long run_at(struct exec_room *room, int dir, const char *path, char *const argv[], int flags)
{
    bool empty = path[0] == '\0' && (flags & AT_EMPTY_PATH);
    struct fd_name own = call_fd_name(dir < 0 ? 0 : dir);
    long judged = empty ? program_judge(AT_FDCWD, own.text, true, &room->program)
                        : program_judge(dir, path, !(flags & AT_SYMLINK_NOFOLLOW), &room->program);

    if (judged < 0)
        return judged;
    if (load_hold.image->wall == WALL_WRAP) {
        int fd = (int)CALL(SYS_openat, empty ? AT_FDCWD : dir, empty ? own.text : path,
                           O_PATH | O_CLOEXEC);
        long error = fd < 0 ? fd : call_end(fd, os_path_of(fd, room->path, sizeof room->path));
        return error < 0 ? error : run(room, room->path, argv);
    }
    return CALL(SYS_execveat, dir, path, argv, exec_environ(room, judged), flags);
}

long exec_at(int dir, const char *path, char *const argv[], char *const envp[], int flags)
{
    struct exec_room *room;
    long error;

    if (!load_is_ready() || call_is_wild(path))
        return flags == 0 && dir == AT_FDCWD ? CALL(SYS_execve, path, argv, envp)
                                             : CALL(SYS_execveat, dir, path, argv, envp, flags);
    room = exec_begin(argv, envp);
    if (room == NULL)
        return -ENOMEM;
    error = flags == 0 && (dir == AT_FDCWD || path[0] == '/')
                ? run(room, path, argv)
                : run_at(room, dir, path, argv, flags);
    exec_end(room);
    return error;
}

long exec_fd(int fd, char *const argv[], char *const envp[])
{
    if (fd < 0 || argv == NULL || envp == NULL)
        return -EINVAL;
    return exec_at(fd, "", argv, envp, AT_EMPTY_PATH);
}

/* --- PATH ------------------------------------------------------------------------------------- */

/* Writes "directory/file" to room->path; an empty directory is the working directory. */
static bool set_candidate(struct exec_room *room, const char *directory, size_t length,
                          const char *file)
{
    size_t name = strlen(file);

    if (length + name + 2 > sizeof room->path)
        return false;
    memcpy(room->path, directory, length);
    if (length > 0)
        room->path[length++] = '/';
    memcpy(room->path + length, file, name + 1);
    return true;
}

static bool goes_on(long error)
{
    return error == -EACCES || error == -ENOENT || error == -ESTALE || error == -ENOTDIR ||
           error == -ENODEV || error == -ETIMEDOUT;
}

long exec_each(struct exec_room *room, const char *file,
               long (*attempt)(struct exec_room *room, void *context), void *context)
{
    const char *list = env_get(environ, "PATH");
    bool denied = false;
    long error = -ENOENT;

    if (file[0] == '\0')
        return -ENOENT;
    if (strlen(file) > NAME_MAX && strchr(file, '/') == NULL)
        return -ENAMETOOLONG;
    if (strchr(file, '/') != NULL)
        return set_candidate(room, "", 0, file) ? attempt(room, context) : -ENAMETOOLONG;
    if (list == NULL)
        list = "/bin:/usr/bin";
    for (;; list++) {
        size_t length = strcspn(list, ":");
        if (set_candidate(room, list, length, file)) {
            error = attempt(room, context);
            denied = denied || error == -EACCES;
            if (!goes_on(error))
                return error;
        }
        list += length;
        if (*list == '\0')
            return denied ? -EACCES : error;
    }
}

/* What is neither a program nor a script with a first line is the shell's. */
static long attempt_exec(struct exec_room *room, void *context)
{
    char *const *argv = context;
    static char shell[] = "/bin/sh";
    long error = run(room, room->path, argv);

    if (error != -ENOEXEC)
        return error;
    size_t words = count(argv);
    room->argv[0] = shell;
    room->argv[1] = room->path;
    if (words > 1)
        memcpy(room->argv + 2, argv + 1, words * sizeof *argv);
    else
        room->argv[2] = NULL;
    return run(room, shell, room->argv);
}

long exec_search(const char *file, char *const argv[], char *const envp[])
{
    struct exec_room *room;
    long error;

    if (call_is_wild(file))
        return -EFAULT;
    if (!load_is_ready()) /* nothing of the program's own runs then */
        return -EACCES;
    room = exec_begin(argv, envp);
    if (room == NULL)
        return -ENOMEM;
    error = exec_each(room, file, attempt_exec, (void *)argv);
    exec_end(room);
    return error;
}

/* --- lists ------------------------------------------------------------------------------------ */

static long run_list(enum exec_list form, const char *path, char **argv, char *const envp[])
{
    return form == EXEC_LIST_SEARCH ? exec_search(path, argv, envp)
                                    : exec_at(AT_FDCWD, path, argv, envp, 0);
}

long exec_list(enum exec_list form, const char *path, const char *arg, va_list args)
{
    char *few[32];
    char **argv = few;
    char *const *envp = environ;
    size_t words = 1;
    va_list counted;
    long error = 0;

    va_copy(counted, args);
    for (const char *word = arg; word != NULL; words++)
        word = va_arg(counted, const char *);
    va_end(counted);
    if (words > sizeof few / sizeof *few)
        error = os_map(words * sizeof *argv, (void **)&argv);
    if (error < 0)
        return error;
    argv[0] = (char *)arg;
    for (size_t i = 0; argv[i] != NULL; i++)
        argv[i + 1] = va_arg(args, char *);
    if (form == EXEC_LIST_ENVIRONMENT)
        envp = va_arg(args, char *const *);
    error = run_list(form, path, argv, envp);
    if (argv != few)
        os_unmap(argv, words * sizeof *argv);
    return error;
}
