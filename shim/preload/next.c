/* SPDX-License-Identifier: MIT */
#include "next.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "load.h"

/* The oldest version of a name is no good where the meaning changed: realpath(path, NULL). */
static void *newest(const char *symbol)
{
    void *found = strcmp(symbol, "realpath") == 0 ? dlvsym(RTLD_NEXT, symbol, "GLIBC_2.3") : NULL;

    return found != NULL ? found : dlsym(RTLD_NEXT, symbol);
}

void *next_find(struct next *next)
{
    void *found = atomic_load_explicit(&next->found, memory_order_acquire);

    if (found != NULL)
        return found;
    found = newest(next->symbol);
    if (found == NULL)
        load_fail("shim: libc has no ", next->symbol);
    atomic_store_explicit(&next->found, found, memory_order_release);
    return found;
}
