/* SPDX-License-Identifier: MIT */
/* options.h - the options of `cordon run`, which `why` and `wrap` take as well. */
#ifndef CORDON_OPTIONS_H
#define CORDON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "image.h"

enum tmp_mode { TMP_PRIVATE, TMP_HOST, TMP_NONE };

struct words {
    const char **list;
    size_t count;
};

struct options {
    const char *root; /* NULL: the current directory */
    bool any_root;    /* let / or the home directory be the workspace */
    struct words read;
    struct words write;
    struct words deny;
    struct words sockets;
    struct words env; /* variables that stay */
    struct words fds; /* descriptors that stay, as text that is a number */
    enum image_net net;
    const char *ports; /* with NET_LOOPBACK: "80,443"; or "" */
    const char *backend;
    const char *log; /* NULL: none */
    enum tmp_mode tmp;
    bool protect;
    bool strict;
    bool no_supervise;
    bool observe;
    bool print;
    bool quiet;
    bool verbose;
};

/* Returns the index of the first word that is no option, or -1 with the exit status in *status:
 * there was an error, or --help. `name` is that of the subcommand, for messages. */
int options_parse(int argc, char **argv, const char *name, struct options *options, int *status);
void options_release(struct options *options);

#endif
