/* SPDX-License-Identifier: MIT */
/*
 * usage: same
 *
 * In the current directory, an empty one: calls whose results hang on who makes them, each printed
 * as a line that is the same with and without cordon.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "raw.h"

static void say(const char *what, long result)
{
    printf("%s: %s\n", what, result >= 0 ? "ok" : strerrorname_np((int)-result));
}

static long open_raw(const char *path, int flags, int mode)
{
    return RAW(SYS_openat, AT_FDCWD, path, flags, mode);
}

static void say_made(const char *what, const char *path)
{
    struct stat st;

    if (RAW(SYS_newfstatat, AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) == 0)
        printf("%s: %o %u:%u\n", what, st.st_mode, st.st_uid, st.st_gid);
    else
        printf("%s: is not there\n", what);
}

static void masks(void)
{
    static const mode_t tried[] = {0, 022, 027, 077, 0777};

    for (size_t i = 0; i < sizeof tried / sizeof tried[0]; i++) {
        RAW(SYS_umask, tried[i]);
        RAW(SYS_close, open_raw("masked", O_WRONLY | O_CREAT, 0666));
        say_made("umask open", "masked");
        RAW(SYS_mkdirat, AT_FDCWD, "dir", 0777);
        say_made("umask mkdir", "dir");
        RAW(SYS_mknodat, AT_FDCWD, "node", S_IFIFO | 0666, 0);
        say_made("umask mknod", "node");
        RAW(SYS_unlinkat, AT_FDCWD, "masked", 0);
        RAW(SYS_unlinkat, AT_FDCWD, "node", 0);
        RAW(SYS_unlinkat, AT_FDCWD, "dir", AT_REMOVEDIR);
    }
    RAW(SYS_umask, 022);
}

static void descriptors(void)
{
    long fd = open_raw("file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    char name[40];

    printf("close-on-exec: %ld\n", RAW(SYS_fcntl, fd, F_GETFD));
    RAW(SYS_close, fd);
    fd = open_raw("file", O_RDWR | O_APPEND, 0);
    printf("flags: %ld %lo\n", RAW(SYS_fcntl, fd, F_GETFD), RAW(SYS_fcntl, fd, F_GETFL));
    RAW(SYS_close, fd);
    fd = open_raw(".", O_TMPFILE | O_RDWR, 0640);
    say("O_TMPFILE", fd);
    snprintf(name, sizeof name, "/proc/self/fd/%ld", fd);
    say("and linkat", RAW(SYS_linkat, AT_FDCWD, name, AT_FDCWD, "linked", AT_SYMLINK_FOLLOW));
    say_made("linked", "linked");
    RAW(SYS_close, fd);
    fd = open_raw("file", O_RDWR, 0);
    snprintf(name, sizeof name, "/dev/fd/%ld", fd);
    say("/dev/fd/N", open_raw(name, O_RDONLY, 0));
    say("/dev/fd/99", open_raw("/dev/fd/99", O_RDONLY, 0));
    say("/dev/stdin", open_raw("/dev/stdin", O_RDONLY, 0));
    say("/dev/tty", open_raw("/dev/tty", O_RDWR, 0));
    say("a bad directory", RAW(SYS_openat, 99, "file", O_RDONLY, 0));
    say("a file as directory", RAW(SYS_openat, fd, "file", O_RDONLY, 0));
}

static void own(void)
{
    char target[64] = "";
    char expected[64];
    struct stat one;
    struct stat two;

    snprintf(expected, sizeof expected, "%d", (int)getpid());
    RAW(SYS_readlinkat, AT_FDCWD, "/proc/self", target, sizeof target - 1);
    printf("/proc/self: %s\n", strcmp(target, expected) == 0 ? "mine" : target);
    snprintf(expected, sizeof expected, "%d/task/%d", (int)getpid(), (int)RAW(SYS_gettid));
    memset(target, 0, sizeof target);
    RAW(SYS_readlinkat, AT_FDCWD, "/proc/thread-self", target, sizeof target - 1);
    printf("/proc/thread-self: %s\n", strcmp(target, expected) == 0 ? "mine" : target);
    say("/proc/self/maps", open_raw("/proc/self/maps", O_RDONLY, 0));
    say("/proc/self/mem", open_raw("/proc/self/mem", O_RDONLY, 0));
    say("/proc/thread-self/comm", open_raw("/proc/thread-self/comm", O_RDONLY, 0));
    RAW(SYS_newfstatat, AT_FDCWD, "/proc/self/cwd", &one, 0);
    RAW(SYS_newfstatat, AT_FDCWD, ".", &two, 0);
    printf("/proc/self/cwd: %s\n", one.st_ino == two.st_ino ? "mine" : "another's");
}

static void pointers(void)
{
    static char longest[PATH_MAX + 2];
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct stat st;

    munmap(pages + 4096, 4096);
    memset(pages, '/', 4096);
    strcpy(pages + 4096 - 5, "file");
    say("a path at the end of memory", open_raw(pages + 4096 - 5, O_RDONLY, 0));
    memcpy(pages + 4096 - 4, "file", 4);
    say("a path beyond it", open_raw(pages + 4096 - 4, O_RDONLY, 0));
    say("NULL", open_raw(NULL, O_RDONLY, 0));
    say("a wild path", open_raw((char *)1, O_RDONLY, 0));
    say("a path of the kernel's", open_raw((char *)-4096L, O_RDONLY, 0));
    say("stat to nowhere", RAW(SYS_newfstatat, AT_FDCWD, "file", 1, 0));
    say("stat of nothing to nowhere", RAW(SYS_newfstatat, AT_FDCWD, "none", 1, 0));
    say("stat of NULL", RAW(SYS_newfstatat, AT_FDCWD, NULL, &st, 0));
    say("rename NULL", RAW(SYS_renameat2, AT_FDCWD, "file", AT_FDCWD, NULL, 0));
    say("mkdir NULL", RAW(SYS_mkdirat, AT_FDCWD, NULL, 0700));
    say("unlink NULL", RAW(SYS_unlinkat, AT_FDCWD, NULL, 0));
    say("chmod NULL", RAW(SYS_fchmodat, AT_FDCWD, NULL, 0600));
    say("truncate NULL", RAW(SYS_truncate, NULL, 0));
    say("execve NULL", RAW(SYS_execve, NULL, NULL, NULL));
    say("empty", open_raw("", O_RDONLY, 0));
    memset(longest, 'a', sizeof longest - 1);
    say("a name too long", open_raw(longest + PATH_MAX + 1 - 300, O_RDONLY, 0));
    say("a path too long", open_raw(longest, O_RDONLY, 0));
    for (size_t i = 0; i < PATH_MAX - 4; i++)
        longest[i] = i % 2 == 0 ? '.' : '/';
    strcpy(longest + PATH_MAX - 6, "/file");
    say("a path just short enough", open_raw(longest, O_RDONLY, 0));
}

static void full(void)
{
    struct rlimit few = {16, 16};

    setrlimit(RLIMIT_NOFILE, &few);
    while (RAW(SYS_dup, 1) >= 0)
        ;
    say("no descriptor left", open_raw(".", O_RDONLY, 0));
}

/* Only root can become somebody else. */
static void another(void)
{
    if (getuid() != 0)
        return;
    RAW(SYS_fchmodat, AT_FDCWD, ".", 0777);
    RAW(SYS_close, open_raw("root", O_WRONLY | O_CREAT, 0600));
    say("setgid", RAW(SYS_setgid, 65534));
    say("setfsuid", RAW(SYS_setfsuid, 65534));
    RAW(SYS_close, open_raw("by-fsuid", O_WRONLY | O_CREAT, 0644));
    say_made("setfsuid", "by-fsuid");
    say("what is root's, with fsuid", open_raw("root", O_RDONLY, 0));
    RAW(SYS_setfsuid, 0);
    say("setuid", RAW(SYS_setuid, 65534));
    RAW(SYS_close, open_raw("by-nobody", O_WRONLY | O_CREAT, 0644));
    say_made("setuid", "by-nobody");
    RAW(SYS_mkdirat, AT_FDCWD, "nobody", 0755);
    say_made("mkdir", "nobody");
    say("what is root's", open_raw("root", O_RDONLY, 0));
    say("chmod of what is root's", RAW(SYS_fchmodat, AT_FDCWD, "root", 0644));
    say("access to what is root's", RAW(SYS_faccessat, AT_FDCWD, "root", R_OK));
    say("the parent's environment", open_raw("/proc/1/environ", O_RDONLY, 0));
}

int main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    masks();
    descriptors();
    own();
    pointers();
    another();
    full();
    return 0;
}
