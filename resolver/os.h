/* SPDX-License-Identifier: MIT */
/*
 * os.h - what the resolver asks of the operating system.
 *
 * Every function returns a value >= 0 or a negative errno and never touches errno, allocates no
 * memory from the heap, takes no lock and may be called in a signal handler. All system calls of
 * the resolver are made in this one place, so that a shim can give them another way into the
 * kernel.
 */
#ifndef CORDON_OS_H
#define CORDON_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* What tells one file from another, and what kind it is. */
struct os_id {
    uint64_t dev;
    uint64_t ino;
    uint64_t mount; /* 0 where the kernel does not tell */
    uint32_t links;
    mode_t mode;
};

/*
 * Opens `path` below `dir` (or from "/", if it is absolute) in one system call, and only if no
 * component of it is a symbolic link. -ELOOP: one is. -ENOSYS: this kernel, or a filter in front of
 * it, has no such call. The flags may be any that open(2) takes.
 */
int os_open_plain(int dir, const char *path, int flags, mode_t mode);

/* An O_PATH descriptor of where `path` leads, links followed, by one system call. -ELOOP: one of
 * them is magic. `flags` may be O_DIRECTORY or O_NOFOLLOW. -ENOSYS: as above. */
int os_open_path(int dir, const char *path, int flags);

/* Opens one name, without a slash, in `dir`; -ELOOP if it is a symbolic link, unless flags has
 * O_PATH: then the link itself is opened. */
int os_open_name(int dir, const char *name, int flags, mode_t mode);

/* Opens the directory `dir` itself anew. */
int os_open_here(int dir, int flags, mode_t mode);

/* Opens what the magic link `name` in `dir` leads to (/proc/PID/fd/N, cwd, root ...), as O_PATH. */
int os_open_magic(int dir, const char *name);

/* Opens anew what the O_PATH descriptor `fd` stands for. */
int os_reopen(int fd, int flags);

/* Whether open(2) takes these flags at all, and rename these. What it does not is -EINVAL, whatever
 * the path. */
bool os_takes_flags(int flags);
bool os_renames_with(unsigned flags);

int os_close(int fd);
int os_dup(int fd);

/* The identity of `name` in `dir`, a link not followed; of `dir` itself if `name` is "". */
int os_identify(int dir, const char *name, struct os_id *id);

/* fstatat(2) as it is. */
int os_fstatat(int dir, const char *name, struct stat *st, int flags);

/* Length of the target, not terminated, or -EINVAL if `name` is no symbolic link. The link `dir`
 * itself if `name` is "". */
ssize_t os_readlink(int dir, const char *name, char *target, size_t size);

/* How symbolic links work on the file system that `fd` lies on. */
enum {
    OS_LINKS_PLAIN, /* the target is a path */
    OS_LINKS_MAGIC, /* procfs: some lead to an object, whatever the text says */
    OS_LINKS_NEVER, /* mounted with nosymfollow: -ELOOP */
};
int os_links_of(int fd);

/* The absolute path of the caller's working directory, terminated. -ENOENT if it was deleted or
 * cannot be reached from the root. Returns its length. */
ssize_t os_cwd(char *path, size_t size);

/* The kernel's own text for where `fd` is, terminated; it may end in " (deleted)" or name no file
 * at all ("pipe:[1]"): a claim, to be verified. Returns its length. */
ssize_t os_path_of(int fd, char *path, size_t size);

/* The name that /proc/self leads to: this process's number as procfs counts it. */
ssize_t os_proc_self(char *pid, size_t size);

/* Zeroed private memory, straight from the kernel. */
int os_map(size_t size, void **memory);
void os_unmap(void *memory, size_t size);

int os_unlinkat(int dir, const char *name, int flags);
int os_mkdirat(int dir, const char *name, mode_t mode);
int os_renameat(int old_dir, const char *old_name, int new_dir, const char *new_name,
                unsigned flags);

#endif
