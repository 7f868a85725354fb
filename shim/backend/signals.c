/* SPDX-License-Identifier: MIT */
#include "signals.h"

#include <signal.h>
#include <stddef.h>

/* What a terminal, a shell or a user sends to a group, and ends a process that does nothing about
 * it. */
static const int sent[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,   SIGALRM,
                           SIGUSR1, SIGUSR2, SIGPIPE, SIGVTALRM, SIGPROF};

#define COUNT (sizeof sent / sizeof sent[0])

static uint64_t bit(int number)
{
    return UINT64_C(1) << (number - 1);
}

uint64_t signals_ignored(void)
{
    uint64_t mask = 0;
    struct sigaction action;

    for (size_t i = 0; i < COUNT; i++)
        if (sigaction(sent[i], NULL, &action) == 0 && action.sa_handler == SIG_IGN)
            mask |= bit(sent[i]);
    return mask;
}

void signals_ignore(void)
{
    for (size_t i = 0; i < COUNT; i++)
        signal(sent[i], SIG_IGN);
}

void signals_restore(uint64_t ignored)
{
    for (size_t i = 0; i < COUNT; i++)
        signal(sent[i], (ignored & bit(sent[i])) != 0 ? SIG_IGN : SIG_DFL);
}
