/* SPDX-License-Identifier: MIT */
#include "decide.h"

#include <string.h>

#include "pattern.h"

/* The rules found on one level of the path: at most one of each kind has a say. */
struct level {
    uint32_t deny;
    uint32_t protect;
    uint32_t grant;
    uint32_t socket;
};

/* Of several rules of a kind the first one asked for is named. */
static void take_first(uint32_t *rule, uint32_t other)
{
    if (other < *rule)
        *rule = other;
}

/* What a step leads to: the rules that count on this level, and the nodes that are active below. */
struct reach {
    uint64_t inner[POLICY_INNER / 64];
    struct level level;
};

static void activate(struct reach *reach, uint32_t bit)
{
    reach->inner[bit / 64] |= UINT64_C(1) << (bit % 64);
}

static void enter(const struct policy *policy, uint32_t index, struct reach *reach)
{
    const struct policy_node *node = &policy_nodes(policy)[index];

    take_first(&reach->level.deny, node->deny);
    take_first(&reach->level.protect, node->protect);
    take_first(&reach->level.grant, node->grant);
    take_first(&reach->level.socket, node->socket);
    if (node->inner != POLICY_NONE)
        activate(reach, node->inner);
    if (node->deep != POLICY_NONE)
        activate(reach, policy_nodes(policy)[node->deep].inner);
}

/* A component of the path, hashed once for all the nodes that it is looked up below. */
struct step {
    struct name name;
    uint64_t hash;
};

static uint32_t child_by_name(const struct policy *policy, uint32_t parent, const struct step *step)
{
    const struct policy_edge *edges = policy_edges(policy);
    uint32_t mask = policy->edges - 1;

    for (uint32_t i = policy_slot(policy, parent, step->hash);; i = (i + 1) & mask) {
        const struct policy_edge *edge = &edges[i];
        if (edge->child == POLICY_NONE)
            return POLICY_NONE;
        if (edge->parent == parent && edge->length == step->name.length &&
            memcmp(policy_string(policy, edge->name), step->name.text, edge->length) == 0)
            return edge->child;
    }
}

static bool glob_matches(const struct policy *policy, const struct policy_glob *glob,
                         struct name name)
{
    const char *pattern = policy_string(policy, glob->name);

    return glob->length > 0 && pattern_may_match(pattern, glob->length, name.text, name.length) &&
           pattern_match(pattern, glob->length, name.text, name.length);
}

/* Whether a pattern below the node may match, as far as the ends of the name tell. */
static bool may_match(const struct policy_node *node, struct name name)
{
    return ((node->begins & policy_byte(name.text[0])) |
            (node->ends & policy_byte(name.text[name.length - 1]))) != 0;
}

static void enter_globs(const struct policy *policy, const struct policy_node *node,
                        struct name name, struct reach *reach)
{
    const struct policy_glob *glob = policy_globs(policy) + node->glob;

    for (const struct policy_glob *end = glob + node->globs; glob < end; glob++)
        if (glob_matches(policy, glob, name))
            enter(policy, glob->child, reach);
}

/* From one active node to what the step leads to below it. Returns the child by name. */
static uint32_t advance(const struct policy *policy, uint32_t from, const struct step *step,
                        struct reach *reach)
{
    const struct policy_node *node = &policy_nodes(policy)[from];
    uint32_t child = child_by_name(policy, from, step);

    if (child != POLICY_NONE)
        enter(policy, child, reach);
    if (may_match(node, step->name))
        enter_globs(policy, node, step->name, reach);
    if (node->is_deep)
        activate(reach, node->inner);
    return child;
}

/* The rules of one level, applied to what came from above. */
static void apply(const struct policy *policy, const struct level *level, struct layer_at *at)
{
    if (level->deny != POLICY_NONE) {
        at->access = ACCESS_NONE;
        at->rule = level->deny;
        at->socket = POLICY_NONE;
        return;
    }
    if (level->socket != POLICY_NONE)
        at->socket = level->socket;
    if (level->grant != POLICY_NONE) {
        bool write = policy_rules(policy)[level->grant].kind == RULE_WRITE;
        at->access = write ? ACCESS_WRITE : ACCESS_READ;
        at->rule = level->grant;
    }
    if (level->protect != POLICY_NONE && at->access == ACCESS_WRITE) {
        at->access = ACCESS_READ;
        at->rule = level->protect;
    }
}

static const struct reach nothing = {.level = {POLICY_NONE, POLICY_NONE, POLICY_NONE, POLICY_NONE}};
static const struct layer_at nowhere = {
    .node = POLICY_NONE, .rule = POLICY_NONE, .parent_rule = POLICY_NONE, .socket = POLICY_NONE};

/* A node with nothing below it is as good as none: so equal futures compare equal. */
static uint32_t with_future(const struct policy *policy, uint32_t node)
{
    return node != POLICY_NONE && policy_nodes(policy)[node].below > 0 ? node : POLICY_NONE;
}

/* Stands where the step led to. */
static void arrive(const struct policy *policy, const struct reach *reach, struct layer_at *at)
{
    if (policy->inner > 0)
        memcpy(at->inner, reach->inner, sizeof at->inner);
    apply(policy, &reach->level, at);
}

static void start_layer(const struct policy *policy, struct layer_at *at)
{
    struct reach reach = nothing;

    *at = nowhere;
    enter(policy, 0, &reach);
    at->node = with_future(policy, 0);
    arrive(policy, &reach, at);
}

static void leave(struct layer_at *at)
{
    at->parent_rule = at->rule;
    at->parent_access = at->access;
}

static void step_layer(const struct policy *policy, struct layer_at *at, const struct step *step)
{
    struct reach reach = nothing;

    leave(at);
    if (at->node != POLICY_NONE)
        at->node = with_future(policy, advance(policy, at->node, step, &reach));
    for (size_t word = 0; word * 64 < policy->inner; word++)
        for (uint64_t bits = at->inner[word]; bits != 0; bits &= bits - 1) {
            size_t bit = word * 64 + (size_t)__builtin_ctzll(bits);
            advance(policy, policy_inner(policy)[bit], step, &reach);
        }
    arrive(policy, &reach, at);
}

/* Whether no rule lies below: then nothing changes any more. */
static bool layer_is_settled(const struct policy *policy, const struct layer_at *at)
{
    uint64_t active = 0;

    for (size_t word = 0; word * 64 < policy->inner; word++)
        active |= at->inner[word];
    return at->node == POLICY_NONE && active == 0;
}

static bool is_settled(const struct policy *policy, const struct policy_at *at)
{
    const struct layer_at *layer = at->layers;

    for (; policy != NULL; policy = policy_next(policy), layer++)
        if (!layer_is_settled(policy, layer))
            return false;
    return true;
}

void decide_start(const struct policy *policy, struct policy_at *at)
{
    struct layer_at *layer = at->layers;

    do
        start_layer(policy, layer++);
    while ((policy = policy_next(policy)) != NULL);
}

void decide_step(const struct policy *policy, struct policy_at *at, struct name name)
{
    const struct step step = {name, policy_hash(name.text, name.length)};
    struct layer_at *layer = at->layers;

    do
        step_layer(policy, layer++, &step);
    while ((policy = policy_next(policy)) != NULL);
}

bool decide_follow(const struct policy *policy, struct policy_at *at, const char *text)
{
    struct name name;

    while (path_next(&text, &name)) {
        if (name_is_dotdot(name))
            return false;
        if (name_is_dot(name))
            continue;
        if (is_settled(policy, at)) {
            for (uint32_t i = 0; i <= policy->more; i++)
                leave(&at->layers[i]);
            return !path_has_dotdot(text);
        }
        decide_step(policy, at, name);
    }
    return true;
}

static struct verdict verdict_of(bool allowed, uint32_t rule)
{
    return (struct verdict){.allowed = allowed, .rule = rule};
}

/* A new or vanishing name is a change of the directory that holds it, too. */
static struct verdict of_name(const struct layer_at *at)
{
    if (at->access == ACCESS_WRITE && at->parent_access != ACCESS_WRITE)
        return verdict_of(false, at->parent_rule);
    return verdict_of(at->access == ACCESS_WRITE, at->rule);
}

static struct verdict of_layer(const struct policy *policy, const struct layer_at *at,
                               enum intent intent)
{
    uint32_t below;

    switch (intent) {
    case INTENT_STAT:
        if (at->access >= ACCESS_READ || at->node == POLICY_NONE)
            return verdict_of(at->access >= ACCESS_READ, at->rule);
        below = policy_nodes(policy)[at->node].grant_below;
        return below == POLICY_NONE ? verdict_of(false, at->rule) : verdict_of(true, below);
    case INTENT_READ:
    case INTENT_EXEC:
        return verdict_of(at->access >= ACCESS_READ, at->rule);
    case INTENT_WRITE:
        return verdict_of(at->access == ACCESS_WRITE, at->rule);
    case INTENT_CREATE:
    case INTENT_REMOVE:
        return of_name(at);
    case INTENT_CONNECT:
        return at->socket != POLICY_NONE ? verdict_of(true, at->socket)
                                         : verdict_of(at->access == ACCESS_WRITE, at->rule);
    case INTENT_BIND:
        return at->socket != POLICY_NONE ? verdict_of(true, at->socket) : of_name(at);
    }
    return verdict_of(false, POLICY_NONE);
}

/* The first layer that says no has the last word. */
struct verdict decide_here(const struct policy *policy, const struct policy_at *at,
                           enum intent intent)
{
    struct verdict verdict = of_layer(policy, at->layers, intent);
    uint32_t layer = 0;

    while (verdict.allowed && (policy = policy_next(policy)) != NULL) {
        verdict = of_layer(policy, &at->layers[++layer], intent);
        verdict.layer = layer;
    }
    return verdict;
}

struct verdict decide(const struct policy *policy, const char *canonical, enum intent intent)
{
    struct policy_at at;

    decide_start(policy, &at);
    if (!decide_follow(policy, &at, canonical))
        return verdict_of(false, POLICY_NONE);
    return decide_here(policy, &at, intent);
}

/* A rule below the nodes that one look-up is on and the other is not. */
static uint32_t rule_between(const struct policy *policy, const struct layer_at *a,
                             const struct layer_at *b)
{
    const struct policy_node *nodes = policy_nodes(policy);

    if (a->node != b->node)
        return nodes[a->node != POLICY_NONE ? a->node : b->node].rule_below;
    for (size_t word = 0; word < POLICY_INNER / 64; word++) {
        uint64_t differ = a->inner[word] ^ b->inner[word];
        if (differ != 0)
            return nodes[policy_inner(policy)[word * 64 + (size_t)__builtin_ctzll(differ)]]
                .rule_below;
    }
    return POLICY_NONE;
}

static struct verdict move_in_layer(const struct policy *policy, const struct layer_at *from,
                                    const struct layer_at *to)
{
    if (from->node != to->node || memcmp(from->inner, to->inner, sizeof from->inner) != 0)
        return verdict_of(false, rule_between(policy, from, to));
    if (from->access != to->access)
        return verdict_of(false, from->access < to->access ? from->rule : to->rule);
    if ((from->socket == POLICY_NONE) != (to->socket == POLICY_NONE))
        return verdict_of(false, from->socket != POLICY_NONE ? from->socket : to->socket);
    return verdict_of(true, to->rule);
}

struct verdict decide_move(const struct policy *policy, const struct policy_at *from,
                           const struct policy_at *to)
{
    struct verdict verdict = move_in_layer(policy, from->layers, to->layers);
    uint32_t layer = 0;

    while (verdict.allowed && (policy = policy_next(policy)) != NULL) {
        layer++;
        verdict = move_in_layer(policy, &from->layers[layer], &to->layers[layer]);
        verdict.layer = layer;
    }
    return verdict;
}
