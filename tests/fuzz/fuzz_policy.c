/* SPDX-License-Identifier: MIT */
/*
 * Bytes as a policy. The first byte says which:
 *   0  the flat form as it is
 *   1  an empty one of any counts with some words changed, summed up anew
 *   2  a real one with some words changed, summed up anew
 *   3  rules in text, for the builder: what it makes has to be sound and keep what is promised
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "decide.h"
#include "policy_form.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const paths[] = {
    "/",        "/a",     "/b",     "/a/a",       "/a/b",   "/a/b/a", "/b/a/b/a/b",
    "/a/k.pem", "/a/b/c", "/a/x/y", "/a/a/a/a/a", "/c/x/b", "/a/.b",  "/a/b/[c",
};
#define PATHS (sizeof paths / sizeof *paths)
#define MOVED 8 /* that many of them are moved, and looked at below what moved */

static void expect(int condition)
{
    if (!condition)
        abort();
}

static void check_verdict(const struct policy *policy, struct verdict verdict)
{
    expect(verdict.rule == POLICY_NONE || verdict.rule < policy->rules);
    if (verdict.rule == POLICY_NONE)
        return;
    const struct policy_rule *rule = &policy_rules(policy)[verdict.rule];

    expect(strlen(policy_string(policy, rule->text)) < policy->size);
    expect(strlen(policy_string(policy, rule->origin)) < policy->size);
}

static void use(const struct policy *policy)
{
    struct policy_at at[PATHS];

    for (size_t i = 0; i < PATHS; i++) {
        decide_start(policy, &at[i]);
        expect(decide_follow(policy, &at[i], paths[i]));
        for (int intent = INTENT_STAT; intent <= INTENT_BIND; intent++)
            check_verdict(policy, decide_here(policy, &at[i], (enum intent)intent));
        for (size_t j = 0; j <= i; j++) {
            struct verdict verdict = decide_move(policy, &at[i], &at[j]);
            check_verdict(policy, verdict);
            expect(verdict.allowed == decide_move(policy, &at[j], &at[i]).allowed);
        }
    }
}

static void check_bytes(const void *bytes, size_t size)
{
    if (policy_check(bytes, size) == NULL)
        use(bytes);
}

/* In memory of just its size, as malloc aligns it. */
static void *copy_of(const void *bytes, size_t size)
{
    void *copy = calloc(1, size > 0 ? size : 1);

    expect(copy != NULL);
    if (size > 0)
        memcpy(copy, bytes, size);
    return copy;
}

static void as_it_is(const uint8_t *data, size_t size)
{
    void *copy = copy_of(data, size);

    check_bytes(copy, size);
    free(copy);
}

/* No rule is anywhere, but there is room for some: what is found in it, the changes brought. */
static struct policy *empty(const uint8_t counts[5])
{
    struct policy header = {.magic = POLICY_MAGIC,
                            .version = POLICY_VERSION,
                            .nodes = 1 + counts[0] % 4,
                            .edges = 1U << counts[1] % 4,
                            .globs = counts[2] % 4,
                            .inner = counts[3] % 4,
                            .rules = counts[4] % 4,
                            .strings = 16};
    struct policy *policy;

    header.size = policy_size_of(&header);
    policy = calloc(1, header.size);
    expect(policy != NULL);
    *policy = header;
    for (uint32_t i = 0; i < header.nodes; i++)
        ((struct policy_node *)policy_nodes(policy))[i] = (struct policy_node){
            .deny = POLICY_NONE,
            .protect = POLICY_NONE,
            .grant = POLICY_NONE,
            .socket = POLICY_NONE,
            .grant_below = POLICY_NONE,
            .rule_below = POLICY_NONE,
            .below = 1, /* else a look-up goes no further */
            .deep = POLICY_NONE,
            .inner = header.inner > 0 ? i % header.inner : POLICY_NONE,
        };
    memset((void *)policy_edges(policy), 0xff, header.edges * sizeof(struct policy_edge));
    for (uint32_t i = 0; i < header.rules; i++)
        ((struct policy_rule *)policy_rules(policy))[i].kind = RULE_READ + i;
    memcpy((char *)policy_string(policy, 0), "a\0b\0*\0[a\0?*\0", 13);
    return policy;
}

static struct policy *real(void)
{
    struct policy_builder *builder = policy_builder_new();
    struct policy *policy;

    policy_add(builder, RULE_WRITE, "/a", "1");
    policy_add(builder, RULE_PROTECT, "/a/b/c", "2");
    policy_add(builder, RULE_UNIX, "/b/a", "3");
    policy_add_pattern(builder, RULE_DENY, "/a", "*.pem", "4");
    policy_add_pattern(builder, RULE_DENY, "/a", "x*/**/y", "5");
    policy = policy_build(builder);
    policy_builder_free(builder);
    expect(policy != NULL && policy_check(policy, policy->size) == NULL);
    return policy;
}

/* Triples of the input: which word, two bytes; what it becomes, one byte, high values near NONE. */
static void with_changes(struct policy *policy, const uint8_t *data, size_t size)
{
    uint32_t *words = &policy->nodes;
    size_t whole = policy->size;
    size_t count = (whole - offsetof(struct policy, nodes)) / sizeof *words;

    for (; size >= 3; data += 3, size -= 3)
        words[(data[0] | data[1] << 8) % count] = (uint32_t)(int8_t)data[2];
    policy->checksum = policy_checksum(policy);
    check_bytes(policy, whole);
    free(policy);
}

/* --- rules ------------------------------------------------------------------------------------ */

static bool same_below(const struct policy *policy, const struct policy_at *a,
                       const struct policy_at *b)
{
    for (size_t i = 1; i < MOVED; i++) {
        struct policy_at one = *a;
        struct policy_at other = *b;

        expect(decide_follow(policy, &one, paths[i]) && decide_follow(policy, &other, paths[i]));
        for (int intent = INTENT_STAT; intent <= INTENT_BIND; intent++)
            if (decide_here(policy, &one, (enum intent)intent).allowed !=
                decide_here(policy, &other, (enum intent)intent).allowed)
                return false;
    }
    return true;
}

static void check_moves(const struct policy *policy)
{
    struct policy_at at[MOVED];

    for (size_t i = 0; i < MOVED; i++) {
        decide_start(policy, &at[i]);
        expect(decide_follow(policy, &at[i], paths[i]));
        for (size_t j = 0; j < i; j++)
            if (decide_move(policy, &at[i], &at[j]).allowed)
                expect(same_below(policy, &at[i], &at[j]));
    }
}

/* A line: a byte for the kind, then the path or pattern. */
static int add_line(struct policy_builder *builder, const char *line)
{
    enum rule_kind kind = (enum rule_kind)(line[0] & 7);

    if (line[0] & 8)
        return policy_add(builder, kind, line + 1, "fuzz");
    return policy_add_pattern(builder, kind, "/a", line + 1, "fuzz");
}

static void with_rules(const uint8_t *data, size_t size)
{
    struct policy_builder *builder = policy_builder_new();
    char *text = malloc(size + 1);
    char *rest = NULL;
    struct policy *policy;

    memcpy(text, data, size);
    text[size] = '\0';
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        int error = add_line(builder, line);
        expect(error == 0 || error == -EINVAL);
        expect((error == 0) == (policy_builder_error(builder) == NULL));
    }
    policy = policy_build(builder);
    expect((policy == NULL) == (policy_builder_error(builder) != NULL));
    if (policy != NULL) {
        expect(policy_check(policy, policy->size) == NULL);
        use(policy);
        check_moves(policy);
    }
    free(policy);
    free(text);
    policy_builder_free(builder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    switch (data[0] % 4) {
    case 0:
        as_it_is(data + 1, size - 1);
        break;
    case 1:
        if (size >= 6)
            with_changes(empty(data + 1), data + 6, size - 6);
        break;
    case 2:
        with_changes(real(), data + 1, size - 1);
        break;
    default:
        with_rules(data + 1, size - 1);
        break;
    }
    return 0;
}
