/* SPDX-License-Identifier: MIT */
/* Looking at what lies outside, and changing what is said about it: much of which Landlock cannot
 * gate. */
#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attack.h"
#include "layer.h"

static int stat_outside(void)
{
    struct stat st;

    return (int)do_stat(in("out", "secret"), &st);
}

static int lstat_outside(void)
{
    struct stat st;

    return (int)do_lstat("../out/link", &st);
}

static int fstatat_outside(void)
{
    struct stat st;

    return (int)do_fstatat(AT_FDCWD, "../out/secret", &st, 0);
}

static int statx_outside(void)
{
    char room[256];

    return (int)sys(SYS_statx, AT_FDCWD, in("out", "secret"), 0, 0x7ff, room);
}

static int access_outside(void)
{
    return (int)do_access(in("out", "secret"), R_OK);
}

static int statfs_outside(void)
{
    return (int)do_statfs(in("out", "secret"));
}

static int inotify_outside(void)
{
    long error = do_inotify(fact("out"));

    return error < 0 ? (int)error : 0;
}

static int truncate_outside(void)
{
    return (int)do_truncate(in("out", "victim"), 1);
}

static int chmod_outside(void)
{
    return (int)do_chmod(in("out", "victim"), 0777);
}

static int chmod_link(void)
{
    long error = do_symlink(in("out", "victim"), "l");

    return error < 0 ? (int)error : (int)do_chmod("l", 0777);
}

static int chmod_magic(void)
{
    char self[64];
    long fd = do_open(in("out", "victim"), O_PATH, 0);

    if (fd < 0)
        return (int)fd;
    snprintf(self, sizeof self, "/proc/self/fd/%ld", fd);
    return (int)do_chmod(self, 0777);
}

/* fchmodat2: the call that everybody forgot. */
static int chmod_new_call(void)
{
    enum { NUMBER = 452 };

    return (int)sys(NUMBER, AT_FDCWD, in("out", "victim"), 0777, AT_SYMLINK_NOFOLLOW);
}

static int chown_outside(void)
{
    return (int)do_chown(in("out", "victim"));
}

static int lchown_outside(void)
{
    return (int)do_lchown(in("out", "link"));
}

static int utime_outside(void)
{
    return (int)do_utime(in("out", "victim"));
}

static int utimensat_outside(void)
{
    return (int)do_utimensat(AT_FDCWD, "../out/victim", 0);
}

static int utimensat_link(void)
{
    return (int)do_utimensat(AT_FDCWD, in("out", "link"), AT_SYMLINK_NOFOLLOW);
}

/* Without a path it is about the descriptor itself. */
static int utimensat_descriptor(void)
{
    long fd = do_open(in("out", "victim"), O_PATH, 0);

    return fd < 0 ? (int)fd : (int)do_utimensat((int)fd, "", AT_EMPTY_PATH);
}

static int setxattr_outside(void)
{
    return (int)do_setxattr(in("out", "victim"), "user.new");
}

static int removexattr_outside(void)
{
    return (int)do_removexattr(in("out", "secret"), "user.secret");
}

static int getxattr_outside(void)
{
    char text[128];

    return spill_text(text, do_getxattr(in("out", "secret"), "user.secret", text, sizeof text));
}

static int listxattr_outside(void)
{
    char text[128];
    long length = do_listxattr(in("out", "secret"), text, sizeof text);

    return length < 0 ? (int)length : 0;
}

static int protected_chmod(void)
{
    return (int)do_chmod(".git/hooks/pre-commit", 0777);
}

#define LOOKS   "preload/stat.c: the verdict of place_stat; bwrap.c: what is bound"
#define CHANGES "preload/meta.c: the verdict of place_lookup; bwrap.c: what is bound"
#define LATER   "bwrap.c: what is bound"

/* xattrs are for the hooks of a later table. */
static const struct attack rows[] = {
    {"stat_outside", stat_outside, CLAIM, JUDGED | BWRAP, 0, NULL, LOOKS, "stat",
     "stat out/secret"},
    {"lstat_outside", lstat_outside, CLAIM, JUDGED | BWRAP, 0, NULL, LOOKS, "stat",
     "stat out/link"},
    {"fstatat_outside", fstatat_outside, CLAIM, JUDGED | BWRAP, 0, NULL, LOOKS, "stat",
     "stat out/secret"},
    {"statx_outside", statx_outside, CLAIM, JUDGED | BWRAP, 0, NULL, LOOKS, "stat",
     "stat out/secret"},
    {"access_outside", access_outside, CLAIM, JUDGED | BWRAP, 0, NULL, LOOKS, "access",
     "access out/secret"},
    {"statfs_outside", statfs_outside, CLAIM, SUPERVISOR | BWRAP, 0, NULL, LATER, "stat",
     "statfs out/secret"},
    {"inotify_outside", inotify_outside, CLAIM, SUPERVISOR | BWRAP, 0, NULL, LATER, "inotify",
     "watch out"},
    {"truncate_outside", truncate_outside, CHANGE, ALL, 0, NULL,
     "preload/meta.c: truncate; landlock.c: TRUNCATE", NULL, "truncate out/victim"},
    {"chmod_outside", chmod_outside, CHANGE, JUDGED | BWRAP, 0, NULL, CHANGES, "chmod",
     "chmod out/victim"},
    {"chmod_link", chmod_link, CHANGE, JUDGED | BWRAP, 0, NULL, CHANGES, "chmod",
     "chmod out/victim"},
    {"chmod_magic", chmod_magic, CHANGE, JUDGED | BWRAP, 0, NULL, CHANGES, "chmod",
     "open out/victim"},
    {"chmod_new_call", chmod_new_call, CHANGE, JUDGED | BWRAP, 0, NULL, CHANGES, "chmod",
     "chmod out/victim"},
    {"chown_outside", chown_outside, CHANGE, JUDGED | BWRAP, 0, NULL, CHANGES, "chown",
     "chown out/victim"},
    {"lchown_outside", lchown_outside, CHANGE, JUDGED | BWRAP, 0, NULL, CHANGES, "chown",
     "chown out/link"},
    {"utime_outside", utime_outside, CHANGE, JUDGED | BWRAP, 0, NULL, CHANGES, "utime",
     "utime out/victim"},
    {"utimensat_outside", utimensat_outside, CHANGE, JUDGED | BWRAP, 0, NULL, CHANGES, "utime",
     "utime out/victim"},
    {"utimensat_link", utimensat_link, CHANGE, JUDGED | BWRAP, 0, NULL, CHANGES, "utime",
     "utime out/link"},
    {"utimensat_descriptor", utimensat_descriptor, CHANGE, JUDGED | BWRAP, 0, NULL, CHANGES,
     "utime", "open out/victim"},
    {"setxattr_outside", setxattr_outside, CHANGE, SUPERVISOR | BWRAP, 0, NULL, LATER, "xattr",
     "setxattr out/victim"},
    {"removexattr_outside", removexattr_outside, CHANGE, SUPERVISOR | BWRAP, 0, NULL, LATER,
     "xattr", "removexattr out/secret"},
    {"getxattr_outside", getxattr_outside, LEAK, SUPERVISOR | BWRAP, 0, NULL, LATER, "xattr",
     "getxattr out/secret"},
    {"listxattr_outside", listxattr_outside, CLAIM, SUPERVISOR | BWRAP, 0, NULL, LATER, "xattr",
     "listxattr out/secret"},
    {"protected_chmod", protected_chmod, CHANGE, JUDGED | BWRAP, 0, NULL, CHANGES, "chmod",
     "chmod ws/.git/hooks/pre-commit"},
};
const struct attacks attacks_meta = ATTACKS(rows);
