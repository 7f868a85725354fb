/* SPDX-License-Identifier: MIT */
/* Verdicts: one table of rules, places and what is allowed there. */
#include "policy_fixture.h"

struct row {
    const char *path;
    const char *allowed;
};

/* Whether all rows hold; prints those that do not. */
static bool holds(const char *rules, const struct row *rows, size_t count)
{
    struct policy *policy = policy_of(rules);
    bool right = policy != NULL;
    char got[9];

    for (size_t i = 0; policy != NULL && i < count; i++)
        if (strcmp(intents(policy, rows[i].path, got), rows[i].allowed) != 0) {
            printf("%s: at %s \"%s\" is allowed and not \"%s\"\n", rules, rows[i].path, got,
                   rows[i].allowed);
            right = false;
        }
    free(policy);
    return right;
}

#define HOLDS(rules, ...)                               \
    do {                                                \
        static const struct row rows[] = {__VA_ARGS__}; \
        ASSERT(holds(rules, rows, COUNT(rows)));        \
    } while (0)

/* The top of a write grant: its own name belongs to a directory that may not be changed. */
#define TOP "srwxn"

TEST grants(void)
{
    HOLDS("", {"/", NOTHING}, {"/a", NOTHING}, {"/a/b", NOTHING});
    HOLDS("write /ws", {"/ws", TOP}, {"/ws/a", ALL}, {"/ws/a/b/.c", ALL}, {"/x", NOTHING});
    HOLDS("read /usr", {"/usr", READABLE}, {"/usr/bin/ls", READABLE}, {"/us", NOTHING});
    HOLDS("write /", {"/", TOP}, {"/a", ALL}, {"/a/b", ALL});
    HOLDS("read /", {"/", READABLE}, {"/a", READABLE});
    HOLDS("read /a; write /a/b", {"/a", READABLE}, {"/a/c", READABLE}, {"/a/b", TOP},
          {"/a/b/c", ALL});
    HOLDS("write /a; read /a/b", {"/a/c", ALL}, {"/a/b", READABLE}, {"/a/b/c", READABLE});
    /* At one path the stronger grant, in either order. */
    HOLDS("read /a; write /a", {"/a/b", ALL});
    HOLDS("write /a; read /a", {"/a/b", ALL});
    PASS();
}

TEST ancestors_are_passages(void)
{
    HOLDS("write /srv/team/ws", {"/", PASSAGE}, {"/srv", PASSAGE}, {"/srv/team", PASSAGE},
          {"/srv/other", NOTHING}, {"/srv/team/x", NOTHING}, {"/srv/team/ws/x", ALL});
    HOLDS("unix /run/d/sock", {"/run", PASSAGE}, {"/run/d", PASSAGE}, {"/run/e", NOTHING});
    /* A deny or a protection opens no passage. */
    HOLDS("deny /srv/a/b", {"/", NOTHING}, {"/srv", NOTHING}, {"/srv/a", NOTHING});
    HOLDS("protect /srv/a", {"/srv", NOTHING}, {"/srv/a", NOTHING});
    /* Told of a deny first, the nodes above still hear of a grant. */
    HOLDS("deny /srv/a/b/c; read /srv/a/b/d", {"/srv", PASSAGE}, {"/srv/a", PASSAGE},
          {"/srv/a/b", PASSAGE}, {"/srv/a/b/d", READABLE});
    HOLDS("read /srv/a/b; deny /srv/a", {"/srv", PASSAGE}, {"/srv/a", PASSAGE},
          {"/srv/a/c", NOTHING}, {"/srv/a/b", READABLE});
    PASS();
}

TEST neighbours(void)
{
    HOLDS("write /ws/root", {"/ws/root-evil", NOTHING}, {"/ws/root-evil/x", NOTHING},
          {"/ws/roo", NOTHING}, {"/ws/root.bak/root", NOTHING}, {"/ws/ROOT/x", NOTHING},
          {"/root/x", NOTHING}, {"/ws/x/root/y", NOTHING}, {"/ws/root/x", ALL});
    HOLDS("write /ws; deny /ws/key", {"/ws/key", NOTHING}, {"/ws/keys", ALL}, {"/ws/ke", ALL},
          {"/ws/key2/key", ALL});
    PASS();
}

TEST denies(void)
{
    HOLDS("write /ws; deny /ws/a", {"/ws/a", NOTHING}, {"/ws/a/b/c", NOTHING}, {"/ws/b", ALL});
    HOLDS("write /ws; deny /ws/a; read /ws/a/b", {"/ws/a", PASSAGE}, {"/ws/a/c", NOTHING},
          {"/ws/a/b/c", READABLE});
    HOLDS("write /ws; deny /ws/a; write /ws/a/b", {"/ws/a/b", TOP}, {"/ws/a/b/c", ALL});
    /* At the same path deny wins, in any order. */
    HOLDS("write /ws; deny /ws", {"/ws", NOTHING}, {"/ws/a", NOTHING});
    HOLDS("deny /ws; write /ws", {"/ws", NOTHING}, {"/ws/a", NOTHING});
    HOLDS("write /ws; protect /ws/a; deny /ws/a; unix /ws/a; read /ws/a", {"/ws/a/b", NOTHING});
    HOLDS("write /; deny /", {"/", NOTHING}, {"/a", NOTHING});
    PASS();
}

TEST patterns_at_any_depth(void)
{
    HOLDS("write /ws; deny *.pem", {"/ws/k.pem", NOTHING}, {"/ws/a/b/.pem", NOTHING},
          {"/ws/d.pem/x/y", NOTHING}, {"/ws/k.pem2", ALL}, {"/ws/pem", ALL}, {"/k.pem", NOTHING});
    HOLDS("write /ws; deny **/.env", {"/ws/.env", NOTHING}, {"/ws/a/.env", NOTHING},
          {"/ws/a/b/c/.env", NOTHING}, {"/ws/.env/x", NOTHING}, {"/ws/.env2", ALL},
          {"/ws/a.env", ALL});
    HOLDS("write /ws; deny secrets/", {"/ws/secrets", NOTHING}, {"/ws/secrets/a", NOTHING},
          {"/ws/a/b/secrets/c/d", NOTHING}, {"/ws/secret", ALL}, {"/ws/a/secrets2", ALL});
    HOLDS("write /ws; deny **/a/*/b", {"/ws/a/x/b", NOTHING}, {"/ws/q/r/a/x/b/c", NOTHING},
          {"/ws/a/b", ALL}, {"/ws/a/x/y/b", ALL}, {"/ws/a/a/x/b", NOTHING}, {"/ws/a/a/b", NOTHING});
    HOLDS("write /ws; write /b; deny *.pem", {"/b/k.pem", ALL}); /* below the base only */
    PASS();
}

TEST patterns_from_the_base(void)
{
    HOLDS("write /ws; deny config/id_*", {"/ws/config/id_rsa", NOTHING}, {"/ws/config/x", ALL},
          {"/ws/a/config/id_rsa", ALL}, {"/ws/config", ALL});
    HOLDS("write /ws; deny ./.env", {"/ws/.env", NOTHING}, {"/ws/a/.env", ALL});
    HOLDS("write /ws; deny a/**/b", {"/ws/a/b", NOTHING}, {"/ws/a/x/b", NOTHING},
          {"/ws/a/x/y/b/z", NOTHING}, {"/ws/b", ALL}, {"/ws/x/a/b", ALL}, {"/ws/a/x", ALL});
    HOLDS("write /ws; deny a/**/**/b", {"/ws/a/b", NOTHING}, {"/ws/a/x/y/b", NOTHING},
          {"/ws/a/x", ALL});
    HOLDS("write /ws; deny a/**", {"/ws/a", ALL}, {"/ws/a/x", NOTHING}, {"/ws/a/x/y", NOTHING});
    HOLDS("write /ws; deny **", {"/ws", TOP}, {"/ws/a", NOTHING}, {"/ws/a/b", NOTHING});
    HOLDS("write /ws; deny */x", {"/ws/a/x", NOTHING}, {"/ws/x", ALL}, {"/ws/a/b/x", ALL});
    HOLDS("write /srv; deny /srv/id_*", {"/srv/id_rsa", NOTHING}, {"/srv/a/id_rsa", ALL});
    HOLDS("write /ws; deny a\\*b/\\[x", {"/ws/a*b/[x", NOTHING}, {"/ws/aXb/[x", ALL});
    PASS();
}

/* The base itself, however it is written. */
TEST patterns_for_the_base(void)
{
    static const char *const dots[] = {".", "./", ".//"};
    static const struct row rows[] = {
        {"/ws", NOTHING}, {"/ws/a", NOTHING}, {"/ws/a/b", NOTHING}, {"/b/a", ALL}};
    char rules[64];

    for (size_t i = 0; i < COUNT(dots); i++) {
        snprintf(rules, sizeof rules, "write /ws; write /b; deny %s", dots[i]);
        ASSERT(holds(rules, rows, COUNT(rows)));
    }
    PASS();
}

TEST the_deepest_rule_wins(void)
{
    /* A grant below what a pattern denies, and a pattern below a grant. */
    HOLDS("write /ws; deny secrets/; read /ws/secrets/pub", {"/ws/secrets/x", NOTHING},
          {"/ws/secrets/pub", READABLE}, {"/ws/secrets/pub/x", READABLE},
          {"/ws/secrets/pub/secrets", NOTHING});
    HOLDS("deny *.pem; write /ws/a", {"/ws/a/b.pem", NOTHING}, {"/ws/a/b", ALL});
    /* Two stars at the end stand on the first level: a grant further down is more specific. Alone
     * they are any name at any depth, so nothing below is. */
    HOLDS("write /ws; deny a/**; read /ws/a/b/c", {"/ws/a/b/d", NOTHING}, {"/ws/a/b/c", READABLE});
    HOLDS("write /ws; deny **; read /ws/a/b/c", {"/ws/a/b/d", NOTHING}, {"/ws/a/b/c", NOTHING});
    /* On one level deny wins, also a pattern against a name. */
    HOLDS("write /ws; deny *.pem; write /ws/a.pem", {"/ws/a.pem", NOTHING},
          {"/ws/a.pem/b", NOTHING});
    HOLDS("write /ws; deny a*; deny *b; write /ws/ab/c", {"/ws/ab/x", NOTHING},
          {"/ws/ab/c/x", ALL});
    PASS();
}

TEST protections(void)
{
    HOLDS("write /ws; protect /ws/.git/hooks", {"/ws/.git", ALL}, {"/ws/.git/hooks", READABLE},
          {"/ws/.git/hooks/pre-commit", READABLE}, {"/ws/.git/index", ALL});
    HOLDS("write /ws; protect **/f", {"/ws/f", READABLE}, {"/ws/a/f/b", READABLE}, {"/ws/g", ALL});
    /* It gives nothing by itself, and what was only readable stays so. */
    HOLDS("read /usr; protect /usr/x; protect /opt", {"/usr/x", READABLE}, {"/opt", NOTHING});
    HOLDS("write /ws; protect /ws/a; write /ws/a", {"/ws/a/b", READABLE});
    HOLDS("write /ws; protect /ws/a; deny /ws/a/b", {"/ws/a/b", NOTHING}, {"/ws/a/c", READABLE});
    /* What may be written again below cannot be taken away by its name. */
    HOLDS("write /ws; protect /ws/a; write /ws/a/b", {"/ws/a/b", TOP}, {"/ws/a/b/c", ALL});
    PASS();
}

TEST sockets(void)
{
    HOLDS("unix /run/x.sock", {"/run/x.sock", "nb"}, {"/run/y.sock", NOTHING}, {"/run", PASSAGE},
          {"/run/x.sock/y", "nb"});
    HOLDS("read /run; unix /run/d", {"/run/d/s", "srxnb"}, {"/run/s", READABLE});
    HOLDS("unix /run; deny /run/d", {"/run/s", "nb"}, {"/run/d/s", NOTHING});
    HOLDS("unix /run; deny /run/d; unix /run/d/e", {"/run/d/e", "nb"}, {"/run/d/f", NOTHING});
    HOLDS("write /ws", {"/ws/s", ALL}); /* what may be written may hold sockets */
    HOLDS("read /ws", {"/ws/s", READABLE});
    PASS();
}

TEST the_verdict_names_its_rule(void)
{
    static const struct {
        const char *path;
        enum intent intent;
        bool allowed;
        const char *text;
        const char *origin;
    } rows[] = {
        {"/ws/a", INTENT_WRITE, true, "/ws", "rule 1"},
        {"/usr/bin", INTENT_READ, true, "/usr", "rule 2"},
        {"/usr/bin", INTENT_WRITE, false, "/usr", "rule 2"},
        {"/ws/a/b.pem", INTENT_READ, false, "*.pem", "rule 3"},
        {"/ws/b.pem/x", INTENT_STAT, false, "*.pem", "rule 3"},
        {"/ws/.git/hooks/x", INTENT_CREATE, false, "/ws/.git/hooks", "rule 4"},
        {"/ws/.git/hooks/x", INTENT_READ, true, "/ws/.git/hooks", "rule 4"},
        {"/run/s", INTENT_CONNECT, true, "/run/s", "rule 5"},
        {"/run/s", INTENT_BIND, true, "/run/s", "rule 5"},
        {"/run", INTENT_STAT, true, "/run/s", "rule 5"},
        {"/run", INTENT_READ, false, "none", "none"},
        {"/home", INTENT_READ, false, "none", "none"},
        {"/ws", INTENT_REMOVE, false, "none", "none"},
        {"/usr/w", INTENT_REMOVE, false, "/usr", "rule 2"}, /* by the directory that holds it */
        {"/usr/w/x", INTENT_REMOVE, true, "/usr/w", "rule 6"},
        {"/ws/secrets.pem", INTENT_READ, false, "*.pem", "rule 3"}, /* of two the first */
    };
    struct policy *policy = policy_of("write /ws; read /usr; deny *.pem; protect /ws/.git/hooks;"
                                      "unix /run/s; write /usr/w; deny secrets*; read /usr");

    ASSERT(policy != NULL);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct verdict verdict = decide(policy, rows[i].path, rows[i].intent);

        ASSERT_EQm(rows[i].path, rows[i].allowed, verdict.allowed);
        ASSERT_STR_EQm(rows[i].path, rows[i].text, rule_text(policy, verdict.rule));
        ASSERT_STR_EQm(rows[i].path, rows[i].origin, rule_origin(policy, verdict.rule));
    }
    free(policy);
    PASS();
}

TEST following(void)
{
    struct policy *policy = policy_of("write /ws; deny *.pem; deny a/b");
    struct policy_at at;
    struct policy_at kept;
    char got[9];

    decide_start(policy, &at);
    ASSERT(decide_follow(policy, &at, "/ws//./a/"));
    kept = at;
    ASSERT_STR_EQ(ALL, intents_at(policy, &at, got));
    ASSERT(decide_follow(policy, &at, "b"));
    ASSERT_STR_EQ(NOTHING, intents_at(policy, &at, got));
    at = kept;
    ASSERT(decide_follow(policy, &at, "c/x.pem"));
    ASSERT_STR_EQ(NOTHING, intents_at(policy, &at, got));
    at = kept;
    ASSERT(decide_follow(policy, &at, "..."));
    ASSERT_FALSE(decide_follow(policy, &at, "c/../d"));
    ASSERT_FALSE(decide(policy, "/ws/a/../c", INTENT_STAT).allowed);
    ASSERT_FALSE(decide_here(policy, &kept, (enum intent)99).allowed);
    free(policy);
    PASS();
}

SUITE(verdicts)
{
    RUN_TEST(grants);
    RUN_TEST(ancestors_are_passages);
    RUN_TEST(neighbours);
    RUN_TEST(denies);
    RUN_TEST(patterns_at_any_depth);
    RUN_TEST(patterns_from_the_base);
    RUN_TEST(patterns_for_the_base);
    RUN_TEST(the_deepest_rule_wins);
    RUN_TEST(protections);
    RUN_TEST(sockets);
    RUN_TEST(the_verdict_names_its_rule);
    RUN_TEST(following);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(verdicts);
    GREATEST_MAIN_END();
}
