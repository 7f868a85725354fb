/* SPDX-License-Identifier: MIT */
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "load.h"
#include "os.h"
#include "record.h"
#include "word.h"

struct room {
    char exe[PATH_MAX];
    char place[PATH_MAX];
};

/* The supervisor keeps the log, where the program cannot reach it. */
static void tell_supervisor(const struct call *call, const struct room *room)
{
    const struct word_record note = {
        .op = (uint64_t)(uintptr_t)call->op,
        .hint = (uint64_t)(uintptr_t)call->hint,
        .path = (uint64_t)(uintptr_t)call->path,
        .resolved = (uint64_t)(uintptr_t)room->place,
        .intent = call->report.intent,
        .rule = call->report.verdict.rule,
        .layer = call->report.verdict.layer,
        .observed = load_hold.image->mode == MODE_OBSERVE,
    };

    CALL(SYS_prctl, WORD, WORD_RECORD, &note);
}

static void write_file(const struct call *call, struct room *room, const char *log)
{
    const int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    bool opens = strcmp(log, "stderr") != 0;
    int fd = opens ? (int)CALL(SYS_openat, AT_FDCWD, log, flags) : 2;
    ssize_t length = os_readlink(AT_FDCWD, "/proc/self/exe", room->exe, sizeof room->exe - 1);
    const struct record record = {
        .pid = (pid_t)CALL(SYS_getpid, 0),
        .ppid = (pid_t)CALL(SYS_getppid, 0),
        .exe = room->exe,
        .op = call->op,
        .intent = record_intent(call->report.intent),
        .path = call->path,
        .resolved = room->place,
        .observed = load_hold.image->mode == MODE_OBSERVE,
        .policy = call->scope->policy,
        .verdict = call->report.verdict,
        .error = EACCES,
        .layer = "shim",
        .hint = call->hint,
        .wanted = call->report.intent,
    };

    room->exe[length < 0 ? 0 : length] = '\0';
    if (fd < 0)
        return;
    record_write(fd, &record);
    if (opens)
        os_close(fd);
}

void log_refusal(const struct call *call)
{
    const char *log = image_text(load_hold.image, IMAGE_LOG);
    struct room *room;
    void *memory;

    if (log[0] == '\0' || os_map(sizeof *room, &memory) < 0)
        return;
    room = memory;
    record_resolve(call->scope->view, &call->where.start, call->path, call->follow, room->place,
                   sizeof room->place);
    if (load_hold.image->supervise != SUPERVISE_NONE)
        tell_supervisor(call, room);
    else
        write_file(call, room, log);
    os_unmap(memory, sizeof *room);
}
