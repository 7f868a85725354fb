/* SPDX-License-Identifier: MIT */
/*
 * reference.h - where a path leads, found the simple, slow way: texts, lstat and readlink.
 *
 * Right only while nobody changes the tree. It shares no line with what it is to test.
 */
#ifndef FUZZ_REFERENCE_H
#define FUZZ_REFERENCE_H

#include <stdbool.h>

#include "tree.h"

/* Where a relative path starts. */
struct origin {
    char text[TEXT_SIZE]; /* canonical */
    bool gone;            /* deleted */
    int error;            /* not 0: no relative path starts here */
};

enum last {
    LAST_FOLLOWED,
    LAST_SEEN,  /* a link itself, unless a slash follows it */
    LAST_NAMED, /* a name in a directory, whatever it is and whatever follows it */
};

struct found {
    int error;      /* why the path leads nowhere; ENOENT only if a directory is missing */
    bool exists;    /* whether there is something */
    bool object;    /* it has no place: a pipe, a memfd */
    bool named;     /* the last component is a real name */
    bool directory; /* what is there is a directory */
    int links;      /* followed on the way */
    char place[TEXT_SIZE];
};

void reference_resolve(const struct origin *origin, const char *path, enum last last,
                       struct found *found);

#endif
