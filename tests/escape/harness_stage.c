/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "harness.h"

const char *stage_path(const struct stage *stage, const char *name)
{
    static char texts[4][2 * PATH_ROOM];
    static unsigned turn;
    char *text = texts[turn++ % 4];

    snprintf(text, sizeof *texts, "%s/%s", stage->top, name);
    return text;
}

/* --- making ----------------------------------------------------------------------------------- */

static void make_directory(const struct stage *stage, const char *name)
{
    if (mkdir(stage_path(stage, name), 0755) < 0)
        die(name);
}

static void make_file(const struct stage *stage, const char *name, mode_t mode, const char *text)
{
    int fd = open(stage_path(stage, name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);

    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        die(name);
    close(fd);
}

static void make_link(const struct stage *stage, const char *from, const char *to)
{
    if (link(stage_path(stage, from), stage_path(stage, to)) < 0)
        die(to);
}

static void copy(const char *from, const char *to)
{
    static char room[1 << 16];
    int in_fd = open(from, O_RDONLY | O_CLOEXEC);
    int out_fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
    ssize_t length;

    if (in_fd < 0 || out_fd < 0)
        die(from);
    while ((length = read(in_fd, room, sizeof room)) > 0)
        if (write(out_fd, room, (size_t)length) != length)
            die(to);
    close(in_fd);
    close(out_fd);
}

static void new_secret(char secret[static SECRET_LENGTH + 1])
{
    unsigned char bytes[SECRET_LENGTH / 2];

    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        die("getrandom");
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(secret + 2 * i, 3, "%02x", bytes[i]);
}

void stage_prepare(const char *top, const char *build, uid_t uid)
{
    char path[2 * PATH_ROOM];
    char from[2 * PATH_ROOM];

    snprintf(path, sizeof path, "%s/bin", top);
    if (chown(top, uid, uid) < 0 || mkdir(path, 0755) < 0 || chown(path, uid, uid) < 0)
        die(path);
    if (geteuid() != 0 || uid == 0)
        return;
    snprintf(from, sizeof from, "%s/tests/escape/attack-static", build);
    snprintf(path, sizeof path, "%s/bin/suid", top);
    copy(from, path);
    if (chmod(path, 04755) < 0)
        die(path);
}

/* What is linked into the workspace and what is linked outside are different files. */
void stage_new(struct stage *stage, const char *top, const char *build)
{
    static const char *const programs[][2] = {
        {"tests/escape/attack", "bin/attack"},
        {"tests/escape/attack-static", "bin/attack-static"},
        {"tests/escape/attack-static", "bin/prog"},
        {"tests/escape/attack", "bin/prog-dynamic"},
        {"tests/escape/evil.so", "bin/evil.so"},
        {"cordon", "bin/cordon"},
        {"libcordon-shim.so", "bin/libcordon-shim.so"},
    };
    char from[2 * PATH_ROOM];
    char *image;

    snprintf(stage->top, sizeof stage->top, "%s", top);
    new_secret(stage->secret);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        snprintf(from, sizeof from, "%s/%s", build, programs[i][0]);
        copy(from, stage_path(stage, programs[i][1]));
    }
    image = forge_image(stage_path(stage, "ws"), stage_path(stage, "bin/libcordon-shim.so"));
    make_file(stage, "bin/forged", 0644, image);
    snprintf(from, sizeof from, "name-%s", stage->secret);
    make_file(stage, from, 0644, "");
    make_file(stage, "secret", 0644, stage->secret);
    make_directory(stage, "usr");
    make_file(stage, "usr/secret", 0644, stage->secret);
    free(image);
}

/* By descriptors: attacks make paths that are longer than any call takes. */
static void remove_at(int parent, const char *name)
{
    struct dirent *entry;
    int fd;
    DIR *dir;

    if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
        return;
    fchmodat(parent, name, 0700, 0);
    fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    dir = fd < 0 ? NULL : fdopendir(fd);
    if (dir == NULL)
        die(name);
    while ((entry = readdir(dir)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove_at(fd, entry->d_name);
    closedir(dir);
    if (unlinkat(parent, name, AT_REMOVEDIR) < 0)
        die(name);
}

static void remove_tree(const char *path)
{
    remove_at(AT_FDCWD, path);
}

void stage_remove(const char *top)
{
    remove_tree(top);
}

static void make_workspace(const struct stage *stage, bool own)
{
    make_directory(stage, "ws");
    make_link(stage, "bin/attack", "ws/attack");
    make_link(stage, "bin/attack-static", "ws/attack-static");
    make_link(stage, "bin/forged", "ws/forged");
    make_file(stage, "ws/file", 0644, "inside\n");
    make_directory(stage, "ws/dir");
    make_file(stage, "ws/dir/secret", 0644, "inside\n");
    make_directory(stage, "ws/dir/deeper");
    make_directory(stage, "ws/moved");
    make_directory(stage, "ws/denied");
    make_file(stage, "ws/denied/secret", 0644, stage->secret);
    make_directory(stage, "ws/.git");
    make_file(stage, "ws/.git/HEAD", 0644, "ref: refs/heads/main\n");
    make_directory(stage, "ws/.git/objects");
    make_directory(stage, "ws/.git/refs");
    make_file(stage, "ws/.git/config", 0644, "[core]\n");
    make_directory(stage, "ws/.git/hooks");
    make_file(stage, "ws/.git/hooks/pre-commit", 0755, "#!/bin/sh\n");
    make_directory(stage, "ws/keep");
    rename(stage_path(stage, "bin/suid"), stage_path(stage, "ws/keep/suid"));
    if (own) {
        make_directory(stage, "ws/tool");
        copy(stage_path(stage, "bin/cordon"), stage_path(stage, "ws/tool/cordon"));
        copy(stage_path(stage, "bin/libcordon-shim.so"),
             stage_path(stage, "ws/tool/libcordon-shim.so"));
    }
}

static void make_outside(const struct stage *stage)
{
    char name[PATH_ROOM];

    make_directory(stage, "out");
    make_file(stage, "out/secret", 0644, stage->secret);
    setxattr(stage_path(stage, "out/secret"), "user.secret", stage->secret, SECRET_LENGTH, 0);
    make_file(stage, "out/victim", 0644, "left alone\n");
    make_directory(stage, "out/empty");
    make_directory(stage, "out/dir");
    make_file(stage, "out/dir/file", 0644, "left alone\n");
    snprintf(name, sizeof name, "out/dir/name-%s", stage->secret);
    make_file(stage, name, 0644, "");
    if (symlink(name + 4, stage_path(stage, "out/link")) < 0)
        die("out/link");
    make_directory(stage, "out/usr");
    make_file(stage, "out/usr/secret", 0644, stage->secret);
    make_file(stage, "out/script", 0755, "#!/bin/sh\necho ran\n");
    make_link(stage, "bin/prog", "out/prog");
    make_link(stage, "bin/prog", "out/say");
    make_link(stage, "bin/prog-dynamic", "out/prog-dynamic");
    make_link(stage, "bin/evil.so", "out/evil.so");
}

void stage_reset(struct stage *stage, bool own)
{
    static const char *const parts[] = {"ws", "out", "other", "home"};

    /* Root made it: it cannot be made again. */
    rename(stage_path(stage, "ws/keep/suid"), stage_path(stage, "bin/suid"));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        remove_tree(stage_path(stage, parts[i]));
    make_workspace(stage, own);
    make_outside(stage);
    make_directory(stage, "other");
    make_file(stage, "other/secret", 0644, stage->secret);
    make_directory(stage, "home");
    make_directory(stage, "home/.ssh");
    make_file(stage, "home/.ssh/id", 0600, stage->secret);
    make_file(stage, "home/.bashrc", 0644, "true\n");
}

/* --- comparing -------------------------------------------------------------------------------- */

struct digest {
    char *text;
    size_t length;
    size_t room;
    size_t skip; /* how much of each path to leave out */
};

static struct digest *current; /* nftw has no argument for it */

__attribute__((format(printf, 2, 3))) static void put(struct digest *digest, const char *format,
                                                      ...)
{
    va_list arguments;
    int length;

    if (digest->room - digest->length < 2048) {
        digest->room = 2 * digest->room + 8192;
        digest->text = realloc(digest->text, digest->room);
        if (digest->text == NULL)
            die("digest");
    }
    va_start(arguments, format);
    length =
        vsnprintf(digest->text + digest->length, digest->room - digest->length, format, arguments);
    va_end(arguments);
    digest->length += (size_t)length;
}

static unsigned long hash(unsigned long sum, const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    unsigned long word;

    for (; length >= sizeof word; length -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        sum = (sum ^ word) * 1099511628211UL;
    }
    for (; length > 0; length--)
        sum = (sum ^ *at++) * 1099511628211UL;
    return sum;
}

static unsigned long hash_contents(const char *path, const struct stat *st)
{
    static char room[1 << 16];
    unsigned long sum = 14695981039346656037UL;
    ssize_t length = 0;
    int fd;

    if (S_ISLNK(st->st_mode))
        length = readlink(path, room, sizeof room);
    if (length > 0)
        return hash(sum, room, (size_t)length);
    /* Programs are told by their times. */
    fd = S_ISREG(st->st_mode) && st->st_size <= (off_t)sizeof room
             ? open(path, O_RDONLY | O_CLOEXEC | O_NOATIME)
             : -1;
    while (fd >= 0 && (length = read(fd, room, sizeof room)) > 0)
        sum = hash(sum, room, (size_t)length);
    if (fd >= 0)
        close(fd);
    return sum;
}

static unsigned long hash_attributes(const char *path)
{
    char names[1024];
    char value[1024];
    unsigned long sum = 0;
    ssize_t size = llistxattr(path, names, sizeof names);
    ssize_t length;

    for (const char *at = names; at < names + size; at += strlen(at) + 1) {
        length = lgetxattr(path, at, value, sizeof value);
        sum = hash(hash(sum, at, strlen(at)), value, length < 0 ? 0 : (size_t)length);
    }
    return sum;
}

static int digest_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)type;
    (void)ftw;
    put(current,
        "%s mode %o owner %u:%u size %ld links %lu device %lx mtime %ld.%09ld ctime %ld.%09ld "
        "contents %lx xattrs %lx\n",
        path + current->skip, st->st_mode, st->st_uid, st->st_gid,
        S_ISDIR(st->st_mode) ? 0L : (long)st->st_size, (unsigned long)st->st_nlink,
        (unsigned long)st->st_rdev, (long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec,
        (long)st->st_ctim.tv_sec, st->st_ctim.tv_nsec, hash_contents(path, st),
        hash_attributes(path));
    return 0;
}

char *stage_digest(const struct stage *stage, bool with_other, bool own)
{
    struct digest digest = {.skip = strlen(stage->top) + 1};
    const char *const parts[] = {
        "out",
        "home/.ssh",
        "home/.bashrc",
        "ws/.git/hooks",
        "ws/.git/config",
        "ws/denied",
        with_other ? "other" : NULL,
        own ? "ws/tool" : NULL,
    };

    current = &digest;
    put(&digest, "%s", "");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i] == NULL)
            continue;
        put(&digest, "%s\n", parts[i]);
        nftw(stage_path(stage, parts[i]), digest_one, 16, FTW_PHYS);
    }
    return digest.text;
}
