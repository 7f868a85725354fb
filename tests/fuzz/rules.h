/* SPDX-License-Identifier: MIT */
/*
 * rules.h - random policies, and what they mean, found the simple way: every rule is tried on every
 * level of the path.
 */
#ifndef FUZZ_RULES_H
#define FUZZ_RULES_H

#include <stdbool.h>

#include "decide.h"
#include "policy.h"
#include "random.h"
#include "tree.h"

enum { RULES_MAX = 16, PARTS_MAX = 24 };

struct part {
    char text[NAME_MAX + 1];
    bool pattern;
};

struct rule {
    enum rule_kind kind;
    const char *path;    /* from the copy, or NULL: a pattern */
    const char *pattern; /* below COPY/root */
    struct part parts[PARTS_MAX];
    int count;
};

struct rules {
    struct rule list[RULES_MAX];
    int count;
};

/* The first of the policies is the plain one: the workspace may be written, nothing else. */
void rules_generate(struct rules *rules, struct random *random, bool plain);

/* The policy for copy B. The caller frees it. */
struct policy *rules_build(const struct rules *rules);

bool rules_allow(const struct rules *rules, const char *place, enum intent intent);

/* Whether a directory may go from one place to the other: nothing below may gain or lose. */
bool rules_allow_move(const struct rules *rules, const char *from, const char *to);

void rules_print(const struct rules *rules);

#endif
