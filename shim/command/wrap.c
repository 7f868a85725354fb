/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "options.h"
#include "program.h"

/* As one word of the shell. */
static void print_quoted(const char *text)
{
    putchar('\'');
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*text);
    }
    putchar('\'');
}

static void print_word(const char *option, const char *value)
{
    printf(" %s ", option);
    print_quoted(value);
}

/* From the directory we are in: the wrapper will be called in others. */
static bool print_path(const char *option, const char *path)
{
    char *here = NULL;
    char *whole = NULL;

    if (path[0] == '/') {
        print_word(option, path);
        return true;
    }
    here = getcwd(NULL, 0);
    if (here != NULL && asprintf(&whole, "%s/%s", here, path) < 0)
        whole = NULL;
    if (whole != NULL)
        print_word(option, whole);
    free(whole);
    free(here);
    return whole != NULL;
}

static bool print_paths(const char *option, const struct words *words)
{
    bool whole = true;

    for (size_t i = 0; i < words->count; i++)
        whole = print_path(option, words->list[i]) && whole;
    return whole;
}

static void print_words(const char *option, const struct words *words)
{
    for (size_t i = 0; i < words->count; i++)
        print_word(option, words->list[i]);
}

/* The options as they were given. */
static bool print_options(const struct options *options)
{
    static const char *const tmp[] = {
        [TMP_PRIVATE] = NULL, [TMP_HOST] = " --tmp host", [TMP_NONE] = " --tmp none"};
    bool whole = options->root == NULL || print_path("-C", options->root);

    whole = print_paths("-r", &options->read) && whole;
    whole = print_paths("-w", &options->write) && whole;
    whole = print_paths("-u", &options->sockets) && whole;
    print_words("-d", &options->deny);
    print_words("--env", &options->env);
    print_words("--fd", &options->fds);
    if (strcmp(options->backend, "auto") != 0)
        print_word("-b", options->backend);
    if (options->log != NULL && strcmp(options->log, "stderr") != 0)
        whole = print_path("-l", options->log) && whole;
    else if (options->log != NULL)
        print_word("-l", options->log);
    fputs(options->net == NET_OPEN ? " -n open" : "", stdout);
    fputs(tmp[options->tmp] != NULL ? tmp[options->tmp] : "", stdout);
    fputs(options->any_root ? " --any-root" : "", stdout);
    fputs(options->protect ? "" : " --no-protect", stdout);
    fputs(options->strict ? " --strict" : "", stdout);
    fputs(options->observe ? " --observe" : "", stdout);
    fputs(options->quiet ? " -q" : "", stdout);
    fputs(options->verbose ? " -v" : "", stdout);
    return whole;
}

static int print_wrapper(const struct options *options, const struct program *program)
{
    char *own = realpath("/proc/self/exe", NULL);
    bool whole;

    if (own == NULL)
        return setup_error("/proc/self/exe: %s", strerror(errno));
    fputs("#!/bin/sh\n# Made by cordon wrap: the program keeps to a workspace.\nexec ", stdout);
    print_quoted(own);
    free(own);
    fputs(" run", stdout);
    whole = print_options(options);
    whole = print_path("--", program->path) && whole;
    fputs(" \"$@\"\n", stdout);
    if (program->privileged)
        remark("%s: set-user-ID, or with capabilities: inside it runs without that privilege",
               program->path);
    return whole ? flush_output() : setup_error("the current directory cannot be told");
}

int command_wrap(int argc, char **argv)
{
    struct options options;
    struct program program;
    int status;
    int first = options_parse(argc, argv, "wrap", &options, &status);

    if (first >= 0 && first + 1 != argc)
        status = usage_error("wrap wants one binary");
    else if (first >= 0 && (status = program_find(argv[first], NULL, &program)) == 0)
        status = print_wrapper(&options, &program);
    options_release(&options);
    return status;
}
