/* SPDX-License-Identifier: MIT */
/* judge.h - what cordon has to answer, given what the bare kernel did and where the path leads. */
#ifndef FUZZ_JUDGE_H
#define FUZZ_JUDGE_H

#include "call.h"
#include "rules.h"

struct trial {
    struct call *call;
    const struct rules *rules;
    bool blind;            /* without openat2 */
    struct found found[2]; /* where the paths lead, in copy B */
    struct outcome bare;
    struct outcome cordon;
    uint64_t digest;   /* of both copies, before */
    uint64_t digest_a; /* after the bare call */
    uint64_t digest_b; /* after cordon's */
};

/* How the last component of its paths is taken. */
enum last judge_last(const struct call *call);

/* Whether a bare call could change something that is not ours. */
bool judge_is_dangerous(const struct trial *trial);

/* Whether the policy refuses what the call would do. */
bool judge_denies(const struct trial *trial);

/* What is wrong, or NULL. */
const char *judge(const struct trial *trial);

#endif
