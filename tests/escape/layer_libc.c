/* SPDX-License-Identifier: MIT */
#include "layer.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/statfs.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include "attack.h"

const bool layer_is_raw = false;

/* libc exports these and declares them in no header of its own. */
int __open_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);
int __open(const char *path, int flags, ...);

static long result(long value)
{
    return value < 0 ? -errno : value;
}

long sys6(long number, long a, long b, long c, long d, long e, long f)
{
    return result(syscall(number, a, b, c, d, e, f));
}

/* --- opening ---------------------------------------------------------------------------------- */

long do_open(const char *path, int flags, mode_t mode)
{
    return result(open(path, flags, mode));
}

long do_openat(int dir, const char *path, int flags, mode_t mode)
{
    return result(openat(dir, path, flags, mode));
}

long do_creat(const char *path, mode_t mode)
{
    return result(creat(path, mode));
}

long do_open64(const char *path, int flags)
{
    return result(open64(path, flags));
}

long do_open_2(const char *path, int flags)
{
    return result(__open_2(path, flags));
}

long do_openat_2(int dir, const char *path, int flags)
{
    return result(__openat_2(dir, path, flags));
}

long do_openat64(int dir, const char *path, int flags)
{
    return result(openat64(dir, path, flags));
}

long do_open_internal(const char *path, int flags)
{
    return result(__open(path, flags));
}

/* The stream is never closed: an attack ends soon. */
static long number_of(FILE *file)
{
    return file == NULL ? -errno : fileno(file);
}

long do_fopen(const char *path, const char *mode)
{
    return number_of(fopen(path, mode));
}

long do_fopen64(const char *path, const char *mode)
{
    return number_of(fopen64(path, mode));
}

long do_freopen(const char *path, const char *mode)
{
    return number_of(freopen(path, mode, stdin));
}

long do_mkstemp(char *template)
{
    return result(mkstemp(template));
}

long do_mkdtemp(char *template)
{
    return mkdtemp(template) == NULL ? -errno : 0;
}

int do_list(const char *path)
{
    DIR *dir = opendir(path);
    const struct dirent *entry;

    if (dir == NULL)
        return -errno;
    while ((entry = readdir(dir)) != NULL)
        spill_text(entry->d_name, (long)strlen(entry->d_name));
    closedir(dir);
    return 0;
}

/* --- looking ---------------------------------------------------------------------------------- */

long do_stat(const char *path, struct stat *st)
{
    return result(stat(path, st));
}

long do_lstat(const char *path, struct stat *st)
{
    return result(lstat(path, st));
}

long do_fstatat(int dir, const char *path, struct stat *st, int flags)
{
    return result(fstatat(dir, path, st, flags));
}

long do_access(const char *path, int mode)
{
    return result(access(path, mode));
}

long do_readlink(const char *path, char *text, size_t size)
{
    return result(readlink(path, text, size));
}

long do_realpath(const char *path, char text[static 4096])
{
    return realpath(path, text) == NULL ? -errno : (long)strlen(text);
}

long do_chdir(const char *path)
{
    return result(chdir(path));
}

long do_fchdir(int fd)
{
    return result(fchdir(fd));
}

long do_getxattr(const char *path, const char *name, char *text, size_t size)
{
    return result(getxattr(path, name, text, size));
}

long do_listxattr(const char *path, char *text, size_t size)
{
    return result(listxattr(path, text, size));
}

long do_statfs(const char *path)
{
    struct statfs st;

    return result(statfs(path, &st));
}

long do_inotify(const char *path)
{
    int fd = inotify_init1(IN_CLOEXEC);

    return fd < 0 ? cannot("no inotify") : result(inotify_add_watch(fd, path, IN_ALL_EVENTS));
}

/* --- names ------------------------------------------------------------------------------------ */

long do_mkdir(const char *path)
{
    return result(mkdir(path, 0755));
}

long do_rmdir(const char *path)
{
    return result(rmdir(path));
}

long do_unlink(const char *path)
{
    return result(unlink(path));
}

long do_unlinkat(int dir, const char *path, int flags)
{
    return result(unlinkat(dir, path, flags));
}

long do_remove(const char *path)
{
    return result(remove(path));
}

long do_rename(const char *from, const char *to)
{
    return result(rename(from, to));
}

long do_renameat2(const char *from, const char *to, unsigned flags)
{
    return result(renameat2(AT_FDCWD, from, AT_FDCWD, to, flags));
}

long do_link(const char *from, const char *to)
{
    return result(link(from, to));
}

long do_linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
    return result(linkat(from_dir, from, to_dir, to, flags));
}

long do_symlink(const char *target, const char *path)
{
    return result(symlink(target, path));
}

long do_mkfifo(const char *path)
{
    return result(mkfifo(path, 0644));
}

long do_mknod(const char *path, mode_t mode, dev_t device)
{
    return result(mknod(path, mode, device));
}

/* --- metadata --------------------------------------------------------------------------------- */

long do_truncate(const char *path, off_t size)
{
    return result(truncate(path, size));
}

long do_chmod(const char *path, mode_t mode)
{
    return result(chmod(path, mode));
}

long do_chown(const char *path)
{
    return result(chown(path, geteuid(), getegid()));
}

long do_lchown(const char *path)
{
    return result(lchown(path, geteuid(), getegid()));
}

long do_utime(const char *path)
{
    const struct utimbuf times = {.actime = 1, .modtime = 1};

    return result(utime(path, &times));
}

long do_utimensat(int dir, const char *path, int flags)
{
    const struct timespec times[2] = {{.tv_sec = 2}, {.tv_sec = 2}};

    return result(utimensat(dir, path, times, flags));
}

long do_setxattr(const char *path, const char *name)
{
    return result(setxattr(path, name, "x", 1, 0));
}

long do_removexattr(const char *path, const char *name)
{
    return result(removexattr(path, name));
}

/* --- programs --------------------------------------------------------------------------------- */

long do_fork(void)
{
    return result(fork());
}

long do_execve(const char *path, char *const argv[], char *const envp[])
{
    return result(execve(path, argv, envp));
}

long do_execvp(const char *file, char *const argv[])
{
    return result(execvp(file, argv));
}

long do_fexecve(int fd, char *const argv[], char *const envp[])
{
    return result(fexecve(fd, argv, envp));
}

int do_spawn(const char *path, char *const argv[], const struct opening *opening)
{
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int error;

    posix_spawn_file_actions_init(&actions);
    error = opening->directory == NULL
                ? 0
                : posix_spawn_file_actions_addchdir_np(&actions, opening->directory);
    if (error == 0 && opening->path != NULL)
        error = posix_spawn_file_actions_addopen(&actions, opening->fd, opening->path,
                                                 opening->flags, 0644);
    if (opening->between != NULL)
        opening->between();
    if (error == 0)
        error = posix_spawn(&pid, path, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error != 0 ? -error : reap(pid);
}

/* What a shell could not do it tells by a status, not by an errno. */
int do_system(const char *command)
{
    int status = system(command); // NOLINT(cert-env33-c)

    return status == 0 ? 0 : status < 0 ? -errno : -EACCES;
}

int do_popen(const char *command)
{
    char text[512];
    size_t length;
    FILE *pipe = popen(command, "r"); // NOLINT(cert-env33-c)

    if (pipe == NULL)
        return -errno;
    while ((length = fread(text, 1, sizeof text, pipe)) > 0)
        spill_text(text, (long)length);
    return pclose(pipe) == 0 ? 0 : -EACCES;
}

int do_vfork_exec(const char *directory, const char *path, char *const argv[])
{
    pid_t pid = vfork(); // NOLINT: that is the point

    if (pid == 0) {
        if (chdir(directory) == 0) // NOLINT(clang-analyzer-unix.Vfork)
            execv(path, argv);
        _exit(errno);
    }
    return pid < 0 ? -errno : reap(pid);
}

int do_dlopen(const char *path)
{
    const char *why;

    if (dlopen(path, RTLD_NOW | RTLD_LOCAL) != NULL)
        return 0;
    why = dlerror();
    if (strstr(why, "No such file") != NULL)
        return -ENOENT;
    return strstr(why, "Permission denied") != NULL ? -EACCES : cannot(why);
}

long do_open_behind(const char *path)
{
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    void *found = libc == NULL ? NULL : dlsym(libc, "open");
    int (*function)(const char *, int, ...);

    if (found == NULL)
        return cannot("libc.so.6 has no open");
    memcpy(&function, &found, sizeof function);
    return result(function(path, O_RDONLY));
}

long do_chroot(const char *path)
{
    return result(chroot(path));
}
