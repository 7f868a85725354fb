/* SPDX-License-Identifier: MIT */
/*
 * Which backend is taken, and what is said where none will do: on this machine, and on poorer ones
 * that a filter or a mount stands in for.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <greatest.h>

#include "bwrap.h"
#include "confine.h"
#include "support_wall.h"

#define NEEDS(reason)                   \
    do {                                \
        const char *lacking = (reason); \
        if (lacking != NULL)            \
            SKIPm(lacking);             \
    } while (0)

#define COUNT(array) (sizeof(array) / sizeof *(array))

#define DENY "deny $ABS/secret"

static struct wall wall;

/* What choose says, in a child that something is done to before: the name of the backend, or
 * "none: NAME: TROUBLE; NAME: TROUBLE". The caller frees nothing. */
static const char *choice(void (*before)(void), const char *name, bool strict, const char *rules,
                          enum image_net net)
{
    static char text[4096];
    ssize_t length;
    int ends[2];

    if (pipe(ends) < 0)
        return "no pipe";
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        struct image *image = wall_image(&wall, name, rules, net);
        struct backend_troubles troubles;
        if (before != NULL)
            before();
        const struct backend *backend = backend_choose(image, name, strict, &troubles);
        char all[4096];
        size_t at = (size_t)snprintf(all, sizeof all, "%s", backend ? backend->name : "none");
        for (size_t i = 0; backend == NULL && i < troubles.count; i++) {
            char line[1024];
            trouble_print(&troubles.troubles[i], line, sizeof line);
            at += (size_t)snprintf(all + at, sizeof all - at, "; %s: %s", troubles.names[i], line);
        }
        free(image);
        _exit(write(ends[1], all, at) != (ssize_t)at);
    }
    close(ends[1]);
    length = read(ends[0], text, sizeof text - 1);
    text[length < 0 ? 0 : length] = '\0';
    close(ends[0]);
    waitpid(pid, NULL, 0);
    return text;
}

static void forbid_both(void)
{
    forbid_landlock();
    forbid_namespaces();
}

static void enter_landlock(void)
{
    struct image *image = wall_image(&wall, "landlock", "read /", NET_DENY);
    struct trouble trouble;

    if (backend_enter(&backend_landlock, image, &trouble) < 0)
        _exit(EXIT_FAILURE);
    free(image);
}

/* As a container's: with something in it covered, no other can be mounted from below. */
static void mask_proc(void)
{
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("/dev/null", "/proc/timer_list", NULL, MS_BIND, NULL) < 0)
        _exit(EXIT_FAILURE);
}

#define ASSERT_CHOICE(wanted, ...)             \
    do {                                       \
        const char *got = choice(__VA_ARGS__); \
        ASSERT_STR_EQ(wanted, got);            \
    } while (0)

#define ASSERT_SAYS(part, ...)                                                     \
    do {                                                                           \
        const char *got = choice(__VA_ARGS__);                                     \
        ASSERTm(got, strncmp(got, "none; ", 6) == 0 && strstr(got, part) != NULL); \
    } while (0)

TEST auto_takes_the_cheapest_that_holds_enough(void)
{
    NEEDS(lacks_any());
    ASSERT_CHOICE("landlock", NULL, "auto", false, "", NET_DENY);
    ASSERT_CHOICE("landlock", NULL, "auto", false, DENY, NET_OPEN);
    ASSERT_CHOICE("bwrap", NULL, "auto", true, DENY, NET_DENY);
    ASSERT_CHOICE("bwrap", NULL, "auto", false, "unix $OUT/socket", NET_DENY);
    ASSERT_CHOICE("landlock", forbid_namespaces, "auto", false, DENY, NET_DENY);
    ASSERT_CHOICE("bwrap", forbid_landlock, "auto", false, DENY, NET_DENY);
    PASS();
}

TEST a_named_one_is_taken_or_none(void)
{
    NEEDS(lacks_any());
    ASSERT_CHOICE("landlock", NULL, "landlock", false, DENY, NET_DENY);
    ASSERT_CHOICE("bwrap", NULL, "bwrap", false, DENY, NET_DENY);
    ASSERT_CHOICE("native", NULL, "native", false, DENY, NET_DENY);
    ASSERT_SAYS("landlock_*", forbid_landlock, "landlock", false, "", NET_DENY);
    ASSERT_SAYS("user namespaces are forbidden", forbid_namespaces, "bwrap", false, "", NET_DENY);
    ASSERT_SAYS("there is none of that name", NULL, "docker", false, "", NET_DENY);
    PASS();
}

TEST what_nothing_holds_is_an_error(void)
{
    NEEDS(lacks_any());
    ASSERT_SAYS("landlock_*", forbid_both, "auto", false, "", NET_DENY);
    ASSERT_SAYS("bwrap: ", forbid_both, "auto", false, "", NET_DENY);
    ASSERT_SAYS("would not hold \"deny /", NULL, "landlock", true, DENY, NET_DENY);
    ASSERT_SAYS("*.pem", NULL, "auto", true, "deny $ABS/**/*.pem", NET_DENY);
    ASSERT_SAYS("use -b bwrap", NULL, "landlock", false, "unix $OUT/socket", NET_DENY);
    ASSERT_SAYS("would hold", NULL, "native", true, "", NET_DENY);
    ASSERT_SAYS("\"unix /", forbid_landlock, "bwrap", false, "unix $OUT/socket", NET_OPEN);
    for (size_t i = 0; i < 3; i++)
        ASSERT_SAYS("--net deny", NULL, ((const char *[]){"auto", "landlock", "bwrap"})[i], false,
                    "", NET_LOOPBACK);
    PASS();
}

/* A guess is what a trial would find, or none. */
TEST guesses_are_right(void)
{
    static const struct {
        const char *name;
        const char *rules;
        const char *guess;
        enum image_net net;
        bool strict;
    } rows[] = {
        {"auto", "", "landlock", NET_DENY, false},
        {"auto", DENY, "landlock", NET_OPEN, false},
        {"auto", DENY, "bwrap", NET_DENY, true},
        {"auto", "unix $OUT/socket", "bwrap", NET_DENY, false},
        {"auto", "deny $ABS/**/*.pem", NULL, NET_DENY, true},
        {"auto", "", NULL, NET_LOOPBACK, false},
        {"landlock", DENY, "landlock", NET_DENY, false},
        {"landlock", DENY, NULL, NET_DENY, true},
        {"landlock", "unix $OUT/socket", NULL, NET_DENY, false},
        {"bwrap", "", "bwrap", NET_DENY, false},
        {"native", "", "native", NET_DENY, false},
        {"native", "", NULL, NET_DENY, true},
        {"docker", "", NULL, NET_DENY, false},
    };

    NEEDS(lacks_any());
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct image *image = wall_image(&wall, rows[i].name, rows[i].rules, rows[i].net);
        const struct backend *guess = backend_guess(image, rows[i].name, rows[i].strict);
        /* In a container /proc may be such that only a trial can tell. */
        if (guess != NULL || rows[i].guess == NULL || strcmp(rows[i].guess, "bwrap") != 0)
            ASSERT_STR_EQm(rows[i].name, rows[i].guess ? rows[i].guess : "none",
                           guess ? guess->name : "none");
        free(image);
    }
    PASS();
}

TEST walls_inside_of_a_wall(void)
{
    NEEDS(lacks_any());
    ASSERT_CHOICE("landlock", enter_landlock, "auto", false, "", NET_DENY);
    ASSERT_SAYS("-b landlock", enter_landlock, "bwrap", false, "", NET_DENY);
    PASS();
}

TEST a_masked_proc_is_shown_as_it_is(void)
{
    int status;

    NEEDS(geteuid() != 0 ? "only root can cover /proc" : lacks_bwrap());
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        struct image *image = wall_image(&wall, "bwrap", DENY, NET_DENY);
        struct trouble trouble;
        mask_proc();
        if (backend_bwrap.probe(image, &trouble) < 0) {
            printf("%s\n", trouble.words);
            fflush(NULL);
            _exit(2);
        }
        if (!bwrap_needs_host_proc())
            _exit(3);
        _exit(wall_try(&wall, image, "proc_self") != 0 ||
              wall_try(&wall, image, "read") != ENOENT ||
              wall_try(&wall, image, "sysctl") != EROFS ||
              wall_try(&wall, image, "environ") != EACCES ||
              wall_try(&wall, image, "root_of") != EACCES ||
              wall_try(&wall, image, "kill") != EPERM || wall_try(&wall, image, "ptrace") != EPERM);
    }
    ASSERT_EQ(pid, waitpid(pid, &status, 0));
    ASSERT_EQ_FMT(0, status, "%d");
    PASS();
}

static int sleep_long(const struct image *image, struct trouble *trouble)
{
    (void)image;
    (void)trouble;
    return (int)sleep(60);
}

static int die(const struct image *image, struct trouble *trouble)
{
    (void)image;
    (void)trouble;
    abort();
}

TEST a_trial_has_an_end(void)
{
    struct trouble trouble;

    ASSERT_EQ(-1, try_apart(sleep_long, NULL, 200, &trouble));
    ASSERT(strstr(trouble.words, "in time") != NULL);
    ASSERT_EQ(-1, try_apart(die, NULL, TRIAL_LIMIT, &trouble));
    PASS();
}

/* --- the helper inside ------------------------------------------------------------------------ */

static int run_sh(const char *backend, const char *script)
{
    struct image *image = wall_image(&wall, backend, DENY, NET_DENY);
    int status = wall_run(&wall, image, (const char *[]){"sh", "-c", script, NULL});

    free(image);
    return status;
}

TEST the_helper_passes_everything_on(void)
{
    struct image *image;

    NEEDS(lacks_bwrap());
    ASSERT_EQ(7, run_sh("bwrap", "exit 7"));
    ASSERT_EQ(128 + SIGTERM, run_sh("bwrap", "kill -TERM $$"));
    ASSERT_EQ(128 + SIGINT, run_sh("bwrap", "kill -INT $$"));
    ASSERT_EQ(0, run_sh("bwrap", "test \"$PWD\" = \"$(pwd)\" && test -f f"));
    image = wall_image(&wall, "bwrap", DENY, NET_DENY);
    ASSERT_EQ(127, wall_run(&wall, image, (const char *[]){"no-such-command", NULL}));
    ASSERT_EQ(126, wall_run(&wall, image, (const char *[]){"./f", NULL}));
    free(image);
    PASS();
}

TEST ignored_signals_stay_ignored(void)
{
    NEEDS(lacks_bwrap());
    signal(SIGHUP, SIG_IGN);
    int ignored = run_sh("bwrap", "kill -HUP $$; exit 3");
    signal(SIGHUP, SIG_DFL);
    int ended = run_sh("bwrap", "kill -HUP $$; exit 3");
    ASSERT_EQ(3, ignored);
    ASSERT_EQ(128 + SIGHUP, ended);
    PASS();
}

/* For a command that no shim can enter the helper answers. */
TEST the_helper_answers_for_who_is_alone(void)
{
    char answer[2] = "";
    char number[16];
    int ends[2];

    NEEDS(lacks_bwrap());
    ASSERT_EQ(0, pipe(ends));
    snprintf(number, sizeof number, "%d", ends[1]);
    setenv("CORDON_HANDSHAKE", number, 1);
    setenv("CORDON_ALONE", "1", 1);
    int status = run_sh("bwrap", "test -z \"$CORDON_HANDSHAKE$CORDON_ALONE\"");
    unsetenv("CORDON_ALONE");
    unsetenv("CORDON_HANDSHAKE");
    close(ends[1]);
    ssize_t got = read(ends[0], answer, sizeof answer);
    close(ends[0]);
    ASSERT_EQ(0, status);
    ASSERT_EQ(1, got);
    ASSERT_EQ('k', answer[0]);
    PASS();
}

/* The harness of this test has what lies outside open as its standard input. */
TEST a_directory_is_no_standard_input(void)
{
    int saved = dup(STDIN_FILENO);
    int out = open(wall.out, O_RDONLY | O_DIRECTORY);

    NEEDS(lacks_bwrap());
    dup2(out, STDIN_FILENO);
    int with_slash = run_sh("bwrap", "test -d /dev/stdin/");
    int secret = run_sh("bwrap", "cat /dev/stdin/secret 2>/dev/null");
    int bare = wall_run(&wall, NULL,
                        (const char *[]){"sh", "-c", "cat /dev/stdin/secret >/dev/null", NULL});
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(out);
    ASSERT_EQ(0, bare);
    ASSERT(with_slash != 0);
    ASSERT(secret != 0);
    PASS();
}

/* As the terminal does it for Ctrl-C. */
TEST a_signal_to_the_group_is_the_commands_own(void)
{
    char ready[TREE_TEXT + 8];
    int status;

    NEEDS(lacks_bwrap());
    snprintf(ready, sizeof ready, "%s/ready", wall.tree.root);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        struct image *image = wall_image(&wall, "bwrap", "", NET_DENY);
        wall_exec(&wall, image,
                  (const char *[]){
                      "sh", "-c", "trap 'exit 9' INT; >ready; while :; do sleep 0.01; done", NULL});
        _exit(125);
    }
    for (int i = 0; i < 500 && access(ready, F_OK) != 0; i++)
        usleep(10000);
    kill(-pid, SIGINT);
    ASSERT_EQ(pid, waitpid(pid, &status, 0));
    unlink(ready);
    ASSERT(WIFEXITED(status));
    ASSERT_EQ(9, WEXITSTATUS(status));
    PASS();
}

/* A library that is not there: every program that is told to load it says so. */
TEST only_the_command_is_preloaded(void)
{
    static char said[2000];
    size_t length = 0;
    ssize_t got;
    unsigned times = 0;
    int ends[2];

    NEEDS(lacks_bwrap());
    ASSERT_EQ(0, pipe(ends));
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        struct image *image = wall_image(&wall, "bwrap", "", NET_DENY);
        setenv("LD_PRELOAD", "/no/such/library.so", 1);
        dup2(ends[1], STDERR_FILENO);
        wall_exec(&wall, image, (const char *[]){"sh", "-c", "test \"$LD_PRELOAD\"", NULL});
        _exit(125);
    }
    close(ends[1]);
    while (length < sizeof said - 1 &&
           (got = read(ends[0], said + length, sizeof said - 1 - length)) > 0)
        length += (size_t)got;
    said[length] = '\0';
    close(ends[0]);
    int status;
    ASSERT_EQ(pid, waitpid(pid, &status, 0));
    ASSERT_EQ_FMTm(said, 0, status, "%d");
    for (const char *at = said; (at = strstr(at, "library.so")) != NULL; at++)
        times++;
    ASSERT_EQ_FMTm(said, 1U, times, "%u");
    PASS();
}

TEST nothing_is_left_behind(void)
{
    NEEDS(lacks_bwrap());
    char *before = tree_describe(&wall.tree, true);
    struct image *image = wall_image(&wall, "bwrap",
                                     "deny $ABS/missing; deny $ABS/not/there; protect $ABS/.idea;"
                                     "deny $ABS/secret; deny $ABS/vault; read $ABS/vault/open",
                                     NET_DENY);
    int status = wall_run(&wall, image, (const char *[]){"true", NULL});
    char *after = tree_describe(&wall.tree, true);
    ASSERT_EQ(0, status);
    ASSERT_STR_EQ(before, after);
    free(before);
    free(after);
    free(image);
    PASS();
}

TEST what_bwrap_reports_is_read(void)
{
    struct bwrap_status status =
        bwrap_status("{ \"child-pid\": 42, \"ipc-namespace\": 1 }\n{ \"exit-code\": 3 }\n");

    ASSERT_EQ(42, status.child);
    ASSERT_EQ(3, status.exit_code);
    status = bwrap_status("");
    ASSERT_EQ(0, status.child);
    ASSERT_EQ(-1, status.exit_code);
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    wall_main(argc, argv);
    GREATEST_MAIN_BEGIN();
    wall_build(&wall, geteuid());
    RUN_TEST(auto_takes_the_cheapest_that_holds_enough);
    RUN_TEST(a_named_one_is_taken_or_none);
    RUN_TEST(what_nothing_holds_is_an_error);
    RUN_TEST(guesses_are_right);
    RUN_TEST(walls_inside_of_a_wall);
    RUN_TEST(a_masked_proc_is_shown_as_it_is);
    RUN_TEST(a_trial_has_an_end);
    RUN_TEST(the_helper_passes_everything_on);
    RUN_TEST(ignored_signals_stay_ignored);
    RUN_TEST(the_helper_answers_for_who_is_alone);
    RUN_TEST(a_directory_is_no_standard_input);
    RUN_TEST(a_signal_to_the_group_is_the_commands_own);
    RUN_TEST(only_the_command_is_preloaded);
    RUN_TEST(nothing_is_left_behind);
    RUN_TEST(what_bwrap_reports_is_read);
    wall_remove(&wall);
    GREATEST_MAIN_END();
}
