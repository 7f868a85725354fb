/* SPDX-License-Identifier: MIT */
#include "tree.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char root_below_top[] = "base/root";
static const char moved_below_top[] = "base/out/park/m";

static const char *const outside_dirs[] = {
    "base", "base/out", "base/out/dir", "base/out/par", "base/out/park",
};

static const char *const outside_files[] = {
    "f", "base/f", "base/out/f", "base/out/dir/f", "base/out/par/f", "base/out/park/f",
};

/* In the order of enum home. */
static const char *const home_paths[HOMES] = {
    [HOME_ROOT] = "base/root",        [HOME_PAR] = "base/root/par",
    [HOME_Q] = "base/root/q",         [HOME_Q_PAR] = "base/root/q/par",
    [HOME_A] = "base/root/a",         [HOME_DEEP] = "base/root/a/deep",
    [HOME_B1] = "base/root/a/deep/b", [HOME_B2] = "base/root/b",
    [HOME_M1] = "base/root/a/m",      [HOME_M2] = "base/out/park/m",
    [HOME_LEAF] = "base/root/leaf",
};

static const struct {
    enum home home;
    const char *name;
    const char *target; /* one that begins with '%' has TOP in its place */
} links[] = {
    {HOME_ROOT, "hop", "par"},
    {HOME_ROOT, "to-f", "leaf/f"},
    {HOME_ROOT, "to-new", "leaf/new"},
    {HOME_ROOT, "par.alt", "%/base/out/dir"},
    {HOME_Q, "hop", "../par"},
    {HOME_Q, "par.alt", "../../out/dir"},
    {HOME_LEAF, "f.alt", "%/base/out/dir/f"},
    {HOME_LEAF, "new.alt", "../../out/dir/new"},
};

/* In each directory that changes places. */
static const enum home movers[] = {HOME_B1, HOME_B2, HOME_M1, HOME_M2};
static const char *const mover_links[][2] = {
    {"up", "../.."},
    {"up-f", "../../f"},
    {"up-new", "../../new"},
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* --- building --------------------------------------------------------------------------------- */

static const char *below_top(const struct tree *tree, const char *path,
                             char buffer[static 2 * PLACE_SIZE])
{
    snprintf(buffer, 2 * PLACE_SIZE, "%s/%s", tree->top, path);
    return buffer;
}

static void make_dir(const struct tree *tree, const char *path)
{
    char whole[2 * PLACE_SIZE];

    if (mkdir(below_top(tree, path, whole), 0700) < 0 && errno != EEXIST)
        err(125, "%s", whole);
}

static void make_file(int dir, const char *name, const char *text)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return;
    if (write(fd, text, strlen(text)) < 0)
        err(125, "%s", name);
    close(fd);
}

static void make_link(const struct tree *tree, enum home home, const char *name, const char *target)
{
    char whole[2 * PLACE_SIZE];

    if (target[0] == '%')
        target = below_top(tree, target + 2, whole);
    if (symlinkat(target, tree->homes[home], name) < 0 && errno != EEXIST)
        err(125, "%s", name);
}

/* What the file at that place outside has to hold. */
static void outside_text(const char *path, char text[static PLACE_SIZE + 16])
{
    snprintf(text, PLACE_SIZE + 16, "outside: %s\n", path);
}

static void make_outside(const struct tree *tree)
{
    char whole[2 * PLACE_SIZE];
    char text[PLACE_SIZE + 16];

    for (size_t i = 0; i < COUNT(outside_dirs); i++)
        make_dir(tree, outside_dirs[i]);
    for (size_t i = 0; i < COUNT(outside_files); i++) {
        outside_text(outside_files[i], text);
        make_file(AT_FDCWD, below_top(tree, outside_files[i], whole), text);
    }
}

static void make_homes(struct tree *tree)
{
    char whole[2 * PLACE_SIZE];

    /* Parents come before what lies in them. */
    make_dir(tree, "base/root");
    for (size_t i = 0; i < HOMES; i++) {
        make_dir(tree, home_paths[i]);
        below_top(tree, home_paths[i], whole);
        tree->homes[i] = open(whole, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (tree->homes[i] < 0)
            err(125, "%s", whole);
    }
}

static void make_handles(struct tree *tree)
{
    char whole[2 * PLACE_SIZE];
    int ends[2];

    below_top(tree, "base", whole);
    tree->handles[0] = tree->homes[HOME_ROOT];
    tree->handles[2] = open(whole, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (tree->handles[2] < 0 || pipe2(ends, O_CLOEXEC) < 0)
        err(125, "%s", whole);
    tree->handles[1] = ends[0];
}

static bool is_of_attackers(const char *path)
{
    return strcmp(path, root_below_top) == 0 || strcmp(path, moved_below_top) == 0;
}

/* Goes through what lies outside; the way down to the attackers' part is left to the caller. */
static FTS *open_outside(const char *top)
{
    char *paths[] = {(char *)top, NULL};
    FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);

    if (fts == NULL)
        err(125, "%s", top);
    return fts;
}

/* The next entry below TOP, directories once, with its path from there; NULL at the end. */
static FTSENT *next_outside(const struct tree *tree, FTS *fts, const char **path)
{
    for (;;) {
        FTSENT *entry = fts_read(fts);
        if (entry == NULL)
            return NULL;
        if (entry->fts_level == 0 || entry->fts_info == FTS_DP)
            continue;
        *path = entry->fts_path + strlen(tree->top) + 1;
        if (!is_of_attackers(*path))
            return entry;
        fts_set(fts, entry, FTS_SKIP);
    }
}

static void record_outside(struct tree *tree)
{
    FTS *fts = open_outside(tree->top);
    const char *path;
    FTSENT *entry;

    tree->sentinels = 0;
    while ((entry = next_outside(tree, fts, &path)) != NULL) {
        struct sentinel *sentinel = &tree->outside[tree->sentinels++];
        if (tree->sentinels > OUTSIDE_MAX)
            errx(125, "too much lies outside");
        snprintf(sentinel->path, sizeof sentinel->path, "%s", path);
        sentinel->st = *entry->fts_statp;
    }
    fts_close(fts);
}

void tree_build(struct tree *tree, const char *top)
{
    char resolved[4096];

    if (realpath(top, resolved) == NULL || strlen(resolved) + sizeof root_below_top >= PLACE_SIZE)
        err(125, "%s", top);
    memcpy(tree->top, resolved, strlen(resolved) + 1);
    below_top(tree, root_below_top, resolved);
    memcpy(tree->root, resolved, strlen(resolved) + 1);
    if (stat(tree->top, &tree->top_st) < 0)
        err(125, "%s", tree->top);

    make_outside(tree);
    make_homes(tree);
    make_handles(tree);
    for (size_t i = 0; i < COUNT(links); i++)
        make_link(tree, links[i].home, links[i].name, links[i].target);
    for (size_t i = 0; i < COUNT(movers); i++)
        for (size_t k = 0; k < COUNT(mover_links); k++)
            make_link(tree, movers[i], mover_links[k][0], mover_links[k][1]);
    make_file(tree->homes[HOME_LEAF], "new", "inside\n");
    tree_mend(tree);
    record_outside(tree);
}

void tree_remove(const char *top)
{
    FTS *fts = open_outside(top);
    FTSENT *entry;

    while ((entry = fts_read(fts)) != NULL)
        if (entry->fts_info == FTS_DP)
            rmdir(entry->fts_path);
        else if (entry->fts_info != FTS_D)
            unlink(entry->fts_path);
    fts_close(fts);
}

/* --- mending ---------------------------------------------------------------------------------- */

static mode_t type_of(int dir, const char *name)
{
    struct stat st;

    return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ? 0 : st.st_mode & S_IFMT;
}

/* Looks before it acts: to create and to remove takes the lock that the attackers need. */
void tree_mend_files(const struct tree *tree)
{
    for (size_t i = 0; i < HOME_LEAF; i++)
        if (type_of(tree->homes[i], "f") == 0)
            make_file(tree->homes[i], "f", "inside\n");
}

static void mend_link(const struct tree *tree, enum home home, const char *name, const char *target)
{
    if (type_of(tree->homes[home], name) == S_IFLNK)
        return;
    unlinkat(tree->homes[home], name, 0);
    make_link(tree, home, name, target);
}

void tree_mend_links(const struct tree *tree)
{
    mend_link(tree, HOME_ROOT, "to-f", "leaf/f");
    for (size_t i = 0; i < COUNT(movers); i++)
        for (size_t k = 0; k < COUNT(mover_links); k++)
            mend_link(tree, movers[i], mover_links[k][0], mover_links[k][1]);
}

void tree_mend_names(const struct tree *tree)
{
    int leaf = tree->homes[HOME_LEAF];
    mode_t name = type_of(leaf, "f");
    mode_t other = type_of(leaf, "f.alt");

    if ((name == S_IFREG && other == S_IFLNK) || (name == S_IFLNK && other == S_IFREG))
        return;
    unlinkat(leaf, "f", 0);
    unlinkat(leaf, "f.alt", 0);
    make_file(leaf, "f", "inside\n");
    make_link(tree, HOME_LEAF, "f.alt", "%/base/out/dir/f");
}

void tree_clear_new(const struct tree *tree)
{
    for (size_t i = 0; i < HOME_LEAF; i++) {
        mode_t type = type_of(tree->homes[i], "new");
        if (type != 0)
            unlinkat(tree->homes[i], "new", type == S_IFDIR ? AT_REMOVEDIR : 0);
    }
}

void tree_mend(const struct tree *tree)
{
    tree_mend_files(tree);
    tree_mend_links(tree);
    tree_mend_names(tree);
    tree_clear_new(tree);
}

/* --- swapping --------------------------------------------------------------------------------- */

static int exchange(int old_dir, const char *old, int new_dir, const char *new)
{
    return renameat2(old_dir, old, new_dir, new, RENAME_EXCHANGE);
}

int tree_swap(const struct tree *tree, enum attack attack, unsigned turn)
{
    const int *homes = tree->homes;
    char park[2 * PLACE_SIZE];
    int dir;

    switch (attack) {
    case ATTACK_PARENT:
        dir = homes[turn % 2 ? HOME_ROOT : HOME_Q];
        return exchange(dir, "par", dir, "par.alt");
    case ATTACK_NAME:
        dir = homes[HOME_LEAF];
        return turn % 2 ? exchange(dir, "f", dir, "f.alt") : exchange(dir, "new", dir, "new.alt");
    case ATTACK_INSIDE:
        return exchange(homes[HOME_DEEP], "b", homes[HOME_ROOT], "b");
    case ATTACK_OUT:
        return exchange(homes[HOME_A], "m", AT_FDCWD, below_top(tree, moved_below_top, park));
    case ATTACK_HANDLE:
        return dup2(tree->handles[turn % HANDLES], HANDLE_NUMBER) < 0 ? -1 : 0;
    case ATTACKS:
    default:
        return -1;
    }
}

/* --- judging ---------------------------------------------------------------------------------- */

static const struct sentinel *sentinel_of(const struct tree *tree, const struct stat *st)
{
    for (size_t i = 0; i < tree->sentinels; i++) {
        const struct sentinel *sentinel = &tree->outside[i];
        if (sentinel->st.st_ino == st->st_ino && sentinel->st.st_dev == st->st_dev)
            return sentinel;
    }
    return NULL;
}

bool tree_is_above(const struct tree *tree, const struct stat *st)
{
    const struct sentinel *sentinel = sentinel_of(tree, st);

    if (tree->top_st.st_ino == st->st_ino && tree->top_st.st_dev == st->st_dev)
        return true;
    return sentinel != NULL && strcmp(sentinel->path, "base") == 0;
}

bool tree_is_outside(const struct tree *tree, const struct stat *st)
{
    return sentinel_of(tree, st) != NULL && !tree_is_above(tree, st);
}

static bool same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool holds_its_text(const char *whole, const char *path)
{
    char wanted[PLACE_SIZE + 16];
    char text[sizeof wanted + 1];
    int fd = open(whole, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text);

    outside_text(path, wanted);
    if (fd >= 0)
        close(fd);
    return length == (ssize_t)strlen(wanted) && memcmp(text, wanted, (size_t)length) == 0;
}

/* The change time tells of writing, truncating, renaming and linking alike, and in a directory of
 * every name that came or went; only in park the attackers make some themselves. */
static bool is_unchanged(const struct sentinel *sentinel, const FTSENT *entry)
{
    const struct stat *now = entry->fts_statp;
    const struct stat *then = &sentinel->st;

    if (now->st_ino != then->st_ino || now->st_mode != then->st_mode)
        return false;
    if (strcmp(sentinel->path, "base/out/park") == 0)
        return true;
    if (!same_time(now->st_ctim, then->st_ctim) || !same_time(now->st_mtim, then->st_mtim))
        return false;
    return S_ISDIR(now->st_mode) ||
           (now->st_size == then->st_size && holds_its_text(entry->fts_path, sentinel->path));
}

static struct sentinel *find_sentinel(struct tree *tree, const char *path)
{
    for (size_t i = 0; i < tree->sentinels; i++)
        if (strcmp(tree->outside[i].path, path) == 0)
            return &tree->outside[i];
    return NULL;
}

static void restore_outside(struct tree *tree)
{
    FTS *fts = open_outside(tree->top);
    const char *path;
    FTSENT *entry;

    while ((entry = next_outside(tree, fts, &path)) != NULL)
        if (entry->fts_info != FTS_D)
            unlink(entry->fts_path);
        else if (find_sentinel(tree, path) == NULL)
            rmdir(entry->fts_path);
    fts_close(fts);
    make_outside(tree);
    record_outside(tree);
}

static void note(size_t *differences, char first[static PLACE_SIZE + 16], const char *path,
                 const char *what)
{
    if ((*differences)++ == 0)
        snprintf(first, PLACE_SIZE + 16, "%s %s", path, what);
}

size_t tree_check_outside(struct tree *tree, char first[static PLACE_SIZE + 16])
{
    FTS *fts = open_outside(tree->top);
    size_t differences = 0;
    const char *path;
    FTSENT *entry;

    for (size_t i = 0; i < tree->sentinels; i++)
        tree->outside[i].seen = false;
    while ((entry = next_outside(tree, fts, &path)) != NULL) {
        struct sentinel *sentinel = find_sentinel(tree, path);
        if (sentinel == NULL) {
            note(&differences, first, path, "is new");
            continue;
        }
        sentinel->seen = true;
        if (!is_unchanged(sentinel, entry))
            note(&differences, first, path, "has changed");
    }
    fts_close(fts);
    for (size_t i = 0; i < tree->sentinels; i++)
        if (!tree->outside[i].seen)
            note(&differences, first, tree->outside[i].path, "is gone");
    if (differences > 0)
        restore_outside(tree);
    return differences;
}
