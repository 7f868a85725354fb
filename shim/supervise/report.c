/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "os.h"
#include "record.h"
#include "supervisor.h"
#include "word.h"

/* Who made the call. */
static void sign(struct job *job, struct record *record, char exe[PATH_MAX])
{
    struct ids_status status = {.process = (pid_t)job->call.pid};
    int fd = job_open_proc(job, "exe", O_PATH);

    ids_read(job, &status);
    if (fd < 0 || os_path_of(fd, exe, PATH_MAX) < 0)
        exe[0] = '\0';
    if (fd >= 0)
        close(fd);
    record->pid = status.process;
    record->ppid = status.parent;
    record->exe = exe;
    record->policy = job->on->policy;
}

void report_call(struct job *job, const struct call *call)
{
    char exe[PATH_MAX];
    char place[PATH_MAX];
    struct record record = {
        .op = call->op,
        .intent = record_intent(call->report.intent),
        .path = call->path,
        .resolved = place,
        .verdict = call->report.verdict,
        .error = EACCES,
        .layer = "supervisor",
        .hint = call->hint,
        .wanted = call->report.intent,
    };

    if (job->on->log < 0)
        return;
    record_resolve(call->scope->view, &call->where.start, call->path, call->follow, place,
                   sizeof place);
    sign(job, &record, exe);
    record_write(job->on->log, &record);
}

void report_other(struct job *job, const char *op, const char *intent, const char *what, int error,
                  const char *hint)
{
    char exe[PATH_MAX];
    struct record record = {
        .op = op,
        .intent = intent,
        .path = what,
        .resolved = "",
        .verdict = {.rule = POLICY_NONE},
        .error = error,
        .layer = "supervisor",
        .hint = hint,
    };

    if (job->on->log < 0)
        return;
    sign(job, &record, exe);
    record_write(job->on->log, &record);
}

/* A text of the caller's; what cannot be read is empty. */
static const char *read_text(struct job *job, uint64_t address, char text[PATH_MAX])
{
    if (address == 0 || job_read_text(job, address, text, PATH_MAX) < 0)
        text[0] = '\0';
    return text;
}

/* A program can make up such a note as well, about itself and nobody else. */
int report_note(struct job *job, uint64_t address)
{
    struct word_record note = {0};
    const struct policy *policy = job->on->policy;
    struct {
        char exe[PATH_MAX];
        char op[PATH_MAX];
        char hint[PATH_MAX];
        char path[PATH_MAX];
        char place[PATH_MAX];
    } text;

    if (job_read(job, address, &note, sizeof note) < 0)
        return -EFAULT;
    if (note.intent > INTENT_BIND || note.layer > policy->more ||
        (note.rule != POLICY_NONE && note.rule >= policy_layer(policy, note.layer)->rules))
        return -EINVAL;
    struct record record = {
        .op = read_text(job, note.op, text.op),
        .intent = record_intent((enum intent)note.intent),
        .path = read_text(job, note.path, text.path),
        .resolved = read_text(job, note.resolved, text.place),
        .observed = note.observed != 0,
        .verdict = {.rule = note.rule, .layer = note.layer},
        .error = EACCES,
        .layer = "shim",
        .hint = note.hint == 0 ? NULL : read_text(job, note.hint, text.hint),
        .wanted = (enum intent)note.intent,
    };
    if (job->on->log < 0)
        return 0;
    sign(job, &record, text.exe);
    record_write(job->on->log, &record);
    return 0;
}
