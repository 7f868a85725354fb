/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "command.h"

enum { WORD_MAX = 32 };

static size_t least(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* How many letters have to be put in, left out or changed to make one word of the other. */
static size_t distance(const char *a, const char *b)
{
    size_t above[WORD_MAX + 1];
    size_t length = strlen(b);

    if (length > WORD_MAX)
        return length;
    for (size_t j = 0; j <= length; j++)
        above[j] = j;
    for (size_t i = 0; a[i] != '\0'; i++) {
        size_t corner = above[0];
        above[0] = i + 1;
        for (size_t j = 0; j < length; j++) {
            size_t changed = corner + (a[i] != b[j]);
            corner = above[j + 1];
            above[j + 1] = least(above[j + 1] + 1, above[j] + 1, changed);
        }
    }
    return above[length];
}

const char *closest(const char *word, const char *const words[], size_t count)
{
    const char *found = NULL;
    size_t best = strlen(word) / 3 + 2; /* further away it was meant to be something else */

    for (size_t i = 0; i < count; i++) {
        size_t d = distance(word, words[i]);
        if (d < best) {
            best = d;
            found = words[i];
        }
    }
    return found;
}
