/* SPDX-License-Identifier: MIT */
/*
 * A directory must not come to a place where other rules hold below it: not by a rename, and not by
 * one that began as the rename of a file.
 *
 *     ws/f           a file that another thread exchanges ...
 *     ws/d/hooks/    ... with a directory
 *     ws/.git        missing; ws/.git/hooks is protected
 */
#include <errno.h>
#include <fcntl.h>
#include <greatest.h>
#include <limits.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "place.h"

static char top[PATH_MAX];
static char protected_path[PATH_MAX + 16];
static struct policy *policy;
static _Atomic bool done;

static int rename_to(const char *from, const char *to)
{
    const struct scope scope = {.policy = policy, .view = &view_self};
    const struct start here = {.fd = AT_FDCWD, .path = top};

    return place_rename(&scope, &here, from, &here, to, 0, NULL);
}

static void *exchange(void *unused)
{
    while (!atomic_load(&done))
        renameat2(AT_FDCWD, "f", AT_FDCWD, "d", RENAME_EXCHANGE);
    return unused;
}

TEST neither_a_directory_nor_a_file_takes_the_place(void)
{
    ASSERT_EQ(-EACCES, rename_to("d", ".git"));
    ASSERT_EQ(-EACCES, rename_to("f", ".git"));
    ASSERT_EQ(0, rename_to("f", "g"));
    ASSERT_EQ(0, rename_to("g", "f"));
    ASSERT_EQ(0, rename_to("d", "e"));
    ASSERT_EQ(0, rename_to("e", "d"));
    PASS();
}

TEST nor_what_was_a_file_a_moment_ago(void)
{
    enum { CALLS = 20000 };
    pthread_t thread;

    ASSERT_EQ(0, pthread_create(&thread, NULL, exchange, NULL));
    for (int i = 0; i < CALLS && access(".git/hooks", F_OK) < 0; i++)
        rename_to("f", ".git");
    atomic_store(&done, true);
    pthread_join(thread, NULL);
    ASSERT_EQ(-1, access(".git/hooks", F_OK));
    PASS();
}

static int set_up(void)
{
    char template[] = "/tmp/cordon-move-XXXXXX";
    struct policy_builder *builder = policy_builder_new();

    if (mkdtemp(template) == NULL || realpath(template, top) == NULL || chdir(top) < 0)
        return -1;
    if (mkdir("d", 0700) < 0 || mkdir("d/hooks", 0700) < 0 || mknod("f", S_IFREG | 0600, 0) < 0)
        return -1;
    snprintf(protected_path, sizeof protected_path, "%s/.git/hooks", top);
    policy_add(builder, RULE_WRITE, top, "test");
    policy_add(builder, RULE_PROTECT, protected_path, "test");
    policy = policy_build(builder);
    policy_builder_free(builder);
    return policy == NULL ? -1 : 0;
}

static void tear_down(void)
{
    static const char *const names[] = {"d/hooks", "f/hooks", ".git/hooks", "d", "f", ".git"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        remove(names[i]);
    rmdir(top);
    free(policy);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    int passed;

    GREATEST_MAIN_BEGIN();
    if (set_up() < 0)
        return 2;
    RUN_TEST(neither_a_directory_nor_a_file_takes_the_place);
    RUN_TEST(nor_what_was_a_file_a_moment_ago);
    tear_down();
    GREATEST_PRINT_REPORT();
    passed = greatest_all_passed();
    return passed ? EXIT_SUCCESS : EXIT_FAILURE;
}
