/* SPDX-License-Identifier: MIT */
/* argv.h - a command line under construction. */
#ifndef CORDON_ARGV_H
#define CORDON_ARGV_H

#include <stdbool.h>
#include <stddef.h>

struct argv {
    char **words;
    size_t count;
    size_t room;
    bool failed; /* out of memory: nothing is appended any more */
};

/* Appends copies of the words: argv_add(&argv, "--bind", path, path). */
#define argv_add(argv, ...) argv_append((argv), (const char *const[]){__VA_ARGS__, NULL})

/* Likewise, up to a NULL. */
void argv_append(struct argv *argv, const char *const words[]);

/* The words, ended by NULL and the caller's from now on; NULL if it failed. */
char **argv_take(struct argv *argv);

void argv_free(char **argv);

#endif
