/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "confine.h"

/* What the child reports, in one write. */
struct report {
    int result;
    struct trouble trouble;
};

static void attempt_and_tell(int (*attempt)(const struct image *image, struct trouble *trouble),
                             const struct image *image, int fd)
{
    struct report report = {.result = -1};
    ssize_t written;

    report.result = attempt(image, &report.trouble);
    written = write(fd, &report, sizeof report);
    _exit(written == sizeof report ? 0 : 1);
}

/* Whether the whole report came in time. */
static bool hear(int fd, int limit, struct report *report)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    int ready;

    do
        ready = poll(&wait, 1, limit);
    while (ready < 0 && errno == EINTR);
    return ready > 0 && read(fd, report, sizeof *report) == sizeof *report;
}

int try_apart(int (*attempt)(const struct image *image, struct trouble *trouble),
              const struct image *image, int limit, struct trouble *trouble)
{
    struct report report;
    int ends[2];
    bool heard;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return trouble_set(trouble, "a trial", strerror(errno), "", "");
    pid_t pid = fork();
    if (pid < 0) {
        close(ends[0]);
        close(ends[1]);
        return trouble_set(trouble, "a trial", strerror(errno), "", "");
    }
    if (pid == 0)
        attempt_and_tell(attempt, image, ends[1]);
    close(ends[1]);
    heard = hear(ends[0], limit, &report);
    close(ends[0]);
    if (!heard)
        kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    if (!heard)
        return trouble_set(trouble, "a trial", "no answer in time",
                           "a file system that hangs, or a trial that died", "");
    if (report.result != 0)
        *trouble = report.trouble;
    return report.result;
}
