/* SPDX-License-Identifier: MIT */
/* How cordon starts itself: never by people. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bwrap.h"
#include "command.h"
#include "environment.h"
#include "program.h"

static int not_run(const char *path, int error)
{
    complain(path, strerror(error), NULL);
    return error == ENOENT || error == ENOTDIR ? EXIT_NOT_FOUND : EXIT_NOT_RUN;
}

/*
 * cordon --loaded PATH ARGV0 ARG...: the shim is in this very process, or there would be a program
 * without it. What it takes out of the environment of every program tells.
 */
int command_loaded(int argc, char **argv)
{
    if (argc < 3)
        return usage_error("--loaded is not for use by hand");
    if (getenv("CORDON_HANDSHAKE") != NULL || getenv(IMAGE_VARIABLE) != NULL)
        return setup_error("the shim was not loaded: the command was not started");
    return not_run(argv[1], program_become(argv[1], argv + 2));
}

/* The same image for what stands inside the wall. */
static struct image *image_inside(const struct image *image)
{
    struct image_parts parts = image_parts_of(image, image_policy(image));

    parts.wall = WALL_HELD;
    return image_new(&parts);
}

static int wrap_hand(const struct image *image, const char *path, char **command)
{
    struct trouble trouble = {.step = ""};
    char here[PATH_MAX];
    struct bwrap_wants wants = {.cwd = here,
                                .file = path,
                                .status_fd = -1,
                                .log = -1,
                                .stops = -1,
                                .host_proc = bwrap_needs_host_proc()};
    char line[1024];
    char **wrapped;

    if (backend_by_name(image_text(image, IMAGE_BACKEND)) != &backend_bwrap)
        return setup_error("%s: there is no such backend to wrap with",
                           image_text(image, IMAGE_BACKEND));
    if (getcwd(here, sizeof here) == NULL)
        return setup_error("the current directory: %s", strerror(errno));
    wrapped = bwrap_argv(image, &wants, command, &trouble);
    if (wrapped == NULL) {
        trouble_print(&trouble, line, sizeof line);
        return setup_error("bwrap: %s", line);
    }
    return setup_error("%s: %s", wrapped[0], strerror(-backend_exec(wrapped)));
}

/*
 * cordon --hand PATH ARGV0 ARG...: a child of a program that was preloaded by hand, which is to
 * have a wall of its own. The image is in the environment; the shim is not preloaded, else it would
 * be in this very process.
 */
int command_hand(int argc, char **argv)
{
    static _Alignas(8) unsigned char memory[IMAGE_MAX];
    const char *text = getenv(IMAGE_VARIABLE);
    const char *wrong = text == NULL ? "not set" : image_read(text, memory, sizeof memory);
    struct image *image;
    char *variable;

    if (argc < 3)
        return usage_error("--hand is not for use by hand");
    if (wrong != NULL)
        return setup_error(IMAGE_VARIABLE ": %s", wrong);
    if (environment_add_preload(image_text((const struct image *)memory, IMAGE_SHIM)) < 0)
        return setup_error("out of memory");
    if (backend_is_inside())
        return not_run(argv[1], program_become(argv[1], argv + 2));
    image = image_inside((const struct image *)memory);
    variable = image == NULL ? NULL : malloc(image_variable_size(image));
    if (variable == NULL)
        return setup_error("out of memory");
    image_variable(image, variable);
    putenv(variable);
    return wrap_hand(image, argv[1], argv + 2);
}
