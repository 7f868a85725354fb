/* SPDX-License-Identifier: MIT */
#include "pattern.h"

#include <string.h>

/* The index after the set that begins at `at` with '[', or 0 if it does not end. */
static size_t set_end(const char *pattern, size_t length, size_t at)
{
    size_t i = at + 1;

    if (i < length && (pattern[i] == '!' || pattern[i] == '^'))
        i++;
    if (i < length && pattern[i] == ']')
        i++; /* a first "]" is a member */
    for (; i < length; i++) {
        if (pattern[i] == '\\')
            i++;
        else if (pattern[i] == ']')
            return i + 1;
    }
    return 0;
}

/* A member of a set, a backslash taken off. */
static unsigned char member(const char *pattern, size_t end, size_t *i)
{
    if (pattern[*i] == '\\' && *i + 1 < end)
        (*i)++;
    return (unsigned char)pattern[(*i)++];
}

/* Whether the set pattern[at..end) has a range that runs backwards. */
static bool set_is_backward(const char *pattern, size_t at, size_t end)
{
    size_t last = end - 1;
    size_t i = at + 1;

    if (pattern[i] == '!' || pattern[i] == '^')
        i++;
    while (i < last) {
        unsigned char low = member(pattern, last, &i);
        if (i + 1 < last && pattern[i] == '-') {
            i++;
            if (member(pattern, last, &i) < low)
                return true;
        }
    }
    return false;
}

/* Whether a member of the set pattern[at..end) looks like the "[:alpha:]" of a shell. */
static bool set_has_class(const char *pattern, size_t at, size_t end)
{
    for (size_t i = at + 1; i + 1 < end; i++) {
        if (pattern[i] == '\\')
            i++;
        else if (pattern[i] == '[' &&
                 (pattern[i + 1] == ':' || pattern[i + 1] == '.' || pattern[i + 1] == '='))
            return true;
    }
    return false;
}

const char *pattern_error(const char *pattern, size_t length)
{
    size_t end;

    for (size_t i = 0; i < length; i = end) {
        end = i + 1;
        if (pattern[i] == '\\' && ++end > length)
            return "a backslash at the end";
        if (pattern[i] != '[')
            continue;
        end = set_end(pattern, length, i);
        if (end == 0)
            return "a \"[\" without its \"]\"";
        if (set_has_class(pattern, i, end))
            return "classes like \"[:alpha:]\" are not known";
        if (set_is_backward(pattern, i, end))
            return "a range that runs backwards";
    }
    return NULL;
}

bool pattern_is_wild(const char *pattern, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (pattern[i] == '\\')
            i++;
        else if (strchr("*?[", pattern[i]) != NULL && pattern[i] != '\0')
            return true;
    }
    return false;
}

size_t pattern_literal(char *out, const char *pattern, size_t length)
{
    size_t n = 0;

    for (size_t i = 0; i < length; i++) {
        if (pattern[i] == '\\' && i + 1 < length)
            i++;
        out[n++] = pattern[i];
    }
    return n;
}

/* Whether the set pattern[at..end) has `byte`. */
static bool set_has(const char *pattern, size_t at, size_t end, unsigned char byte)
{
    size_t i = at + 1;
    size_t last = end - 1; /* the closing bracket */
    bool negated = i < last && (pattern[i] == '!' || pattern[i] == '^');
    bool found = false;

    if (negated)
        i++;
    while (i < last) {
        unsigned char low = member(pattern, last, &i);
        unsigned char high = low;
        if (i + 1 < last && pattern[i] == '-') {
            i++;
            high = member(pattern, last, &i);
        }
        if (low <= byte && byte <= high)
            found = true;
    }
    return found != negated;
}

/* Matches the one pattern element at `*at` against `byte` and steps over it. */
static bool element_matches(const char *pattern, size_t length, size_t *at, unsigned char byte)
{
    size_t i = *at;
    size_t end;

    switch (pattern[i]) {
    case '?':
        *at = i + 1;
        return true;
    case '[':
        end = set_end(pattern, length, i);
        if (end == 0)
            return false;
        *at = end;
        return set_has(pattern, i, end, byte);
    case '\\':
        if (i + 1 < length)
            i++;
        break;
    default:
        break;
    }
    *at = i + 1;
    return (unsigned char)pattern[i] == byte;
}

bool pattern_match(const char *pattern, size_t length, const char *name, size_t name_length)
{
    size_t p = 0;
    size_t n = 0;
    size_t star = length; /* where to go on after the last "*" ... */
    size_t star_n = 0;    /* ... which has taken the name up to here */
    bool starred = false;

    if (length > 0 && name_length > 0 && !pattern_may_match(pattern, length, name, name_length))
        return false;
    while (n < name_length) {
        if (p < length && pattern[p] == '*') {
            starred = true;
            star = ++p;
            star_n = n;
            continue;
        }
        if (p < length && element_matches(pattern, length, &p, (unsigned char)name[n])) {
            n++;
            continue;
        }
        if (!starred)
            return false;
        p = star; /* the star takes one byte more */
        n = ++star_n;
    }
    while (p < length && pattern[p] == '*')
        p++;
    return p == length;
}
