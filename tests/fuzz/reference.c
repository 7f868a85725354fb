/* SPDX-License-Identifier: MIT */
#include "reference.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TODO_SIZE = 48 * PATH_MAX, MOST_LINKS = 40 };

struct resolver {
    struct found *found;
    enum last last;
    bool directory; /* what is found so far is one */
    bool gone;      /* and is deleted: there is nothing in it */
    char name[PATH_MAX];
    char todo[TODO_SIZE];
    char rest[TODO_SIZE];
};

/* A descriptor of the canonical `path`, however long it is. */
static int open_long(const char *path)
{
    int fd = open("/", O_PATH | O_CLOEXEC);
    char name[NAME_MAX + 1];

    while (fd >= 0 && *path != '\0') {
        size_t length = strcspn(++path, "/");
        memcpy(name, path, length);
        name[length] = '\0';
        int next = openat(fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        close(fd);
        fd = next;
        path += length;
    }
    return fd;
}

/* lstat and readlink of found->place + "/" + name; 0 or an errno. */
static int look(struct resolver *r, struct stat *st, char target[PATH_MAX])
{
    static char path[TEXT_SIZE + PATH_MAX];
    int dir = AT_FDCWD;
    const char *text = path;
    ssize_t length = 0;

    snprintf(path, sizeof path, "%s/%s", r->found->place, r->name);
    if (strlen(path) >= PATH_MAX) {
        dir = open_long(r->found->place);
        text = r->name;
    }
    int error = fstatat(dir, text, st, AT_SYMLINK_NOFOLLOW) < 0 ? errno : 0;
    if (error == 0 && S_ISLNK(st->st_mode)) {
        length = readlinkat(dir, text, target, PATH_MAX - 1);
        error = length < 0 ? errno : 0;
    }
    if (dir >= 0)
        close(dir);
    target[length > 0 ? length : 0] = '\0';
    return error;
}

static bool ends_with(const char *text, const char *end)
{
    return strlen(text) >= strlen(end) && strcmp(text + strlen(text) - strlen(end), end) == 0;
}

/* Links of procfs that lead to an object, whatever their text says. */
static bool is_magic(const struct resolver *r)
{
    return strncmp(r->found->place, "/proc/", 6) == 0 &&
           (strcmp(r->name, "cwd") == 0 || strcmp(r->name, "root") == 0 ||
            strcmp(r->name, "exe") == 0 || ends_with(r->found->place, "/fd"));
}

static void set_place(struct resolver *r, const char *text)
{
    snprintf(r->found->place, sizeof r->found->place, "%s", strcmp(text, "/") == 0 ? "" : text);
}

/* Jumps to what the magic link in found->place is, and has `target` as its text. */
static int jump(struct resolver *r, char target[PATH_MAX])
{
    static char path[TEXT_SIZE + PATH_MAX];
    struct stat st;

    snprintf(path, sizeof path, "%s/%s", r->found->place, r->name);
    if (stat(path, &st) < 0)
        return errno;
    r->directory = S_ISDIR(st.st_mode);
    r->gone = st.st_nlink == 0;
    r->found->exists = true;
    r->found->object = target[0] != '/' || strncmp(target, "/memfd:", 7) == 0;
    if (r->gone && ends_with(target, " (deleted)"))
        target[strlen(target) - strlen(" (deleted)")] = '\0';
    set_place(r, target);
    return 0;
}

static int follow(struct resolver *r, char target[PATH_MAX])
{
    if (r->found->links++ == MOST_LINKS)
        return ELOOP;
    if (is_magic(r))
        return jump(r, target);
    if (snprintf(r->rest, sizeof r->rest, "%s%s", target, r->todo) >= (int)sizeof r->rest)
        return ENAMETOOLONG;
    strcpy(r->todo, r->rest);
    if (target[0] == '/') {
        set_place(r, "/");
        r->gone = false;
    }
    return 0;
}

/* Takes the first component off the to-do text into `name`; false at the end. */
static bool next_name(struct resolver *r)
{
    size_t begin = strspn(r->todo, "/");
    size_t length = strcspn(r->todo + begin, "/");

    if (length == 0)
        return false;
    snprintf(r->name, sizeof r->name, "%.*s", (int)length, r->todo + begin);
    memmove(r->todo, r->todo + begin + length, strlen(r->todo + begin + length) + 1);
    return true;
}

static void push(struct resolver *r)
{
    strcat(r->found->place, "/");
    strcat(r->found->place, r->name);
}

/* One step by a real name. Sets `*done` at a place that is to be used as it is. */
static int step(struct resolver *r, bool *done)
{
    bool last = r->todo[strspn(r->todo, "/")] == '\0';
    bool slash = r->todo[0] != '\0';
    char target[PATH_MAX];
    struct stat st;
    int error = r->gone ? ENOENT : look(r, &st, target);

    if (strlen(r->name) > NAME_MAX && !r->gone)
        return ENAMETOOLONG;
    if (error != 0 && (error != ENOENT || !last))
        return error;
    r->found->exists = error == 0;
    r->found->named = true;
    if (error != 0 || (last && r->last == LAST_NAMED)) {
        push(r);
        r->directory = error == 0 && S_ISDIR(st.st_mode);
        *done = true;
        return 0;
    }
    if (S_ISLNK(st.st_mode) && (!last || slash || r->last == LAST_FOLLOWED))
        return follow(r, target);
    push(r);
    r->directory = S_ISDIR(st.st_mode);
    return 0;
}

static void go_up(struct resolver *r)
{
    char *slash = strrchr(r->found->place, '/');

    if (slash != NULL)
        *slash = '\0';
    r->gone = false;
}

static int run(struct resolver *r)
{
    bool done = false;
    int error = 0;

    while (error == 0 && !done && next_name(r)) {
        r->found->named = false;
        r->found->exists = true;
        if (!r->directory)
            return ENOTDIR;
        if (strcmp(r->name, "..") == 0)
            go_up(r);
        else if (strcmp(r->name, ".") != 0)
            error = step(r, &done);
    }
    if (error == 0 && !done && r->todo[0] == '/' && !r->directory)
        return ENOTDIR;
    return error;
}

void reference_resolve(const struct origin *origin, const char *path, enum last last,
                       struct found *found)
{
    static struct resolver r;
    bool absolute = path[0] == '/';

    r.found = found;
    r.last = last;
    r.directory = true;
    r.gone = !absolute && origin->gone;
    *found = (struct found){.exists = true};
    if (path[0] == '\0' || strlen(path) >= PATH_MAX) {
        found->error = path[0] == '\0' ? ENOENT : ENAMETOOLONG;
        return;
    }
    set_place(&r, absolute ? "/" : origin->text);
    strcpy(r.todo, path);
    found->error = !absolute && origin->error != 0 ? origin->error : run(&r);
    found->directory = r.directory;
    if (found->place[0] == '\0')
        strcpy(found->place, "/");
}
