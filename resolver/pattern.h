/* SPDX-License-Identifier: MIT */
/*
 * pattern.h - shell patterns for one name: `*`, `?`, `[a-z]`, `[!a-z]`, and `\` for a literal.
 *
 * They match bytes, a leading dot like any other, and never see a slash. Classes like `[:alpha:]`
 * in a set are an error: taken by the letter they would silently match something else.
 */
#ifndef CORDON_PATTERN_H
#define CORDON_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

/* What is wrong with `pattern`, or NULL. */
const char *pattern_error(const char *pattern, size_t length);

/* Whether it has a `*`, `?` or `[` that is not escaped. */
bool pattern_is_wild(const char *pattern, size_t length);

/* Takes the backslashes out of a pattern that is not wild: what it matches. Returns its length. */
size_t pattern_literal(char *out, const char *pattern, size_t length);

/* `pattern` is one in which pattern_error found nothing; on any other the answer is unspecified,
 * but nothing outside of it is read. Takes at most length * name_length steps. */
bool pattern_match(const char *pattern, size_t length, const char *name, size_t name_length);

/* The byte that every match has to begin with, and to end in; -1: there is none. */
static inline int pattern_first(const char *pattern)
{
    char byte = pattern[0];

    return byte == '*' || byte == '?' || byte == '[' || byte == '\\' ? -1 : (unsigned char)byte;
}

static inline int pattern_last(const char *pattern, size_t length)
{
    char byte = pattern[length - 1]; /* a literal too, if it is escaped */

    return byte == '*' || byte == '?' || byte == ']' ? -1 : (unsigned char)byte;
}

/* Whether it may match at all, by these bytes. Cheap; neither is empty. */
static inline bool pattern_may_match(const char *pattern, size_t length, const char *name,
                                     size_t name_length)
{
    int first = pattern_first(pattern);
    int last = pattern_last(pattern, length);

    return (last < 0 || last == (unsigned char)name[name_length - 1]) &&
           (first < 0 || first == (unsigned char)name[0]);
}

#endif
