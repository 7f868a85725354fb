/* SPDX-License-Identifier: MIT */
/*
 * policy_fixture.h - policies as text, and verdicts as letters, for the programs that test them.
 */
#ifndef POLICY_FIXTURE_H
#define POLICY_FIXTURE_H

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <greatest.h>

#include "../fuzz/random.h"
#include "decide.h"
#include "policy.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Where patterns of a policy in text begin. */
#define BASE "/ws"

static inline enum rule_kind kind_of(const char *word, size_t length)
{
    static const char *const kinds[] = {"read", "write", "deny", "protect", "unix"};

    for (size_t i = 0; i < COUNT(kinds); i++)
        if (strlen(kinds[i]) == length && memcmp(kinds[i], word, length) == 0)
            return (enum rule_kind)(RULE_READ + i);
    return 0;
}

/* A rule in text: "write /ws", "deny *.pem". What is absolute and has no star is a path. */
static inline int add_line(struct policy_builder *builder, const char *line, const char *origin)
{
    size_t word = strcspn(line, " ");
    enum rule_kind kind = kind_of(line, word);
    const char *rest = line + word + 1;

    if (rest[0] == '/' && strpbrk(rest, "*?[") == NULL)
        return policy_add(builder, kind, rest, origin);
    return policy_add_pattern(builder, kind, BASE, rest, origin);
}

/* The policy of rules between semicolons; their origins are "rule 1", "rule 2" ... NULL, with the
 * reason printed, if there is something wrong with it. */
static inline struct policy *policy_of(const char *text)
{
    struct policy_builder *builder = policy_builder_new();
    struct policy *policy;
    const char *wrong;

    for (unsigned number = 1; *text != '\0'; number++) {
        char line[PATH_MAX];
        char origin[32];
        size_t length = strcspn(text, ";");

        snprintf(line, sizeof line, "%.*s", (int)length, text);
        snprintf(origin, sizeof origin, "rule %u", number);
        add_line(builder, line, origin);
        text += length;
        text += strspn(text, "; ");
    }
    policy = policy_build(builder);
    wrong = policy != NULL ? policy_check(policy, policy->size) : policy_builder_error(builder);
    if (wrong != NULL) {
        printf("no policy: %s\n", wrong);
        free(policy);
        policy = NULL;
    }
    policy_builder_free(builder);
    return policy;
}

/* One letter an intent, in their order: stat, read, write, create, remove (d), exec (x), connect
 * (n), bind. */
#define INTENTS "srwcdxnb"

/* The usual answers. */
#define NOTHING  ""
#define PASSAGE  "s"
#define READABLE "srx"
#define ALL      "srwcdxnb"

static inline const char *intents_at(const struct policy *policy, const struct policy_at *at,
                                     char out[9])
{
    size_t n = 0;

    for (int intent = INTENT_STAT; intent <= INTENT_BIND; intent++)
        if (decide_here(policy, at, (enum intent)intent).allowed)
            out[n++] = INTENTS[intent];
    out[n] = '\0';
    return out;
}

static inline struct policy_at stand(const struct policy *policy, const char *path)
{
    struct policy_at at;

    decide_start(policy, &at);
    if (!decide_follow(policy, &at, path))
        abort();
    return at;
}

/* What is allowed at a path. */
static inline const char *intents(const struct policy *policy, const char *path, char out[9])
{
    struct policy_at at = stand(policy, path);

    return intents_at(policy, &at, out);
}

static inline const char *rule_text(const struct policy *policy, uint32_t rule)
{
    return rule == POLICY_NONE ? "none" : policy_string(policy, policy_rules(policy)[rule].text);
}

static inline const char *rule_origin(const struct policy *policy, uint32_t rule)
{
    return rule == POLICY_NONE ? "none" : policy_string(policy, policy_rules(policy)[rule].origin);
}

/* --- random policies -------------------------------------------------------------------------- */

/* The names that random paths and rules are made of. No rule says "z", but a pattern may mean it.
 */
static const char *const alphabet[] = {"a", "b", "z"};

/* A path of that many names, appended to `text`. */
static inline void append_random_path(struct random *random, char *text, unsigned depth)
{
    text += strlen(text);
    while (depth-- > 0)
        text += sprintf(text, "/%s", alphabet[random_below(random, COUNT(alphabet))]);
}

static inline void append_random_pattern(struct random *random, char *text)
{
    static const char *const parts[] = {"a", "b", "*", "?", "[az]", "[!a]", "**", "**"};
    unsigned count = 1 + random_below(random, 3);

    text += strlen(text);
    if (random_percent(random, 30))
        text += sprintf(text, "./");
    for (unsigned i = 0; i < count; i++)
        text += sprintf(text, "%s%s", i > 0 ? "/" : "", parts[random_below(random, COUNT(parts))]);
    if (random_percent(random, 20))
        sprintf(text, "/");
}

/* Up to `most` rules, as text for policy_of. The first two make a workspace with a way out. */
static inline void random_rules(struct random *random, char text[1024], unsigned most)
{
    static const char *const kinds[] = {"read", "write", "unix", "deny", "protect"};
    unsigned count = random_below(random, most + 1);

    sprintf(text, "write %s; read /a", BASE);
    while (count-- > 0) {
        unsigned kind = random_below(random, COUNT(kinds));
        bool pattern = kind >= 3 && random_percent(random, 60);

        sprintf(text + strlen(text), "; %s ", kinds[kind]);
        if (pattern) {
            append_random_pattern(random, text);
        } else {
            sprintf(text + strlen(text), "%s", random_percent(random, 80) ? BASE : "/b");
            append_random_path(random, text, random_below(random, 4));
        }
    }
}

/* SEED in the environment gives another run. */
static inline uint64_t seed_of(const char *program)
{
    const char *text = getenv("SEED");
    uint64_t seed = text != NULL ? strtoull(text, NULL, 0) : 20261118;

    printf("%s: SEED=%" PRIu64 "\n", program, seed);
    return seed;
}

#endif
