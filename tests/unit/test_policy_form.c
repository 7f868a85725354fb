/* SPDX-License-Identifier: MIT */
/*
 * The flat form: the same wherever it lies, and damage of any sort is found before it is used.
 * Every copy lies in memory of just its size, for the sanitizer to see what is read beyond it.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "policy_fixture.h"
#include "policy_form.h"

/* Every sort of node and rule is in it. */
static const char sample[] = "write /ws; read /usr; unix /run/x.sock; deny *.pem; deny a/**/b;"
                             "protect /ws/.git/hooks; deny k*/[xy]/z; write /ws/a/b/c";

static const char *const probes[] = {
    "/",           "/ws",         "/ws/x.pem",   "/ws/d/x.pem", "/ws/a",       "/ws/a/b",
    "/ws/a/q/r/b", "/ws/a/b/c/d", "/ws/kk/x/z",  "/ws/kk/y/z",  "/ws/.git",    "/ws/.git/hooks/h",
    "/usr/bin",    "/run",        "/run/x.sock", "/run/other",  "/ws-evil/ws", "/nowhere/at/all",
};

/* The answers to all intents at all probes, in order. */
struct answers {
    struct verdict list[COUNT(probes)][INTENT_BIND + 1];
};

static bool same_answers(const struct answers *a, const struct answers *b)
{
    for (size_t i = 0; i < COUNT(probes); i++)
        for (int intent = INTENT_STAT; intent <= INTENT_BIND; intent++)
            if (a->list[i][intent].allowed != b->list[i][intent].allowed ||
                a->list[i][intent].rule != b->list[i][intent].rule)
                return false;
    return true;
}

static void ask(const struct policy *policy, struct answers *answers)
{
    for (size_t i = 0; i < COUNT(probes); i++)
        for (int intent = INTENT_STAT; intent <= INTENT_BIND; intent++)
            answers->list[i][intent] = decide(policy, probes[i], (enum intent)intent);
}

/* Uses a policy of which nothing is known but that policy_check let it through. */
static size_t use(const struct policy *policy)
{
    struct answers answers;
    struct policy_at first = stand(policy, probes[0]);
    size_t read = 0;

    ask(policy, &answers);
    for (size_t i = 0; i < COUNT(probes); i++) {
        struct policy_at at = stand(policy, probes[i]);
        uint32_t rule = decide_move(policy, &first, &at).rule;

        read += strlen(rule_text(policy, rule)) + strlen(rule_origin(policy, rule));
        for (int intent = INTENT_STAT; intent <= INTENT_BIND; intent++)
            read += strlen(rule_text(policy, answers.list[i][intent].rule));
    }
    return read;
}

static struct policy *copy_of(const struct policy *policy, size_t size)
{
    void *copy = calloc(1, size > 0 ? size : 1);

    memcpy(copy, policy, size);
    return copy;
}

TEST lies_anywhere(void)
{
    static uint64_t copy[1024];
    struct policy *policy = policy_of(sample);
    size_t size = policy->size;
    struct answers here;
    struct answers there;
    int fd = memfd_create("policy", MFD_CLOEXEC);
    void *mapped;

    ask(policy, &here);
    ASSERT(here.list[1][INTENT_WRITE].allowed && !here.list[2][INTENT_READ].allowed);
    ASSERT(size <= sizeof copy && write(fd, policy, size) == (ssize_t)size);
    mapped = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    ASSERT(mapped != MAP_FAILED);
    close(fd);
    memcpy(copy, policy, size);
    /* Nothing may lead back to where it was built. */
    memset(policy, 0xa5, size);
    free(policy);
    ASSERT_EQ(NULL, policy_check(copy, size));
    ASSERT_EQ(NULL, policy_check(mapped, size));
    ask((const struct policy *)copy, &there);
    ASSERT(same_answers(&here, &there));
    ask(mapped, &there);
    ASSERT(same_answers(&here, &there));
    munmap(mapped, size);
    PASS();
}

TEST refuses_other_sizes(void)
{
    struct policy *policy = policy_of(sample);
    size_t size = policy->size;
    static uint64_t longer[1024];

    for (size_t n = 0; n < size; n++) {
        struct policy *copy = copy_of(policy, n);
        const char *wrong = policy_check(copy, n);

        free(copy);
        ASSERT(wrong != NULL);
        ASSERT_STR_EQ(n < sizeof *policy ? "not a policy" : "not whole", wrong);
    }
    memcpy(longer, policy, size);
    for (size_t n = size + 1; n <= sizeof longer; n++)
        ASSERT_STR_EQ("not whole", policy_check(longer, n));
    ASSERT_EQ(NULL, policy_check(longer, size));
    free(policy);
    PASS();
}

/* Cut off, and the header says so: only the counts tell. */
TEST refuses_what_the_counts_do_not_fill(void)
{
    struct policy *policy = policy_of(sample);

    for (size_t n = sizeof *policy; n < policy->size; n++) {
        struct policy *copy = copy_of(policy, n);

        copy->size = n;
        copy->checksum = policy_checksum(copy);
        const char *wrong = policy_check(copy, n);

        free(copy);
        ASSERT(wrong != NULL);
        ASSERT_STR_EQ("not whole", wrong);
    }
    free(policy);
    PASS();
}

TEST refuses_what_is_not_aligned(void)
{
    struct policy *policy = policy_of(sample);
    char *room = calloc(1, policy->size + 8);
    const char *wrong[8];

    for (size_t shift = 0; shift < 8; shift++) {
        memcpy(room + shift, policy, policy->size);
        wrong[shift] = policy_check(room + shift, policy->size);
    }
    free(room);
    free(policy);
    ASSERT_EQ(NULL, wrong[0]);
    for (size_t shift = 1; shift < 8; shift++) {
        ASSERT(wrong[shift] != NULL);
        ASSERT_STR_EQ("not aligned", wrong[shift]);
    }
    PASS();
}

TEST refuses_every_flipped_bit(void)
{
    struct policy *policy = policy_of(sample);
    size_t size = policy->size;

    for (size_t i = 0; i < size; i++)
        for (int bit = 0; bit < 8; bit++) {
            ((unsigned char *)policy)[i] ^= (unsigned char)(1 << bit);
            ASSERT(policy_check(policy, size) != NULL);
            ((unsigned char *)policy)[i] ^= (unsigned char)(1 << bit);
        }
    ASSERT_EQ(NULL, policy_check(policy, size));
    free(policy);
    PASS();
}

/* By somebody who sums it up anew: refused, or a policy that can be used. */
TEST survives_every_change(void)
{
    static const unsigned char changes[] = {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff};
    struct policy *policy = policy_of(sample);
    size_t size = policy->size;
    unsigned accepted = 0;
    unsigned refused = 0;
    size_t read = 0;

    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < COUNT(changes); j++) {
            struct policy *copy = copy_of(policy, size);

            ((unsigned char *)copy)[i] ^= changes[j];
            if (copy->size == size && i >= offsetof(struct policy, nodes))
                copy->checksum = policy_checksum(copy);
            if (policy_check(copy, size) == NULL) {
                accepted++;
                read += use(copy);
            } else {
                refused++;
            }
            free(copy);
        }
    ASSERT(accepted > 100 && refused > 1000 && read > 0);
    free(policy);
    PASS();
}

/* A form to be changed, and where its parts lie before that. */
static struct {
    uint64_t bytes[1024];
    struct policy *bad;
    struct policy_node *nodes;
    struct policy_edge *edges;
    struct policy_glob *globs;
    uint32_t *inner;
    struct policy_rule *rules;
} form;

static void form_renew(const struct policy *policy)
{
    if (policy->size > sizeof form.bytes)
        abort();
    memcpy(form.bytes, policy, policy->size);
    form.bad = (struct policy *)form.bytes;
    form.nodes = (struct policy_node *)policy_nodes(form.bad);
    form.edges = (struct policy_edge *)policy_edges(form.bad);
    form.globs = (struct policy_glob *)policy_globs(form.bad);
    form.inner = (uint32_t *)policy_inner(form.bad);
    form.rules = (struct policy_rule *)policy_rules(form.bad);
}

/* Whether it is refused with that message once it is summed up anew. */
static bool form_refused(const char *message)
{
    form.bad->checksum = policy_checksum(form.bad);
    const char *wrong = policy_check(form.bad, form.bad->size);

    return wrong != NULL && strcmp(wrong, message) == 0;
}

#define REFUSES(message, change)                 \
    do {                                         \
        form_renew(policy);                      \
        change;                                  \
        ASSERTm(#change, form_refused(message)); \
    } while (0)

TEST refuses_headers(void)
{
    enum { NODE = sizeof(struct policy_node), EDGE = sizeof(struct policy_edge) };
    struct policy *policy = policy_of(sample);

    REFUSES("not a policy", form.bad->magic++);
    REFUSES("made by another version of cordon", form.bad->version++);
    REFUSES("not whole", form.bad->nodes++);
    REFUSES("not whole", form.bad->strings = UINT32_MAX);
    REFUSES("not whole", (form.bad->edges = UINT32_MAX, form.bad->nodes = UINT32_MAX));
    /* With the sum of the sizes kept. */
    REFUSES("counts that cannot be",
            (form.bad->strings += form.bad->nodes * NODE, form.bad->nodes = 0));
    REFUSES("a table of names of an odd size", (form.bad->strings += EDGE, form.bad->edges--));
    REFUSES("a table of names of an odd size",
            (form.bad->strings += form.bad->edges * EDGE, form.bad->edges = 0));
    REFUSES("strings without an end", memset((char *)form.bytes + policy->size - 1, 'x', 1));
    free(policy);
    PASS();
}

/* Strings turned into numbers of the set, so that the size stays right. */
TEST refuses_counts(void)
{
    char text[1200] = "write /ws; deny *.pem; deny ";
    struct policy *policy;

    memset(text + strlen(text), 'x', 1100);
    policy = policy_of(text);
    ASSERT(policy != NULL && policy->strings > 4 * POLICY_INNER);
    REFUSES("counts that cannot be",
            (form.bad->inner += POLICY_INNER, form.bad->strings -= 4 * POLICY_INNER));
    free(policy);
    policy = NULL;
    for (int pad = 1; pad <= 4 && (policy == NULL || policy->strings % 4 != 0); pad++) {
        free(policy);
        snprintf(text, sizeof text, "write /ws; deny %.*s", pad, "xxxx");
        policy = policy_of(text);
    }
    ASSERT(policy != NULL && policy->strings % 4 == 0);
    REFUSES("counts that cannot be",
            (form.bad->inner += form.bad->strings / 4, form.bad->strings = 0));
    free(policy);
    PASS();
}

TEST refuses_nodes(void)
{
    static const char out[] = "a node leads out of the policy";
    struct policy *policy = policy_of(sample);
    const uint32_t last = policy->nodes - 1;

    REFUSES(out, form.nodes[0].deny = form.bad->rules);
    REFUSES(out, form.nodes[0].protect = form.bad->rules);
    REFUSES(out, form.nodes[0].grant = form.bad->rules);
    REFUSES(out, form.nodes[0].socket = form.bad->rules);
    REFUSES(out, form.nodes[last].grant_below = form.bad->rules);
    REFUSES(out, form.nodes[last].rule_below = POLICY_NONE - 1);
    REFUSES(out, form.nodes[0].deep = form.bad->nodes);
    REFUSES(out, form.nodes[0].deep = last); /* which has no bit */
    REFUSES(out, form.nodes[0].inner = form.bad->inner);
    REFUSES(out, form.nodes[0].is_deep = 1); /* without a bit */
    REFUSES(out, form.nodes[0].globs = form.bad->globs + 1);
    REFUSES(out, (form.nodes[0].glob = UINT32_MAX, form.nodes[0].globs = 2)); /* wraps around */
    REFUSES(out, (form.nodes[last].glob = form.bad->globs, form.nodes[last].globs = 1));
    free(policy);
    PASS();
}

static uint32_t used_slot(const struct policy *policy)
{
    uint32_t i = 0;

    while (policy_edges(policy)[i].child == POLICY_NONE)
        i++;
    return i;
}

/* Names in every slot but one, or in all. */
static void crowd(struct policy *policy, uint32_t spared)
{
    struct policy_edge *edges = (struct policy_edge *)policy_edges(policy);
    struct policy_edge edge = edges[used_slot(policy)];

    for (uint32_t i = spared; i < policy->edges; i++)
        edges[i] = edge;
}

TEST refuses_names(void)
{
    static const char name[] = "a name leads out of the policy";
    struct policy *policy = policy_of(sample);
    const uint32_t i = used_slot(policy);

    REFUSES(name, form.edges[i].parent = form.bad->nodes);
    REFUSES(name, form.edges[i].child = form.bad->nodes);
    REFUSES(name, form.edges[i].name = form.bad->strings);
    REFUSES(name, form.edges[i].length = form.bad->strings - form.edges[i].name);
    REFUSES(name, (form.edges[i].name = 1, form.edges[i].length = UINT32_MAX));
    REFUSES(name, form.edges[i].length--); /* no terminator there */
    REFUSES("the table of names is too full", crowd(form.bad, 0));
    REFUSES("the table of names is too full", crowd(form.bad, 1));
    free(policy);
    PASS();
}

TEST refuses_patterns_and_rules(void)
{
    static const char pattern[] = "a pattern leads out of the policy";
    static const char rule[] = "a rule leads out of the policy";
    struct policy *policy = policy_of(sample);

    REFUSES(pattern, form.globs[0].child = form.bad->nodes);
    REFUSES(pattern, form.globs[0].child = POLICY_NONE);
    REFUSES(pattern, form.globs[0].name = form.bad->strings);
    REFUSES(pattern, form.globs[0].length = UINT32_MAX);
    REFUSES("the set of patterns leads out of the policy", form.inner[0] = form.bad->nodes);
    REFUSES("the set of patterns leads out of the policy",
            form.inner[form.bad->inner - 1] = POLICY_NONE);
    REFUSES("a node leads out of the policy", form.nodes[0].deny = 0);
    REFUSES(rule, form.rules[0].kind = 0);
    REFUSES(rule, form.rules[0].kind = RULE_UNIX + 1);
    REFUSES(rule, form.rules[0].text = form.bad->strings);
    REFUSES(rule, form.rules[form.bad->rules - 1].origin = form.bad->strings);
    free(policy);
    PASS();
}

SUITE(flat_form)
{
    RUN_TEST(lies_anywhere);
    RUN_TEST(refuses_other_sizes);
    RUN_TEST(refuses_what_the_counts_do_not_fill);
    RUN_TEST(refuses_what_is_not_aligned);
    RUN_TEST(refuses_every_flipped_bit);
    RUN_TEST(survives_every_change);
    RUN_TEST(refuses_headers);
    RUN_TEST(refuses_counts);
    RUN_TEST(refuses_nodes);
    RUN_TEST(refuses_names);
    RUN_TEST(refuses_patterns_and_rules);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(flat_form);
    GREATEST_MAIN_END();
}
