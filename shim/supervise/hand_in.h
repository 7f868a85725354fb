/* SPDX-License-Identifier: MIT */
/* hand_in.h - what the supervisor gives to every program that the shim can enter. */
#ifndef CORDON_HAND_IN_H
#define CORDON_HAND_IN_H

#include "image.h"

/* A sealed file with the image. A descriptor or a negative errno. */
int hand_in_image(const struct image *image);

/* What /etc/ld.so.preload is to say: the shim, and what the system has there itself. -1: no shim is
 * wanted. */
int hand_in_preload(const struct image *image);

#endif
