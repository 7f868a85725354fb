/* SPDX-License-Identifier: MIT */
/*
 * bench_start.c - what it costs to start `true`: bare, with each backend, and with those peers that
 * are installed; in a small directory, in one of 50,000 files, and in one of 300 repositories,
 * which must not differ, since nothing is walked.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"
#include "support_side.h"

enum { ROUNDS_MAX = 1000 };

struct starter {
    const char *name;
    const char *needs; /* a command; NULL: one of ours */
    double target;
    double aim;
    const char *argv[16];
};

static struct starter starters[] = {
    {"true", "true", 0, 0, {"true"}},
    {"cordon -b native -- true", NULL, 0, 0, {"cordon", "run", "-q", "-b", "native", "--", "true"}},
    {"cordon -b landlock -- true", NULL, 4, 2.5, {"cordon", "run", "-b", "landlock", "--", "true"}},
    {"cordon -- true (auto)", NULL, 4, 2.5, {"cordon", "--", "true"}},
    {"cordon -b bwrap -- true", NULL, 0, 0, {"cordon", "run", "-b", "bwrap", "--", "true"}},
    {"bwrap --ro-bind / / true", "bwrap", 0, 0, {"bwrap", "--ro-bind", "/", "/", "true"}},
    {"bwrap --unshare-all",
     "bwrap",
     0,
     0,
     {"bwrap", "--unshare-all", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "true"}},
    {"fakechroot true", "fakechroot", 0, 0, {"fakechroot", "true"}},
    {"proot true", "proot", 0, 0, {"proot", "true"}},
    {"firejail --quiet true", "firejail", 0, 0, {"firejail", "--quiet", "true"}},
    {"srt true", "srt", 0, 0, {"srt", "true"}},
};

enum { STARTERS = sizeof starters / sizeof starters[0] };

static const struct place {
    const char *name;
    const char *prepare;
} places[] = {
    {"small", "mkdir small"},
    {"50,000 files", "mkdir files && cd files && for i in $(seq 50); do mkdir $i && (cd $i && seq "
                     "1000 | xargs touch); done"},
    {"300 repositories",
     "mkdir repos && cd repos && for i in $(seq 300); do mkdir -p $i/.git/hooks $i/.git/refs "
     "$i/.git/objects && : >$i/.git/config && echo ref: refs/heads/main >$i/.git/HEAD; done"},
};
static const char *const dirs[] = {"small", "files", "repos"};

enum { PLACES = sizeof places / sizeof places[0] };

static double times[STARTERS][PLACES][ROUNDS_MAX];
static bool missing[STARTERS];
static bool broken[STARTERS];

/* Which of them can be run at all; ours by their place. */
static void find_starters(void)
{
    for (size_t i = 0; i < STARTERS; i++) {
        struct starter *starter = &starters[i];
        if (starter->needs == NULL)
            starter->argv[0] = side_product("cordon");
        missing[i] = starter->needs != NULL && !side_finds(starter->needs);
        broken[i] = !missing[i] && side_run(SIDE_BARE, starter->argv) < 0;
    }
}

/* One round: every starter in every place, neighbours in time. */
static void run_round(const char *ws, size_t round)
{
    for (size_t j = 0; j < PLACES; j++) {
        if (chdir(ws) < 0 || chdir(dirs[j]) < 0)
            exit(2);
        for (size_t k = 0; k < STARTERS; k++) {
            size_t i = (k + round) % STARTERS;
            if (!missing[i] && !broken[i])
                times[i][j][round] = side_run(SIDE_BARE, starters[i].argv);
        }
    }
    if (chdir(ws) < 0)
        exit(2);
}

/* The ratio of two series, round by round. */
static struct bench_spread compare(const double *series, const double *base, size_t rounds)
{
    static double ratios[ROUNDS_MAX];

    for (size_t i = 0; i < rounds; i++)
        ratios[i] = series[i] / base[i];
    return bench_spread(ratios, rounds);
}

static struct bench_spread spread_of(const double *series, size_t rounds)
{
    static double copy[ROUNDS_MAX];

    memcpy(copy, series, sizeof copy);
    return bench_spread(copy, rounds);
}

static void print_row(size_t i, size_t rounds)
{
    struct bench_spread spread;
    struct bench_spread ours;
    char text[32];

    printf("  %-28s", starters[i].name);
    if (missing[i] || broken[i]) {
        printf(" %s\n", missing[i] ? "not installed" : "does not work here");
        return;
    }
    ours = spread_of(times[i][0], rounds);
    spread = compare(times[i][0], times[0][0], rounds);
    printf(" %8s  %6.2f %5.2f-%-6.2f", bench_duration(ours.middle, text), spread.middle, spread.low,
           spread.high);
    printf("  %6.2f", ours.low / spread_of(times[0][0], rounds).low);
    for (size_t j = 1; j < PLACES; j++)
        printf("  %-16.2f", compare(times[i][j], times[i][0], rounds).middle);
    bench_print_verdict(spread.middle, starters[i].target, starters[i].aim);
    printf("\n");
}

int main(void)
{
    struct side_place place;
    double end;
    size_t rounds = 0;

    side_begin(&place);
    for (size_t i = 0; i < PLACES; i++)
        side_prepare(places[i].prepare);
    find_starters();
    end = bench_now() + bench_seconds(20) * 1e9;
    while (rounds < ROUNDS_MAX && (rounds < 5 || bench_now() < end))
        run_round(place.ws, rounds++);

    /* When the machine is busy, the quiet tenth of the runs says more than their middle. */
    printf("%-30s %8s  %6s %-12s  %6s", "what a start costs", "", "ratio", "10th-90th", "quiet");
    for (size_t j = 1; j < PLACES; j++)
        printf("  %-16s", places[j].name);
    printf("  target\n%-30s %8s  %6s %-12s  %6s", "", "", "", "percentile", "ratio");
    for (size_t j = 1; j < PLACES; j++)
        printf("  %-16s", "of small");
    printf("\n");
    for (size_t i = 0; i < STARTERS; i++)
        print_row(i, rounds);
    printf("\n");
    return 0;
}
