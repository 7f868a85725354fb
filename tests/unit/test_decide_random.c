/* SPDX-License-Identifier: MIT */
/*
 * Verdicts on random policies, against what the rules mean when they are read the simple way: every
 * rule is tried on every level of the path, with fnmatch and recursion.
 */
#include <fnmatch.h>

#include "policy_fixture.h"

enum { RULES_MAX = 12, PARTS_MAX = 8 };

/* A path or pattern in parts. */
struct parts {
    char text[PARTS_MAX][8];
    int count;
};

struct plain_rule {
    enum rule_kind kind;
    struct parts parts;
};

struct plain_policy {
    struct plain_rule rules[RULES_MAX];
    int count;
};

static void split(struct parts *parts, const char *text)
{
    struct name name;

    while (path_next(&text, &name))
        if (!name_is_dot(name))
            snprintf(parts->text[parts->count++], sizeof parts->text[0], "%.*s", (int)name.length,
                     name.text);
}

/* A rule of policy_of. */
static void read_rule(struct plain_policy *policy, char *line)
{
    struct plain_rule *rule = &policy->rules[policy->count++];
    char *text = strchr(line, ' ') + 1;
    size_t length = strlen(text);

    *rule = (struct plain_rule){.kind = kind_of(line, (size_t)(text - 1 - line))};
    if (text[length - 1] == '/')
        text[length - 1] = '\0';
    if (text[0] != '/') {
        split(&rule->parts, BASE);
        if (strcmp(text, ".") != 0 && strchr(text, '/') == NULL)
            split(&rule->parts, "**");
    }
    split(&rule->parts, text);
    if (rule->parts.count > 0 && strcmp(rule->parts.text[rule->parts.count - 1], "**") == 0)
        memcpy(rule->parts.text[rule->parts.count - 1], "*",
               2); /* its first level, then inherited */
}

static void read_rules(struct plain_policy *policy, const char *text)
{
    char copy[1024];
    char *rest;

    snprintf(copy, sizeof copy, "%s", text);
    policy->count = 0;
    for (char *line = strtok_r(copy, ";", &rest); line != NULL; line = strtok_r(NULL, ";", &rest))
        read_rule(policy, line + strspn(line, " "));
}

/* Whether the parts from `p` on match the names from `n` to `end`. */
static bool meets(const struct parts *rule, int p, const struct parts *path, int n, int end)
{
    if (p == rule->count)
        return n == end;
    if (strcmp(rule->text[p], "**") == 0)
        return meets(rule, p + 1, path, n, end) || (n < end && meets(rule, p, path, n + 1, end));
    return n < end && fnmatch(rule->text[p], path->text[n], 0) == 0 &&
           meets(rule, p + 1, path, n + 1, end);
}

struct plain_answer {
    enum access access;
    enum access above;
    bool socket;
};

static void apply_level(const struct plain_policy *policy, const struct parts *path, int level,
                        struct plain_answer *answer)
{
    bool found[RULE_UNIX + 1] = {false};

    for (int i = 0; i < policy->count; i++)
        if (meets(&policy->rules[i].parts, 0, path, 0, level))
            found[policy->rules[i].kind] = true;
    if (found[RULE_DENY]) {
        answer->access = ACCESS_NONE;
        answer->socket = false;
        return;
    }
    answer->socket |= found[RULE_UNIX];
    if (found[RULE_WRITE])
        answer->access = ACCESS_WRITE;
    else if (found[RULE_READ])
        answer->access = ACCESS_READ;
    if (found[RULE_PROTECT] && answer->access == ACCESS_WRITE)
        answer->access = ACCESS_READ;
}

static bool leads_to_grant(const struct plain_policy *policy, const struct parts *path)
{
    for (int i = 0; i < policy->count; i++) {
        const struct plain_rule *rule = &policy->rules[i];
        bool grant = rule->kind != RULE_DENY && rule->kind != RULE_PROTECT;
        struct parts above = {.count = path->count};

        memcpy(above.text, rule->parts.text, sizeof above.text);
        if (grant && rule->parts.count > path->count && meets(&above, 0, path, 0, path->count))
            return true;
    }
    return false;
}

/* The letters of what is allowed. */
static const char *plain_intents(const struct plain_policy *policy, const char *text, char out[9])
{
    struct plain_answer answer = {ACCESS_NONE, ACCESS_NONE, false};
    struct parts path = {.count = 0};
    size_t n = 0;

    split(&path, text);
    for (int level = 0; level <= path.count; level++) {
        answer.above = answer.access;
        apply_level(policy, &path, level, &answer);
    }
    bool write = answer.access == ACCESS_WRITE;
    bool read = answer.access >= ACCESS_READ;
    bool names = write && answer.above == ACCESS_WRITE;
    const bool allowed[] = {read || leads_to_grant(policy, &path),
                            read,
                            write,
                            names,
                            names,
                            read,
                            write || answer.socket,
                            names || answer.socket};

    for (size_t i = 0; i < COUNT(allowed); i++)
        if (allowed[i])
            out[n++] = INTENTS[i];
    out[n] = '\0';
    return out;
}

TEST verdicts_are_what_the_rules_say(void)
{
    enum { POLICIES = 5000, PLACES = 30 };
    const uint64_t seed = seed_of("test_decide_random");
    unsigned kinds[3] = {0}; /* nothing, something, all */

    for (unsigned i = 0; i < POLICIES; i++) {
        struct random random = random_of(seed, 2, i);
        struct plain_policy plain;
        char rules[1024];
        char wanted[9];
        char got[9];

        random_rules(&random, rules, RULES_MAX - 2);
        read_rules(&plain, rules);
        struct policy *policy = policy_of(rules);

        ASSERT(policy != NULL);
        for (unsigned j = 0; j < PLACES; j++) {
            char path[64] = "/";

            if (random_percent(&random, 90))
                snprintf(path, sizeof path, "%s", random_percent(&random, 80) ? BASE : "/b");
            if (path[1] != '\0')
                append_random_path(&random, path, random_below(&random, 6));
            intents(policy, path, got);
            plain_intents(&plain, path, wanted);
            if (strcmp(wanted, got) != 0)
                printf("%s: at %s \"%s\" and not \"%s\"\n", rules, path, got, wanted);
            ASSERT_STR_EQ(wanted, got);
            kinds[strcmp(got, ALL) == 0 ? 2 : got[0] != '\0']++;
        }
        free(policy);
    }
    printf("%u closed, %u partly open, %u open\n", kinds[0], kinds[1], kinds[2]);
    for (size_t i = 0; i < COUNT(kinds); i++)
        ASSERT(kinds[i] > POLICIES * PLACES / 10);
    PASS();
}

SUITE(random_verdicts)
{
    RUN_TEST(verdicts_are_what_the_rules_say);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(random_verdicts);
    GREATEST_MAIN_END();
}
