/* SPDX-License-Identifier: MIT */
/* Shell patterns for one name. fuzz_pattern compares them with another matcher. */
#include "pattern.h"
#include "policy_fixture.h"

static bool match(const char *pattern, const char *name)
{
    return pattern_match(pattern, strlen(pattern), name, strlen(name));
}

TEST matches(void)
{
    static const struct {
        const char *pattern;
        const char *yes[6];
        const char *no[6];
    } rows[] = {
        {"abc", {"abc"}, {"ab", "abcd", "xabc", "ABC", "a"}},
        {"*", {"a", "abc", ".hidden", "*", "\xff"}, {NULL}},
        {"*.pem", {"a.pem", ".pem", "a.pem.pem", "\n.pem"}, {"pem", "a.pem~", "a.PEM", "a.pe"}},
        {"id_*", {"id_", "id_rsa", "id_*"}, {"id", "xid_rsa", "_id_"}},
        {"a*b*c", {"abc", "aXbYc", "abbcc", "abcbc"}, {"ab", "acb", "abcd", "xabc"}},
        {"*ab", {"ab", "aab", "abab"}, {"aba", "b", "a"}},
        {"?", {"a", ".", "\xff", "?"}, {"ab", "\xc3\xa9"}},
        {"a?c", {"abc", "a?c", "a.c"}, {"ac", "abbc", "abd"}},
        {"*?", {"a", "ab"}, {NULL}},
        {"?*?", {"ab", "abc"}, {"a"}},
        {"[abc]", {"a", "b", "c"}, {"d", "ab", "[", "]", "[abc]"}},
        {"[a-c]x", {"ax", "bx", "cx"}, {"dx", "-x", "a", "x"}},
        {"[!a-c]", {"d", "!", "-", "\xff"}, {"a", "b", "c"}},
        {"[^a-c]", {"d", "^"}, {"a", "b", "c"}},
        {"[a^!]", {"a", "^", "!"}, {"b"}},
        {"[]a]", {"]", "a"}, {"b", "[", "]a]"}},
        {"[!]a]", {"b", "!"}, {"]", "a"}},
        {"[]-a]", {"]", "^", "_", "`", "a"}, {"-", "b"}},
        {"[a-]", {"a", "-"}, {"b", "]"}},
        {"[-a]", {"a", "-"}, {"b"}},
        {"[+--]", {"+", ",", "-"}, {".", "*"}},
        {"[a\\-c]", {"a", "-", "c"}, {"b", "\\"}},
        {"[\\]]", {"]"}, {"\\", "[", "\\]"}},
        {"[\\[:]", {"[", ":"}, {"\\", "a"}},
        {"[*?]", {"*", "?"}, {"a"}},
        {"[\x80-\xff]", {"\x80", "\xc3", "\xff"}, {"a", "\x7f"}},
        {"[a-cx-z0]", {"a", "c", "x", "z", "0"}, {"d", "w", "-", "1"}},
        {"\\*", {"*"}, {"a", "\\*", "\\"}},
        {"\\?\\[a]", {"?[a]"}, {"x[a]", "?a"}},
        {"a\\b", {"ab"}, {"a\\b"}},
        {"\\\\", {"\\"}, {"\\\\"}},
        {"]", {"]"}, {"a"}},
        {"a]*", {"a]", "a]b"}, {"a"}},
        {"*[0-9]*x", {"1x", "a2bx", "0x1x"}, {"x", "12", "ax"}},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *pattern = rows[i].pattern;

        ASSERT_EQm(pattern, NULL, pattern_error(pattern, strlen(pattern)));
        for (size_t j = 0; j < 6 && rows[i].yes[j] != NULL; j++)
            ASSERTm(pattern, match(pattern, rows[i].yes[j]));
        for (size_t j = 0; j < 6 && rows[i].no[j] != NULL; j++)
            ASSERT_FALSEm(pattern, match(pattern, rows[i].no[j]));
    }
    PASS();
}

TEST lengths_count_and_not_terminators(void)
{
    ASSERT(pattern_match("abX", 2, "abY", 2));
    ASSERT_FALSE(pattern_match("abX", 3, "abX", 2));
    ASSERT(pattern_match("*X", 1, "ab", 2));
    ASSERT(pattern_match("", 0, "", 0));
    ASSERT(pattern_match("**", 2, "", 0));
    ASSERT_FALSE(pattern_match("?", 1, "", 0));
    ASSERT_FALSE(pattern_match("", 0, "a", 1));
    ASSERT_EQ(NULL, pattern_error("[a]", 0));
    ASSERT(pattern_error("[a]", 2) != NULL);
    ASSERT_FALSE(pattern_is_wild("a*", 1));
    PASS();
}

/* No pattern in which something is wrong may pass for one that never matches. */
TEST errors(void)
{
    static const struct {
        const char *pattern;
        const char *why;
    } rows[] = {
        {"\\", "backslash"},        {"abc\\", "backslash"},       {"\\\\\\", "backslash"},
        {"[", "without its"},       {"[a", "without its"},        {"[]", "without its"},
        {"[!", "without its"},      {"[!]", "without its"},       {"[^]", "without its"},
        {"[a\\]", "without its"},   {"[a\\", "without its"},      {"x[a-z", "without its"},
        {"[b-a]", "backwards"},     {"[!z-a]", "backwards"},      {"[a-cz-x]", "backwards"},
        {"[b-\\a]", "backwards"},   {"[\xff-\x80]", "backwards"}, {"[a-z][b-a]", "backwards"},
        {"[[:alpha:]]", "classes"}, {"[![:digit:]]*", "classes"}, {"[a[=b=]]", "classes"},
        {"[[.space.]]", "classes"},
    };
    static const char *const fine[] = {
        "",    "a",    "\\\\", "[a]",     "[!a]", "[]]",   "[a-a]", "[\\a-\\b]", "]",    "[a]]",
        "\\[", "\\[a", "[[]",  "[\\[:]x", "[:a]", "a[b-]", "[[]",   "[a:[b]",    "[=[]",
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *why = pattern_error(rows[i].pattern, strlen(rows[i].pattern));

        ASSERTm(rows[i].pattern, why != NULL);
        ASSERTm(rows[i].pattern, strstr(why, rows[i].why) != NULL);
    }
    for (size_t i = 0; i < COUNT(fine); i++)
        ASSERT_EQm(fine[i], NULL, pattern_error(fine[i], strlen(fine[i])));
    PASS();
}

TEST wild_and_literal(void)
{
    static const struct {
        const char *pattern;
        const char *literal; /* NULL: wild */
    } rows[] = {
        {"abc", "abc"},     {"", ""},         {"a\\*b", "a*b"}, {"\\[a]", "[a]"}, {"\\\\", "\\"},
        {"\\\\\\*", "\\*"}, {"a\\bc", "abc"}, {"]", "]"},       {"*", NULL},      {"a?", NULL},
        {"[a]", NULL},      {"\\\\*", NULL},  {"\\?*", NULL},   {"a\\", "a\\"},   {"!^-", "!^-"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *pattern = rows[i].pattern;
        size_t length = strlen(pattern);
        char out[16];

        ASSERT_EQm(pattern, rows[i].literal == NULL, pattern_is_wild(pattern, length));
        if (rows[i].literal == NULL)
            continue;
        ASSERT_EQm(pattern, strlen(rows[i].literal), pattern_literal(out, pattern, length));
        ASSERT_EQm(pattern, 0, memcmp(out, rows[i].literal, strlen(rows[i].literal)));
        ASSERTm(pattern, match(pattern, rows[i].literal));
    }
    PASS();
}

/* A matcher that tries every way to share a name between the stars would not come back. */
TEST many_stars_end(void)
{
    char pattern[2 * 200 + 2] = "";
    char name[4096];

    for (size_t i = 0; i < 2 * 200; i++)
        pattern[i] = "*a"[i % 2];
    memset(name, 'a', sizeof name);
    ASSERT(pattern_match(pattern, strlen(pattern), name, sizeof name));
    pattern[2 * 200] = 'b';
    ASSERT_FALSE(pattern_match(pattern, strlen(pattern), name, sizeof name));
    name[sizeof name - 1] = 'b';
    ASSERT(pattern_match(pattern, strlen(pattern), name, sizeof name));
    PASS();
}

/* A broken pattern may come with a policy that somebody made by hand. Each lies in memory of just
 * its size, for the sanitizer to see. */
TEST broken_patterns_are_safe(void)
{
    static const char letters[] = {'[', ']', '\\', '-', '!', '*', 'a'};
    const size_t all = 7 * 7 * 7 * 7;

    for (size_t number = 0; number < all; number++) {
        for (size_t length = 1; length <= 4; length++) {
            char *pattern = malloc(length);

            for (size_t i = 0, rest = number; i < length; i++, rest /= 7)
                pattern[i] = letters[rest % 7];
            /* What is not wild and not broken means itself. */
            bool escaped = memchr(pattern, '\\', length) != NULL;
            bool plain = !escaped && memchr(pattern, '[', length) == NULL &&
                         memchr(pattern, '*', length) == NULL;
            bool itself = pattern_match(pattern, length, pattern, length);
            bool wild = pattern_is_wild(pattern, length);

            free(pattern);
            ASSERT(!plain || itself);
            ASSERT_EQ(plain, !wild && !escaped);
        }
    }
    PASS();
}

SUITE(pattern)
{
    RUN_TEST(matches);
    RUN_TEST(lengths_count_and_not_terminators);
    RUN_TEST(errors);
    RUN_TEST(wild_and_literal);
    RUN_TEST(many_stars_end);
    RUN_TEST(broken_patterns_are_safe);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(pattern);
    GREATEST_MAIN_END();
}
