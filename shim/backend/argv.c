/* SPDX-License-Identifier: MIT */
#include "argv.h"

#include <stdlib.h>
#include <string.h>

static bool grow(struct argv *argv)
{
    size_t room = argv->room == 0 ? 64 : 2 * argv->room;
    char **words = reallocarray(argv->words, room, sizeof *words);

    if (words == NULL)
        return false;
    argv->words = words;
    argv->room = room;
    return true;
}

static void add(struct argv *argv, const char *word)
{
    char *copy = NULL;

    if (argv->failed)
        return;
    /* One more for the end. */
    if (argv->count + 1 < argv->room || grow(argv))
        copy = strdup(word);
    if (copy == NULL) {
        argv->failed = true;
        return;
    }
    argv->words[argv->count++] = copy;
    argv->words[argv->count] = NULL;
}

void argv_append(struct argv *argv, const char *const words[])
{
    for (size_t i = 0; words[i] != NULL; i++)
        add(argv, words[i]);
}

char **argv_take(struct argv *argv)
{
    char **words = argv->words;
    bool failed = argv->failed;

    *argv = (struct argv){.words = NULL};
    if (!failed)
        return words;
    argv_free(words);
    return NULL;
}

void argv_free(char **argv)
{
    if (argv == NULL)
        return;
    for (size_t i = 0; argv[i] != NULL; i++)
        free(argv[i]);
    free(argv);
}
