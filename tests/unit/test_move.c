/* SPDX-License-Identifier: MIT */
/*
 * Which directories may move: those below which no verdict changes. A table of known ways around a
 * rule, and the property itself on random policies.
 */
#include "policy_fixture.h"

struct move {
    const char *rules;
    const char *from;
    const char *to;
    const char *refused_by; /* NULL: allowed */
};

/* Both ways, as an exchange is both moves at once. */
static bool moves(const struct move *move)
{
    struct policy *policy = policy_of(move->rules);
    bool right = policy != NULL;

    for (int back = 0; policy != NULL && back < 2; back++) {
        struct policy_at from = stand(policy, back ? move->to : move->from);
        struct policy_at to = stand(policy, back ? move->from : move->to);
        struct verdict verdict = decide_move(policy, &from, &to);
        const char *rule = rule_text(policy, verdict.rule);

        if (verdict.allowed != (move->refused_by == NULL) ||
            (!verdict.allowed && strcmp(rule, move->refused_by) != 0)) {
            printf("%s: %s -> %s%s: %s by %s\n", move->rules, move->from, move->to,
                   back ? " (back)" : "", verdict.allowed ? "allowed" : "refused", rule);
            right = false;
        }
    }
    free(policy);
    return right;
}

#define MOVES(...)                                       \
    do {                                                 \
        static const struct move rows[] = {__VA_ARGS__}; \
        for (size_t i = 0; i < COUNT(rows); i++)         \
            ASSERTm(rows[i].rules, moves(&rows[i]));     \
    } while (0)

#define GIT "write /ws; protect /ws/.git/hooks"

TEST ancestors_of_a_protected_path_stay(void)
{
    MOVES({GIT, "/ws/.git", "/ws/g", "/ws/.git/hooks"},
          {GIT, "/ws/.git", "/ws/a/b/.git", "/ws/.git/hooks"},
          {GIT, "/ws/.git/hooks", "/ws/h", "/ws/.git/hooks"},
          {GIT, "/ws/.git/hooks/a", "/ws/.git/a", "/ws/.git/hooks"},
          {GIT, "/ws/.git/hooks/a", "/ws/.git/hooks/b", NULL},
          {GIT, "/ws/.git/objects", "/ws/.git/o", NULL}, {GIT, "/ws/.git/info", "/ws/info", NULL},
          {"write /ws; protect /ws/a/b/c/d", "/ws/a", "/ws/z", "/ws/a/b/c/d"},
          {"write /ws; protect /ws/a/b/c/d", "/ws/a/b", "/ws/a/z", "/ws/a/b/c/d"},
          {"write /ws; protect /ws/a/b/c/d", "/ws/a/b/c/e", "/ws/e", NULL},
          {"write /home; protect /home/me/ws/x", "/home/me", "/home/you", "/home/me/ws/x"});
    PASS();
}

TEST ancestors_of_any_rule_stay(void)
{
    MOVES({"write /ws; deny /ws/a/key", "/ws/a", "/ws/b", "/ws/a/key"},
          {"write /ws; read /ws/a/b", "/ws/a", "/ws/b", "/ws/a/b"},
          {"write /ws; unix /ws/a/s", "/ws/a", "/ws/b", "/ws/a/s"},
          {"write /ws; deny a/k*", "/ws/a", "/ws/b", "a/k*"},
          {"write /ws; deny a/**", "/ws/a", "/ws/b", "a/**"},
          {"write /ws; deny a/**/k", "/ws/a/x", "/ws/b", "a/**/k"},
          {"write /srv/ws", "/srv", "/mnt", "/srv/ws"});
    PASS();
}

TEST grants_differ(void)
{
    MOVES({"write /ws; read /usr", "/usr/a", "/ws/a", "/usr"},
          {"write /ws; write /tmp", "/ws/a", "/tmp/a", NULL},
          {"write /ws", "/ws/a", "/out/a", "none"},
          {"write /ws; unix /ws/s", "/ws/s/a", "/ws/a", "/ws/s"},
          {"write /ws; deny /ws/d", "/ws/a", "/ws/d/a", "/ws/d"},
          {"write /ws; deny /ws/d; deny /ws/e", "/ws/d/a", "/ws/e/b", NULL});
    PASS();
}

TEST patterns_on_the_way(void)
{
    MOVES({"write /ws; deny secrets/", "/ws/a", "/ws/secrets", "secrets/"},
          {"write /ws; deny secrets/", "/ws/a", "/ws/b/secrets", "secrets/"},
          {"write /ws; deny secrets/", "/ws/a", "/ws/secrets/a", "secrets/"},
          {"write /ws; deny secrets/", "/ws/a", "/ws/b/c", NULL},
          /* Below the base a deep pattern is everywhere; beside it it is nowhere. */
          {"write /ws; write /tmp; deny secrets/", "/ws/a", "/tmp/a", "secrets/"},
          {"write /ws; write /tmp; deny **/x/.env", "/ws/a", "/tmp/a", "**/x/.env"},
          {"write /ws; deny **/x/.env", "/ws/a", "/ws/b/c", NULL},
          {"write /ws; deny **/x/.env", "/ws/a", "/ws/b/x", "**/x/.env"},
          {"write /ws; deny **/x/.env", "/ws/a/x", "/ws/b/x", NULL},
          {"write /ws; protect **/f", "/ws/a", "/ws/b", NULL},
          /* From one depth to another, where a pattern counts the levels. */
          {"write /ws; deny */*/k", "/ws/a", "/ws/b", NULL},
          {"write /ws; deny */*/k", "/ws/a", "/ws/b/c", "*/*/k"},
          {"write /ws; deny */*/k", "/ws/a/b", "/ws/a/c", NULL},
          {"write /ws; deny */*/k", "/ws/a/b/c", "/ws/d/e/f/g", NULL},
          {"write /ws; deny a*/k", "/ws/a1", "/ws/a2", NULL},
          {"write /ws; deny a*/k", "/ws/a1", "/ws/b", "a*/k"},
          {"write /ws; deny [ab]/k; deny [bc]/k", "/ws/b", "/ws/a", "[bc]/k"});
    PASS();
}

TEST free_moves(void)
{
    MOVES({"write /ws", "/ws/a", "/ws/b", NULL}, {"write /ws", "/ws/a", "/ws/b/c/d", NULL},
          {GIT "; deny *.pem; deny /ws/k/l", "/ws/src/a", "/ws/lib/a", NULL},
          {GIT, "/ws/.git", "/ws/.git", NULL}, {"write /ws; read /usr", "/usr/a", "/usr/b", NULL});
    PASS();
}

/* --- the property ----------------------------------------------------------------------------- */

/* Whether every path down to `depth` below has the same answers at both ends. */
static bool same_below(const struct policy *policy, const struct policy_at *from,
                       const struct policy_at *to, int depth)
{
    for (size_t i = 0; i < COUNT(alphabet); i++) {
        const struct name name = {alphabet[i], strlen(alphabet[i])};
        struct policy_at one = *from;
        struct policy_at other = *to;
        char here[9];
        char there[9];

        decide_step(policy, &one, name);
        decide_step(policy, &other, name);
        if (strcmp(intents_at(policy, &one, here), intents_at(policy, &other, there)) != 0)
            return false;
        if (depth > 1 && !same_below(policy, &one, &other, depth - 1))
            return false;
    }
    return true;
}

/* Whether the place itself has the same answers, as far as its parents' are not asked for. */
static bool same_here(const struct policy *policy, const struct policy_at *from,
                      const struct policy_at *to)
{
    for (int intent = INTENT_STAT; intent <= INTENT_CONNECT; intent++)
        if (intent != INTENT_CREATE && intent != INTENT_REMOVE &&
            decide_here(policy, from, (enum intent)intent).allowed !=
                decide_here(policy, to, (enum intent)intent).allowed)
            return false;
    return true;
}

struct tally {
    unsigned allowed;
    unsigned ruled;   /* allowed, with rules active below */
    unsigned refused; /* where an answer would have changed */
    unsigned careful; /* refused, though none that was looked at would have */
    unsigned broken;
    unsigned nameless; /* refused without the rule, though one is on the way */
};

static void try_move(const struct policy *policy, const char *rules, struct random *random,
                     struct tally *tally)
{
    char from[64] = BASE;
    char to[64] = BASE;

    append_random_path(random, from, 1 + random_below(random, 3));
    append_random_path(random, to, 1 + random_below(random, 3));
    if (strcmp(from, to) == 0)
        return;

    struct policy_at a = stand(policy, from);
    struct policy_at b = stand(policy, to);
    struct verdict verdict = decide_move(policy, &a, &b);
    struct verdict back = decide_move(policy, &b, &a);
    bool same = same_here(policy, &a, &b) && same_below(policy, &a, &b, 3);

    if (verdict.allowed != back.allowed || (verdict.allowed && !same)) {
        printf("%s: %s -> %s\n", rules, from, to);
        tally->broken++;
    }
    if (!verdict.allowed && verdict.rule == POLICY_NONE)
        tally->nameless++;
    if (verdict.allowed) {
        tally->allowed++;
        tally->ruled += (a.layers->inner[0] | a.layers->inner[1] | a.layers->inner[2] |
                         a.layers->inner[3]) != 0;
    } else {
        tally->refused += !same;
        tally->careful += same;
    }
}

TEST no_allowed_move_changes_a_verdict(void)
{
    enum { POLICIES = 4000, TRIES = 25 };
    const uint64_t seed = seed_of("test_move");
    struct tally tally = {0};

    for (unsigned i = 0; i < POLICIES; i++) {
        struct random random = random_of(seed, 1, i);
        char rules[1024];

        random_rules(&random, rules, 6);
        struct policy *policy = policy_of(rules);

        ASSERT(policy != NULL);
        for (unsigned j = 0; j < TRIES; j++)
            try_move(policy, rules, &random, &tally);
        free(policy);
    }
    printf("%u moves allowed (%u with rules below), %u refused, %u out of caution\n", tally.allowed,
           tally.ruled, tally.refused, tally.careful);
    ASSERT_EQ(0, tally.broken);
    ASSERT_EQ(0, tally.nameless); /* all lie below a grant: there is always a rule to name */
    /* Neither "always" nor "never" nor "only without rules" would do. */
    ASSERT(tally.allowed > POLICIES * TRIES / 4);
    ASSERT(tally.ruled > POLICIES * TRIES / 20);
    ASSERT(tally.refused > POLICIES * TRIES / 4);
    ASSERT(tally.careful < tally.allowed / 2);
    PASS();
}

SUITE(move)
{
    RUN_TEST(ancestors_of_a_protected_path_stay);
    RUN_TEST(ancestors_of_any_rule_stay);
    RUN_TEST(grants_differ);
    RUN_TEST(patterns_on_the_way);
    RUN_TEST(free_moves);
    RUN_TEST(no_allowed_move_changes_a_verdict);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(move);
    GREATEST_MAIN_END();
}
