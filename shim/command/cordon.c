/* SPDX-License-Identifier: MIT */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "cordon.h"

static const char help[] =
    "Usage: cordon resolve [-C DIR] [--mode kernel|clean|strict] [-0] [--] PATH...\n"
    "\n"
    "Says where paths really lead, and refuses those that lead outside the workspace.\n"
    "\n"
    "  -C, --root DIR   the workspace (default: the current directory)\n"
    "  -m, --mode MODE  how to read a path: kernel (default), clean or strict\n"
    "  -0               end each answer with a NUL byte instead of a newline\n"
    "  -h, --help       this text\n"
    "  -V, --version    the version\n"
    "\n"
    "A relative path is taken from the workspace. The path - stands for the paths on standard\n"
    "input, one a line. Exit status: 0 all inside, 1 some refused, 125 bad usage. See cordon(1).\n";

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"resolve", command_resolve},
};

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

int main(int argc, char **argv)
{
    /* For the characters of names; messages stay as they are. */
    setlocale(LC_CTYPE, "");
    /* A message is one write(2), also where several programs share the terminal. */
    setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
    if (argc < 2)
        return usage_error("what is it to do? Name a command, such as resolve");
    if (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0)
        return print_help();
    if (strcmp(argv[1], "-V") == 0 || strcmp(argv[1], "--version") == 0)
        return print_version();
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    if (argv[1][0] == '-')
        return usage_error("name a command before the option \"%s\", such as resolve", argv[1]);
    return usage_error("there is no command \"%s\", only resolve", argv[1]);
}
