/* SPDX-License-Identifier: MIT */
#include "hand_in.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool append(int fd, const void *bytes, size_t size)
{
    return write(fd, bytes, size) == (ssize_t)size;
}

/* Nobody can change what is sealed, whoever has it. */
static int seal(int fd, bool whole)
{
    const int seals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;

    if (fd >= 0 && whole && fcntl(fd, F_ADD_SEALS, seals) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

int hand_in_image(const struct image *image)
{
    int fd = memfd_create("cordon-image", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    return seal(fd, fd >= 0 && append(fd, image, image->size));
}

/* What the system has there. */
static bool append_own(int fd)
{
    char bytes[4096];
    int own = open("/etc/ld.so.preload", O_RDONLY | O_CLOEXEC);
    bool whole = true;
    ssize_t n;

    if (own < 0)
        return true;
    while (whole && (n = read(own, bytes, sizeof bytes)) > 0)
        whole = append(fd, bytes, (size_t)n);
    close(own);
    return whole;
}

int hand_in_preload(const struct image *image)
{
    const char *shim = image_text(image, IMAGE_SHIM);
    int fd = -1;

    if (image->supervise == SUPERVISE_GATE)
        fd = memfd_create("cordon-preload", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    return seal(fd,
                fd >= 0 && append(fd, shim, strlen(shim)) && append(fd, "\n", 1) && append_own(fd));
}
