/* SPDX-License-Identifier: MIT */
/*
 * ask.h - where a path leads, by letting the kernel go there and asking it where it got to.
 *
 * Text and descriptor are true together, as after a walk, at a fraction of its cost. It is for the
 * common case only: whatever leaves a doubt is left to the walk.
 */
#ifndef CORDON_ASK_H
#define CORDON_ASK_H

#include "walk.h"

enum { ASK_TEXT_SIZE = 1024 }; /* what is longer has to walk: frames stay small */

struct asked {
    int fd; /* O_PATH; the caller closes it */
    char text[ASK_TEXT_SIZE];
};

/*
 * Goes where `path` leads; `flags` may be O_DIRECTORY or O_NOFOLLOW. Returns 0; -ENOENT or -ENOTDIR
 * as the kernel says; -ELOOP if this way does not answer. `path` may lie in asked->text.
 */
int ask(const struct view *view, const struct start *start, const char *path, int flags,
        struct asked *asked);

/*
 * The same for the directory that the last component lies in, which is a name that a slash may
 * follow. Bare names have no such directory: -ELOOP.
 */
int ask_parent(const struct view *view, const struct start *start, const char *path,
               struct asked *asked, struct name *leaf);

#endif
