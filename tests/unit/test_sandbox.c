/* SPDX-License-Identifier: MIT */
/* The sandboxes of cordon.h: what they wrap runs inside, and what they refuse to wrap. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <greatest.h>

#include "cordon.h"
#include "support_child.h"
#include "support_tree.h"
#include "support_wall.h"

static struct tree tree;
static char path[3 * TREE_TEXT]; /* the PATH, with the build directory in front */

#define NEEDS_WALL()                  \
    do {                              \
        if (lacks_landlock() != NULL) \
            SKIPm(lacks_landlock());  \
    } while (0)

static int run(char *const argv[])
{
    int status;
    pid_t pid;

    if (posix_spawn(&pid, argv[0], NULL, NULL, argv, environ) != 0 || waitpid(pid, &status, 0) < 0)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int wrap_sh(cordon_sandbox *sandbox, const char *script, char ***wrapped)
{
    const char *argv[] = {"/bin/sh", "-c", script, NULL};

    return cordon_sandbox_wrap(sandbox, (char *const *)argv, wrapped);
}

/* What a script of the shell ends with in a sandbox that `prepare` had something to do with. */
static int outcome(const char *script, int (*prepare)(cordon_sandbox *sandbox))
{
    cordon_sandbox *sandbox;
    char **argv;
    int error = cordon_sandbox_new(tree.root, &sandbox);

    if (error < 0)
        return error;
    if (prepare != NULL)
        error = prepare(sandbox);
    if (error == 0)
        error = wrap_sh(sandbox, script, &argv);
    if (error == 0) {
        error = run(argv);
        cordon_argv_free(argv);
    } else {
        printf("%s\n", cordon_sandbox_trouble(sandbox));
    }
    cordon_sandbox_free(sandbox);
    return error;
}

static int grant_out(cordon_sandbox *sandbox)
{
    char out[TREE_TEXT + 8];

    snprintf(out, sizeof out, "%s/OUT", tree.base);
    return cordon_sandbox_read(sandbox, out);
}

static int open_out(cordon_sandbox *sandbox)
{
    char out[TREE_TEXT + 8];

    snprintf(out, sizeof out, "%s/OUT", tree.base);
    return cordon_sandbox_write(sandbox, out);
}

static int deny_f(cordon_sandbox *sandbox)
{
    return cordon_sandbox_deny(sandbox, "f*");
}

static int open_network(cordon_sandbox *sandbox)
{
    return cordon_sandbox_network(sandbox, CORDON_NET_OPEN);
}

static int use_native(cordon_sandbox *sandbox)
{
    return cordon_sandbox_backend(sandbox, "native");
}

TEST what_is_wrapped_runs_inside(void)
{
    char *bare[] = {(char *)"/bin/sh", (char *)"-c", (char *)"cat ../OUT/secret >/dev/null", NULL};

    NEEDS_WALL();
    if (getenv("SANITIZE") != NULL)
        SKIPm("a sanitized shim cannot be loaded into programs that are not");
    ASSERT_EQ(0, chdir(tree.root));
    ASSERT_EQ(7, outcome("exit 7", NULL));
    ASSERT_EQ(0, outcome("echo x >new && rm new", NULL));
    ASSERT_EQ(0, run(bare));
    ASSERT(outcome("cat ../OUT/secret", NULL) > 0);
    ASSERT_EQ(0, outcome("cat ../OUT/secret >/dev/null", grant_out));
    ASSERT(outcome("echo x >../OUT/new", grant_out) > 0);
    ASSERT_EQ(0, outcome("echo x >../OUT/new && rm ../OUT/new", open_out));
    ASSERT_EQ(0, outcome("cat f >/dev/null", NULL));
    ASSERT(outcome("cat f", deny_f) > 0);
    ASSERT_EQ(0, outcome("exit 0", open_network));
    ASSERT_EQ(0, outcome("exit 0", use_native));
    PASS();
}

TEST the_network_is_what_was_asked_for(void)
{
    cordon_sandbox *sandbox;
    char **argv;
    bool found = false;

    NEEDS_WALL();
    ASSERT_EQ(0, cordon_sandbox_new(tree.root, &sandbox));
    ASSERT_EQ(-EINVAL, cordon_sandbox_network(sandbox, (enum cordon_network)9));
    ASSERT_EQ(0, cordon_sandbox_network(sandbox, CORDON_NET_OPEN));
    ASSERT_EQ(0, wrap_sh(sandbox, ":", &argv));
    for (size_t i = 0; argv[i] != NULL && argv[i + 1] != NULL; i++)
        found = found || (strcmp(argv[i], "--net") == 0 && strcmp(argv[i + 1], "open") == 0);
    ASSERT(found);
    cordon_argv_free(argv);
    cordon_sandbox_free(sandbox);
    PASS();
}

TEST it_serves_once(void)
{
    cordon_sandbox *sandbox;
    char **argv = NULL;
    char **again = NULL;

    NEEDS_WALL();
    ASSERT_EQ(0, cordon_sandbox_new(tree.root, &sandbox));
    ASSERT_EQ(NULL, cordon_sandbox_backend_name(sandbox));
    errno = EXDEV;
    int before = lowest_free_fd();
    ASSERT_EQ(0, wrap_sh(sandbox, ":", &argv));
    ASSERT_EQ(before, lowest_free_fd());
    ASSERT_EQ(EXDEV, errno);
    ASSERT_STR_EQ("landlock", cordon_sandbox_backend_name(sandbox));
    ASSERT_EQ('/', argv[0][0]);
    ASSERT_EQ(CORDON_EUSED, wrap_sh(sandbox, ":", &again));
    ASSERT_EQ(NULL, again);
    ASSERT_EQ(CORDON_EUSED, cordon_sandbox_read(sandbox, "/usr"));
    ASSERT_EQ(CORDON_EUSED, cordon_sandbox_network(sandbox, CORDON_NET_OPEN));
    ASSERT_EQ(CORDON_EUSED, cordon_sandbox_backend(sandbox, "native"));
    cordon_argv_free(argv);
    cordon_sandbox_free(sandbox);
    PASS();
}

TEST what_is_malformed_is_refused(void)
{
    cordon_sandbox *sandbox = NULL;
    char **argv = NULL;

    ASSERT_EQ(CORDON_ERELATIVE, cordon_sandbox_new("relative", &sandbox));
    ASSERT_EQ(CORDON_EEMPTY, cordon_sandbox_new("", &sandbox));
    ASSERT_EQ(-ENOENT, cordon_sandbox_new("/no/such/directory", &sandbox));
    ASSERT_EQ(NULL, sandbox);
    ASSERT_EQ(0, cordon_sandbox_new(tree.root, &sandbox));
    ASSERT_EQ(CORDON_ERELATIVE, cordon_sandbox_read(sandbox, "relative"));
    ASSERT_EQ(CORDON_EEMPTY, cordon_sandbox_write(sandbox, ""));
    ASSERT_EQ(CORDON_EEMPTY, cordon_sandbox_deny(sandbox, ""));
    ASSERT_EQ(CORDON_EEMPTY, cordon_sandbox_backend(sandbox, ""));
    ASSERT_EQ(-EFAULT, cordon_sandbox_unix(sandbox, NULL));
    ASSERT_EQ(CORDON_EEMPTY, cordon_sandbox_wrap(sandbox, (char *[]){NULL}, &argv));
    ASSERT_EQ(0, cordon_sandbox_deny(sandbox, "[[:alpha:]]"));
    ASSERT_EQ(CORDON_EPOLICY, wrap_sh(sandbox, ":", &argv));
    ASSERT(strstr(cordon_sandbox_trouble(sandbox), "alpha") != NULL);
    ASSERT_EQ(NULL, argv);
    ASSERT_EQ(NULL, cordon_sandbox_backend_name(sandbox));
    cordon_sandbox_free(sandbox);

    ASSERT_EQ(0, cordon_sandbox_new(tree.root, &sandbox));
    ASSERT_EQ(0, cordon_sandbox_read(sandbox, "/no/such/file"));
    ASSERT_EQ(CORDON_EPOLICY, wrap_sh(sandbox, ":", &argv));
    ASSERT(strstr(cordon_sandbox_trouble(sandbox), "/no/such/file") != NULL);
    cordon_sandbox_free(sandbox);
    PASS();
}

/* In a process where something is missing; its exit status is 0 if all is as it should be. */
static bool apart(int (*check)(void))
{
    int status;

    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        _exit(check());
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static int wrap_with(const char *backend, const char *trouble)
{
    cordon_sandbox *sandbox;
    char **argv;

    if (cordon_sandbox_new(tree.root, &sandbox) != 0 ||
        cordon_sandbox_backend(sandbox, backend) != 0)
        return 0;
    int error = wrap_sh(sandbox, ":", &argv);
    if (strstr(cordon_sandbox_trouble(sandbox), trouble) == NULL) {
        printf("%s\n", cordon_sandbox_trouble(sandbox));
        fflush(NULL);
        error = 0;
    }
    cordon_sandbox_free(sandbox);
    return error;
}

static int without_namespaces(void)
{
    forbid_namespaces();
    return wrap_with("bwrap", "bwrap: ") != CORDON_EBACKEND;
}

static int without_landlock(void)
{
    forbid_landlock();
    return wrap_with("landlock", "landlock: ") != CORDON_EBACKEND;
}

static int without_command(void)
{
    setenv("PATH", "/no/such/directory", 1);
    return wrap_with("auto", "") != CORDON_ECOMMAND;
}

TEST what_is_missing_has_a_name(void)
{
    ASSERT(apart(without_namespaces));
    ASSERT(apart(without_landlock));
    ASSERT(apart(without_command));
    ASSERT_EQ(CORDON_EBACKEND, wrap_with("docker", "docker"));
    PASS();
}

static int with_children_ignored(void)
{
    cordon_sandbox *sandbox;
    char **argv;

    signal(SIGCHLD, SIG_IGN);
    return cordon_sandbox_new(tree.root, &sandbox) != 0 || wrap_sh(sandbox, ":", &argv) != 0;
}

TEST a_program_that_ignores_its_children_may_wrap(void)
{
    NEEDS_WALL();
    ASSERT(apart(with_children_ignored));
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    const char *build = getenv("BUILD");

    GREATEST_MAIN_BEGIN();
    if (build == NULL)
        build = "build";
    char *real = realpath(build, NULL);
    snprintf(path, sizeof path, "%s:%s", real ? real : "", getenv("PATH") ? getenv("PATH") : "");
    free(real);
    setenv("PATH", path, 1);
    tree_make(&tree, "f; d/g");
    RUN_TEST(what_is_wrapped_runs_inside);
    RUN_TEST(the_network_is_what_was_asked_for);
    RUN_TEST(it_serves_once);
    RUN_TEST(what_is_malformed_is_refused);
    RUN_TEST(what_is_missing_has_a_name);
    RUN_TEST(a_program_that_ignores_its_children_may_wrap);
    tree_remove(&tree);
    GREATEST_MAIN_END();
}
