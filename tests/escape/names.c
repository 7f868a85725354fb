/* SPDX-License-Identifier: MIT */
/* Making, removing and moving names outside, and what is protected inside. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attack.h"
#include "layer.h"

static int mkdir_outside(void)
{
    return (int)do_mkdir(in("out", "new"));
}

static int rmdir_outside(void)
{
    return (int)do_rmdir(in("out", "empty"));
}

static int unlink_outside(void)
{
    return (int)do_unlink(in("out", "victim"));
}

static int unlink_dotdot(void)
{
    return (int)do_unlink("dir/../../out/victim");
}

static int unlinkat_directory(void)
{
    return (int)do_unlinkat(AT_FDCWD, "../out/empty", AT_REMOVEDIR);
}

static int remove_outside(void)
{
    return (int)do_remove(in("out", "victim"));
}

static int remove_directory(void)
{
    return (int)do_remove(in("out", "empty"));
}

static int symlink_outside(void)
{
    return (int)do_symlink("secret", in("out", "new"));
}

static int mkfifo_outside(void)
{
    return (int)do_mkfifo(in("out", "new"));
}

static int mknod_outside(void)
{
    return (int)do_mknod(in("out", "new"), S_IFREG | 0644, 0);
}

static int rename_out(void)
{
    return (int)do_rename("file", in("out", "new"));
}

static int rename_over(void)
{
    return (int)do_rename("file", in("out", "victim"));
}

static int rename_directory_out(void)
{
    return (int)do_rename("dir", in("out", "new"));
}

static int rename_in(void)
{
    return (int)do_rename(in("out", "victim"), "taken");
}

static int rename_directory_in(void)
{
    return (int)do_rename(in("out", "dir"), "taken");
}

static int rename_outside(void)
{
    return (int)do_rename(in("out", "victim"), in("out", "new"));
}

static int exchange(void)
{
    return (int)do_renameat2("file", in("out", "victim"), RENAME_EXCHANGE);
}

static int exchange_directory(void)
{
    return (int)do_renameat2(in("out", "dir"), "dir", RENAME_EXCHANGE);
}

/* The workspace itself gives way to another directory. */
static int rename_workspace(void)
{
    return (int)do_rename(fact("ws"), in("out", "new"));
}

/* A hard link makes an outside file writable under an inside name. */
static int link_import(void)
{
    long error = do_link(in("out", "victim"), "imported");

    return error < 0 ? (int)error : scribble(do_open("imported", O_WRONLY | O_TRUNC, 0));
}

static int link_import_to_read(void)
{
    long error = do_link(in("out", "secret"), "imported");

    return error < 0 ? (int)error : spill(do_open("imported", O_RDONLY, 0));
}

static int link_import_by_descriptor(void)
{
    char self[64];
    long fd = do_open(in("out", "victim"), O_PATH, 0);
    long error;

    if (fd < 0)
        return (int)fd;
    snprintf(self, sizeof self, "/proc/self/fd/%ld", fd);
    error = do_linkat(AT_FDCWD, self, AT_FDCWD, "imported", AT_SYMLINK_FOLLOW);
    return error < 0 ? (int)error : scribble(do_open("imported", O_WRONLY, 0));
}

/* A system file may be read: its link must not come in, it could be written then. */
static int link_import_readable(void)
{
    return (int)do_link("/etc/passwd", "imported");
}

static int link_out(void)
{
    return (int)do_link("file", in("out", "new"));
}

/* --- protected and denied paths inside -------------------------------------------------------- */

static int protected_write(void)
{
    return scribble(do_open(".git/hooks/pre-commit", O_WRONLY | O_TRUNC, 0));
}

static int protected_create(void)
{
    return scribble(do_open(".git/hooks/post-checkout", O_WRONLY | O_CREAT, 0755));
}

static int protected_unlink(void)
{
    return (int)do_unlink(".git/config");
}

static int protected_replace(void)
{
    return (int)do_rename("file", ".git/config");
}

static int protected_move(void)
{
    return (int)do_rename(".git/hooks", "hooks");
}

static int protected_link(void)
{
    long error = do_link(".git/config", "alias");

    return error < 0 ? (int)error : scribble(do_open("alias", O_WRONLY, 0));
}

/* mv .git g; cp -r g .git: the hooks in the copy are anybody's. */
static int move_ancestor(void)
{
    long error = do_rename(".git", "g");

    if (error == 0)
        error = do_mkdir(".git");
    if (error == 0)
        error = do_mkdir(".git/hooks");
    return error < 0 ? (int)error
                     : scribble(do_open(".git/hooks/pre-commit", O_WRONLY | O_CREAT, 0755));
}

static int exchange_ancestor(void)
{
    long error = do_mkdir("g");

    if (error == 0)
        error = do_mkdir("g/hooks");
    if (error == 0)
        error = scribble(do_open("g/hooks/pre-commit", O_WRONLY | O_CREAT, 0755));
    return error < 0 ? (int)error : (int)do_renameat2("g", ".git", RENAME_EXCHANGE);
}

static int denied_move(void)
{
    long error = do_rename("denied", "allowed");

    return error < 0 ? (int)error : spill(do_open("allowed/secret", O_RDONLY, 0));
}

static int denied_exchange(void)
{
    long error = do_renameat2("denied", "dir", RENAME_EXCHANGE);

    return error < 0 ? (int)error : spill(do_open("dir/secret", O_RDONLY, 0));
}

static int protected_magic(void)
{
    return scribble(do_open("/proc/self/cwd/.git/hooks/pre-commit", O_WRONLY, 0));
}

static int protected_truncate(void)
{
    return (int)do_truncate(".git/config", 0);
}

static int protected_take(void)
{
    return (int)do_rename(".git/hooks/pre-commit", "taken");
}

static int protected_exchange(void)
{
    return (int)do_renameat2("dir", ".git/hooks", RENAME_EXCHANGE);
}

static int protected_tmpfile(void)
{
    char self[64];
    long fd = do_open(".", O_TMPFILE | O_RDWR, 0755);

    if (fd < 0)
        return (int)fd;
    snprintf(self, sizeof self, "/proc/self/fd/%ld", fd);
    return (int)do_linkat(AT_FDCWD, self, AT_FDCWD, ".git/hooks/post-merge", AT_SYMLINK_FOLLOW);
}

static int denied_link(void)
{
    long error = do_link("denied/secret", "allowed");

    return error < 0 ? (int)error : spill(do_open("allowed", O_RDONLY, 0));
}

/* cordon's own files, where they lie inside the workspace. */
static int own_overwrite(void)
{
    return scribble(do_open("tool/libcordon-shim.so", O_WRONLY, 0));
}

static int own_replace(void)
{
    return (int)do_rename("file", "tool/libcordon-shim.so");
}

static int own_move(void)
{
    return (int)do_rename("tool", "tool2");
}

#define NAMES     "preload/name.c: the verdict of place_parent"
#define RENAMES   "place_name.c: place_rename judges both sides; landlock.c: REFER, REMOVE_*, MAKE_*"
#define LINKS     "preload/name.c: the source of a link needs INTENT_WRITE; landlock.c: REFER"
#define PROTECTED "defaults.c: what is protected; bwrap.c: --ro-bind of it"
#define MOVES     "decide.c: decide_move"

static const struct attack rows[] = {
    {"mkdir_outside", mkdir_outside, CHANGE, ALL, 0, NULL, NAMES "; landlock.c: MAKE_DIR", NULL,
     "mkdir out/new"},
    {"rmdir_outside", rmdir_outside, CHANGE, ALL, 0, NULL, NAMES "; landlock.c: REMOVE_DIR", NULL,
     "rmdir out/empty"},
    {"unlink_outside", unlink_outside, CHANGE, ALL, 0, NULL, NAMES "; landlock.c: REMOVE_FILE",
     NULL, "unlink out/victim"},
    {"unlink_dotdot", unlink_dotdot, CHANGE, ALL, 0, NULL, NAMES "; landlock.c: REMOVE_FILE", NULL,
     "unlink out/victim"},
    {"unlinkat_directory", unlinkat_directory, CHANGE, ALL, 0, NULL, NAMES, NULL,
     "rmdir out/empty"},
    {"remove_outside", remove_outside, CHANGE, ALL, 0, NULL, NAMES, NULL, "unlink out/victim"},
    {"remove_directory", remove_directory, CHANGE, ALL, 0, NULL, NAMES, NULL, "unlink out/empty"},
    {"symlink_outside", symlink_outside, CHANGE, ALL, 0, NULL, NAMES "; landlock.c: MAKE_SYM", NULL,
     "symlink out/new"},
    {"mkfifo_outside", mkfifo_outside, CHANGE, ALL, 0, NULL, "landlock.c: MAKE_FIFO", NULL,
     "mknod out/new"},
    {"mknod_outside", mknod_outside, CHANGE, ALL, 0, NULL, "landlock.c: MAKE_REG", NULL,
     "mknod out/new"},
    {"rename_out", rename_out, CHANGE, ALL, 0, "EACCES EXDEV", RENAMES, NULL, "rename out/new"},
    {"rename_over", rename_over, CHANGE, ALL, 0, "EACCES EXDEV", RENAMES, NULL,
     "rename out/victim"},
    {"rename_directory_out", rename_directory_out, CHANGE, ALL, 0, "EACCES EXDEV", RENAMES, NULL,
     "rename out/new"},
    {"rename_in", rename_in, CHANGE, ALL, 0, "EACCES EXDEV", RENAMES, NULL, "rename out/victim"},
    {"rename_directory_in", rename_directory_in, CHANGE, ALL, 0, "EACCES EXDEV", RENAMES, NULL,
     "rename out/dir"},
    {"rename_outside", rename_outside, CHANGE, ALL, 0, NULL, RENAMES, NULL, "rename out/victim"},
    {"exchange", exchange, CHANGE, ALL, 0, "EACCES EXDEV", RENAMES, NULL, "rename out/victim"},
    {"exchange_directory", exchange_directory, CHANGE, ALL, 0, "EACCES EXDEV", RENAMES, NULL,
     "rename out/dir"},
    {"rename_workspace", rename_workspace, CHANGE, ALL, 0, "EACCES EXDEV EBUSY", RENAMES, NULL,
     "rename ws"},
    {"link_import", link_import, CHANGE, ALL, 0, "EACCES EXDEV", LINKS, NULL, "link out/victim"},
    {"link_import_to_read", link_import_to_read, LEAK, ALL, 0, "EACCES EXDEV", LINKS, NULL,
     "link out/secret"},
    {"link_import_by_descriptor", link_import_by_descriptor, CHANGE, ALL, 0, "EACCES EXDEV", LINKS,
     NULL, "open out/victim"},
    {"link_import_readable", link_import_readable, CLAIM, ALL, NEEDS_ROOT, "EACCES EXDEV", LINKS,
     NULL, "link /etc/passwd"},
    {"link_out", link_out, CHANGE, ALL, 0, "EACCES EXDEV", LINKS, NULL, "link out/new"},
    {"protected_write", protected_write, CHANGE, JUDGED | BWRAP, 0, NULL, PROTECTED, "protect",
     "open ws/.git/hooks/pre-commit"},
    {"protected_create", protected_create, CHANGE, JUDGED | BWRAP, 0, NULL, PROTECTED, "protect",
     "open ws/.git/hooks/post-checkout"},
    {"protected_unlink", protected_unlink, CHANGE, JUDGED | BWRAP, 0, "EACCES EBUSY", PROTECTED,
     "protect", "unlink ws/.git/config"},
    {"protected_replace", protected_replace, CHANGE, JUDGED | BWRAP, 0, "EACCES EBUSY", PROTECTED,
     "protect", "rename ws/.git/config"},
    {"protected_move", protected_move, CHANGE, JUDGED | BWRAP, 0, "EACCES EBUSY", MOVES, "protect",
     "rename ws/.git/hooks"},
    {"protected_link", protected_link, CHANGE, JUDGED | BWRAP, 0, "EACCES EXDEV", LINKS, "protect",
     "link ws/.git/config"},
    {"move_ancestor", move_ancestor, CHANGE, JUDGED | BWRAP, 0, "EACCES EBUSY", MOVES, "protect",
     "rename ws/.git"},
    {"exchange_ancestor", exchange_ancestor, CHANGE, JUDGED | BWRAP, 0, "EACCES EBUSY", MOVES,
     "protect", "rename ws/g"},
    {"protected_magic", protected_magic, CHANGE, JUDGED | BWRAP, 0, NULL, PROTECTED, "protect",
     "open ws/.git/hooks/pre-commit"},
    {"protected_truncate", protected_truncate, CHANGE, JUDGED | BWRAP, 0, NULL, PROTECTED,
     "protect", "truncate ws/.git/config"},
    {"protected_take", protected_take, CHANGE, JUDGED | BWRAP, 0, NULL, PROTECTED, "protect",
     "rename ws/.git/hooks/pre-commit"},
    {"protected_exchange", protected_exchange, CHANGE, JUDGED | BWRAP, 0, NULL, MOVES, "protect",
     "rename ws/.git/hooks"},
    {"protected_tmpfile", protected_tmpfile, CHANGE, JUDGED | BWRAP, 0, NULL, LINKS, "protect",
     "link ws/.git/hooks/post-merge"},
    {"denied_exchange", denied_exchange, LEAK, JUDGED | BWRAP, 0, NULL, MOVES, "deny",
     "rename ws/denied"},
    {"denied_move", denied_move, LEAK, JUDGED | BWRAP, 0, "EACCES EBUSY", MOVES, "deny",
     "rename ws/denied"},
    {"denied_link", denied_link, LEAK, JUDGED | BWRAP, 0, "EACCES EXDEV", LINKS, "deny",
     "link ws/denied/secret"},
    {"own_overwrite", own_overwrite, CHANGE, JUDGED | BWRAP, NEEDS_OWN, NULL,
     "defaults.c: cordon's own files are protected", "protect", "open ws/tool/libcordon-shim.so"},
    {"own_replace", own_replace, CHANGE, JUDGED | BWRAP, NEEDS_OWN, "EACCES EBUSY",
     "defaults.c: cordon's own files are protected", "protect", "rename ws/tool/libcordon-shim.so"},
    {"own_move", own_move, CHANGE, JUDGED | BWRAP, NEEDS_OWN, "EACCES EBUSY", MOVES, "protect",
     "rename ws/tool"},
};
const struct attacks attacks_names = ATTACKS(rows);
