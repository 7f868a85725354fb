/* SPDX-License-Identifier: MIT */
/*
 * The differential test: random calls on random trees, bare and through cordon.
 *
 * A call that cannot change anything is made twice on one tree; any other is made bare on one copy
 * and through cordon on another. Inside, both have to give the same file, flags, errno and effects;
 * outside cordon has to refuse, and to leave everything as it is. A slow reference resolver and a
 * naive reading of the rules say what is inside.
 *
 *   SEED=n        another run; the number is printed first
 *   FUZZ_CASES=n  how many calls
 *   CASE=n        only this one, as a failure names it
 *
 * The rounds take turns in three processes: with openat2, with ENOSYS and with EPERM in its place.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "call.h"
#include "judge.h"
#include "rules.h"
#include "tree.h"

enum { CALLS_PER_TREE = 50, ERRNOS = 134, MODES = 3, FAILURES_SHOWN = 10 };
enum stream { STREAM_TREE, STREAM_RULES, STREAM_CALL };

/* Counted by all processes together. */
struct tally {
    unsigned long cases;
    unsigned long failed;
    unsigned long refused;
    unsigned long linked;
    unsigned long results[ERRNOS]; /* of cordon, refusals left out; 0: success */
    bool aborted;
};

struct run {
    uint64_t seed;
    uint64_t cases;
    uint64_t only; /* the number of one case, or UINT64_MAX */
    struct tally *tally;
};

struct round {
    const struct run *run;
    uint64_t number;
    struct tree tree;
    struct rules rules;
    struct policy *policy;
    uint64_t digest;
};

static const char *const mode_names[MODES] = {"openat2", "no openat2 (ENOSYS)",
                                              "no openat2 (EPERM)"};
static const int mode_errors[MODES] = {0, ENOSYS, EPERM};

/* --- one case --------------------------------------------------------------------------------- */

static void print_found(const struct found *found)
{
    if (found->error != 0)
        printf("nowhere: %s\n", strerror(found->error));
    else {
        print_text(found->place);
        printf("%s%s, %d links on the way\n", found->exists ? "" : " (missing)",
               found->object ? " (no place)" : "", found->links);
    }
}

static void print_outcome(const char *who, const struct trial *trial, const struct outcome *outcome)
{
    printf("    %s: %s", who, outcome->result < 0 ? strerrorname_np(-outcome->result) : "ok");
    if (outcome->result == 0 && trial->call->op <= OP_LOOKUP)
        printf(" inode %lu size %ld mode %o getfl %#o getfd %d \"",
               (unsigned long)outcome->st.st_ino, (long)outcome->st.st_size,
               (unsigned)outcome->st.st_mode, (unsigned)outcome->getfl, outcome->getfd);
    if (outcome->result == 0 && trial->call->op <= OP_LOOKUP)
        print_text(outcome->place);
    printf("%s", outcome->result == 0 && trial->call->op <= OP_LOOKUP ? "\"\n" : "\n");
    if (outcome->denied) {
        printf("    reported: ");
        print_text(outcome->report);
        printf("\n");
    }
}

static void print_failure(const struct round *round, uint64_t number, const struct trial *trial,
                          const char *wrong, int mode)
{
    const struct tally *tally = round->run->tally;

    if (tally->failed > FAILURES_SHOWN)
        return;
    printf("FAIL case %lu: %s\n  again: SEED=%lu CASE=%lu (%s)\n  ", (unsigned long)number, wrong,
           (unsigned long)round->run->seed, (unsigned long)number, mode_names[mode]);
    call_print(trial->call, &round->tree);
    for (int i = 0; i < call_paths(trial->call); i++) {
        printf("    leads to: ");
        print_found(&trial->found[i]);
    }
    printf("    policy: %s\n", judge_denies(trial) ? "denied" : "allowed, or no place");
    print_outcome("bare", trial, &trial->bare);
    print_outcome("cordon", trial, &trial->cordon);
    if (trial->digest_a != trial->digest || trial->digest_b != trial->digest)
        printf("    changed:%s%s\n", trial->digest_a != trial->digest ? " bare" : "",
               trial->digest_b != trial->digest ? " cordon" : "");
    printf("  COPY is %s, rules:\n", tree_copy(SIDE_B));
    rules_print(&round->rules);
    printf("  tree:\n");
    tree_print(&round->tree);
    fflush(stdout);
}

static void count(struct tally *tally, const struct trial *trial)
{
    bool linked = trial->found[0].links > 0 || trial->found[1].links > 0;
    int result = -trial->cordon.result;

    __atomic_add_fetch(&tally->cases, 1, __ATOMIC_RELAXED);
    if (linked)
        __atomic_add_fetch(&tally->linked, 1, __ATOMIC_RELAXED);
    if (trial->cordon.denied)
        __atomic_add_fetch(&tally->refused, 1, __ATOMIC_RELAXED);
    else
        __atomic_add_fetch(&tally->results[result < ERRNOS ? result : 0], 1, __ATOMIC_RELAXED);
}

static void resolve_all(struct trial *trial, const struct tree *tree)
{
    static struct origin origin;
    char path[FULL_TEXT];

    trial->found[1] = (struct found){.error = 0};
    call_settle(trial->call, tree);
    for (int i = 0; i < call_paths(trial->call); i++) {
        call_origin(trial->call, tree, i, SIDE_B, &origin);
        tree_expand(trial->call->path[i], SIDE_B, path, sizeof path);
        reference_resolve(&origin, path, judge_last(trial->call), &trial->found[i]);
    }
}

/* Makes the call both ways. */
static void try_both(struct round *round, struct trial *trial)
{
    const struct call *call = trial->call;
    bool changes = call_changes(call);

    trial->digest = trial->digest_a = trial->digest_b = round->digest;
    call_bare(call, &round->tree, changes ? SIDE_A : SIDE_B, &trial->bare);
    call_cordon(call, &round->tree, SIDE_B, round->policy, &trial->cordon);
    if (!changes)
        return;
    if (trial->bare.result == 0)
        trial->digest_a = tree_digest(SIDE_A);
    trial->digest_b = tree_digest(SIDE_B);
}

static void build(struct round *round)
{
    for (int side = 0; side < SIDES; side++)
        tree_build(&round->tree, side);
    round->digest = tree_digest(SIDE_A);
    if (round->digest != tree_digest(SIDE_B)) {
        printf("FAIL differential: the copies differ\n");
        fflush(stdout);
        _exit(2);
    }
}

static void try_case(struct round *round, uint64_t number, int mode)
{
    static struct trial trial;
    static struct call call;
    struct random random = random_of(round->run->seed, STREAM_CALL, number);

    trial.call = &call;
    trial.rules = &round->rules;
    trial.blind = mode_errors[mode] != 0;
    call_generate(&call, &round->tree, &random);
    resolve_all(&trial, &round->tree);
    if (call_changes(&call) && judge_is_dangerous(&trial)) {
        call.op = OP_STAT; /* the tree is ours, the rest of this machine is not */
        resolve_all(&trial, &round->tree);
    }
    try_both(round, &trial);
    count(round->run->tally, &trial);
    const char *wrong = judge(&trial);
    if (wrong != NULL) {
        __atomic_add_fetch(&round->run->tally->failed, 1, __ATOMIC_RELAXED);
        print_failure(round, number, &trial, wrong, mode);
    }
    if (trial.digest_a != trial.digest || trial.digest_b != trial.digest)
        build(round);
}

/* --- rounds ----------------------------------------------------------------------------------- */

static void try_round(const struct run *run, uint64_t number, int mode)
{
    static struct round round;
    struct random of_tree = random_of(run->seed, STREAM_TREE, number);
    struct random of_rules = random_of(run->seed, STREAM_RULES, number);
    uint64_t first = number * CALLS_PER_TREE;

    round.run = run;
    round.number = number;
    tree_generate(&round.tree, &of_tree);
    rules_generate(&round.rules, &of_rules, random_percent(&of_rules, 50));
    round.policy = rules_build(&round.rules);
    build(&round);
    for (uint64_t i = first; i < first + CALLS_PER_TREE && i < run->cases; i++)
        if (run->only == UINT64_MAX || run->only == i)
            try_case(&round, i, mode);
    if (chdir("/") == 0)
        for (int side = 0; side < SIDES; side++) {
            tree_close_props(side);
            tree_wipe(side);
        }
    free(round.policy);
    tree_release(&round.tree);
}

/* Half of the rounds have openat2. */
static int mode_of(uint64_t round)
{
    return round % 4 < 2 ? 0 : (int)(round % 4) - 1;
}

static void take_openat2_away(int error)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0) {
        printf("FAIL differential: cannot set a filter: %s\n", strerror(errno));
        exit(2);
    }
}

static int run_mode(const struct run *run, int mode, const char *top)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    umask(022);
    if (snprintf(tree_top, sizeof tree_top, "%s/%d", top, mode) >= (int)sizeof tree_top ||
        mkdir(tree_top, 0700) < 0)
        return 2;
    if (mode_errors[mode] != 0)
        take_openat2_away(mode_errors[mode]);
    for (uint64_t round = 0; round * CALLS_PER_TREE < run->cases; round++)
        if (mode_of(round) == mode &&
            (run->only == UINT64_MAX || run->only / CALLS_PER_TREE == round))
            try_round(run, round, mode);
    return 0;
}

/* --- all of them ------------------------------------------------------------------------------ */

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
    stopped = signal;
}

/* Waits for the processes; when told to stop, stops them first. */
static bool wait_for(const pid_t pids[MODES])
{
    bool well = true;

    for (int mode = 0; mode < MODES; mode++) {
        int status = 0;
        while (waitpid(pids[mode], &status, 0) < 0 && errno == EINTR)
            for (int i = 0; stopped && i < MODES; i++)
                kill(pids[i], SIGKILL);
        if (status != 0)
            printf("FAIL %s: the process ended with status %#x\n", mode_names[mode],
                   (unsigned)status);
        well = well && status == 0;
    }
    return well;
}

/* Each class has to occur often enough to mean something. */
static bool print_share(const char *name, unsigned long part, unsigned long all, bool wanted)
{
    bool rare = wanted && part * 50 < all;

    printf("  %-16s %8lu %5.1f %%%s\n", name, part, 100.0 * (double)part / (double)all,
           rare ? "  FAIL: less than 2 %" : "");
    return !rare;
}

static bool print_histogram(const struct tally *tally)
{
    static const int wanted[] = {0, ENOENT, ENOTDIR, ELOOP, EEXIST};
    bool well = print_share("through a link", tally->linked, tally->cases, true);

    well &= print_share("refused", tally->refused, tally->cases, true);
    for (int i = 0; i < ERRNOS; i++) {
        bool is_wanted = false;
        for (size_t j = 0; j < sizeof wanted / sizeof *wanted; j++)
            is_wanted = is_wanted || wanted[j] == i;
        if (is_wanted || tally->results[i] > 0)
            well &= print_share(i == 0 ? "ok" : strerrorname_np(i), tally->results[i], tally->cases,
                                is_wanted);
    }
    return well;
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text != NULL && *text != '\0' ? strtoull(text, NULL, 10) : otherwise;
}

static bool run_all(const struct run *run)
{
    const struct sigaction action = {.sa_handler = stop};
    const char *tmp = getenv("TMPDIR");
    char template[PATH_MAX];
    char top[PATH_MAX];
    pid_t pids[MODES];
    bool well;

    snprintf(template, sizeof template, "%s/cordon-XXXXXX", tmp != NULL ? tmp : "/tmp");
    if (mkdtemp(template) == NULL || realpath(template, top) == NULL) {
        printf("FAIL differential: %s: %s\n", template, strerror(errno));
        return false;
    }
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    fflush(stdout);
    for (int mode = 0; mode < MODES; mode++) {
        pids[mode] = fork();
        if (pids[mode] == 0)
            exit(run_mode(run, mode, top));
    }
    well = wait_for(pids);
    tree_remove(AT_FDCWD, top);
    return well;
}

int main(void)
{
    struct run run = {
        .seed = number_from("SEED", 20261118),
        .cases = number_from("FUZZ_CASES", 20000),
        .only = number_from("CASE", UINT64_MAX),
    };
    bool well;

    if (run.only != UINT64_MAX && run.cases <= run.only)
        run.cases = run.only + 1;
    printf("seed %lu, %lu cases\n", (unsigned long)run.seed, (unsigned long)run.cases);
    run.tally =
        mmap(NULL, sizeof *run.tally, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (run.tally == MAP_FAILED)
        return 1;
    well = run_all(&run);
    if (run.only == UINT64_MAX && run.tally->cases > 0)
        well &= print_histogram(run.tally);
    well = well && run.tally->failed == 0;
    /* What went wrong without being a case counts as one. */
    printf("Pass: %lu, fail: %lu, skip: 0.\n", run.tally->cases - run.tally->failed,
           run.tally->failed > 0 || well ? run.tally->failed : 1);
    return well ? 0 : 1;
}
