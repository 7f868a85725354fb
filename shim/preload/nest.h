/* SPDX-License-Identifier: MIT */
/*
 * nest.h - a cordon inside this one.
 *
 * A program that is confined may confine its children further: the cordon command puts an image of
 * its own into their environment. What the children get then is this process's image with the
 * policy of the other as one more layer, so that they are held to both. Whatever a program puts
 * there, it can only tighten.
 */
#ifndef CORDON_NEST_H
#define CORDON_NEST_H

#include <stddef.h>

/* How many bytes nest_variable needs for this environment; 0 if there is no other image in it. */
size_t nest_size(char *const envp[]);

/* The variable for the child, in `memory`, aligned to 8; our own if what is there is no image.
 * NULL: too much for one variable, or too many layers. */
const char *nest_variable(char *const envp[], void *memory);

#endif
