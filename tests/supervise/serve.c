/* SPDX-License-Identifier: MIT */
/*
 * usage: serve ALLOWED DENIED
 *
 * Listens at both paths and on two ports of the loopback. Prints the ports, and when it is told to
 * end how many came to the first path, the second one, the first port and the second one. By a path
 * it says "i" or "o".
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { SERVERS = 4 };

static volatile sig_atomic_t over;

static void stop(int unused)
{
    (void)unused;
    over = 1;
}

static int listen_path(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    unlink(path);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || listen(fd, 1024) < 0)
        perror(path);
    return fd;
}

static int listen_port(unsigned *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || listen(fd, 1024) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) < 0)
        perror("a port");
    *port = ntohs(address.sin_port);
    return fd;
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = stop};
    unsigned long came[SERVERS] = {0};
    struct pollfd servers[SERVERS];
    unsigned ports[2];

    if (argc != 3)
        return 2;
    sigaction(SIGTERM, &action, NULL);
    servers[0].fd = listen_path(argv[1]);
    servers[1].fd = listen_path(argv[2]);
    servers[2].fd = listen_port(&ports[0]);
    servers[3].fd = listen_port(&ports[1]);
    printf("%u %u\n", ports[0], ports[1]);
    fflush(stdout);
    while (!over) {
        for (int i = 0; i < SERVERS; i++)
            servers[i].events = POLLIN;
        if (poll(servers, SERVERS, -1) < 0)
            continue;
        for (int i = 0; i < SERVERS; i++) {
            int fd = servers[i].revents != 0 ? accept(servers[i].fd, NULL, NULL) : -1;
            if (fd < 0)
                continue;
            came[i]++;
            if (i < 2 && send(fd, i == 0 ? "i" : "o", 1, MSG_NOSIGNAL) != 1)
                came[i]--;
            close(fd);
        }
    }
    printf("%lu %lu %lu %lu\n", came[0], came[1], came[2], came[3]);
    return 0;
}
