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

#endif
