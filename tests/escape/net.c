/* SPDX-License-Identifier: MIT */
/* Sockets. The harness listens on loopback, on paths and on an abstract name. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/vm_sockets.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "attack.h"
#include "layer.h"

enum { HELLO = 5 };

static long new_socket(int family, int type, int protocol)
{
    return sys(SYS_socket, family, type | SOCK_CLOEXEC, protocol);
}

/* Connects and says hello: somebody outside hears it. */
static int greet(long fd, const void *address, size_t size)
{
    long error = fd < 0 ? fd : sys(SYS_connect, fd, address, size);

    if (error == 0)
        error = sys(SYS_write, fd, "hello", HELLO);
    return error < 0 ? (int)error : 0;
}

static int send_to(long fd, const void *address, size_t size, int flags)
{
    long error = fd < 0 ? fd : sys(SYS_sendto, fd, "hello", HELLO, flags, address, size);

    return error < 0 ? (int)error : 0;
}

static struct sockaddr_in loopback(const char *port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((in_port_t)fact_number(port)),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static struct sockaddr_in6 loopback6(const char *port)
{
    return (struct sockaddr_in6){.sin6_family = AF_INET6,
                                 .sin6_port = htons((in_port_t)fact_number(port)),
                                 .sin6_addr = IN6ADDR_LOOPBACK_INIT};
}

static struct sockaddr_un path_address(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    return address;
}

/* --- the internet ----------------------------------------------------------------------------- */

static int tcp(void)
{
    const struct sockaddr_in to = loopback("tcp");

    return greet(new_socket(AF_INET, SOCK_STREAM, 0), &to, sizeof to);
}

static int tcp6(void)
{
    const struct sockaddr_in6 to = loopback6("tcp6");

    if (to.sin6_port == 0)
        return cannot("no IPv6");
    return greet(new_socket(AF_INET6, SOCK_STREAM, 0), &to, sizeof to);
}

/* An IPv4 address in the clothes of the other kind. */
static int tcp_mapped(void)
{
    struct sockaddr_in6 to = loopback6("tcp");

    to.sin6_addr = (struct in6_addr){.s6_addr = {[10] = 0xff, 0xff, 127, 0, 0, 1}};
    if (fact_number("tcp6") == 0)
        return cannot("no IPv6");
    return greet(new_socket(AF_INET6, SOCK_STREAM, 0), &to, sizeof to);
}

static int udp(void)
{
    const struct sockaddr_in to = loopback("udp");

    return send_to(new_socket(AF_INET, SOCK_DGRAM, 0), &to, sizeof to, 0);
}

static int udp_connected(void)
{
    const struct sockaddr_in to = loopback("udp");

    return greet(new_socket(AF_INET, SOCK_DGRAM, 0), &to, sizeof to);
}

static int mptcp(void)
{
    const struct sockaddr_in to = loopback("tcp");
    long fd = new_socket(AF_INET, SOCK_STREAM, IPPROTO_MPTCP);

    if (fd == -EPROTONOSUPPORT)
        return cannot("no MPTCP");
    return greet(fd, &to, sizeof to);
}

/* Data in the first packet: no connect at all. */
static int fast_open(void)
{
    const struct sockaddr_in to = loopback("tcp");

    return send_to(new_socket(AF_INET, SOCK_STREAM, 0), &to, sizeof to, MSG_FASTOPEN);
}

static int fast_open_connect(void)
{
    const struct sockaddr_in to = loopback("tcp");
    long fd = new_socket(AF_INET, SOCK_STREAM, 0);
    int one = 1;

    if (fd >= 0)
        sys(SYS_setsockopt, fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &one, sizeof one);
    return greet(fd, &to, sizeof to);
}

/* Without a bind the kernel chooses the port: others can come in. */
static int listen_unbound(void)
{
    long fd = new_socket(AF_INET, SOCK_STREAM, 0);

    return fd < 0 ? (int)fd : (int)sys(SYS_listen, fd, 1);
}

static int bind_port(void)
{
    const struct sockaddr_in at = {.sin_family = AF_INET};
    long fd = new_socket(AF_INET, SOCK_STREAM, 0);

    return fd < 0 ? (int)fd : (int)sys(SYS_bind, fd, &at, sizeof at);
}

static int only_socket(int family, int type, int protocol)
{
    long fd = new_socket(family, type, protocol);

    if (fd == -EAFNOSUPPORT || fd == -EPROTONOSUPPORT || fd == -ESOCKTNOSUPPORT)
        return cannot("no such protocol");
    return fd < 0 ? (int)fd : 0;
}

static int raw(void)
{
    return only_socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
}

static int packet(void)
{
    return only_socket(AF_PACKET, SOCK_RAW, 0);
}

static int netlink(void)
{
    return only_socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
}

static int netlink_events(void)
{
    return only_socket(AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT);
}

static int vsock(void)
{
    return only_socket(AF_VSOCK, SOCK_STREAM, 0);
}

static int crypto(void)
{
    return only_socket(AF_ALG, SOCK_SEQPACKET, 0);
}

/* --- unix sockets ----------------------------------------------------------------------------- */

static int unix_path(void)
{
    const struct sockaddr_un to = path_address(in("out", "sock"));

    return greet(new_socket(AF_UNIX, SOCK_STREAM, 0), &to, sizeof to);
}

static int unix_elsewhere(void)
{
    const struct sockaddr_un to = path_address("../other/sock");

    return greet(new_socket(AF_UNIX, SOCK_STREAM, 0), &to, sizeof to);
}

static int unix_link(void)
{
    const struct sockaddr_un to = path_address("l");
    long error = do_symlink("../out/sock", "l");

    return error < 0 ? (int)error : greet(new_socket(AF_UNIX, SOCK_STREAM, 0), &to, sizeof to);
}

static int unix_datagram(void)
{
    const struct sockaddr_un to = path_address(in("out", "dgram"));

    return send_to(new_socket(AF_UNIX, SOCK_DGRAM, 0), &to, sizeof to, 0);
}

static long one_of_pair(int type)
{
    int pair[2];
    long error = sys(SYS_socketpair, AF_UNIX, type, 0, pair);

    return error < 0 ? error : pair[0];
}

/* A socket of a pair is a socket like any other: it can be sent elsewhere. */
static int unix_pair(void)
{
    const struct sockaddr_un to = path_address(in("out", "dgram"));

    return send_to(one_of_pair(SOCK_DGRAM), &to, sizeof to, 0);
}

static int unix_pair_connected(void)
{
    const struct sockaddr_un to = path_address(in("out", "dgram"));

    return greet(one_of_pair(SOCK_DGRAM), &to, sizeof to);
}

static int unix_pair_message(void)
{
    struct sockaddr_un to = path_address(in("out", "dgram"));
    char hello[] = "hello";
    struct iovec part = {.iov_base = hello, .iov_len = HELLO};
    const struct msghdr message = {
        .msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &part, .msg_iovlen = 1};
    long fd = one_of_pair(SOCK_RAW); /* which is a datagram socket, too */
    long error = fd < 0 ? fd : sys(SYS_sendmsg, fd, &message, 0);

    return error < 0 ? (int)error : 0;
}

static struct sockaddr_un abstract_address(const char *name, size_t *size)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "%s", name);
    *size = offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name);
    return address;
}

static int unix_abstract(void)
{
    size_t size;
    const struct sockaddr_un to = abstract_address(fact("abstract"), &size);

    return greet(new_socket(AF_UNIX, SOCK_STREAM, 0), &to, size);
}

static int unix_pair_abstract(void)
{
    size_t size;
    const struct sockaddr_un to = abstract_address(fact("abstract_dgram"), &size);

    return send_to(one_of_pair(SOCK_DGRAM), &to, size, 0);
}

static int unix_bind(void)
{
    const struct sockaddr_un at = path_address(in("out", "new"));
    long fd = new_socket(AF_UNIX, SOCK_STREAM, 0);

    return fd < 0 ? (int)fd : (int)sys(SYS_bind, fd, &at, sizeof at);
}

static int unix_pair_bind(void)
{
    const struct sockaddr_un at = path_address(in("out", "new"));
    long fd = one_of_pair(SOCK_DGRAM);

    return fd < 0 ? (int)fd : (int)sys(SYS_bind, fd, &at, sizeof at);
}

#define FAMILIES "seccomp.c: which families and types socket() may have; bwrap.c: --unshare-net"
#define PAIRS    "seccomp.c: datagram pairs are refused; bwrap.c: what is bound"
#define REFUSED  "EACCES EPERM EAFNOSUPPORT"
#define NO_ROUTE REFUSED " ECONNREFUSED ENETUNREACH"

static const struct attack rows[] = {
    {"tcp", tcp, REACH, WALL, 0, NO_ROUTE, FAMILIES, NULL, "connect 127.0.0.1:*"},
    {"tcp6", tcp6, REACH, WALL, 0, NO_ROUTE, FAMILIES, NULL, "connect [[]::1]:*"},
    {"tcp_mapped", tcp_mapped, REACH, WALL, 0, NO_ROUTE, FAMILIES, NULL,
     "connect [[]::ffff:127.0.0.1]:*"},
    {"udp", udp, REACH, WALL, 0, NO_ROUTE, FAMILIES, NULL, "socket AF_INET SOCK_DGRAM 0"},
    {"udp_connected", udp_connected, REACH, WALL, 0, NO_ROUTE, FAMILIES, NULL,
     "socket AF_INET SOCK_DGRAM 0"},
    {"mptcp", mptcp, REACH, WALL, EVEN_OPEN, NO_ROUTE, FAMILIES, NULL,
     "socket AF_INET SOCK_STREAM 262"},
    {"fast_open", fast_open, REACH, WALL, 0, NO_ROUTE, FAMILIES, NULL, "sendto"},
    {"fast_open_connect", fast_open_connect, REACH, WALL, 0, NO_ROUTE, FAMILIES, NULL,
     "connect 127.0.0.1:*"},
    {"listen_unbound", listen_unbound, CLAIM, WALL, 0, REFUSED, FAMILIES, NULL, "listen 0.0.0.0:0"},
    {"bind_port", bind_port, CLAIM, WALL, 0, REFUSED, FAMILIES, NULL, "bind 127.0.0.1:0"},
    {"raw", raw, CLAIM, WALL, NEEDS_ROOT | EVEN_OPEN, REFUSED,
     FAMILIES "; caps.c: NET_RAW is dropped", NULL, "socket AF_INET SOCK_RAW 1"},
    {"packet", packet, CLAIM, WALL, NEEDS_ROOT | EVEN_OPEN, REFUSED,
     FAMILIES "; caps.c: NET_RAW is dropped", NULL, "socket AF_PACKET SOCK_RAW 0"},
    {"netlink", netlink, CLAIM, WALL, 0, REFUSED, FAMILIES, NULL, "socket AF_NETLINK SOCK_RAW 0"},
    {"netlink_events", netlink_events, CLAIM, WALL, EVEN_OPEN, REFUSED, FAMILIES, NULL,
     "socket AF_NETLINK SOCK_RAW 15"},
    {"vsock", vsock, CLAIM, WALL, EVEN_OPEN, REFUSED, FAMILIES, NULL,
     "socket AF_VSOCK SOCK_STREAM 0"},
    {"crypto", crypto, CLAIM, WALL, EVEN_OPEN, REFUSED, FAMILIES, NULL,
     "socket family 38 SOCK_SEQPACKET 0"},
    {"unix_path", unix_path, REACH, WALL, EVEN_OPEN, REFUSED, FAMILIES, NULL, "connect out/sock"},
    {"unix_elsewhere", unix_elsewhere, REACH, WALL, EVEN_OPEN, REFUSED, FAMILIES, NULL,
     "connect other/sock"},
    {"unix_link", unix_link, REACH, WALL, EVEN_OPEN, REFUSED, FAMILIES, NULL, "connect out/sock"},
    {"unix_datagram", unix_datagram, REACH, WALL, EVEN_OPEN, REFUSED, FAMILIES, NULL,
     "socket AF_UNIX SOCK_DGRAM 0"},
    {"unix_pair", unix_pair, REACH, WALL, EVEN_OPEN, REFUSED, PAIRS, NULL,
     "socketpair AF_UNIX SOCK_DGRAM 0"},
    {"unix_pair_connected", unix_pair_connected, REACH, WALL, EVEN_OPEN, REFUSED, PAIRS, NULL,
     "socketpair AF_UNIX SOCK_DGRAM 0"},
    {"unix_pair_message", unix_pair_message, REACH, WALL, EVEN_OPEN, REFUSED, PAIRS, NULL,
     "socketpair AF_UNIX SOCK_RAW 0"},
    {"unix_abstract", unix_abstract, REACH, WALL, EVEN_OPEN, NO_ROUTE, FAMILIES, NULL,
     "connect @escape-*"},
    {"unix_pair_abstract", unix_pair_abstract, REACH, WALL, EVEN_OPEN, NO_ROUTE, PAIRS, NULL,
     "socketpair AF_UNIX SOCK_DGRAM 0"},
    {"unix_bind", unix_bind, CHANGE, WALL, EVEN_OPEN, REFUSED, FAMILIES "; landlock.c: MAKE_SOCK",
     NULL, "bind out/new"},
    {"unix_pair_bind", unix_pair_bind, CHANGE, WALL, EVEN_OPEN, REFUSED,
     PAIRS "; landlock.c: MAKE_SOCK", NULL, "socketpair AF_UNIX SOCK_DGRAM 0"},
};
const struct attacks attacks_net = ATTACKS(rows);
