/* SPDX-License-Identifier: MIT */
/*
 * backend.h - the walls that the kernel can build around a program.
 *
 * A backend is a row of one table. It is found by trying: probe does the real thing to a trivial
 * command, with a time limit. It says for each rule of a policy who would hold it. It then either
 * rewrites the command line (wrap: bwrap), or confines the process that calls it (enter: landlock),
 * or both: what wrap starts is `cordon --inner`, which enters from the inside.
 *
 * Everything that a backend needs to know stands in the image (preload/image.h).
 */
#ifndef CORDON_BACKEND_H
#define CORDON_BACKEND_H

#include <stdbool.h>
#include <stddef.h>

#include "argv.h" /* argv_free, for what wrap returns */
#include "image.h"

/* Who holds a rule against the program. */
enum holder {
    HELD_BY_NOBODY,
    HELD_BY_SHIM,       /* a hostile or static program can go around it */
    HELD_BY_SUPERVISOR, /* no call goes around it, but a hostile program may forge the shim's */
    HELD_BY_KERNEL,
};

/* Why something cannot be had: what was tried, what the tool or the kernel said, the cause, and
 * what to do about it. Each is one line without a period; cause and fix may be "". */
struct trouble {
    char step[128];
    char words[256];
    char cause[128];
    char fix[256];
};

/* Something that a wall does not hold, in one line. */
struct gap {
    const char *text;
    enum holder holder; /* who does: the supervisor, and without one the shim; or nobody */
};

struct confinement;

struct backend {
    const char *name;

    /* 0: works on this machine for this policy; -1, with *trouble filled in: does not. */
    int (*probe)(const struct image *image, struct trouble *trouble);

    /* Whether probe would most likely say 0, by cheap signs. */
    bool (*likely)(const struct image *image);

    /* Who holds the rule with that index in the image's policy. */
    enum holder (*holds)(const struct image *image, uint32_t rule);

    /* Who holds the network rule, and the rules about unix sockets. */
    enum holder (*holds_net)(const struct image *image);

    /* What this backend leaves open whatever the rules say; ends with one without a text. */
    const struct gap *(*gaps)(void);

    /* Puts in front of `command` what builds the wall and then runs it. Returns a NULL-terminated
     * argv in memory that the caller frees with argv_free, or NULL with *trouble. NULL: nothing to
     * wrap with. For backend_exec, by the process that called it, as the last thing before: the
     * argv names descriptors that were opened for it, and signals and LD_PRELOAD as they are now.
     */
    char **(*wrap)(const struct image *image, const char *cwd, char *const command[],
                   struct trouble *trouble);

    /* What is to be around the process that becomes the command, for backend_enter. NULL: nothing.
     */
    void (*plan)(const struct image *image, struct confinement *confinement);
};

extern const struct backend backend_native;
extern const struct backend backend_landlock;
extern const struct backend backend_bwrap;

/* Confines the calling process for good, and all that it starts, without a supervisor; as the last
 * thing before exec. 0, or -1 with *trouble. */
int backend_enter(const struct backend *backend, const struct image *image,
                  struct trouble *trouble);

/* By name; NULL: there is none of that name. "auto" is no backend. */
const struct backend *backend_by_name(const char *name);

/* Who holds the rule with that index, the supervisor included. */
enum holder backend_holds(const struct backend *backend, const struct image *image, uint32_t rule);

/*
 * The one to use: the named one, or for "auto" the first of landlock and bwrap that works and whose
 * kernel holds all grants, the network and the sockets; with `strict` all rules. For sockets, and
 * with `strict`, a supervisor past whom no gate leads will do. NULL if there is none: then
 * troubles[i] says why not for each that was tried, names[i], and *count how many there are.
 */
enum { BACKENDS_TRIED = 4 };

struct backend_troubles {
    size_t count;
    const char *names[BACKENDS_TRIED];
    struct trouble troubles[BACKENDS_TRIED];
};

const struct backend *backend_choose(const struct image *image, const char *name, bool strict,
                                     struct backend_troubles *troubles);

/*
 * What backend_choose would most likely return, found without a trial: to be used at once, since
 * who enters it finds out. NULL: only a trial can tell. If it then fails, backend_choose says why.
 */
const struct backend *backend_guess(const struct image *image, const char *name, bool strict);

/*
 * Runs what wrap returned, with the environment as it is but for LD_PRELOAD, which the command
 * finds again: neither the wrapper nor its helper may be entered by the shim. The wrapper ignores
 * the signals that a terminal or a user sends to the whole group, so that the command alone answers
 * them. Returns only if it fails, a negative errno.
 */
int backend_exec(char *const argv[]);

/* Whether this process is inside a cordon already, by what the kernel answers: never by a variable.
 */
bool backend_is_inside(void);

/* "STEP: WORDS (CAUSE; FIX)" as one line without its end, cut to size. */
void trouble_print(const struct trouble *trouble, char *line, size_t size);

#endif
