/* SPDX-License-Identifier: MIT */
/* syscall(2): what takes a path goes the way of the function of that name. */
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/stat.h>
#include <sys/syscall.h>

#include "call.h"
#include "hooks.h"

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

#define HOOK(result, symbol, parameters, body, ...)
#define VHOOK(result, symbol, parameters, last, body, ...)
#define ALIAS(alias, symbol)
#define EXAMPLE(symbol, ...)

#define N(i)            ((int)a[i])
#define FD(i)           ((int)a[i])
#define PATH(i)         ((char *)a[i])
#define MODE(i)         ((mode_t)a[i])
#define OPEN_MODE(i, f) ((mode_t)a[i])
#define IN(i, type)     ((void *)a[i])
#define OUT(i, type)    ((void *)a[i])
#define HOW(i, n)       ((void *)a[i])
#define BYTES(i, n)     ((void *)a[i])
#define ROOM(i, n)      ((void *)a[i])

long generic(long number, va_list args)
{
    long a[6];

    for (int i = 0; i < 6; i++)
        a[i] = va_arg(args, long);
    switch (number) {
#define SYSCALL(name, how, body) \
    case SYS_##name:             \
        return body;
#include "hooks.def"
    default:
        return os_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    }
}
