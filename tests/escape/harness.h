/* SPDX-License-Identifier: MIT */
/*
 * harness.h - makes each attack, bare and confined, in a tree of its own, and looks at what came of
 * it from outside.
 *
 * A worker has a directory (TOP of attack.h), listeners, and for each attempt a victim process.
 * What an attempt does to any of them is in its outcome; judge.c says what the outcome has to be.
 */
#ifndef ESCAPE_HARNESS_H
#define ESCAPE_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "attack.h"

enum { PATH_ROOM = 256, SECRET_LENGTH = 32, OUTPUT_ROOM = 65536, WHY_ROOM = 512 };

/* How an attempt is confined. */
enum mode {
    MODE_BARE,
    MODE_LANDLOCK,
    MODE_BWRAP,
    MODE_UNSUPERVISED, /* landlock with --no-supervise */
    MODE_NATIVE_RUN,
    MODE_LANDLOCK_OPEN, /* with --net open */
    MODE_BWRAP_OPEN,
    MODE_HAND_LANDLOCK, /* LD_PRELOAD, without the command */
    MODE_HAND_NATIVE,
    MODES,
};
extern const char *const mode_names[MODES];

/* In what surroundings that happens. */
enum setting {
    SETTING_PLAIN,
    SETTING_NO_NAMESPACES, /* unshare and clone refuse user namespaces */
    SETTING_IN_CORDON,     /* in another cordon, which allows all of TOP */
    SETTING_IN_BWRAP,
    SETTINGS,
};
extern const char *const setting_names[SETTINGS];

struct stage {
    char top[PATH_ROOM];
    char secret[SECRET_LENGTH + 1];
};

/* Gives TOP, an empty directory, to a user, as root with a setuid program in it. */
void stage_prepare(const char *top, const char *build, uid_t uid);

/* Puts the programs into it, as that user. */
void stage_new(struct stage *stage, const char *top, const char *build);

/* Brings ws, out, other and home into their first state. */
void stage_reset(struct stage *stage, bool own);
void stage_remove(const char *top);

/* Where something in TOP is; four are valid at a time. */
const char *stage_path(const struct stage *stage, const char *name);

/* All that may not change, one line for each file, in memory that the caller frees. */
char *stage_digest(const struct stage *stage, bool with_other, bool own);

/* --- who is outside --------------------------------------------------------------------------- */

enum { LISTENERS = 8 };

struct outside {
    int listeners[LISTENERS];
    int tcp, tcp6, udp; /* ports; tcp6 is 0 without IPv6 */
    char abstract[64];
    char abstract_dgram[64];
    char queue[64];
    int memory; /* System V */
    long key;
    int terminal_master, terminal; /* the attempt's own, if it needs one */
    int other_master, other;       /* somebody else's */
    char other_name[64];
    pid_t victim;
    char *page; /* shared with the victim: the secret, and at 128 what it must not become */
    int page_fd;
    int self; /* this program, to be run as the victim */
};

/* For the life of a worker; the secret is in the memory, the queue and the key. */
void outside_new(struct outside *outside, const struct stage *stage);
void outside_free(struct outside *outside);

/* For one attempt: sockets in the tree, a victim, clean terminals. */
void outside_start(struct outside *outside, const struct stage *stage);

/* Whether anybody noticed anything, at last after so many milliseconds: a word about it, or NULL.
 */
const char *outside_reached(const struct outside *outside, long patience);
void outside_stop(struct outside *outside);

/* The main function of the victim. */
int victim_main(void);

/* --- an attempt ------------------------------------------------------------------------------- */

struct outcome {
    char output[OUTPUT_ROOM]; /* with NULs in it, maybe */
    size_t length;
    char word[128];        /* the last line: WON, LOST ..., CANNOT ... */
    char log[OUTPUT_ROOM]; /* the records of what was refused */
    bool hung;
    bool leaked;
    const char *reached;   /* or NULL */
    char change[WHY_ROOM]; /* or "" */
    bool recorded;         /* as the row wants it */
    bool won;
    int status;
};

struct attempt {
    const struct attack *attack;
    const char *name; /* of the attack, or "inside" */
    enum mode mode;
    enum setting setting;
    bool is_static;
};

void attempt_make(const struct attempt *attempt, struct stage *stage, struct outside *outside,
                  struct outcome *outcome);

/* Whether a supervisor looks on, who writes into TOP/log what was refused. */
bool attempt_is_supervised(const struct attempt *attempt);

/* What `cordon run --print` says with landlock and no supervisor. */
void attempt_print(const struct stage *stage, char *text, size_t size);

/* --- the log ---------------------------------------------------------------------------------- */

/* What the log begins with, before an attempt. */
const char *record_first_line(void);

/* Whether there is a record as the attack's row wants it, or none is wanted. */
bool record_is_there(const struct attempt *attempt, const struct stage *stage,
                     const struct outcome *outcome);

/* What is wrong with the log: lines are lost, or are not of cordon's making. NULL: nothing. */
const char *record_spoiled(const struct stage *stage, const struct outside *outside,
                           const struct outcome *outcome);

/* --- the verdict ------------------------------------------------------------------------------ */

enum result { RESULT_PASS, RESULT_FAIL, RESULT_SKIP, RESULT_NONE };

/* Whether this attempt says anything: what is not held by a layer is not tried there. */
bool judge_applies(const struct attempt *attempt);

/* What the outcome is worth; `why` if it is no pass. */
enum result judge(const struct attempt *attempt, const struct outcome *outcome,
                  char why[static WHY_ROOM]);

/* An image that allows all, as CORDON_IMAGE would carry it; freed by the caller. */
char *forge_image(const char *root, const char *shim);

/* Ends the program. */
_Noreturn void die(const char *what);

#endif
