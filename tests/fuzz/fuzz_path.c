/* SPDX-License-Identifier: MIT */
/*
 * Paths as text, held against what they are as lists of names. The first byte is the room for the
 * result; then come two paths with a line end between them.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 512 };

static void expect(int condition)
{
    if (!condition)
        abort();
}

struct names {
    struct name list[MOST];
    size_t count;
};

/* Splits by looking at every byte. */
static void split(struct names *names, const char *text)
{
    names->count = 0;
    for (size_t i = 0; text[i] != '\0'; i++) {
        if (text[i] == '/')
            continue;
        if (i == 0 || text[i - 1] == '/')
            names->list[names->count++] = (struct name){text + i, 0};
        names->list[names->count - 1].length++;
    }
}

static bool same_name(struct name a, struct name b)
{
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

static bool is(struct name name, const char *text)
{
    return same_name(name, (struct name){text, strlen(text)});
}

static void check_next(const char *text)
{
    static struct names names;
    const char *rest = text;
    struct name name;
    bool dotdot = false;
    size_t n = 0;

    split(&names, text);
    expect(path_ends(text) == (names.count == 0));
    for (; path_next(&rest, &name); n++) {
        expect(n < names.count && name.text == names.list[n].text &&
               name.length == names.list[n].length);
        expect(name_is_dot(name) == is(name, ".") && name_is_dotdot(name) == is(name, ".."));
        expect(path_ends(rest) == (n + 1 == names.count));
        dotdot |= is(name, "..");
    }
    expect(n == names.count && *rest == '\0');
    expect(!path_next(&rest, &name));
    expect(path_has_dotdot(text) == dotdot);
}

/* `text` cleaned below "/", with room for all of it. Returns its length. */
static size_t clean(char out[MOST + 2], const char *text)
{
    static struct names names;
    size_t kept = 0;
    size_t length = 0;

    split(&names, text);
    for (size_t i = 0; i < names.count; i++) {
        if (is(names.list[i], ".."))
            kept -= kept > 0;
        else if (!is(names.list[i], "."))
            names.list[kept++] = names.list[i];
    }
    for (size_t i = 0; i < kept; i++) {
        out[length++] = '/';
        memcpy(out + length, names.list[i].text, names.list[i].length);
        length += names.list[i].length;
    }
    out[length] = '\0';
    return length;
}

static void check_clean(const char *text, size_t room)
{
    char wanted[MOST + 2];
    char *buffer = malloc(room);
    struct path path = {.size = room, .text = buffer};
    size_t length = clean(wanted, text);
    int error;

    buffer[0] = '\0';
    error = path_append_clean(&path, text);
    expect(error == 0 || error == -ENAMETOOLONG);
    expect(path.length < room && strlen(buffer) == path.length);
    expect(path.length == 0 || path_is_canonical(buffer));
    if (error == 0)
        expect(path.length == length && strcmp(buffer, wanted) == 0);
    else
        expect(room < strlen(text) + 2);
    /* What is clean stays as it is, and is canonical; the other way round too. */
    bool unchanged = text[0] == '/' && strcmp(length > 0 ? wanted : "/", text) == 0;
    expect(path_is_canonical(text) == unchanged);
    if (unchanged)
        expect((path_set(&path, text) == 0) == (length < room));
    for (size_t i = 0; i <= room; i++)
        path_pop(&path);
    expect(path.length == 0 && buffer[0] == '\0');
    free(buffer);
}

static void check_below(const char *root, const char *path)
{
    static struct names above;
    static struct names names;
    bool below;

    if (!path_is_canonical(root) || !path_is_canonical(path))
        return;
    split(&above, root);
    split(&names, path);
    below = above.count <= names.count;
    for (size_t i = 0; below && i < above.count; i++)
        below = same_name(above.list[i], names.list[i]);
    expect(path_is_below(root, path) == below);
    expect(path_is_below("/", path) && path_is_below(path, path));
}

static char *text_of(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    expect(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > MOST)
        return 0;

    size_t room = 1 + data[0];
    const uint8_t *end = memchr(data, '\n', size);
    size_t first = end > data ? (size_t)(end - data) : size;
    char *one = text_of(data + 1, first - 1);
    char *two = first < size ? text_of(data + first + 1, size - first - 1) : text_of(data, 0);

    check_next(one);
    check_clean(one, room);
    check_clean(one, 2 * MOST);
    check_below(one, two);
    check_below(two, one);
    free(one);
    free(two);
    return 0;
}
