/* SPDX-License-Identifier: MIT */
/*
 * attack.h - ways out of a workspace, one function each.
 *
 * `attack NAME FACT=VALUE...` makes one attempt and prints what came of it. The same sources are
 * built twice: `attack` makes its calls through libc, `attack-static` by the system call
 * instruction (layer.h). The harness (harness.h) runs each attack bare, where it has to succeed,
 * and then confined, where it must not; it believes what it sees outside, not what is printed.
 *
 *     TOP/
 *       name-SECRET          a name that only a listing of TOP can tell
 *       secret  usr/secret
 *       ws/                  the workspace and working directory
 *         attack  attack-static  evil.so  forged (an image that grants all)  file  dir/secret
 *         keep/suid          root's, setuid, if the harness could make one
 *         denied/secret      taken out by -d
 *         .git/hooks/pre-commit  .git/config  .git/HEAD
 *         moved/             the harness moves it to TOP/other when asked to
 *       out/                 may not be touched
 *         secret  victim  dir/name-SECRET  dir/file  empty/  link -> dir/name-SECRET
 *         prog  prog-dynamic  say  script  evil.so  usr/secret  sock  dgram
 *       other/               secret  sock
 *       home/                .ssh/id  .bashrc
 *       log                  what was refused, if there is a supervisor
 */
#ifndef ESCAPE_ATTACK_H
#define ESCAPE_ATTACK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What an attack is after; without one of these the attack's own word has to do. */
enum aim {
    CLAIM,  /* the call succeeds */
    LEAK,   /* the secret is printed */
    CHANGE, /* something outside, or something protected, is not what it was */
    REACH,  /* somebody outside notices: a listener, a process, a terminal */
};

/* Who stops it. */
enum {
    SHIM = 1,     /* the hooks, without any wall */
    LANDLOCK = 2, /* the landlock backend, against raw system calls */
    BWRAP = 4,    /* the bwrap backend, likewise */
    WALL = LANDLOCK | BWRAP,
    ALL = SHIM | WALL,
    RUN = 8,         /* `cordon run` before it starts the program: not so by hand */
    SUPERVISOR = 16, /* `cordon run` with a wall, while the program runs */
    JUDGED = SHIM | SUPERVISOR,
};

/* What has to be there for the attack to succeed without cordon. */
enum {
    NEEDS_ROOT = 1,
    NEEDS_USER = 2,   /* not root */
    NEEDS_TTY = 4,    /* a controlling terminal */
    NEEDS_MOUNTS = 8, /* a mount namespace that may be ruined */
    NEEDS_MOVER = 16, /* somebody outside who moves ws/moved */
    NEEDS_STDIN = 32, /* a standard input that is the directory outside */
    NEEDS_GROUP = 64, /* the victim process in its process group */
    NEEDS_OWN = 128,  /* cordon itself lies inside the workspace, in ws/tool */
    EVEN_OPEN = 256,  /* no need: it is to be refused with --net open, too */
};

struct attack {
    const char *name;
    int (*attempt)(void);
    enum aim aim;
    unsigned held;
    unsigned needs;
    const char *errors; /* how it may be refused; NULL: EACCES */
    const char *guard;  /* the part of cordon without which it succeeds */
    const char *gap;    /* where LANDLOCK is missing: what `cordon --print` calls it */
    /* What a supervisor writes about it: "OP|OP PLACE", the place as a pattern, in TOP if it is
     * relative; "raw ..." if it hears of it by the raw call only; "- WHY" if by none. */
    const char *record;
};

/* Results: 0, the attack succeeded as far as it can tell; a negative errno; or this. */
enum { CANNOT = -1000 };

/* Says why the attack cannot be tried here. Returns CANNOT. */
int cannot(const char *why);

/* Whether a race is to be run once more: confined so many times, bare until it has been won. */
bool another_try(int tries, bool won);

struct attacks {
    const struct attack *rows;
    size_t count;
};

extern const struct attacks attacks_open, attacks_names, attacks_links, attacks_proc, attacks_fds,
    attacks_meta, attacks_exec, attacks_net, attacks_process, attacks_kernel;

/* Why there is no record of some refusals. */
#define BEFORE  "- it is taken away before the program starts"
#define KERNEL  "- the kernel refuses it to everybody who is confined: nobody is asked"
#define RACE    "- whether it is refused at all is up to chance"
#define RETREAT "- programs try this first and go on without it: it is not there"

#define ATTACKS(table)                         \
    {                                          \
        table, sizeof(table) / sizeof *(table) \
    }

const struct attack *attack_find(const char *name);
const struct attack *attack_number(size_t index); /* NULL after the last */

void facts_set(char **list); /* FACT=VALUE..., ending with NULL */

/* What the harness told: text, or "" if it did not. */
const char *fact(const char *name);
long fact_number(const char *name);

/* Whether this is the attempt without cordon: only then may an attack be one that cannot be tried.
 */
bool is_bare(void);

/* A path below a directory of TOP: in("out", "secret"). Eight are valid at a time. */
const char *in(const char *where, const char *name);
const char *join(const char *directory, const char *name);

/* Prints what can be read from a descriptor, or reports its error if it is one, and closes it.
 * 0 or a negative errno. */
int spill(long fd);
int spill_text(const char *text, long length);

/* Writes a few bytes to a descriptor, or reports its error if it is one, and closes it. */
int scribble(long fd);

/* The arguments for another attack, with the same facts: for exec. */
char **again(const char *program, const char *name);

/* Some words, which end with NULL, and others, if there are any: an argv that is never freed. */
char **words(const char *first, ...) __attribute__((sentinel));
char **words_and(char **some, char **others);

/* Waits for a child: 0 if it exited with 0, else a negative errno: the one whose number is its exit
 * status, or EINTR if a signal ended it. */
int reap(long pid);

#endif
