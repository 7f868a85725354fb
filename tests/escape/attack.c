/* SPDX-License-Identifier: MIT */
#include "attack.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "layer.h"

static char **facts;

void facts_set(char **list)
{
    facts = list;
}

int cannot(const char *why)
{
    printf("CANNOT %s\n", why);
    return CANNOT;
}

const char *fact(const char *name)
{
    size_t length = strlen(name);

    for (char **at = facts; *at != NULL; at++)
        if (strncmp(*at, name, length) == 0 && (*at)[length] == '=')
            return *at + length + 1;
    return "";
}

long fact_number(const char *name)
{
    return strtol(fact(name), NULL, 0);
}

bool is_bare(void)
{
    return fact_number("bare") == 1;
}

bool another_try(int tries, bool won)
{
    enum { CONFINED = 3000, BARE = 3000000 };

    return is_bare() ? !won && tries < BARE : tries < CONFINED;
}

const char *join(const char *directory, const char *name)
{
    static _Thread_local char texts[8][4200];
    static _Thread_local unsigned turn;
    char whole[sizeof *texts];
    char *text = texts[turn++ % 8];

    /* Either part may itself be one of the texts. */
    snprintf(whole, sizeof whole, "%s/%s", directory, name);
    return memcpy(text, whole, sizeof whole);
}

const char *in(const char *where, const char *name)
{
    return join(fact("top"), join(where, name));
}

int spill_text(const char *text, long length)
{
    if (length < 0)
        return (int)length;
    printf("GOT ");
    fwrite(text, 1, (size_t)length, stdout);
    printf("\n");
    fflush(stdout);
    return 0;
}

int spill(long fd)
{
    char text[512];
    long length;

    if (fd < 0)
        return (int)fd;
    length = sys(SYS_read, fd, text, sizeof text);
    close((int)fd);
    return spill_text(text, length);
}

int scribble(long fd)
{
    ssize_t length;

    if (fd < 0)
        return (int)fd;
    length = write((int)fd, "scribble\n", 9);
    close((int)fd);
    return length < 0 ? -errno : 0;
}

char **words_and(char **some, char **others)
{
    size_t counts[2] = {0, 0};
    char **all;

    while (some[counts[0]] != NULL)
        counts[0]++;
    while (others[counts[1]] != NULL)
        counts[1]++;
    all = calloc(counts[0] + counts[1] + 1, sizeof *all);
    if (all == NULL)
        abort();
    memcpy(all, some, counts[0] * sizeof *all);
    memcpy(all + counts[0], others, counts[1] * sizeof *all);
    return all;
}

char **words(const char *first, ...)
{
    enum { MOST = 15 };
    char **all = calloc(MOST + 1, sizeof *all);
    va_list rest;

    va_start(rest, first);
    for (int i = 0; all != NULL && i < MOST && first != NULL; i++) {
        all[i] = strdup(first);
        first = va_arg(rest, const char *);
    }
    va_end(rest);
    if (all == NULL)
        abort();
    return all;
}

char **again(const char *program, const char *name)
{
    return words_and(words(program, name, NULL), facts);
}

int reap(long pid)
{
    int status;

    while (waitpid((pid_t)pid, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    return WIFEXITED(status) ? -WEXITSTATUS(status) : -EINTR;
}
