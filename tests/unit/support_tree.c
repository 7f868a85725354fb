/* SPDX-License-Identifier: MIT */
#include "support_tree.h"

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- making ----------------------------------------------------------------------------------- */

static void make_directory(const char *path)
{
    if (mkdir(path, 0755) < 0 && errno != EEXIST)
        err(EXIT_FAILURE, "mkdir %s", path);
}

static void make_parents(const char *path)
{
    char copy[TREE_TEXT];

    snprintf(copy, sizeof copy, "%s", path);
    for (char *slash = copy; (slash = strchr(slash + 1, '/')) != NULL; *slash = '/') {
        *slash = '\0';
        make_directory(copy);
    }
}

static void make_link(const char *target, const char *path)
{
    make_parents(path);
    if (symlink(target, path) < 0)
        err(EXIT_FAILURE, "symlink %s", path);
}

static void make_file(const char *path)
{
    make_parents(path);
    if (path[strlen(path) - 1] == '/')
        return;
    FILE *file = fopen(path, "w");
    if (file == NULL || fprintf(file, "%s\n", strrchr(path, '/')) < 0 || fclose(file) != 0)
        err(EXIT_FAILURE, "%s", path);
}

static char *formatted(const char *format, ...) __attribute__((format(printf, 1, 2)));

static char *formatted(const char *format, ...)
{
    va_list arguments;
    char *text;

    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        err(EXIT_FAILURE, "vasprintf");
    va_end(arguments);
    return text;
}

/* l1 => l2, l2 => l3 ... */
static void make_chain(const struct tree *tree, const char *prefix, long count, const char *end)
{
    for (long i = 1; i <= count; i++) {
        char *path = formatted("%s/%s%ld", tree->root, prefix, i);
        char *next = formatted("%s%ld", prefix, i + 1);
        make_link(i == count ? end : next, path);
        free(next);
        free(path);
    }
}

static void make_item(const struct tree *tree, char *item)
{
    char *target = strstr(item, " => ");
    char *path = formatted("%s/%s", tree->root, item);
    char prefix[8];
    int number = 0;

    if (target == NULL) {
        make_file(path);
    } else {
        char *expanded = tree_expand(tree, target + strlen(" => "));
        path[strlen(path) - strlen(target)] = '\0';
        *target = '\0';
        if (sscanf(item, "%7[a-z]1..%*[a-z]%n", prefix, &number) == 1 && number > 0)
            make_chain(tree, prefix, strtol(item + number, NULL, 10), expanded);
        else
            make_link(expanded, path);
        free(expanded);
    }
    free(path);
}

void tree_make(struct tree *tree, const char *specification)
{
    const char *where = getenv("TMPDIR");
    char *template = formatted("%s/cordon-XXXXXX", where != NULL && *where ? where : "/tmp");
    char *copy = strdup(specification);
    char *rest = copy;

    umask(022);
    if (copy == NULL || mkdtemp(template) == NULL || realpath(template, tree->base) == NULL)
        err(EXIT_FAILURE, "%s", template);
    snprintf(tree->root, sizeof tree->root, "%.*s/ROOT", TREE_TEXT - 8, tree->base);
    make_directory(tree->root);
    for (const char *const *name = (const char *[]){"ROOT-evil/s", "OUT/secret", NULL}; *name;) {
        char *path = formatted("%s/%s", tree->base, *name++);
        make_file(path);
        free(path);
    }
    while (rest != NULL && *rest != '\0') {
        char *item = rest;
        rest = strstr(rest, "; ");
        if (rest != NULL) {
            *rest = '\0';
            rest += 2;
        }
        make_item(tree, item);
    }
    free(copy);
    free(template);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st;
    (void)kind;
    (void)ftw;
    return remove(path);
}

void tree_remove(struct tree *tree)
{
    if (nftw(tree->base, remove_one, 16, FTW_DEPTH | FTW_PHYS) < 0)
        err(EXIT_FAILURE, "remove %s", tree->base);
}

/* --- texts ------------------------------------------------------------------------------------ */

static FILE *new_text(char **text, size_t *size)
{
    FILE *stream = open_memstream(text, size);

    if (stream == NULL)
        err(EXIT_FAILURE, "open_memstream");
    return stream;
}

char *tree_expand(const struct tree *tree, const char *text)
{
    char *expanded;
    size_t size;
    FILE *out = new_text(&expanded, &size);

    while (*text != '\0') {
        char part[16];
        int number = 0;
        if (sscanf(text, "{%15[^*]*%n", part, &number) == 1 && number > 0) {
            for (long times = strtol(text + number, NULL, 10); times > 0; times--)
                fputs(part, out);
            text = strchr(text, '}') + 1;
        } else if (strncmp(text, "$ABS", 4) == 0) {
            fputs(tree->root, out);
            text += 4;
        } else if (strncmp(text, "$OUT", 4) == 0) {
            fprintf(out, "%s/OUT", tree->base);
            text += 4;
        } else {
            fputc(*text++, out);
        }
    }
    fclose(out);
    return expanded;
}

/* What follows `base` in `path`: "" or "/...". NULL if the path is not below. */
static const char *below(const char *base, const char *path)
{
    size_t length = strlen(base);

    if (strncmp(base, path, length) != 0 || (path[length] != '\0' && path[length] != '/'))
        return NULL;
    return path + length;
}

void tree_tell(const struct tree *tree, const char *canonical, char *text, size_t size)
{
    const char *rest = below(tree->root, canonical);
    char *number;

    if (rest != NULL)
        snprintf(text, size, "ok %s", *rest == '\0' ? "." : rest + 1);
    else if ((rest = below(tree->base, canonical)) != NULL)
        snprintf(text, size, "ESC %s", rest);
    else
        snprintf(text, size, "ESC %s", canonical);
    number = strstr(text, "/#");
    if (number != NULL && strstr(number, " (deleted)") != NULL)
        snprintf(number, size - (size_t)(number - text), "/#N (deleted)");
}

void tree_tell_fd(const struct tree *tree, int fd, char *text, size_t size)
{
    char magic[64];
    char place[TREE_TEXT];

    snprintf(magic, sizeof magic, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(magic, place, sizeof place - 1);
    if (length < 0)
        err(EXIT_FAILURE, "%s", magic);
    place[length] = '\0';
    tree_tell(tree, place, text, size);
}

/* --- describing ------------------------------------------------------------------------------- */

static void describe_link(const struct tree *tree, const char *path, FILE *out)
{
    char target[TREE_TEXT];
    ssize_t length = readlink(path, target, sizeof target - 1);

    if (length < 0)
        err(EXIT_FAILURE, "readlink %s", path);
    target[length] = '\0';
    const char *rest = below(tree->base, target);
    fprintf(out, " -> %s%s", rest != NULL ? "BASE" : "", rest != NULL ? rest : target);
}

static void describe_contents(const char *path, FILE *out)
{
    char contents[64];
    FILE *file = fopen(path, "r");

    if (file == NULL)
        err(EXIT_FAILURE, "%s", path);
    contents[fread(contents, 1, sizeof contents - 1, file)] = '\0';
    fclose(file);
    fprintf(out, " \"%.*s\"", (int)strcspn(contents, "\n"), contents);
}

static void describe(const struct tree *tree, const char *path, bool inside, FILE *out);

static void describe_below(const struct tree *tree, const char *path, bool inside, FILE *out)
{
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);

    if (count < 0)
        err(EXIT_FAILURE, "scandir %s", path);
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
            char *child = formatted("%s/%s", path, name);
            describe(tree, child, inside, out);
            free(child);
        }
        free(entries[i]);
    }
    free(entries);
}

static void describe(const struct tree *tree, const char *path, bool inside, FILE *out)
{
    struct stat st;

    if (!inside && strcmp(path, tree->root) == 0)
        return;
    if (lstat(path, &st) < 0)
        err(EXIT_FAILURE, "lstat %s", path);
    fprintf(out, "%s %o %u:%u", path + strlen(tree->base), (unsigned)st.st_mode,
            (unsigned)st.st_uid, (unsigned)st.st_gid);
    if (!S_ISDIR(st.st_mode)) /* how many names a directory has depends on the file system */
        fprintf(out, " %u names", (unsigned)st.st_nlink);
    if (st.st_mtime == TREE_TOUCHED)
        fputs(" touched", out);
    if (S_ISLNK(st.st_mode))
        describe_link(tree, path, out);
    if (S_ISREG(st.st_mode))
        describe_contents(path, out);
    fputc('\n', out);
    if (S_ISDIR(st.st_mode))
        describe_below(tree, path, inside, out);
}

char *tree_describe(const struct tree *tree, bool inside)
{
    char *text;
    size_t size;
    FILE *out = new_text(&text, &size);

    describe(tree, tree->base, inside, out);
    fclose(out);
    return text;
}
