/* SPDX-License-Identifier: MIT */
/*
 * usage: peek PID WORKSPACE
 *
 * Tries to reach into that process, and its threads, through procfs: by their numbers, through
 * links, directories and the ways of openat2. Prints `open WAY` for each that was opened and at the
 * end `tries N`.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "raw.h"

enum { THREADS = 64 };

static unsigned long tries;
static unsigned long opened;

static void tried(const char *way, const char *path, long result)
{
    tries++;
    if (result < 0)
        return;
    opened++;
    printf("open %s %s\n", way, path);
    RAW(SYS_close, result);
}

static long open2(int dir, const char *path, int flags, uint64_t resolve)
{
    struct open_how how = {.flags = (unsigned)flags, .resolve = resolve};

    return RAW(SYS_openat2, dir, path, &how, sizeof how);
}

/* By text, with each flag of openat2 that could lead there. */
static void by_name(const char *path, int flags)
{
    static const struct {
        const char *name;
        uint64_t resolve;
    } ways[] = {
        {"openat2", 0},
        {"openat2 NO_SYMLINKS", RESOLVE_NO_SYMLINKS},
        {"openat2 NO_MAGICLINKS", RESOLVE_NO_MAGICLINKS},
        {"openat2 CACHED", RESOLVE_CACHED},
        {"openat2 IN_ROOT", RESOLVE_IN_ROOT},
        {"openat2 BENEATH", RESOLVE_BENEATH},
        {"openat2 NO_XDEV", RESOLVE_NO_XDEV},
    };
    static const char *const roots[] = {"/", "/proc"};

    tried("openat", path, RAW(SYS_openat, AT_FDCWD, path, flags, 0));
#ifdef SYS_open
    tried("open", path, RAW(SYS_open, path, flags, 0));
#endif
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        tried(ways[i].name, path, open2(AT_FDCWD, path, flags, ways[i].resolve));
    for (size_t r = 0; r < 2; r++) {
        long root = RAW(SYS_openat, AT_FDCWD, roots[r], O_PATH | O_DIRECTORY, 0);
        const char *rest = path + strlen(roots[r]);
        if (strncmp(path, "/proc/", 6) != 0)
            break;
        rest += *rest == '/';
        tried("openat from a directory", rest, RAW(SYS_openat, root, rest, flags, 0));
        for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
            tried(ways[i].name, rest, open2((int)root, rest, flags, ways[i].resolve));
        RAW(SYS_close, root);
    }
}

/* From a working directory, a descriptor, and through a link of our own. */
static void by_way(const char *workspace, const char *directory, const char *name, int flags)
{
    char path[300];
    long dir = RAW(SYS_openat, AT_FDCWD, directory, O_PATH | O_DIRECTORY, 0);

    snprintf(path, sizeof path, "%s/%s", directory, name);
    by_name(path, flags);
    if (dir >= 0) {
        tried("openat below O_PATH", path, RAW(SYS_openat, dir, name, flags, 0));
        tried("openat2 BENEATH", path, open2((int)dir, name, flags, RESOLVE_BENEATH));
        RAW(SYS_close, dir);
    }
    if (RAW(SYS_chdir, directory) == 0) {
        tried("openat from the cwd", path, RAW(SYS_openat, AT_FDCWD, name, flags, 0));
        tried("openat2 from the cwd", path, open2(AT_FDCWD, name, flags, RESOLVE_NO_SYMLINKS));
        RAW(SYS_chdir, workspace);
    }
    RAW(SYS_unlinkat, AT_FDCWD, "link", 0);
    RAW(SYS_unlinkat, AT_FDCWD, "to", 0);
    RAW(SYS_symlinkat, path, AT_FDCWD, "link");
    RAW(SYS_symlinkat, directory, AT_FDCWD, "to");
    by_name("link", flags);
    snprintf(path, sizeof path, "to/%s", name);
    by_name(path, flags);
    snprintf(path, sizeof path, "to/../%s/%s", strrchr(directory, '/') + 1, name);
    by_name(path, flags);
    snprintf(path, sizeof path, "/proc/self/cwd/to/%s", name);
    by_name(path, flags);
}

static void peek_at(const char *workspace, const char *directory)
{
    static const struct {
        const char *name;
        int flags;
    } files[] = {
        {"mem", O_RDWR},       {"mem", O_RDONLY},         {"environ", O_RDONLY},
        {"maps", O_RDONLY},    {"auxv", O_RDONLY},        {"fd/0", O_RDONLY},
        {"fd/3", O_PATH},      {"fd/3", O_RDONLY},        {"fd", O_RDONLY | O_DIRECTORY},
        {"cwd", O_RDONLY},     {"root", O_RDONLY},        {"exe", O_RDONLY},
        {"pagemap", O_RDONLY}, {"clear_refs", O_WRONLY},  {"attr/current", O_WRONLY},
        {"comm", O_WRONLY},    {"oom_score_adj", O_RDWR}, {"timerslack_ns", O_WRONLY},
        {"ns/mnt", O_RDONLY},  {"map_files", O_RDONLY},
    };

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        by_way(workspace, directory, files[i].name, files[i].flags);
}

/* The numbers of its threads: listed to us or guessed, since they follow each other. */
static int list_threads(int pid, int threads[THREADS])
{
    int count = 0;

    threads[count++] = pid;
    for (int id = pid + 1; id < pid + 400 && count < THREADS; id++) {
        char path[64];
        char text[64] = "";
        long fd;
        snprintf(path, sizeof path, "/proc/%d/comm", id);
        fd = RAW(SYS_openat, AT_FDCWD, path, O_RDONLY, 0);
        if (fd >= 0) {
            RAW(SYS_read, fd, text, sizeof text - 1);
            RAW(SYS_close, fd);
        }
        if (fd < 0 ? fd == -EACCES : strncmp(text, "cordon-super", 12) == 0)
            threads[count++] = id;
    }
    return count;
}

int main(int argc, char **argv)
{
    int threads[THREADS];
    int count;
    int pid = argc == 3 ? (int)strtol(argv[1], NULL, 10) : 0;
    char directory[128];

    if (pid <= 0 || RAW(SYS_chdir, argv[2]) < 0) {
        fprintf(stderr, "usage: peek PID WORKSPACE\n");
        return 2;
    }
    count = list_threads(pid, threads);
    for (int i = 0; i < count; i++) {
        snprintf(directory, sizeof directory, "/proc/%d", threads[i]);
        peek_at(argv[2], directory);
        snprintf(directory, sizeof directory, "/proc/%d/task/%d", pid, threads[i]);
        peek_at(argv[2], directory);
        snprintf(directory, sizeof directory, "/proc/%d/task/%d", threads[i], pid);
        peek_at(argv[2], directory);
    }
    printf("threads %d tries %lu opened %lu\n", count, tries, opened);
    return 0;
}
