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

const char *side_name(enum side side)
{
    static const char *const names[SIDES] = {"bare",     "native",      "landlock alone",
                                             "landlock", "bwrap alone", "bwrap"};

    return names[side];
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
    bool bwrap = side == SIDE_BWRAP || side == SIDE_BWRAP_WALL;
    bool wall_alone = side == SIDE_LANDLOCK_WALL || side == SIDE_BWRAP_WALL;
    const char *line[64] = {side_product("cordon"),       "run", "-C", the_place->ws, "-b",
                            bwrap ? "bwrap" : "landlock", "--"};
    const char *const *command = line;
    size_t count = 7;

    if (wall_alone)
        line[count++] = "./.plain";
    for (const char *const *arg = argv; *arg != NULL && count < 63; arg++)
        line[count++] = *arg;
    if (side == SIDE_NATIVE)
        preload_by_hand();
    if (side == SIDE_BARE || side == SIDE_NATIVE)
        command = argv;
    execvp(command[0], (char *const *)command);
    fprintf(stderr, "bench: %s: %s\n", command[0], strerror(errno));
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

bool side_finds(const char *command)
{
    const char *const argv[] = {"sh", "-c", "command -v \"$0\" >/dev/null", command, NULL};

    return await(side_start(SIDE_BARE, argv, -1, -1)) == 0;
}

/* A preload that was not loaded is a warning and a free program, and would look fast: on every side
 * but the bare one what lies outside has to be out of reach. */
static bool try_side(enum side side)
{
    const char *const reach[] = {"sh", "-c", "! cat ../outside 2>/dev/null", NULL};

    if (side_run(side, (const char *const[]){"true", NULL}) < 0)
        return false;
    return side == SIDE_BARE || side_run(side, reach) >= 0;
}

bool side_works(enum side side)
{
    static enum { UNKNOWN, WORKS, FAILS } known[SIDES];

    if (known[side] == UNKNOWN)
        known[side] = try_side(side) ? WORKS : FAILS;
    return known[side] == WORKS;
}
