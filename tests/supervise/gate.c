/* SPDX-License-Identifier: MIT */
/*
 * usage: gate none|forged NAME=PATH... net=PORT unix=PATH
 *
 * Makes calls on the paths, by the gate of the shim, mapped by itself, or without. Prints what came
 * of each: `NAME CALL ok`, or the errno's name. The calls are read, stat and chmod, for `net` and
 * `unix` connect.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "raw.h"
#include "word.h"

static bool forged;

/* At the gate lies `syscall; ret`. */
static long call(long number, long a, long b, long c, long d)
{
#if defined __x86_64__
    if (forged) {
        register long r10 __asm__("r10") = d;
        const unsigned long gate = GATE_ADDRESS;
        __asm__ volatile("sub $128, %%rsp; call *%[gate]; add $128, %%rsp"
                         : "+a"(number)
                         : "D"(a), "S"(b), "d"(c), "r"(r10), [gate] "r"(gate)
                         : "rcx", "r11", "memory");
        return number;
    }
#endif
    return RAW(number, a, b, c, d);
}

static bool forge(void)
{
#if defined __x86_64__
    static const unsigned char code[] = GATE_CODE;
    void *gate = mmap((void *)GATE_ADDRESS, 4096, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

    if (gate != (void *)GATE_ADDRESS)
        return false;
    memcpy(gate, code, sizeof code);
    return mprotect(gate, 4096, PROT_READ | PROT_EXEC) == 0;
#else
    return false;
#endif
}

static void print(const char *name, const char *what, long result)
{
    printf("%s %s %s\n", name, what, result >= 0 ? "ok" : strerrorname_np((int)-result));
}

static void try_path(const char *name, const char *path)
{
    struct stat st;
    char byte;
    long fd = call(SYS_openat, AT_FDCWD, (long)path, O_RDONLY, 0);

    print(name, "read", fd < 0 ? fd : RAW(SYS_read, fd, &byte, 1));
    print(name, "stat", call(SYS_newfstatat, AT_FDCWD, (long)path, (long)&st, 0));
    fd = call(SYS_openat, AT_FDCWD, (long)path, O_WRONLY | O_APPEND, 0);
    print(name, "write", fd < 0 ? fd : RAW(SYS_write, fd, "x", 1));
    print(name, "chmod", call(SYS_fchmodat, AT_FDCWD, (long)path, 0604, 0));
}

static void try_port(const char *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    long fd = call(SYS_socket, AF_INET, SOCK_STREAM, 0, 0);

    address.sin_port = htons((uint16_t)strtoul(port, NULL, 10));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    print("net", "connect", fd < 0 ? fd : call(SYS_connect, fd, (long)&address, sizeof address, 0));
}

static void try_socket(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    long fd = call(SYS_socket, AF_UNIX, SOCK_STREAM, 0, 0);

    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    print("unix", "connect",
          fd < 0 ? fd : call(SYS_connect, fd, (long)&address, sizeof address, 0));
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    forged = strcmp(argv[1], "forged") == 0;
    if (forged && !forge())
        return 3;
    for (int i = 2; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        if (value == NULL)
            return 2;
        *value++ = '\0';
        if (strcmp(argv[i], "net") == 0)
            try_port(value);
        else if (strcmp(argv[i], "unix") == 0)
            try_socket(value);
        else
            try_path(argv[i], value);
    }
    return 0;
}
