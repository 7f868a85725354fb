/* SPDX-License-Identifier: MIT */
/* What a supervisor has written about an attempt. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

static const char first[] = "the first line\n";

const char *record_first_line(void)
{
    return first;
}

struct record {
    char op[64];
    char place[2 * PATH_ROOM]; /* where it leads, or what was named if that cannot be told */
    char verdict[16];
    bool has_reason;
    long pid;
};

/* The value of a text in a line; what is longer is cut. Nothing that is looked at has escapes. */
static void get(const char *line, const char *key, char *text, size_t size)
{
    char word[32];
    const char *at;
    size_t length;

    snprintf(word, sizeof word, "\"%s\":\"", key);
    at = strstr(line, word);
    length = at == NULL ? 0 : strcspn(at += strlen(word), "\"");
    if (length > size - 1)
        length = size - 1;
    if (length > 0)
        memcpy(text, at, length);
    text[length] = '\0';
}

static void parse(const char *line, const struct stage *stage, struct record *record)
{
    const char *pid = strstr(line, "\"pid\":");
    size_t top = strlen(stage->top);
    char rule[PATH_ROOM];
    char hint[PATH_ROOM];

    record->pid = pid == NULL ? 0 : strtol(pid + 6, NULL, 10);
    get(line, "op", record->op, sizeof record->op);
    get(line, "verdict", record->verdict, sizeof record->verdict);
    get(line, "resolved", record->place, sizeof record->place);
    if (record->place[0] == '\0')
        get(line, "path", record->place, sizeof record->place);
    if (strcmp(record->place, stage->top) == 0)
        snprintf(record->place, sizeof record->place, ".");
    else if (strncmp(record->place, stage->top, top) == 0 && record->place[top] == '/')
        memmove(record->place, record->place + top + 1, strlen(record->place + top));
    get(line, "rule", rule, sizeof rule);
    get(line, "hint", hint, sizeof hint);
    record->has_reason = rule[0] != '\0' || hint[0] != '\0';
}

/* "OP|OP PLACE": the place is a pattern; without one any is right. */
static bool fits(const struct record *record, const char *wanted)
{
    size_t ops = strcspn(wanted, " ");
    size_t length = strlen(record->op);
    const char *place = wanted + ops + (wanted[ops] == ' ');

    if (strcmp(record->verdict, "deny") != 0 || !record->has_reason || length == 0 ||
        (*place != '\0' && fnmatch(place, record->place, 0) != 0))
        return false;
    for (const char *op = wanted; op < wanted + ops; op += strcspn(op, "| ") + 1)
        if (strcspn(op, "| ") == length && memcmp(op, record->op, length) == 0)
            return true;
    return false;
}

/* For who is in bwrap nothing of TOP is there but the workspace: what is missing is no refusal. */
static bool is_missing(const struct attempt *attempt, const struct outcome *outcome,
                       const char *wanted)
{
    const char *place = strchr(wanted, ' ');

    if (attempt->mode != MODE_BWRAP && attempt->mode != MODE_BWRAP_OPEN)
        return false;
    if (strcmp(outcome->word, "LOST ENOENT") == 0 || strcmp(outcome->word, "LOST ESRCH") == 0)
        return true;
    return place != NULL && strncmp(place, " ws", 3) != 0 && strncmp(place, " /", 2) != 0;
}

/* Where somebody else forbids namespaces, the kernel takes his word. */
static bool is_forestalled(const struct attempt *attempt, const char *wanted)
{
    return attempt->setting == SETTING_NO_NAMESPACES &&
           (strcmp(wanted, "unshare") == 0 || strcmp(wanted, "clone") == 0);
}

/* What has to be there; NULL: nothing. */
static const char *wanted_of(const struct attempt *attempt, const struct outcome *outcome)
{
    const char *wanted = attempt->attack->record;

    if (!attempt_is_supervised(attempt) || wanted[0] == '-')
        return NULL;
    if (strncmp(wanted, "raw ", 4) == 0) {
        if (!attempt->is_static)
            return NULL;
        wanted += 4;
    }
    if (is_forestalled(attempt, wanted) || is_missing(attempt, outcome, wanted))
        return NULL;
    return wanted;
}

bool record_is_there(const struct attempt *attempt, const struct stage *stage,
                     const struct outcome *outcome)
{
    const char *wanted = wanted_of(attempt, outcome);
    struct record record;

    if (wanted == NULL)
        return true;
    for (const char *line = outcome->log; line != NULL && *line != '\0';
         line = strchr(line, '\n')) {
        line += *line == '\n';
        parse(line, stage, &record);
        if (fits(&record, wanted))
            return true;
    }
    return false;
}

const char *record_spoiled(const struct stage *stage, const struct outside *outside,
                           const struct outcome *outcome)
{
    const char *line = outcome->log + strlen(first);
    struct record record;

    if (strncmp(outcome->log, first, strlen(first)) != 0)
        return "the log lost its first line";
    for (; *line != '\0'; line += strcspn(line, "\n") + 1) {
        /* The last one may be cut. */
        if (strchr(line, '\n') == NULL)
            break;
        if (strncmp(line, "{\"time\":\"", 9) != 0)
            return "a line of the log is no record";
        parse(line, stage, &record);
        if (record.pid == outside->victim)
            return "a record speaks of somebody else";
    }
    return NULL;
}
