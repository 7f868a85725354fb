/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#include "command.h"

/* Of a longer text only the two ends are shown. */
enum { SHOWN_WHOLE = 1024, SHOWN_END = 200 };

/* A name may hold newlines, escape sequences and bytes that are no characters: show them, do not
 * send them. A backslash is doubled, so that what is shown stands for one name only. */
static void print_bytes(const char *text, size_t length)
{
    mbstate_t state = {0};

    while (length > 0) {
        wchar_t c;
        size_t bytes = mbrtowc(&c, text, length, &state);
        bool valid = bytes > 0 && bytes <= length;

        if (!valid) {
            bytes = 1;
            memset(&state, 0, sizeof state);
        }
        if (valid && iswprint((wint_t)c) && c != L'\\')
            fwrite(text, 1, bytes, stderr);
        else if (text[0] == '\\')
            fputs("\\\\", stderr);
        else if (text[0] == '\n')
            fputs("\\n", stderr);
        else
            for (size_t i = 0; i < bytes; i++)
                fprintf(stderr, "\\x%02x", (unsigned char)text[i]);
        text += bytes;
        length -= bytes;
    }
}

static void print_visibly(const char *text)
{
    size_t length = strlen(text);

    if (length == 0) {
        fputs("\"\"", stderr);
    } else if (length <= SHOWN_WHOLE) {
        print_bytes(text, length);
    } else {
        print_bytes(text, SHOWN_END);
        fputs("[...]", stderr);
        print_bytes(text + length - SHOWN_END, SHOWN_END);
    }
}

int usage_error(const char *format, ...)
{
    char *text = NULL;
    va_list args;

    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    va_end(args);
    fputs("cordon: ", stderr);
    print_visibly(text != NULL ? text : "bad usage");
    fputs(" (see cordon --help)\n", stderr);
    free(text);
    return EXIT_SETUP;
}

void complain(const char *subject, const char *message, const char *detail)
{
    fputs("cordon: ", stderr);
    print_visibly(subject);
    fprintf(stderr, ": %s", message);
    if (detail != NULL && detail[0] != '\0') {
        fputs(": ", stderr);
        print_visibly(detail);
    }
    putc('\n', stderr);
}

static int output_lost(void)
{
    complain("standard output", strerror(errno), NULL);
    return EXIT_SETUP;
}

int print_answer(const char *text, size_t length, char end)
{
    bool whole = fwrite(text, 1, length, stdout) == length && putchar(end) != EOF;

    return whole ? 0 : output_lost();
}

int flush_output(void)
{
    return fflush(stdout) == 0 ? 0 : output_lost();
}
