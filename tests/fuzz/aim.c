/* SPDX-License-Identifier: MIT */
/* aim.c - random paths: mostly to something that is there, by ways that are not straight. */
#include <stdio.h>
#include <string.h>

#include "call.h"

#define COPY "\1"
#define SIDE "\2"

static void append(char path[CALL_TEXT], const char *text)
{
    size_t length = strlen(path);

    snprintf(path + length, CALL_TEXT - length, "%s", text);
}

static void append_name(char path[CALL_TEXT], const char *name)
{
    size_t length = strlen(path);

    if (length > 0 && path[length - 1] != '/')
        append(path, "/");
    append(path, name);
}

/* What may stand between two names without a change of the place, or nearly so. */
static void append_noise(char path[CALL_TEXT], struct random *random)
{
    static const char *const noise[] = {"/", "/./", "//", "/.", "/d/..", "/../a", "/s", "/.."};

    if (random_percent(random, 12))
        append(path, noise[random_below(random, 8)]);
}

/* `to` from the copy, reached from `base`, with noise between the names. */
static void towards(char path[CALL_TEXT], const char *base, const char *to, struct random *random)
{
    size_t length = strlen(base);

    if (random_percent(random, 25)) {
        append(path, COPY);
    } else if (strncmp(to, base, length) == 0 && to[length] == '/') {
        to += length + 1;
    } else {
        for (; *base != '\0'; base += strspn(base, "/")) {
            append_name(path, "..");
            base += strcspn(base, "/");
        }
    }
    while (*to != '\0') {
        char name[NAME_MAX + 1];
        size_t n = strcspn(to, "/");
        snprintf(name, sizeof name, "%.*s", (int)n, to);
        append_name(path, name);
        append_noise(path, random);
        to += n;
        to += strspn(to, "/");
    }
}

static void append_tail(char path[CALL_TEXT], struct random *random)
{
    static const char *const tails[] = {"/",    "/.",  "/..",  "//",
                                        "/../", "/a/", "/x/.", "/missing/x"};

    append(path, tails[random_below(random, 8)]);
}

/* To an entry, or past it. */
static void aim(char path[CALL_TEXT], const struct tree *tree, const char *base, const char *kinds,
                struct random *random)
{
    static const char *const places[] = {"root", "root", "root", "root", "out", "root-evil"};
    int entry = tree_pick(tree, random, kinds, places[random_below(random, 6)]);

    if (entry >= 0)
        towards(path, base, tree->entries[entry].path, random);
    if (random_percent(random, 25))
        append_name(path, tree_name(random));
    if (random_percent(random, 5))
        append_name(path, random_percent(random, 80) ? "missing" : "missing/a");
    if (random_percent(random, 15))
        append_tail(path, random);
}

static void names(char path[CALL_TEXT], struct random *random)
{
    for (unsigned n = 1 + random_below(random, 5); n > 0; n--)
        append_name(path, random_percent(random, 15) ? ".." : tree_name(random));
    if (random_percent(random, 10))
        append_tail(path, random);
}

static void magic(char path[CALL_TEXT], struct random *random)
{
    static const char *const heads[] = {
        "/proc/self/cwd",           "/proc/self/root" COPY "/root", "/proc/self/root" COPY "/out",
        "/proc/thread-self/cwd",    "/proc/self/fd/1" SIDE "0",     "/proc/self/fd/1" SIDE "1",
        "/proc/self/fd/1" SIDE "2", "/proc/self/fd/1" SIDE "3",     "/proc/self/fd/1" SIDE "4",
        "/proc/self/fd/1" SIDE "5", "/proc/self/fd/1" SIDE "6",     "/proc/self/fd/1" SIDE "7",
        "/proc/self/fd/1" SIDE "8", "/proc/self/fd/1" SIDE "9",     "/dev/fd/1" SIDE "0",
        "/proc/self/fd/99",         "/proc/self/../self/cwd",
    };

    append(path, heads[random_below(random, sizeof heads / sizeof *heads)]);
    if (random_percent(random, 50))
        append_name(path, random_percent(random, 15) ? ".." : tree_name(random));
    if (random_percent(random, 15))
        append_tail(path, random);
}

/* As many links as the kernel follows, or a few less or more. */
static void many_links(char path[CALL_TEXT], const struct tree *tree, struct random *random)
{
    char text[32];

    if (random_percent(random, 50) && tree->count > 60) {
        snprintf(text, sizeof text, "%s/root/chain/%u", COPY, 36 + random_below(random, 7));
        append(path, text);
        return;
    }
    append(path, COPY "/root");
    for (unsigned n = 37 + random_below(random, 6); n > 0; n--)
        append_name(path, "s");
    if (random_percent(random, 70))
        append_name(path, tree_name(random));
}

/* In front of the path, slashes and dots, so that its length is at the limit. */
static void lengthen(char path[CALL_TEXT], struct random *random)
{
    char text[CALL_TEXT];
    char full[FULL_TEXT];
    size_t wanted = PATH_MAX - 2 + random_below(random, 4);
    size_t pad;

    tree_expand(path, SIDE_B, full, sizeof full);
    if (strlen(full) + 2 >= wanted)
        return;
    pad = wanted - strlen(full);
    memset(text, '/', pad);
    for (size_t i = 0; path[0] != '/' && path[0] != COPY[0] && i + 1 < pad; i += 2)
        text[i] = '.';
    if (path[0] != '/' && path[0] != COPY[0] && pad % 2 == 1)
        text[pad - 1] = '/';
    if (strlen(path) + pad >= CALL_TEXT)
        return;
    strcpy(text + pad, path);
    strcpy(path, text);
}

static void odd(char path[CALL_TEXT], struct random *random)
{
    static const char *const paths[] = {
        "",
        "/",
        ".",
        "..",
        "../..",
        "./",
        "../",
        "//",
        "/..",
        "/.",
        "...",
        "../root/a",
        "../out/a",
        "../out",
        "../root-evil/a",
        "../root",
        "../../../../../../../..",
        "/tmp",
        COPY,
        COPY "/", // NOLINT(bugprone-suspicious-missing-comma)
        COPY "/root",
        COPY "/root/",
        COPY "/root/..",
        COPY "/rootx",
        "/etc/passwd",
        "/etc/passwd/x",
        "/missing",
        "/proc",
        "/proc/self",
        "/missing/x",
    };
    char name[LONG_NAME + 3] = {0};

    if (random_percent(random, 85)) {
        append(path, paths[random_below(random, sizeof paths / sizeof *paths)]);
        return;
    }
    memset(name, 'L', LONG_NAME + random_below(random, 2));
    append_name(path, name);
    if (random_percent(random, 20))
        append_name(path, tree_name(random));
}

void path_generate(char path[CALL_TEXT], const struct tree *tree, const char *base,
                   struct random *random)
{
    unsigned kind = random_below(random, 100);

    path[0] = '\0';
    if (kind < 50)
        aim(path, tree, base, "dfl", random);
    else if (kind < 70)
        aim(path, tree, base, "l", random);
    else if (kind < 82)
        names(path, random);
    else if (kind < 89)
        magic(path, random);
    else if (kind < 92)
        many_links(path, tree, random);
    else
        odd(path, random);
    if (random_percent(random, 2))
        lengthen(path, random);
}
