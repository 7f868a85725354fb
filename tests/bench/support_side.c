/* SPDX-License-Identifier: MIT */
#include "support_side.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

static struct side_place *the_place;
static pid_t owner;

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
    exit(2);
}

/* --- the place -------------------------------------------------------------------------------- */

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st;
    (void)kind;
    (void)ftw;
    return remove(path);
}

static void remove_place(void)
{
    if (getpid() == owner && chdir("/") == 0)
        nftw(the_place->base, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

void side_begin(struct side_place *place)
{
    const char *tmp = getenv("TMPDIR");
    char template[PATH_MAX];

    if (access(side_product("cordon"), X_OK) < 0)
        die(side_product("cordon"));
    if (access(side_product("libcordon-shim.so"), R_OK) < 0)
        die(side_product("libcordon-shim.so"));
    snprintf(template, sizeof template, "%s/cordon-bench-XXXXXX",
             tmp != NULL && tmp[0] != '\0' ? tmp : "/tmp");
    if (mkdtemp(template) == NULL || realpath(template, place->base) == NULL)
        die(template);
    the_place = place;
    owner = getpid();
    atexit(remove_place);
    if (snprintf(place->ws, sizeof place->ws, "%s/ws", place->base) >= (int)sizeof place->ws ||
        mkdir(place->ws, 0700) < 0 || chdir(place->ws) < 0)
        die(place->base);
    side_prepare("echo secret >../outside; cp \"$PLAIN\" .plain 2>/dev/null || :");
}

void side_prepare(const char *script)
{
    setenv("PLAIN", side_product("bench/plain"), 1);
    if (side_run(SIDE_BARE, (const char *const[]){"sh", "-c", script, NULL}) < 0)
        exit(2);
    unsetenv("PLAIN");
}

/* This program is in the directory bench of the products. */
const char *side_product(const char *name)
{
    char self[PATH_MAX];
    char *path = NULL;
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

    if (length < 0)
        die("/proc/self/exe");
    self[length] = '\0';
    for (int i = 0; i < 2; i++)
        *strrchr(self, '/') = '\0';
    if (asprintf(&path, "%s/%s", self, name) < 0)
        die(name);
    return path;
}

/* --- sides ------------------------------------------------------------------------------------ */

#define CORDON(...)                              \
    {                                            \
        "cordon", "run", "-b", __VA_ARGS__, "--" \
    }

/* What stands before the command. */
static const struct {
    const char *name;
    const char *before[8];
    bool plain; /* and bench/plain after it */
    bool open;  /* nobody keeps it from what lies outside */
} sides[SIDES] = {
    [SIDE_BARE] = {.name = "bare", .open = true},
    [SIDE_NATIVE] = {.name = "native"},
    [SIDE_LANDLOCK_WALL] = {"landlock alone", CORDON("landlock", "--no-supervise"), .plain = true},
    [SIDE_LANDLOCK] = {"landlock", CORDON("landlock")},
    [SIDE_BWRAP_WALL] = {"bwrap alone", CORDON("bwrap", "--no-supervise"), .plain = true},
    [SIDE_BWRAP] = {"bwrap", CORDON("bwrap")},
    [SIDE_SHIM] = {"unsupervised", CORDON("landlock", "--no-supervise")},
    [SIDE_STRICT] = {"strict", CORDON("landlock", "--strict")},
    [SIDE_LOOPBACK] = {"landlock", CORDON("landlock", "--net", "loopback")},
    [SIDE_PROOT] = {"proot", {"proot"}, .open = true},
    [SIDE_STRACE] = {"strace", {"strace", "-f", "-o", "/dev/null"}, .open = true},
};

const char *side_name(enum side side)
{
    return sides[side].name;
}

bool side_is_missing(enum side side)
{
    const char *command = sides[side].before[0];

    return command != NULL && strcmp(command, "cordon") != 0 && !side_finds(command);
}

static void preload_by_hand(void)
{
    setenv("LD_PRELOAD", side_product("libcordon-shim.so"), 1);
    setenv("CORDON_ROOT", the_place->ws, 1);
    setenv("CORDON_BACKEND", "native", 1);
}

/* Replaces the process by argv on that side. */
static _Noreturn void become(enum side side, const char *const argv[])
{
    const char *line[64];
    size_t count = 0;

    for (const char *const *word = sides[side].before; *word != NULL; word++)
        line[count++] = strcmp(*word, "cordon") == 0 ? side_product("cordon") : *word;
    if (sides[side].plain)
        line[count++] = "./.plain";
    for (const char *const *arg = argv; *arg != NULL && count < 63; arg++)
        line[count++] = *arg;
    line[count] = NULL;
    if (side == SIDE_NATIVE)
        preload_by_hand();
    execvp(line[0], (char *const *)line);
    fprintf(stderr, "bench: %s: %s\n", line[0], strerror(errno));
    _exit(127);
}

pid_t side_start(enum side side, const char *const argv[], int in, int out)
{
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child < 0)
        die("fork");
    if (child > 0)
        return child;
    if ((in >= 0 && dup2(in, STDIN_FILENO) < 0) || (out >= 0 && dup2(out, STDOUT_FILENO) < 0))
        _exit(127);
    become(side, argv);
}

/* Waits for the end; returns the status. */
static int await(pid_t child)
{
    int status;

    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            die("wait");
    return status;
}

double side_run(enum side side, const char *const argv[])
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    double begin = bench_now();
    int status = await(side_start(side, argv, null, null));
    double time = bench_now() - begin;

    close(null);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return time;
    fprintf(stderr, "bench: %s: %s: status %#x\n", side_name(side), argv[0], (unsigned)status);
    return -1;
}

/* With `word` as $0. */
static bool agrees(const char *script, const char *word)
{
    const char *const argv[] = {"sh", "-c", script, word, NULL};

    return await(side_start(SIDE_BARE, argv, -1, -1)) == 0;
}

bool side_agrees(const char *script)
{
    return agrees(script, "sh");
}

bool side_finds(const char *command)
{
    return agrees("command -v \"$0\" >/dev/null", command);
}

/* A preload that was not loaded is a warning and a free program, and would look fast: on every side
 * of ours what lies outside has to be out of reach. */
static bool try_side(enum side side)
{
    const char *const reach[] = {"sh", "-c", "! cat ../outside 2>/dev/null", NULL};

    if (side_is_missing(side) || side_run(side, (const char *const[]){"true", NULL}) < 0)
        return false;
    return sides[side].open || side_run(side, reach) >= 0;
}

bool side_works(enum side side)
{
    static enum { UNKNOWN, WORKS, FAILS } known[SIDES];

    if (known[side] == UNKNOWN)
        known[side] = try_side(side) ? WORKS : FAILS;
    return known[side] == WORKS;
}
