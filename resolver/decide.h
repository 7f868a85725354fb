/* SPDX-License-Identifier: MIT */
/*
 * decide.h - what the policy says of a place.
 *
 * A look-up starts at "/" and takes the components of a canonical path one by one; where it stands
 * (struct policy_at) can be kept, copied and gone on from, as for a working directory. On the way
 * down each rule at a node changes what is allowed from there on, so the most specific one has the
 * last word; at one node deny beats protect beats grants. No rule: denied. Of a policy in layers
 * each layer has to allow what is asked for.
 */
#ifndef CORDON_DECIDE_H
#define CORDON_DECIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "path.h"
#include "policy.h"

enum intent {
    INTENT_STAT,   /* metadata, readlink, chdir */
    INTENT_READ,   /* contents of a file, names in a directory */
    INTENT_WRITE,  /* contents or metadata of what is there */
    INTENT_CREATE, /* a new name */
    INTENT_REMOVE, /* take a name away, or give it to something else */
    INTENT_EXEC,
    INTENT_CONNECT, /* to a socket */
    INTENT_BIND,    /* a new socket */
};

enum access { ACCESS_NONE, ACCESS_READ, ACCESS_WRITE };

/* Where a look-up stands in one layer of the policy. */
struct layer_at {
    uint64_t inner[POLICY_INNER / 64]; /* active nodes behind patterns */
    uint32_t node;                     /* the node that names alone lead to, if any lies below it */
    uint32_t rule;                     /* what gave or took the access */
    uint32_t parent_rule;
    uint32_t socket; /* the rule that allows sockets here */
    uint8_t access;
    uint8_t parent_access;
};

/* Where a look-up stands. Two that are equal have equal verdicts for every path below. */
struct policy_at {
    struct layer_at layers[POLICY_LAYERS];
};

struct verdict {
    bool allowed;
    uint32_t rule;  /* what decided; POLICY_NONE: no rule names this place */
    uint32_t layer; /* the layer of the policy that has the rule */
};

void decide_start(const struct policy *policy, struct policy_at *at);
void decide_step(const struct policy *policy, struct policy_at *at, struct name name);

/* Goes on from `at` by `text`. False, with `at` spoilt, if a component is "..": then the text alone
 * does not say where it leads. */
bool decide_follow(const struct policy *policy, struct policy_at *at, const char *text);

/* The verdict for the place where `at` stands. */
struct verdict decide_here(const struct policy *policy, const struct policy_at *at,
                           enum intent intent);

/* Start, follow, here: for a canonical path. */
struct verdict decide(const struct policy *policy, const char *canonical, enum intent intent);

/*
 * Whether a directory may move from one place to the other (or two may change places) without a
 * change of any verdict below it, for paths that exist or not. So `.git` cannot move while
 * `.git/hooks` is protected, and what was decided for a directory once stays true when it moves. A
 * refusal names a rule that would be gone around.
 */
struct verdict decide_move(const struct policy *policy, const struct policy_at *from,
                           const struct policy_at *to);

#endif
