/* SPDX-License-Identifier: MIT */
#include "network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "call.h"
#include "report.h"
#include "stand_in.h"
#include "supervisor.h"

enum { DNS = 53 };

/* An address as the caller gave it, and with the family that it will be taken for. */
struct address {
    union {
        struct sockaddr any;
        struct sockaddr_in ip4;
        struct sockaddr_in6 ip6;
        struct sockaddr_un path;
        struct sockaddr_storage room;
    } is;
    socklen_t length;
};

void network_describe(int family, int type, int protocol, char *text, size_t size)
{
    static const struct {
        int number;
        const char *name;
    } families[] = {{AF_UNIX, "AF_UNIX"},       {AF_INET, "AF_INET"},     {AF_INET6, "AF_INET6"},
                    {AF_NETLINK, "AF_NETLINK"}, {AF_PACKET, "AF_PACKET"}, {AF_VSOCK, "AF_VSOCK"}};
    static const char *const types[] = {[SOCK_STREAM] = "SOCK_STREAM",
                                        [SOCK_DGRAM] = "SOCK_DGRAM",
                                        [SOCK_RAW] = "SOCK_RAW",
                                        [SOCK_SEQPACKET] = "SOCK_SEQPACKET"};
    const unsigned kind = (unsigned)type & 0xf;
    char number[32];
    const char *name = number;

    snprintf(number, sizeof number, "family %d", family);
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if (families[i].number == family)
            name = families[i].name;
    if (kind < sizeof types / sizeof types[0] && types[kind] != NULL)
        snprintf(text, size, "%s %s %d", name, types[kind], protocol);
    else
        snprintf(text, size, "%s type %u %d", name, kind, protocol);
}

static void read_address(struct job *job, struct address *address)
{
    uint64_t length = (uint32_t)job->call.data.args[2];

    memset(address, 0, sizeof *address);
    if (length > sizeof address->is.room)
        job_give_up(job, -EINVAL);
    if (length > 0 && job_read(job, job->call.data.args[1], &address->is, (size_t)length) < 0)
        job_give_up(job, -EFAULT);
    address->length = (socklen_t)length;
    if (length < sizeof address->is.any.sa_family ||
        (address->is.any.sa_family == AF_UNIX && length > sizeof address->is.path))
        job_give_up(job, -EINVAL);
}

/* "127.0.0.1:80" */
static void print_address(const struct address *address, char *text, size_t size)
{
    char host[INET6_ADDRSTRLEN] = "?";

    if (address->is.any.sa_family == AF_INET6) {
        inet_ntop(AF_INET6, &address->is.ip6.sin6_addr, host, sizeof host);
        snprintf(text, size, "[%s]:%u", host, ntohs(address->is.ip6.sin6_port));
    } else {
        inet_ntop(AF_INET, &address->is.ip4.sin_addr, host, sizeof host);
        snprintf(text, size, "%s:%u", host, ntohs(address->is.ip4.sin_port));
    }
}

/* --- the internet ----------------------------------------------------------------------------- */

/* Whether the list names the port; what is named only counts if there is a list. */
static bool is_listed(const char *list, unsigned port)
{
    while (*list != '\0') {
        char *end;
        if (strtoul(list, &end, 10) == port)
            return true;
        list = end + strspn(end, ",");
        if (end == list)
            return false;
    }
    return false;
}

/* A server of names in there asks others outside: a way out, unless it was asked for. */
static bool may_use_port(const struct job *job, unsigned port)
{
    const char *list = image_text(job->on->image, IMAGE_PORTS);

    return list[0] == '\0' ? port != DNS : is_listed(list, port);
}

static bool is_loopback4(uint32_t host)
{
    return host >> 24 == 127;
}

static const struct in6_addr mapped_loopback = {
    .s6_addr = {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1}};

/* No address: 0.0.0.0, :: or the one in the other. */
static bool is_any(const struct address *address)
{
    const struct in6_addr *ip6 = &address->is.ip6.sin6_addr;

    if (address->is.any.sa_family != AF_INET6)
        return address->is.ip4.sin_addr.s_addr == htonl(INADDR_ANY);
    return IN6_IS_ADDR_UNSPECIFIED(ip6) || (IN6_IS_ADDR_V4MAPPED(ip6) && ip6->s6_addr32[3] == 0);
}

static void set_loopback(struct address *address)
{
    if (address->is.any.sa_family != AF_INET6)
        address->is.ip4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    else
        address->is.ip6.sin6_addr = IN6_IS_ADDR_UNSPECIFIED(&address->is.ip6.sin6_addr)
                                        ? in6addr_loopback
                                        : mapped_loopback;
}

/* To who connects that means the address that the socket is bound to, or the loopback. */
static void settle_connect(struct address *address, int fd)
{
    struct address own = {.length = sizeof own.is};

    if (!is_any(address))
        return;
    if (getsockname(fd, &own.is.any, &own.length) < 0 ||
        own.is.any.sa_family != address->is.any.sa_family || is_any(&own))
        set_loopback(address);
    else if (own.is.any.sa_family == AF_INET6)
        address->is.ip6.sin6_addr = own.is.ip6.sin6_addr;
    else
        address->is.ip4.sin_addr = own.is.ip4.sin_addr;
}

/* Who binds means all there are: here that is the loopback. A socket for both IPv6 and IPv4 gets
 * the latter, where most clients ask. */
static void settle_bind(struct address *address, int fd)
{
    int only = 1;
    socklen_t size = sizeof only;

    if (!is_any(address))
        return;
    if (address->is.any.sa_family == AF_INET6)
        getsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, &size);
    if (only)
        set_loopback(address);
    else
        address->is.ip6.sin6_addr = mapped_loopback;
}

static bool is_loopback(const struct address *address)
{
    const struct in6_addr *ip6 = &address->is.ip6.sin6_addr;

    if (address->is.any.sa_family != AF_INET6)
        return is_loopback4(ntohl(address->is.ip4.sin_addr.s_addr));
    if (IN6_IS_ADDR_V4MAPPED(ip6))
        return is_loopback4(ntohl(ip6->s6_addr32[3]));
    return IN6_IS_ADDR_LOOPBACK(ip6);
}

static unsigned port_of(const struct address *address)
{
    /* At the same place in both. */
    return ntohs(address->is.ip4.sin_port);
}

static bool is_long_enough(const struct address *address)
{
    /* The kernel takes IPv6 addresses without the scope, too. */
    return address->length >= (address->is.any.sa_family == AF_INET6
                                   ? (socklen_t)offsetof(struct sockaddr_in6, sin6_scope_id)
                                   : (socklen_t)sizeof(struct sockaddr_in));
}

static long refuse_address(struct job *job, const char *op, const char *intent,
                           const struct address *address)
{
    char text[INET6_ADDRSTRLEN + 16];
    char hint[128] = "--net open";
    const char *list = image_text(job->on->image, IMAGE_PORTS);

    print_address(address, text, sizeof text);
    if (is_loopback(address) && job->on->image->net == NET_LOOPBACK)
        snprintf(hint, sizeof hint, "--net loopback:%s%s%u", list, list[0] == '\0' ? "" : ",",
                 port_of(address));
    else if (is_loopback(address))
        snprintf(hint, sizeof hint, "--net loopback");
    report_other(job, op, intent, text, EACCES, hint);
    return -EACCES;
}

/* --- sockets with a path ---------------------------------------------------------------------- */

/* The path, or NULL if it has none. The memory behind it is zero: so it ends. */
static const char *path_of(const struct address *address)
{
    if (address->length <= offsetof(struct sockaddr_un, sun_path) ||
        address->is.path.sun_path[0] == '\0')
        return NULL;
    return address->is.path.sun_path;
}

static bool is_abstract(const struct address *address)
{
    return address->length > offsetof(struct sockaddr_un, sun_path) &&
           address->is.path.sun_path[0] == '\0';
}

/* Those of others are kept away by the wall, or by nobody. */
static long judge_abstract(struct job *job, const char *op, const char *intent,
                           const struct address *address, bool is_refused)
{
    char text[sizeof address->is.path.sun_path + 2];
    size_t length = address->length - offsetof(struct sockaddr_un, sun_path);

    if (job->on->own_abstract && !is_refused)
        return 0;
    snprintf(text, sizeof text, "@%.*s", (int)length - 1, address->is.path.sun_path + 1);
    report_other(job, op, intent, text, EACCES,
                 "only what is made in here can be reached without a path");
    return -EACCES;
}

/* By the name of a descriptor of the very socket that was judged. */
static long connect_path(int fd, const char *path)
{
    struct sockaddr_un own = {.sun_family = AF_UNIX};
    struct call call;
    int found;

    if (!call_begin(&call, "connect", AT_FDCWD, path))
        return -EFAULT;
    found = call_lookup(&call, true, INTENT_CONNECT);
    if (found < 0)
        return call_settled(&call) ? found : -EACCES;
    struct fd_name name = call_fd_name(found);
    memcpy(own.sun_path, name.text, sizeof name.text);
    return call_end(found, CALL(SYS_connect, fd, &own, sizeof own));
}

/* A socket's path is what its peers see: so it is bound by the very text, from the caller's own
 * directory. Between the look and that somebody may swap a directory: the wall closes the race. */
static long bind_path(struct job *job, int fd, const struct address *address, const char *path)
{
    struct place place;
    struct call call;
    int error;

    if (!call_begin(&call, "bind", AT_FDCWD, path))
        return -EFAULT;
    call.follow = false;
    error = place_parent(call.scope, &call.where.start, path, NAME_BOUND, &place, &call.report);
    if (error < 0)
        return call_settled(&call) ? (error == -EEXIST ? -EADDRINUSE : error) : -EACCES;
    place_release(&place);
    int here = job_directory(job, AT_FDCWD);
    if (here < 0 || CALL(SYS_fchdir, here) < 0)
        return -EACCES;
    return CALL(SYS_bind, fd, &address->is, address->length);
}

/* --- the calls -------------------------------------------------------------------------------- */

static bool is_internet(int family)
{
    return family == AF_INET || family == AF_INET6;
}

static int family_of(int fd)
{
    int family = AF_UNSPEC;
    socklen_t size = sizeof family;

    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size) < 0 ? -errno : family;
}

/* What to make the call on. */
struct borrowed {
    int fd;
    int family;
    bool stands_in; /* it is none of the caller's, but this: */
    struct stand_in stand_in;
};

/* Of what is no socket only the kernel can say what is wrong with it. */
static int borrow(struct job *job, struct borrowed *borrowed)
{
    const int number = (int)job->call.data.args[0];
    int fd = number < 0 ? -EBADF : job_fd(job, number);
    int error;

    if (fd < 0)
        return fd;
    *borrowed = (struct borrowed){.fd = fd, .family = family_of(fd)};
    /* No duplicate was to be had. */
    if (borrowed->family == -EBADF) {
        error = stand_in_make(job, number, fd, &borrowed->stand_in);
        if (error < 0)
            return error;
        borrowed->stands_in = true;
        borrowed->fd = borrowed->stand_in.fd;
        borrowed->family = family_of(borrowed->fd);
    }
    return borrowed->family < 0 ? borrowed->family : 0;
}

static long give_back(struct job *job, const struct borrowed *borrowed, enum stage stage,
                      long result)
{
    return borrowed->stands_in ? stand_in_settle(job, &borrowed->stand_in, stage, result) : result;
}

/* What was read by the number of a thread was this caller's, if it still waits. */
static bool is_waiting(const struct job *job)
{
    return listener_is_waiting(job->on->listener, job->call.id);
}

/* --- connect ---------------------------------------------------------------------------------- */

/*
 * While a socket is being connected, it is bound to an address that it loses when that fails, or
 * when any thread of the caller's gives it up. Whoever looks at its address then must not rely on
 * it: so those that are being connected stand here, by their cookies, and nobody is added while
 * somebody looks.
 */
static uint64_t connecting[1024];
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

static uint64_t cookie_of(int fd)
{
    uint64_t cookie = 0;
    socklen_t size = sizeof cookie;

    getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &size);
    return cookie;
}

/* The place of the cookie in the list; `0` is a free one. There are as many as workers. */
static uint64_t *find_cookie(uint64_t cookie)
{
    for (size_t i = 0; i < sizeof connecting / sizeof connecting[0]; i++)
        if (connecting[i] == cookie)
            return &connecting[i];
    return NULL;
}

static long connect_listed(int fd, const struct address *address)
{
    uint64_t *place;
    long result;

    pthread_mutex_lock(&changing);
    place = find_cookie(0);
    if (place != NULL)
        *place = cookie_of(fd);
    pthread_mutex_unlock(&changing);
    if (place == NULL)
        return -EAGAIN;
    result = CALL(SYS_connect, fd, &address->is, address->length);
    pthread_mutex_lock(&changing);
    *place = 0;
    pthread_mutex_unlock(&changing);
    return result;
}

static long connect_internet(struct job *job, int fd, struct address *address)
{
    const enum image_net net = (enum image_net)job->on->image->net;

    if (!is_long_enough(address))
        return -EINVAL;
    if (net != NET_OPEN) {
        settle_connect(address, fd);
        if (net == NET_DENY || !is_loopback(address) || !may_use_port(job, port_of(address)))
            return refuse_address(job, "connect", "connect", address);
    }
    job_become_caller(job);
    return connect_listed(fd, address);
}

/* The scope of Landlock is a refusal, too. */
static long connect_abstract(struct job *job, int fd, const struct address *address)
{
    long error = judge_abstract(job, "connect", "connect", address, false);

    if (error < 0)
        return error;
    job_become_caller(job);
    error = CALL(SYS_connect, fd, &address->is, address->length);
    return error == -EPERM ? judge_abstract(job, "connect", "connect", address, true) : error;
}

static long connect_borrowed(struct job *job, const struct borrowed *borrowed,
                             struct address *address)
{
    const int family = address->is.any.sa_family;

    if (family == AF_UNIX && borrowed->family == AF_UNIX && path_of(address) != NULL)
        return connect_path(borrowed->fd, path_of(address));
    if (family == AF_UNIX && borrowed->family == AF_UNIX && is_abstract(address))
        return connect_abstract(job, borrowed->fd, address);
    if (is_internet(family) && is_internet(borrowed->family))
        return connect_internet(job, borrowed->fd, address);
    /* AF_UNSPEC, which takes a connection back, or what does not fit the socket. */
    job_become_caller(job);
    return connect_listed(borrowed->fd, address);
}

/* What the kernel would say of the caller's own socket. */
static long judge_stage(const struct borrowed *borrowed)
{
    if (!borrowed->stands_in || borrowed->stand_in.stage < STAGE_LISTENS)
        return 0;
    return borrowed->stand_in.stage == STAGE_LISTENS && borrowed->family == AF_UNIX ? -EINVAL
                                                                                    : -EISCONN;
}

long network_connect(struct job *job)
{
    struct borrowed borrowed;
    struct address address;
    long result = borrow(job, &borrowed);

    if (result < 0)
        return result;
    read_address(job, &address);
    if (!is_waiting(job))
        return -EINTR;
    const bool undoes = address.is.any.sa_family == AF_UNSPEC;
    result = undoes ? 0 : judge_stage(&borrowed);
    if (result == 0)
        result = connect_borrowed(job, &borrowed, &address);
    return give_back(job, &borrowed, undoes ? STAGE_FRESH : STAGE_CONNECTED, result);
}

/* --- bind ------------------------------------------------------------------------------------- */

static long bind_internet(struct job *job, int fd, struct address *address)
{
    const enum image_net net = (enum image_net)job->on->image->net;

    if (!is_long_enough(address))
        return -EINVAL;
    /* The kernel takes no address without a family for one of IPv4. */
    if (address->is.any.sa_family == AF_UNSPEC && family_of(fd) == AF_INET && is_any(address))
        address->is.any.sa_family = AF_INET;
    if (!is_internet(address->is.any.sa_family))
        return -EAFNOSUPPORT;
    if (net != NET_OPEN) {
        settle_bind(address, fd);
        if (net == NET_DENY || !is_loopback(address) ||
            (port_of(address) != 0 && !may_use_port(job, port_of(address))))
            return refuse_address(job, "bind", "bind", address);
    }
    job_become_caller(job);
    return CALL(SYS_bind, fd, &address->is, address->length);
}

static long bind_borrowed(struct job *job, const struct borrowed *borrowed, struct address *address)
{
    if (is_internet(borrowed->family))
        return bind_internet(job, borrowed->fd, address);
    if (borrowed->family == AF_UNIX) {
        if (address->is.any.sa_family != AF_UNIX)
            return -EINVAL;
        if (path_of(address) != NULL) {
            job_mode(job, 0);
            return bind_path(job, borrowed->fd, address, path_of(address));
        }
    }
    job_become_caller(job);
    return CALL(SYS_bind, borrowed->fd, &address->is, address->length);
}

long network_bind(struct job *job)
{
    struct borrowed borrowed;
    struct address address;
    long result = borrow(job, &borrowed);

    if (result < 0)
        return result;
    read_address(job, &address);
    if (!is_waiting(job))
        return -EINTR;
    result = judge_stage(&borrowed) < 0 ? -EINVAL : bind_borrowed(job, &borrowed, &address);
    return give_back(job, &borrowed, STAGE_BOUND, result);
}

/* --- listen ----------------------------------------------------------------------------------- */

/* Whether its address stays as it is: it is not connected, and nobody connects it while we look. */
static bool is_settled(int fd)
{
    struct tcp_info info = {.tcpi_state = TCP_CLOSE};
    socklen_t size = sizeof info;

    return find_cookie(cookie_of(fd)) == NULL &&
           getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
           (info.tcpi_state == TCP_CLOSE || info.tcpi_state == TCP_LISTEN);
}

static long name_of(int fd, struct address *address)
{
    address->length = sizeof address->is;
    return getsockname(fd, &address->is.any, &address->length) < 0 ? -errno : 0;
}

/*
 * Binds a socket that would listen everywhere or on any port, since it was bound nowhere, or lost
 * its port with a connection: what it is called then tells what it had. One that is bound cannot be
 * bound again. 0, or a negative errno; *address is where it is bound.
 */
static long settle_listen(const struct job *job, int fd, struct address *address)
{
    long error = name_of(fd, address);

    if (error < 0 || job->on->image->net != NET_LOOPBACK)
        return error;
    if (is_any(address)) {
        settle_bind(address, fd);
        address->is.ip4.sin_port = 0;
    }
    if (bind(fd, &address->is.any, address->length) < 0 && errno != EINVAL)
        return -errno;
    return name_of(fd, address);
}

static bool may_listen(const struct job *job, const struct address *address)
{
    return job->on->image->net != NET_DENY && is_loopback(address) &&
           may_use_port(job, port_of(address));
}

static long listen_internet(struct job *job, int fd)
{
    struct address address = {.length = 0};
    long result = -EINVAL;
    bool refused = false;

    pthread_mutex_lock(&changing);
    if (is_settled(fd))
        result = settle_listen(job, fd, &address);
    if (result == 0)
        refused = !may_listen(job, &address);
    if (result == 0 && !refused)
        result = CALL(SYS_listen, fd, job->call.data.args[1]);
    pthread_mutex_unlock(&changing);
    return refused ? refuse_address(job, "listen", "bind", &address) : result;
}

long network_listen(struct job *job)
{
    struct borrowed borrowed;
    long result = borrow(job, &borrowed);

    if (result < 0)
        return result;
    if (!is_waiting(job))
        return -EINTR;
    if (judge_stage(&borrowed) < 0)
        return borrowed.stand_in.stage == STAGE_LISTENS ? 0 : -EINVAL;
    job_become_caller(job);
    result = is_internet(borrowed.family) ? listen_internet(job, borrowed.fd)
                                          : CALL(SYS_listen, borrowed.fd, job->call.data.args[1]);
    return give_back(job, &borrowed, STAGE_LISTENS, result);
}
