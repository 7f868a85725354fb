/* SPDX-License-Identifier: MIT */
#include "path.h"

#include <errno.h>
#include <limits.h>

int path_push(struct path *path, struct name name)
{
    if (name.length + 1 >= path->size - path->length)
        return -ENAMETOOLONG;
    path->text[path->length] = '/';
    memcpy(path->text + path->length + 1, name.text, name.length);
    path->length += name.length + 1;
    path->text[path->length] = '\0';
    return 0;
}

void path_pop(struct path *path)
{
    while (path->length > 0 && path->text[--path->length] != '/')
        continue;
    path->text[path->length] = '\0';
}

int path_set(struct path *path, const char *canonical)
{
    size_t length = strcmp(canonical, "/") == 0 ? 0 : strlen(canonical);

    if (length >= path->size)
        return -ENAMETOOLONG;
    memcpy(path->text, canonical, length);
    path->text[length] = '\0';
    path->length = length;
    return 0;
}

int path_append_clean(struct path *path, const char *text)
{
    struct name name;

    while (path_next(&text, &name)) {
        if (name_is_dot(name))
            continue;
        if (name_is_dotdot(name)) {
            path_pop(path);
            continue;
        }
        int error = path_push(path, name);
        if (error < 0)
            return error;
    }
    return 0;
}

bool path_is_canonical(const char *text)
{
    if (text[0] != '/')
        return false;
    if (text[1] == '\0')
        return true;
    while (*text == '/') {
        struct name name = {.text = text + 1, .length = strcspn(text + 1, "/")};
        if (name.length == 0 || name_is_dot(name) || name_is_dotdot(name))
            return false;
        text += 1 + name.length;
    }
    return true;
}

bool path_is_below(const char *root, const char *path)
{
    size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);

    return strncmp(root, path, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

bool path_has_dotdot(const char *text)
{
    for (const char *dot = strchr(text, '.'); dot != NULL; dot = strchr(dot, '.')) {
        bool begins = dot == text || dot[-1] == '/';
        if (begins && dot[1] == '.' && (dot[2] == '/' || dot[2] == '\0'))
            return true;
        dot += strspn(dot, ".");
    }
    return false;
}

bool path_split(const char *text, size_t *parent, struct name *leaf)
{
    size_t end = strlen(text);
    size_t begin;

    while (end > 0 && text[end - 1] == '/')
        end--;
    for (begin = end; begin > 0 && text[begin - 1] != '/';)
        begin--;
    *leaf = (struct name){text + begin, end - begin};
    *parent = begin;
    return leaf->length > 0 && leaf->length <= NAME_MAX && !name_is_dot(*leaf) &&
           !name_is_dotdot(*leaf);
}

bool path_says_deleted(const char *text)
{
    static const char end[] = " (deleted)";
    size_t length = strlen(text);

    return length >= sizeof end && strcmp(text + length - (sizeof end - 1), end) == 0;
}
