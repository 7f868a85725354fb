/* SPDX-License-Identifier: MIT */
/*
 * tracker_fixture.h - what the programs that test the tracker have in common.
 */
#ifndef TRACKER_FIXTURE_H
#define TRACKER_FIXTURE_H

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <greatest.h>

#include "tracker_set.h"

/* SEED in the environment gives another run. */
static uint64_t seed = 20261118;

static inline uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static inline int mark(struct tracker *tracker, const char *path)
{
    return tracker_mark(tracker, path, strlen(path));
}

static inline int has(struct tracker *tracker, const char *path)
{
    return tracker_has(tracker, path, strlen(path));
}

/* The name of the path with that number, so that every process knows them all. */
static inline const char *numbered(char buffer[64], unsigned number)
{
    snprintf(buffer, 64, "/srv/work/%u/project/src/file-%u.c", number % 7, number);
    return buffer;
}

static inline int fresh(struct tracker *tracker, uint64_t paths, uint64_t bytes)
{
    int fd = tracker_create(paths, bytes);
    int error = fd < 0 ? fd : tracker_attach(tracker, fd);

    if (fd >= 0)
        close(fd);
    return error;
}

/* A journal is a memfd here: a file without a name, gone with the last descriptor. This gives a
 * description of its own of the same file. */
static inline int open_again(int file, int flags)
{
    char link[64];

    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    return open(link, flags | O_CLOEXEC);
}

/* A new memory with that file as its journal: what another session would be. */
static inline int session(struct tracker *tracker, int file)
{
    int journal = open_again(file, O_RDWR | O_APPEND);
    int error = fresh(tracker, 4000, 400000);

    if (error == 0 && (error = tracker_journal(tracker, journal)) < 0) {
        tracker_detach(tracker);
        close(journal);
    }
    return error;
}

static inline void *shared_memory(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

static inline void print_seed(const char *program)
{
    const char *text = getenv("SEED");

    if (text != NULL && strtoull(text, NULL, 0) != 0)
        seed = strtoull(text, NULL, 0);
    printf("%s: SEED=%" PRIu64 "\n", program, seed);
}

#endif
