/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "command.h"
#include "print.h"
#include "session.h"
#include "supervisor.h"

/* Tries one backend for the default policy. */
static bool examine(const struct backend *backend, const struct image *image)
{
    struct trouble trouble = {.step = ""};
    static const char indent[] = "             ";
    char line[1024];

    if (backend->probe(image, &trouble) < 0) {
        trouble_print(&trouble, line, sizeof line);
        printf("%-10s no: ", backend->name);
        print_text(line);
        putchar('\n');
        return false;
    }
    printf("%-10s works; it leaves to the supervisor:\n", backend->name);
    print_gaps_of(backend->gaps(), HELD_BY_SUPERVISOR, indent);
    printf("%-10s and to nobody:\n", "");
    print_gaps_of(backend->gaps(), HELD_BY_NOBODY, indent);
    return true;
}

/* The image that a run with this backend would have. */
static bool examine_named(const char *name)
{
    struct options options = {.backend = name, .protect = true, .any_root = true};
    struct session session;
    const struct backend *backend = backend_by_name(name);
    bool works = false;

    if (backend == NULL)
        return false;
    if (session_begin(&session, &options, true) == 0 && session_image(&session, name) == 0 &&
        session_make_tmp(&session) == 0)
        works = examine(backend, session.image);
    session_end(&session);
    return works;
}

/* Without one the shim alone holds what the walls leave. */
static void examine_supervisor(void)
{
    struct trouble trouble = {.step = ""};
    char line[1024];

    if (supervisor_probe(&trouble) == 0) {
        printf("%-10s works: no call goes unseen; --net loopback and -u with landlock work\n",
               "supervisor");
        return;
    }
    trouble_print(&trouble, line, sizeof line);
    printf("%-10s no: ", "supervisor");
    print_text(line);
    printf(": the shim alone holds what the walls leave to it\n");
}

int command_doctor(int argc, char **argv)
{
    struct utsname system;
    bool landlock;
    bool bwrap;

    if (argc > 1 && (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0))
        return print_help();
    if (argc > 1)
        return usage_error("doctor takes no arguments");
    uname(&system);
    printf("%-10s %s %s %s\n", "system", system.sysname, system.release, system.machine);
    if (backend_is_inside())
        printf("%-10s inside a cordon already: a run in here can only be narrower\n", "here");
    landlock = examine_named("landlock");
    bwrap = examine_named("bwrap");
    examine_supervisor();
    printf("%-10s works always, but is no wall: whatever does not go through libc is free\n",
           "native");
    printf("%-10s %s\n", "auto",
           landlock ? "landlock, or bwrap for what landlock cannot hold"
           : bwrap  ? "bwrap"
                    : "nothing: only -b native is left");
    printf("%-10s %s\n", "the end",
           bwrap
               ? "with bwrap a PID namespace ends the whole tree; with landlock a guardian process"
               : "a guardian process ends the whole tree, as well as it can");
    if (flush_output() != 0)
        return EXIT_SETUP;
    return landlock || bwrap ? 0 : EXIT_REFUSED;
}
