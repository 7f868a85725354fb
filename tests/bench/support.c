/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    BATCH_NS = 40000, /* long against the clock, short against a time slice */
    MAX_BATCHES = 20000,
    COUNTED = 16, /* calls made to count what they ask of the kernel */
};

double bench_seconds(double usual)
{
    const char *text = getenv("BENCH_SECONDS");
    double seconds = text != NULL ? strtod(text, NULL) : 0;

    return seconds > 0 ? seconds : usual;
}

double bench_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* --- timing ----------------------------------------------------------------------------------- */

/* Runs a batch and returns how long it took; negative if an answer was wrong. */
static double run_batch(const struct bench_side *side, int size)
{
    double begin = bench_now();

    for (int i = 0; i < size; i++) {
        long answer = side->call(side->subject);
        if (answer != side->expected) {
            fprintf(stderr, "bench: answer %ld instead of %ld\n", answer, side->expected);
            return -1;
        }
    }
    return bench_now() - begin;
}

/* How many calls make a batch; 0 if an answer was wrong. */
static int size_batch(const struct bench_side *side)
{
    for (int size = 1;; size *= 2) {
        double time = run_batch(side, size);
        if (time < 0)
            return 0;
        if (time >= BATCH_NS / 2.0 || size >= 1 << 16)
            return size;
    }
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static double percentile(const double *sorted, size_t count, double part)
{
    return sorted[(size_t)(part * (double)(count - 1) + 0.5)];
}

struct bench_spread bench_spread(double *numbers, size_t count)
{
    qsort(numbers, count, sizeof *numbers, compare_numbers);
    return (struct bench_spread){.middle = percentile(numbers, count, 0.5),
                                 .low = percentile(numbers, count, 0.1),
                                 .high = percentile(numbers, count, 0.9)};
}

static double *new_numbers(void)
{
    double *numbers = calloc(MAX_BATCHES, sizeof *numbers);

    if (numbers == NULL) {
        perror("bench");
        exit(2);
    }
    return numbers;
}

bool bench_time(const struct bench_side *side, double seconds, struct bench_cost *cost)
{
    double *times = new_numbers();
    double end = bench_now() + seconds * 1e9;
    int size = size_batch(side);
    size_t count = 0;
    double time = size == 0 ? -1 : 0;

    while (time >= 0 && count < MAX_BATCHES && (count == 0 || bench_now() < end)) {
        time = run_batch(side, size);
        times[count++] = time / size;
    }
    if (time >= 0) {
        struct bench_spread spread = bench_spread(times, count);
        *cost = (struct bench_cost){.ns = spread.middle, .low = spread.low, .high = spread.high};
    }
    free(times);
    return time >= 0;
}

/* One batch of each; who goes first changes, so that neither always finds the caches warm. */
static bool run_pair(const struct bench_side *base, const struct bench_side *other, int size,
                     bool other_first, double *base_time, double *other_time)
{
    if (other_first)
        *other_time = run_batch(other, size);
    *base_time = run_batch(base, size);
    if (!other_first)
        *other_time = run_batch(other, size);
    return *base_time >= 0 && *other_time >= 0;
}

static int count_system_calls(const struct bench_side *side);

bool bench_compare(const struct bench_side *base, const struct bench_side *other, double seconds,
                   struct bench_ratio *ratio)
{
    double *times = new_numbers();
    double *ratios = new_numbers();
    double end = bench_now() + seconds * 1e9;
    int size = size_batch(base);
    size_t count = 0;
    bool right = size > 0 && run_batch(other, 1) >= 0;

    while (right && count < MAX_BATCHES && (count == 0 || bench_now() < end)) {
        double other_time;
        right = run_pair(base, other, size, count % 2 != 0, &times[count], &other_time);
        ratios[count] = other_time / times[count];
        times[count++] /= size;
    }
    if (right) {
        struct bench_spread spread = bench_spread(ratios, count);
        *ratio = (struct bench_ratio){.base_ns = bench_spread(times, count).middle,
                                      .ratio = spread.middle,
                                      .low = spread.low,
                                      .high = spread.high,
                                      .base_calls = count_system_calls(base),
                                      .calls = count_system_calls(other)};
    }
    free(times);
    free(ratios);
    return right;
}

/* --- counting --------------------------------------------------------------------------------- */

/* What the traced child does: getppid, which nothing here needs, marks begin and end. */
static void be_counted(const struct bench_side *side)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
        _exit(1);
    raise(SIGSTOP);
    syscall(SYS_getppid);
    for (int i = 0; i < COUNTED; i++)
        side->call(side->subject);
    syscall(SYS_getppid);
    _exit(0);
}

/* The number of the system call that the stopped child enters, or -1: it is leaving one. */
static long entered(pid_t child)
{
    struct __ptrace_syscall_info info;

    memset(&info, 0, sizeof info);
    if (ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info) <= 0 ||
        info.op != PTRACE_SYSCALL_INFO_ENTRY)
        return -1;
    return (long)info.entry.nr;
}

/* Counts what the child asks between its two marks; -1 if it ends before the second. */
static int watch(pid_t child)
{
    int marks = 0;
    int calls = 0;
    int status;

    /* Without the first of these the kernel does not tell entering from leaving. */
    if (ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) < 0)
        return -1;
    while (marks < 2) {
        long number;
        if (ptrace(PTRACE_SYSCALL, child, NULL, NULL) < 0 || waitpid(child, &status, 0) < 0 ||
            !WIFSTOPPED(status))
            return -1;
        number = entered(child);
        if (number == SYS_getppid)
            marks++;
        else if (number >= 0 && marks == 1)
            calls++;
    }
    return calls;
}

static int count_system_calls(const struct bench_side *side)
{
    int calls = -1;
    int status;
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child == 0)
        be_counted(side);
    if (child < 0)
        return -1;
    if (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        calls = watch(child);
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
    }
    return calls < 0 ? -1 : (calls + COUNTED / 2) / COUNTED;
}

/* --- printing --------------------------------------------------------------------------------- */

void bench_print_head(const char *base)
{
    printf("%-31s %9s  %6s %-11s %-7s  %-13s  %s\n", "", base, "", "10th-90th", "system",
           "no openat2", "");
    printf("%-31s %9s  %6s %-11s %-7s  %6s %6s  %s\n", "", "ns", "ratio", "percentile", "calls",
           "ratio", "calls", "target");
}

void bench_print_title(const char *title)
{
    printf("%s\n", title);
}

bool bench_misses(const struct bench_row *row)
{
    return row->target > 0 && row->with->ratio > row->target;
}

void bench_print_verdict(double ratio, double target, double aim)
{
    if (target <= 0 || ratio <= 0)
        return;
    printf("  %.2f %s", target, ratio > target ? "MISS" : "OK");
    if (aim > 0 && ratio <= target && ratio > aim)
        printf(", aim %.1f", aim);
}

void bench_print_row(const struct bench_row *row)
{
    char spread[32];
    char calls[32] = "";
    char without[32] = "";

    snprintf(spread, sizeof spread, "%.2f-%.2f", row->with->low, row->with->high);
    if (row->with->calls >= 0)
        snprintf(calls, sizeof calls, "%d -> %d", row->with->base_calls, row->with->calls);
    if (row->without != NULL && row->without->calls >= 0)
        snprintf(without, sizeof without, "%6.2f %6d", row->without->ratio, row->without->calls);
    else if (row->without != NULL)
        snprintf(without, sizeof without, "%6.2f", row->without->ratio);
    printf("  %-29s %9.0f  %6.2f %-11s %-7s", row->name, row->with->base_ns, row->with->ratio,
           spread, calls);
    if (without[0] != '\0' || row->target > 0)
        printf("  %-13s", without);
    bench_print_verdict(row->with->ratio, row->target, row->aim);
    printf("\n");
    fflush(stdout);
}

/* Three significant digits of a number that is worth `step` of the unit before it. */
static const char *in_units(double value, double step, const char *const units[], size_t count,
                            char text[static 32])
{
    size_t unit = 0;

    while (value >= step && unit + 1 < count) {
        value /= step;
        unit++;
    }
    snprintf(text, 32, "%.*f %s",
             value >= 100 || unit == 0 ? 0
             : value >= 10             ? 1
                                       : 2,
             value, units[unit]);
    return text;
}

const char *bench_duration(double ns, char text[static 32])
{
    static const char *const units[] = {"ns", "us", "ms", "s"};

    return in_units(ns, 1000, units, sizeof units / sizeof units[0], text);
}

const char *bench_bytes(uint64_t bytes, char text[static 32])
{
    static const char *const units[] = {"B", "kB", "MB", "GB"};

    return in_units((double)bytes, 1000, units, sizeof units / sizeof units[0], text);
}
