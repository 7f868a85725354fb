/* SPDX-License-Identifier: MIT */
/*
 * bench_work.c - what real work costs, with and without shim and wall.
 *
 * The sides take turns; a ratio is that of two runs of one round. Each run is a process of its own
 * and pays for its start too, behind a wall the start of the wall: hence the shim is compared with
 * the same wall.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support.h"
#include "support_side.h"

enum { ROUNDS_MAX = 200 };

struct work {
    const char *name;
    const char *prepare; /* a shell script, run once */
    const char *script;  /* what is timed */
    const char *needs;   /* a command */
    double target;
    double aim;
};

#define MANY "many" /* a repository of 20,000 files */

static const struct work works[] = {
    {"git status, 20,000 files",
     "mkdir " MANY " && cd " MANY " && git init -q . && git config gc.auto 0 && "
     "for i in $(seq 100); do mkdir -p d$i/e d$i/f; for j in $(seq 100); do "
     "echo $i $j >d$i/e/$j.c; echo $i $j >d$i/f/$j.h; done; done && "
     "git add . && git -c user.name=x -c user.email=x@x.invalid commit -q -m x && git gc -q && git "
     "status -s",
     "cd " MANY " && git --no-optional-locks status --porcelain", "git", 1.5, 1.1},
    {"git diff, 20,000 files", NULL, "cd " MANY " && git --no-optional-locks diff", "git", 0, 0},
    {"find, 20,000 files", NULL, "find " MANY " -size +1000", "find", 0, 0},
    {"grep -r, 20,000 files", NULL, "! grep -rq 'nobody wrote this' " MANY, "grep", 0, 0},
    {"tar, 20,000 files", NULL, "tar -cf - " MANY " | cat", "tar", 1.05, 0},
    {"cp -r and rm -r, 2,000 files",
     "mkdir few && for i in $(seq 10); do cp -r " MANY "/d$i few; done",
     "cp -r few copy && rm -r copy", "cp", 0, 0},
    {"make -j2, 40 files",
     "mkdir project && cd project && for i in $(seq 40); do "
     "printf '#include <stdio.h>\\n#include <stdlib.h>\\nint f%d(void) { return puts(\"%d\"); "
     "}\\n' $i $i "
     ">f$i.c; done && printf 'all: $(patsubst %%.c,%%.o,$(wildcard *.c))\\n%%.o: %%.c\\n\\tcc -c "
     "-o $@ "
     "$<\\n' >Makefile",
     "make -s -B -j2 -C project", "make", 1.05, 0},
    {"a configure script, 100 tests",
     "cat >configure <<'END'\n"
     "i=0\n"
     "while [ $i -lt 100 ]; do\n"
     "    echo \"int main(void) { return $i; }\" >conftest.c\n"
     "    if cc -E conftest.c >conftest.i 2>conftest.err; then\n"
     "        result=$(sed -n '/main/p' conftest.i | tr -d '\\n')\n"
     "        test -n \"$result\" && echo \"#define HAVE_$i 1\" >>confdefs.h\n"
     "    fi\n"
     "    for dir in /usr/bin /bin /usr/local/bin; do test -x $dir/tool$i && echo found; done\n"
     "    rm -f conftest.*\n"
     "    i=$((i + 1))\n"
     "done\n"
     "mv confdefs.h config.h\n"
     "END\n",
     "sh configure", "cc", 0, 0},
    {"python3 start", NULL, "exec /usr/bin/python3 -c pass", "/usr/bin/python3", 1.05, 0},
    {"python3 with imports", NULL,
     "exec /usr/bin/python3 -c 'import json, http.client, unittest, asyncio, sqlite3, ssl'",
     "/usr/bin/python3", 1.05, 0},
    {"perl start", NULL, "exec perl -e 1", "perl", 0, 0},
    {"node start", NULL, "exec node -e 0", "node", 0, 0},
    {"a shell loop, 200 commands", NULL, "for i in $(seq 200); do /bin/true; done", "sh", 0, 0},
};

enum { WORKS = sizeof works / sizeof works[0] };

static double times[SIDES][ROUNDS_MAX];

/* Returns the number of rounds; 0 if a run failed. */
static size_t measure(const struct work *work, double seconds)
{
    const char *const argv[] = {"sh", "-c", work->script, NULL};
    double end = bench_now() + seconds * 1e9;
    size_t round = 0;

    side_run(SIDE_BARE, argv);
    while (round < ROUNDS_MAX && (round < 3 || bench_now() < end)) {
        for (size_t i = 0; i < SIDES; i++) {
            enum side side = (enum side)((i + round) % SIDES);
            if (!side_works(side))
                continue;
            times[side][round] = side_run(side, argv);
            if (times[side][round] < 0)
                return 0;
        }
        round++;
    }
    return round;
}

static const struct column {
    enum side side;
    enum side base;
    bool counts; /* towards the target */
} columns[] = {
    {SIDE_NATIVE, SIDE_BARE, true},
    {SIDE_LANDLOCK, SIDE_BARE, false},
    {SIDE_LANDLOCK, SIDE_LANDLOCK_WALL, true},
    {SIDE_BWRAP, SIDE_BARE, false},
    {SIDE_BWRAP, SIDE_BWRAP_WALL, true},
};

enum { COLUMNS = sizeof columns / sizeof columns[0] };

static void print_head(void)
{
    printf("%-30s %8s", "what work costs", "bare");
    for (size_t i = 0; i < COLUMNS; i++)
        printf("  %-15s", side_name(columns[i].side));
    printf("\n%-30s %8s", "", "");
    for (size_t i = 0; i < COLUMNS; i++)
        printf("  %-15s", columns[i].base == SIDE_BARE ? "of bare" : "of the wall");
    printf("  target\n");
}

/* Prints one column and returns its ratio; 0: this cannot be said here. */
static double print_column(const struct column *column, size_t rounds)
{
    static double ratios[ROUNDS_MAX];
    struct bench_spread spread;
    char text[32];

    if (!side_works(column->side) || !side_works(column->base)) {
        printf("  %-15s", "-");
        return 0;
    }
    for (size_t i = 0; i < rounds; i++)
        ratios[i] = times[column->side][i] / times[column->base][i];
    spread = bench_spread(ratios, rounds);
    snprintf(text, sizeof text, "%.2f %.2f-%.2f", spread.middle, spread.low, spread.high);
    printf("  %-15s", text);
    return column->counts ? spread.middle : 0;
}

static bool print_row(const struct work *work, size_t rounds)
{
    static double bare[ROUNDS_MAX];
    double worst = 0;
    char text[32];

    for (size_t i = 0; i < rounds; i++)
        bare[i] = times[SIDE_BARE][i];
    printf("  %-28s %8s", work->name, bench_duration(bench_spread(bare, rounds).middle, text));
    for (size_t i = 0; i < COLUMNS; i++) {
        double ratio = print_column(&columns[i], rounds);
        if (ratio > worst)
            worst = ratio;
    }
    bench_print_verdict(worst, work->target, work->aim);
    printf("\n");
    fflush(stdout);
    return work->target > 0 && worst > work->target;
}

int main(void)
{
    struct side_place place;
    double seconds = bench_seconds(90);
    size_t targets = 0;
    size_t misses = 0;
    bool wrong = false;

    side_begin(&place);
    print_head();
    for (size_t i = 0; i < WORKS; i++) {
        if (!side_finds(works[i].needs)) {
            printf("  %-28s %s is not installed\n", works[i].name, works[i].needs);
            continue;
        }
        if (works[i].prepare != NULL)
            side_prepare(works[i].prepare);
        size_t rounds = measure(&works[i], seconds / WORKS);
        if (rounds == 0) {
            printf("  %-28s fails\n", works[i].name);
            wrong = true;
            continue;
        }
        misses += print_row(&works[i], rounds);
        targets += works[i].target > 0;
    }
    printf("%zu of %zu targets missed\n\n", misses, targets);
    return wrong;
}
