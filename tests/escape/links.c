/* SPDX-License-Identifier: MIT */
/* Symbolic links, made inside and followed. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attack.h"
#include "layer.h"

static int read_through(const char *target, const char *path)
{
    long error = do_symlink(target, "l");

    return error < 0 ? (int)error : spill(do_open(path, O_RDONLY, 0));
}

static int link_to_file(void)
{
    return read_through(in("out", "secret"), "l");
}

static int link_to_directory(void)
{
    return read_through(fact("out"), in("ws", "l/secret"));
}

static int link_relative(void)
{
    return read_through("../out", "l/dir/../secret");
}

static int link_through_proc(void)
{
    char target[4200];

    snprintf(target, sizeof target, "/proc/self/root%s", fact("out"));
    return read_through(target, "l/secret");
}

static int link_through_cwd(void)
{
    return read_through("/proc/self/cwd/../out/secret", "l");
}

/* As long a chain as the kernel follows. */
static int link_chain(void)
{
    char name[16] = "secret";
    char next[16];
    long error = do_symlink(in("out", "secret"), name);

    for (int i = 1; i < 40 && error == 0; i++) {
        snprintf(next, sizeof next, "l%d", i);
        error = do_symlink(name, next);
        snprintf(name, sizeof name, "%s", next);
    }
    return error < 0 ? (int)error : spill(do_open(name, O_RDONLY, 0));
}

/* O_CREAT goes through a link that dangles. */
static int link_dangling_create(void)
{
    long error = do_symlink(in("out", "new"), "l");

    return error < 0 ? (int)error : scribble(do_open("l", O_WRONLY | O_CREAT, 0644));
}

static int link_parent_create(void)
{
    long error = do_symlink("../out", "l");

    return error < 0 ? (int)error : scribble(do_open("l/new", O_WRONLY | O_CREAT, 0644));
}

static int link_write(void)
{
    long error = do_symlink(in("out", "victim"), "l");

    return error < 0 ? (int)error : scribble(do_open("l", O_WRONLY | O_TRUNC, 0));
}

static int link_unlink(void)
{
    long error = do_symlink(fact("out"), "l");

    return error < 0 ? (int)error : (int)do_unlink("l/victim");
}

static int link_rename(void)
{
    long error = do_symlink(fact("out"), "l");

    return error < 0 ? (int)error : (int)do_rename("l/victim", "l/new");
}

/* The last link is followed if a slash comes after it. */
static int link_slash_rename(void)
{
    long error = do_symlink(in("out", "dir"), "l");

    return error < 0 ? (int)error : (int)do_rename("file", "l/new");
}

static int link_mkdir(void)
{
    long error = do_symlink("../out", "l");

    return error < 0 ? (int)error : (int)do_mkdir("l/new/");
}

static int link_chdir(void)
{
    long error = do_symlink("../out", "l");

    if (error == 0)
        error = do_chdir("l/dir");
    return error < 0 ? (int)error : spill(do_open("../secret", O_RDONLY, 0));
}

static int link_readlink(void)
{
    char text[512];

    return spill_text(text, do_readlink(in("out", "link"), text, sizeof text));
}

static int link_realpath(void)
{
    char text[4096];

    return spill_text(text, do_realpath(in("out", "link"), text));
}

/* --- swapping --------------------------------------------------------------------------------- */

static atomic_bool over;

/* By the instruction or by libc: but not judged twice. */
static void *swap(void *unused)
{
    while (!over)
        sys(SYS_renameat2, AT_FDCWD, "dir", AT_FDCWD, "l", RENAME_EXCHANGE);
    return unused;
}

/* ws/dir changes places with a link to the directory outside while a path through it is opened. */
static int link_swap(void)
{
    char text[64];
    pthread_t thread;
    int error = (int)do_symlink("../out", "l");
    bool found = false;

    if (error < 0 || pthread_create(&thread, NULL, swap, NULL) != 0)
        return error < 0 ? error : cannot("no thread");
    for (int i = 0; another_try(i, found); i++) {
        long fd = do_open("dir/secret", O_RDONLY, 0);
        long length = fd < 0 ? fd : sys(SYS_read, fd, text, sizeof text);
        if (length > 0 && text[0] == 'i')
            length = 0; /* that one is our own */
        if (length > 0)
            found = spill_text(text, length) == 0;
        if (fd >= 0)
            sys(SYS_close, fd);
    }
    over = true;
    pthread_join(thread, NULL);
    return found ? 0 : -EACCES;
}

/* What was made outside the harness sees. */
static int link_swap_create(void)
{
    char path[32];
    pthread_t thread;
    int error = (int)do_symlink("../out", "l");
    bool found = false;

    if (error < 0 || pthread_create(&thread, NULL, swap, NULL) != 0)
        return error < 0 ? error : cannot("no thread");
    for (int i = 0; another_try(i, found); i++) {
        snprintf(path, sizeof path, "dir/new%d", i);
        scribble(do_open(path, O_WRONLY | O_CREAT, 0644));
        found = is_bare() && access(in("out", path + 4), F_OK) == 0;
        do_unlink(path);
    }
    over = true;
    pthread_join(thread, NULL);
    return -EACCES;
}

#define FOLLOWS "walk.c: links are read and judged by where they lead; landlock.c: READ_FILE"
#define ACTS    "place_open.c and place_lookup.c: act on the object that was judged; landlock.c"

static const struct attack rows[] = {
    {"link_to_file", link_to_file, LEAK, ALL, 0, NULL, FOLLOWS, NULL, "open out/secret"},
    {"link_to_directory", link_to_directory, LEAK, ALL, 0, NULL, FOLLOWS, NULL, "open out/secret"},
    {"link_relative", link_relative, LEAK, ALL, 0, NULL, FOLLOWS, NULL, "open out/secret"},
    {"link_through_proc", link_through_proc, LEAK, ALL, 0, NULL, FOLLOWS, NULL, "open out/secret"},
    {"link_through_cwd", link_through_cwd, LEAK, ALL, 0, NULL, FOLLOWS, NULL, "open out/secret"},
    {"link_chain", link_chain, LEAK, ALL, 0, NULL, FOLLOWS, NULL, "open out/secret"},
    {"link_dangling_create", link_dangling_create, CHANGE, ALL, 0, NULL,
     "walk.c: a dangling last link is followed for O_CREAT; landlock.c: MAKE_REG", NULL,
     "open out/new"},
    {"link_parent_create", link_parent_create, CHANGE, ALL, 0, NULL, FOLLOWS, NULL, "open out/new"},
    {"link_write", link_write, CHANGE, ALL, 0, NULL, FOLLOWS, NULL, "open out/victim"},
    {"link_unlink", link_unlink, CHANGE, ALL, 0, NULL, FOLLOWS, NULL, "unlink out/victim"},
    {"link_rename", link_rename, CHANGE, ALL, 0, NULL, FOLLOWS, NULL, "rename out/victim"},
    {"link_slash_rename", link_slash_rename, CHANGE, ALL, 0, "EACCES EXDEV", FOLLOWS, NULL,
     "rename out/dir/new"},
    {"link_mkdir", link_mkdir, CHANGE, ALL, 0, NULL, FOLLOWS, NULL, "mkdir out/new"},
    {"link_chdir", link_chdir, LEAK, ALL, 0, NULL, "preload/dir.c: chdir; landlock.c: READ_FILE",
     NULL, "chdir out/dir"},
    {"link_readlink", link_readlink, LEAK, JUDGED | BWRAP, 0, NULL, "preload/dir.c: readlink",
     "readlink", "readlink out/link"},
    {"link_realpath", link_realpath, LEAK, JUDGED | BWRAP, 0, NULL, "preload/dir.c: realpath",
     "readlink", "readlink|realpath out/*"},
    {"link_swap", link_swap, LEAK, ALL, 0, NULL, ACTS, NULL, RACE},
    {"link_swap_create", link_swap_create, CHANGE, ALL, 0, NULL, ACTS, NULL, RACE},
};
const struct attacks attacks_links = ATTACKS(rows);
