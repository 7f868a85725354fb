/* SPDX-License-Identifier: MIT */
#include "support_calls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define D5 "d1/d2/d3/d4/d5"

const char calls_prepare[] =
    "mkdir -p " D5 " a && : >file && : >" D5 "/file && ln -s d3 d1/d2/link && ln -s file to";

static char absolute[PATH_MAX + 32]; /* of the deep file */
static int deep = -1;                /* its directory */

int calls_begin(void)
{
    char cwd[PATH_MAX];

    if (getcwd(cwd, sizeof cwd) == NULL)
        return -errno;
    snprintf(absolute, sizeof absolute, "%s/" D5 "/file", cwd);
    deep = open(D5, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return deep < 0 ? -errno : 0;
}

static long answer(int result)
{
    return result < 0 ? -errno : 0;
}

static long closed(int fd)
{
    return fd < 0 ? -errno : answer(close(fd));
}

/* --- open ------------------------------------------------------------------------------------- */

static long open_absolute(void)
{
    return closed(open(absolute, O_RDONLY | O_CLOEXEC));
}

static long open_relative(void)
{
    return closed(open(D5 "/file", O_RDONLY | O_CLOEXEC));
}

static long open_bare(void)
{
    return closed(open("file", O_RDONLY | O_CLOEXEC));
}

static long open_write(void)
{
    return closed(open(D5 "/file", O_WRONLY | O_CLOEXEC));
}

static long open_dirfd(void)
{
    return closed(openat(deep, "file", O_RDONLY | O_CLOEXEC));
}

static long open_link(void)
{
    return closed(open("d1/d2/link/d4/d5/file", O_RDONLY | O_CLOEXEC));
}

static long open_last_link(void)
{
    return closed(open("to", O_RDONLY | O_CLOEXEC));
}

static long open_dotdot(void)
{
    return closed(open("d1/d2/../d2/d3/d4/d5/file", O_RDONLY | O_CLOEXEC));
}

static long open_missing(void)
{
    return closed(open(D5 "/none", O_RDONLY | O_CLOEXEC));
}

static long open_system(void)
{
    return closed(open("/etc/passwd", O_RDONLY | O_CLOEXEC));
}

static long open_stream(void)
{
    FILE *file = fopen(D5 "/file", "r");

    return file == NULL ? -errno : answer(fclose(file));
}

static long open_dir(void)
{
    DIR *dir = opendir(D5);

    return dir == NULL ? -errno : answer(closedir(dir));
}

/* --- stat and access -------------------------------------------------------------------------- */

static long stat_absolute(void)
{
    struct stat st;

    return answer(stat(absolute, &st));
}

static long stat_relative(void)
{
    struct stat st;

    return answer(stat(D5 "/file", &st));
}

static long stat_bare(void)
{
    struct stat st;

    return answer(stat("file", &st));
}

static long lstat_bare(void)
{
    struct stat st;

    return answer(lstat("file", &st));
}

static long lstat_relative(void)
{
    struct stat st;

    return answer(lstat(D5 "/file", &st));
}

static long stat_dirfd(void)
{
    struct stat st;

    return answer(fstatat(deep, "file", &st, 0));
}

static long stat_missing(void)
{
    struct stat st;

    return answer(stat(D5 "/none", &st));
}

static long stat_system(void)
{
    struct stat st;

    return answer(stat("/usr/bin/env", &st));
}

static long access_relative(void)
{
    return answer(access(D5 "/file", R_OK));
}

static long readlink_relative(void)
{
    char target[64];

    return answer((int)readlink("d1/d2/link", target, sizeof target));
}

static long realpath_relative(void)
{
    char place[PATH_MAX];

    return realpath(D5 "/file", place) == NULL ? -errno : 0;
}

/* --- changes ---------------------------------------------------------------------------------- */

static long create_unlink(void)
{
    long error = closed(open("a/new", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));

    return error < 0 ? error : answer(unlink("a/new"));
}

static long rename_there_and_back(void)
{
    long error = answer(rename(D5 "/file", D5 "/moved"));

    return error < 0 ? error : answer(rename(D5 "/moved", D5 "/file"));
}

static long mkdir_rmdir(void)
{
    long error = answer(mkdir("a/dir", 0700));

    return error < 0 ? error : answer(rmdir("a/dir"));
}

static long symlink_unlink(void)
{
    long error = answer(symlink("target", "a/link"));

    return error < 0 ? error : answer(unlink("a/link"));
}

static long change_mode(void)
{
    return answer(chmod(D5 "/file", 0600));
}

static long change_directory(void)
{
    long error = answer(chdir(D5));

    return error < 0 ? error : answer(chdir("../../../../.."));
}

/* --- the network ------------------------------------------------------------------------------ */

/* One that nobody outside can reach. Closed without a word, so that no trace of it stays. */
static int new_socket(void)
{
    const struct linger none = {.l_onoff = 1};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    return fd;
}

static int listener(struct sockaddr_in *address)
{
    static struct sockaddr_in own = {.sin_family = AF_INET};
    static int fd = -1;
    socklen_t size = sizeof own;

    if (fd < 0) {
        own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        fd = new_socket();
        if (bind(fd, (struct sockaddr *)&own, sizeof own) < 0 || listen(fd, 1) < 0 ||
            getsockname(fd, (struct sockaddr *)&own, &size) < 0)
            return -errno;
    }
    *address = own;
    return fd;
}

static long connect_accept(void)
{
    struct sockaddr_in address;
    int listens = listener(&address);
    int fd = listens < 0 ? listens : new_socket();

    if (fd < 0)
        return fd;
    long error = answer(connect(fd, (struct sockaddr *)&address, sizeof address));
    if (error == 0)
        error = closed(accept(listens, NULL, NULL));
    close(fd);
    return error;
}

/* --- processes -------------------------------------------------------------------------------- */

static long run_true(void)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        execl("/bin/true", "true", (char *)NULL);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return -errno;
    return status == 0 ? 0 : -EIO;
}

const struct call calls[] = {
    {"open absolute, 5 directories", open_absolute, 0, 1.15, 0, false},
    {"open relative, 5 directories", open_relative, 0, 1.15, 0, false},
    {"open a bare name", open_bare, 0, 1.15, 0, false},
    {"open for writing", open_write, 0, 1.15, 0, false},
    {"open by dirfd", open_dirfd, 0, 1.5, 0, false},
    {"open through a link", open_link, 0, 0, 0, false},
    {"open a link", open_last_link, 0, 0, 0, false},
    {"open with ..", open_dotdot, 0, 0, 0, false},
    {"open, missing", open_missing, -ENOENT, 1.15, 0, false},
    {"open a system file", open_system, 0, 1.15, 0, false},
    {"fopen", open_stream, 0, 1.15, 0, false},
    {"opendir", open_dir, 0, 1.15, 0, false},
    {"stat absolute", stat_absolute, 0, 2.5, 1.5, false},
    {"stat relative", stat_relative, 0, 2.5, 1.5, false},
    {"stat a bare name", stat_bare, 0, 1.25, 0, false},
    {"lstat a bare name", lstat_bare, 0, 1.25, 0, false},
    {"lstat relative", lstat_relative, 0, 2.5, 1.5, false},
    {"fstatat by dirfd", stat_dirfd, 0, 1.5, 0, false},
    {"stat, missing", stat_missing, -ENOENT, 2.5, 1.5, false},
    {"stat a system file", stat_system, 0, 2.5, 1.5, false},
    {"access", access_relative, 0, 2.5, 1.5, false},
    {"readlink", readlink_relative, 0, 2.5, 1.5, false},
    {"realpath", realpath_relative, 0, 0, 0, false},
    {"create + unlink", create_unlink, 0, 1.5, 0, false},
    {"rename, twice", rename_there_and_back, 0, 1.5, 0, false},
    {"mkdir + rmdir", mkdir_rmdir, 0, 1.5, 0, false},
    {"symlink + unlink", symlink_unlink, 0, 1.5, 0, false},
    {"chmod", change_mode, 0, 0, 0, false},
    {"chdir, twice", change_directory, 0, 0, 0, false},
    {"fork + exec of true", run_true, 0, 0, 0, false},
    {"connect + accept on loopback", connect_accept, 0, 0, 0, true},
};

const size_t calls_count = sizeof calls / sizeof calls[0];

const struct call *calls_find(const char *name)
{
    for (size_t i = 0; i < calls_count; i++)
        if (strcmp(calls[i].name, name) == 0)
            return &calls[i];
    return NULL;
}
