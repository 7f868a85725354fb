/* SPDX-License-Identifier: MIT */
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "call.h"
#include "os.h"

/* Room for a record: two paths of which each byte may take six. */
struct line {
    size_t length;
    char text[16 * PATH_MAX];
};

static void put(struct line *line, const char *bytes, size_t length)
{
    size_t left = sizeof line->text - line->length;

    if (length > left)
        length = left;
    memcpy(line->text + line->length, bytes, length);
    line->length += length;
}

static void put_text(struct line *line, const char *text)
{
    put(line, text, strlen(text));
}

static void put_number(struct line *line, long number, int width)
{
    char digits[20];
    int n = 0;

    do
        digits[n++] = (char)('0' + number % 10);
    while ((number /= 10) > 0 || n < width);
    while (n > 0)
        put(line, &digits[--n], 1);
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

static void put_escaped(struct line *line, const char *text)
{
    static const char hex[] = "0123456789abcdef";

    while (*text != '\0') {
        unsigned char c = (unsigned char)*text;
        size_t length = c < 0x80 ? 1 : utf8_length((const unsigned char *)text);
        if (c == '"' || c == '\\')
            put_text(line, "\\");
        if (length > 0 && c >= 0x20 && c != 0x7f) {
            put(line, text, length);
        } else {
            put_text(line, "\\u00");
            put(line, &hex[c >> 4], 1);
            put(line, &hex[c & 15], 1);
            length = 1;
        }
        text += length;
    }
}

static void put_string(struct line *line, const char *key, const char *value)
{
    put_text(line, ",\"");
    put_text(line, key);
    put_text(line, "\":\"");
    put_escaped(line, value);
    put_text(line, "\"");
}

static void put_integer(struct line *line, const char *key, long value)
{
    put_text(line, ",\"");
    put_text(line, key);
    put_text(line, "\":");
    put_number(line, value, 1);
}

/* The date of a day since 1970, by the calendar that repeats every 400 years. */
static void put_date(struct line *line, long days)
{
    long shifted = days + 719468; /* days since 0000-03-01 */
    long era = shifted / 146097;
    long day = shifted % 146097;
    long year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    long of_year = day - (365 * year + year / 4 - year / 100);
    long month = (5 * of_year + 2) / 153;

    put_number(line, year + era * 400 + (month >= 10), 4);
    put_text(line, "-");
    put_number(line, month < 10 ? month + 3 : month - 9, 2);
    put_text(line, "-");
    put_number(line, of_year - (153 * month + 2) / 5 + 1, 2);
}

/* "2026-11-18T13:32:33.123Z" */
static void put_time(struct line *line)
{
    struct timespec now = {0};

    CALL(SYS_clock_gettime, CLOCK_REALTIME, &now);
    put_text(line, "{\"time\":\"");
    put_date(line, now.tv_sec / 86400);
    put_text(line, "T");
    put_number(line, now.tv_sec / 3600 % 24, 2);
    put_text(line, ":");
    put_number(line, now.tv_sec / 60 % 60, 2);
    put_text(line, ":");
    put_number(line, now.tv_sec % 60, 2);
    put_text(line, ".");
    put_number(line, now.tv_nsec / 1000000, 3);
    put_text(line, "Z\"");
}

void record_resolve(const struct view *view, const struct start *start, const char *path,
                    bool follow, char *place, size_t size)
{
    const char *text;
    struct walk *walk;
    int error = walk_new(&walk, view, start, path);

    place[0] = '\0';
    if (error < 0)
        return;
    error = follow ? walk_object(walk, true) : walk_parent(walk);
    /* What a wall hides has a name all the same. */
    if (error == -ENOENT || error == -EACCES || !follow)
        error = walk_name_place(walk);
    text = walk->path.length == 0 ? "/" : walk->path.text;
    if (error == 0 && walk->ground == GROUND_KNOWN) {
        size_t length = strnlen(text, size - 1);
        memcpy(place, text, length);
        place[length] = '\0';
    }
    walk_free(walk);
}

const char *record_intent(enum intent intent)
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

static void put_rule(struct line *line, const struct record *record)
{
    const struct policy *policy = policy_layer(record->policy, record->verdict.layer);
    const struct policy_rule *rule =
        record->verdict.rule == POLICY_NONE ? NULL : &policy_rules(policy)[record->verdict.rule];

    put_string(line, "rule", rule == NULL ? "" : policy_string(policy, rule->text));
    put_string(line, "origin", rule == NULL ? "" : policy_string(policy, rule->origin));
}

static void put_hint(struct line *line, const struct record *record)
{
    const struct policy *policy = policy_layer(record->policy, record->verdict.layer);
    uint32_t kind =
        record->verdict.rule == POLICY_NONE ? 0 : policy_rules(policy)[record->verdict.rule].kind;

    put_text(line, ",\"hint\":\"");
    if (record->hint != NULL) {
        put_escaped(line, record->hint);
    } else if (kind == RULE_DENY) {
        put_text(line, "denied by name: leave that rule out");
    } else if (kind == RULE_PROTECT) {
        put_text(line, "--no-protect");
    } else {
        put_text(line, option_for(record->wanted));
        put_escaped(line, record->resolved);
    }
    put_text(line, "\"}\n");
}

static void compose(struct line *line, const struct record *record)
{
    put_time(line);
    put_integer(line, "pid", record->pid);
    put_integer(line, "ppid", record->ppid);
    put_string(line, "exe", record->exe);
    put_string(line, "op", record->op);
    put_string(line, "intent", record->intent);
    put_string(line, "path", record->path);
    put_string(line, "resolved", record->resolved);
    put_string(line, "verdict", record->observed ? "observe" : "deny");
    put_rule(line, record);
    put_integer(line, "errno", record->error);
    put_string(line, "layer", record->layer);
    put_hint(line, record);
}

void record_write(int fd, const struct record *record)
{
    void *memory;

    if (os_map(sizeof(struct line), &memory) < 0)
        return;
    compose(memory, record);
    CALL(SYS_write, fd, ((struct line *)memory)->text, ((struct line *)memory)->length);
    os_unmap(memory, sizeof(struct line));
}
