/* SPDX-License-Identifier: MIT */
/*
 * Makes calls as it is told on standard input, and says on standard output how long they took:
 * support_copies.h. Built twice, once linked statically.
 */
#include <stdio.h>
#include <unistd.h>

#include "support.h"
#include "support_copies.h"

static double make_calls(const struct order *order)
{
    const struct call *call = &calls[order->call];
    double begin = bench_now();

    for (int i = 0; i < order->times; i++) {
        long answer = call->make();
        if (answer != call->expected) {
            fprintf(stderr, "copy: %s: answer %ld instead of %ld\n", call->name, answer,
                    call->expected);
            return -1;
        }
    }
    return bench_now() - begin;
}

int main(void)
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
