/* SPDX-License-Identifier: MIT */
/*
 * The race test: calls by path, while others swap what the paths lead through.
 *
 * Attackers exchange directories and links (tree.h says which) as fast as they can. A victim opens,
 * creates, renames and removes by such paths. Through the resolver, with openat2 and without, none
 * of its calls may ever get hold of something outside or have an effect there. A naive victim,
 * which checks and then acts, must be led astray by each kind of attack: else the test has no
 * teeth.
 *
 *   RACE_CALLS=n  how many calls through the resolver, all in all
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tally.h"
#include "victim.h"

enum {
    ATTACKERS = 2,
    CHECK_EVERY = 64,           /* calls between two looks at the outside */
    NAIVE_CALLS_MIN = 2000,     /* of the naive victim, whatever happens ... */
    NAIVE_CALLS_MAX = 20000000, /* ... and until it has been led astray */
};

enum mode { MODE_NAIVE, MODE_OPENAT2, MODE_BLIND, MODES };
static const char *const mode_names[MODES] = {"naive", "openat2", "no openat2"};
static const char *const attack_names[ATTACKS] = {"parent", "name", "inside", "out", "handle"};

/* Shared by all processes: the victim puts the outside back and records it anew. */
struct ground {
    struct tree tree;
    struct tally tallies[MODES][ATTACKS];
};

struct bout {
    struct ground *ground;
    const struct policy *policy;
    enum mode mode;
    enum attack attack;
    unsigned long calls;
    struct tally *tally;
};

static unsigned long passed;
static unsigned long failed;

static void expect(bool well, const struct tally *tally, const struct bout *bout, const char *why)
{
    if (well)
        passed++;
    else {
        failed++;
        printf("FAIL %s/%s: %s%s%s\n", mode_names[bout->mode], attack_names[bout->attack], why,
               tally->first[0] != '\0' ? ": " : "", tally->first);
    }
}

/* --- attackers -------------------------------------------------------------------------------- */

static bool has_one_cpu(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) == 1;
}

/* Who wakes up from a nap takes the processor away from the victim, in the middle of its call; who
 * spins needs a processor of its own. */
static void wait_a_little(bool naps, unsigned turn)
{
    const struct timespec nap = {.tv_nsec = 1 + turn * 7919 % 50000};

    if (naps)
        nanosleep(&nap, NULL);
    else
        for (volatile unsigned i = turn * 7919 % 4000; i > 0; i--)
            ;
}

static void attack(const struct bout *bout, bool naps)
{
    prctl(PR_SET_TIMERSLACK, 1);
    for (unsigned turn = 0;; turn++) {
        if (tree_swap(&bout->ground->tree, bout->attack, turn) == 0)
            __atomic_add_fetch(&bout->tally->swaps, 1, __ATOMIC_RELAXED);
        wait_a_little(naps, turn);
    }
}

/* The meaning of a number can be changed only from within. */
static void *attack_from_within(void *bout)
{
    attack(bout, has_one_cpu());
    return NULL;
}

/* --- the victim ------------------------------------------------------------------------------- */

static void take_openat2_away(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ||
        syscall(SYS_openat2, AT_FDCWD, "/", NULL, 0) != -1 || errno != ENOSYS) {
        perror("seccomp");
        _exit(2);
    }
}

/* The attackers do nothing outside that tree_check_outside asks about, so they may go on. */
static void look_outside(struct tree *tree, struct tally *tally)
{
    char first[PLACE_SIZE + 16];

    if (tree_check_outside(tree, first) > 0)
        tally_note_escape(tally, first);
}

static bool is_enough(const struct bout *bout)
{
    const struct tally *tally = bout->tally;

    if (tally->calls < bout->calls)
        return false;
    return bout->mode != MODE_NAIVE || tally->escapes > 0 || tally->calls >= NAIVE_CALLS_MAX;
}

static void suffer(const struct bout *bout)
{
    struct tree *tree = &bout->ground->tree;
    struct tally *tally = bout->tally;
    struct victim victim = {
        .caller = {.tree = tree, .scope = {.policy = bout->policy, .view = &view_self}},
        .manner = bout->mode == MODE_NAIVE ? &manner_naive : &manner_cordon,
        .attack = bout->attack,
        .random = UINT64_C(0x9e3779b97f4a7c15) * (unsigned)(getpid() + 1),
    };
    struct call_result result;

    while (!is_enough(bout)) {
        victim_call(&victim, &result);
        tally_count(tally, &result);
        if (tally->calls % CHECK_EVERY == 0)
            look_outside(tree, tally);
    }
}

/* --- processes -------------------------------------------------------------------------------- */

/* The parent waits for these three and nothing else. */
static sigset_t awaited;

static pid_t start(struct bout *bout, void (*role)(struct bout *bout, int number), int number)
{
    pid_t parent = getpid();
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (pid < 0) {
        perror("fork");
        exit(2);
    }
    if (pid > 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(2);
    sigprocmask(SIG_UNBLOCK, &awaited, NULL);
    role(bout, number);
    fflush(stdout);
    _exit(0);
}

static void be_attacker(struct bout *bout, int number)
{
    attack(bout, number > 0 || has_one_cpu());
}

static void be_victim(struct bout *bout, int number)
{
    pthread_t thread;

    (void)number;
    if (bout->mode == MODE_BLIND)
        take_openat2_away();
    if (bout->attack == ATTACK_HANDLE) {
        tree_swap(&bout->ground->tree, ATTACK_HANDLE, 0);
        if (pthread_create(&thread, NULL, attack_from_within, bout) != 0)
            _exit(2);
    }
    suffer(bout);
}

static int end(pid_t pid)
{
    int status;

    kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* The victim's status; -1 if the test was told to stop. */
static int wait_for_victim(pid_t victim)
{
    int status;

    while (waitpid(victim, &status, WNOHANG) == 0) {
        int signal = sigwaitinfo(&awaited, NULL);
        if (signal == SIGCHLD || signal < 0)
            continue;
        end(victim);
        return -1;
    }
    return status;
}

/* One victim against one kind of attack. Returns its status, or -1. */
static int fight(struct bout *bout)
{
    struct tree *tree = &bout->ground->tree;
    int attackers = bout->attack == ATTACK_HANDLE ? 0 : ATTACKERS;
    pid_t pids[ATTACKERS];
    int status;

    tree_mend(tree);
    for (int i = 0; i < attackers; i++)
        pids[i] = start(bout, be_attacker, i);
    status = wait_for_victim(start(bout, be_victim, 0));
    for (int i = 0; i < attackers; i++)
        end(pids[i]);
    look_outside(tree, bout->tally);
    return status;
}

/* --- judging ---------------------------------------------------------------------------------- */

static void judge(const struct bout *bout, int status)
{
    const struct tally *tally = bout->tally;

    tally_print(tally, mode_names[bout->mode], attack_names[bout->attack]);
    expect(status == 0, tally, bout, "the victim did not come to its end");
    expect(tally->swaps > 0, tally, bout, "nothing was swapped");
    if (bout->mode == MODE_NAIVE) {
        expect(tally->escapes > 0, tally, bout, "the control did not escape");
        return;
    }
    expect(tally->escapes == 0, tally, bout, "a call came out");
    expect(tally->calls >= bout->calls, tally, bout, "calls are missing");
    expect(tally->results[0] > 0, tally, bout, "no call succeeded");
    expect(tally->results[EACCES] > 0, tally, bout, "no call met the swapped state");
    expect(!tally_has_strange_error(tally), tally, bout, "an error that the kernel would not give");
}

/* --- all of them ------------------------------------------------------------------------------ */

static struct policy *make_policy(const struct tree *tree)
{
    struct policy_builder *builder = policy_builder_new();
    struct policy *policy;

    if (builder == NULL)
        return NULL;
    policy_add(builder, RULE_WRITE, tree->root, "test");
    policy = policy_build(builder);
    policy_builder_free(builder);
    return policy;
}

/* Each swap, there and back. */
static bool can_swap(const struct tree *tree)
{
    for (int i = 0; i < ATTACK_HANDLE; i++)
        for (unsigned turn = 0; turn < 4; turn++)
            if (tree_swap(tree, (enum attack)i, turn) < 0)
                return false;
    return true;
}

static bool fight_all(struct ground *ground, const struct policy *policy, unsigned long calls)
{
    unsigned long naive = calls / 100 > NAIVE_CALLS_MIN ? calls / 100 : NAIVE_CALLS_MIN;

    tally_print_head();
    for (int mode = 0; mode < MODES; mode++)
        for (int i = 0; i < ATTACKS; i++) {
            struct bout bout = {
                .ground = ground,
                .policy = policy,
                .mode = (enum mode)mode,
                .attack = (enum attack)i,
                .calls = mode == MODE_NAIVE ? naive : calls / (2 * ATTACKS) + 1,
                .tally = &ground->tallies[mode][i],
            };
            int status = fight(&bout);
            if (status == -1)
                return false;
            judge(&bout, status);
        }
    return true;
}

/* Returns whether the test came to its end. */
static bool run_in(const char *top, unsigned long calls)
{
    struct ground *ground =
        mmap(NULL, sizeof *ground, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct policy *policy = NULL;
    bool done = false;

    if (ground == MAP_FAILED) {
        perror("mmap");
        return false;
    }
    tree_build(&ground->tree, top);
    policy = make_policy(&ground->tree);
    if (policy == NULL)
        printf("FAIL race: no policy\n");
    else if (!can_swap(&ground->tree))
        printf("FAIL race: cannot exchange names in %s: %s\n", top, strerror(errno));
    else
        done = fight_all(ground, policy, calls);
    free(policy);
    munmap(ground, sizeof *ground);
    return done;
}

int main(void)
{
    const char *text = getenv("RACE_CALLS");
    const char *tmp = getenv("TMPDIR");
    unsigned long calls = text != NULL && *text != '\0' ? strtoul(text, NULL, 10) : 50000;
    char top[PATH_MAX];

    snprintf(top, sizeof top, "%s/cordon-race-XXXXXX", tmp != NULL ? tmp : "/tmp");
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD);
    sigaddset(&awaited, SIGINT);
    sigaddset(&awaited, SIGTERM);
    sigprocmask(SIG_BLOCK, &awaited, NULL);
    if (mkdtemp(top) == NULL) {
        perror(top);
        return 1;
    }
    if (!run_in(top, calls))
        failed++;
    tree_remove(top);
    printf("Pass: %lu, fail: %lu, skip: 0.\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
