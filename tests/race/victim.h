/* SPDX-License-Identifier: MIT */
/*
 * victim.h - calls on paths that the attackers are at work on.
 *
 * A call is an operation, a path (plain, through links, through ".."), and a place to start from:
 * "/", the workspace as a known directory, a directory that may move, or that as working directory.
 */
#ifndef RACE_VICTIM_H
#define RACE_VICTIM_H

#include <stdbool.h>
#include <stdint.h>

#include "manner.h"

struct victim {
    struct caller caller;
    const struct manner *manner;
    enum attack attack;
    uint64_t random;
};

enum { CALL_TEXT = 320 };

struct call_result {
    int error; /* 0 or a negative errno */
    bool escaped;
    char text[CALL_TEXT]; /* if it escaped: which call it was */
};

/* Makes a call, chosen at random, and mends what it has done inside. */
void victim_call(struct victim *victim, struct call_result *result);

#endif
