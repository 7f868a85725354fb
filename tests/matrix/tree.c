/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "matrix.h"
#include "os.h"
#include "syscall.h"

#define RAW(number, a, b, c, d) os_syscall(number, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

char tree_base[BASE_MAX];

static void must(long result, const char *path)
{
    if (result >= 0)
        return;
    printf("FAIL tree: %s: %s\n", path, strerror((int)-result));
    exit(1);
}

static const char *below_base(const char *path)
{
    static char text[2 * BASE_MAX];

    snprintf(text, sizeof text, "%s/%s", tree_base, path);
    return text;
}

static void make_dir(const char *path)
{
    must(RAW(SYS_mkdirat, AT_FDCWD, below_base(path), 0777, 0), path);
    must(RAW(SYS_fchmodat, AT_FDCWD, below_base(path), 0777, 0), path);
}

static void make_file(const char *path, const char *text)
{
    long fd = RAW(SYS_openat, AT_FDCWD, below_base(path), O_WRONLY | O_CREAT | O_EXCL, 0666);

    must(fd, path);
    must(RAW(SYS_write, fd, text, strlen(text), 0), path);
    must(RAW(SYS_fchmod, fd, 0666, 0, 0), path);
    must(RAW(SYS_close, fd, 0, 0, 0), path);
}

static void make_link(const char *path, const char *target)
{
    must(RAW(SYS_symlinkat, target, AT_FDCWD, below_base(path), 0), path);
}

void tree_make(void)
{
    char absolute[2 * BASE_MAX];

    snprintf(absolute, sizeof absolute, "%s/out/secret", tree_base);
    make_dir("ws");
    make_dir("ws/dir");
    make_dir("ws/empty");
    make_file("ws/file", "a file\n");
    make_file("ws/other", "another\n");
    make_file("ws/dir/inner", "inner\n");
    make_link("ws/link", "file");
    make_link("ws/dlink", "dir");
    make_link("ws/dangling", "missing");
    make_link("ws/loop", "loop");
    make_link("ws/out", "../out");
    make_link("ws/outfile", "../out/secret");
    make_link("ws/outnew", "../out/new");
    make_link("ws/absolute", absolute);
    make_dir("out");
    make_dir("out/dir");
    make_dir("out/empty");
    make_file("out/secret", "a secret\n");
    make_file("out/dir/inner", "inner outside\n");
    make_link("out/back", "../ws/file");
}

/* Calls `visit` for each name in the directory `fd`. */
struct entry {
    uint64_t ino;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
};

static void each(int fd, void (*visit)(int fd, const char *name, void *context), void *context)
{
    _Alignas(8) char list[4096];
    long length;

    while ((length = RAW(SYS_getdents64, fd, list, sizeof list, 0)) > 0)
        for (long at = 0; at < length;) {
            const struct entry *entry = (const struct entry *)(list + at);
            if (strcmp(entry->name, ".") != 0 && strcmp(entry->name, "..") != 0)
                visit(fd, entry->name, context);
            at += entry->length;
        }
}

static int open_dir(int at, const char *name)
{
    return (int)RAW(SYS_openat, at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
}

static void remove_entry(int at, const char *name, void *context)
{
    struct stat st;
    int fd;

    /* An example may have taken away what its owner needs to go in. */
    if (os_fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
        RAW(SYS_fchmodat, at, name, 0700, 0);
    fd = open_dir(at, name);

    if (fd >= 0) {
        each(fd, remove_entry, context);
        os_close(fd);
    }
    must(RAW(SYS_unlinkat, at, name, fd >= 0 ? AT_REMOVEDIR : 0, 0), name);
}

void tree_remove(void)
{
    int fd = open_dir(AT_FDCWD, tree_base);

    must(fd, tree_base);
    each(fd, remove_entry, NULL);
    os_close(fd);
}

/* --- digest ----------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t sum, const void *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        sum = (sum ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3U;
    return sum;
}

static uint64_t digest_contents(uint64_t sum, int at, const char *name, mode_t mode)
{
    char text[512];
    long length = 0;

    if (S_ISLNK(mode)) {
        length = os_readlink(at, name, text, sizeof text);
        /* An absolute target differs from run to run. */
        return length > 0 && text[0] != '/' ? mix(sum, text, (size_t)length) : sum;
    }
    if (!S_ISREG(mode))
        return sum;
    long fd = RAW(SYS_openat, at, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (fd >= 0)
        length = RAW(SYS_read, fd, text, sizeof text, 0);
    os_close((int)fd);
    return length > 0 ? mix(sum, text, (size_t)length) : sum;
}

/* Times count only where an example has set them: the others are never the same twice. Entries come
 * in any order, so their digests are added up. */
static void digest_entry(int at, const char *name, void *context)
{
    uint64_t *total = context;
    struct stat st;
    uint64_t sum = mix(0xcbf29ce484222325U, name, strlen(name));

    if (os_fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0) { /* seen, but not reached */
        *total += sum;
        return;
    }
    long size = S_ISREG(st.st_mode) ? (long)st.st_size : 0;
    long time = st.st_mtime < 1000000 ? st.st_mtime : -1;
    sum = mix(sum, &st.st_mode, sizeof st.st_mode);
    sum = mix(sum, &st.st_uid, sizeof st.st_uid);
    sum = mix(sum, &st.st_nlink, sizeof st.st_nlink);
    sum = mix(sum, &size, sizeof size);
    sum = mix(sum, &time, sizeof time);
    sum = digest_contents(sum, at, name, st.st_mode);
    if (S_ISDIR(st.st_mode)) {
        uint64_t below = 0;
        int fd = open_dir(at, name);
        if (fd >= 0)
            each(fd, digest_entry, &below);
        os_close(fd);
        sum = mix(sum, &below, sizeof below);
    }
    *total += sum;
}

uint64_t tree_digest(const char *which)
{
    uint64_t total = 0;
    int fd = open_dir(AT_FDCWD, tree_base);

    must(fd, tree_base);
    digest_entry(fd, which, &total);
    os_close(fd);
    return total;
}
