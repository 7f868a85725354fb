/* SPDX-License-Identifier: MIT */
/*
 * Patterns against another matcher: one that first makes a list of sets of bytes, then fills a
 * table of which of them match how much of the name. And, where they mean the same, against
 * fnmatch. The input is a pattern and a name, with a slash between them.
 */
#include <fnmatch.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pattern.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 256 };

static void expect(int condition)
{
    if (!condition)
        abort();
}

struct element {
    bool star;
    bool has[256];
};

struct elements {
    struct element list[MOST];
    size_t count;
};

/* One member of a set, or one byte outside of sets, with its backslash taken off. */
static uint8_t take_byte(const char *pattern, size_t *i)
{
    if (pattern[*i] == '\\')
        (*i)++;
    return (uint8_t)pattern[(*i)++];
}

static void read_set(struct element *element, const char *pattern, size_t *i)
{
    bool negated = pattern[*i] == '!' || pattern[*i] == '^';

    *i += negated;
    for (bool first = true; first || pattern[*i] != ']'; first = false) {
        unsigned low = take_byte(pattern, i);
        unsigned high = low;
        if (pattern[*i] == '-' && pattern[*i + 1] != ']') {
            (*i)++;
            high = take_byte(pattern, i);
        }
        for (unsigned byte = low; byte <= high; byte++)
            element->has[byte] = true;
    }
    (*i)++;
    for (unsigned byte = 0; negated && byte < 256; byte++)
        element->has[byte] = !element->has[byte];
}

/* Of a pattern without errors. */
static void read_pattern(struct elements *out, const char *pattern, size_t length)
{
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < length;) {
        struct element *element = &out->list[out->count++];

        if (pattern[i] == '*') {
            element->star = true;
            i++;
        } else if (pattern[i] == '?') {
            memset(element->has, true, sizeof element->has);
            i++;
        } else if (pattern[i] == '[') {
            i++;
            read_set(element, pattern, &i);
        } else {
            element->has[take_byte(pattern, &i)] = true;
        }
    }
}

static bool reference(const char *pattern, size_t length, const char *name, size_t name_length)
{
    static struct elements elements;
    static bool table[MOST + 1][MOST + 1]; /* the first e elements match the first n bytes */

    read_pattern(&elements, pattern, length);
    memset(table, 0, sizeof table);
    table[0][0] = true;
    for (size_t e = 1; e <= elements.count; e++) {
        const struct element *element = &elements.list[e - 1];
        for (size_t n = 0; n <= name_length; n++) {
            if (element->star)
                table[e][n] = table[e - 1][n] || (n > 0 && table[e][n - 1]);
            else
                table[e][n] = n > 0 && table[e - 1][n - 1] && element->has[(uint8_t)name[n - 1]];
        }
    }
    return table[elements.count][name_length];
}

/* In a set the two part ways over backslashes and what is no range. */
static void compare_fnmatch(const char *pattern, size_t length, const char *name,
                            size_t name_length, bool matches)
{
    char terminated[2][MOST + 1] = {"", ""};

    if (memchr(pattern, '[', length) != NULL || memchr(pattern, '\0', length) != NULL ||
        memchr(name, '\0', name_length) != NULL)
        return;
    memcpy(terminated[0], pattern, length);
    memcpy(terminated[1], name, name_length);
    expect(matches == (fnmatch(terminated[0], terminated[1], 0) == 0));
}

static void check_literal(const char *pattern, size_t length, const char *name, size_t name_length,
                          bool matches)
{
    char *literal = malloc(length);
    size_t n = pattern_literal(literal, pattern, length);

    expect(n <= length);
    expect(pattern_match(pattern, length, literal, n));
    expect(matches == (n == name_length && memcmp(literal, name, n) == 0));
    free(literal);
}

static void check(const char *pattern, size_t length, const char *name, size_t name_length)
{
    bool matches = pattern_match(pattern, length, name, name_length);

    if (pattern_error(pattern, length) != NULL)
        return;
    expect(matches == reference(pattern, length, name, name_length));
    compare_fnmatch(pattern, length, name, name_length, matches);
    if (!pattern_is_wild(pattern, length))
        check_literal(pattern, length, name, name_length, matches);
}

/* In memory of just its size, so that no byte beyond it can be read unseen. */
static char *copy_of(const uint8_t *data, size_t size)
{
    char *copy = malloc(size);

    expect(copy != NULL);
    memcpy(copy, data, size);
    return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *slash = size > 0 ? memchr(data, '/', size) : NULL;
    size_t length = slash != NULL ? (size_t)(slash - data) : 0;
    size_t name_length = slash != NULL ? size - length - 1 : 0;

    if (slash == NULL || length == 0 || name_length == 0 || length > MOST || name_length > MOST)
        return 0;

    char *pattern = copy_of(data, length);
    char *name = copy_of(slash + 1, name_length);

    check(pattern, length, name, name_length);
    free(pattern);
    free(name);
    return 0;
}
