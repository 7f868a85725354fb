/* SPDX-License-Identifier: MIT */
/* grow.c - random trees: what is likely to lead a resolver astray, and close together. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tree.h"

#define COPY "\1"
#define SIDE "\2"

static const char *long_name(void)
{
    static char name[LONG_NAME + 1];

    memset(name, 'L', LONG_NAME);
    return name;
}

/* Few names, so that they meet: the same ones inside and outside. */
const char *tree_name(struct random *random)
{
    static const char *const common[] = {"a", "b", "c", "d", "e", "f"};
    static const char *const rare[] = {
        "...",         "..x", ".env",           "key.pem", "secrets", "n\nl", "\xff\xfe", "gone",
        "x (deleted)", " ",   "gone (deleted)", "\\*",     "build",   "id_x", "config",   "-"};

    if (random_percent(random, 70))
        return common[random_below(random, 6)];
    if (random_percent(random, 4))
        return long_name();
    return rare[random_below(random, sizeof rare / sizeof *rare)];
}

static bool is_below(const char *path, const char *where)
{
    size_t length = strlen(where);

    return strncmp(path, where, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

int tree_pick(const struct tree *tree, struct random *random, const char *kinds, const char *where)
{
    int chosen = -1;
    unsigned seen = 0;

    for (int i = 0; i < tree->count; i++)
        if (strchr(kinds, tree->entries[i].kind) != NULL &&
            is_below(tree->entries[i].path, where) && random_below(random, ++seen) == 0)
            chosen = i;
    return chosen;
}

static bool is_directory(const struct tree *tree, const char *path)
{
    for (int i = 0; i < tree->count; i++)
        if (strcmp(tree->entries[i].path, path) == 0)
            return tree->entries[i].kind == 'd';
    return *path == '\0';
}

/* NULL: the name is taken, or its parent is no directory, or the tree is full. */
static struct entry *add(struct tree *tree, char kind, const char *parent, const char *name)
{
    size_t size = strlen(parent) + strlen(name) + 2;
    char *path;

    if (!is_directory(tree, parent))
        return NULL;
    path = malloc(size);
    if (path == NULL)
        abort();
    snprintf(path, size, "%s%s%s", parent, *parent == '\0' ? "" : "/", name);
    for (int i = 0; i < tree->count; i++)
        if (tree->count == TREE_MAX || strcmp(tree->entries[i].path, path) == 0) {
            free(path);
            return NULL;
        }
    struct entry *entry = &tree->entries[tree->count];
    /* The low bits of a directory's mode tell which one it is. */
    *entry = (struct entry){
        .kind = kind, .path = path, .mode = 0700 | (kind == 'd' ? tree->count & 077 : 0)};
    tree->count++;
    return entry;
}

static void add_link(struct tree *tree, const char *parent, const char *name, const char *target)
{
    struct entry *entry = add(tree, 'l', parent, name);

    if (entry != NULL && (entry->target = strdup(target)) == NULL)
        abort();
}

/* A directory that is not too deep for its paths to be short. */
static const char *some_directory(const struct tree *tree, struct random *random)
{
    static const char *const places[] = {"root", "root", "root", "root", "out", "root-evil"};
    const char *where = places[random_below(random, 6)];
    const char *path = tree->entries[tree_pick(tree, random, "d", where)].path;

    return strlen(path) < 600 ? path : where;
}

/* --- where links lead ------------------------------------------------------------------------- */

/* From the directory `from` to the entry `to`, by way of their common top. */
static void relative(char *text, size_t size, const char *from, const char *to)
{
    size_t n = 0;

    text[0] = '\0';
    while (*from != '\0' && n + 4 < size) {
        n += (size_t)snprintf(text + n, size - n, "../");
        from += strcspn(from, "/");
        from += strspn(from, "/");
    }
    snprintf(text + n, size - n, "%s", to);
}

static void target_to_entry(const struct tree *tree, struct random *random, const char *from,
                            const char *where, char *text, size_t size)
{
    const char *to = tree->entries[tree_pick(tree, random, "dfl", where)].path;
    static const char *const ends[] = {"", "", "", "", "", "", "/", "//", "/.", "/.."};
    const char *end = ends[random_below(random, 10)];

    if (strlen(to) > 1500)
        to = where;
    if (random_percent(random, 50))
        snprintf(text, size, COPY "/%s", to);
    else if (is_below(to, from) && strlen(to) > strlen(from))
        snprintf(text, size, "%s", to + strlen(from) + 1);
    else
        relative(text, size, from, to);
    strncat(text, end, size - strlen(text) - 1);
}

static const char *odd_target(struct random *random)
{
    static const char *const targets[] = {
        ".",
        "..",
        "./",
        "../..",
        "../../../..",
        "/",
        "../out",
        "../root-evil",
        "../../out/a",
        COPY,
        COPY "/root",
        COPY "/root/",
        COPY "/out",
        COPY "/root-evil/a",
        COPY "/root/../out",
        "missing",
        "missing/",
        "missing/x",
        "../missing",
        COPY "/root/missing",
        COPY "/out/missing",
        COPY "/out/missing/x",
        COPY "/root-evil/missing",
        "/missing",
        "a/b",
        "b/",
        "c/.",
        "d/..",
        "a/../b",
        "f/x",
        "e/f",
        ".env",
        "secrets/x",
        "key.pem",
        "/proc/self/cwd",
        "/proc/self/cwd/..",
        "/proc/self/cwd/a",
        "/proc/self/cwd/missing",
        "/proc/self/root",
        "/proc/self/root" COPY "/root/a",
        "/proc/self/root" COPY "/out/a",
        "/proc/self/fd/1" SIDE "0",
        "/proc/self/fd/1" SIDE "1",
        "/proc/self/fd/1" SIDE "2",
        "/proc/self/fd/1" SIDE "3",
        "/proc/self/fd/1" SIDE "4",
        "/proc/self/fd/1" SIDE "5",
        "/proc/self/fd/1" SIDE "6",
        "/proc/self/fd/1" SIDE "7",
        "/proc/self/fd/1" SIDE "9",
        "/proc/self/fd/1" SIDE "0/a",
        "/proc/self/fd/1" SIDE "0/..",
        "/proc/self/fd/1" SIDE "1/a",
        "/proc/thread-self/fd/1" SIDE "0/b",
        "/dev/fd/1" SIDE "2",
    };

    return targets[random_below(random, sizeof targets / sizeof *targets)];
}

static void add_random_link(struct tree *tree, struct random *random)
{
    const char *parent = some_directory(tree, random);
    const char *name = tree_name(random);
    char target[PATH_MAX];

    if (random_percent(random, 8))
        snprintf(target, sizeof target, "%s%s", name, random_percent(random, 50) ? "" : "/x");
    else if (random_percent(random, 40))
        snprintf(target, sizeof target, "%s", odd_target(random));
    else
        target_to_entry(tree, random, parent, random_percent(random, 75) ? "root" : "out", target,
                        sizeof target);
    add_link(tree, parent, name, target);
}

/* --- odd parts -------------------------------------------------------------------------------- */

/* About as many links, each leading to the next, as the kernel follows. */
static void add_chain(struct tree *tree, struct random *random)
{
    const char *end = random_percent(random, 70) ? "../a" : COPY "/out/a";
    char name[16];
    char target[16];

    add(tree, 'd', "root", "chain");
    add_link(tree, "root/chain", "0", end);
    for (int i = 1; i <= 42; i++) {
        snprintf(name, sizeof name, "%d", i);
        snprintf(target, sizeof target, "%d", i - 1);
        add_link(tree, "root/chain", name, target);
    }
}

/* So deep that the full path is longer than the kernel takes; links make it reachable. */
static void add_deep(struct tree *tree)
{
    char path[20 * (LONG_NAME + 1) + 8] = "root";

    for (int i = 0; i < 17; i++) {
        add(tree, 'd', path, long_name());
        strcat(path, "/");
        strcat(path, long_name());
    }
    add(tree, 'f', path, "a");
    path[strlen("root/") + 10 * (LONG_NAME + 1) - 1] = '\0';
    add_link(tree, "root", "deep", path + strlen("root/"));
}

/* A target of the greatest length. */
static void add_long_link(struct tree *tree, struct random *random)
{
    char target[PATH_MAX];

    for (size_t i = 0; i + 1 < sizeof target; i += 2)
        memcpy(target + i, "./", 2);
    target[sizeof target - 1] = '\0';
    if (random_percent(random, 70))
        memcpy(target + sizeof target - 2, "a", 1);
    add_link(tree, "root", "long", target);
}

/* As /tmp: where the kernel does not follow or write everything. */
static void add_shared(struct tree *tree)
{
    struct entry *shared = add(tree, 'd', "root", "shared");
    int first = tree->count;

    shared->mode = 01777;
    add(tree, 'f', "root/shared", "a");
    add_link(tree, "root/shared", "b", "../a");
    add_link(tree, "root/shared", "c", "a");
    for (int i = first; i < tree->count; i++)
        tree->entries[i].foreign = true;
}

/* Modes that lock an ordinary user out. */
static void lock_some(struct tree *tree, struct random *random)
{
    static const mode_t modes[] = {0, 0100, 0200, 0300, 0400, 0500, 0600};

    for (int i = 0; i < tree->count; i++)
        if (tree->entries[i].kind != 'l' && strchr(tree->entries[i].path, '/') != NULL &&
            strlen(tree->entries[i].path) < LONG_NAME && random_percent(random, 8))
            tree->entries[i].mode = modes[random_below(random, 7)];
}

static void add_tops(struct tree *tree)
{
    add(tree, 'd', "", "root");
    add(tree, 'd', "", "out");
    add(tree, 'd', "", "root-evil");
    add(tree, 'f', "root", "f");
    add(tree, 'f', "out", "a");
    add(tree, 'f', "root-evil", "a");
    add_link(tree, "root", "s", "."); /* as many links as wanted: s/s/s/s */
}

void tree_generate(struct tree *tree, struct random *random)
{
    *tree = (struct tree){0};
    add_tops(tree);
    for (unsigned n = 4 + random_below(random, 12); n > 0; n--)
        add(tree, 'd', some_directory(tree, random), tree_name(random));
    for (unsigned n = 4 + random_below(random, 12); n > 0; n--)
        add(tree, 'f', some_directory(tree, random), tree_name(random));
    for (unsigned n = 8 + random_below(random, 20); n > 0; n--)
        add_random_link(tree, random);
    if (random_percent(random, 15))
        add_chain(tree, random);
    if (random_percent(random, 10))
        add_deep(tree);
    if (random_percent(random, 20))
        add_long_link(tree, random);
    if (random_percent(random, 20))
        add_shared(tree);
    lock_some(tree, random);
    for (int prop = 0; prop < PROPS; prop++)
        tree->props[prop] = -1;
    tree->props[PROP_DIR_IN] = tree_pick(tree, random, "d", "root");
    tree->props[PROP_DIR_OUT] = tree_pick(tree, random, "d", "out");
    tree->props[PROP_FILE_IN] = tree_pick(tree, random, "f", "root");
    tree->props[PROP_FILE_OUT] = tree_pick(tree, random, "f", "out");
    tree->props[PROP_LINK] = tree_pick(tree, random, "l", "root");
}

void tree_release(struct tree *tree)
{
    for (int i = 0; i < tree->count; i++) {
        free(tree->entries[i].path);
        free(tree->entries[i].target);
    }
    tree->count = 0;
}
