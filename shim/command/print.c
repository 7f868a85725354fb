/* SPDX-License-Identifier: MIT */
#include "print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "environment.h"

const char *rule_kind_word(uint32_t kind)
{
    static const char *const words[] = {
        [RULE_READ] = "read",       [RULE_WRITE] = "write", [RULE_DENY] = "deny",
        [RULE_PROTECT] = "protect", [RULE_UNIX] = "unix",
    };

    return words[kind];
}

const char *holder_word(enum holder holder)
{
    static const char *const words[] = {
        [HELD_BY_NOBODY] = "nobody",
        [HELD_BY_SHIM] = "shim",
        [HELD_BY_SUPERVISOR] = "supervisor",
        [HELD_BY_KERNEL] = "kernel",
    };

    return words[holder];
}

static void print_line(const char *label, const char *text)
{
    printf("%-10s ", label);
    print_text(text);
    putchar('\n');
}

static void print_rules(const struct session *session)
{
    const struct policy *policy = session->policy;

    printf("\n%-8s %-10s %-10s %s\n", "RULE", "HELD BY", "ORIGIN", "PATH");
    for (uint32_t i = 0; i < policy->rules; i++) {
        const struct policy_rule *rule = &policy_rules(policy)[i];
        printf("%-8s %-10s %-10s ", rule_kind_word(rule->kind),
               holder_word(backend_holds(session->backend, session->image, i)),
               policy_string(policy, rule->origin));
        print_text(policy_string(policy, rule->text));
        putchar('\n');
    }
}

size_t print_gaps_of(const struct gap *gaps, enum holder holder, const char *indent)
{
    size_t count = 0;

    for (; gaps->text != NULL; gaps++) {
        if (gaps->holder != holder)
            continue;
        printf("%s%s\n", indent, gaps->text);
        count++;
    }
    return count;
}

/* What is not held by rules, and by whom it is. */
static void print_gaps(const struct session *session)
{
    const struct gap *gaps = session->backend->gaps();
    const char *name = session->backend->name;

    printf("\n%s leaves to the %s, whatever the rules say:\n", name,
           session->image->supervise == SUPERVISE_NONE ? "shim" : "supervisor");
    print_gaps_of(gaps, HELD_BY_SUPERVISOR, "  ");
    if (session->image->supervise == SUPERVISE_GATE)
        printf("a hostile program can forge calls of the shim, and so go around both (--strict)\n");
    if (session->image->supervise == SUPERVISE_ALL)
        printf("a hostile program that changes the path of an open with O_PATH while it is judged "
               "can see\nmetadata of files that are outside or denied\n");
    printf("%s leaves to nobody:\n", name);
    print_gaps_of(gaps, HELD_BY_NOBODY, "  ");
}

static const char *supervision(const struct session *session)
{
    switch ((enum image_supervise)session->image->supervise) {
    case SUPERVISE_GATE:
        return "judges every call that the shim has not judged";
    case SUPERVISE_ALL:
        return "judges every call";
    default:
        return session->unsupervised[0] != '\0' ? session->unsupervised
                                                : "none: static programs and raw system calls "
                                                  "meet the wall alone, without a record";
    }
}

static int print_environment(const struct session *session)
{
    struct names names = {0};

    if (environment_secrets(session->options, &names) < 0)
        return setup_error("out of memory");
    if (names.count > 0)
        printf("\nleft out of the environment:");
    for (size_t i = 0; i < names.count; i++) {
        putchar(' ');
        print_text(names.list[i]);
    }
    if (names.count > 0)
        putchar('\n');
    names_free(&names);
    return 0;
}

static const char *reason(const struct options *options)
{
    if (options->observe)
        return " (--observe refuses nothing)";
    if (strcmp(options->backend, "auto") != 0)
        return " (--backend)";
    return options->strict ? " (the first that holds every rule)"
                           : " (the first that holds every grant)";
}

int session_print(struct session *session)
{
    static const char *const networks[] = {
        [NET_DENY] = "denied", [NET_LOOPBACK] = "loopback", [NET_OPEN] = "open"};
    static const char *const places[] = {
        [TMP_PRIVATE] = "private", [TMP_HOST] = "as without cordon", [TMP_NONE] = "none"};
    int status = session_choose(session, false);

    if (status != 0)
        return status;
    print_line("workspace", session->root);
    printf("%-10s %s%s\n", "backend", session->backend->name, reason(session->options));
    printf("%-10s %s%s%s, held by %s\n", "network", networks[session->options->net],
           session->options->ports != NULL && session->options->ports[0] != '\0' ? ":" : "",
           session->options->ports != NULL ? session->options->ports : "",
           holder_word(session->backend->holds_net(session->image)));
    print_line("supervisor", supervision(session));
    print_line("tmp", places[session->options->tmp]);
    if (session->cache[0] != '\0')
        print_line("caches", session->cache);
    print_rules(session);
    print_gaps(session);
    status = print_environment(session);
    return status != 0 ? status : flush_output();
}
