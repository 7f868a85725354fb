/* SPDX-License-Identifier: MIT */
/* command.h - what the subcommands of `cordon` share. Only the command prints. */
#ifndef CORDON_COMMAND_H
#define CORDON_COMMAND_H

#include <stddef.h>

/* Exit statuses of cordon's own. */
enum {
    EXIT_REFUSED = 1,     /* an answer was "no" */
    EXIT_SETUP = 125,     /* bad usage, or cordon could not do its work */
    EXIT_NOT_RUN = 126,   /* the command may not be run */
    EXIT_NOT_FOUND = 127, /* there is no such command */
};

/* One subcommand: argv[0] is its name, or for `run` the word before the options. Returns the exit
 * status. */
int command_run(int argc, char **argv);
int command_resolve(int argc, char **argv);
int command_why(int argc, char **argv);
int command_doctor(int argc, char **argv);
int command_wrap(int argc, char **argv);

/* Not for people: cordon starts itself so. */
int command_hand(int argc, char **argv);
int command_loaded(int argc, char **argv);

/*
 * `cordon --inner [--] COMMAND ARG...`, which stands between a wrapper and the command: takes the
 * image from the environment, enters its backend and becomes the command. Returns the exit status
 * if that fails: 125 the wall, 126 or 127 the command. argv[0] is "--inner".
 *   --backend NAME    the backend, if the image does not know it yet
 *   --preload VALUE   LD_PRELOAD for the command
 *   --ignored MASK    signals that the command ignores, in hexadecimal; all others at their default
 *   --file PATH       the program to run, if COMMAND is only its name
 *   --log FD          where the supervisor writes the log
 *   --stops FD        where the supervisor tells that the command was stopped
 *   --try             enter, and end with 0
 */
int command_inner(int argc, char **argv);

/* What --help and --version print, wherever they stand. Return the exit status. */
int print_help(void);
int print_version(void);

/* Prints "cordon: ..." and a hint at --help as one line on stderr; returns EXIT_SETUP. */
int usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints "cordon: SUBJECT: MESSAGE[: DETAIL]" as one line on stderr, whatever bytes they hold. */
void complain(const char *subject, const char *message, const char *detail);

/* Prints "cordon: TEXT" in the same way. Returns EXIT_SETUP. */
int setup_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "cordon: TEXT", which is no error. */
void remark(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Both return 0, or EXIT_SETUP with a message if what was written got lost. */
int print_answer(const char *text, size_t length, char end);
int flush_output(void);

/* Prints `text` to standard output, with what is no printable character made visible. */
void print_text(const char *text);

/* The one of `count` words that `word` was probably meant to be, or NULL. */
const char *closest(const char *word, const char *const words[], size_t count);

#endif
