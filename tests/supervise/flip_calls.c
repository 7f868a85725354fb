/* SPDX-License-Identifier: MIT */
/* What is called while the path, a descriptor, the directory or a link changes. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/stat.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flip.h"
#include "raw.h"

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

static const struct flip_target *target;
static int spare; /* for a new descriptor's number, if one is left open */

/* --- what shows that it got through ----------------------------------------------------------- */

static bool is_denied_one(long fd)
{
    struct stat st;

    return RAW(SYS_fstat, fd, &st) == 0 && st.st_size == FLIP_SIZE;
}

static void restore(const char *path)
{
    long fd = RAW(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT, 0644);

    if (fd >= 0) {
        RAW(SYS_write, fd, "inside\n", 7);
        RAW(SYS_close, fd);
    }
}

/* --- calls on a file that is there: `dir` and `path` lead to it --------------------------------
 */

struct at {
    int dir;
    const char *path;
};

static long open_and_look(struct at at, int flags, bool *leak)
{
    long fd = RAW(SYS_openat, at.dir, at.path, flags, 0644);

    if (fd < 0)
        return fd;
    *leak = is_denied_one(fd);
    RAW(SYS_close, fd);
    return 0;
}

static long try_read(struct at at, bool *leak)
{
    return open_and_look(at, O_RDONLY, leak);
}

static long try_write(struct at at, bool *leak)
{
    return open_and_look(at, O_RDWR | O_NOCTTY, leak);
}

static long try_truncating(struct at at, bool *leak)
{
    long result = open_and_look(at, O_WRONLY | O_TRUNC | O_CREAT, leak);

    restore(target->allowed);
    return result;
}

static struct open_how shared_how;

/* The flags lie in memory, too: the same word is stored to by whoever may, with each try. */
static long try_open2(struct at at, bool *leak)
{
    long fd;

    shared_how.flags = O_RDONLY;
    fd = RAW(SYS_openat2, at.dir, at.path, &shared_how, sizeof shared_how);
    if (fd < 0)
        return fd;
    *leak = is_denied_one(fd);
    RAW(SYS_close, fd);
    return 0;
}

static long try_open2_resolve(struct at at, bool *leak)
{
    const struct open_how how = {.flags = O_RDONLY, .resolve = RESOLVE_NO_MAGICLINKS};
    long fd = RAW(SYS_openat2, at.dir, at.path, &how, sizeof how);

    if (fd < 0)
        return fd;
    *leak = is_denied_one(fd);
    RAW(SYS_close, fd);
    return 0;
}

/* By a descriptor that is no more than a name nothing can be done that the name does not allow. */
static long try_handle(struct at at, bool *leak)
{
    static const struct timespec now[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};
    char name[40];
    char byte[16];
    long fd = RAW(SYS_openat, at.dir, at.path, O_PATH, 0);
    long again;

    if (fd < 0)
        return fd;
    if (!is_denied_one(fd)) {
        RAW(SYS_close, fd);
        return 0;
    }
    flip_tally.handles++;
    snprintf(name, sizeof name, "/proc/self/fd/%ld", fd);
    again = RAW(SYS_openat, AT_FDCWD, name, O_RDONLY, 0);
    *leak = again >= 0 || RAW(SYS_fchmodat2, fd, "", 0777, AT_EMPTY_PATH) == 0 ||
            RAW(SYS_fchmodat, AT_FDCWD, name, 0777) == 0 ||
            RAW(SYS_fchownat, fd, "", 1, 1, AT_EMPTY_PATH) == 0 ||
            RAW(SYS_utimensat, fd, "", now, AT_EMPTY_PATH) == 0 ||
            RAW(SYS_utimensat, fd, NULL, now, 0) == 0 ||
            RAW(SYS_linkat, fd, "", AT_FDCWD, "hard", AT_EMPTY_PATH) == 0 ||
            RAW(SYS_linkat, AT_FDCWD, name, AT_FDCWD, "hard", AT_SYMLINK_FOLLOW) == 0 ||
            RAW(SYS_truncate, name, 1) == 0 ||
            RAW(SYS_getxattr, name, "user.flip", byte, sizeof byte) > 0 ||
            RAW(SYS_fgetxattr, fd, "user.flip", byte, sizeof byte) > 0 ||
            RAW(SYS_setxattr, name, "user.new", "x", 1, 0) == 0;
    if (again >= 0)
        RAW(SYS_close, again);
    RAW(SYS_close, fd);
    return 0;
}

static long try_fstatat(struct at at, bool *leak)
{
    struct stat st = {.st_size = 0};
    long result = RAW(SYS_newfstatat, at.dir, at.path, &st, 0);

    *leak = st.st_size == FLIP_SIZE;
    return result;
}

static long try_statx(struct at at, bool *leak)
{
    struct statx st = {.stx_size = 0};
    long result = RAW(SYS_statx, at.dir, at.path, AT_SYMLINK_NOFOLLOW, STATX_SIZE, &st);

    *leak = st.stx_size == FLIP_SIZE;
    return result;
}

static long try_chmod(struct at at, bool *leak)
{
    (void)leak; /* the mode of the denied ones is looked at from outside */
    return RAW(SYS_fchmodat, at.dir, at.path, 0640);
}

static long try_chmod2(struct at at, bool *leak)
{
    (void)leak;
    return RAW(SYS_fchmodat2, at.dir, at.path, 0600, 0);
}

static long try_chown(struct at at, bool *leak)
{
    (void)leak;
    return RAW(SYS_fchownat, at.dir, at.path, getuid(), getgid(), 0);
}

static long try_utimens(struct at at, bool *leak)
{
    (void)leak;
    return RAW(SYS_utimensat, at.dir, at.path, NULL, 0);
}

static long try_unlink(struct at at, bool *leak)
{
    long result = RAW(SYS_unlinkat, at.dir, at.path, 0);

    (void)leak;
    restore(target->allowed);
    return result;
}

static long try_rename(struct at at, bool *leak)
{
    long result = RAW(SYS_renameat2, at.dir, at.path, AT_FDCWD, "moved", 0);

    (void)leak;
    RAW(SYS_unlinkat, AT_FDCWD, "moved", 0);
    restore(target->allowed);
    return result;
}

static long try_replace(struct at at, bool *leak)
{
    (void)leak;
    restore("moved");
    return RAW(SYS_renameat, AT_FDCWD, "moved", at.dir, at.path);
}

static long try_exchange(struct at at, bool *leak)
{
    long result;

    (void)leak;
    restore("moved");
    result = RAW(SYS_renameat2, at.dir, at.path, AT_FDCWD, "moved", 2);
    RAW(SYS_unlinkat, AT_FDCWD, "moved", 0);
    return result;
}

static long try_link(struct at at, bool *leak)
{
    long result = RAW(SYS_linkat, at.dir, at.path, AT_FDCWD, "hard", 0);
    struct stat st = {.st_size = 0};

    if (result == 0 && RAW(SYS_newfstatat, AT_FDCWD, "hard", &st, 0) == 0)
        *leak = st.st_size == FLIP_SIZE;
    RAW(SYS_unlinkat, AT_FDCWD, "hard", 0);
    return result;
}

/* Only by name. */
static long try_truncate(struct at at, bool *leak)
{
    (void)leak;
    return RAW(SYS_truncate, at.path, 7);
}

static long try_setxattr(struct at at, bool *leak)
{
    (void)leak;
    return RAW(SYS_setxattr, at.path, "user.new", "x", 1, 0);
}

static long try_removexattr(struct at at, bool *leak)
{
    *leak = RAW(SYS_removexattr, at.path, "user.flip") == 0;
    return *leak ? 0 : -EACCES;
}

static long try_watch(struct at at, bool *leak)
{
    static int watch = -1;
    struct stat st;
    long result;

    if (watch < 0)
        watch = (int)RAW(SYS_inotify_init1, O_NONBLOCK);
    (void)leak;
    (void)st;
    result = RAW(SYS_inotify_add_watch, watch, at.path, IN_ATTRIB);
    if (result >= 0)
        RAW(SYS_inotify_rm_watch, watch, result);
    return result < 0 ? result : 0;
}

/* --- calls that are allowed where nothing is, and denied where something is: no success ------- */

static long try_access(struct at at, bool *leak)
{
    long result = RAW(SYS_faccessat, at.dir, at.path, R_OK);

    *leak = result == 0;
    return result;
}

static long try_getxattr(struct at at, bool *leak)
{
    char value[16];
    long result = RAW(SYS_getxattr, at.path, "user.flip", value, sizeof value);

    *leak = result > 0;
    return result;
}

static long try_listxattr(struct at at, bool *leak)
{
    char value[64];
    long result = RAW(SYS_listxattr, at.path, value, sizeof value);

    *leak = result > 0;
    return result;
}

/* What is there is no link: only who may not look is told so. */
static long try_readlink(struct at at, bool *leak)
{
    char value[64];
    long result = RAW(SYS_readlinkat, at.dir, at.path, value, sizeof value);

    *leak = result == -EINVAL || result > 0;
    return result;
}

/* --- calls that make something: what they make outside is seen from outside ------------------- */

static long and_remove(long result)
{
    if (result == 0 && RAW(SYS_unlinkat, AT_FDCWD, target->allowed, 0) < 0)
        RAW(SYS_unlinkat, AT_FDCWD, target->allowed, AT_REMOVEDIR);
    return result;
}

static long try_create(struct at at, bool *leak)
{
    long fd = RAW(SYS_openat, at.dir, at.path, O_WRONLY | O_CREAT | O_EXCL, 0600);

    (void)leak;
    if (fd >= 0)
        RAW(SYS_close, fd);
    return and_remove(fd < 0 ? fd : 0);
}

static long try_mkdir(struct at at, bool *leak)
{
    (void)leak;
    return and_remove(RAW(SYS_mkdirat, at.dir, at.path, 0700));
}

static long try_symlink(struct at at, bool *leak)
{
    (void)leak;
    return and_remove(RAW(SYS_symlinkat, "ok", at.dir, at.path));
}

static long try_mknod(struct at at, bool *leak)
{
    (void)leak;
    return and_remove(RAW(SYS_mknodat, at.dir, at.path, S_IFIFO | 0600, 0));
}

static long try_link_to(struct at at, bool *leak)
{
    (void)leak;
    return and_remove(RAW(SYS_linkat, AT_FDCWD, "ok", at.dir, at.path, 0));
}

static long try_move_to(struct at at, bool *leak)
{
    (void)leak;
    restore("moved");
    return and_remove(RAW(SYS_renameat2, AT_FDCWD, "moved", at.dir, at.path, 1));
}

/* --- the suites ------------------------------------------------------------------------------- */

struct kind {
    const char *name;
    long (*call)(struct at at, bool *leak);
    bool by_name; /* takes no descriptor */
};

static const struct kind on_files[] = {
    {"read", try_read, false},
    {"write", try_write, false},
    {"truncating", try_truncating, false},
    {"openat2", try_open2, false},
    {"openat2 resolve", try_open2_resolve, false},
    {"O_PATH", try_handle, false},
    {"newfstatat", try_fstatat, false},
    {"statx", try_statx, false},
    {"fchmodat", try_chmod, false},
    {"fchmodat2", try_chmod2, false},
    {"fchownat", try_chown, false},
    {"utimensat", try_utimens, false},
    {"unlinkat", try_unlink, false},
    {"renameat2", try_rename, false},
    {"renameat", try_replace, false},
    {"exchange", try_exchange, false},
    {"linkat", try_link, false},
    {"truncate", try_truncate, true},
    {"setxattr", try_setxattr, true},
    {"removexattr", try_removexattr, true},
    {"inotify", try_watch, true},
};

static const struct kind on_nothing[] = {
    {"faccessat", try_access, false},
    {"getxattr", try_getxattr, true},
    {"listxattr", try_listxattr, true},
    {"readlinkat", try_readlink, false},
};

static const struct kind on_new[] = {
    {"create", try_create, false},     {"mkdirat", try_mkdir, false},
    {"symlinkat", try_symlink, false}, {"mknodat", try_mknod, false},
    {"linkat to", try_link_to, false}, {"move to", try_move_to, false},
};

#define LENGTH(table) (sizeof(table) / sizeof(table)[0])

static void try_all(const struct kind *kinds, size_t count, struct at at, unsigned long calls)
{
    for (unsigned long i = 0; i < calls; i++) {
        const struct kind *kind = &kinds[i % count];
        bool leak = false;
        if (kind->by_name && at.dir != AT_FDCWD)
            continue;
        long result = kind->call(at, &leak);
        flip_count(kind->name, target->denied, result, leak);
    }
}

static void try_target(const struct kind *kinds, size_t count, const struct flip_target *which,
                       unsigned long calls)
{
    target = which;
    flip_memory(which);
    try_all(kinds, count, (struct at){AT_FDCWD, flip_path}, calls);
    flip_stop();
}

/* The flags of openat2 change as well as its path. */
static void try_flags(unsigned long calls)
{
    static const uint64_t handle = O_PATH;
    static const uint64_t read = O_RDONLY;

    target = &(const struct flip_target){"no", "no"};
    flip_bytes(&shared_how.flags, &handle, &read, 8);
    for (unsigned long i = 0; i < calls; i++) {
        char byte;
        long fd =
            RAW(SYS_openat2, AT_FDCWD, i % 2 == 0 ? "ok" : "no", &shared_how, sizeof shared_how);
        bool leak = fd >= 0 && is_denied_one(fd) && RAW(SYS_read, fd, &byte, 1) == 1;
        flip_count("openat2 flags", "no", fd < 0 ? fd : 0, leak);
        if (fd >= 0)
            RAW(SYS_close, fd);
    }
    flip_stop();
}

void flip_paths(unsigned long calls, const char *above)
{
    char inside[256];
    char outside[256];
    const struct flip_target files[] = {
        {"ok", "no"}, {"ok", "../out"}, {"ok", "../ro/s"}, {inside, outside}, {"d/f", "n/f"}};
    static const struct flip_target nothing[] = {{"zz", "no"}, {"zz", "../out"}, {"zz", "../ro/s"}};
    static const struct flip_target new[] = {{"new", "n/new"}, {"new", "../new"}, {"q", "../ro/q"}};

    snprintf(inside, sizeof inside, "%s/a/f", above);
    snprintf(outside, sizeof outside, "%s/b/f", above);
    for (size_t i = 0; i < LENGTH(files); i++)
        try_target(on_files, LENGTH(on_files), &files[i], calls * 12 / 100);
    for (size_t i = 0; i < LENGTH(nothing); i++)
        try_target(on_nothing, LENGTH(on_nothing), &nothing[i], calls * 5 / 100);
    for (size_t i = 0; i < LENGTH(new); i++)
        try_target(on_new, LENGTH(on_new), &new[i], calls * 6 / 100);
    try_flags(calls * 7 / 100);
}

/* Directories that are both inside: but of the one the file is denied. */
static int directories[2];

static void swap_number(int turn)
{
    RAW(SYS_dup3, directories[turn], spare, 0);
}

static void swap_cwd(int turn)
{
    RAW(SYS_fchdir, directories[turn]);
}

/* Each other time they are back. */
static void swap_links(int turn)
{
    (void)turn;
    RAW(SYS_renameat2, AT_FDCWD, "l1", AT_FDCWD, "l2", 2);
}

static long leave_alone(struct at at, bool *leak)
{
    return try_fstatat(at, leak);
}

/* What removes or makes nothing: the names stay. */
static const struct kind steady[] = {
    {"read", try_read, false},          {"write", try_write, false},
    {"openat2", try_open2, false},      {"openat2 resolve", try_open2_resolve, false},
    {"newfstatat", leave_alone, false}, {"O_PATH", try_handle, false},
    {"statx", try_statx, false},        {"fchmodat", try_chmod, false},
    {"utimensat", try_utimens, false},  {"fchownat", try_chown, false},
};

void flip_descriptors(unsigned long calls)
{
    static const struct flip_target number = {"f", "f by a descriptor"};
    static const struct flip_target cwd = {"f", "f by the directory"};
    static const struct flip_target links = {"l1", "through a link"};

    directories[0] = (int)RAW(SYS_openat, AT_FDCWD, "d", O_RDONLY | O_DIRECTORY, 0);
    directories[1] = (int)RAW(SYS_openat, AT_FDCWD, "e", O_RDONLY | O_DIRECTORY, 0);
    spare = (int)RAW(SYS_dup, directories[0]);
    if (directories[0] < 0 || directories[1] < 0 || spare < 0)
        exit(2);

    target = &number;
    flip_call(swap_number);
    try_all(steady, LENGTH(steady), (struct at){spare, "f"}, calls / 3);
    flip_stop();

    int here = (int)RAW(SYS_openat, AT_FDCWD, ".", O_RDONLY | O_DIRECTORY, 0);
    target = &cwd;
    flip_call(swap_cwd);
    try_all(steady, LENGTH(steady), (struct at){AT_FDCWD, "f"}, calls / 3);
    flip_stop();
    RAW(SYS_fchdir, here);

    /* A call that follows no link says nothing of where it leads. */
    target = &links;
    flip_call(swap_links);
    try_all(steady, 6, (struct at){AT_FDCWD, "l1"}, calls / 3);
    flip_stop();
}

/* --- running ---------------------------------------------------------------------------------- */

static void run_by(const struct flip_target *which, unsigned long calls, const char *size)
{
    char *const argv[] = {(char[]){"x1"}, (char[]){"which"}, (char *)(uintptr_t)size, NULL};
    char *const envp[] = {NULL};

    target = which;
    flip_memory(which);
    for (unsigned long i = 0; i < calls; i++) {
        int status = 0;
        /* The parent's memory, in which the path changes meanwhile. */
        pid_t child = vfork();
        if (child == 0)
            _exit(RAW(SYS_execve, flip_path, argv, envp) == -EACCES ? 41 : 40);
        waitpid(child, &status, 0);
        int exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
        flip_count("execve", which->denied, exit_status == 41 ? -EACCES : 0, exit_status == 42);
    }
    flip_stop();
}

void flip_run(unsigned long calls, const char *denied)
{
    const struct flip_target which = {"x1", denied};
    char size[32];
    struct stat st;

    if (RAW(SYS_newfstatat, AT_FDCWD, "x1", &st, 0) < 0)
        exit(2);
    snprintf(size, sizeof size, "%ld", (long)st.st_size);
    run_by(&which, calls, size);
}
