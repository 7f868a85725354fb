/* SPDX-License-Identifier: MIT */
/*
 * bench_work.c - what real work costs, with and without shim and wall.
 *
 * A run behind a wall pays for the start of the wall: hence the shim is compared with the same
 * wall.
 */
#include "support.h"
#include "support_work.h"

#define MANY "many" /* a repository of 20,000 files */

static const struct work works[] = {
    {"git status, 20,000 files",
     "mkdir " MANY " && cd " MANY " && git init -q . && git config gc.auto 0 && "
     "for i in $(seq 100); do mkdir -p d$i/e d$i/f; for j in $(seq 100); do "
     "echo $i $j >d$i/e/$j.c; echo $i $j >d$i/f/$j.h; done; done && "
     "git add . && git -c user.name=x -c user.email=x@x.invalid commit -q -m x && git gc -q && git "
     "status -s",
     "cd " MANY " && git --no-optional-locks status --porcelain", "git", 1.5, 1.1, NULL},
    {"git diff, 20,000 files", NULL, "cd " MANY " && git --no-optional-locks diff", "git", 0, 0,
     NULL},
    {"find, 20,000 files", NULL, "find " MANY " -size +1000", "find", 0, 0, NULL},
    {"grep -r, 20,000 files", NULL, "! grep -rq 'nobody wrote this' " MANY, "grep", 0, 0, NULL},
    {"tar, 20,000 files", NULL, "tar -cf - " MANY " | cat", "tar", 1.05, 0, NULL},
    {"cp -r and rm -r, 2,000 files",
     "mkdir few && for i in $(seq 10); do cp -r " MANY "/d$i few; done",
     "cp -r few copy && rm -r copy", "cp", 0, 0, NULL},
    {"make -j2, 40 files",
     "mkdir project && cd project && for i in $(seq 40); do "
     "printf '#include <stdio.h>\\n#include <stdlib.h>\\nint f%d(void) { return puts(\"%d\"); "
     "}\\n' $i $i "
     ">f$i.c; done && printf 'all: $(patsubst %%.c,%%.o,$(wildcard *.c))\\n%%.o: %%.c\\n\\tcc -c "
     "-o $@ "
     "$<\\n' >Makefile",
     "make -s -B -j2 -C project", "make", 1.05, 0, NULL},
    {"a configure script, 100 tests", WORK_CONFIGURE, "sh configure 100", "cc", 0, 0, NULL},
    {"python3 start", NULL, "exec /usr/bin/python3 -c pass", "/usr/bin/python3", 1.05, 0, NULL},
    {"python3 with imports", NULL,
     "exec /usr/bin/python3 -c 'import json, http.client, unittest, asyncio, sqlite3, ssl'",
     "/usr/bin/python3", 1.05, 0, NULL},
    {"perl start", NULL, "exec perl -e 1", "perl", 0, 0, NULL},
    {"node start", NULL, "exec node -e 0", "node", 0, 0, NULL},
    {"a shell loop, 200 commands", NULL, "for i in $(seq 200); do /bin/true; done", "sh", 0, 0,
     NULL},
};

enum { WORKS = sizeof works / sizeof works[0] };

static const struct column columns[] = {
    {SIDE_NATIVE, SIDE_BARE, true},
    {SIDE_LANDLOCK, SIDE_BARE, false},
    {SIDE_LANDLOCK, SIDE_LANDLOCK_WALL, true},
    {SIDE_BWRAP, SIDE_BARE, false},
    {SIDE_BWRAP, SIDE_BWRAP_WALL, true},
};

int main(void)
{
    struct table table = {.title = "what work costs",
                          .columns = columns,
                          .count = sizeof columns / sizeof columns[0],
                          .turn = work_turn};
    struct side_place place;

    side_begin(&place);
    table_print_head(&table);
    work_rows(&table, works, WORKS, bench_seconds(90));
    return table_end(&table);
}
