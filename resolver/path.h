/* SPDX-License-Identifier: MIT */
/*
 * path.h - paths as text: splitting, cleaning, comparing. Nothing here looks at the disk.
 *
 * A path is bytes; only '/' and the end mean anything. A *canonical* text is absolute, has no
 * empty,
 * "." or ".." component and no slash at its end. Buffers in which one is built hold the root as "":
 * so a component is always appended as "/name".
 */
#ifndef CORDON_PATH_H
#define CORDON_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct name {
    const char *text;
    size_t length;
};

/* Takes the next component off `*rest`, slashes skipped; false at the end. "." and ".." count. */
static inline bool path_next(const char **rest, struct name *name)
{
    const char *p = *rest;

    while (*p == '/')
        p++;
    name->text = p;
    while (*p != '\0' && *p != '/')
        p++;
    name->length = (size_t)(p - name->text);
    *rest = p;
    return name->length > 0;
}

static inline bool name_is_dot(struct name name)
{
    return name.length == 1 && name.text[0] == '.';
}

static inline bool name_is_dotdot(struct name name)
{
    return name.length == 2 && name.text[0] == '.' && name.text[1] == '.';
}

/* Whether nothing but slashes is left. */
static inline bool path_ends(const char *rest)
{
    return rest[strspn(rest, "/")] == '\0';
}

/* A text under construction: "" is the root. */
struct path {
    size_t length;
    size_t size; /* of the buffer, terminator included */
    char *text;
};

/* Appends "/name". -ENAMETOOLONG: no room, nothing changed. */
int path_push(struct path *path, struct name name);

/* Takes the last component away; the root stays. */
void path_pop(struct path *path);

/* Sets the text to a canonical one. -ENAMETOOLONG */
int path_set(struct path *path, const char *canonical);

/* Appends `text` component by component, "." and ".." by the letter. -ENAMETOOLONG */
int path_append_clean(struct path *path, const char *text);

/* Whether `text` is canonical. */
bool path_is_canonical(const char *text);

/* Whether `path` is `root` or below it, by component. Both canonical. */
bool path_is_below(const char *root, const char *path);

/* Whether a component of `text` is "..". */
bool path_has_dotdot(const char *text);

/* Splits "a/b//c/" into the length of "a/b//" and "c". False if the last component is no name: none
 * at all, "." or "..", or too long for one. */
bool path_split(const char *text, size_t *parent, struct name *leaf);

/* Whether `text` ends as the kernel's text for a deleted file does. */
bool path_says_deleted(const char *text);

#endif
