/* SPDX-License-Identifier: MIT */
/*
 * bind_linux.c - the functions that the dynamic linker finds in front of libc's.
 *
 * Each is defined under a name of our own and given the symbol's by an assembler label: so libc's
 * headers may declare, inline or rename the real one as they like. This is the one place that sets
 * errno.
 */
#ifdef _FILE_OFFSET_BITS
#error "the shim needs the plain names: without _FILE_OFFSET_BITS"
#endif

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "hooks.h"

typedef DIR *DIR_STREAM; /* in the table DIR is a descriptor */

static long settle(long value, long failure)
{
    if (value >= 0 || value < -4095)
        return value;
    errno = (int)-value;
    return failure;
}

/* What a function of that type returns when it fails. */
#define FAILURE(result) _Generic((result)0, int : -1L, long : -1L, default : 0L)

#define DECLARE(result, symbol, parameters) \
    __attribute__((visibility("default"))) result hook_##symbol parameters __asm__(#symbol)

#define HOOK(result, symbol, parameters, body, ...)   \
    DECLARE(result, symbol, parameters);              \
    result hook_##symbol parameters                   \
    {                                                 \
        return (result)settle(body, FAILURE(result)); \
    }

#define VHOOK(result, symbol, parameters, last, body, ...) \
    DECLARE(result, symbol, parameters);                   \
    result hook_##symbol parameters                        \
    {                                                      \
        va_list args;                                      \
        va_start(args, last);                              \
        long value = body;                                 \
        va_end(args);                                      \
        return (result)settle(value, FAILURE(result));     \
    }

#define ALIAS(name, symbol)               \
    __attribute__((visibility("default"), \
                   alias(#symbol))) __typeof__(hook_##symbol) hook_##name __asm__(#name);

#define EXAMPLE(symbol, ...)
#define SYSCALL(number, how, body)

/* The old names of the stat family say which layout they mean: 0 is the kernel's and 1 libc's, here
 * one. */
static long stat_by(int version, int dir, const char *path, struct stat *st, int flags)
{
    return version == 0 || version == 1 ? stat_at(dir, path, st, flags) : -EINVAL;
}

/* What _chk functions are for. */
static size_t checked(size_t size, size_t room)
{
    if (size > room)
        abort();
    return size;
}

#include "hooks.def"
