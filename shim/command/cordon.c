/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "backend.h"
#include "command.h"
#include "cordon.h"

static const char help[] =
    "Usage: cordon [OPTIONS] -- COMMAND [ARG...]  run COMMAND inside a workspace\n"
    "       cordon why [OPTIONS] stat|read|write|exec PATH...   by which rule?\n"
    "       cordon wrap [OPTIONS] BINARY          print a wrapper script for BINARY\n"
    "       cordon resolve [-C DIR] [-m MODE] PATH...   where do paths lead?\n"
    "       cordon doctor                         what can this machine enforce?\n"
    "\n"
    "  -C, --root DIR      the workspace (.)     -n, --net deny|loopback[:PORT,..]|open\n"
    "  -r, --read PATH     may be read           -u, --unix PATH  socket to talk to\n"
    "  -w, --write PATH    may be written        -l, --log FILE   record refusals\n"
    "  -d, --deny PATTERN  may be neither        --env NAME   keep a ..._TOKEN or so\n"
    "  -b, --backend auto|landlock|bwrap|native  --fd N       keep descriptor N\n"
    "  --tmp private|host|none   TMPDIR          --no-protect   .git/hooks and such\n"
    "  --strict    no way around any rule        --any-root   take even / or ~\n"
    "  --observe   refuse nothing, only record   --print      show the policy\n"
    "  --no-supervise    the wall alone for static programs\n"
    "  -q, --quiet     -v, --verbose     -h, --help     -V, --version\n"
    "\n"
    "COMMAND may write the workspace, read the system and the toolchains of PATH,\n"
    "and nothing else; there is no network. Exit status: that of COMMAND; 125 if\n"
    "cordon could not set up, 126 if COMMAND may not be run, 127 if it was not found.\n"
    "See cordon(1).\n";

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
    {"--inner", command_inner},
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
