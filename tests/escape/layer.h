/* SPDX-License-Identifier: MIT */
/*
 * layer.h - the calls that attacks make, in two manners.
 *
 * layer_libc.c goes through libc, as programs do; layer_raw.c executes the system call instruction,
 * as static programs, Go, and hostile code do. All return a value >= 0 or a negative errno.
 */
#ifndef ESCAPE_LAYER_H
#define ESCAPE_LAYER_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Any system call: syscall(3), or the instruction. */
long sys6(long number, long a, long b, long c, long d, long e, long f);
#define sys(...) SYS_PADDED(__VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define SYS_PADDED(number, a, b, c, d, e, f, ...) \
    sys6((number), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

extern const bool layer_is_raw;

long do_open(const char *path, int flags, mode_t mode);
long do_openat(int dir, const char *path, int flags, mode_t mode);
long do_creat(const char *path, mode_t mode);

/* Spellings of open that libc has and the kernel has not. */
long do_open64(const char *path, int flags);
long do_open_2(const char *path, int flags);
long do_openat_2(int dir, const char *path, int flags);
long do_openat64(int dir, const char *path, int flags);
long do_open_internal(const char *path, int flags); /* __open */
long do_fopen(const char *path, const char *mode);  /* a descriptor of the stream's file */
long do_fopen64(const char *path, const char *mode);
long do_freopen(const char *path, const char *mode); /* instead of stdin */
long do_mkstemp(char *template);
long do_mkdtemp(char *template);

/* Prints the names in a directory. */
int do_list(const char *path);

long do_stat(const char *path, struct stat *st);
long do_lstat(const char *path, struct stat *st);
long do_fstatat(int dir, const char *path, struct stat *st, int flags);
long do_access(const char *path, int mode);
long do_readlink(const char *path, char *text, size_t size);
long do_realpath(const char *path, char text[static 4096]);
long do_chdir(const char *path);
long do_fchdir(int fd);

long do_mkdir(const char *path);
long do_rmdir(const char *path);
long do_unlink(const char *path);
long do_unlinkat(int dir, const char *path, int flags);
long do_remove(const char *path);
long do_rename(const char *from, const char *to);
long do_renameat2(const char *from, const char *to, unsigned flags);
long do_link(const char *from, const char *to);
long do_linkat(int from_dir, const char *from, int to_dir, const char *to, int flags);
long do_symlink(const char *target, const char *path);
long do_mkfifo(const char *path);
long do_mknod(const char *path, mode_t mode, dev_t device);

long do_truncate(const char *path, off_t size);
long do_chmod(const char *path, mode_t mode);
long do_chown(const char *path);  /* to the owner that it has */
long do_lchown(const char *path); /* likewise */
long do_utime(const char *path);
long do_utimensat(int dir, const char *path, int flags);
long do_setxattr(const char *path, const char *name);
long do_getxattr(const char *path, const char *name, char *text, size_t size);
long do_listxattr(const char *path, char *text, size_t size);
long do_removexattr(const char *path, const char *name);
long do_statfs(const char *path);
long do_inotify(const char *path);

long do_fork(void);
long do_execve(const char *path, char *const argv[], char *const envp[]);
long do_execvp(const char *file, char *const argv[]); /* by PATH */
long do_fexecve(int fd, char *const argv[], char *const envp[]);

/* Starts a program with a file opened as descriptor `fd`, in a directory if that is not NULL, and
 * waits: as posix_spawn with file actions. */
struct opening {
    int fd;
    const char *path; /* NULL: none */
    int flags;
    const char *directory;
    void (*between)(void); /* called after it was asked for and before it is done, if not NULL */
};
int do_spawn(const char *path, char *const argv[], const struct opening *opening);

int do_system(const char *command);
int do_popen(const char *command); /* prints its output */
int do_vfork_exec(const char *directory, const char *path, char *const argv[]);

/* Maps a shared object to be executed: dlopen. */
int do_dlopen(const char *path);

/* Opens a file by libc's own open, looked up behind the back of whoever interposes. */
long do_open_behind(const char *path);

long do_chroot(const char *path);

#endif
