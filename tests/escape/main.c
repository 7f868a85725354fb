/* SPDX-License-Identifier: MIT */
/*
 * usage: attack NAME FACT=VALUE...
 *
 * Prints `WON`, `LOST ERRNO` or `CANNOT why` as its last line; the exit status is 0, the number of
 * the errno, or 200. Other than the attacks there are `inside`, which uses the workspace as
 * it may, and for exec `say`, which only succeeds, `evil` (is evil.so in the process?) and `who`
 * (is it root?). Under the name `say` it succeeds whatever it is told.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attack.h"
#include "layer.h"

/* What a confined program has to be able to do: else every refusal is worth nothing. */
static int inside(void)
{
    char text[16];
    struct stat st;
    int error = scribble(do_open(in("ws", "new"), O_WRONLY | O_CREAT, 0644));

    if (error == 0)
        error = (int)do_rename("new", "dir/newer");
    if (error == 0)
        error = (int)do_stat("dir/newer", &st);
    if (error == 0)
        error = (int)do_unlink(in("ws", "dir/newer"));
    if (error == 0)
        error = do_open("new", O_RDONLY, 0) == -ENOENT ? 0 : -EEXIST;
    if (error == 0)
        error = (int)do_symlink("file", "link");
    if (error == 0 && do_readlink("link", text, sizeof text) != 4)
        error = -EINVAL;
    if (error == 0)
        error = spill(do_open("link", O_RDONLY, 0));
    return error == 0 ? do_system("exec cat file >copy && rm copy") : error;
}

/* Whether the evil library from outside is in the process. */
static int has_evil(void)
{
    char line[4200];
    FILE *maps = fopen("/proc/self/maps", "r");
    int error = -EACCES;

    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        if (strstr(line, "/out/evil.so") != NULL)
            error = 0;
    if (maps != NULL)
        fclose(maps);
    return error;
}

static int attempt(const char *name)
{
    const struct attack *attack;

    if (strcmp(name, "say") == 0)
        return 0;
    if (strcmp(name, "inside") == 0)
        return inside();
    if (strcmp(name, "evil") == 0)
        return has_evil();
    if (strcmp(name, "who") == 0)
        return geteuid() == 0 ? 0 : -EPERM;
    attack = attack_find(name);
    return attack == NULL ? cannot("no such attack") : attack->attempt();
}

int main(int argc, char **argv)
{
    int error;

    if (strstr(argv[0], "/out/say") != NULL)
        return 0;
    if (argc < 2)
        return 2;
    facts_set(argv + 2);
    error = attempt(argv[1]);
    if (error == 0)
        printf("WON\n");
    else if (error != CANNOT)
        printf("LOST %s\n", strerrorname_np(-error) == NULL ? "?" : strerrorname_np(-error));
    return error == CANNOT ? 200 : error < 0 ? -error : 0;
}
