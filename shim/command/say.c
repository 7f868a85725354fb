/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <locale.h>
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
static void print_bytes(FILE *stream, const char *text, size_t length)
{
    static bool located;
    mbstate_t state = {0};

    /* What is a character is the user's business; messages stay as they are. */
    if (!located)
        setlocale(LC_CTYPE, "");
    located = true;
    while (length > 0) {
        wchar_t c;
        size_t bytes = mbrtowc(&c, text, length, &state);
        bool valid = bytes > 0 && bytes <= length;

        if (!valid) {
            bytes = 1;
            memset(&state, 0, sizeof state);
        }
        if (valid && iswprint((wint_t)c) && c != L'\\')
            fwrite(text, 1, bytes, stream);
        else if (text[0] == '\\')
            fputs("\\\\", stream);
        else if (text[0] == '\n')
            fputs("\\n", stream);
        else
            for (size_t i = 0; i < bytes; i++)
                fprintf(stream, "\\x%02x", (unsigned char)text[i]);
        text += bytes;
        length -= bytes;
    }
}

static void print_visibly(FILE *stream, const char *text)
{
    size_t length = strlen(text);

    if (length == 0) {
        fputs("\"\"", stream);
    } else if (length <= SHOWN_WHOLE) {
        print_bytes(stream, text, length);
    } else {
        print_bytes(stream, text, SHOWN_END);
        fputs("[...]", stream);
        print_bytes(stream, text + length - SHOWN_END, SHOWN_END);
    }
}

/* "cordon: TEXTEND", where only the text is of unknown bytes. */
__attribute__((format(printf, 1, 0))) static void say(const char *format, va_list args,
                                                      const char *end)
{
    char *text = NULL;

    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    fputs("cordon: ", stderr);
    print_visibly(stderr, text != NULL ? text : "out of memory");
    fputs(end, stderr);
    free(text);
}

int usage_error(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(format, args, " (see cordon --help)\n");
    va_end(args);
    return EXIT_SETUP;
}

int setup_error(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(format, args, "\n");
    va_end(args);
    return EXIT_SETUP;
}

void remark(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(format, args, "\n");
    va_end(args);
}

void print_text(const char *text)
{
    print_visibly(stdout, text);
}

void complain(const char *subject, const char *message, const char *detail)
{
    fputs("cordon: ", stderr);
    print_visibly(stderr, subject);
    fprintf(stderr, ": %s", message);
    if (detail != NULL && detail[0] != '\0') {
        fputs(": ", stderr);
        print_visibly(stderr, detail);
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
