/* SPDX-License-Identifier: MIT */
/*
 * support_work.h - real work, done by a shell on each side in turn.
 *
 * Each run is a process of its own and pays for its start too, behind a wall the start of the wall.
 */
#ifndef CORDON_BENCH_SUPPORT_WORK_H
#define CORDON_BENCH_SUPPORT_WORK_H

#include "support_table.h"

struct work {
    const char *name;
    const char *prepare; /* a shell script, run once */
    const char *script;  /* what is timed */
    const char *needs;   /* a command */
    double target;
    double aim;
    const char *check; /* a shell script that succeeds if it is there; NULL: if PATH leads to it */
};

/* Makes `configure`, to be run with the number of its tests. */
#define WORK_CONFIGURE                                                                          \
    "cat >configure <<'END'\n"                                                                  \
    "i=0\n"                                                                                     \
    "while [ $i -lt $1 ]; do\n"                                                                 \
    "    echo \"int main(void) { return $i; }\" >conftest.c\n"                                  \
    "    if cc -E conftest.c >conftest.i 2>conftest.err; then\n"                                \
    "        result=$(sed -n '/main/p' conftest.i | tr -d '\\n')\n"                             \
    "        test -n \"$result\" && echo \"#define HAVE_$i 1\" >>confdefs.h\n"                  \
    "    fi\n"                                                                                  \
    "    for dir in /usr/bin /bin /usr/local/bin; do test -x $dir/tool$i && echo found; done\n" \
    "    rm -f conftest.*\n"                                                                    \
    "    i=$((i + 1))\n"                                                                        \
    "done\n"                                                                                    \
    "mv confdefs.h config.h\n"                                                                  \
    "END\n"

/* A line for each of them that can be done here. The turn of the table is to be this one. */
double work_turn(enum side side, const void *subject);
void work_rows(struct table *table, const struct work *works, size_t count, double seconds);

#endif
