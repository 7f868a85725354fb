/* SPDX-License-Identifier: MIT */
/* Building policies: what is refused, and with which words. The flat form has a program of its own.
 */
#include <errno.h>

#include "policy_fixture.h"

TEST refusals_of_paths(void)
{
    static const char *const bad[] = {
        "", "a", "a/b", ".", "./a", "//", "/a/", "/a//b", "/./a", "/a/..", "/../a", "/a/.",
    };
    static const enum rule_kind kinds[] = {RULE_READ, RULE_WRITE, RULE_DENY, RULE_PROTECT,
                                           RULE_UNIX};

    for (size_t i = 0; i < COUNT(bad) * COUNT(kinds); i++) {
        const char *path = bad[i / COUNT(kinds)];
        struct policy_builder *builder = policy_builder_new();
        char message[128];

        snprintf(message, sizeof message, "here:1: \"%s\": not a canonical absolute path", path);
        ASSERT_EQm(path, -EINVAL, policy_add(builder, kinds[i % COUNT(kinds)], path, "here:1"));
        ASSERT_STR_EQ(message, policy_builder_error(builder));
        policy_builder_free(builder);
    }
    PASS();
}

TEST refusals_of_kinds(void)
{
    static const int bad[] = {0, -1, RULE_UNIX + 1, 1000};

    for (size_t i = 0; i < COUNT(bad); i++) {
        struct policy_builder *builder = policy_builder_new();

        ASSERT_EQ(-EINVAL, policy_add(builder, (enum rule_kind)bad[i], "/a", "here"));
        ASSERT_STR_EQ("here: \"/a\": no such kind of rule", policy_builder_error(builder));
        policy_builder_free(builder);
    }
    PASS();
}

TEST refusals_of_patterns(void)
{
    static const char grants[] = "only denies and protections can be patterns";
    static const char dots[] = "\".\" and \"..\" have no place in a pattern";
    static const char stars[] = "\"**\" has to stand alone between slashes";
    static const struct {
        enum rule_kind kind;
        const char *pattern;
        const char *why;
    } rows[] = {
        {RULE_READ, "*.c", grants},
        {RULE_WRITE, "/a", grants},
        {RULE_UNIX, "*.sock", grants},
        {0, "*", grants},
        {RULE_DENY, "", "the pattern is empty"},
        {RULE_DENY, "..", dots},
        {RULE_DENY, "../a", dots},
        {RULE_DENY, "a/..", dots},
        {RULE_DENY, "a/./b", dots},
        {RULE_DENY, "a/.", dots},
        {RULE_DENY, "././a", dots},
        {RULE_DENY, "/.", dots},
        {RULE_DENY, "/./a", dots},
        {RULE_DENY, "/..", dots},
        {RULE_DENY, "**/..", dots},
        {RULE_PROTECT, "*/../b", dots},
        /* Escaped they would be names that no file can have. */
        {RULE_DENY, "\\.", dots},
        {RULE_DENY, "\\.\\.", dots},
        {RULE_DENY, ".\\.", dots},
        {RULE_DENY, "a/\\../b", dots},
        {RULE_DENY, "./\\.", dots},
        {RULE_DENY, "a**", stars},
        {RULE_DENY, "**a", stars},
        {RULE_DENY, "***", stars},
        {RULE_DENY, "a/**b/c", stars},
        {RULE_DENY, "\\\\**", stars},
        {RULE_DENY, "a\\", "a backslash at the end"},
        {RULE_DENY, "a\\/b", "a backslash at the end"},
        {RULE_DENY, "[a", "a \"[\" without its \"]\""},
        {RULE_DENY, "[a/b]", "a \"[\" without its \"]\""},
        {RULE_DENY, "x/[]/y", "a \"[\" without its \"]\""},
        {RULE_PROTECT, "[z-a]", "a range that runs backwards"},
        {RULE_DENY, "[[:digit:]]", "classes like \"[:alpha:]\" are not known"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct policy_builder *builder = policy_builder_new();
        const char *pattern = rows[i].pattern;
        char message[200];

        snprintf(message, sizeof message, "p.json:7: \"%s\": %s", pattern, rows[i].why);
        ASSERT_EQm(pattern, -EINVAL,
                   policy_add_pattern(builder, rows[i].kind, "/ws", pattern, "p.json:7"));
        ASSERT_STR_EQ(message, policy_builder_error(builder));
        policy_builder_free(builder);
    }
    PASS();
}

TEST refusals_of_bases(void)
{
    static const char *const bad[] = {"", "ws", "/ws/", "/ws/..", "//ws", "."};

    for (size_t i = 0; i < COUNT(bad); i++) {
        struct policy_builder *builder = policy_builder_new();

        ASSERT_EQm(bad[i], -EINVAL, policy_add_pattern(builder, RULE_DENY, bad[i], "*", "o"));
        ASSERT(strstr(policy_builder_error(builder), "not a canonical absolute path") != NULL);
        policy_builder_free(builder);
    }
    PASS();
}

TEST one_refusal_spoils_the_builder(void)
{
    struct policy_builder *builder = policy_builder_new();

    ASSERT_EQ(NULL, policy_builder_error(builder));
    ASSERT_EQ(0, policy_add(builder, RULE_WRITE, "/ws", "1"));
    ASSERT_EQ(-EINVAL, policy_add_pattern(builder, RULE_DENY, "/ws", "[", "2"));
    ASSERT_EQ(-EINVAL, policy_add(builder, RULE_WRITE, "/ws", "3"));
    ASSERT_EQ(-EINVAL, policy_add_pattern(builder, RULE_DENY, "/ws", "a", "4"));
    ASSERT_EQ(NULL, policy_build(builder));
    ASSERT_STR_EQ("2: \"[\": a \"[\" without its \"]\"", policy_builder_error(builder));
    policy_builder_free(builder);
    policy_builder_free(NULL);
    PASS();
}

/* What is refused may be of any length. */
TEST long_texts(void)
{
    struct policy_builder *builder = policy_builder_new();
    char text[5000];

    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    ASSERT_EQ(-EINVAL, policy_add(builder, RULE_READ, text, "here"));
    ASSERT(strstr(policy_builder_error(builder), "\": not a canonical absolute path") != NULL);
    policy_builder_free(builder);

    builder = policy_builder_new();
    ASSERT_EQ(-EINVAL, policy_add(builder, RULE_READ, "a", text));
    ASSERT(strlen(policy_builder_error(builder)) < 512);
    policy_builder_free(builder);
    PASS();
}

/* `count` patterns, each with a directory behind a star. */
static struct policy_builder *with_inner(unsigned count)
{
    struct policy_builder *builder = policy_builder_new();
    char pattern[32];

    policy_add(builder, RULE_WRITE, "/ws", "test");
    for (unsigned i = 0; i < count; i++) {
        snprintf(pattern, sizeof pattern, "d%u-*/x", i);
        policy_add_pattern(builder, RULE_DENY, "/ws", pattern, "test");
    }
    return builder;
}

TEST too_many_patterns(void)
{
    struct policy_builder *builder = with_inner(POLICY_INNER);
    struct policy *policy = policy_build(builder);

    ASSERT(policy != NULL);
    ASSERT_EQ(NULL, policy_check(policy, policy->size));
    ASSERT_FALSE(decide(policy, "/ws/d255-z/x", INTENT_READ).allowed);
    ASSERT(decide(policy, "/ws/d255-z/y", INTENT_READ).allowed);
    ASSERT(decide(policy, "/ws/d256-z/x", INTENT_READ).allowed);
    free(policy);
    policy_builder_free(builder);

    builder = with_inner(POLICY_INNER + 1);
    ASSERT_EQ(NULL, policy_build(builder));
    ASSERT_STR_EQ("too many patterns: more than 256 directories with a wildcard in their path",
                  policy_builder_error(builder));
    policy_builder_free(builder);
    PASS();
}

/* Patterns with nothing below them take no room in the set. */
TEST many_plain_patterns(void)
{
    struct policy_builder *builder = policy_builder_new();
    struct policy *policy;
    char text[32];

    ASSERT_EQ(0, policy_add(builder, RULE_WRITE, "/ws", "test"));
    for (int i = 0; i < 1000; i++) {
        snprintf(text, sizeof text, "*.%d", i);
        ASSERT_EQ(0, policy_add_pattern(builder, RULE_DENY, "/ws", text, "test"));
    }
    policy = policy_build(builder);
    ASSERT(policy != NULL);
    ASSERT_EQ(NULL, policy_check(policy, policy->size));
    ASSERT_EQ(1, policy->inner);
    ASSERT_FALSE(decide(policy, "/ws/a/b.999", INTENT_READ).allowed);
    ASSERT(decide(policy, "/ws/a/b.1000", INTENT_READ).allowed);
    free(policy);
    policy_builder_free(builder);
    PASS();
}

TEST builds_more_than_once(void)
{
    struct policy_builder *builder = policy_builder_new();
    struct policy *one = policy_build(builder);
    struct policy *two = policy_build(builder);

    ASSERT(one != NULL && two != NULL);
    ASSERT_EQ(NULL, policy_check(one, one->size));
    ASSERT_FALSE(decide(one, "/", INTENT_STAT).allowed);
    ASSERT_EQ(one->size, two->size);
    ASSERT_EQ(0, memcmp(one, two, one->size));
    free(two);
    ASSERT_EQ(0, policy_add(builder, RULE_WRITE, "/ws", "test"));
    ASSERT_EQ(0, policy_add_pattern(builder, RULE_DENY, "/ws", "a/**/b", "test"));
    two = policy_build(builder);
    ASSERT(two != NULL);
    ASSERT_EQ(NULL, policy_check(two, two->size));
    ASSERT(decide(two, "/ws/b", INTENT_WRITE).allowed);
    ASSERT_FALSE(decide(two, "/ws/a/x/b", INTENT_WRITE).allowed);
    free(one);
    free(two);
    policy_builder_free(builder);
    PASS();
}

/* The table is found by hash, however many there are; a list would take minutes under a sanitizer.
 */
TEST a_hundred_thousand_grants(void)
{
    enum { GRANTS = 100000 };
    struct policy_builder *builder = policy_builder_new();
    struct policy *policy;
    char path[64];

    for (unsigned i = 0; i < GRANTS; i++) {
        snprintf(path, sizeof path, "/srv/%u/project-%u", i % 300, i);
        ASSERT_EQ(0, policy_add(builder, i % 2 ? RULE_READ : RULE_WRITE, path, "test"));
    }
    policy = policy_build(builder);
    ASSERT(policy != NULL);
    ASSERT_EQ(NULL, policy_check(policy, policy->size));
    for (unsigned i = 0; i < GRANTS; i++) {
        struct verdict verdict;

        snprintf(path, sizeof path, "/srv/%u/project-%u", i % 300, i);
        verdict = decide(policy, path, INTENT_WRITE);
        ASSERT_EQ(i % 2 == 0, verdict.allowed);
        ASSERT_STR_EQ(path, rule_text(policy, verdict.rule));
        snprintf(path, sizeof path, "/srv/%u/project-%u/src/file.c", i % 300, i);
        ASSERT(decide(policy, path, INTENT_READ).allowed);
        snprintf(path, sizeof path, "/srv/%u/project-%u", (i + 1) % 300, i);
        ASSERT_FALSE(decide(policy, path, INTENT_STAT).allowed);
    }
    ASSERT(decide(policy, "/srv/299", INTENT_STAT).allowed);
    ASSERT_FALSE(decide(policy, "/srv/300", INTENT_STAT).allowed);
    free(policy);
    policy_builder_free(builder);
    PASS();
}

/* So many that they meet in the table: one must not be taken for another that begins with it. */
TEST names_that_begin_alike(void)
{
    struct policy_builder *builder = policy_builder_new();
    struct policy *policy;
    char path[300];

    for (int length = 2; length <= 256; length += 2) {
        memset(path, 'x', sizeof path);
        path[0] = '/';
        path[1 + length] = '\0';
        ASSERT_EQ(0, policy_add(builder, RULE_READ, path, "test"));
    }
    policy = policy_build(builder);
    ASSERT(policy != NULL);
    for (int length = 1; length <= 256; length++) {
        memset(path, 'x', sizeof path);
        path[0] = '/';
        path[1 + length] = '\0';
        struct verdict verdict = decide(policy, path, INTENT_READ);

        ASSERT_EQm(path, length % 2 == 0, verdict.allowed);
        ASSERT_STR_EQ(verdict.allowed ? path : "none", rule_text(policy, verdict.rule));
    }
    free(policy);
    policy_builder_free(builder);
    PASS();
}

SUITE(building)
{
    RUN_TEST(refusals_of_paths);
    RUN_TEST(refusals_of_kinds);
    RUN_TEST(refusals_of_patterns);
    RUN_TEST(refusals_of_bases);
    RUN_TEST(one_refusal_spoils_the_builder);
    RUN_TEST(long_texts);
    RUN_TEST(too_many_patterns);
    RUN_TEST(many_plain_patterns);
    RUN_TEST(builds_more_than_once);
    RUN_TEST(a_hundred_thousand_grants);
    RUN_TEST(names_that_begin_alike);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(building);
    GREATEST_MAIN_END();
}
