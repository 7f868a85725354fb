/* SPDX-License-Identifier: MIT */
/*
 * bench_calls.c - what a call costs a program, with and without shim and wall.
 *
 * The program starts itself on each side, and the copies take turns: a batch of calls here, the
 * same batch there, all within a millisecond or so. A ratio is that of two batches of one round.
 * Figures never fail the bench, only wrong answers do.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"
#include "support_calls.h"
#include "support_side.h"

enum {
    ROUNDS_MAX = 4000,
    BATCH_NS = 150000, /* long against a turn of the copies, short against a time slice */
};

/* What is asked of a copy, and its answer: nanoseconds, or -1. */
struct order {
    size_t call;
    int times;
};

/* --- a copy ----------------------------------------------------------------------------------- */

static double make_calls(const struct order *order)
{
    const struct call *call = &calls[order->call];
    double begin = bench_now();

    for (int i = 0; i < order->times; i++) {
        long answer = call->make();
        if (answer != call->expected) {
            fprintf(stderr, "bench_calls: %s: answer %ld instead of %ld\n", call->name, answer,
                    call->expected);
            return -1;
        }
    }
    return bench_now() - begin;
}

static int serve(void)
{
    struct order order;

    if (calls_begin() < 0)
        return 1;
    while (read(STDIN_FILENO, &order, sizeof order) == (ssize_t)sizeof order) {
        double time = make_calls(&order);
        if (write(STDOUT_FILENO, &time, sizeof time) != (ssize_t)sizeof time)
            return 1;
    }
    return 0;
}

/* --- who gives the orders --------------------------------------------------------------------- */

struct copy {
    bool runs;
    pid_t pid;
    int orders;
    int answers;
};

static struct copy copies[SIDES];

/* All copies on one processor: else one of them sits on the busier one for as long as it runs. */
static void stay_here(void)
{
    cpu_set_t here;

    CPU_ZERO(&here);
    CPU_SET(sched_getcpu(), &here);
    sched_setaffinity(0, sizeof here, &here);
}

static void start_copy(enum side side)
{
    struct copy *copy = &copies[side];
    int to[2];
    int from[2];

    if (!side_works(side) || pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
        return;
    copy->pid = side_start(side, (const char *const[]){"./.copy", "--serve", NULL}, to[0], from[1]);
    copy->orders = to[1];
    copy->answers = from[0];
    copy->runs = true;
    close(to[0]);
    close(from[1]);
}

static void end_copies(void)
{
    for (int side = 0; side < SIDES; side++)
        if (copies[side].runs) {
            close(copies[side].orders);
            waitpid(copies[side].pid, NULL, 0);
        }
}

static double ask(enum side side, size_t call, int times)
{
    struct order order = {.call = call, .times = times};
    double time;

    if (write(copies[side].orders, &order, sizeof order) != (ssize_t)sizeof order ||
        read(copies[side].answers, &time, sizeof time) != (ssize_t)sizeof time)
        return -1;
    return time;
}

/* How many calls make a batch; 0 if an answer was wrong. */
static int size_batch(size_t call)
{
    for (int size = 1;; size *= 2) {
        double time = ask(SIDE_BARE, call, size);
        if (time < 0)
            return 0;
        if (time >= BATCH_NS / 2.0 || size >= 1 << 14)
            return size;
    }
}

static double times[SIDES][ROUNDS_MAX];

/* Fills in `times`; returns the number of rounds, 0 if an answer was wrong. */
static size_t measure(size_t call, double seconds)
{
    double end = bench_now() + seconds * 1e9;
    int size = size_batch(call);
    size_t round = 0;

    while (size > 0 && round < ROUNDS_MAX && (round < 5 || bench_now() < end)) {
        /* Who goes first changes, so that nobody always finds the caches warm. */
        for (size_t i = 0; i < SIDES; i++) {
            enum side side = (enum side)((i + round) % SIDES);
            if (!copies[side].runs)
                continue;
            double time = ask(side, call, size);
            if (time < 0)
                return 0;
            times[side][round] = time / size;
        }
        round++;
    }
    return round;
}

/* --- the table -------------------------------------------------------------------------------- */

/* One side against another, over the rounds. */
static struct bench_spread compare(enum side side, enum side base, size_t rounds)
{
    static double ratios[ROUNDS_MAX];

    for (size_t i = 0; i < rounds; i++)
        ratios[i] = times[side][i] / times[base][i];
    return bench_spread(ratios, rounds);
}

/* The columns: a side against its base. A wall alone has no target: it is not ours. */
static const struct column {
    enum side side;
    enum side base;
    bool counts;
} columns[] = {
    {SIDE_NATIVE, SIDE_BARE, true},
    {SIDE_LANDLOCK_WALL, SIDE_BARE, false},
    {SIDE_LANDLOCK, SIDE_LANDLOCK_WALL, true},
    {SIDE_BWRAP_WALL, SIDE_BARE, false},
    {SIDE_BWRAP, SIDE_BWRAP_WALL, true},
};

enum { COLUMNS = sizeof columns / sizeof columns[0] };

static void print_head(void)
{
    printf("%-30s %8s", "what a call costs", "bare");
    for (size_t i = 0; i < COLUMNS; i++)
        printf("  %-15s", columns[i].counts ? side_name(columns[i].side) : "wall");
    printf("\n%-30s %8s", "", "ns");
    for (size_t i = 0; i < COLUMNS; i++)
        printf("  %-15s", columns[i].base == SIDE_BARE ? "of bare" : "of the wall");
    printf("  target\n");
}

/* Returns whether the call misses its target on any side. */
static bool print_row(const struct call *call, size_t rounds)
{
    double worst = 0;
    double *bare = times[SIDE_BARE];

    printf("  %-28s", call->name);
    struct bench_spread spreads[COLUMNS];
    for (size_t i = 0; i < COLUMNS; i++)
        if (copies[columns[i].side].runs && copies[columns[i].base].runs)
            spreads[i] = compare(columns[i].side, columns[i].base, rounds);
    printf(" %8.0f", bench_spread(bare, rounds).middle);
    for (size_t i = 0; i < COLUMNS; i++) {
        char text[32] = "-";
        if (copies[columns[i].side].runs && copies[columns[i].base].runs) {
            snprintf(text, sizeof text, "%.2f %.2f-%.2f", spreads[i].middle, spreads[i].low,
                     spreads[i].high);
            if (columns[i].counts && spreads[i].middle > worst)
                worst = spreads[i].middle;
        }
        printf("  %-15s", text);
    }
    bench_print_verdict(worst, call->target, call->aim);
    printf("\n");
    fflush(stdout);
    return call->target > 0 && worst > call->target;
}

int main(int argc, char **argv)
{
    struct side_place place;
    double seconds = bench_seconds(30);
    size_t targets = 0;
    size_t misses = 0;
    bool wrong = false;

    if (argc > 1 && strcmp(argv[1], "--serve") == 0)
        return serve();
    side_begin(&place);
    side_prepare(calls_prepare);
    setenv("COPY", side_product("bench/bench_calls"), 1);
    side_prepare("cp \"$COPY\" .copy");
    stay_here();
    for (int side = 0; side < SIDES; side++)
        start_copy((enum side)side);
    print_head();
    for (size_t i = 0; i < calls_count; i++) {
        size_t rounds = measure(i, seconds / (double)calls_count);
        if (rounds == 0) {
            fprintf(stderr, "bench_calls: %s: wrong\n", calls[i].name);
            wrong = true;
            continue;
        }
        misses += print_row(&calls[i], rounds);
        targets += calls[i].target > 0;
    }
    end_copies();
    printf("%zu of %zu targets missed\n\n", misses, targets);
    return wrong;
}
