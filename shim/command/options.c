/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

/* Options without a letter. */
enum {
    OPTION_TMP = 256,
    OPTION_ENV,
    OPTION_FD,
    OPTION_NO_PROTECT,
    OPTION_ANY_ROOT,
    OPTION_STRICT,
    OPTION_NO_SUPERVISE,
    OPTION_OBSERVE,
    OPTION_PRINT,
    OPTION_LATER, /* of a later version */
};

static const struct option long_options[] = {
    {"root", required_argument, NULL, 'C'},
    {"read", required_argument, NULL, 'r'},
    {"write", required_argument, NULL, 'w'},
    {"deny", required_argument, NULL, 'd'},
    {"net", required_argument, NULL, 'n'},
    {"unix", required_argument, NULL, 'u'},
    {"backend", required_argument, NULL, 'b'},
    {"log", required_argument, NULL, 'l'},
    {"tmp", required_argument, NULL, OPTION_TMP},
    {"env", required_argument, NULL, OPTION_ENV},
    {"fd", required_argument, NULL, OPTION_FD},
    {"no-protect", no_argument, NULL, OPTION_NO_PROTECT},
    {"any-root", no_argument, NULL, OPTION_ANY_ROOT},
    {"strict", no_argument, NULL, OPTION_STRICT},
    {"no-supervise", no_argument, NULL, OPTION_NO_SUPERVISE},
    {"observe", no_argument, NULL, OPTION_OBSERVE},
    {"print", no_argument, NULL, OPTION_PRINT},
    {"quiet", no_argument, NULL, 'q'},
    {"verbose", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {"policy", required_argument, NULL, OPTION_LATER},
    {"track", required_argument, NULL, OPTION_LATER},
    {"session", required_argument, NULL, OPTION_LATER},
    {"report-fd", required_argument, NULL, OPTION_LATER},
    {"learn", required_argument, NULL, OPTION_LATER},
    {"fail-on-denial", no_argument, NULL, OPTION_LATER},
    {NULL, 0, NULL, 0},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The index of `word` in `words`, or -1. */
static int find(const char *word, const char *const words[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, words[i]) == 0)
            return (int)i;
    return -1;
}

static int keep(struct words *words, const char *word)
{
    const char **list = realloc(words->list, (words->count + 1) * sizeof *list);

    if (list == NULL)
        return setup_error("out of memory");
    words->list = list;
    list[words->count++] = word;
    return 0;
}

static int keep_path(struct words *words, const char *path, const char *option)
{
    return path[0] == '\0' ? usage_error("%s wants a path", option) : keep(words, path);
}

static int keep_fd(struct words *words, const char *word)
{
    if (word[0] == '\0' || word[strspn(word, "0123456789")] != '\0' || strlen(word) > 6)
        return usage_error("--fd is the number of a descriptor, not \"%s\"", word);
    return keep(words, word);
}

static int keep_variable(struct words *words, const char *word)
{
    if (word[0] == '\0' || strchr(word, '=') != NULL)
        return usage_error("--env is the name of a variable that stays, not \"%s\"", word);
    return keep(words, word);
}

/* Whether it is a list such as "80,443". */
static bool is_ports(const char *list)
{
    for (;;) {
        char *end;
        unsigned long port = strtoul(list, &end, 10);
        if (list[0] < '0' || list[0] > '9' || end - list > 5 || port == 0 || port > 65535)
            return false;
        if (*end == '\0')
            return true;
        if (*end != ',')
            return false;
        list = end + 1;
    }
}

static int set_net(struct options *options, const char *word)
{
    static const char *const words[] = {
        [NET_DENY] = "deny", [NET_LOOPBACK] = "loopback", [NET_OPEN] = "open"};
    static const char narrowed[] = "loopback:";
    int i = find(word, words, COUNT(words));

    options->ports = "";
    if (strncmp(word, narrowed, strlen(narrowed)) == 0) {
        i = NET_LOOPBACK;
        options->ports = word + strlen(narrowed);
        if (!is_ports(options->ports))
            return usage_error("--net loopback:PORT,... wants ports from 1 to 65535, not \"%s\"",
                               options->ports);
    }
    if (i < 0)
        return usage_error("--net is deny, loopback or open, not \"%s\"", word);
    options->net = (enum image_net)i;
    return 0;
}

static int set_backend(struct options *options, const char *word)
{
    static const char *const words[] = {"auto", "landlock", "bwrap", "native", "sandboxexec"};
    int i = find(word, words, COUNT(words));

    if (i < 0)
        return usage_error("--backend is auto, landlock, bwrap or native, not \"%s\"", word);
    if (i == 4)
        return setup_error("--backend sandboxexec: only on macOS");
    options->backend = word;
    return 0;
}

static int set_tmp(struct options *options, const char *word)
{
    static const char *const words[] = {
        [TMP_PRIVATE] = "private", [TMP_HOST] = "host", [TMP_NONE] = "none"};
    int i = find(word, words, COUNT(words));

    if (i < 0)
        return usage_error("--tmp is private, host or none, not \"%s\"", word);
    options->tmp = (enum tmp_mode)i;
    return 0;
}

/* One option. Returns 0 or the exit status. */
static int take(struct options *options, int option)
{
    switch (option) {
    case 'C':
        options->root = optarg;
        return optarg[0] == '\0' ? usage_error("--root wants a directory") : 0;
    case 'r':
        return keep_path(&options->read, optarg, "--read");
    case 'w':
        return keep_path(&options->write, optarg, "--write");
    case 'd':
        return keep_path(&options->deny, optarg, "--deny");
    case 'u':
        return keep_path(&options->sockets, optarg, "--unix");
    case 'n':
        return set_net(options, optarg);
    case 'b':
        return set_backend(options, optarg);
    case 'l':
        options->log = optarg;
        return optarg[0] == '\0' ? usage_error("--log wants a file") : 0;
    case OPTION_TMP:
        return set_tmp(options, optarg);
    case OPTION_ENV:
        return keep_variable(&options->env, optarg);
    case OPTION_FD:
        return keep_fd(&options->fds, optarg);
    default:
        return EXIT_SETUP;
    }
}

/* The switches. False if it is none. */
static bool flip(struct options *options, int option)
{
    switch (option) {
    case OPTION_NO_PROTECT:
        options->protect = false;
        return true;
    case OPTION_ANY_ROOT:
        options->any_root = true;
        return true;
    case OPTION_NO_SUPERVISE:
        options->no_supervise = true;
        return true;
    case OPTION_STRICT:
        options->strict = true;
        return true;
    case OPTION_OBSERVE:
        options->observe = true;
        return true;
    case OPTION_PRINT:
        options->print = true;
        return true;
    case 'q':
        options->quiet = true;
        return true;
    case 'v':
        options->verbose = true;
        return true;
    default:
        return false;
    }
}

/* getopt leaves the letter in optopt; 0 if a long option is unknown, and the value of a known one
 * if it has a value and wants none. */
static int unknown_option(const char *name, const char *word)
{
    const char *names[COUNT(long_options)];
    const char *meant = NULL;
    char letters[64];

    for (size_t i = 0; i + 1 < COUNT(long_options); i++)
        names[i] = long_options[i].name;
    if (strncmp(word, "--", 2) != 0)
        return usage_error("%s has no option -%c", name, optopt);
    if (optopt != 0)
        return usage_error("%s takes no value", word);
    if ((size_t)snprintf(letters, sizeof letters, "%.*s", (int)strcspn(word + 2, "="), word + 2) <
        sizeof letters)
        meant = closest(letters, names, COUNT(long_options) - 1);
    if (meant != NULL)
        return usage_error("%s has no option %s: did you mean --%s?", name, word, meant);
    return usage_error("%s has no option %s", name, word);
}

int options_parse(int argc, char **argv, const char *name, struct options *options, int *status)
{
    int which = 0;
    int option;

    *options = (struct options){.backend = "auto", .protect = true};
    *status = 0;
    opterr = 0;
    optind = 1;
    while (*status == 0 && (option = getopt_long(argc, argv, "+:C:r:w:d:n:u:b:l:p:t:qvhV",
                                                 long_options, &which)) != -1) {
        if (option == 'h' || option == 'V') {
            *status = option == 'h' ? print_help() : print_version();
            return -1;
        }
        if (option == ':')
            *status = usage_error("a value is missing after %s", argv[argc - 1]);
        else if (option == '?')
            *status = unknown_option(name, argv[optind - 1]);
        else if (option == 'p' || option == 't')
            *status = setup_error("-%c: not in this version", option);
        else if (option == OPTION_LATER)
            *status = setup_error("--%s: not in this version", long_options[which].name);
        else if (!flip(options, option))
            *status = take(options, option);
    }
    return *status == 0 ? optind : -1;
}

void options_release(struct options *options)
{
    free(options->read.list);
    free(options->write.list);
    free(options->deny.list);
    free(options->sockets.list);
    free(options->env.list);
    free(options->fds.list);
}
