/* SPDX-License-Identifier: MIT */
#include "rules.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- making ----------------------------------------------------------------------------------- */

static void add_part(struct rule *rule, const char *text, size_t length, bool pattern)
{
    struct part *part = &rule->parts[rule->count++];

    snprintf(part->text, sizeof part->text, "%.*s", (int)length, text);
    part->pattern = pattern;
}

static void add_parts(struct rule *rule, const char *text, bool pattern)
{
    for (size_t length; (text += strspn(text, "/")), (length = strcspn(text, "/")) > 0;) {
        if (!(pattern && length == 1 && *text == '.'))
            add_part(rule, text, length, pattern);
        text += length;
    }
}

static struct rule *add(struct rules *rules, enum rule_kind kind)
{
    struct rule *rule = &rules->list[rules->count++];

    *rule = (struct rule){.kind = kind};
    add_parts(rule, tree_copy(SIDE_B), false);
    return rule;
}

static void add_path(struct rules *rules, enum rule_kind kind, const char *path)
{
    struct rule *rule = add(rules, kind);

    rule->path = path;
    add_parts(rule, path, false);
}

static void add_pattern(struct rules *rules, enum rule_kind kind, const char *pattern)
{
    struct rule *rule = add(rules, kind);
    const char *slash = strchr(pattern, '/');
    struct part *last;

    rule->pattern = pattern;
    add_part(rule, "root", 4, false);
    if (slash == NULL || slash[1] == '\0')
        add_part(rule, "**", 2, true);
    add_parts(rule, pattern, true);
    last = &rule->parts[rule->count - 1];
    if (strcmp(last->text, "**") == 0)
        strcpy(last->text, "*"); /* all that lies below: the first level will do */
}

void rules_generate(struct rules *rules, struct random *random, bool plain)
{
    static const char *const denied[] = {"**/.env", "*.pem",    "secrets/", "config/id_*",
                                         "./d",     "build/**", "a/**/c",   "[x-z]*"};
    static const char *const protected[] = {"root/a", "root/b/c", "root/config", "root/e",
                                            "root/a/b"};

    rules->count = 0;
    add_path(rules, RULE_WRITE, "root");
    if (plain)
        return;
    if (random_percent(random, 50))
        add_path(rules, RULE_READ, "out");
    if (random_percent(random, 20))
        add_path(rules, RULE_WRITE, "out/a");
    if (random_percent(random, 15))
        add_path(rules, RULE_WRITE, "out/missing");
    if (random_percent(random, 20)) {
        add_path(rules, RULE_DENY, "root/b");
        add_path(rules, random_percent(random, 50) ? RULE_READ : RULE_WRITE, "root/b/c");
    }
    for (int i = 0; i < 8; i++)
        if (random_percent(random, i < 3 ? 60 : 20))
            add_pattern(rules, RULE_DENY, denied[i]);
    if (random_percent(random, 60))
        add_path(rules, RULE_PROTECT, protected[random_below(random, 5)]);
    if (random_percent(random, 15))
        add_pattern(rules, RULE_PROTECT, "**/f");
}

struct policy *rules_build(const struct rules *rules)
{
    struct policy_builder *builder = policy_builder_new();
    struct policy *policy;
    char base[TEXT_SIZE];
    char path[TEXT_SIZE];

    snprintf(base, sizeof base, "%s/root", tree_copy(SIDE_B));
    for (int i = 0; i < rules->count; i++) {
        const struct rule *rule = &rules->list[i];
        snprintf(path, sizeof path, "%s/%s", tree_copy(SIDE_B), rule->path ? rule->path : "");
        if (rule->path != NULL)
            policy_add(builder, rule->kind, path, "test");
        else
            policy_add_pattern(builder, rule->kind, base, rule->pattern, "test");
    }
    policy = policy_build(builder);
    if (policy == NULL || policy_check(policy, policy->size) != NULL) {
        printf("FAIL differential: no policy: %s\n", policy_builder_error(builder));
        exit(2);
    }
    policy_builder_free(builder);
    return policy;
}

/* --- meaning ---------------------------------------------------------------------------------- */

/* Whether the parts match the path down to `end`. */
static bool matches(const struct part *part, int count, const char *path, const char *end)
{
    char name[PATH_MAX];
    size_t length;

    if (path == end)
        return count == 0;
    if (count == 0)
        return false;
    length = strcspn(path + 1, "/");
    snprintf(name, sizeof name, "%.*s", (int)length, path + 1);
    const char *rest = path + 1 + length;
    if (part->pattern && strcmp(part->text, "**") == 0)
        return matches(part + 1, count - 1, path, end) || matches(part, count, rest, end);
    if (part->pattern ? fnmatch(part->text, name, 0) != 0 : strcmp(part->text, name) != 0)
        return false;
    return matches(part + 1, count - 1, rest, end);
}

/* What the rules at the place path[0..end) itself make of what came from above. */
static enum access at_level(const struct rules *rules, const char *path, const char *end,
                            enum access access)
{
    bool found[RULE_UNIX + 1] = {false};

    for (int i = 0; i < rules->count; i++)
        if (matches(rules->list[i].parts, rules->list[i].count, path, end))
            found[rules->list[i].kind] = true;
    if (found[RULE_DENY])
        return ACCESS_NONE;
    if (found[RULE_READ])
        access = ACCESS_READ;
    if (found[RULE_WRITE])
        access = ACCESS_WRITE;
    return found[RULE_PROTECT] && access == ACCESS_WRITE ? ACCESS_READ : access;
}

/* `*above`: what the directory that holds the place allows. */
static enum access access_of(const struct rules *rules, const char *place, enum access *above)
{
    enum access access = ACCESS_NONE;
    const char *end = place;

    *above = ACCESS_NONE;
    if (strcmp(place, "/") == 0)
        return access;
    while (*end == '/') {
        end += 1 + strcspn(end + 1, "/");
        *above = access;
        access = at_level(rules, place, end, access);
    }
    return access;
}

static bool leads_to_grant(const struct rules *rules, const char *place)
{
    char grant[TEXT_SIZE];
    size_t length = strcmp(place, "/") == 0 ? 0 : strlen(place);

    for (int i = 0; i < rules->count; i++) {
        const struct rule *rule = &rules->list[i];
        if (rule->kind != RULE_READ && rule->kind != RULE_WRITE)
            continue;
        snprintf(grant, sizeof grant, "%s/%s", tree_copy(SIDE_B), rule->path);
        if (strncmp(grant, place, length) == 0 && grant[length] == '/')
            return true;
    }
    return false;
}

bool rules_allow(const struct rules *rules, const char *place, enum intent intent)
{
    enum access above;
    enum access access = access_of(rules, place, &above);

    switch (intent) {
    case INTENT_STAT:
        return access >= ACCESS_READ || leads_to_grant(rules, place);
    case INTENT_READ:
    case INTENT_EXEC:
        return access >= ACCESS_READ;
    case INTENT_WRITE:
        return access == ACCESS_WRITE;
    case INTENT_CREATE:
    case INTENT_REMOVE:
        return access == ACCESS_WRITE && above == ACCESS_WRITE;
    case INTENT_CONNECT:
    case INTENT_BIND:
    default:
        abort();
    }
}

/* A text that the rule's parts from `first` on match. */
static void sample(const struct rule *rule, int first, const char *deep, char *text, size_t size)
{
    size_t n = 0;

    text[0] = '\0';
    for (int i = first; i < rule->count; i++) {
        const struct part *part = &rule->parts[i];
        bool is_deep = part->pattern && strcmp(part->text, "**") == 0;
        n += (size_t)snprintf(text + n, size - n, "%s%s", is_deep && *deep == '\0' ? "" : "/",
                              is_deep ? deep : part->text);
    }
    for (char *p = text; *p != '\0'; p++)
        if (*p == '*')
            *p = 'w';
    for (char *p; (p = strstr(text, "[x-z]")) != NULL;)
        memmove(p, p + strlen("[x-z]") - 1, strlen(p + strlen("[x-z]") - 1) + 1), *p = 'y';
}

static bool same_below(const struct rules *rules, const char *from, const char *to,
                       const char *below)
{
    char one[2 * TEXT_SIZE];
    char other[2 * TEXT_SIZE];
    enum access above;

    snprintf(one, sizeof one, "%s%s", from, below);
    snprintf(other, sizeof other, "%s%s", to, below);
    return access_of(rules, one, &above) == access_of(rules, other, &above);
}

bool rules_allow_move(const struct rules *rules, const char *from, const char *to)
{
    char below[TEXT_SIZE];

    if (!same_below(rules, from, to, "") || !same_below(rules, from, to, "/q"))
        return false;
    for (int i = 0; i < rules->count; i++)
        for (int first = 0; first < rules->list[i].count; first++) {
            sample(&rules->list[i], first, "", below, sizeof below);
            if (!same_below(rules, from, to, below))
                return false;
            sample(&rules->list[i], first, "q", below, sizeof below);
            if (!same_below(rules, from, to, below))
                return false;
        }
    return true;
}

void rules_print(const struct rules *rules)
{
    static const char *const kinds[] = {"", "read", "write", "deny", "protect", "unix"};

    for (int i = 0; i < rules->count; i++)
        printf("    %s %s%s\n", kinds[rules->list[i].kind], rules->list[i].path ? "COPY/" : "",
               rules->list[i].path ? rules->list[i].path : rules->list[i].pattern);
}
