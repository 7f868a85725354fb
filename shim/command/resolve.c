/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "cordon.h"

struct request {
    const char *root;
    enum cordon_mode mode;
    bool nul;
    cordon_workspace *workspace;
};

static bool parse_mode(const char *word, enum cordon_mode *mode)
{
    static const char *const words[] = {
        [CORDON_KERNEL] = "kernel", [CORDON_CLEAN] = "clean", [CORDON_STRICT] = "strict"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(word, words[i]) == 0) {
            *mode = (enum cordon_mode)i;
            return true;
        }
    return false;
}

/* getopt leaves the letter in optopt; 0 if a long option is unknown, and the letter that a known
 * one stands for if it has a value and wants none. */
static int unknown_option(char **argv)
{
    if (optopt == 0 || optopt == 'h' || optopt == 'V')
        return usage_error("resolve has no option %s", argv[optind - 1]);
    return usage_error("resolve has no option -%c", optopt);
}

/* Returns true if there is work to do, else *status is what to exit with. */
static bool parse_options(int argc, char **argv, struct request *request, int *status)
{
    static const struct option options[] = {
        {"root", required_argument, NULL, 'C'},
        {"mode", required_argument, NULL, 'm'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, "+:C:m:0hV", options, NULL)) != -1) {
        switch (option) {
        case 'C':
            request->root = optarg;
            break;
        case 'm':
            if (parse_mode(optarg, &request->mode))
                break;
            *status = usage_error("--mode is kernel, clean or strict, not \"%s\"", optarg);
            return false;
        case '0':
            request->nul = true;
            break;
        case 'h':
            *status = print_help();
            return false;
        case 'V':
            *status = print_version();
            return false;
        case ':':
            *status = usage_error("a value is missing after %s", argv[argc - 1]);
            return false;
        default:
            *status = unknown_option(argv);
            return false;
        }
    }
    if (optind < argc)
        return true;
    *status = usage_error("resolve wants a path");
    return false;
}

/* The library wants an absolute root; people type relative ones. */
static int open_workspace(struct request *request)
{
    char *here = NULL;
    char *root = NULL;
    int error;

    if (request->root[0] == '/' || request->root[0] == '\0') {
        error = cordon_workspace_new(request->root, &request->workspace);
    } else if ((here = getcwd(NULL, 0)) == NULL) {
        error = -errno;
    } else if (asprintf(&root, "%s/%s", here, request->root) < 0) {
        root = NULL;
        error = -ENOMEM;
    } else {
        error = cordon_workspace_new(root, &request->workspace);
    }
    free(root);
    free(here);
    if (error < 0)
        complain(request->root, "cannot be the workspace", cordon_strerror(error));
    return error < 0 ? EXIT_SETUP : 0;
}

static int answer(const struct request *request, const char *path)
{
    char place[PATH_MAX];
    ssize_t length =
        cordon_workspace_resolve(request->workspace, request->mode, path, place, sizeof place);

    if (length >= 0)
        return print_answer(place, (size_t)length, request->nul ? '\0' : '\n');
    complain(path, cordon_strerror((int)length), length == CORDON_EOUTSIDE ? place : NULL);
    return EXIT_REFUSED;
}

static int answer_line(const struct request *request, const char *line, size_t length)
{
    int status;

    if (strlen(line) != length) {
        complain(line, "a path cannot hold a NUL byte", NULL);
        return EXIT_REFUSED;
    }
    status = answer(request, line);
    return status != 0 ? status : flush_output();
}

/* Answers each line as it comes; a path that holds a newline can be given as an argument. */
static int answer_stdin(const struct request *request)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    int status = 0;

    while (status != EXIT_SETUP && (length = getline(&line, &size, stdin)) > 0) {
        int one;

        if (line[length - 1] == '\n')
            line[--length] = '\0';
        one = answer_line(request, line, (size_t)length);
        if (one > status)
            status = one;
    }
    if (status != EXIT_SETUP && !feof(stdin)) {
        complain("standard input", strerror(errno), NULL);
        status = EXIT_SETUP;
    }
    free(line);
    return status;
}

int command_resolve(int argc, char **argv)
{
    struct request request = {.root = "."};
    int status = 0;

    if (!parse_options(argc, argv, &request, &status))
        return status;
    status = open_workspace(&request);
    /* Where output or input is lost there is no point in going on. */
    for (int i = optind; i < argc && status != EXIT_SETUP; i++) {
        bool from_stdin = strcmp(argv[i], "-") == 0;
        int one = from_stdin ? answer_stdin(&request) : answer(&request, argv[i]);
        if (one > status)
            status = one;
    }
    cordon_workspace_close(request.workspace);
    return status == EXIT_SETUP || flush_output() == 0 ? status : EXIT_SETUP;
}
