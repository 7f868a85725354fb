/* SPDX-License-Identifier: MIT */
/*
 * usage: flip paths|descriptors CALLS ABOVE    in a workspace as flip.h has it, below ABOVE
 *        flip run CALLS PROGRAM                or x1, which may be run
 *        flip connect CALLS PORT PORT          to the first one it may be connected
 *        flip which SIZE                       whether this program may be seen to have that size
 *
 * Prints `leak KIND PATH N` for what got through and at the end
 * `calls N ok N refused N leaks N handles N`.
 */
#include "flip.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "raw.h"

struct flip_tally flip_tally;

/* --- the other thread ------------------------------------------------------------------------- */

enum { TEXT = 512 };

static _Alignas(64) char text[TEXT];
const char *flip_path = text;

static atomic_int stop_at;
static pthread_t other;
static bool runs;

static struct {
    char *at;
    uint64_t one;
    uint64_t other;
    unsigned long size;
    void (*swap)(int turn);
} job;

static void store(uint64_t word)
{
    if (job.size == 1)
        *(volatile char *)job.at = (char)word;
    else if (job.size == 2)
        *(volatile uint16_t *)(void *)job.at = (uint16_t)word;
    else
        *(volatile uint64_t *)(void *)job.at = word;
}

/* Both for about the same time, and not in step with who reads it. */
static void *flip(void *unused)
{
    unsigned turn = 0;

    (void)unused;
    while (!atomic_load_explicit(&stop_at, memory_order_relaxed)) {
        turn++;
        if (job.swap != NULL) {
            job.swap((int)(turn & 1));
            continue;
        }
        store(turn & 1 ? job.one : job.other);
        for (volatile unsigned wait = turn * 2654435761U >> 22; wait > 0; wait--)
            ;
    }
    return NULL;
}

static void start(void)
{
    atomic_store(&stop_at, 0);
    runs = pthread_create(&other, NULL, flip, NULL) == 0;
    if (!runs)
        exit(2);
}

void flip_stop(void)
{
    atomic_store(&stop_at, 1);
    if (runs)
        pthread_join(other, NULL);
    runs = false;
}

void flip_bytes(void *at, const void *one, const void *two, unsigned long size)
{
    job.at = at;
    job.size = size;
    job.swap = NULL;
    job.one = job.other = 0;
    memcpy(&job.one, one, size);
    memcpy(&job.other, two, size);
    start();
}

void flip_memory(const struct flip_target *target)
{
    char one[8] = "";
    char two[8] = "";
    size_t length = strlen(target->allowed);
    size_t differ = 0;

    memset(text, 0, sizeof text);
    strcpy(text, target->allowed);
    if (length < 8 && strlen(target->denied) < 8) {
        strcpy(one, target->allowed);
        strcpy(two, target->denied);
        flip_bytes(text, one, two, 8);
        return;
    }
    while (target->allowed[differ] == target->denied[differ])
        differ++;
    if (length != strlen(target->denied) || length >= TEXT ||
        strcmp(target->allowed + differ + 1, target->denied + differ + 1) != 0)
        exit(2);
    flip_bytes(text + differ, target->allowed + differ, target->denied + differ, 1);
}

void flip_call(void (*swap)(int turn))
{
    job.swap = swap;
    start();
}

/* --- counting --------------------------------------------------------------------------------- */

static struct {
    const char *kind;
    const char *denied;
    unsigned long count;
} leaks[256];

static void note_leak(const char *kind, const char *denied)
{
    size_t i = 0;

    flip_tally.leaks++;
    while (leaks[i].kind != NULL &&
           (strcmp(leaks[i].kind, kind) != 0 || strcmp(leaks[i].denied, denied) != 0))
        if (++i == sizeof leaks / sizeof leaks[0])
            return;
    leaks[i].kind = kind;
    leaks[i].denied = denied;
    leaks[i].count++;
}

void flip_count(const char *kind, const char *denied, long result, bool leak)
{
    flip_tally.calls++;
    if (result >= 0)
        flip_tally.ok++;
    else if (result == -EACCES)
        flip_tally.refused++;
    if (leak)
        note_leak(kind, denied);
}

static void print(void)
{
    for (size_t i = 0; i < sizeof leaks / sizeof leaks[0] && leaks[i].kind != NULL; i++)
        printf("leak %s %s %lu\n", leaks[i].kind, leaks[i].denied, leaks[i].count);
    printf("calls %lu ok %lu refused %lu leaks %lu handles %lu\n", flip_tally.calls, flip_tally.ok,
           flip_tally.refused, flip_tally.leaks, flip_tally.handles);
}

/* --- what to do ------------------------------------------------------------------------------- */

static int which(const char *size)
{
    struct stat st;

    return stat("/proc/self/exe", &st) == 0 && st.st_size == strtol(size, NULL, 10) ? 0 : 42;
}

int main(int argc, char **argv)
{
    unsigned long calls = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;

    if (argc == 3 && strcmp(argv[1], "which") == 0)
        return which(argv[2]);
    if (argc == 4 && strcmp(argv[1], "paths") == 0)
        flip_paths(calls, argv[3]);
    else if (argc == 4 && strcmp(argv[1], "descriptors") == 0)
        flip_descriptors(calls);
    else if (argc == 4 && strcmp(argv[1], "run") == 0)
        flip_run(calls, argv[3]);
    else if (argc == 5 && strcmp(argv[1], "connect") == 0)
        flip_connect(calls, (unsigned)strtoul(argv[3], NULL, 10),
                     (unsigned)strtoul(argv[4], NULL, 10));
    else
        return 2;
    print();
    return 0;
}
