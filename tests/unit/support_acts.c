/* SPDX-License-Identifier: MIT */
#include "support_acts.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

/* A path below a directory; good until the fifth call from now. */
static const char *at(const char *directory, const char *name)
{
    static char paths[4][PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, PATH_MAX, "%s/%s", directory, name);
    return path;
}

static int result(int value)
{
    return value < 0 ? errno : 0;
}

static int opened(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC, 0600);

    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

static int open_of(pid_t pid, const char *name)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    return opened(path, O_RDONLY);
}

static int listed(const char *path)
{
    DIR *list = opendir(path);

    if (list == NULL)
        return errno;
    closedir(list);
    return 0;
}

/* Becomes another program in a child of its own; the errno of exec comes back as exit status. */
static int executed(const char *path)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        execl(path, path, (char *)NULL);
        _exit(errno);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        return errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD;
}

static struct sockaddr_un named(const char *path, socklen_t *length)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};

    snprintf(name.sun_path, sizeof name.sun_path, "%s", path);
    *length = sizeof name;
    /* "@name" is abstract. */
    if (name.sun_path[0] == '@') {
        *length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
        name.sun_path[0] = '\0';
    }
    return name;
}

static int connected_unix(int fd, const char *path)
{
    socklen_t length;
    struct sockaddr_un name = named(path, &length);

    return fd < 0 ? errno : result(connect(fd, (struct sockaddr *)&name, length));
}

static int bound_unix(const char *path)
{
    socklen_t length;
    struct sockaddr_un name = named(path, &length);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    return fd < 0 ? errno : result(bind(fd, (struct sockaddr *)&name, length));
}

static int abstract(const struct scene *scene)
{
    char name[64];

    snprintf(name, sizeof name, "@cordon-test-%d", (int)scene->victim);
    return connected_unix(socket(AF_UNIX, SOCK_STREAM, 0), name);
}

/* A datagram socket without socket(2): one end of a pair, turned elsewhere. */
static int pair_turned(const struct scene *scene)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) < 0)
        return errno;
    return connected_unix(pair[0], at(scene->out, "datagrams"));
}

static int internet(const struct scene *scene, int type, int protocol, int flags)
{
    struct sockaddr_in name = {.sin_family = AF_INET,
                               .sin_port = htons((uint16_t)scene->port),
                               .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, type, protocol);

    if (fd < 0)
        return errno;
    if (type == SOCK_DGRAM || flags != 0)
        return result((int)sendto(fd, "x", 1, flags, (struct sockaddr *)&name, sizeof name));
    return result(connect(fd, (struct sockaddr *)&name, sizeof name));
}

static int pair_works(int type)
{
    int pair[2];

    if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair) < 0)
        return errno;
    return result((int)write(pair[0], "x", 1));
}

static void *nothing(void *argument)
{
    return argument;
}

static int threaded(void)
{
    pthread_t thread;
    int error = pthread_create(&thread, NULL, nothing, NULL);

    return error != 0 ? error : pthread_join(thread, NULL);
}

static int limited(pid_t pid)
{
    struct rlimit limit;

    if (prlimit(pid, RLIMIT_CORE, NULL, &limit) < 0)
        return errno;
    return result(prlimit(pid, RLIMIT_CORE, &limit, NULL));
}

static int with_device(const struct scene *scene)
{
    return result(mknod(at(scene->in, "device"), S_IFCHR | 0600, makedev(1, 3)));
}

static int mounted(const char *place)
{
    if (mount("none", place, "tmpfs", 0, NULL) < 0)
        return errno;
    return result(umount(place));
}

static int traced(pid_t pid)
{
    if (ptrace(PTRACE_ATTACH, pid, NULL, NULL) < 0)
        return errno;
    waitpid(pid, NULL, __WALL);
    return result((int)ptrace(PTRACE_DETACH, pid, NULL, NULL));
}

#define IN  (scene->in)
#define OUT (scene->out)

/* One line a deed; each is a function of the scene. */
#define ACTS(X)                                                                      \
    X(read, opened(at(OUT, "secret"), O_RDONLY))                                     \
    X(write, opened(at(OUT, "secret"), O_WRONLY))                                    \
    X(read_trunc, opened(at(OUT, "secret"), O_RDONLY | O_TRUNC))                     \
    X(truncate, result(truncate(at(OUT, "secret"), 0)))                              \
    X(create, opened(at(OUT, "new"), O_WRONLY | O_CREAT))                            \
    X(tmpfile, opened(OUT, O_TMPFILE | O_RDWR))                                      \
    X(mkdir, result(mkdir(at(OUT, "new"), 0700)))                                    \
    X(rmdir, result(rmdir(at(OUT, "d"))))                                            \
    X(unlink, result(unlink(at(OUT, "secret"))))                                     \
    X(symlink, result(symlink("x", at(OUT, "new"))))                                 \
    X(mkfifo, result(mkfifo(at(OUT, "new"), 0600)))                                  \
    X(rename_out, result(rename(at(IN, "f"), at(OUT, "new"))))                       \
    X(rename_in, result(rename(at(OUT, "secret"), at(IN, "new"))))                   \
    X(link_out, result(link(at(IN, "f"), at(OUT, "new"))))                           \
    X(link_in, result(link(at(OUT, "secret"), at(IN, "new"))))                       \
    X(exec, executed(at(OUT, "prog")))                                               \
    X(list, listed(OUT))                                                             \
    X(list_root, listed("/"))                                                        \
    X(stat, result(access(at(OUT, "secret"), F_OK)))                                 \
    X(chmod, result(chmod(at(OUT, "secret"), 0644)))                                 \
    X(utime, result(utimes(at(OUT, "secret"), NULL)))                                \
    X(chdir, result(chdir(OUT)))                                                     \
    X(kill, result(kill(scene->victim, 0)))                                          \
    X(ptrace, traced(scene->victim))                                                 \
    X(environ, open_of(scene->victim, "environ"))                                    \
    X(root_of, open_of(scene->victim, "root/etc/passwd"))                            \
    X(prlimit, limited(scene->victim))                                               \
    X(unix_path, connected_unix(socket(AF_UNIX, SOCK_STREAM, 0), at(OUT, "socket"))) \
    X(unix_abstract, abstract(scene))                                                \
    X(unix_bind, bound_unix(at(OUT, "new")))                                         \
    X(pair_turned, pair_turned(scene))                                               \
    X(tcp, internet(scene, SOCK_STREAM, 0, 0))                                       \
    X(udp, internet(scene, SOCK_DGRAM, 0, 0))                                        \
    X(mptcp, internet(scene, SOCK_STREAM, 262, 0))                                   \
    X(fastopen, internet(scene, SOCK_STREAM, 0, MSG_FASTOPEN))                       \
    X(netlink, result(socket(AF_NETLINK, SOCK_RAW, 0)))                              \
    X(mount, mounted(IN))                                                            \
    X(chroot, result(chroot(IN)))                                                    \
    X(device, with_device(scene))                                                    \
    X(sysctl, opened("/proc/sys/kernel/core_pattern", O_WRONLY))                     \
    X(shadow, opened("/etc/shadow", O_RDONLY))                                       \
    X(denied, opened(at(IN, "secret"), O_RDONLY))                                    \
    X(denied_dir, listed(at(IN, "vault")))                                           \
    X(denied_below, opened(at(IN, "vault/v"), O_RDONLY))                             \
    X(reopened, opened(at(IN, "vault/open/o"), O_RDONLY))                            \
    X(denied_gone, result(unlink(at(IN, "secret"))))                                 \
    X(protected, opened(at(IN, ".git/hooks/h"), O_WRONLY))                           \
    X(protected_new, opened(at(IN, ".git/hooks/new"), O_WRONLY | O_CREAT))           \
    X(protected_read, opened(at(IN, ".git/hooks/h"), O_RDONLY))                      \
    X(protected_chmod, result(chmod(at(IN, ".git/hooks/h"), 0644)))                  \
    X(protected_moved, result(rename(at(IN, ".git"), at(IN, "g"))))                  \
    X(narrowed, opened(at(IN, "d/g"), O_WRONLY))                                     \
    X(in_read, opened(at(IN, "f"), O_RDONLY))                                        \
    X(in_write, opened(at(IN, "f"), O_WRONLY))                                       \
    X(in_create, opened(at(IN, "new"), O_WRONLY | O_CREAT))                          \
    X(in_truncate, result(truncate(at(IN, "f"), 0)))                                 \
    X(in_mkdir, result(mkdir(at(IN, "new"), 0700)))                                  \
    X(in_unlink, result(unlink(at(IN, "f"))))                                        \
    X(in_rename, result(rename(at(IN, "f"), at(IN, "d2/f"))))                        \
    X(in_link, result(link(at(IN, "f"), at(IN, "d2/f"))))                            \
    X(in_symlink, result(symlink("f", at(IN, "new"))))                               \
    X(in_list, listed(IN))                                                           \
    X(in_git, opened(at(IN, ".git/new"), O_WRONLY | O_CREAT))                        \
    X(null, opened("/dev/null", O_RDWR))                                             \
    X(terminal, result(posix_openpt(O_RDWR | O_NOCTTY)))                             \
    X(shell, executed("/bin/true"))                                                  \
    X(system, opened("/etc/passwd", O_RDONLY))                                       \
    X(proc_self, opened("/proc/self/status", O_RDONLY))                              \
    X(thread, threaded())                                                            \
    X(pair_stream, pair_works(SOCK_STREAM))                                          \
    X(pair_packets, pair_works(SOCK_SEQPACKET))

#define FUNCTION(name, expression)                   \
    static int act_##name(const struct scene *scene) \
    {                                                \
        (void)scene;                                 \
        return (expression);                         \
    }
ACTS(FUNCTION)

static const struct {
    const char *name;
    int (*run)(const struct scene *scene);
} acts[] = {
#define ROW(name, expression) {#name, act_##name},
    ACTS(ROW)};

int act(const char *name, const struct scene *scene)
{
    for (size_t i = 0; i < sizeof acts / sizeof acts[0]; i++)
        if (strcmp(acts[i].name, name) == 0)
            return acts[i].run(scene);
    errx(EXIT_FAILURE, "there is no act \"%s\"", name);
}
