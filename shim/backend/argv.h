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

/* Appends copies of words, up to a NULL. */
void argv_add(struct argv *argv, ...) __attribute__((sentinel));

/* The words, ended by NULL and the caller's from now on; NULL if it failed. */
char **argv_take(struct argv *argv);

void argv_free(char **argv);

#endif
