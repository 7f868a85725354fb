/* SPDX-License-Identifier: MIT */
/* Opening what lies outside, in every spelling. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attack.h"
#include "layer.h"
#include "policy.h"
#include "word.h"

static int open_absolute(void)
{
    return spill(do_open(in("out", "secret"), O_RDONLY, 0));
}

static int open_dotdot(void)
{
    return spill(do_open("../out/secret", O_RDONLY, 0));
}

static int open_many_dotdots(void)
{
    char path[4200];

    snprintf(path, sizeof path, "../../../../../../../../../../..%s", in("out", "secret"));
    return spill(do_open(path, O_RDONLY, 0));
}

static int open_slashes(void)
{
    return spill(do_open("dir///..//.././/.//out////secret", O_RDONLY, 0));
}

static int open_disguised(void)
{
    char path[4200];

    /* Begins like the workspace, as text. */
    snprintf(path, sizeof path, "%s/dir/../../out/secret", fact("ws"));
    return spill(do_open(path, O_RDONLY, 0));
}

/* A path of nearly PATH_MAX bytes. */
static int open_long(void)
{
    char path[4096];
    size_t length = 0;

    while (length < 4060) {
        strcpy(path + length, "./");
        length += 2;
    }
    strcpy(path + length, "../out/secret");
    return spill(do_open(path, O_RDONLY, 0));
}

/* Up from a directory whose own path is longer than PATH_MAX. */
static int open_deep(void)
{
    char name[201];
    char path[4096] = "";
    long error = 0;

    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (int i = 0; i < 25 && error == 0; i++) {
        error = do_mkdir(name);
        if (error == 0)
            error = do_chdir(name);
        strcat(path, "../");
    }
    strcat(path, "../out/secret");
    return error < 0 ? (int)error : spill(do_open(path, O_RDONLY, 0));
}

static int openat_absolute(void)
{
    long dir = do_open("dir", O_RDONLY | O_DIRECTORY, 0);

    return dir < 0 ? (int)dir : spill(do_openat((int)dir, in("out", "secret"), O_RDONLY, 0));
}

static int openat_dotdot(void)
{
    long dir = do_open("dir", O_RDONLY | O_DIRECTORY, 0);

    return dir < 0 ? (int)dir : spill(do_openat((int)dir, "../../out/secret", O_RDONLY, 0));
}

/* One level at a time, each by the descriptor of the last. */
static int openat_climb(void)
{
    long dir = do_open(".", O_PATH | O_DIRECTORY, 0);

    if (dir >= 0)
        dir = do_openat((int)dir, "..", O_PATH | O_DIRECTORY, 0);
    if (dir >= 0)
        dir = do_openat((int)dir, "out", O_PATH | O_DIRECTORY, 0);
    return dir < 0 ? (int)dir : spill(do_openat((int)dir, "secret", O_RDONLY, 0));
}

static int openat2_absolute(void)
{
    const struct open_how how = {.flags = O_RDONLY};

    return spill(sys(SYS_openat2, AT_FDCWD, in("out", "secret"), &how, sizeof how));
}

/* The root of this one path is another directory: above the workspace, where a usr lies, too. */
static int openat2_in_root(void)
{
    const struct open_how how = {.flags = O_RDONLY, .resolve = RESOLVE_IN_ROOT};
    long dir = do_open("..", O_PATH | O_DIRECTORY, 0);

    return dir < 0 ? (int)dir : spill(sys(SYS_openat2, dir, "/usr/secret", &how, sizeof how));
}

static int open_by_number(void)
{
#ifdef SYS_open
    return spill(sys(SYS_open, in("out", "secret"), O_RDONLY));
#else
    return spill(sys(SYS_openat, AT_FDCWD, in("out", "secret"), O_RDONLY));
#endif
}

static int open_64(void)
{
    return spill(do_open64(in("out", "secret"), O_RDONLY));
}

static int open_fortified(void)
{
    return spill(do_open_2(in("out", "secret"), O_RDONLY));
}

static int openat_fortified(void)
{
    return spill(do_openat_2(AT_FDCWD, in("out", "secret"), O_RDONLY));
}

static int openat_64(void)
{
    return spill(do_openat64(AT_FDCWD, in("out", "secret"), O_RDONLY));
}

static int open_internal(void)
{
    return spill(do_open_internal(in("out", "secret"), O_RDONLY));
}

static int fopen_read(void)
{
    return spill(do_fopen(in("out", "secret"), "r"));
}

static int fopen_64(void)
{
    return spill(do_fopen64(in("out", "secret"), "re"));
}

static int freopen_read(void)
{
    return spill(do_freopen(in("out", "secret"), "r"));
}

static int fopen_write(void)
{
    return scribble(do_fopen(in("out", "new"), "w"));
}

static int fopen_append(void)
{
    return scribble(do_fopen(in("out", "victim"), "a"));
}

static int open_write(void)
{
    return scribble(do_open(in("out", "victim"), O_WRONLY, 0));
}

static int open_both(void)
{
    return scribble(do_open(in("out", "victim"), O_RDWR | O_APPEND, 0));
}

static int open_create(void)
{
    return scribble(do_open(in("out", "new"), O_WRONLY | O_CREAT | O_EXCL, 0644));
}

static int open_create_to_read(void)
{
    long fd = do_open(in("out", "new"), O_RDONLY | O_CREAT, 0644);

    return fd < 0 ? (int)fd : 0;
}

static int open_truncate_to_read(void)
{
    long fd = do_open(in("out", "victim"), O_RDONLY | O_TRUNC, 0);

    return fd < 0 ? (int)fd : 0;
}

static int creat_new(void)
{
    return scribble(do_creat(in("out", "new"), 0644));
}

static int creat_over(void)
{
    return scribble(do_creat(in("out", "victim"), 0644));
}

static int give_name(long fd, const char *name)
{
    char self[64];

    if (fd < 0)
        return (int)fd;
    snprintf(self, sizeof self, "/proc/self/fd/%ld", fd);
    return (int)do_linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

static int tmpfile_outside(void)
{
    return give_name(do_open(fact("out"), O_TMPFILE | O_RDWR, 0644), in("out", "new"));
}

static int tmpfile_linked_out(void)
{
    return give_name(do_open(".", O_TMPFILE | O_RDWR, 0644), in("out", "new"));
}

static int mkstemp_outside(void)
{
    char template[4200];

    snprintf(template, sizeof template, "%s/XXXXXX", fact("out"));
    return scribble(do_mkstemp(template));
}

static int mkdtemp_outside(void)
{
    char template[4200];

    snprintf(template, sizeof template, "%s/XXXXXX", fact("out"));
    return (int)do_mkdtemp(template);
}

static int path_reopened(void)
{
    char self[64];
    long fd = do_open(in("out", "secret"), O_PATH, 0);

    if (fd < 0)
        return (int)fd;
    snprintf(self, sizeof self, "/proc/self/fd/%ld", fd);
    return spill(do_open(self, O_RDONLY, 0));
}

static int path_directory(void)
{
    long dir = do_open(fact("out"), O_PATH | O_DIRECTORY, 0);

    return dir < 0 ? (int)dir : spill(do_openat((int)dir, "secret", O_RDONLY, 0));
}

static int path_dev_fd(void)
{
    char self[64];
    long dir = do_open(fact("out"), O_PATH | O_DIRECTORY, 0);

    if (dir < 0)
        return (int)dir;
    snprintf(self, sizeof self, "/dev/fd/%ld/secret", dir);
    return spill(do_open(self, O_RDONLY, 0));
}

static int list_outside(void)
{
    return do_list(in("out", "dir"));
}

static int list_parent(void)
{
    return do_list("..");
}

static int home_key(void)
{
    return spill(do_open(in("home", ".ssh/id"), O_RDONLY, 0));
}

static int home_startup(void)
{
    return scribble(do_open(in("home", ".bashrc"), O_WRONLY | O_APPEND, 0));
}

/* Whatever it holds, it is not printed. */
static int shadow(void)
{
    long fd = do_open("/etc/shadow", O_RDONLY, 0);
    char byte;

    if (fd < 0)
        return (int)fd;
    return sys(SYS_read, fd, &byte, 1) == 1 ? 0 : -EIO;
}

static int behind(void)
{
    return spill(do_open_behind(in("out", "secret")));
}

static int denied_read(void)
{
    return spill(do_open("denied/secret", O_RDONLY, 0));
}

static int denied_through_link(void)
{
    long error = do_symlink("denied", "l");

    return error < 0 ? (int)error : spill(do_open("l/secret", O_RDONLY, 0));
}

static int denied_by_descriptor(void)
{
    long dir = do_open("denied", O_PATH | O_DIRECTORY, 0);

    return dir < 0 ? (int)dir : spill(do_openat((int)dir, "secret", O_RDONLY, 0));
}

/* --- the log ---------------------------------------------------------------------------------- */

static int log_append(void)
{
    return scribble(do_open(fact("log"), O_WRONLY | O_APPEND, 0));
}

static int log_truncate(void)
{
    return (int)do_truncate(fact("log"), 0);
}

static int log_replace(void)
{
    return (int)do_rename("file", fact("log"));
}

/* A record that speaks of somebody else: written, or told to the supervisor as the shim tells it,
 * in texts that would be a line of their own. */
static int log_forge(void)
{
    char line[256];
    struct word_record note = {.rule = POLICY_NONE};
    long fd = do_open(fact("log"), O_WRONLY | O_APPEND, 0);
    int length = snprintf(line, sizeof line, "\n{\"time\":\"\",\"pid\":%ld,\"op\":\"forged\"}\n",
                          fact_number("victim"));

    note.op = note.hint = note.path = note.resolved = (uintptr_t)line;
    sys(SYS_prctl, WORD, WORD_RECORD, &note);
    if (fd < 0)
        return (int)fd;
    return sys(SYS_write, fd, line + 1, length - 1) == length - 1 ? 0 : -EIO;
}

#define OPENING "preload/open.c: the verdict of place_open; landlock.c: READ_FILE handled"
#define WRITING "preload/open.c: the intent of O_CREAT, O_TRUNC and writing; landlock.c: WRITE_FILE"
#define MAKING  "preload/open.c: INTENT_CREATE of O_CREAT; landlock.c: MAKE_REG handled"

#define LOG "grants.c: with a supervisor the log is not granted"

static const struct attack rows[] = {
    {"open_absolute", open_absolute, LEAK, ALL, EVEN_OPEN, NULL, OPENING, NULL, "open out/secret"},
    {"open_dotdot", open_dotdot, LEAK, ALL, 0, NULL, OPENING "; walk.c: the step for ..", NULL,
     "open out/secret"},
    {"open_many_dotdots", open_many_dotdots, LEAK, ALL, 0, NULL, "walk.c: .. at the root", NULL,
     "open out/secret"},
    {"open_slashes", open_slashes, LEAK, ALL, 0, NULL, "path.c: empty names and dots", NULL,
     "open out/secret"},
    {"open_disguised", open_disguised, LEAK, ALL, 0, NULL,
     "decide.c: a text with .. is not believed", NULL, "open out/secret"},
    {"open_long", open_long, LEAK, ALL, 0, NULL, "walk.c: room for PATH_MAX", NULL,
     "open out/secret"},
    {"open_deep", open_deep, LEAK, ALL, 0, "EACCES ENAMETOOLONG ENOENT",
     "walk.c: a place that cannot be named is denied", NULL, "open|mkdir"},
    {"openat_absolute", openat_absolute, LEAK, ALL, 0, NULL, OPENING, NULL, "open out/secret"},
    {"openat_dotdot", openat_dotdot, LEAK, ALL, 0, NULL, OPENING, NULL, "open out/secret"},
    {"openat_climb", openat_climb, LEAK, ALL, 0, NULL,
     "preload/where.c: what a directory descriptor is; landlock.c: READ_FILE", NULL, "open out"},
    {"openat2_absolute", openat2_absolute, LEAK, ALL, 0, NULL,
     "hooks.def: openat2 in the switch of syscall()", NULL, "open out/secret"},
    {"openat2_in_root", openat2_in_root, LEAK, ALL, 0, "EACCES EINVAL",
     "preload/open.c: the resolve flags of openat2", NULL, "open usr/secret"},
    {"open_by_number", open_by_number, LEAK, ALL, 0, NULL,
     "hooks.def: open in the switch of syscall()", NULL, "open out/secret"},
    {"open_64", open_64, LEAK, ALL, 0, NULL, "hooks.def: open64", NULL, "open out/secret"},
    {"open_fortified", open_fortified, LEAK, ALL, 0, NULL, "hooks.def: __open_2", NULL,
     "open out/secret"},
    {"openat_fortified", openat_fortified, LEAK, ALL, 0, NULL, "hooks.def: __openat_2", NULL,
     "open out/secret"},
    {"openat_64", openat_64, LEAK, ALL, 0, NULL, "hooks.def: openat64", NULL, "open out/secret"},
    {"open_internal", open_internal, LEAK, ALL, 0, NULL, "hooks.def: __open", NULL,
     "open out/secret"},
    {"fopen_read", fopen_read, LEAK, ALL, 0, NULL, "hooks.def: fopen", NULL, "open out/secret"},
    {"fopen_64", fopen_64, LEAK, ALL, 0, NULL, "hooks.def: fopen64", NULL, "open out/secret"},
    {"freopen_read", freopen_read, LEAK, ALL, 0, NULL, "hooks.def: freopen", NULL,
     "open out/secret"},
    {"fopen_write", fopen_write, CHANGE, ALL, 0, NULL, "preload/stdio.c: the intent of a mode",
     NULL, "open out/new"},
    {"fopen_append", fopen_append, CHANGE, ALL, 0, NULL, "preload/stdio.c: the intent of a mode",
     NULL, "open out/victim"},
    {"open_write", open_write, CHANGE, ALL, 0, NULL, WRITING, NULL, "open out/victim"},
    {"open_both", open_both, CHANGE, ALL, 0, NULL, WRITING, NULL, "open out/victim"},
    {"open_create", open_create, CHANGE, ALL, 0, NULL, MAKING, NULL, "open out/new"},
    {"open_create_to_read", open_create_to_read, CHANGE, ALL, 0, NULL, MAKING, NULL,
     "open out/new"},
    {"open_truncate_to_read", open_truncate_to_read, CHANGE, ALL, 0, NULL, WRITING, NULL,
     "open out/victim"},
    {"creat_new", creat_new, CHANGE, ALL, 0, NULL, MAKING, NULL, "open out/new"},
    {"creat_over", creat_over, CHANGE, ALL, 0, NULL, WRITING, NULL, "open out/victim"},
    {"tmpfile_outside", tmpfile_outside, CHANGE, ALL, 0, NULL,
     "preload/open.c: O_TMPFILE creates; landlock.c: MAKE_REG", NULL, "open out"},
    {"tmpfile_linked_out", tmpfile_linked_out, CHANGE, ALL, 0, "EACCES EXDEV",
     "preload/name.c: the new name of linkat; landlock.c: MAKE_REG and REFER", NULL,
     "link out/new"},
    {"mkstemp_outside", mkstemp_outside, CHANGE, WALL, 0, NULL, "landlock.c: MAKE_REG", NULL,
     "open out/??????"},
    {"mkdtemp_outside", mkdtemp_outside, CHANGE, WALL, 0, NULL, "landlock.c: MAKE_DIR", NULL,
     "mkdir out/??????"},
    {"path_reopened", path_reopened, LEAK, ALL, 0, NULL,
     "preload/open.c: O_PATH is judged; landlock.c: READ_FILE", NULL, "open out/secret"},
    {"path_directory", path_directory, LEAK, ALL, 0, NULL,
     "preload/open.c: O_PATH is judged; landlock.c: READ_FILE", NULL, "open out"},
    {"path_dev_fd", path_dev_fd, LEAK, ALL, 0, NULL,
     "walk.c: magic links are judged by where they lead", NULL, "open out"},
    {"list_outside", list_outside, LEAK, ALL, 0, NULL,
     "preload/dir.c: opendir; landlock.c: READ_DIR", NULL, "open out/dir"},
    {"list_parent", list_parent, LEAK, ALL, 0, NULL,
     "decide.c: ancestors of a grant are not listed; landlock.c: READ_DIR", NULL, "open ."},
    {"home_key", home_key, LEAK, ALL, 0, NULL, "defaults.c: $HOME is not granted", NULL,
     "open home/.ssh/id"},
    {"home_startup", home_startup, CHANGE, ALL, 0, NULL, "defaults.c: $HOME is not granted", NULL,
     "open home/.bashrc"},
    {"shadow", shadow, CLAIM, JUDGED | BWRAP, NEEDS_ROOT, NULL, "defaults.c: deny /etc/shadow",
     "deny", "open /etc/shadow"},
    {"behind", behind, LEAK, WALL, 0, NULL, "landlock.c: READ_FILE; bwrap.c: what is bound", NULL,
     "open out/secret"},
    {"denied_read", denied_read, LEAK, JUDGED | BWRAP, 0, NULL,
     "decide.c: deny beats the grant above; bwrap.c: masks what is denied", "deny",
     "open ws/denied/secret"},
    {"denied_through_link", denied_through_link, LEAK, JUDGED | BWRAP, 0, NULL,
     "walk.c: links are judged by where they lead; bwrap.c: masks what is denied", "deny",
     "open ws/denied/secret"},
    {"denied_by_descriptor", denied_by_descriptor, LEAK, JUDGED | BWRAP, 0, NULL,
     "preload/open.c: O_PATH is judged; bwrap.c: masks what is denied", "deny", "open ws/denied"},
    {"log_append", log_append, CHANGE, ALL, 0, NULL, LOG, NULL, "open log"},
    {"log_truncate", log_truncate, CHANGE, ALL, 0, NULL, LOG, NULL, "truncate log"},
    {"log_replace", log_replace, CHANGE, ALL, 0, "EACCES EXDEV", LOG, NULL, "rename log"},
    {"log_forge", log_forge, CHANGE, ALL, 0, NULL,
     "report.c: who makes a note is written down by the supervisor, and its texts are escaped",
     NULL, "open log"},
};
const struct attacks attacks_open = ATTACKS(rows);
