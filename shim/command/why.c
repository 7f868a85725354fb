/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "cordon.h"
#include "decide.h"
#include "print.h"
#include "resolve.h"
#include "session.h"

static bool parse_intent(const char *word, enum intent *intent)
{
    static const struct {
        const char *word;
        enum intent intent;
    } table[] = {{"stat", INTENT_STAT},
                 {"read", INTENT_READ},
                 {"write", INTENT_WRITE},
                 {"exec", INTENT_EXEC}};

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(word, table[i].word) == 0) {
            *intent = table[i].intent;
            return true;
        }
    return false;
}

/* Who refuses what no rule names: Landlock sees no call that only asks about a file. */
static enum holder holder_of_nothing(const struct session *session, enum intent intent)
{
    if (session->backend == &backend_native)
        return HELD_BY_SHIM;
    return intent == INTENT_STAT && session->backend == &backend_landlock ? HELD_BY_SHIM
                                                                          : HELD_BY_KERNEL;
}

static void print_verdict(const struct session *session, const char *place, enum intent intent,
                          const struct verdict *verdict)
{
    const struct policy *policy = session->policy;
    const struct policy_rule *rule =
        verdict->rule == POLICY_NONE ? NULL : &policy_rules(policy)[verdict->rule];
    enum holder holder = rule == NULL
                             ? holder_of_nothing(session, intent)
                             : backend_holds(session->backend, session->image, verdict->rule);

    print_text(place);
    printf(": %s: ", verdict->allowed ? "allowed" : "denied");
    if (rule == NULL) {
        printf("no rule opens it");
    } else {
        printf("%s ", rule_kind_word(rule->kind));
        print_text(policy_string(policy, rule->text));
        printf(" (%s)", policy_string(policy, rule->origin));
    }
    printf(", held by %s", holder_word(holder));
    if (!verdict->allowed && (rule == NULL || rule->kind == RULE_READ)) {
        printf("; -%c ", intent == INTENT_WRITE ? 'w' : 'r');
        print_text(place);
        printf(" would allow it");
    }
    putchar('\n');
}

/* A name that is not there yet is judged as one to be made. */
static int answer(const struct session *session, enum intent intent, const char *path)
{
    const struct start here = {.fd = AT_FDCWD};
    struct walk *walk;
    struct verdict verdict;
    int error = resolve(CORDON_KERNEL, &here, path, &walk);

    if (error < 0) {
        complain(path, cordon_strerror(error), NULL);
        return EXIT_REFUSED;
    }
    if (walk->ground != GROUND_KNOWN) {
        complain(path, "leads to something without a place, such as a pipe", NULL);
        walk_free(walk);
        return EXIT_REFUSED;
    }
    verdict = decide(session->policy, walk->path.length == 0 ? "/" : walk->path.text, intent);
    print_verdict(session, walk->path.length == 0 ? "/" : walk->path.text, intent, &verdict);
    walk_free(walk);
    return verdict.allowed ? 0 : EXIT_REFUSED;
}

static int answer_all(const struct options *options, enum intent intent, char **paths)
{
    struct session session;
    int status = session_begin(&session, options, true);

    if (status == 0)
        status = session_choose(&session, true);
    for (; status != EXIT_SETUP && *paths != NULL; paths++) {
        int one = answer(&session, intent, *paths);
        if (one > status)
            status = one;
    }
    session_end(&session);
    return status == EXIT_SETUP || flush_output() == 0 ? status : EXIT_SETUP;
}

int command_why(int argc, char **argv)
{
    struct options options;
    enum intent intent = INTENT_READ;
    int status;
    int first = options_parse(argc, argv, "why", &options, &status);

    if (first >= 0 && first + 1 >= argc)
        status = usage_error("why wants stat, read, write or exec, and a path");
    else if (first >= 0 && !parse_intent(argv[first], &intent))
        status = usage_error("why wants stat, read, write or exec, not \"%s\"", argv[first]);
    else if (first >= 0)
        status = answer_all(&options, intent, argv + first + 1);
    options_release(&options);
    return status;
}
