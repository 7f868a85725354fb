/* SPDX-License-Identifier: MIT */
/*
 * next.h - the function that a hook stands in front of, for what libc alone can do.
 *
 *     NEXT(fclose)(stream)
 *
 * Looked up on first use. dlsym takes no heap memory when it succeeds.
 */
#ifndef CORDON_NEXT_H
#define CORDON_NEXT_H

#include <stdatomic.h>

struct next {
    _Atomic(void *) found;
    const char *symbol;
};

/* The next object's function of that name; ends the process if there is none. */
void *next_find(struct next *next);

#define NEXT(name)                                    \
    (*(__typeof__(&(name)))({                         \
        static struct next next_ = {.symbol = #name}; \
        next_find(&next_);                            \
    }))

#endif
