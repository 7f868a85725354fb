/* SPDX-License-Identifier: MIT */
/* Paths as text. fuzz_path holds them against properties. */
#include <errno.h>

#include "path.h"
#include "policy_fixture.h"

TEST next_takes_components(void)
{
    static const struct {
        const char *path;
        const char *names[5];
    } rows[] = {
        {"", {NULL}},
        {"/", {NULL}},
        {"///", {NULL}},
        {"a", {"a"}},
        {"/a/b", {"a", "b"}},
        {"a//b///c", {"a", "b", "c"}},
        {"/a/", {"a"}},
        {"./../...", {".", "..", "..."}},
        {"/a b/\n/\xff", {"a b", "\n", "\xff"}},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *rest = rows[i].path;
        struct name name;
        size_t n = 0;

        for (; path_next(&rest, &name); n++) {
            ASSERTm(rows[i].path, rows[i].names[n] != NULL);
            ASSERT_EQm(rows[i].path, strlen(rows[i].names[n]), name.length);
            ASSERT_EQm(rows[i].path, 0, memcmp(name.text, rows[i].names[n], name.length));
        }
        ASSERT_EQm(rows[i].path, NULL, rows[i].names[n]);
        ASSERT_EQm(rows[i].path, '\0', *rest);
        ASSERT_EQm(rows[i].path, n == 0, path_ends(rows[i].path));
    }
    PASS();
}

TEST dots_by_name(void)
{
    ASSERT(name_is_dot((struct name){".x", 1}));
    ASSERT_FALSE(name_is_dot((struct name){"..", 2}));
    ASSERT_FALSE(name_is_dot((struct name){"a", 1}));
    ASSERT(name_is_dotdot((struct name){"..x", 2}));
    ASSERT_FALSE(name_is_dotdot((struct name){"...", 3}));
    ASSERT_FALSE(name_is_dotdot((struct name){".a", 2}));
    ASSERT_FALSE(name_is_dotdot((struct name){"a.", 2}));
    ASSERT_FALSE(name_is_dotdot((struct name){"..", 1}));
    PASS();
}

TEST canonical(void)
{
    static const char *const yes[] = {
        "/", "/a", "/a/b", "/.a", "/..a", "/a..", "/...", "/a/.b/..c", "/a b\n/\xff", "/a/...",
    };
    static const char *const no[] = {
        "",   "a",   "a/b",  ".",     "..",   "./a",   "//",     "//a",     "/a//b", "/a/",
        "/.", "/..", "/a/.", "/a/..", "/./a", "/../a", "/a/./b", "/a/../b", "/a/b/", "/a/b//",
    };

    for (size_t i = 0; i < COUNT(yes); i++)
        ASSERTm(yes[i], path_is_canonical(yes[i]));
    for (size_t i = 0; i < COUNT(no); i++)
        ASSERT_FALSEm(no[i], path_is_canonical(no[i]));
    PASS();
}

TEST below_is_by_component(void)
{
    static const struct {
        const char *root;
        const char *path;
        bool below;
    } rows[] = {
        {"/", "/", true},         {"/", "/a", true},          {"/", "/a/b", true},
        {"/a", "/a", true},       {"/a", "/a/b", true},       {"/a", "/a/b/c", true},
        {"/a", "/", false},       {"/a", "/b", false},        {"/a", "/ab", false},
        {"/a", "/a-evil", false}, {"/a", "/a-evil/a", false}, {"/a/b", "/a", false},
        {"/a/b", "/a/bb", false}, {"/a/b", "/a/b/", true},    {"/a/b", "/b/a/b", false},
        {"/ab", "/a", false},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        ASSERT_EQm(rows[i].path, rows[i].below, path_is_below(rows[i].root, rows[i].path));
    PASS();
}

TEST dotdot_is_found(void)
{
    static const char *const yes[] = {"..", "../a", "a/..", "/..", "a/../b", "a//..//b", "/a/../"};
    static const char *const no[] = {"", "/", ".", "...", "a..", "..a/b", "/a/..b/c", "a/./b"};

    for (size_t i = 0; i < COUNT(yes); i++)
        ASSERTm(yes[i], path_has_dotdot(yes[i]));
    for (size_t i = 0; i < COUNT(no); i++)
        ASSERT_FALSEm(no[i], path_has_dotdot(no[i]));
    PASS();
}

TEST splitting(void)
{
    static const struct {
        const char *text;
        const char *parent; /* NULL: the last component is no name */
        const char *leaf;
    } rows[] = {
        {"a", "", "a"},           {"a/b", "a/", "b"},
        {"/a", "/", "a"},         {"a/b//c/", "a/b//", "c"},
        {"/a/..b", "/a/", "..b"}, {"../...", "../", "..."},
        {"", NULL, NULL},         {"/", NULL, NULL},
        {".", NULL, NULL},        {"a/..", NULL, NULL},
        {"a/./", NULL, NULL},
    };
    char longest[NAME_MAX + 2] = "";
    struct name leaf;
    size_t parent;

    for (size_t i = 0; i < COUNT(rows); i++) {
        ASSERT_EQm(rows[i].text, rows[i].parent != NULL, path_split(rows[i].text, &parent, &leaf));
        if (rows[i].parent == NULL)
            continue;
        ASSERT_EQm(rows[i].text, strlen(rows[i].parent), parent);
        ASSERT_EQm(rows[i].text, strlen(rows[i].leaf), leaf.length);
        ASSERT_EQm(rows[i].text, rows[i].text + parent, leaf.text);
    }
    memset(longest, 'n', NAME_MAX);
    ASSERT(path_split(longest, &parent, &leaf));
    longest[NAME_MAX] = 'n';
    ASSERT_FALSE(path_split(longest, &parent, &leaf));
    PASS();
}

TEST the_text_of_what_is_deleted(void)
{
    ASSERT(path_says_deleted("/a (deleted)"));
    ASSERT(path_says_deleted("/ (deleted)"));
    ASSERT_FALSE(path_says_deleted("/a (deleted)/b"));
    ASSERT_FALSE(path_says_deleted(" (deleted)"));
    ASSERT_FALSE(path_says_deleted("/a"));
    ASSERT_FALSE(path_says_deleted(""));
    PASS();
}

TEST cleaning(void)
{
    static const struct {
        const char *start;
        const char *text;
        const char *result;
    } rows[] = {
        {"/", "", ""},
        {"/", "/", ""},
        {"/", "a", "/a"},
        {"/", "/a//b/", "/a/b"},
        {"/", "..", ""},
        {"/", "../../a", "/a"},
        {"/", "./a/./b", "/a/b"},
        {"/a", "b", "/a/b"},
        {"/a/b", "..", "/a"},
        {"/a/b", "../..", ""},
        {"/a/b", "../../..", ""},
        {"/a/b", "../c/../d", "/a/d"},
        {"/a", ".", "/a"},
        {"/a", "...", "/a/..."},
        {"/a", "..b/c..", "/a/..b/c.."},
        {"/a", "/b", "/a/b"},
        {"/a/b", "x/../../y/.", "/a/y"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[64];
        struct path path = {.size = sizeof text, .text = text};

        ASSERT_EQ(0, path_set(&path, rows[i].start));
        ASSERT_EQm(rows[i].text, 0, path_append_clean(&path, rows[i].text));
        ASSERT_STR_EQm(rows[i].text, rows[i].result, path.text);
        ASSERT_EQm(rows[i].text, strlen(rows[i].result), path.length);
    }
    PASS();
}

/* In memory of every size up to enough: what does not fit is refused and changes nothing. */
TEST room(void)
{
    static const struct name name = {"bcd", 3};

    for (size_t size = 1; size <= 8; size++) {
        char *text = malloc(size);
        struct path path = {.size = size, .text = text};

        ASSERT_EQ(size >= 3 ? 0 : -ENAMETOOLONG, (text[0] = '\0', path_set(&path, "/a")));
        ASSERT_STR_EQ(size >= 3 ? "/a" : "", path.text);
        ASSERT_EQ(size >= 3 ? 2 : 0, path.length);
        ASSERT_EQ(0, path_set(&path, "/"));
        ASSERT_EQ(0, path.length);
        ASSERT_EQ(size >= 5 ? 0 : -ENAMETOOLONG, path_push(&path, name));
        ASSERT_STR_EQ(size >= 5 ? "/bcd" : "", path.text);
        ASSERT_EQ(0, path_set(&path, "/"));
        ASSERT_EQ(size >= 7 ? 0 : -ENAMETOOLONG, path_append_clean(&path, "a/x/../bcd"));
        ASSERT_EQ(path.length, strlen(path.text));
        free(text);
    }
    PASS();
}

TEST pop_stops_at_the_root(void)
{
    char text[16];
    struct path path = {.size = sizeof text, .text = text};

    ASSERT_EQ(0, path_set(&path, "/ab/c"));
    path_pop(&path);
    ASSERT_STR_EQ("/ab", path.text);
    ASSERT_EQ(3, path.length);
    path_pop(&path);
    ASSERT_STR_EQ("", path.text);
    path_pop(&path);
    ASSERT_STR_EQ("", path.text);
    ASSERT_EQ(0, path.length);
    PASS();
}

SUITE(path_text)
{
    RUN_TEST(next_takes_components);
    RUN_TEST(dots_by_name);
    RUN_TEST(canonical);
    RUN_TEST(below_is_by_component);
    RUN_TEST(dotdot_is_found);
    RUN_TEST(splitting);
    RUN_TEST(the_text_of_what_is_deleted);
    RUN_TEST(cleaning);
    RUN_TEST(room);
    RUN_TEST(pop_stops_at_the_root);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(path_text);
    GREATEST_MAIN_END();
}
