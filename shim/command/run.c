/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bwrap.h"
#include "command.h"
#include "descriptors.h"
#include "environment.h"
#include "guardian.h"
#include "print.h"
#include "program.h"
#include "session.h"
#include "supervisor.h"

/* All that the process of the command has to know. */
struct run {
    struct session session;
    struct program program;
    struct standard standard;
    struct signals signals;
    int handshake[2];
    int report[2]; /* where bwrap says how far it came; or -1 */
    int stops[2];  /* where the supervisor says that the command was stopped; or -1 */
    int log;       /* for the supervisor; or -1 */
    char **argv;
};

static void fail(struct failure *failure, int status, const char *subject, const char *words)
{
    failure->status = status;
    snprintf(failure->text, sizeof failure->text, "%.400s: %.500s", subject, words);
}

static void fail_at_wall(struct failure *failure, const struct backend *backend,
                         const struct trouble *trouble)
{
    char line[900];

    trouble_print(trouble, line, sizeof line);
    fail(failure, EXIT_SETUP, backend->name, line);
    failure->wall = true;
}

static void become_program(const struct run *run, struct failure *failure)
{
    int error = program_become(run->program.path, run->argv);

    fail(failure, error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN, run->program.path,
         strerror(error));
}

static void pass_on(int fd)
{
    if (fd >= 0)
        fcntl(fd, F_SETFD, 0);
}

/* bwrap comes first, then cordon again, which becomes the program. */
static void become_wrapped(const struct run *run, struct failure *failure)
{
    const struct session *session = &run->session;
    struct trouble trouble = {.step = ""};
    char here[PATH_MAX];
    char **wrapped;
    struct bwrap_wants wants = {.cwd = here,
                                .file = run->program.path,
                                .status_fd = run->report[1],
                                .log = run->log,
                                .stops = run->stops[1],
                                .host_proc = bwrap_needs_host_proc()};

    if (getcwd(here, sizeof here) == NULL) {
        fail(failure, EXIT_SETUP, "the current directory", strerror(errno));
        return;
    }
    pass_on(run->report[1]);
    pass_on(run->stops[1]);
    if (run->log > STDERR_FILENO)
        pass_on(run->log);
    wrapped = bwrap_argv(session->image, &wants, run->argv, &trouble);
    if (wrapped == NULL) {
        fail_at_wall(failure, session->backend, &trouble);
        return;
    }
    fail(failure, EXIT_SETUP, wrapped[0], strerror(-backend_exec(wrapped)));
    failure->wall = true;
}

/* Without a wall a program that the shim did not enter would be free. Cordon itself goes first:
 * what the shim enters there it enters as well in the program that it then becomes. */
static void become_native(const struct run *run, struct failure *failure)
{
    const char *own = run->session.command;
    size_t count = 0;
    char **words;

    while (run->argv[count] != NULL)
        count++;
    words = calloc(count + 4, sizeof *words);
    if (words != NULL) {
        words[0] = (char *)"cordon";
        words[1] = (char *)"--loaded";
        words[2] = (char *)run->program.path;
        memcpy(words + 3, run->argv, count * sizeof *words);
        execv(own, words);
        free(words);
    }
    fail(failure, EXIT_SETUP, own, strerror(errno));
}

/* The wall, with a supervisor in it who is this very process, or without. */
static int build_wall(const struct run *run, struct trouble *trouble)
{
    const struct session *session = &run->session;
    struct supervised what = {.image = session->image, .log = run->log, .stops = run->stops[1]};

    if (session->image->supervise == SUPERVISE_NONE)
        return backend_enter(session->backend, session->image, trouble);
    session->backend->plan(session->image, &what.confinement);
    return supervisor_begin(&what, trouble);
}

/* What the environment has to carry: all, unless a supervisor hands it in. */
static int add_variables(const struct run *run)
{
    const struct session *session = &run->session;

    if (session->image->supervise == SUPERVISE_NONE)
        return environment_add_shim(session, run->handshake[1]);
    return session->backend->wrap != NULL ? environment_add_image(session) : 0;
}

static void become(const void *data, struct failure *failure)
{
    const struct run *run = data;
    const struct session *session = &run->session;
    struct trouble trouble = {.step = ""};

    if (strcmp(session->preload, session->shim) != 0 &&
        symlink(session->shim, session->preload) < 0) {
        fail(failure, EXIT_SETUP, session->preload, strerror(errno));
        return;
    }
    pass_on(run->handshake[1]);
    if (add_variables(run) < 0) {
        fail(failure, EXIT_SETUP, "the environment", strerror(ENOMEM));
        return;
    }
    descriptors_end(&run->standard);
    if (session->backend->wrap != NULL)
        become_wrapped(run, failure);
    else if (build_wall(run, &trouble) < 0)
        fail_at_wall(failure, session->backend, &trouble);
    else if (session->backend == &backend_native)
        become_native(run, failure);
    else
        become_program(run, failure);
}

/* What the user may want to know before it starts. */
static void say_what_comes(const struct run *run)
{
    const struct session *session = &run->session;
    const struct options *options = session->options;

    if (!options->quiet && session->backend == &backend_native)
        remark(options->observe ? "--observe: nothing is refused, only recorded"
                                : "native: no wall: only the shim keeps the command inside");
    if (!options->verbose)
        return;
    if (session->unsupervised[0] != '\0')
        remark("no supervisor: %s: static programs meet the wall alone", session->unsupervised);
    remark("workspace %s, backend %s", session->root, session->backend->name);
    if (run->program.alone != NULL)
        remark("%s: the shim cannot enter it: %s; the wall%s holds it", run->program.path,
               run->program.alone,
               session->image->supervise == SUPERVISE_NONE ? " alone" : " and the supervisor");
    if (run->program.privileged)
        remark("%s: runs without its privilege", run->program.path);
}

/* How cordon ends after what became of the command. */
static int conclude(const struct run *run, const struct outcome *outcome)
{
    if (outcome->left)
        remark("some process or temporary file of the command could not be removed");
    switch (outcome->kind) {
    case OUTCOME_ENDED:
        end_like(outcome->status);
    case OUTCOME_NOT_STARTED:
        setup_error("%s", outcome->failure.text);
        return outcome->failure.status;
    case OUTCOME_NO_SHIM:
        /* What stands between has said why itself. */
        if (run->session.backend->wrap != NULL && outcome->status != -1 &&
            WIFEXITED(outcome->status) && WEXITSTATUS(outcome->status) >= EXIT_SETUP &&
            WEXITSTATUS(outcome->status) <= EXIT_NOT_FOUND)
            return WEXITSTATUS(outcome->status);
        return setup_error("%s: %s: the shim did not answer: the command was ended",
                           run->session.backend->name, run->program.path);
    case OUTCOME_LOST:
        return setup_error("the guardian was killed: the command was ended");
    }
    return EXIT_SETUP;
}

/* Whether bwrap gave up before there was a command: it then ends as many a command does. */
static bool gave_up(const struct run *run, const struct outcome *outcome)
{
    char text[4096];
    size_t length = 0;
    ssize_t n;

    if (run->report[0] < 0 || outcome->status == -1 || !WIFEXITED(outcome->status) ||
        WEXITSTATUS(outcome->status) != 1)
        return false;
    while (length < sizeof text - 1 &&
           (n = read(run->report[0], text + length, sizeof text - 1 - length)) > 0)
        length += (size_t)n;
    text[length] = '\0';
    return bwrap_status(text).exit_code < 0;
}

static void forget(int ends[2])
{
    for (int i = 0; i < 2; i++) {
        if (ends[i] >= 0)
            close(ends[i]);
        ends[i] = -1;
    }
}

/* One attempt. *again is set if it failed at the wall. */
static int guard(struct run *run, struct outcome *outcome, bool *again)
{
    const struct session *session = &run->session;
    const bool supervised = session->image->supervise != SUPERVISE_NONE;
    struct guarded guarded = {
        .tmp = session->options->tmp == TMP_PRIVATE ? session->tmp : NULL,
        .cache = session->cache,
        .cache_home = session->cache_home[0] != '\0' ? session->cache_home : NULL,
        .below = (session->backend->wrap != NULL ? 2 : 0) + (supervised ? 1 : 0),
        .become = become,
        .data = run,
        .signals = &run->signals,
    };
    int error;

    forget(run->handshake);
    forget(run->report);
    forget(run->stops);
    /* A program without the shim is judged by the supervisor all the same. */
    if ((run->program.alone == NULL && !supervised && pipe2(run->handshake, O_CLOEXEC) < 0) ||
        (session->backend->wrap != NULL && pipe2(run->report, O_CLOEXEC) < 0) ||
        (supervised && pipe2(run->stops, O_CLOEXEC) < 0))
        return setup_error("a pipe: %s", strerror(errno));
    memcpy(guarded.handshake, run->handshake, sizeof guarded.handshake);
    memcpy(guarded.report, run->report, sizeof guarded.report);
    memcpy(guarded.stops, run->stops, sizeof guarded.stops);
    run->log = supervised ? session_open_log(session) : -1;
    error = guardian_run(&guarded, outcome);
    if (error < 0)
        return setup_error("the guardian cannot be started: %s", strerror(-error));
    run->handshake[0] = run->handshake[1] = run->report[1] = -1;
    run->stops[0] = run->stops[1] = -1;
    if (run->log > STDERR_FILENO)
        close(run->log);
    *again =
        (outcome->kind == OUTCOME_NOT_STARTED && outcome->failure.wall) || gave_up(run, outcome);
    return 0;
}

static int start(struct run *run)
{
    struct outcome outcome = {.kind = OUTCOME_LOST};
    bool again = false;
    int status;

    status = program_find(run->argv[0], run->session.policy, &run->program);
    if (status != 0)
        return status;
    status = session_choose(&run->session, true);
    if (status != 0)
        return status;
    if (run->session.backend == &backend_native && run->program.alone != NULL) {
        complain(run->program.path, "may not be run without a wall: the shim cannot enter it",
                 run->program.alone);
        return EXIT_NOT_RUN;
    }
    say_what_comes(run);
    status = guard(run, &outcome, &again);
    /* The cheap choice was wrong: now they are tried one by one. */
    if (status == 0 && again) {
        status = session_choose(&run->session, false);
        if (status == 0)
            status = guard(run, &outcome, &again);
    }
    return status != 0 ? status : conclude(run, &outcome);
}

static int prepare(struct run *run, const struct options *options)
{
    int status = session_begin(&run->session, options, options->print);
    int error = 0;

    if (status != 0)
        return status;
    if (options->print)
        return session_print(&run->session);
    error = descriptors_close(run->session.policy, options);
    if (error == 0)
        error = environment_change(&run->session);
    return error < 0 ? setup_error("%s", strerror(-error)) : start(run);
}

int command_run(int argc, char **argv)
{
    static struct run run = {
        .handshake = {-1, -1}, .report = {-1, -1}, .stops = {-1, -1}, .log = -1};
    struct options options;
    int status;
    int first;

    if (descriptors_begin(&run.standard) < 0)
        return EXIT_SETUP;
    first = options_parse(argc, argv, "run", &options, &status);
    if (first >= 0 && first == argc && !options.print)
        status = usage_error("which command is to be run?");
    else if (first >= 0 && first < argc && strcmp(argv[0], "run") != 0 &&
             strcmp(argv[first - 1], "--") != 0)
        /* Else a misspelt command of our own would be run. */
        status = usage_error("put -- before \"%s\" to run it", argv[first]);
    if (status == 0 && first >= 0) {
        run.argv = argv + first;
        signals_take(&run.signals);
        status = prepare(&run, &options);
        session_end(&run.session);
        signals_give_back(&run.signals);
    }
    options_release(&options);
    return status;
}
