/* SPDX-License-Identifier: MIT */
#include "stand_in.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "call.h"
#include "supervisor.h"

enum { SOON_MS = 20 };

/* --- those that were put in place ------------------------------------------------------------- */

enum { KEPT = 256 };

/* A socket that is bound is held: what comes next is done with it. One that listens or is connected
 * has to end when the caller closes it. */
static struct {
    ino_t ino; /* 0: none */
    enum stage stage;
    int fd; /* or -1 */
} kept[KEPT];
static unsigned next;
static pthread_mutex_t keeping = PTHREAD_MUTEX_INITIALIZER;

static void forget(unsigned i)
{
    if (kept[i].ino != 0 && kept[i].fd >= 0)
        close(kept[i].fd);
    kept[i].ino = 0;
}

/* `instead` of one that is gone now. */
static void keep(const struct stand_in *stand_in, enum stage stage)
{
    struct stat st;

    pthread_mutex_lock(&keeping);
    for (unsigned i = 0; i < KEPT; i++)
        if (kept[i].ino == stand_in->instead)
            forget(i);
    if (stage != STAGE_FRESH && fstat(stand_in->fd, &st) == 0) {
        forget(next);
        kept[next].ino = st.st_ino;
        kept[next].stage = stage;
        kept[next].fd = stage == STAGE_BOUND ? fcntl(stand_in->fd, F_DUPFD_CLOEXEC, 0) : -1;
        next = (next + 1) % KEPT;
    }
    pthread_mutex_unlock(&keeping);
}

static void find_kept(struct stand_in *stand_in)
{
    pthread_mutex_lock(&keeping);
    for (unsigned i = 0; i < KEPT; i++) {
        if (kept[i].ino != stand_in->instead)
            continue;
        stand_in->stage = kept[i].stage;
        if (kept[i].fd >= 0)
            stand_in->fd = fcntl(kept[i].fd, F_DUPFD_CLOEXEC, 0);
    }
    pthread_mutex_unlock(&keeping);
}

/* --- what the caller has ---------------------------------------------------------------------- */

/* "ADDRESS: references protocol flags TYPE state INODE path": the type, if it is about that one. */
static int type_of_line(const char *line, ino_t ino)
{
    char *at = strchr(line, ':');
    unsigned long type = 0;

    if (at == NULL)
        return 0;
    at++;
    for (int i = 0; i < 5; i++) {
        unsigned long value = strtoul(at, &at, 16);
        if (i == 3)
            type = value;
    }
    return strtoul(at, &at, 10) == ino ? (int)type : 0;
}

/* Which of the three types only this list tells. */
static int unix_type(struct job *job, ino_t ino)
{
    char line[512];
    int type = 0;
    int fd = job_open_proc(job, "net/unix", O_RDONLY);
    FILE *list = fd < 0 ? NULL : fdopen(fd, "r");

    if (list == NULL && fd >= 0)
        close(fd);
    while (list != NULL && type == 0 && fgets(line, sizeof line, list) != NULL)
        type = type_of_line(line, ino);
    if (list != NULL)
        fclose(list);
    return type == 0 ? SOCK_STREAM : type;
}

/* The filter lets these be made, and a few more may have been there before. */
static int make_alike(struct job *job, int seen, ino_t ino)
{
    static const struct {
        const char *name;
        int family;
        int type; /* 0: it has to be looked for */
        int protocol;
    } kinds[] = {
        {"TCP", AF_INET, SOCK_STREAM, 0},
        {"TCPv6", AF_INET6, SOCK_STREAM, 0},
        {"UNIX", AF_UNIX, 0, 0},
        {"UNIX-STREAM", AF_UNIX, SOCK_STREAM, 0},
        {"UDP", AF_INET, SOCK_DGRAM, 0},
        {"UDPv6", AF_INET6, SOCK_DGRAM, 0},
        {"PING", AF_INET, SOCK_DGRAM, IPPROTO_ICMP},
        {"PINGv6", AF_INET6, SOCK_DGRAM, IPPROTO_ICMPV6},
        {"NETLINK", AF_NETLINK, SOCK_RAW, 0},
    };
    struct fd_name path = call_fd_name(seen);
    char name[32];
    ssize_t length = getxattr(path.text, "system.sockprotoname", name, sizeof name - 1);

    /* A descriptor of the caller's own with O_PATH, for the file of a socket. */
    if (length < 0)
        return -EBADF;
    name[length] = '\0';
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i].name, name) != 0)
            continue;
        int type = kinds[i].type != 0 ? kinds[i].type : unix_type(job, ino);
        int fd = socket(kinds[i].family, type | SOCK_CLOEXEC, kinds[i].protocol);
        return fd < 0 ? -errno : fd;
    }
    return -EACCES;
}

static bool is_tcp(int fd)
{
    int protocol = 0;
    socklen_t size = sizeof protocol;

    return getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) == 0 &&
           protocol == IPPROTO_TCP;
}

/* The flags of the caller's descriptor and of what is behind it. */
static int read_flags(struct job *job, int number, int *flags)
{
    char name[32];
    char text[256];
    ssize_t length;
    int fd;

    snprintf(name, sizeof name, "fdinfo/%d", number);
    fd = job_open_proc(job, name, O_RDONLY);
    if (fd < 0)
        return fd == -ENOENT ? -EBADF : fd;
    length = read(fd, text, sizeof text - 1);
    close(fd);
    text[length < 0 ? 0 : length] = '\0';
    const char *at = strstr(text, "flags:");
    if (at == NULL)
        return -EACCES;
    *flags = (int)strtol(at + strlen("flags:"), NULL, 8);
    return 0;
}

int stand_in_make(struct job *job, int number, int seen, struct stand_in *stand_in)
{
    const int one = 1;
    struct stat st;
    int flags;
    int error = read_flags(job, number, &flags);

    if (error < 0)
        return error;
    if (flags & O_PATH)
        return -EBADF;
    if (fstat(seen, &st) < 0 || !S_ISSOCK(st.st_mode))
        return -ENOTSOCK;
    *stand_in = (struct stand_in){
        .fd = -1, .number = number, .instead = st.st_ino, .flags = flags & O_CLOEXEC};
    find_kept(stand_in);
    stand_in->is_placed = stand_in->fd >= 0;
    if (!stand_in->is_placed) {
        job_become_caller(job);
        stand_in->fd = make_alike(job, seen, st.st_ino);
    }
    stand_in->fd = job_lend(job, JOB_UNASKED, stand_in->fd);
    if (stand_in->fd < 0 || stand_in->is_placed)
        return stand_in->fd < 0 ? stand_in->fd : 0;
    if (flags & O_NONBLOCK)
        fcntl(stand_in->fd, F_SETFL, O_NONBLOCK);
    if (is_tcp(stand_in->fd))
        setsockopt(stand_in->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    return 0;
}

/* --- what becomes of it ----------------------------------------------------------------------- */

/* The end of a connection that is being made, if it comes soon. */
static long await(int fd)
{
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    int error = 0;
    socklen_t size = sizeof error;

    if (poll(&wait, 1, SOON_MS) != 1 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
        return -EINPROGRESS;
    return -error;
}

long stand_in_settle(struct job *job, const struct stand_in *stand_in, enum stage stage,
                     long result)
{
    int error = 0;

    if (result == -EINPROGRESS && !stand_in->is_placed)
        result = await(stand_in->fd);
    if (result < 0 && result != -EINPROGRESS && result != -EINTR)
        return result;
    if (!stand_in->is_placed)
        error = listener_replace(job->on->listener, job->call.id, stand_in->fd, stand_in->number,
                                 stand_in->flags);
    if (error < 0)
        return error;
    keep(stand_in, result < 0 ? STAGE_FRESH : stage);
    return result;
}
