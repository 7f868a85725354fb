/* SPDX-License-Identifier: MIT */
#include "support_copies.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BATCH_NS = 150000 /* long against a turn of the copies, short against a time slice */ };

struct copy {
    bool runs;
    pid_t pid;
    int orders;
    int answers;
};

static struct copy copies[SIDES];

void copies_stay_here(void)
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
    copy->pid = side_start(side, (const char *const[]){"./.copy", NULL}, to[0], from[1]);
    copy->orders = to[1];
    copy->answers = from[0];
    copy->runs = true;
    close(to[0]);
    close(from[1]);
}

bool copies_start(const struct table *table, const char *program)
{
    if (access(side_product(program), X_OK) < 0)
        return false;
    setenv("COPY", side_product(program), 1);
    side_prepare("rm -f .copy && cp \"$COPY\" .copy");
    for (int side = 0; side < SIDES; side++)
        if (table_uses(table, (enum side)side))
            start_copy((enum side)side);
    return true;
}

void copies_end(void)
{
    for (int side = 0; side < SIDES; side++)
        if (copies[side].runs) {
            close(copies[side].orders);
            waitpid(copies[side].pid, NULL, 0);
            close(copies[side].answers);
            copies[side].runs = false;
        }
}

double copies_turn(enum side side, const void *subject)
{
    const struct order *order = subject;
    double time;

    if (write(copies[side].orders, order, sizeof *order) != (ssize_t)sizeof *order ||
        read(copies[side].answers, &time, sizeof time) != (ssize_t)sizeof time)
        return -1;
    return time < 0 ? -1 : time / order->times;
}

/* How many calls make a batch. A wrong answer shows again when they are measured. */
static int size_batch(struct order order)
{
    for (order.times = 1; order.times < 1 << 14; order.times *= 2) {
        double time = copies_turn(SIDE_BARE, &order) * order.times;
        if (time < 0 || time >= BATCH_NS / 2.0)
            break;
    }
    return order.times;
}

void copies_row(struct table *table, const struct call *call, double target, double seconds)
{
    struct order order = {.call = (size_t)(call - calls)};
    const struct row row = {call->name, &order, target, target == call->target ? call->aim : 0};

    order.times = size_batch(order);
    table_row(table, &row, seconds, 5);
}
