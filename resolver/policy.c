/* SPDX-License-Identifier: MIT */
#include "policy.h"

#include <string.h>

#include "policy_form.h"

uint64_t policy_size_of(const struct policy *counts)
{
    return sizeof *counts + (uint64_t)counts->nodes * sizeof(struct policy_node) +
           (uint64_t)counts->edges * sizeof(struct policy_edge) +
           (uint64_t)counts->globs * sizeof(struct policy_glob) +
           (uint64_t)counts->inner * sizeof(uint32_t) +
           (uint64_t)counts->rules * sizeof(struct policy_rule) + counts->strings;
}

/* FNV-1a by words: finds accidents. Whoever can write a policy needs no collision. */
uint64_t policy_checksum(const struct policy *policy)
{
    const unsigned char *bytes = (const unsigned char *)&policy->nodes;
    size_t size = (size_t)policy->size - offsetof(struct policy, nodes);
    uint64_t sum = 0xcbf29ce484222325U;

    for (uint64_t word; size >= sizeof word; size -= sizeof word, bytes += sizeof word) {
        memcpy(&word, bytes, sizeof word);
        sum = (sum ^ word) * 0x100000001b3U;
        sum ^= sum >> 32;
    }
    while (size-- > 0)
        sum = (sum ^ *bytes++) * 0x100000001b3U;
    return sum;
}

/* Up to 8 bytes as one word; reads that overlap spare a loop. */
static uint64_t short_word(const char *name, size_t length)
{
    uint32_t first = 0;
    uint32_t last = 0;

    if (length >= sizeof first) {
        memcpy(&first, name, sizeof first);
        memcpy(&last, name + length - sizeof last, sizeof last);
    } else if (length > 0) {
        first = (unsigned char)name[0] | (uint32_t)(unsigned char)name[length / 2] << 8;
        last = (unsigned char)name[length - 1];
    }
    return (uint64_t)first << 32 | last;
}

/* By words, since every component of every path comes through here. */
uint64_t policy_hash(const char *name, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325U ^ length;
    uint64_t word;

    for (; length > sizeof word; length -= sizeof word, name += sizeof word) {
        memcpy(&word, name, sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 32;
    }
    hash = (hash ^ short_word(name, length)) * 0x9e3779b97f4a7c15U;
    return hash ^ hash >> 32;
}

static bool is_index(uint32_t index, uint32_t count)
{
    return index < count || index == POLICY_NONE;
}

/* Whether `length` bytes and a terminator lie at `offset` of the strings. */
static bool is_string(const struct policy *policy, uint32_t offset, uint32_t length)
{
    return (uint64_t)offset + length < policy->strings &&
           policy_string(policy, offset)[length] == '\0';
}

/* A `**` node is active by its bit alone, so it must have one. */
static bool is_deep(const struct policy *policy, uint32_t index)
{
    return index == POLICY_NONE ||
           (index < policy->nodes && policy_nodes(policy)[index].inner < policy->inner);
}

/* No rule, or one of these kinds. */
static bool is_rule(const struct policy *policy, uint32_t index, uint32_t kind, uint32_t or_kind)
{
    if (index >= policy->rules)
        return index == POLICY_NONE;
    return policy_rules(policy)[index].kind == kind || policy_rules(policy)[index].kind == or_kind;
}

static bool node_is_sound(const struct policy *policy, const struct policy_node *node)
{
    return is_rule(policy, node->deny, RULE_DENY, RULE_DENY) &&
           is_rule(policy, node->protect, RULE_PROTECT, RULE_PROTECT) &&
           is_rule(policy, node->grant, RULE_READ, RULE_WRITE) &&
           is_rule(policy, node->socket, RULE_UNIX, RULE_UNIX) &&
           is_index(node->grant_below, policy->rules) &&
           is_index(node->rule_below, policy->rules) && is_deep(policy, node->deep) &&
           is_index(node->inner, policy->inner) &&
           (!node->is_deep || node->inner < policy->inner) &&
           (uint64_t)node->glob + node->globs <= policy->globs;
}

static const char *check_tree(const struct policy *policy)
{
    const struct policy_edge *edges = policy_edges(policy);
    uint32_t used = 0;

    for (uint32_t i = 0; i < policy->nodes; i++)
        if (!node_is_sound(policy, &policy_nodes(policy)[i]))
            return "a node leads out of the policy";
    for (uint32_t i = 0; i < policy->edges; i++) {
        if (edges[i].child == POLICY_NONE)
            continue;
        if (edges[i].parent >= policy->nodes || edges[i].child >= policy->nodes ||
            !is_string(policy, edges[i].name, edges[i].length))
            return "a name leads out of the policy";
        used++;
    }
    /* A probe ends at an empty slot: without one it would never end. */
    if (used > policy->edges / 2)
        return "the table of names is too full";
    return NULL;
}

static const char *check_lists(const struct policy *policy)
{
    const struct policy_glob *globs = policy_globs(policy);
    const struct policy_rule *rules = policy_rules(policy);

    for (uint32_t i = 0; i < policy->globs; i++)
        if (globs[i].child >= policy->nodes || !is_string(policy, globs[i].name, globs[i].length))
            return "a pattern leads out of the policy";
    for (uint32_t i = 0; i < policy->inner; i++)
        if (policy_inner(policy)[i] >= policy->nodes)
            return "the set of patterns leads out of the policy";
    for (uint32_t i = 0; i < policy->rules; i++)
        if (rules[i].kind < RULE_READ || rules[i].kind > RULE_UNIX ||
            rules[i].text >= policy->strings || rules[i].origin >= policy->strings ||
            rules[i].is_path > 1)
            return "a rule leads out of the policy";
    return NULL;
}

static const char *check_layer(const struct policy *policy, size_t size)
{
    const char *error;

    if (size < sizeof *policy || policy->magic != POLICY_MAGIC)
        return "not a policy";
    if (policy->version != POLICY_VERSION)
        return "made by another version of cordon";
    if (policy->size > size || policy_size_of(policy) != policy->size)
        return "not whole";
    if (policy->checksum != policy_checksum(policy))
        return "damaged";
    if (policy->nodes == 0 || policy->inner > POLICY_INNER || policy->strings == 0)
        return "counts that cannot be";
    if (policy->edges == 0 || (policy->edges & (policy->edges - 1)) != 0)
        return "a table of names of an odd size";
    if (*policy_string(policy, policy->strings - 1) != '\0')
        return "strings without an end";
    error = check_lists(policy);
    return error != NULL ? error : check_tree(policy);
}

static size_t to_next(const struct policy *policy)
{
    return (size_t)(policy->size + 7) & ~(size_t)7;
}

const char *policy_check(const void *bytes, size_t size)
{
    const struct policy *policy = bytes;

    if (((uintptr_t)bytes & 7) != 0)
        return "not aligned";
    for (uint32_t layers = 1;; layers++) {
        const char *error = check_layer(policy, size);
        if (error != NULL)
            return error;
        if (policy->more == 0)
            return policy->size == size ? NULL : "not whole";
        if (layers + policy->more > POLICY_LAYERS)
            return "a number of layers that cannot be";
        if (to_next(policy) >= size)
            return "not whole";
        size -= to_next(policy);
        if (size >= sizeof *policy && policy_next(policy)->more != policy->more - 1)
            return "a number of layers that cannot be";
        policy = policy_next(policy);
    }
}

const struct policy *policy_next(const struct policy *policy)
{
    return policy->more == 0 ? NULL
                             : (const struct policy *)((const char *)policy + to_next(policy));
}

const struct policy *policy_layer(const struct policy *policy, uint32_t number)
{
    while (number-- > 0)
        policy = policy_next(policy);
    return policy;
}

size_t policy_whole_size(const struct policy *policy)
{
    const struct policy *last = policy_layer(policy, policy->more);

    return (size_t)((const char *)last - (const char *)policy) + (size_t)last->size;
}

size_t policy_stack(const struct policy *first, const struct policy *second, void *memory,
                    size_t size)
{
    size_t begin = (policy_whole_size(first) + 7) & ~(size_t)7;
    size_t whole = begin + policy_whole_size(second);
    uint32_t layers = first->more + second->more + 2;
    struct policy *layer = memory;

    if (layers > POLICY_LAYERS || whole > size)
        return 0;
    memset(memory, 0, begin);
    memcpy(memory, first, policy_whole_size(first));
    memcpy((char *)memory + begin, second, policy_whole_size(second));
    for (uint32_t more = layers; more-- > 0;) {
        layer->more = more;
        layer->checksum = policy_checksum(layer);
        layer = (struct policy *)((char *)layer + to_next(layer));
    }
    return whole;
}
