/* SPDX-License-Identifier: MIT */
/* command.h - what the subcommands of `cordon` share. Only the command prints. */
#ifndef CORDON_COMMAND_H
#define CORDON_COMMAND_H

#include <stddef.h>

/* Exit statuses of cordon's own. */
enum {
    EXIT_REFUSED = 1, /* an answer was "no" */
    EXIT_SETUP = 125, /* bad usage, or cordon could not do its work */
};

/* One subcommand: argv[0] is its name. Returns the exit status. */
int command_resolve(int argc, char **argv);

/* What --help and --version print, wherever they stand. Return the exit status. */
int print_help(void);
int print_version(void);

/* Prints "cordon: ..." and a hint at --help as one line on stderr; returns EXIT_SETUP. */
int usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints "cordon: SUBJECT: MESSAGE[: DETAIL]" as one line on stderr, whatever bytes they hold. */
void complain(const char *subject, const char *message, const char *detail);

/* Both return 0, or EXIT_SETUP with a message if what was written got lost. */
int print_answer(const char *text, size_t length, char end);
int flush_output(void);

#endif
