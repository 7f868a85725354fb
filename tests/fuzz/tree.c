/* SPDX-License-Identifier: MIT */
#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

char tree_top[PATH_MAX];

static void need(bool condition, const char *what, const char *name)
{
    if (condition)
        return;
    printf("FAIL differential: cannot %s %s: %s\n", what, name, strerror(errno));
    fflush(stdout);
    _exit(2);
}

const char *tree_copy(int side)
{
    static char text[SIDES][PATH_MAX + 2];

    snprintf(text[side], sizeof text[side], "%s/%c", tree_top, "AB"[side]);
    return text[side];
}

bool tree_expand(const char *template, int side, char *text, size_t size)
{
    const char *copy = tree_copy(side);
    size_t n = 0;

    for (; *template != '\0'; template ++) {
        size_t length = *template == COPY_MARK ? strlen(copy) : 1;
        if (n + length >= size)
            return false;
        if (*template == COPY_MARK)
            memcpy(text + n, copy, length);
        else
            text[n] = *template == SIDE_MARK ? (char)('1' + side) : *template;
        n += length;
    }
    text[n] = '\0';
    return true;
}

int tree_prop(int side, enum prop prop)
{
    return FIRST_PROP + 10 * (side + 1) + (int)prop;
}

/* --- building --------------------------------------------------------------------------------- */

/* The directory of an entry, whose path may be longer than the kernel takes. */
static int open_parent(int copy, const char *path, const char **leaf)
{
    const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int dir = dup(copy);
    char name[NAME_MAX + 1];

    for (const char *slash; (slash = strchr(path, '/')) != NULL; path = slash + 1) {
        size_t length = (size_t)(slash - path);
        memcpy(name, path, length);
        name[length] = '\0';
        int next = openat(dir, name, flags);
        need(next >= 0, "enter", name);
        close(dir);
        dir = next;
    }
    *leaf = path;
    return dir;
}

/* Short paths, nearly all of them, go the short way. */
static int parent_of(int copy, const char *path, const char **leaf)
{
    if (strlen(path) >= PATH_MAX)
        return open_parent(copy, path, leaf);
    *leaf = path;
    return copy;
}

static void make_file(int dir, const char *name, size_t size)
{
    static const char content[TREE_MAX + 1] = {0};
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    need(fd >= 0 && write(fd, content, size) == (ssize_t)size, "write", name);
    close(fd);
}

static void make_link(int dir, const char *name, const char *template, int side)
{
    char target[PATH_MAX];

    need(tree_expand(template, side, target, sizeof target), "expand", name);
    need(symlinkat(target, dir, name) == 0, "link", name);
}

static void make_entry(const struct tree *tree, int index, int copy, int side)
{
    const struct entry *entry = &tree->entries[index];
    const char *leaf;
    int dir = parent_of(copy, entry->path, &leaf);

    if (entry->kind == 'd')
        need(mkdirat(dir, leaf, 0700) == 0, "make", leaf);
    else if (entry->kind == 'f')
        make_file(dir, leaf, (size_t)index + 1); /* the size tells which file it is */
    else
        make_link(dir, leaf, entry->target, side);
    if (dir != copy)
        close(dir);
}

/* Only when all is in its place, since a mode may lock us out: children before parents. */
static void set_modes(const struct tree *tree, int copy)
{
    for (int i = tree->count - 1; i >= 0; i--) {
        const struct entry *entry = &tree->entries[i];
        const char *leaf;
        int dir = parent_of(copy, entry->path, &leaf);
        if (entry->foreign && geteuid() == 0)
            need(fchownat(dir, leaf, 1, 1, AT_SYMLINK_NOFOLLOW) == 0, "give away", leaf);
        if (entry->kind != 'l')
            need(fchmodat(dir, leaf, entry->mode, 0) == 0, "chmod", leaf);
        if (dir != copy)
            close(dir);
    }
}

static void set_prop(int side, enum prop prop, int fd)
{
    need(fd >= 0 && dup3(fd, tree_prop(side, prop), O_CLOEXEC) >= 0, "open", "a descriptor");
    close(fd);
}

static void open_entry(const struct tree *tree, int copy, int side, enum prop prop, int flags)
{
    const char *leaf;

    if (tree->props[prop] < 0)
        return;
    int dir = parent_of(copy, tree->entries[tree->props[prop]].path, &leaf);
    set_prop(side, prop, openat(dir, leaf, flags | O_CLOEXEC));
    if (dir != copy)
        close(dir);
}

static void open_gone(int copy, int side, enum prop prop, const char *path)
{
    set_prop(side, prop, openat(copy, path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    need(unlinkat(copy, path, 0) == 0, "unlink", path);
}

/* While the tops are empty: the names may be taken again later. */
static void open_deleted(int copy, int side)
{
    need(mkdirat(copy, "root/gone", 0700) == 0, "make", "gone");
    set_prop(side, PROP_GONE_DIR, openat(copy, "root/gone", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    need(unlinkat(copy, "root/gone", AT_REMOVEDIR) == 0, "remove", "gone");
    open_gone(copy, side, PROP_GONE_IN, "root/gone-file");
    open_gone(copy, side, PROP_GONE_OUT, "out/gone-file");
}

static void open_props(const struct tree *tree, int copy, int side)
{
    int ends[2];

    open_entry(tree, copy, side, PROP_DIR_IN, O_PATH | O_DIRECTORY);
    open_entry(tree, copy, side, PROP_DIR_OUT, O_RDONLY | O_DIRECTORY);
    open_entry(tree, copy, side, PROP_FILE_IN, O_RDONLY);
    open_entry(tree, copy, side, PROP_FILE_OUT, O_RDONLY);
    open_entry(tree, copy, side, PROP_LINK, O_PATH | O_NOFOLLOW);
    need(pipe2(ends, O_CLOEXEC) == 0, "make", "a pipe");
    /* With its writer open, too, no open of the pipe waits. */
    set_prop(side, PROP_PIPE, ends[0]);
    need(dup3(ends[1], FIRST_PROP + side, O_CLOEXEC) >= 0, "keep", "a pipe");
    close(ends[1]);
    set_prop(side, PROP_MEMFD, memfd_create("differential", MFD_CLOEXEC));
}

void tree_build(const struct tree *tree, int side)
{
    int copy;

    tree_wipe(side);
    need(mkdir(tree_copy(side), 0700) == 0, "make", tree_copy(side));
    copy = open(tree_copy(side), O_PATH | O_DIRECTORY | O_CLOEXEC);
    need(copy >= 0, "open", tree_copy(side));
    for (int i = 0; i < tree->count; i++) {
        if (i == TREE_TOPS)
            open_deleted(copy, side);
        make_entry(tree, i, copy, side);
    }
    open_props(tree, copy, side);
    set_modes(tree, copy);
    close(copy);
}

/* --- taking away ------------------------------------------------------------------------------ */

static int open_to_list(int dir, const char *name)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(dir, name, flags);

    if (fd >= 0 || errno != EACCES)
        return fd;
    fchmodat(dir, name, 0700, 0);
    return openat(dir, name, flags);
}

static void remove_all_in(int dir)
{
    DIR *list = fdopendir(dir);
    struct dirent *item;

    need(list != NULL, "list", "a directory");
    if (list == NULL) /* need has ended the program: for the analyser */
        return;
    fchmod(dir, 0700);
    while ((item = readdir(list)) != NULL) {
        if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0)
            continue;
        if (item->d_type == DT_DIR || item->d_type == DT_UNKNOWN)
            tree_remove(dir, item->d_name);
        else
            need(unlinkat(dir, item->d_name, 0) == 0, "unlink", item->d_name);
    }
    closedir(list);
}

void tree_remove(int dir, const char *path)
{
    int fd = open_to_list(dir, path);

    if (fd >= 0)
        remove_all_in(fd);
    if (unlinkat(dir, path, fd >= 0 ? AT_REMOVEDIR : 0) < 0)
        need(errno == ENOENT, "remove", path);
}

void tree_wipe(int side)
{
    tree_remove(AT_FDCWD, tree_copy(side));
}

void tree_close_props(int side)
{
    for (int prop = 0; prop < PROPS; prop++)
        close(tree_prop(side, (enum prop)prop));
    close(FIRST_PROP + side);
}

/* --- comparing -------------------------------------------------------------------------------- */

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ p[i]) * 0x100000001b3U;
    return hash;
}

static uint64_t hash_link(int dir, const char *name, int side, uint64_t hash)
{
    char target[PATH_MAX];
    const char *copy = tree_copy(side);
    ssize_t length = readlinkat(dir, name, target, sizeof target - 1);
    char *found;

    need(length >= 0, "read", name);
    target[length] = '\0';
    /* What differs between the copies by design. */
    while ((found = strstr(target, copy)) != NULL)
        found[strlen(copy) - 1] = '*';
    if ((found = strstr(target, "/fd/1")) != NULL)
        found[strlen("/fd/1")] = '*';
    return hash_bytes(hash, target, (size_t)length);
}

static uint64_t digest_in(int dir, int side, uint64_t above);

static uint64_t digest_of(int dir, const char *name, int side, uint64_t above)
{
    uint64_t hash = hash_bytes(above ^ 0x2f, name, strlen(name) + 1);
    struct stat st;
    int fd;

    need(fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0, "stat", name);
    hash = hash_bytes(hash, &st.st_mode, sizeof st.st_mode);
    if (S_ISLNK(st.st_mode))
        return hash_link(dir, name, side, hash);
    if (!S_ISDIR(st.st_mode))
        return hash_bytes(hash, &st.st_size, sizeof st.st_size);
    fd = open_to_list(dir, name);
    need(fd >= 0, "list", name);
    hash += digest_in(fd, side, hash);
    if ((st.st_mode & 0500) != 0500)
        fchmodat(dir, name, st.st_mode & 07777, 0);
    return hash;
}

/* A sum, so that the order in which the names come does not matter. */
static uint64_t digest_in(int dir, int side, uint64_t above)
{
    DIR *list = fdopendir(dir);
    struct dirent *item;
    uint64_t sum = 0;

    need(list != NULL, "list", "a directory");
    if (list == NULL)
        return 0;
    while ((item = readdir(list)) != NULL)
        if (strcmp(item->d_name, ".") != 0 && strcmp(item->d_name, "..") != 0)
            sum += digest_of(dir, item->d_name, side, above) * 0x9e3779b97f4a7c15U;
    closedir(list);
    return sum;
}

uint64_t tree_digest(int side)
{
    int fd = open(tree_copy(side), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    need(fd >= 0, "list", tree_copy(side));
    return digest_in(fd, side, 0xcbf29ce484222325U);
}

/* --- printing --------------------------------------------------------------------------------- */

void print_text(const char *text)
{
    size_t length = strlen(text);
    size_t same = 0;

    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        same = i > 0 && text[i - 1] == text[i] ? same + 1 : 0;
        if (c == COPY_MARK)
            fputs("COPY", stdout);
        else if (c == SIDE_MARK)
            fputs("{SIDE}", stdout);
        else if (c == '\\' || c < ' ' || c > '~')
            printf("\\x%02x", c);
        else if (same < 8 || i + 1 == length)
            putchar(c);
        else if (same == 8)
            fputs("...", stdout);
    }
}

void tree_print(const struct tree *tree)
{
    for (int i = 0; i < tree->count; i++) {
        const struct entry *entry = &tree->entries[i];
        printf("    ");
        print_text(entry->path);
        if (entry->kind == 'l') {
            printf(" -> ");
            print_text(entry->target);
        } else {
            printf("%s %04o", entry->kind == 'd' ? "/" : "", (unsigned)entry->mode);
        }
        puts(entry->foreign ? " (another user's)" : "");
    }
}
