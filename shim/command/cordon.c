/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "backend.h"
#include "command.h"
#include "cordon.h"

static const char help[] =
    "Usage: cordon [OPTIONS] -- COMMAND [ARG...]     run COMMAND inside a workspace\n"
    "       cordon why [OPTIONS] stat|read|write|exec PATH...   may it, and by which rule?\n"
    "       cordon wrap [OPTIONS] BINARY              print a wrapper script for BINARY\n"
    "       cordon resolve [-C DIR] [-m MODE] PATH... where paths really lead\n"
    "       cordon doctor                             what this machine can enforce\n"
    "\n"
    "  -C, --root DIR    the workspace (.)       -b, --backend auto|landlock|bwrap|native\n"
    "  -r, --read PATH   may be read             -n, --net deny|open  the network (deny)\n"
    "  -w, --write PATH  may be written          -u, --unix PATH   a socket to connect to\n"
    "  -d, --deny PATTERN  may be neither        -l, --log FILE    record refusals\n"
    "  --tmp private|host|none  TMPDIR           --env NAME   keep a variable like ..._TOKEN\n"
    "  --fd N            keep descriptor N       --no-protect   .git/hooks and the like\n"
    "  --strict          the kernel has to hold every rule     --any-root   even / or ~\n"
    "  --observe         refuse nothing, record  --print   the policy, and run nothing\n"
    "  -q, --quiet   -v, --verbose   -h, --help   -V, --version\n"
    "\n"
    "COMMAND may write the workspace, read the system and the toolchains of PATH, and\n"
    "nothing else. Exit status: its own; 125 cordon could not set up, 126 COMMAND may\n"
    "not be run, 127 it was not found. See cordon(1).\n";

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"run", command_run},
    {"resolve", command_resolve},
    {"why", command_why},
    {"doctor", command_doctor},
    {"wrap", command_wrap},
    /* Not for people. */
    {"--inner", inner_main},
    {"--hand", command_hand},
    {"--loaded", command_loaded},
};

enum { COMMANDS = sizeof commands / sizeof commands[0], PUBLIC = 5 };

int print_help(void)
{
    fputs(help, stdout);
    return flush_output();
}

int print_version(void)
{
    printf("cordon %s\n", cordon_version());
    return flush_output();
}

static int no_such_command(const char *word)
{
    const char *names[PUBLIC];
    const char *meant;

    for (int i = 0; i < PUBLIC; i++)
        names[i] = commands[i].name;
    meant = closest(word, names, PUBLIC);
    if (meant != NULL)
        return usage_error("there is no command \"%s\": did you mean %s? To run it: cordon -- %s",
                           word, meant, word);
    return usage_error("there is no command \"%s\". To run it: cordon -- %s", word, word);
}

int main(int argc, char **argv)
{
    /* A message is one write(2), also where several programs share the terminal. */
    setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
    if (argc < 2)
        return usage_error("what is it to do? To run a command: cordon -- COMMAND");
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    if (argv[1][0] != '-')
        return no_such_command(argv[1]);
    return command_run(argc, argv);
}
