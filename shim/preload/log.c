/* SPDX-License-Identifier: MIT */
#include "log.h"
#include "load.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "os.h"

/* Room for a record: two paths of which each byte may take six. */
struct record {
    size_t length;
    char path[PATH_MAX];
    char text[16 * PATH_MAX];
};

static void put(struct record *record, const char *bytes, size_t length)
{
    size_t left = sizeof record->text - record->length;

    if (length > left)
        length = left;
    memcpy(record->text + record->length, bytes, length);
    record->length += length;
}

static void put_text(struct record *record, const char *text)
{
    put(record, text, strlen(text));
}

static void put_number(struct record *record, long number, int width)
{
    char digits[20];
    int n = 0;

    do
        digits[n++] = (char)('0' + number % 10);
    while ((number /= 10) > 0 || n < width);
    while (n > 0)
        put(record, &digits[--n], 1);
}

/* How many bytes the UTF-8 character at `text` has; 0 if it is none. Surrogates and overlong forms
 * are none either. */
static size_t utf8_length(const unsigned char *text)
{
    static const struct {
        unsigned char first, last, low, high, more;
    } forms[] = {
        {0xc2, 0xdf, 0x80, 0xbf, 1}, {0xe0, 0xe0, 0xa0, 0xbf, 2}, {0xe1, 0xec, 0x80, 0xbf, 2},
        {0xed, 0xed, 0x80, 0x9f, 2}, {0xee, 0xef, 0x80, 0xbf, 2}, {0xf0, 0xf0, 0x90, 0xbf, 3},
        {0xf1, 0xf3, 0x80, 0xbf, 3}, {0xf4, 0xf4, 0x80, 0x8f, 3},
    };

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t n = 2;
        if (text[0] < forms[i].first || text[0] > forms[i].last)
            continue;
        if (text[1] < forms[i].low || text[1] > forms[i].high)
            return 0;
        for (; n <= forms[i].more; n++)
            if ((text[n] & 0xc0) != 0x80)
                return 0;
        return n;
    }
    return 0;
}

static void put_escaped(struct record *record, const char *text)
{
    static const char hex[] = "0123456789abcdef";

    while (*text != '\0') {
        unsigned char c = (unsigned char)*text;
        size_t length = c < 0x80 ? 1 : utf8_length((const unsigned char *)text);
        if (c == '"' || c == '\\')
            put_text(record, "\\");
        if (length > 0 && c >= 0x20 && c != 0x7f) {
            put(record, text, length);
        } else {
            put_text(record, "\\u00");
            put(record, &hex[c >> 4], 1);
            put(record, &hex[c & 15], 1);
            length = 1;
        }
        text += length;
    }
}

static void put_string(struct record *record, const char *key, const char *value)
{
    put_text(record, ",\"");
    put_text(record, key);
    put_text(record, "\":\"");
    put_escaped(record, value);
    put_text(record, "\"");
}

static void put_integer(struct record *record, const char *key, long value)
{
    put_text(record, ",\"");
    put_text(record, key);
    put_text(record, "\":");
    put_number(record, value, 1);
}

/* The date of a day since 1970, by the calendar that repeats every 400 years. */
static void put_date(struct record *record, long days)
{
    long shifted = days + 719468; /* days since 0000-03-01 */
    long era = shifted / 146097;
    long day = shifted % 146097;
    long year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    long of_year = day - (365 * year + year / 4 - year / 100);
    long month = (5 * of_year + 2) / 153;

    put_number(record, year + era * 400 + (month >= 10), 4);
    put_text(record, "-");
    put_number(record, month < 10 ? month + 3 : month - 9, 2);
    put_text(record, "-");
    put_number(record, of_year - (153 * month + 2) / 5 + 1, 2);
}

/* "2026-11-18T13:32:33.123Z" */
static void put_time(struct record *record)
{
    struct timespec now = {0};

    CALL(SYS_clock_gettime, CLOCK_REALTIME, &now);
    put_text(record, "{\"time\":\"");
    put_date(record, now.tv_sec / 86400);
    put_text(record, "T");
    put_number(record, now.tv_sec / 3600 % 24, 2);
    put_text(record, ":");
    put_number(record, now.tv_sec / 60 % 60, 2);
    put_text(record, ":");
    put_number(record, now.tv_sec % 60, 2);
    put_text(record, ".");
    put_number(record, now.tv_nsec / 1000000, 3);
    put_text(record, "Z\"");
}

static void put_exe(struct record *record)
{
    ssize_t length = os_readlink(AT_FDCWD, "/proc/self/exe", record->path, sizeof record->path - 1);

    record->path[length < 0 ? 0 : length] = '\0';
    put_string(record, "exe", record->path);
}

/* Where the path leads, which is asked again: somebody may have changed that, but this is for
 * reading. */
static void resolve_again(const struct call *call, struct record *record)
{
    const char *text;
    struct walk *walk;
    int error = walk_new(&walk, load_hold.scope.view, &call->where.start, call->path);

    record->path[0] = '\0';
    if (error < 0)
        return;
    error = call->follow ? walk_object(walk, true) : walk_parent(walk);
    if (error == -ENOENT || !call->follow)
        error = walk_name_place(walk);
    text = walk->path.length == 0 ? "/" : walk->path.text;
    if (error == 0 && walk->ground == GROUND_KNOWN)
        memcpy(record->path, text, strnlen(text, sizeof record->path - 1) + 1);
    walk_free(walk);
}

static const char *intent_name(enum intent intent)
{
    static const char *const names[] = {"stat",   "read", "write",   "create",
                                        "remove", "exec", "connect", "bind"};
    return names[intent];
}

static const char *option_for(enum intent intent)
{
    switch (intent) {
    case INTENT_STAT:
    case INTENT_READ:
    case INTENT_EXEC:
        return "--read ";
    case INTENT_CONNECT:
    case INTENT_BIND:
        return "--unix ";
    default:
        return "--write ";
    }
}

static void put_rule(struct record *record, const struct verdict *verdict)
{
    const struct policy *policy = policy_layer(load_hold.scope.policy, verdict->layer);
    const struct policy_rule *rule =
        verdict->rule == POLICY_NONE ? NULL : &policy_rules(policy)[verdict->rule];

    put_string(record, "rule", rule == NULL ? "" : policy_string(policy, rule->text));
    put_string(record, "origin", rule == NULL ? "" : policy_string(policy, rule->origin));
}

static void put_hint(struct record *record, const struct call *call)
{
    const struct verdict *verdict = &call->report.verdict;
    const struct policy *policy = policy_layer(load_hold.scope.policy, verdict->layer);
    uint32_t kind = verdict->rule == POLICY_NONE ? 0 : policy_rules(policy)[verdict->rule].kind;

    put_text(record, ",\"hint\":\"");
    if (call->hint != NULL) {
        put_escaped(record, call->hint);
    } else if (kind == RULE_DENY) {
        put_text(record, "denied by name: leave that rule out");
    } else if (kind == RULE_PROTECT) {
        put_text(record, "--no-protect");
    } else {
        put_text(record, option_for(call->report.intent));
        put_escaped(record, record->path);
    }
    put_text(record, "\"}\n");
}

static void compose(struct record *record, const struct call *call)
{
    bool observed = load_hold.image->mode == MODE_OBSERVE;

    put_time(record);
    put_integer(record, "pid", CALL(SYS_getpid, 0));
    put_integer(record, "ppid", CALL(SYS_getppid, 0));
    put_exe(record);
    put_string(record, "op", call->op);
    put_string(record, "intent", intent_name(call->report.intent));
    put_string(record, "path", call->path);
    resolve_again(call, record);
    put_string(record, "resolved", record->path);
    put_string(record, "verdict", observed ? "observe" : "deny");
    put_rule(record, &call->report.verdict);
    put_integer(record, "errno", EACCES);
    put_string(record, "layer", "shim");
    put_hint(record, call);
}

static void write_record(const struct record *record, const char *log)
{
    const int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    bool opens = strcmp(log, "stderr") != 0;
    int fd = opens ? (int)CALL(SYS_openat, AT_FDCWD, log, flags) : 2;

    if (fd < 0)
        return;
    CALL(SYS_write, fd, record->text, record->length);
    if (opens)
        os_close(fd);
}

void log_refusal(const struct call *call)
{
    const char *log = image_text(load_hold.image, IMAGE_LOG);
    void *memory;

    if (log[0] == '\0' || os_map(sizeof(struct record), &memory) < 0)
        return;
    compose(memory, call);
    write_record(memory, log);
    os_unmap(memory, sizeof(struct record));
}
