/* SPDX-License-Identifier: MIT */
/*
 * hand.h - an image from the environment, for a shim that was preloaded by hand:
 *
 *     LD_PRELOAD=libcordon-shim.so CORDON_ROOT=/ws tool
 *
 * CORDON_READ, CORDON_WRITE, CORDON_DENY and CORDON_UNIX are lists of paths (of patterns, for DENY)
 * with colons between them, `\:` for a colon in a path. CORDON_NET is deny or open, CORDON_BACKEND
 * auto, landlock, bwrap or native, CORDON_LOG a file or "stderr", CORDON_MODE enforce or observe.
 *
 * Runs once, while loading: it may use the heap.
 */
#ifndef CORDON_HAND_H
#define CORDON_HAND_H

#include "image.h"

/* The image, in memory that the caller frees. Whatever is wrong with the settings ends the process.
 * If the backend is one that confines the calling process, it does so from here on. */
struct image *hand_image(char *const envp[]);

#endif
