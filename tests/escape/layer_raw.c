/* SPDX-License-Identifier: MIT */
#include "layer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attack.h"

const bool layer_is_raw = true;

long sys6(long number, long a, long b, long c, long d, long e, long f)
{
#if defined __x86_64__
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;

    __asm__ volatile("syscall"
                     : "+a"(number)
                     : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return number;
#elif defined __aarch64__
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;

    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
#else
#error "how does this machine make a system call?"
#endif
}

/* --- opening ---------------------------------------------------------------------------------- */

long do_open(const char *path, int flags, mode_t mode)
{
    return do_openat(AT_FDCWD, path, flags, mode);
}

long do_openat(int dir, const char *path, int flags, mode_t mode)
{
    return sys(SYS_openat, dir, path, flags, mode);
}

long do_creat(const char *path, mode_t mode)
{
    return do_open(path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

long do_open64(const char *path, int flags)
{
    return do_open(path, flags | O_LARGEFILE, 0);
}

long do_open_2(const char *path, int flags)
{
    return do_open(path, flags | O_CLOEXEC, 0);
}

long do_openat_2(int dir, const char *path, int flags)
{
    return do_openat(dir, path, flags | O_CLOEXEC, 0);
}

long do_openat64(int dir, const char *path, int flags)
{
    return do_openat(dir, path, flags | O_LARGEFILE, 0);
}

long do_open_internal(const char *path, int flags)
{
    return do_open(path, flags | O_NOCTTY, 0);
}

long do_fopen(const char *path, const char *mode)
{
    int flags = mode[0] == 'r' ? O_RDONLY : mode[0] == 'a' ? O_APPEND : O_TRUNC;

    return do_open(path, mode[0] == 'r' ? flags : flags | O_WRONLY | O_CREAT, 0666);
}

long do_fopen64(const char *path, const char *mode)
{
    return do_fopen(path, mode);
}

long do_freopen(const char *path, const char *mode)
{
    long fd = do_fopen(path, mode);

    return fd < 0 ? fd : sys(SYS_dup3, fd, 0, 0);
}

long do_mkstemp(char *template)
{
    strcpy(strstr(template, "XXXXXX"), "abcdef");
    return do_open(template, O_RDWR | O_CREAT | O_EXCL, 0600);
}

long do_mkdtemp(char *template)
{
    strcpy(strstr(template, "XXXXXX"), "abcdef");
    return do_mkdir(template);
}

int do_list(const char *path)
{
    _Alignas(8) char room[4096];
    long fd = do_open(path, O_RDONLY | O_DIRECTORY, 0);
    long size;

    if (fd < 0)
        return (int)fd;
    /* Names among other bytes: the harness looks for what it knows. */
    while ((size = sys(SYS_getdents64, fd, room, sizeof room)) > 0)
        spill_text(room, size);
    sys(SYS_close, fd);
    return (int)size;
}

/* --- looking ---------------------------------------------------------------------------------- */

long do_stat(const char *path, struct stat *st)
{
    return do_fstatat(AT_FDCWD, path, st, 0);
}

long do_lstat(const char *path, struct stat *st)
{
    return do_fstatat(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

long do_fstatat(int dir, const char *path, struct stat *st, int flags)
{
    return sys(SYS_newfstatat, dir, path, st, flags);
}

long do_access(const char *path, int mode)
{
    return sys(SYS_faccessat, AT_FDCWD, path, mode);
}

long do_readlink(const char *path, char *text, size_t size)
{
    return sys(SYS_readlinkat, AT_FDCWD, path, text, size);
}

/* As libc does in the end: where does each link lead? */
long do_realpath(const char *path, char text[static 4096])
{
    return do_readlink(path, text, 4096);
}

long do_chdir(const char *path)
{
    return sys(SYS_chdir, path);
}

long do_fchdir(int fd)
{
    return sys(SYS_fchdir, fd);
}

long do_getxattr(const char *path, const char *name, char *text, size_t size)
{
    return sys(SYS_getxattr, path, name, text, size);
}

long do_listxattr(const char *path, char *text, size_t size)
{
    return sys(SYS_listxattr, path, text, size);
}

long do_statfs(const char *path)
{
    struct statfs st;

    return sys(SYS_statfs, path, &st);
}

long do_inotify(const char *path)
{
    long fd = sys(SYS_inotify_init1, IN_CLOEXEC);

    return fd < 0 ? cannot("no inotify") : sys(SYS_inotify_add_watch, fd, path, IN_ALL_EVENTS);
}

/* --- names ------------------------------------------------------------------------------------ */

long do_mkdir(const char *path)
{
    return sys(SYS_mkdirat, AT_FDCWD, path, 0755);
}

long do_rmdir(const char *path)
{
    return do_unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

long do_unlink(const char *path)
{
    return do_unlinkat(AT_FDCWD, path, 0);
}

long do_unlinkat(int dir, const char *path, int flags)
{
    return sys(SYS_unlinkat, dir, path, flags);
}

long do_remove(const char *path)
{
    long error = do_unlink(path);

    return error == -EISDIR ? do_rmdir(path) : error;
}

long do_rename(const char *from, const char *to)
{
    return do_renameat2(from, to, 0);
}

long do_renameat2(const char *from, const char *to, unsigned flags)
{
    return sys(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags);
}

long do_link(const char *from, const char *to)
{
    return do_linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

long do_linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
    return sys(SYS_linkat, from_dir, from, to_dir, to, flags);
}

long do_symlink(const char *target, const char *path)
{
    return sys(SYS_symlinkat, target, AT_FDCWD, path);
}

long do_mkfifo(const char *path)
{
    return do_mknod(path, S_IFIFO | 0644, 0);
}

long do_mknod(const char *path, mode_t mode, dev_t device)
{
    return sys(SYS_mknodat, AT_FDCWD, path, mode, device);
}

/* --- metadata --------------------------------------------------------------------------------- */

long do_truncate(const char *path, off_t size)
{
    return sys(SYS_truncate, path, size);
}

long do_chmod(const char *path, mode_t mode)
{
    return sys(SYS_fchmodat, AT_FDCWD, path, mode);
}

long do_chown(const char *path)
{
    return sys(SYS_fchownat, AT_FDCWD, path, geteuid(), getegid(), 0);
}

long do_lchown(const char *path)
{
    return sys(SYS_fchownat, AT_FDCWD, path, geteuid(), getegid(), AT_SYMLINK_NOFOLLOW);
}

long do_utime(const char *path)
{
    return do_utimensat(AT_FDCWD, path, 0);
}

long do_utimensat(int dir, const char *path, int flags)
{
    const struct timespec times[2] = {{.tv_sec = 2}, {.tv_sec = 2}};

    return sys(SYS_utimensat, dir, path, times, flags);
}

long do_setxattr(const char *path, const char *name)
{
    return sys(SYS_setxattr, path, name, "x", 1);
}

long do_removexattr(const char *path, const char *name)
{
    return sys(SYS_removexattr, path, name);
}

/* --- programs --------------------------------------------------------------------------------- */

long do_fork(void)
{
    long pid = fork();

    return pid < 0 ? -errno : pid;
}

long do_execve(const char *path, char *const argv[], char *const envp[])
{
    return sys(SYS_execve, path, argv, envp);
}

long do_execvp(const char *file, char *const argv[])
{
    char path[4096];
    const char *search = getenv("PATH");
    long error = -ENOENT;

    while (search != NULL && *search != '\0') {
        size_t length = strcspn(search, ":");
        snprintf(path, sizeof path, "%.*s/%s", (int)length, search, file);
        error = do_execve(path, argv, environ);
        search += length + (search[length] == ':');
    }
    return error;
}

long do_fexecve(int fd, char *const argv[], char *const envp[])
{
    return sys(SYS_execveat, fd, "", argv, envp, AT_EMPTY_PATH);
}

static long spawned(const char *path, char *const argv[], const struct opening *opening)
{
    long fd;
    long error = opening->directory == NULL ? 0 : do_chdir(opening->directory);

    if (error == 0 && opening->path != NULL) {
        fd = do_open(opening->path, opening->flags, 0644);
        error = fd < 0 ? fd : sys(SYS_dup3, fd, opening->fd, 0);
    }
    return error < 0 ? error : do_execve(path, argv, environ);
}

int do_spawn(const char *path, char *const argv[], const struct opening *opening)
{
    long pid;

    if (opening->between != NULL)
        opening->between();
    pid = do_fork();
    if (pid == 0)
        _exit((int)-spawned(path, argv, opening));
    return pid < 0 ? (int)pid : reap(pid);
}

int do_system(const char *command)
{
    int status =
        do_spawn("/bin/sh", words("sh", "-c", command, NULL), &(struct opening){.path = NULL});

    return status == 0 ? 0 : -EACCES;
}

/* The shell prints to where we print. */
int do_popen(const char *command)
{
    return do_system(command);
}

int do_vfork_exec(const char *directory, const char *path, char *const argv[])
{
    return do_spawn(path, argv, &(struct opening){.directory = directory});
}

/* What a loader does first. */
int do_dlopen(const char *path)
{
    long fd = do_open(path, O_RDONLY | O_CLOEXEC, 0);
    void *text;

    if (fd < 0)
        return (int)fd;
    text = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, (int)fd, 0);
    sys(SYS_close, fd);
    return text == MAP_FAILED ? -errno : 0;
}

long do_open_behind(const char *path)
{
    return do_open(path, O_RDONLY, 0);
}

long do_chroot(const char *path)
{
    return sys(SYS_chroot, path);
}
