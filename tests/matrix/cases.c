/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <linux/stat.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>

#include "matrix.h"
#include "os.h"
#include "syscall.h"

typedef DIR *DIR_STREAM;
#undef DIR

static union {
    struct stat st;
    struct statx stx;
    char text[PATH_MAX];
} buffer;

/* A stream for freopen, on the null device. */
static FILE *a_stream(void)
{
    long fd = os_syscall(SYS_openat, AT_FDCWD, (long)"/dev/null", O_RDWR, 0, 0, 0);

    return fdopen((int)fd, "r+");
}

/* A text without the part that differs from run to run. */
static void say_path(struct outcome *outcome, const char *text)
{
    size_t length = strlen(tree_base);
    const char *rest = strncmp(text, tree_base, length) == 0 ? text + length : text;

    snprintf(outcome->text, sizeof outcome->text, "%.500s", rest);
}

static void say_fd(struct outcome *outcome, int fd)
{
    char text[PATH_MAX];

    if (os_path_of(fd, text, sizeof text) > 0)
        say_path(outcome, text);
    /* The name of a file without one holds its inode. */
    char *hash = strchr(outcome->text, '#');
    if (hash != NULL)
        *hash = '\0';
    snprintf(outcome->text + strlen(outcome->text), 64, " %lx",
             (unsigned long)os_syscall(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0));
}

static void give_int(struct outcome *outcome, const char *symbol, int result)
{
    outcome->result = result;
    if (result > 2)
        say_fd(outcome, result);
    else if (result == 0 && strcmp(symbol, "statx") == 0)
        snprintf(outcome->text, sizeof outcome->text, "%o %llu", buffer.stx.stx_mode,
                 (unsigned long long)buffer.stx.stx_size);
    else if (result == 0 && strstr(symbol, "stat") != NULL)
        snprintf(outcome->text, sizeof outcome->text, "%o %ld", buffer.st.st_mode,
                 (long)buffer.st.st_size);
    if (result > 2)
        outcome->result = 0;
}

static void give_long(struct outcome *outcome, const char *symbol, ssize_t result)
{
    (void)symbol;
    outcome->result = result < 0 ? -1 : 0;
    if (result >= 0 && (size_t)result < sizeof buffer.text) {
        buffer.text[result] = '\0';
        say_path(outcome, buffer.text);
    }
}

static void give_file(struct outcome *outcome, const char *symbol, FILE *result)
{
    (void)symbol;
    outcome->result = result == NULL ? -1 : 0;
    if (result == NULL)
        return;
    say_fd(outcome, fileno(result));
    snprintf(outcome->text + strlen(outcome->text), 64, " at %ld", ftell(result));
}

static void give_dir(struct outcome *outcome, const char *symbol, DIR_STREAM result)
{
    (void)symbol;
    outcome->result = result == NULL ? -1 : 0;
    if (result != NULL)
        say_fd(outcome, dirfd(result));
}

static void give_text(struct outcome *outcome, const char *symbol, const char *result)
{
    (void)symbol;
    outcome->result = result == NULL ? -1 : 0;
    if (result != NULL)
        say_path(outcome, result);
}

#define GIVE(result) \
    _Generic((result)0, \
        int: give_int, \
        long: give_long, \
        FILE *: give_file, \
        DIR_STREAM: give_dir, \
        char *: give_text)

static const struct timeval times_in_microseconds[2] = {{1, 0}, {2, 0}};
static const struct timespec times_in_nanoseconds[2] = {{1, 0}, {2, 0}};

/* What stands in the argument lists. */
#define PATH      (given->path)
#define DIR       (given->dir)
#define OPENED    (given->opened)
#define OTHER     "other"
#define SPARE     "spare"
#define BUFFER    ((void *)&buffer)
#define STREAM    (a_stream())
#define OWNER     ((uid_t)12345)
#define GROUP     ((gid_t)12345)
#define TIMEVALS  times_in_microseconds
#define TIMESPECS times_in_nanoseconds

/* Each row knows its own type; further examples of a row need it too. */
#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)

#define HOOK(result, symbol, parameters, body, ...) \
    typedef result(*type_##symbol) parameters;      \
    typedef result result_##symbol;                 \
    CALLER(call_##symbol, symbol, __VA_ARGS__)
#define VHOOK(result, symbol, parameters, last, body, ...) \
    HOOK(result, symbol, parameters, body, __VA_ARGS__)
#define CALLER(name, symbol, ...)                                                                  \
    static void name(void *function, const struct given *given, struct outcome *outcome)           \
    {                                                                                              \
        (void)given;                                                                               \
        errno = 0;                                                                                 \
        result_##symbol value = (result_##symbol)(intptr_t)(((type_##symbol)function)__VA_ARGS__); \
        outcome->error = errno;                                                                    \
        GIVE(result_##symbol)(outcome, #symbol, value);                                            \
    }
#define EXAMPLE(symbol, ...) CALLER(JOIN(more_##symbol##_, __LINE__), symbol, __VA_ARGS__)
#define ALIAS(alias, symbol)
#define SYSCALL(number, how, body)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include "hooks.def"
#pragma GCC diagnostic pop

const struct example examples[] = {
#define HOOK(result, symbol, parameters, body, ...) {#symbol, #__VA_ARGS__, call_##symbol, NULL},
#define VHOOK(result, symbol, parameters, last, body, ...) \
    {#symbol, #__VA_ARGS__, call_##symbol, NULL},
#define EXAMPLE(symbol, ...) {#symbol, #__VA_ARGS__, JOIN(more_##symbol##_, __LINE__), NULL},
#define ALIAS(alias, symbol) {#alias, "", NULL, #symbol},
#define SYSCALL(number, how, body)
#include "hooks.def"
};

const size_t example_count = sizeof examples / sizeof *examples;
