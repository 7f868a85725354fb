/* SPDX-License-Identifier: MIT */
#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct pids {
    pid_t *list;
    size_t count;
    size_t room;
};

static bool add(struct pids *pids, pid_t pid)
{
    if (pids->count == pids->room) {
        size_t room = pids->room * 2 + 64;
        pid_t *list = realloc(pids->list, room * sizeof *list);
        if (list == NULL)
            return false;
        pids->list = list;
        pids->room = room;
    }
    pids->list[pids->count++] = pid;
    return true;
}

/* Adds the numbers in a file such as /proc/1/task/1/children. False if there is no such file. */
static bool add_numbers(int dir, const char *file, struct pids *pids)
{
    int fd = openat(dir, file, O_RDONLY | O_CLOEXEC);
    FILE *stream = fd < 0 ? NULL : fdopen(fd, "r");
    char *word = NULL;
    size_t size = 0;
    long pid;

    if (stream == NULL)
        return false;
    while (getdelim(&word, &size, ' ', stream) > 0)
        if ((pid = strtol(word, NULL, 10)) > 0)
            add(pids, (pid_t)pid);
    free(word);
    fclose(stream);
    return true;
}

/* The children that each thread of `pid` has. False if this kernel does not list them. */
static bool add_children(pid_t pid, struct pids *pids)
{
    char path[64];
    DIR *tasks;
    const struct dirent *task;
    bool listed = true;

    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    tasks = opendir(path);
    if (tasks == NULL)
        return errno == ENOENT || errno == ESRCH;
    while ((task = readdir(tasks)) != NULL) {
        char file[sizeof task->d_name + sizeof "/children"];
        if (task->d_name[0] == '.')
            continue;
        snprintf(file, sizeof file, "%s/children", task->d_name);
        /* A thread may end meanwhile: then its children have become another's. */
        if (!add_numbers(dirfd(tasks), file, pids) &&
            faccessat(dirfd(tasks), task->d_name, F_OK, 0) == 0)
            listed = false;
    }
    closedir(tasks);
    return listed;
}

/* Who the parent of a process is: the number after its name, which may hold anything, and state. */
static pid_t parent_of(const char *pid)
{
    char path[64];
    char text[512];
    const char *end;
    ssize_t length;
    int fd;

    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    length = read(fd, text, sizeof text - 1);
    close(fd);
    text[length < 0 ? 0 : length] = '\0';
    end = strrchr(text, ')');
    /* ") S PARENT ..." */
    return end != NULL && strlen(end) > 4 ? (pid_t)strtol(end + 4, NULL, 10) : 0;
}

/* The same by asking every process for its parent. */
static void add_children_by_parent(pid_t pid, struct pids *pids)
{
    DIR *proc = opendir("/proc");
    const struct dirent *entry;

    while (proc != NULL && (entry = readdir(proc)) != NULL)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && parent_of(entry->d_name) == pid)
            add(pids, (pid_t)strtol(entry->d_name, NULL, 10));
    if (proc != NULL)
        closedir(proc);
}

static void list_children(pid_t pid, struct pids *pids)
{
    size_t count = pids->count;

    if (!add_children(pid, pids)) {
        pids->count = count;
        add_children_by_parent(pid, pids);
    }
}

pid_t tree_child_of(pid_t pid)
{
    struct pids pids = {0};
    pid_t child;

    list_children(pid, &pids);
    child = pids.count > 0 ? pids.list[0] : 0;
    free(pids.list);
    return child;
}

/*
 * Stops all descendants and lists them. Each is stopped before its children are looked up: so it
 * has no time to have more, and does not bury them, which would set their numbers free.
 */
static void stop_all(struct pids *found)
{
    found->count = 0;
    list_children(getpid(), found);
    for (size_t i = 0; i < found->count; i++) {
        kill(found->list[i], SIGSTOP);
        list_children(found->list[i], found);
    }
}

/* Until a pass finds no more than the one before: a fork may have been under way in any of them. */
static void stop_until_quiet(struct pids *found)
{
    size_t before;
    int passes = 0;

    do {
        before = found->count;
        stop_all(found);
    } while (found->count > before && ++passes < 100);
}

/* False if there are no children left. */
static bool reap(void)
{
    pid_t pid;

    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
        ;
    return pid == 0 || errno != ECHILD;
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

bool tree_end(int seconds)
{
    const struct timespec moment = {.tv_nsec = 500000};
    const struct sched_param first = {.sched_priority = 1};
    struct pids found = {0};
    double end = now() + seconds;
    bool left = reap();

    /* In a storm of processes we would rarely be asked; this helps where it is allowed. */
    if (left)
        sched_setscheduler(0, SCHED_RR, &first);
    while (left && now() < end) {
        found.count = 0;
        stop_until_quiet(&found);
        for (size_t i = 0; i < found.count; i++)
            kill(found.list[i], SIGKILL);
        for (int i = 0; i < 20 && (left = reap()); i++)
            nanosleep(&moment, NULL);
    }
    free(found.list);
    return !left;
}
