/* SPDX-License-Identifier: MIT */
/* Connecting, while the address changes. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "flip.h"
#include "raw.h"

/* Whether it was connected with who was not to be reached. */
static bool is_peer(long fd, unsigned port)
{
    struct sockaddr_in peer;
    socklen_t size = sizeof peer;

    return RAW(SYS_getpeername, fd, &peer, &size) == 0 && peer.sin_port == htons((uint16_t)port);
}

static void connect_internet(unsigned long calls, unsigned allowed, unsigned denied)
{
    static struct sockaddr_in address;
    const uint16_t one = htons((uint16_t)allowed);
    const uint16_t two = htons((uint16_t)denied);

    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    flip_bytes(&address.sin_port, &one, &two, sizeof one);
    for (unsigned long i = 0; i < calls; i++) {
        const struct linger gone = {.l_onoff = 1};
        long fd = RAW(SYS_socket, AF_INET, SOCK_STREAM, 0);
        long result = RAW(SYS_connect, fd, &address, sizeof address);
        flip_count("connect", "a port", result, result == 0 && is_peer(fd, denied));
        RAW(SYS_setsockopt, fd, SOL_SOCKET, SO_LINGER, &gone, sizeof gone);
        RAW(SYS_close, fd);
    }
    flip_stop();
}

/* The one inside answers "i", the other "o". */
static void connect_path(unsigned long calls)
{
    static _Alignas(8) struct {
        char before[6];
        struct sockaddr_un is; /* so that the path begins with a word */
    } address;
    static const char one[8] = "s";
    static const char two[8] = "../s";

    address.is.sun_family = AF_UNIX;
    flip_bytes(address.is.sun_path, one, two, 8);
    for (unsigned long i = 0; i < calls; i++) {
        char word = 0;
        long fd = RAW(SYS_socket, AF_UNIX, SOCK_STREAM, 0);
        long result = RAW(SYS_connect, fd, &address.is, sizeof address.is);
        if (result == 0)
            RAW(SYS_read, fd, &word, 1);
        flip_count("connect", "../s", result, word == 'o');
        RAW(SYS_close, fd);
    }
    flip_stop();
}

int flip_connect(unsigned long calls, unsigned allowed, unsigned denied)
{
    connect_path(calls / 2);
    connect_internet(calls / 2, allowed, denied);
    return 0;
}
