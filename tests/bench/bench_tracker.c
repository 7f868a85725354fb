/* SPDX-License-Identifier: MIT */
/*
 * What a million paths cost the tracker: in time, against the cheapest system call there is, and in
 * memory.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "syscall.h"
#include "tracker.h"

#define PATHS   1000000U
#define ROUND   200000U
#define STRIDE  96
#define JOURNAL 100000U

static double call_ns; /* of getppid(2) */

static double now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static void report(const char *what, double ns)
{
    printf("tracker: %-44s %8.1f ns  %5.2f x getppid\n", what, ns, ns / call_ns);
}

static void die(const char *what)
{
    fprintf(stderr, "bench_tracker: %s\n", what);
    exit(1);
}

static double time_getppid(void)
{
    double best = 1e9;

    for (int round = 0; round < 5; round++) {
        double start = now_ns();

        for (unsigned i = 0; i < ROUND; i++)
            os_syscall(SYS_getppid, 0, 0, 0, 0, 0, 0);
        double ns = (now_ns() - start) / ROUND;

        best = ns < best ? ns : best;
    }
    return best;
}

/* About 70 bytes each, made before the clock starts. */
static char *make_paths(const char *root)
{
    char *all = malloc((size_t)PATHS * STRIDE);

    if (all == NULL)
        die("no memory");
    for (unsigned i = 0; i < PATHS; i++)
        snprintf(all + (size_t)i * STRIDE, STRIDE,
                 "%s/packages/module-%04u/node_modules/lib%02u/src/file-%07u.js", root, i / 500,
                 i % 37, i);
    return all;
}

/* In an order that no cache foresees. */
static const char *scattered(const char *all, unsigned i)
{
    return all + (size_t)((uint64_t)i * 7919 % PATHS) * STRIDE;
}

static double time_calls(struct tracker *tracker,
                         int (*call)(struct tracker *, const char *, size_t), const char *all,
                         unsigned count, int expected)
{
    double start = now_ns();

    for (unsigned i = 0; i < count; i++) {
        const char *path = scattered(all, i);

        if (call(tracker, path, strlen(path)) != expected)
            die("a wrong answer");
    }
    return (now_ns() - start) / count;
}

static void report_memory(int fd, const char *what)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        die("fstat");
    printf("tracker: %-44s %8.1f MiB of %.1f\n", what, (double)st.st_blocks * 512 / 1048576,
           (double)st.st_size / 1048576);
}

static void bench_memory(const char *here, const char *elsewhere)
{
    struct tracker tracker;
    int fd = tracker_create(PATHS, (uint64_t)PATHS * 80);

    if (fd < 0 || tracker_attach(&tracker, fd) < 0)
        die("no tracker");
    report_memory(fd, "memory, empty");
    report("mark, a million times", time_calls(&tracker, tracker_mark, here, PATHS, 1));
    report_memory(fd, "memory, a million paths");
    report("mark again", time_calls(&tracker, tracker_mark, here, PATHS, 0));
    report("has, a hit among a million", time_calls(&tracker, tracker_has, here, PATHS, 1));
    report("has, a miss among a million", time_calls(&tracker, tracker_has, elsewhere, PATHS, 0));
    tracker_detach(&tracker);
    close(fd);
}

/* The journal lies in memory too: this is the tracker's part, not the disk's. */
static void bench_journal(const char *here, const char *elsewhere)
{
    struct tracker tracker;
    int file = memfd_create("journal", MFD_CLOEXEC);
    int fd = tracker_create(JOURNAL, (uint64_t)JOURNAL * 80);
    char link[64];

    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    if (fd < 0 || tracker_attach(&tracker, fd) < 0 ||
        tracker_journal(&tracker, open(link, O_RDWR | O_APPEND | O_CLOEXEC)) < 0)
        die("no tracker");
    report("mark, with a journal", time_calls(&tracker, tracker_mark, here, JOURNAL, 1));
    report("has, a hit, with a journal", time_calls(&tracker, tracker_has, here, JOURNAL, 1));
    report("has, a miss, with a journal", time_calls(&tracker, tracker_has, elsewhere, JOURNAL, 0));
    tracker_detach(&tracker);
    close(fd);

    double start = now_ns();

    fd = tracker_create(JOURNAL, (uint64_t)JOURNAL * 80);
    if (fd < 0 || tracker_attach(&tracker, fd) < 0 ||
        tracker_journal(&tracker, open(link, O_RDWR | O_APPEND | O_CLOEXEC)) < 0)
        die("no tracker");
    report("taking in a journal, per path", (now_ns() - start) / JOURNAL);
    tracker_detach(&tracker);
    close(fd);
    close(file);
}

int main(void)
{
    char *here = make_paths("/home/user/work");
    char *elsewhere = make_paths("/home/user/play");

    call_ns = time_getppid();
    report("getppid, the bare system call", call_ns);
    bench_memory(here, elsewhere);
    bench_journal(here, elsewhere);
    free(here);
    free(elsewhere);
    return 0;
}
