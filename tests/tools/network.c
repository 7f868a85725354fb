/* SPDX-License-Identifier: MIT */
/*
 * For network.sh: servers outside, and calls on sockets inside, each with a line that says what
 * came of it. In a network namespace of its own, so that ports are free and "another address" is
 * one that nobody else has.
 *
 *     network setup                     lo is up, and has the addresses OTHER4 and OTHER6 as well
 *     network serve DIR LOG             all servers; who is connected with hears the server's name
 *     network cases DIR MS              the calls by which a program reaches servers; how long one
 *                                       may take that is watched before it is made
 *     network errors                    what is wrong with them in ways that have nothing to do
 * with us network listen                    sockets that listen, until the input ends network reach
 * PORT...             which of the addresses lead to such a socket network handshake COMMAND...
 * starts it and talks with it in both directions ... network plugin PORT               ... and this
 * is what it talks with network race N DIR                the address changes while it is being
 * used network listen_race N             the socket changes network without_getfd COMMAND...  where
 * pidfd_getfd(2) is forbidden
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define OTHER4 "10.99.0.1"
#define OTHER6 "fd99::1"
#define MAPPED "::ffff:"

enum { PORT = 7001, SECOND = 7002, CLOSED = 7999, DNS = 53, MPTCP = 262 };

struct address {
    union {
        struct sockaddr any;
        struct sockaddr_in ip4;
        struct sockaddr_in6 ip6;
        struct sockaddr_un path;
    } is;
    socklen_t length;
};

static const char *dir = ".";

static int number_of(const char *text)
{
    return (int)strtol(text, NULL, 10);
}

static struct address ip(const char *host, int port)
{
    struct address at = {.length = sizeof at.is.ip4};

    at.is.ip4.sin_family = AF_INET;
    at.is.ip4.sin_port = htons((in_port_t)port);
    if (inet_pton(AF_INET, host, &at.is.ip4.sin_addr) == 1)
        return at;
    memset(&at, 0, sizeof at);
    at.length = sizeof at.is.ip6;
    at.is.ip6.sin6_family = AF_INET6;
    at.is.ip6.sin6_port = htons((in_port_t)port);
    inet_pton(AF_INET6, host, &at.is.ip6.sin6_addr);
    return at;
}

static struct address without_family(struct address at)
{
    at.is.any.sa_family = AF_UNSPEC;
    return at;
}

/* "name" below the directory that was given; "./name" where we are; "@name" without a file. */
static struct address path(const char *name)
{
    struct address at = {.length = sizeof at.is.path};
    char *text = at.is.path.sun_path;
    const size_t size = sizeof at.is.path.sun_path;

    at.is.path.sun_family = AF_UNIX;
    if (name[0] == '@') {
        snprintf(text + 1, size - 1, "%s", name + 1);
        at.length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
    } else if (name[0] == '.') {
        snprintf(text, size, "%s", name);
    } else {
        snprintf(text, size, "%s/%s", dir, name);
    }
    return at;
}

static int socket_for(const struct address *at, int type)
{
    int fd = socket(at->is.any.sa_family, type | SOCK_CLOEXEC, 0);

    return fd < 0 ? -errno : fd;
}

/* --- what came of it -------------------------------------------------------------------------- */

/* Texts that live until the line is printed. */
static char told[8][64];
static int tellings;

static char *room(void)
{
    return told[tellings++ % 8];
}

static const char *word(long result)
{
    return result >= 0 ? "0" : strerrorname_np((int)-result);
}

static long connect_to(int fd, const struct address *at)
{
    return connect(fd, &at->is.any, at->length) < 0 ? -errno : 0;
}

/* Who is at the other end. */
static const char *hear(int fd)
{
    char *name = room();
    ssize_t n = read(fd, name, 63);

    if (n <= 0)
        return n < 0 ? word(-errno) : "nobody";
    name[n] = '\0';
    return name;
}

static const char *visit_by(int fd, const struct address *at)
{
    long error = fd < 0 ? fd : connect_to(fd, at);

    return error < 0 ? word(error) : hear(fd);
}

static const char *visit(struct address at)
{
    int fd = socket_for(&at, SOCK_STREAM);
    const char *result = visit_by(fd, &at);

    close(fd);
    return result;
}

#define SAY(...) (printf(__VA_ARGS__), putchar('\n'), fflush(stdout))

/* --- servers ---------------------------------------------------------------------------------- */

static int listen_at(struct address at, int type)
{
    const int one = 1;
    int fd = socket_for(&at, type);

    if (fd < 0)
        return fd;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (at.is.any.sa_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
    if (bind(fd, &at.is.any, at.length) < 0 || (type != SOCK_DGRAM && listen(fd, 1024) < 0)) {
        int error = -errno;
        close(fd);
        return error;
    }
    return fd;
}

struct server {
    const char *name;
    int fd;
    bool datagrams;
};

/* The name is in the log before the visitor hears it. */
static void serve_one(const struct server *server, int log)
{
    struct address from = {.length = sizeof from.is};
    char line[64];
    int length = snprintf(line, sizeof line, "%s\n", server->name);
    int fd = server->fd;

    if (server->datagrams) {
        char text[64];
        if (recvfrom(fd, text, sizeof text, 0, &from.is.any, &from.length) < 0)
            return;
        (void)!write(log, line, (size_t)length);
        sendto(fd, server->name, strlen(server->name), MSG_NOSIGNAL, &from.is.any, from.length);
        return;
    }
    fd = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return;
    (void)!write(log, line, (size_t)length);
    send(fd, server->name, strlen(server->name), MSG_NOSIGNAL);
    close(fd);
}

static int serve(const char *log_path)
{
    const int on = 3; /* for clients and servers */
    struct server servers[] = {
        {"loopback4", listen_at(ip("127.0.0.1", PORT), SOCK_STREAM), false},
        {"far", listen_at(ip("127.9.8.7", PORT), SOCK_STREAM), false},
        {"loopback6", listen_at(ip("::1", PORT), SOCK_STREAM), false},
        {"second", listen_at(ip("127.0.0.1", SECOND), SOCK_STREAM), false},
        {"other4", listen_at(ip(OTHER4, PORT), SOCK_STREAM), false},
        {"other6", listen_at(ip(OTHER6, PORT), SOCK_STREAM), false},
        {"dns", listen_at(ip("127.0.0.1", DNS), SOCK_STREAM), false},
        {"stub", listen_at(ip("127.0.0.53", DNS), SOCK_STREAM), false},
        {"udp", listen_at(ip("127.0.0.1", PORT), SOCK_DGRAM), true},
        {"granted", listen_at(path("granted/sock"), SOCK_STREAM), false},
        {"seq", listen_at(path("granted/seq"), SOCK_SEQPACKET), false},
        {"outside", listen_at(path("out/sock"), SOCK_STREAM), false},
        {"abstract", listen_at(path("@cordon-network"), SOCK_STREAM), false},
        {"race-good", listen_at(ip("127.99.0.1", PORT), SOCK_STREAM), false},
        {"race-a", listen_at(path("gate/a"), SOCK_STREAM), false},
        {"race-b", listen_at(path("gate/b"), SOCK_STREAM), false},
    };
    enum { COUNT = sizeof servers / sizeof servers[0] };
    struct pollfd fds[COUNT];
    int log = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

    for (int i = 0; i < COUNT; i++) {
        if (servers[i].fd < 0) {
            fprintf(stderr, "%s: %s\n", servers[i].name, word(servers[i].fd));
            return 1;
        }
        setsockopt(servers[i].fd, IPPROTO_TCP, TCP_FASTOPEN, &on, sizeof on);
        fcntl(servers[i].fd, F_SETFL, O_NONBLOCK);
        fds[i] = (struct pollfd){.fd = servers[i].fd, .events = POLLIN};
    }
    SAY("ready");
    while (poll(fds, COUNT, -1) > 0)
        for (int i = 0; i < COUNT; i++)
            if (fds[i].revents != 0)
                serve_one(&servers[i], log);
    return 1;
}

/* --- reaching them ---------------------------------------------------------------------------- */

/* A way out, and back to the loopback. */
static void say_unspec(void)
{
    const struct address none = {.length = sizeof none.is.ip4};
    const struct address good = ip("127.0.0.1", PORT);
    const struct address other = ip(OTHER4, PORT);
    int fd = socket_for(&good, SOCK_STREAM);
    const char *fresh = word(connect_to(fd, &none));
    const char *first = visit_by(fd, &good);
    const char *undone = word(connect_to(fd, &none));
    const char *second = visit_by(fd, &other);

    connect_to(fd, &none);
    SAY("unspec %s,%s,%s,%s,%s", fresh, first, undone, second, visit_by(fd, &good));
    close(fd);
}

static const char *finish(int fd)
{
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    int error = 0;
    socklen_t size = sizeof error;

    poll(&wait, 1, 10000);
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0)
        return word(-error);
    wait.events = POLLIN;
    poll(&wait, 1, 10000);
    return hear(fd);
}

static const char *visit_later(struct address at)
{
    int fd = socket_for(&at, SOCK_STREAM | SOCK_NONBLOCK);
    long error = connect_to(fd, &at);
    const char *result = error == 0 || error == -EINPROGRESS ? finish(fd) : word(error);

    close(fd);
    return result;
}

/* The socket is watched already when it is connected. */
static const char *visit_watched(struct address at, int limit)
{
    struct epoll_event event = {.events = EPOLLIN};
    int watch = epoll_create1(EPOLL_CLOEXEC);
    int fd = socket_for(&at, SOCK_STREAM | SOCK_NONBLOCK);
    const char *result = "no_event";

    epoll_ctl(watch, EPOLL_CTL_ADD, fd, &event);
    long error = connect_to(fd, &at);
    if (error < 0 && error != -EINPROGRESS)
        result = word(error);
    else
        /* One that is not connected yet hangs up. */
        while (epoll_wait(watch, &event, 1, limit) == 1)
            if (!(event.events & EPOLLHUP) || (event.events & EPOLLIN)) {
                result = hear(fd);
                break;
            }
    close(fd);
    close(watch);
    return result;
}

/* What the descriptor had before the call it has afterwards. */
static const char *flags_after(struct address at, int flags)
{
    int fd = socket(at.is.any.sa_family, SOCK_STREAM | flags, 0);
    char *text = room();

    connect_to(fd, &at);
    snprintf(text, 64, "%s%s", fcntl(fd, F_GETFL) & O_NONBLOCK ? "N" : "-",
             fcntl(fd, F_GETFD) & FD_CLOEXEC ? "C" : "-");
    close(fd);
    return text;
}

static void say_flags(void)
{
    const struct address at = path("granted/sock");

    SAY("flags %s,%s,%s,%s", flags_after(at, 0), flags_after(at, SOCK_NONBLOCK),
        flags_after(at, SOCK_CLOEXEC), flags_after(at, SOCK_NONBLOCK | SOCK_CLOEXEC));
}

/* Data in the first packet. */
static const char *visit_fast(struct address at, int how)
{
    char hello[] = "hello";
    struct iovec part = {hello, sizeof hello};
    struct mmsghdr message = {
        .msg_hdr = {
            .msg_name = &at.is, .msg_namelen = at.length, .msg_iov = &part, .msg_iovlen = 1}};
    int fd = socket_for(&at, SOCK_STREAM);
    const int one = 1;
    const char *result;
    long sent = 0;

    if (how == 0)
        sent = sendto(fd, hello, sizeof hello, MSG_FASTOPEN, &at.is.any, at.length);
    else if (how == 1)
        sent = sendmsg(fd, &message.msg_hdr, MSG_FASTOPEN);
    else if (how == 2)
        sent = sendmmsg(fd, &message, 1, MSG_FASTOPEN);
    else if (setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &one, sizeof one) == 0 &&
             connect(fd, &at.is.any, at.length) == 0)
        sent = write(fd, hello, sizeof hello);
    else
        sent = -1;
    result = sent < 0 ? word(-errno) : hear(fd);
    /* The server has not read it all: that is a reset, and a name that came before. */
    close(fd);
    return result;
}

static const char *visit_datagram(struct address at)
{
    int fd = socket_for(&at, SOCK_DGRAM);
    const char *result;

    if (fd < 0)
        return word(fd);
    result = sendto(fd, "x", 1, 0, &at.is.any, at.length) < 0 ? word(-errno) : hear(fd);
    close(fd);
    return result;
}

static const char *only_socket(int family, int type, int protocol)
{
    int fd = socket(family, type | SOCK_CLOEXEC, protocol);
    const char *result = fd < 0 ? word(-errno) : "0";

    close(fd);
    return result;
}

static const char *set_option(int family, int level, int option, const void *value, socklen_t size)
{
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const char *result = setsockopt(fd, level, option, value, size) < 0 ? word(-errno) : "0";

    close(fd);
    return result;
}

static void say_options(void)
{
    /* By way of OTHER4, to the loopback. */
    static const unsigned char route[] = {131, 11, 4, 10, 99, 0, 1, 127, 0, 0, 1, 0};
    const int lo = 1;

    SAY("ip_options %s", set_option(AF_INET, IPPROTO_IP, IP_OPTIONS, route, sizeof route));
    SAY("ipv6_rthdr %s", set_option(AF_INET6, IPPROTO_IPV6, IPV6_RTHDR, NULL, 0));
    SAY("bindtodevice %s", set_option(AF_INET, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3));
    SAY("bindtoifindex %s", set_option(AF_INET, SOL_SOCKET, 62, &lo, sizeof lo));
    SAY("unicast_if %s",
        set_option(AF_INET, IPPROTO_IP, IP_UNICAST_IF, &(int){(int)htonl(1)}, sizeof lo));
    SAY("nodelay %s", set_option(AF_INET, IPPROTO_TCP, TCP_NODELAY, &lo, sizeof lo));
}

/* Both ends are ours. */
static const char *visit_own(struct address at, int type)
{
    int server = listen_at(at, type);
    int client = socket_for(&at, type);
    const char *result = server < 0 ? word(server) : NULL;
    int fd;

    if (result == NULL) {
        long error = connect_to(client, &at);
        fd = error < 0 ? -1 : accept4(server, NULL, NULL, SOCK_CLOEXEC);
        result = error < 0 ? word(error) : "own";
        if (fd >= 0)
            send(fd, "own", 3, MSG_NOSIGNAL);
        if (fd >= 0)
            result = hear(client);
        close(fd);
    }
    close(server);
    close(client);
    return result;
}

static const char *visit_seq(struct address at)
{
    int fd = socket_for(&at, SOCK_SEQPACKET);
    const char *result = visit_by(fd, &at);

    close(fd);
    return result;
}

static const char *autobound(void)
{
    struct address at = {.length = sizeof at.is};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    at.is.any.sa_family = AF_UNIX;
    if (bind(fd, &at.is.any, sizeof at.is.any.sa_family) < 0 ||
        getsockname(fd, &at.is.any, &at.length) < 0)
        return word(-errno);
    close(fd);
    return at.length > 2 ? "0" : "no name";
}

static const char *bound(struct address at)
{
    int fd = listen_at(at, SOCK_STREAM);

    close(fd);
    return word(fd);
}

static int say_cases(int limit)
{
    SAY("tcp4 %s", visit(ip("127.0.0.1", PORT)));
    SAY("far %s", visit(ip("127.9.8.7", PORT)));
    SAY("tcp6 %s", visit(ip("::1", PORT)));
    SAY("mapped %s", visit(ip(MAPPED "127.0.0.1", PORT)));
    SAY("any4 %s", visit(ip("0.0.0.0", PORT)));
    SAY("any6 %s", visit(ip("::", PORT)));
    SAY("mapped_any %s", visit(ip(MAPPED "0.0.0.0", PORT)));
    SAY("second %s", visit(ip("127.0.0.1", SECOND)));
    SAY("other4 %s", visit(ip(OTHER4, PORT)));
    SAY("other6 %s", visit(ip(OTHER6, PORT)));
    SAY("mapped_other %s", visit(ip(MAPPED OTHER4, PORT)));
    SAY("dns %s", visit(ip("127.0.0.1", DNS)));
    SAY("stub %s", visit(ip("127.0.0.53", DNS)));
    say_unspec();
    SAY("later %s", visit_later(ip("127.0.0.1", PORT)));
    SAY("later_other %s", visit_later(ip(OTHER4, PORT)));
    SAY("watched %s", visit_watched(ip("127.0.0.1", PORT), limit));
    SAY("fast_sendto %s", visit_fast(ip("127.0.0.1", PORT), 0));
    SAY("fast_sendmsg %s", visit_fast(ip("127.0.0.1", PORT), 1));
    SAY("fast_sendmmsg %s", visit_fast(ip("127.0.0.1", PORT), 2));
    SAY("fast_connect %s", visit_fast(ip("127.0.0.1", PORT), 3));
    SAY("fast_connect_other %s", visit_fast(ip(OTHER4, PORT), 3));
    SAY("mptcp %s", only_socket(AF_INET, SOCK_STREAM, MPTCP));
    SAY("udp %s", visit_datagram(ip("127.0.0.1", PORT)));
    SAY("udp6 %s", only_socket(AF_INET6, SOCK_DGRAM, 0));
    say_options();
    SAY("own4 %s", visit_own(ip("127.0.0.1", SECOND + 1), SOCK_STREAM));
    say_flags();
    SAY("unix_granted %s", visit(path("granted/sock")));
    SAY("unix_seq %s", visit_seq(path("granted/seq")));
    SAY("unix_outside %s", visit(path("out/sock")));
    SAY("unix_link %s", visit(path("./link")));
    SAY("unix_relative %s", visit(path("../out/sock")));
    SAY("unix_missing %s", visit(path("out/missing")));
    SAY("unix_own %s", visit_own(path("./own"), SOCK_STREAM));
    SAY("unix_own_seq %s", visit_own(path("./own-seq"), SOCK_SEQPACKET));
    SAY("unix_bind_granted %s", bound(path("granted/new")));
    SAY("unix_bind_outside %s", bound(path("out/new")));
    SAY("abstract %s", visit(path("@cordon-network")));
    SAY("abstract_own %s", visit_own(path("@cordon-network-own"), SOCK_STREAM));
    SAY("autobind %s", autobound());
    return 0;
}

/* --- what is wrong in other ways -------------------------------------------------------------- */

static void say_errors_of_connect(void)
{
    const struct address good = ip("127.0.0.1", PORT);
    const struct address six = ip("::1", PORT);
    const struct address other = ip(OTHER4, PORT);
    const struct address own = path("./sock");
    int four = socket_for(&good, SOCK_STREAM);
    int local = socket_for(&own, SOCK_STREAM);
    int file = open("file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    SAY("closed %s", visit(ip("127.0.0.1", CLOSED)));
    SAY("closed_later %s", visit_later(ip("127.0.0.1", CLOSED)));
    SAY("no_descriptor %s", word(connect_to(999, &good)));
    SAY("no_descriptor_nor_address %s", word(connect(-100, NULL, 16) < 0 ? -errno : 0));
    SAY("no_socket %s", word(connect_to(file, &good)));
    SAY("no_address %s", word(connect(four, NULL, good.length) < 0 ? -errno : 0));
    SAY("no_length %s", word(connect(four, &good.is.any, 0) < 0 ? -errno : 0));
    SAY("short %s", word(connect(four, &good.is.any, 8) < 0 ? -errno : 0));
    SAY("long %s", word(connect(four, &good.is.any, 4096) < 0 ? -errno : 0));
    SAY("negative %s", word(connect(four, &good.is.any, (socklen_t)-1) < 0 ? -errno : 0));
    SAY("six_by_four %s", word(connect_to(four, &six)));
    SAY("four_by_unix %s", word(connect_to(local, &other)));
    SAY("unix_by_four %s", word(connect_to(four, &own)));
    SAY("missing %s", word(connect_to(local, &own)));
    SAY("file %s", visit(path("./file")));
    SAY("below_file %s", visit(path("./file/x")));
    SAY("once %s", visit_by(four, &good));
    SAY("twice %s", word(connect_to(four, &good)));
    SAY("listen_connected %s", word(listen(four, 1) < 0 ? -errno : 0));
    close(four);
    close(local);
    close(file);
}

static void say_errors_of_bind(void)
{
    const struct address good = ip("127.0.0.1", SECOND + 2);
    const struct address six = ip("::1", SECOND + 2);
    const struct address own = path("./bound");
    const struct address none = without_family(ip("127.0.0.1", SECOND + 3));
    int four = socket_for(&good, SOCK_STREAM);
    int again = socket_for(&good, SOCK_STREAM);
    int local = socket_for(&own, SOCK_STREAM);
    int other = socket_for(&own, SOCK_STREAM);

#define BIND(fd, at) (bind(fd, &(at).is.any, (at).length) < 0 ? -errno : 0)
    SAY("bind_short %s", word(bind(four, &good.is.any, 8) < 0 ? -errno : 0));
    SAY("bind_six %s", word(BIND(four, six)));
    SAY("bind_unspec %s", word(BIND(four, none)));
    SAY("bind_unix %s", word(BIND(four, own)));
    SAY("bind %s", word(BIND(four, good)));
    SAY("bind_twice %s", word(BIND(four, good)));
    SAY("listen %s", word(listen(four, 1) < 0 ? -errno : 0));
    SAY("bind_used %s", word(BIND(again, good)));
    SAY("listen_again %s", word(listen(four, 5) < 0 ? -errno : 0));
    SAY("connect_listening %s", word(connect_to(four, &good)));
    SAY("local_unbound %s", word(listen(local, 1) < 0 ? -errno : 0));
    SAY("local_bind %s", word(BIND(local, own)));
    SAY("local_twice %s", word(BIND(local, own)));
    SAY("local_quiet %s", word(connect_to(other, &own)));
    SAY("local_listen %s", word(listen(local, 1) < 0 ? -errno : 0));
    SAY("local_used %s", word(BIND(other, own)));
    SAY("local_visit %s", word(connect_to(other, &own)));
    SAY("local_type %s", visit_seq(own));
    SAY("local_four %s", word(BIND(local, good)));
    SAY("listen_nothing %s", word(listen(999, 1) < 0 ? -errno : 0));
    SAY("listen_input %s", word(listen(0, 1) < 0 ? -errno : 0));
    unlink("bound");
    close(four);
    close(again);
    close(local);
    close(other);
}

/* --- being reached ---------------------------------------------------------------------------- */

static int listeners[16];
static int listening;

static void say_listen(const char *name, struct address at, int only6)
{
    const int one = 1;
    struct address got = {.length = sizeof got.is};
    int family = at.is.any.sa_family == AF_UNSPEC ? AF_INET : at.is.any.sa_family;
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    long error = 0;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (only6 >= 0)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only6, sizeof only6);
    if ((at.is.ip4.sin_port != 0 && bind(fd, &at.is.any, at.length) < 0) || listen(fd, 16) < 0)
        error = -errno;
    getsockname(fd, &got.is.any, &got.length);
    if (error == 0)
        listeners[listening++] = fd;
    if (at.is.ip4.sin_port == 0)
        SAY("%s %s %d", name, word(error), ntohs(got.is.ip4.sin_port));
    else
        SAY("%s %s", name, word(error));
}

static int listen_all(void)
{
    struct pollfd fds[16];
    say_listen("four", ip("127.0.0.1", 7101), -1);
    say_listen("six", ip("::1", 7102), -1);
    say_listen("any4", ip("0.0.0.0", 7103), -1);
    say_listen("any6", ip("::", 7104), 0);
    say_listen("only6", ip("::", 7105), 1);
    say_listen("unspec", without_family(ip("0.0.0.0", 7106)), -1);
    say_listen("mapped", ip(MAPPED "127.0.0.1", 7107), 0);
    say_listen("other4", ip(OTHER4, 7108), -1);
    say_listen("other6", ip(OTHER6, 7109), -1);
    say_listen("mapped_other", ip(MAPPED OTHER4, 7110), 0);
    say_listen("dns", ip("127.0.0.77", DNS), -1);
    say_listen("unbound4", ip("127.0.0.1", 0), -1);
    say_listen("unbound6", ip("::1", 0), 0);
    SAY("ready");
    for (int i = 0; i < listening; i++)
        fds[i + 1] = (struct pollfd){.fd = listeners[i], .events = POLLIN};
    fds[0] = (struct pollfd){.fd = 0, .events = POLLIN};
    while (poll(fds, (nfds_t)listening + 1, -1) > 0 && fds[0].revents == 0)
        for (int i = 1; i <= listening; i++)
            if (fds[i].revents != 0) {
                int fd = accept4(fds[i].fd, NULL, NULL, SOCK_CLOEXEC);
                send(fd, "inside", 6, MSG_NOSIGNAL);
                close(fd);
            }
    return 0;
}

static int reach(char **ports)
{
    static const char *const hosts[] = {"127.0.0.1", "::1", OTHER4, OTHER6};

    for (; *ports != NULL; ports++) {
        printf("%s", *ports);
        for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++)
            printf(" %s", visit(ip(hosts[i], number_of(*ports))));
        SAY("%s", "");
    }
    return 0;
}

/* --- in both directions ----------------------------------------------------------------------- */

enum { MESSAGES = 200 };

static bool send_all(int fd, const char *text)
{
    return send(fd, text, strlen(text) + 1, MSG_NOSIGNAL) == (ssize_t)strlen(text) + 1;
}

static bool hear_all(int fd, const char *text)
{
    char got[64] = "";
    size_t want = strlen(text) + 1;

    return recv(fd, got, want, MSG_WAITALL) == (ssize_t)want && strcmp(got, text) == 0;
}

/* One asks and the other answers. */
static bool talk(int fd, const char *say, const char *answer, bool first)
{
    for (int i = 0; i < MESSAGES; i++)
        if (first ? !send_all(fd, say) || !hear_all(fd, answer)
                  : !hear_all(fd, answer) || !send_all(fd, say))
            return false;
    return true;
}

static int port_of(int fd)
{
    struct address at = {.length = sizeof at.is};

    return getsockname(fd, &at.is.any, &at.length) < 0 ? -1 : ntohs(at.is.ip4.sin_port);
}

static int plugin(int port)
{
    const struct address parent = ip("127.0.0.1", port);
    int server = listen_at(ip("127.0.0.1", 0), SOCK_STREAM);
    int back = socket_for(&parent, SOCK_STREAM);

    if (server < 0 || connect_to(back, &parent) < 0) {
        fprintf(stderr, "plugin: %s\n", server < 0 ? word(server) : word(-errno));
        return 1;
    }
    SAY("1|1|tcp|127.0.0.1:%d|grpc", port_of(server));
    int fd = accept4(server, NULL, NULL, SOCK_CLOEXEC);
    return talk(fd, "pong", "ping", false) && talk(back, "question", "reply", true) ? 0 : 1;
}

static int handshake(char **command)
{
    static const char greeting[] = "1|1|tcp|127.0.0.1:";
    int server = listen_at(ip("127.0.0.1", 0), SOCK_STREAM);
    char number[16];
    char line[128] = "";
    int said[2];
    int port = 0;
    int status;
    int count = 0;

    snprintf(number, sizeof number, "%d", port_of(server));
    if (pipe2(said, O_CLOEXEC) < 0)
        return 1;
    pid_t child = fork();
    if (child == 0) {
        char *words[64];
        for (; command[count] != NULL && count < 62; count++)
            words[count] = command[count];
        words[count++] = number;
        words[count] = NULL;
        dup2(said[1], 1);
        execvp(words[0], words);
        _exit(127);
    }
    close(said[1]);
    (void)!read(said[0], line, sizeof line - 1);
    if (strncmp(line, greeting, strlen(greeting)) != 0)
        return 1;
    port = number_of(line + strlen(greeting));
    const struct address at = ip("127.0.0.1", port);
    int to = socket_for(&at, SOCK_STREAM);
    long error = connect_to(to, &at);
    int from = error < 0 ? -1 : accept4(server, NULL, NULL, SOCK_CLOEXEC);
    bool well =
        error == 0 && talk(to, "ping", "pong", true) && talk(from, "reply", "question", false);
    if (waitpid(child, &status, 0) < 0 || status != 0)
        well = false;
    SAY("%d messages", well ? 4 * MESSAGES : 0);
    return well ? 0 : 1;
}

/* --- races ------------------------------------------------------------------------------------ */

static union {
    struct sockaddr any;
    struct sockaddr_in ip4;
    struct sockaddr_un path;
} flipped;
static atomic_bool done;
static const char *flip_to[2];

static void *flip(void *data)
{
    volatile unsigned char *last = data;
    const unsigned char one = (unsigned char)flip_to[0][0];
    const unsigned char two = (unsigned char)flip_to[1][0];

    while (!done) {
        *last = one;
        for (volatile int i = 0; i < 300; i++)
            ;
        *last = two;
        for (volatile int i = 0; i < 300; i++)
            ;
    }
    return NULL;
}

/* By what the socket itself says, whose server it is. */
static void tally(int fd, int counts[3])
{
    struct address peer = {.length = sizeof peer.is};

    memset(&peer.is, 0, sizeof peer.is);
    if (getpeername(fd, &peer.is.any, &peer.length) < 0)
        return;
    if (peer.is.any.sa_family == AF_INET)
        counts[ntohl(peer.is.ip4.sin_addr.s_addr) >> 24 != 127]++;
    else
        counts[strstr(peer.is.path.sun_path, "/gate/a") == NULL]++;
}

static void run_race(const char *name, int tries, size_t length, unsigned char *where)
{
    const struct linger at_once = {1, 0};
    pthread_t thread;
    int counts[3] = {0, 0, 0};

    done = false;
    pthread_create(&thread, NULL, flip, where);
    for (int i = 0; i < tries; i++) {
        int fd = socket(flipped.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        if (connect(fd, &flipped.any, (socklen_t)length) == 0)
            tally(fd, counts);
        else if (errno == EACCES)
            counts[2]++;
        close(fd);
    }
    done = true;
    pthread_join(thread, NULL);
    SAY("%s tries %d good %d bad %d refused %d", name, tries, counts[0], counts[1], counts[2]);
}

/* One byte makes the difference: 127.99.0.1 or 10.99.0.1, .../gate/a or .../gate/b. */
static int race(int tries)
{
    const struct address four = ip(OTHER4, PORT);
    const struct address local = path("gate/a");

    memcpy(&flipped, &four.is, sizeof flipped.ip4);
    flip_to[0] = "\x7f", flip_to[1] = "\x0a";
    run_race("ip", tries, sizeof flipped.ip4, (unsigned char *)&flipped.ip4.sin_addr);
    memcpy(&flipped, &local.is, sizeof flipped.path);
    flip_to[0] = "a", flip_to[1] = "b";
    run_race("unix", tries, sizeof flipped.path,
             (unsigned char *)strrchr(flipped.path.sun_path, '/') + 1);
    return 0;
}

/* A socket that waits for an answer is bound to the loopback; given up, it is bound nowhere. If
 * that happens between a look at it and listen(2), it listens everywhere. */
static _Atomic int unsettled = -1;

static void dawdle(unsigned *seed, int most)
{
    for (volatile int i = rand_r(seed) % most; i > 0; i--)
        ;
}

static void *unsettle(void *data)
{
    unsigned seed = 1;

    (void)data;
    while (!done) {
        if (unsettled < 0)
            continue;
        dawdle(&seed, 20000);
        shutdown(unsettled, SHUT_RDWR);
        unsettled = -1;
    }
    return NULL;
}

static int listen_race(int tries)
{
    struct address full = ip("127.0.0.1", 7200);
    int server = socket_for(&full, SOCK_STREAM);
    unsigned seed = 2;
    int everywhere = 0;
    int listens = 0;
    pthread_t thread;

    if (bind(server, &full.is.any, full.length) < 0 || listen(server, 0) < 0)
        return 1;
    for (int i = 0; i < 3; i++)
        connect_to(socket_for(&full, SOCK_STREAM | SOCK_NONBLOCK), &full);
    pthread_create(&thread, NULL, unsettle, NULL);
    for (int i = 0; i < tries; i++) {
        struct address at = {.length = sizeof at.is};
        int fd = socket_for(&full, SOCK_STREAM | SOCK_NONBLOCK);
        connect_to(fd, &full);
        unsettled = fd;
        dawdle(&seed, 2000);
        if (listen(fd, 1) == 0) {
            listens++;
            getsockname(fd, &at.is.any, &at.length);
            everywhere += at.is.ip4.sin_addr.s_addr == htonl(INADDR_ANY);
        }
        while (unsettled >= 0)
            ;
        close(fd);
    }
    done = true;
    pthread_join(thread, NULL);
    SAY("tries %d listens %d everywhere %d", tries, listens, everywhere);
    return 0;
}

/* --- around it -------------------------------------------------------------------------------- */

static int set_up(void)
{
    struct ifreq request = {.ifr_name = "lo"};
    struct {
        struct in6_addr address;
        uint32_t prefix;
        int index;
    } six = {.prefix = 128};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    int fd6 = socket(AF_INET6, SOCK_DGRAM, 0);
    struct address other = ip(OTHER4, 0);

    request.ifr_flags = IFF_UP;
    if (ioctl(fd, SIOCSIFFLAGS, &request) < 0 || ioctl(fd6, SIOCGIFINDEX, &request) < 0)
        return 1;
    six.index = request.ifr_ifindex;
    inet_pton(AF_INET6, OTHER6, &six.address);
    if (ioctl(fd6, SIOCSIFADDR, &six) < 0)
        return 1;
    memset(&request, 0, sizeof request);
    strcpy(request.ifr_name, "lo:1");
    memcpy(&request.ifr_addr, &other.is, sizeof request.ifr_addr);
    return ioctl(fd, SIOCSIFADDR, &request) < 0;
}

static int without_getfd(char **command)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_getfd, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof code / sizeof code[0], code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        return 1;
    execvp(command[0], command);
    return 127;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const char *first = argc > 2 ? argv[2] : "";

    if (strcmp(what, "setup") == 0)
        return set_up();
    if (strcmp(what, "serve") == 0 && argc == 4) {
        dir = first;
        return serve(argv[3]);
    }
    if (strcmp(what, "cases") == 0 && argc == 4) {
        dir = first;
        return say_cases(number_of(argv[3]));
    }
    if (strcmp(what, "errors") == 0) {
        say_errors_of_connect();
        say_errors_of_bind();
        return 0;
    }
    if (strcmp(what, "listen") == 0)
        return listen_all();
    if (strcmp(what, "reach") == 0)
        return reach(argv + 2);
    if (strcmp(what, "handshake") == 0)
        return handshake(argv + 2);
    if (strcmp(what, "plugin") == 0)
        return plugin(number_of(first));
    if (strcmp(what, "race") == 0 && argc == 4) {
        dir = argv[3];
        return race(number_of(first));
    }
    if (strcmp(what, "listen_race") == 0)
        return listen_race(number_of(first));
    if (strcmp(what, "without_getfd") == 0)
        return without_getfd(argv + 2);
    return 2;
}
