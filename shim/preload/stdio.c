/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "call.h"
#include "hooks.h"
#include "next.h"

/* The flags of open(2) for a mode of fopen(3), as glibc reads it; -EINVAL. */
static int flags_of(const char *mode)
{
    int flags;

    switch (mode[0]) {
    case 'r':
        flags = O_RDONLY;
        break;
    case 'w':
        flags = O_WRONLY | O_CREAT | O_TRUNC;
        break;
    case 'a':
        flags = O_WRONLY | O_CREAT | O_APPEND;
        break;
    default:
        return -EINVAL;
    }
    for (int i = 1; i < 7 && mode[i] != '\0' && mode[i] != ','; i++) {
        if (mode[i] == '+')
            flags = (flags & ~O_ACCMODE) | O_RDWR;
        else if (mode[i] == 'x')
            flags |= O_EXCL;
        else if (mode[i] == 'e')
            flags |= O_CLOEXEC;
    }
    return flags;
}

/* Whether the mode asks for more than fdopen(3) can give. */
static bool needs_name(const char *mode)
{
    return strpbrk(mode, ",mc") != NULL;
}

/* The mode for opening once more what is open already: it is there by now. */
static void without_x(const char *mode, char *out, size_t size)
{
    size_t n = 0;

    for (bool options = false; *mode != '\0' && n < size - 1; mode++) {
        options = options || *mode == ',';
        if (*mode != 'x' || options)
            out[n++] = *mode;
    }
    out[n] = '\0';
}

/* Opens by the name of a descriptor that was judged. */
static FILE *open_again(int fd, const char *mode, FILE *stream)
{
    struct fd_name name = call_fd_name(fd);
    char plain[128];

    without_x(mode, plain, sizeof plain);
    return stream == NULL ? NEXT(fopen)(name.text, plain) : NEXT(freopen)(name.text, plain, stream);
}

static long by_name(int fd, const char *mode, FILE *stream)
{
    FILE *opened = open_again(fd, mode, stream);

    return call_end(fd, opened == NULL ? -errno : (long)opened);
}

long stdio_open(const char *path, const char *mode)
{
    int flags = flags_of(mode);
    long fd = flags < 0 ? flags : open_at(AT_FDCWD, path, flags, 0666);
    FILE *stream;

    if (fd < 0)
        return fd;
    if (needs_name(mode))
        return by_name((int)fd, mode, NULL);
    /* fopen stands at the end of what it appends to, fdopen where it finds the descriptor. */
    if (flags & O_APPEND)
        CALL(SYS_lseek, fd, 0, SEEK_END);
    stream = fdopen((int)fd, mode);
    return stream == NULL ? call_end((int)fd, -errno) : (long)stream;
}

/* Without a path the stream's own file is opened anew, perhaps for more than it was. */
long stdio_reopen(const char *path, const char *mode, FILE *stream)
{
    int flags = flags_of(mode);
    struct fd_name own = call_fd_name(fileno(stream) < 0 ? 0 : fileno(stream));
    long fd = flags < 0 ? flags : open_at(AT_FDCWD, path == NULL ? own.text : path, flags, 0666);

    if (fd >= 0)
        return by_name((int)fd, mode, stream);
    NEXT(freopen)("", "r", stream); /* fails, and closes the stream as it has to be */
    return fd;
}
