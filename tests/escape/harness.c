/* SPDX-License-Identifier: MIT */
/*
 * usage: escape [-v] [ATTACK...]
 *
 * Makes the attacks, by default all of them, in every way that there is here: as root and as
 * nobody if started by root, by libc and by raw system calls, with each backend, and in each
 * setting. BUILD is where the products lie. With ESCAPE_ALL in the environment every way is tried
 * as every user in every setting.
 */
#include "harness.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* More than there are processors: namespaces make one wait. */
enum { WORKERS = 4 };

static struct {
    bool verbose;
    char **names; /* of the attacks to make; empty: all */
    const char *build;
    bool has_bwrap;
    bool all;
    int users;
    _Atomic unsigned *results; /* counts, shared by the workers */
} options;

_Noreturn void die(const char *what)
{
    fprintf(stderr, "escape: %s: %s\n", what, strerror(errno));
    _exit(1);
}

/* One line, one write: the workers share the output. */
__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    char line[2048];
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    if (length > (int)sizeof line - 2)
        length = (int)sizeof line - 2;
    for (int i = 0; i < length; i++)
        if ((unsigned char)line[i] < ' ')
            line[i] = ' ';
    line[length] = '\n';
    if (write(STDOUT_FILENO, line, (size_t)length + 1) < 0)
        _exit(1);
}

struct worker {
    struct stage stage;
    struct outside outside;
    const char *user;
};

static enum result make(struct worker *worker, const struct attempt *attempt)
{
    static struct outcome outcome;
    static const char *const words[] = {"PASS", "FAIL", "SKIP"};
    char why[WHY_ROOM] = "";
    enum result result;

    if (!judge_applies(attempt))
        return RESULT_NONE;
    attempt_make(attempt, &worker->stage, &worker->outside, &outcome);
    result = judge(attempt, &outcome, why);
    options.results[result]++;
    if (result != RESULT_PASS || options.verbose)
        say("%s %s (%s, %s%s, %s): %s%s%s", words[result], attempt->name,
            attempt->is_static ? "static" : "dynamic", mode_names[attempt->mode],
            setting_names[attempt->setting], worker->user,
            result == RESULT_PASS ? outcome.word : why,
            result == RESULT_FAIL && attempt->attack != NULL ? "; see " : "",
            result == RESULT_FAIL && attempt->attack != NULL ? attempt->attack->guard : "");
    return result;
}

static const char *lacking(const struct attack *attack, uid_t uid)
{
    if ((attack->needs & NEEDS_ROOT) != 0 && uid != 0)
        return "needs root";
    if ((attack->needs & NEEDS_USER) != 0 && uid == 0)
        return "needs another user than root";
    return NULL;
}

/*
 * Which ways are worth their time. The shim alone is the same for every user. In other settings the
 * wall is what can be lost, and it is tried without the shim's help; inside another cordon it is
 * the shim's rules as well. Root is who runs in containers, where namespaces are forbidden. Without
 * a supervisor it is his part that is missing, and sockets that are refused otherwise.
 */
static bool is_tried(const struct attempt *attempt)
{
    bool root = geteuid() == 0;

    if (options.all && attempt->setting != SETTING_PLAIN)
        return (attempt->mode == MODE_LANDLOCK || attempt->mode == MODE_NATIVE_RUN) &&
               (options.has_bwrap || attempt->setting != SETTING_IN_BWRAP);
    switch (attempt->setting) {
    case SETTING_PLAIN:
        if (attempt->mode == MODE_UNSUPERVISED && !options.all)
            return attempt->is_static && (attempt->attack == NULL || attempt->attack->gap != NULL ||
                                          (attempt->attack->needs & EVEN_OPEN) != 0);
        if (!options.all && options.users == 2 &&
            attempt->mode == (root ? MODE_HAND_NATIVE : MODE_NATIVE_RUN))
            return false;
        return (attempt->mode != MODE_BWRAP && attempt->mode != MODE_BWRAP_OPEN) ||
               options.has_bwrap;
    case SETTING_NO_NAMESPACES:
        return attempt->mode == MODE_LANDLOCK && attempt->is_static && (root || options.users == 1);
    case SETTING_IN_CORDON:
        return attempt->mode == MODE_LANDLOCK && (!root || options.users == 1);
    case SETTING_IN_BWRAP:
        return attempt->mode == MODE_LANDLOCK && attempt->is_static && options.has_bwrap &&
               (!root || options.users == 1);
    case SETTINGS:
    default:
        return false;
    }
}

static bool is_wanted(const char *name)
{
    if (options.names[0] == NULL)
        return true;
    for (char **at = options.names; *at != NULL; at++)
        if (strcmp(*at, name) == 0)
            return true;
    return false;
}

/* Nothing is tried in a manner whose control does not work. False: it cannot be tried at all. */
static bool make_twin(struct worker *worker, struct attempt attempt)
{
    enum result control;

    attempt.mode = MODE_BARE;
    control = make(worker, &attempt);
    if (control != RESULT_PASS)
        return control != RESULT_SKIP;
    for (int setting = SETTING_PLAIN; setting < SETTINGS; setting++) {
        attempt.setting = (enum setting)setting;
        for (int mode = MODE_BARE + 1; mode < MODES; mode++) {
            attempt.mode = (enum mode)mode;
            if (is_tried(&attempt))
                make(worker, &attempt);
        }
    }
    return true;
}

static void make_all(struct worker *worker, const struct attack *attack)
{
    const char *reason = attack == NULL ? NULL : lacking(attack, geteuid());
    struct attempt attempt = {.attack = attack, .name = attack == NULL ? "inside" : attack->name};

    if (reason != NULL) {
        options.results[RESULT_SKIP]++;
        say("SKIP %s (%s): %s", attack->name, worker->user, reason);
        return;
    }
    if (!make_twin(worker, attempt))
        return;
    attempt.is_static = true;
    make_twin(worker, attempt);
}

/* What Landlock cannot hold, `cordon --print` has to say. */
static void check_print(struct worker *worker)
{
    static char text[OUTPUT_ROOM];
    const struct attack *attack;

    stage_reset(&worker->stage, false);
    attempt_print(&worker->stage, text, sizeof text);
    for (size_t i = 0; (attack = attack_number(i)) != NULL; i++) {
        if (attack->gap == NULL || !is_wanted(attack->name))
            continue;
        if (strstr(text, attack->gap) == NULL) {
            options.results[RESULT_FAIL]++;
            say("FAIL %s: --print does not say that \"%s\" is left to the shim", attack->name,
                attack->gap);
        } else {
            options.results[RESULT_PASS]++;
        }
    }
}

/* The share of one worker. */
static void work(struct worker *worker, unsigned share)
{
    const struct attack *attack;

    if (share == 0 && is_wanted("inside"))
        make_all(worker, NULL);
    if (share == 0)
        check_print(worker);
    for (size_t i = share; (attack = attack_number(i)) != NULL; i += WORKERS)
        if (is_wanted(attack->name))
            make_all(worker, attack);
}

static void become(uid_t uid)
{
    if (uid == geteuid())
        return;
    if (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0)
        die("setresuid");
    /* So that /proc/self belongs to who we are now. */
    prctl(PR_SET_DUMPABLE, 1);
}

static void worker_main(const char *top, uid_t uid, const char *user, unsigned share)
{
    static struct worker worker;

    worker.user = user;
    stage_prepare(top, options.build, uid);
    become(uid);
    stage_new(&worker.stage, top, options.build);
    outside_new(&worker.outside, &worker.stage);
    work(&worker, share);
    outside_free(&worker.outside);
}

/* All attacks as one user, by all workers. */
static void run_as(uid_t uid, const char *user)
{
    char tops[WORKERS][PATH_ROOM];
    pid_t pids[WORKERS];
    int status;

    for (unsigned i = 0; i < WORKERS; i++) {
        snprintf(tops[i], PATH_ROOM, "/tmp/escape.XXXXXX");
        if (mkdtemp(tops[i]) == NULL || chmod(tops[i], 0755) < 0)
            die(tops[i]);
        pids[i] = fork();
        if (pids[i] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            worker_main(tops[i], uid, user, i);
            _exit(0);
        }
    }
    for (unsigned i = 0; i < WORKERS; i++) {
        if (pids[i] < 0 || waitpid(pids[i], &status, 0) < 0 || status != 0) {
            options.results[RESULT_FAIL]++;
            say("FAIL worker %u (%s): ended with status %x", i, user, (unsigned)status);
        }
        stage_remove(tops[i]);
    }
}

static bool is_there(const char *program)
{
    char command[64];

    snprintf(command, sizeof command, "command -v %s >/dev/null", program);
    return system(command) == 0; // NOLINT(cert-env33-c)
}

int main(int argc, char **argv)
{
    const struct passwd *nobody = getpwnam("nobody");

    if (argc == 2 && strcmp(argv[1], "--victim") == 0)
        return victim_main();
    argv++;
    if (*argv != NULL && strcmp(*argv, "-v") == 0) {
        options.verbose = true;
        argv++;
    }
    options.names = argv;
    options.build = getenv("BUILD") == NULL ? "build" : getenv("BUILD");
    options.has_bwrap = is_there("bwrap");
    options.all = getenv("ESCAPE_ALL") != NULL;
    options.results = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (options.results == MAP_FAILED)
        die("mmap");
    if (!options.has_bwrap) {
        options.results[RESULT_SKIP]++;
        say("SKIP bwrap: package bubblewrap");
    }
    options.users = geteuid() == 0 && nobody != NULL ? 2 : 1;
    run_as(geteuid(), geteuid() == 0 ? "root" : "user");
    if (options.users == 2 && nobody != NULL)
        run_as(nobody->pw_uid, "nobody");
    say("Pass: %u, fail: %u, skip: %u.", options.results[RESULT_PASS], options.results[RESULT_FAIL],
        options.results[RESULT_SKIP]);
    return options.results[RESULT_FAIL] == 0 ? 0 : 1;
}
