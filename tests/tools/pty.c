/* SPDX-License-Identifier: MIT */
/*
 * usage: pty COMMAND [ARG...] <SCRIPT
 *
 * Runs COMMAND on a terminal of its own, 24 lines of 80 columns, and plays a user at it. A line of
 * the script is one of
 *
 *     > TEXT          types TEXT and return
 *     ^ C             presses a control key
 *     < TEXT          waits until the terminal shows TEXT, after what was waited for before
 *     = ROWS COLUMNS  changes the size of the window
 *     . SECONDS       lets time pass, where nothing that can be seen tells when to go on
 *
 * Copies what the terminal shows to standard output. At the end of the script it waits for COMMAND
 * and exits with its status, or 128+N for signal N. What is waited for in vain for ten seconds is
 * told on standard error: exit 124, and COMMAND is hung up on.
 */
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SHOWN_MAX = 1 << 20, PATIENCE = 10 };

static char shown[SHOWN_MAX]; /* all that the terminal has shown */
static size_t shown_size;
static size_t seen; /* up to here it was waited for */
static int terminal;
static pid_t child;

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static _Noreturn void give_up(const char *line)
{
    fprintf(stderr, "pty: in vain: %s\n", line);
    close(terminal);
    kill(-child, SIGHUP);
    kill(-child, SIGCONT);
    exit(124);
}

/* Reads what there is within `seconds`. Returns 0 when nobody has the terminal open any more. */
static int listen_for(double seconds)
{
    struct pollfd poller = {.fd = terminal, .events = POLLIN};
    ssize_t got;

    if (seconds <= 0 || poll(&poller, 1, (int)(seconds * 1000) + 1) <= 0)
        return 1;
    got = read(terminal, shown + shown_size, sizeof shown - 1 - shown_size);
    if (got <= 0)
        return got < 0 && errno == EINTR;
    fwrite(shown + shown_size, 1, (size_t)got, stdout);
    fflush(stdout);
    shown_size += (size_t)got;
    return 1;
}

static void wait_for(const char *text, const char *line)
{
    double end = now() + PATIENCE;

    for (;;) {
        char *found = memmem(shown + seen, shown_size - seen, text, strlen(text));
        if (found != NULL) {
            seen = (size_t)(found - shown) + strlen(text);
            return;
        }
        if (now() > end || !listen_for(end - now()))
            give_up(line);
    }
}

static void type(const char *text, size_t size, const char *line)
{
    if (write(terminal, text, size) != (ssize_t)size)
        give_up(line);
}

static void resize(const char *numbers, const char *line)
{
    char *columns;
    struct winsize size = {.ws_row = (unsigned short)strtoul(numbers, &columns, 10)};

    size.ws_col = (unsigned short)strtoul(columns, NULL, 10);
    if (size.ws_row == 0 || size.ws_col == 0 || ioctl(terminal, TIOCSWINSZ, &size) < 0)
        give_up(line);
}

static void pass_time(double seconds)
{
    double end = now() + seconds;

    while (now() < end && listen_for(end - now()))
        ;
}

static void play(char *line)
{
    size_t length = strcspn(line, "\n");
    char *text = line + 2;

    line[length] = '\0';
    if (length < 3) {
        if (length > 0)
            give_up(line);
        return;
    }
    switch (line[0]) {
    case '>':
        line[length] = '\r';
        type(text, length - 1, line);
        break;
    case '^':
        type(&(char){(char)(text[0] & 0x1f)}, 1, line);
        break;
    case '<':
        wait_for(text, line);
        break;
    case '=':
        resize(text, line);
        break;
    case '.':
        pass_time(strtod(text, NULL));
        break;
    default:
        give_up(line);
    }
}

static int wait_for_end(void)
{
    double end = now() + PATIENCE;
    int status;

    while (waitpid(child, &status, WNOHANG) == 0) {
        if (now() > end)
            give_up("the end of the command");
        if (!listen_for(0.05))
            usleep(1000);
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    char line[4096];

    if (argc < 2)
        return 2;
    child = forkpty(&terminal, NULL, NULL, &size);
    if (child < 0) {
        perror("pty");
        return 2;
    }
    if (child == 0) {
        execvp(argv[1], argv + 1);
        perror(argv[1]);
        _exit(127);
    }
    while (fgets(line, sizeof line, stdin) != NULL)
        play(line);
    return wait_for_end();
}
