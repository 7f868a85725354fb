/* SPDX-License-Identifier: MIT */
#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/stat.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "syscall.h"

/* What open(2) sets by itself on a 64-bit system and openat2(2) does not: without it files of more
 * than 2 GiB give EOVERFLOW. libc defines O_LARGEFILE as 0 there. */
#if defined(__aarch64__) || defined(__arm__)
#define KERNEL_O_LARGEFILE 0400000
#else
#define KERNEL_O_LARGEFILE 0100000
#endif

#define PROCFS_MAGIC     0x9fa0
#define FS_NOSYMFOLLOW   0x2000
#define STATX_WITH_MOUNT (STATX_TYPE | STATX_MODE | STATX_NLINK | STATX_INO | 0x1000U)

#define CALL1(number, a)       os_syscall(number, (long)(a), 0, 0, 0, 0, 0)
#define CALL2(number, a, b)    os_syscall(number, (long)(a), (long)(b), 0, 0, 0, 0)
#define CALL3(number, a, b, c) os_syscall(number, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define CALL4(number, a, b, c, d) \
    os_syscall(number, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define CALL5(number, a, b, c, d, e) \
    os_syscall(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)

/* open(2) ignores what it does not know or need; openat2(2) refuses it. */
static struct open_how how_of(int flags, mode_t mode)
{
    const int known = O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK |
                      O_DSYNC | O_SYNC | O_ASYNC | O_DIRECT | O_DIRECTORY | O_NOFOLLOW | O_NOATIME |
                      O_CLOEXEC | O_PATH | O_TMPFILE;
    const int with_path = O_DIRECTORY | O_NOFOLLOW | O_PATH | O_CLOEXEC;
    const int makes_file = O_CREAT | (O_TMPFILE & ~O_DIRECTORY);
    struct open_how how = {.resolve = RESOLVE_NO_SYMLINKS};

    if (flags & O_PATH)
        how.flags = (unsigned)(flags & with_path);
    else
        how.flags = (unsigned)(flags & known) | KERNEL_O_LARGEFILE;
    if (!(flags & O_PATH) && (flags & makes_file))
        how.mode = mode & 07777;
    return how;
}

/* EPERM may be this path's own; only if the call fails on a path that cannot fail is it a filter's.
 */
static bool openat2_is_forbidden(void)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
    long fd = CALL4(SYS_openat2, AT_FDCWD, "/", &how, sizeof how);

    if (fd >= 0)
        os_close((int)fd);
    return fd == -EPERM;
}

static int open_by_openat2(int dir, const char *path, const struct open_how *how)
{
    long fd = CALL4(SYS_openat2, dir, path, how, sizeof *how);

    if (fd == -EPERM && openat2_is_forbidden())
        return -ENOSYS;
    return (int)fd;
}

int os_open_plain(int dir, const char *path, int flags, mode_t mode)
{
    struct open_how how = how_of(flags, mode);

    return open_by_openat2(dir, path, &how);
}

int os_open_path(int dir, const char *path, int flags)
{
    struct open_how how = {.flags = (unsigned)(O_PATH | O_CLOEXEC | flags),
                           .resolve = RESOLVE_NO_MAGICLINKS};

    return open_by_openat2(dir, path, &how);
}

int os_open_name(int dir, const char *name, int flags, mode_t mode)
{
    return (int)CALL4(SYS_openat, dir, name, flags | O_NOFOLLOW, mode);
}

int os_open_here(int dir, int flags, mode_t mode)
{
    return (int)CALL4(SYS_openat, dir, ".", flags, mode);
}

/* The kernel looks at the flags first, then at the path, and "" is no path. Which flags go together
 * has changed over the years. */
bool os_takes_flags(int flags)
{
    const int makes_file = O_CREAT | (O_TMPFILE & ~O_DIRECTORY);

    return !(flags & makes_file) || !(flags & O_TMPFILE) ||
           CALL4(SYS_openat, -1, "", flags, 0) != -EINVAL;
}

bool os_renames_with(unsigned flags)
{
    return flags == 0 || os_renameat(-1, "", -1, "", flags) != -EINVAL;
}

int os_open_magic(int dir, const char *name)
{
    return (int)CALL4(SYS_openat, dir, name, O_PATH | O_CLOEXEC, 0);
}

/* "/proc/thread-self/fd/N", since a thread may have a table of descriptors of its own. */
static void fd_link(char link[static 40], int fd)
{
    static const char prefix[] = "/proc/thread-self/fd/";
    char digits[12];
    size_t n = 0;
    char *out = link;

    memcpy(out, prefix, sizeof prefix - 1);
    out += sizeof prefix - 1;
    do
        digits[n++] = (char)('0' + fd % 10);
    while ((fd /= 10) > 0);
    while (n > 0)
        *out++ = digits[--n];
    *out = '\0';
}

int os_reopen(int fd, int flags)
{
    char link[40];

    if (fd < 0)
        return -EBADF;
    fd_link(link, fd);
    return (int)CALL4(SYS_openat, AT_FDCWD, link, flags & ~(O_NOFOLLOW | O_CREAT | O_EXCL), 0);
}

int os_close(int fd)
{
    return (int)CALL1(SYS_close, fd);
}

int os_dup(int fd)
{
    return (int)CALL3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 0);
}

static int identify_without_statx(int dir, const char *name, int flags, struct os_id *id)
{
    struct stat st;
    int error = os_fstatat(dir, name, &st, flags);

    if (error < 0)
        return error;
    *id = (struct os_id){
        .dev = st.st_dev, .ino = st.st_ino, .links = (uint32_t)st.st_nlink, .mode = st.st_mode};
    return 0;
}

int os_identify(int dir, const char *name, struct os_id *id)
{
    const int flags = AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
    struct statx stx;
    int error = (int)CALL5(SYS_statx, dir, name, flags, STATX_WITH_MOUNT, &stx);

    if (error == -ENOSYS || error == -EPERM)
        return identify_without_statx(dir, name, flags, id);
    if (error < 0)
        return error;
    *id = (struct os_id){.dev = makedev(stx.stx_dev_major, stx.stx_dev_minor),
                         .ino = stx.stx_ino,
                         .mount = stx.stx_mask & 0x1000U ? stx.stx_mnt_id : 0,
                         .links = stx.stx_nlink,
                         .mode = stx.stx_mode};
    return 0;
}

int os_fstatat(int dir, const char *name, struct stat *st, int flags)
{
    return (int)CALL4(SYS_newfstatat, dir, name, st, flags);
}

ssize_t os_readlink(int dir, const char *name, char *target, size_t size)
{
    return CALL4(SYS_readlinkat, dir, name, target, size);
}

int os_links_of(int fd)
{
    struct statfs fs;
    long error = CALL2(SYS_fstatfs, fd, &fs);

    if (error < 0)
        return (int)error;
    if (fs.f_type == PROCFS_MAGIC)
        return OS_LINKS_MAGIC;
    return (fs.f_flags & FS_NOSYMFOLLOW) ? OS_LINKS_NEVER : OS_LINKS_PLAIN;
}

ssize_t os_cwd(char *path, size_t size)
{
    long length = CALL2(SYS_getcwd, path, size);

    if (length < 0)
        return length;
    return path[0] == '/' ? length - 1 : -ENOENT;
}

static ssize_t read_text_link(const char *link, char *text, size_t size)
{
    ssize_t length = os_readlink(AT_FDCWD, link, text, size);

    if (length < 0)
        return length;
    if ((size_t)length >= size)
        return -ENAMETOOLONG;
    text[length] = '\0';
    return length;
}

ssize_t os_path_of(int fd, char *path, size_t size)
{
    char link[40];

    if (fd == AT_FDCWD)
        return read_text_link("/proc/thread-self/cwd", path, size);
    if (fd < 0)
        return -EBADF;
    fd_link(link, fd);
    return read_text_link(link, path, size);
}

ssize_t os_proc_self(char *pid, size_t size)
{
    return read_text_link("/proc/self", pid, size);
}

int os_map(size_t size, void **memory)
{
    long address = os_syscall(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (address < 0 && address > -4096)
        return (int)address;
    *memory = (void *)address;
    return 0;
}

void os_unmap(void *memory, size_t size)
{
    CALL2(SYS_munmap, memory, size);
}

int os_unlinkat(int dir, const char *name, int flags)
{
    return (int)CALL3(SYS_unlinkat, dir, name, flags);
}

int os_mkdirat(int dir, const char *name, mode_t mode)
{
    return (int)CALL3(SYS_mkdirat, dir, name, mode);
}

int os_renameat(int old_dir, const char *old_name, int new_dir, const char *new_name,
                unsigned flags)
{
    return (int)CALL5(SYS_renameat2, old_dir, old_name, new_dir, new_name, flags);
}
