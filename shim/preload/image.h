/* SPDX-License-Identifier: MIT */
/*
 * image.h - what a confined process knows about its confinement, and hands to its children.
 *
 * An image is a block of bytes without pointers: how the process is held, some texts, and the
 * policy in its flat form. It is made once, by the command (or by a shim that was preloaded by
 * hand), and goes from exec to exec as one environment string. A descriptor would not do: programs
 * close all of theirs, and posix_spawn runs where no hook can open one.
 *
 * Reading neither allocates from the heap nor locks nor touches errno: it happens before main, and
 * perhaps before any constructor.
 */
#ifndef CORDON_IMAGE_H
#define CORDON_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "policy.h"

#define IMAGE_VARIABLE "CORDON_IMAGE"

/* One environment string holds at most 128 KiB; as text an image takes 4/3 of its size. */
#define IMAGE_MAX (96 * 1024)

enum image_mode {
    MODE_ENFORCE,
    MODE_OBSERVE, /* what would be refused is recorded and let through */
};

enum image_net { NET_DENY, NET_LOOPBACK, NET_OPEN };

/* What stands behind the shim for the children of this process. */
enum image_wall {
    WALL_NONE, /* nothing, and the user asked for that: children that the shim cannot enter are
                  refused */
    WALL_HELD, /* the kernel holds a wall around this process, children inherit it */
    WALL_WRAP, /* children are run by `cordon`, which builds a wall around each */
};

/* Who sees the calls that do not go through the shim. */
enum image_supervise {
    SUPERVISE_NONE,
    SUPERVISE_GATE, /* a supervisor; what the shim has judged passes it by */
    SUPERVISE_ALL,  /* a supervisor, and no shim: it judges every call */
};

enum image_text {
    IMAGE_ROOT,    /* the workspace, canonical */
    IMAGE_SHIM,    /* libcordon-shim.so, absolute */
    IMAGE_COMMAND, /* the cordon command, absolute */
    IMAGE_BACKEND, /* "landlock", "bwrap" ... */
    IMAGE_LOG,     /* a file, absolute, or "stderr", or "" */
    IMAGE_TMP,     /* the private directory for temporary files, or "" */
    IMAGE_PORTS,   /* with NET_LOOPBACK: the only ports, "80,443"; or "" */
    IMAGE_TEXTS,
};

struct image {
    uint32_t magic;
    uint32_t version;
    uint32_t size;
    uint32_t mode;
    uint32_t net;
    uint32_t wall;
    uint32_t texts[IMAGE_TEXTS]; /* offsets from the start, each terminated */
    uint32_t policy;             /* offset, a multiple of 8; it reaches to the end */
    uint32_t supervise;
};

struct image_parts {
    enum image_mode mode;
    enum image_net net;
    enum image_wall wall;
    enum image_supervise supervise;
    const char *texts[IMAGE_TEXTS]; /* NULL is "" */
    const struct policy *policy;
};

/* The image of these parts, in memory that the caller frees. NULL: no memory, or over IMAGE_MAX. */
struct image *image_new(const struct image_parts *parts);

/* The same in memory that is there, aligned to 8: how many bytes it takes (0: over IMAGE_MAX), and
 * the image. */
size_t image_size(const struct image_parts *parts);
struct image *image_write(const struct image_parts *parts, void *memory);

const char *image_text(const struct image *image, enum image_text which);
const struct policy *image_policy(const struct image *image);

/* The image as an environment string, "CORDON_IMAGE=...": its size with the terminator, and the
 * string itself, written to `out` of that size. */
size_t image_variable_size(const struct image *image);
void image_variable(const struct image *image, char *out);

/* Reads what follows the "=" into `memory`, aligned to 8 and of `size` bytes (IMAGE_MAX is enough),
 * and checks all of it. NULL if it is an image, else what is wrong with it. */
const char *image_read(const char *text, void *memory, size_t size);

/* The same for the bytes of an image that are in memory already. */
const char *image_check(const struct image *image, size_t size);

/* What an image is made of, with another policy. */
struct image_parts image_parts_of(const struct image *image, const struct policy *policy);

#endif
