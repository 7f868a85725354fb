/* SPDX-License-Identifier: MIT */
/*
 * hooks.h - the bodies of the hooks, called from the rows of hooks.def.
 *
 * All return what the function is to return, or a negative errno; none touches errno. `dir` and
 * `path` are what an *at call takes, AT_FDCWD for the others.
 */
#ifndef CORDON_HOOKS_H
#define CORDON_HOOKS_H

#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <utime.h>

struct open_how;
struct statfs;
struct statx;

/* open.c */
mode_t open_mode(int flags, va_list args); /* the third argument of open(2), if it has one */
long open_at(int dir, const char *path, int flags, mode_t mode);
long open_how_at(int dir, const char *path, const struct open_how *how, size_t size);
long open_judge(int dir, const char *path, int flags); /* 0: may be opened by name */
long open_directory(const char *path);                 /* gives a DIR */

/* stdio.c: give a FILE */
long stdio_open(const char *path, const char *mode);
long stdio_reopen(const char *path, const char *mode, FILE *stream);

/* stat.c */
long stat_at(int dir, const char *path, struct stat *st, int flags);
long statx_at(int dir, const char *path, int flags, unsigned mask, struct statx *stx);
long access_at(int dir, const char *path, int mode, int flags);
long readlink_at(int dir, const char *path, char *target, size_t size);
long stat_fs(const char *path, struct statfs *fs);
long watch_add(int fd, const char *path, uint32_t mask); /* inotify_add_watch(2) */

/* name.c */
long name_unlink(int dir, const char *path, int flags);
long name_remove(const char *path);
long name_mkdir(int dir, const char *path, mode_t mode);
long name_mknod(int dir, const char *path, mode_t mode, dev_t device);
long name_symlink(const char *target, int dir, const char *path);
long name_link(int old_dir, const char *old, int new_dir, const char *new, int flags);
long name_rename(int old_dir, const char *old, int new_dir, const char *new, unsigned flags);

/* meta.c: `flags` AT_SYMLINK_NOFOLLOW and AT_EMPTY_PATH; those with a descriptor judge its place */
long meta_chmod(int dir, const char *path, mode_t mode, int flags);
long meta_fchmod(int fd, mode_t mode);
long meta_chown(int dir, const char *path, uid_t uid, gid_t gid, int flags);
long meta_fchown(int fd, uid_t uid, gid_t gid);
long meta_utimens(int dir, const char *path, const struct timespec times[2], int flags);
long meta_utimes(int dir, const char *path, const struct timeval times[2], int flags);
long meta_utime(const char *path, const struct utimbuf *times);
long meta_truncate(const char *path, off_t length);

long meta_flags(int fd, long request, const void *flags); /* ioctl(2) FS_IOC_SETFLAGS and such */

/* xattr.c */
long xattr_get(const char *path, bool follow, const char *name, void *value, size_t size);
long xattr_list(const char *path, bool follow, char *list, size_t size);
long xattr_set(const char *path, bool follow, const char *name, const void *value, size_t size,
               int flags);
long xattr_set_fd(int fd, const char *name, const void *value, size_t size, int flags);
long xattr_remove(const char *path, bool follow, const char *name);
long xattr_remove_fd(int fd, const char *name);

/* meta.c: 0 if the file behind the caller's descriptor may be changed */
long meta_judge_fd(const char *op, int fd);

/* dir.c */
long dir_change(const char *path);
long dir_change_to(int fd);
long dir_real(const char *path, char *resolved);
long dir_chroot(const char *path);
long dir_unshare(int flags);
void dir_clones(unsigned long flags); /* before a clone(2) with these flags */
long dir_clone(int (*start)(void *), void *stack, int flags, void *arg, va_list args);

/* exec.c */
long exec_at(int dir, const char *path, char *const argv[], char *const envp[], int flags);
long exec_fd(int fd, char *const argv[], char *const envp[]);
long exec_search(const char *file, char *const argv[], char *const envp[]);
enum exec_list { EXEC_LIST, EXEC_LIST_ENVIRONMENT, EXEC_LIST_SEARCH };
long exec_list(enum exec_list form, const char *path, const char *arg, va_list args);

/* spawn.c: these return the error number itself */
long spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
           const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]);
long spawn_search(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                  const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]);
long spawn_add_open(posix_spawn_file_actions_t *actions, int fd, const char *path, int flags,
                    mode_t mode);
long spawn_add_dup2(posix_spawn_file_actions_t *actions, int fd, int target);
long spawn_add_chdir(posix_spawn_file_actions_t *actions, const char *path);
long spawn_add_fchdir(posix_spawn_file_actions_t *actions, int fd);
long spawn_destroy(posix_spawn_file_actions_t *actions);

/* shell.c */
long shell_system(const char *command);
long shell_open(const char *command, const char *mode); /* gives a FILE */
long shell_close(FILE *stream);
long shell_close_any(FILE *stream);

/* generic.c: syscall(2) */
long generic(long number, va_list args);

#endif
