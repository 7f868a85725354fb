/* SPDX-License-Identifier: MIT */
#include "backend.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "confine.h"
#include "signals.h"

/* The first that will do is taken: cheapest first. */
static const struct backend *const walls[] = {&backend_landlock, &backend_bwrap, NULL};
static const struct backend *const others[] = {&backend_native, NULL};

const struct backend *backend_by_name(const char *name)
{
    for (size_t i = 0; walls[i] != NULL; i++)
        if (strcmp(walls[i]->name, name) == 0)
            return walls[i];
    for (size_t i = 0; others[i] != NULL; i++)
        if (strcmp(others[i]->name, name) == 0)
            return others[i];
    return NULL;
}

int backend_enter(const struct backend *backend, const struct image *image, struct trouble *trouble)
{
    struct confinement confinement;

    if (backend->plan == NULL)
        return 0;
    backend->plan(image, &confinement);
    confinement.wants.supervise = SUPERVISE_NONE;
    return confine(image, &confinement, trouble);
}

bool backend_is_inside(void)
{
    return seccomp_is_entered();
}

enum holder backend_holds(const struct backend *backend, const struct image *image, uint32_t rule)
{
    enum holder holder = backend->holds(image, rule);

    return holder == HELD_BY_SHIM && image->supervise != SUPERVISE_NONE ? HELD_BY_SUPERVISOR
                                                                        : holder;
}

/* Grants have to be the kernel's. No gate leads past the supervisor to a socket, nor, if `strict`,
 * to anything. */
static enum holder wanted(enum rule_kind kind, bool strict)
{
    if (kind == RULE_READ || kind == RULE_WRITE)
        return HELD_BY_KERNEL;
    return strict || kind == RULE_UNIX ? HELD_BY_SUPERVISOR : HELD_BY_SHIM;
}

static int not_held(struct trouble *trouble, const struct policy *policy,
                    const struct policy_rule *rule, bool strict)
{
    static const char *const kinds[] = {
        [RULE_READ] = "read", [RULE_WRITE] = "write",     [RULE_DENY] = "deny",
        [RULE_UNIX] = "unix", [RULE_PROTECT] = "protect",
    };
    char words[sizeof trouble->words];

    snprintf(words, sizeof words, "the kernel would not hold \"%s %s\" (%s)", kinds[rule->kind],
             policy_string(policy, rule->text), policy_string(policy, rule->origin));
    return trouble_set(trouble, "the policy", words, "",
                       strict ? "leave the rule or --strict out, or use another backend"
                              : "use another backend, or a newer kernel");
}

/* Whether the kernel would hold enough of the policy. */
static int check_held(const struct backend *backend, const struct image *image, bool strict,
                      struct trouble *trouble)
{
    const struct policy *policy = image_policy(image);

    if (backend->holds_net(image) < HELD_BY_SUPERVISOR)
        return trouble_set(trouble, "the network", "nobody would hold the rule for it",
                           image->net == NET_LOOPBACK ? "loopback wants a supervisor" : "",
                           "use --net deny or --net open");
    for (uint32_t i = 0; i < policy->rules; i++) {
        const struct policy_rule *rule = &policy_rules(policy)[i];
        if (backend_holds(backend, image, i) < wanted((enum rule_kind)rule->kind, strict))
            return not_held(trouble, policy, rule, strict);
    }
    return 0;
}

/* A backend that was asked for by name may leave rules to the shim, but none to nobody. */
static int check_named(const struct backend *backend, const struct image *image, bool strict,
                       struct trouble *trouble)
{
    const struct policy *policy = image_policy(image);

    if (strict)
        return check_held(backend, image, strict, trouble);
    if (backend == &backend_native)
        return 0;
    if (backend->holds_net(image) == HELD_BY_NOBODY)
        return check_held(backend, image, strict, trouble);
    for (uint32_t i = 0; i < policy->rules; i++)
        if (backend->holds(image, i) == HELD_BY_NOBODY)
            return not_held(trouble, policy, &policy_rules(policy)[i], strict);
    return 0;
}

/* Appends why it will not do; false then. */
static bool will_do(const struct backend *backend, const struct image *image, int held,
                    struct backend_troubles *troubles)
{
    /* Where it does not work at all, that is the reason to give. */
    if (backend->probe(image, &troubles->troubles[troubles->count]) == 0 && held == 0)
        return true;
    troubles->names[troubles->count++] = backend->name;
    return false;
}

const struct backend *backend_choose(const struct image *image, const char *name, bool strict,
                                     struct backend_troubles *troubles)
{
    const struct backend *named = backend_by_name(name);

    troubles->count = 0;
    if (named != NULL) {
        int held = check_named(named, image, strict, &troubles->troubles[0]);
        return will_do(named, image, held, troubles) ? named : NULL;
    }
    if (strcmp(name, "auto") != 0) {
        trouble_set(&troubles->troubles[0], "backend", "there is none of that name", "",
                    "use auto, landlock, bwrap or native");
        troubles->names[troubles->count++] = name;
        return NULL;
    }
    for (size_t i = 0; walls[i] != NULL; i++) {
        int held = check_held(walls[i], image, strict, &troubles->troubles[troubles->count]);
        if (will_do(walls[i], image, held, troubles))
            return walls[i];
    }
    return NULL;
}

const struct backend *backend_guess(const struct image *image, const char *name, bool strict)
{
    const struct backend *named = backend_by_name(name);
    struct trouble trouble;

    if (named != NULL)
        return check_named(named, image, strict, &trouble) == 0 && named->likely(image) ? named
                                                                                        : NULL;
    for (size_t i = 0; strcmp(name, "auto") == 0 && walls[i] != NULL; i++)
        if (check_held(walls[i], image, strict, &trouble) == 0)
            return walls[i]->likely(image) ? walls[i] : NULL;
    return NULL;
}

int backend_exec(char *const argv[])
{
    unsetenv("LD_PRELOAD");
    signals_ignore();
    execv(argv[0], argv);
    return -errno;
}

void trouble_print(const struct trouble *trouble, char *line, size_t size)
{
    bool both = trouble->cause[0] != '\0' && trouble->fix[0] != '\0';
    bool any = trouble->cause[0] != '\0' || trouble->fix[0] != '\0';

    snprintf(line, size, "%s: %s%s%s%s%s%s", trouble->step, trouble->words, any ? " (" : "",
             trouble->cause, both ? "; " : "", trouble->fix, any ? ")" : "");
}
