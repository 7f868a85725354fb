/* SPDX-License-Identifier: MIT */
/*
 * The default policy: what it opens, what it keeps shut, what it protects, and that files in the
 * workspace cannot talk it into more. ROOT of the tree is the workspace, OUT the home directory.
 */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "decide.h"
#include "defaults.h"
#include "greatest.h"
#include "support_tree.h"

static struct tree tree;
static struct policy *policy;

static const char *in_tree(const char *name)
{
    static char text[4][2 * TREE_TEXT];
    static int turn;

    turn = (turn + 1) % 4;
    snprintf(text[turn], sizeof text[turn], "%s/%s", tree.base, name);
    return text[turn];
}

static void write_file(const char *name, const char *contents)
{
    FILE *stream = fopen(in_tree(name), "w");

    if (stream == NULL || fputs(contents, stream) < 0 || fclose(stream) != 0)
        abort();
}

/* The policy for the workspace, with the home directory and PATH. */
static void build(const char *home, const char *path, bool protect)
{
    struct surroundings around = {
        .root = tree.root, .home = home, .path = path, .protect = protect};
    struct policy_builder *builder = policy_builder_new();

    free(policy);
    policy = NULL;
    if (builder == NULL || defaults_add(builder, &around) < 0 ||
        (policy = policy_build(builder)) == NULL)
        abort();
    policy_builder_free(builder);
}

static bool reads(const char *path)
{
    return decide(policy, path, INTENT_READ).allowed;
}

static bool writes(const char *path)
{
    return decide(policy, path, INTENT_WRITE).allowed;
}

static void clean_up(void *unused)
{
    (void)unused;
    free(policy);
    policy = NULL;
    tree_remove(&tree);
}

TEST the_system_is_read(void)
{
    tree_make(&tree, "f");
    build(NULL, NULL, true);
    ASSERT(writes(in_tree("ROOT/f")));
    ASSERT(reads("/usr/bin/true"));
    ASSERT(reads("/etc/passwd"));
    ASSERT(!writes("/etc/passwd"));
    ASSERT(reads("/proc/self/status"));
    ASSERT(writes("/dev/null"));
    ASSERT(!reads("/dev/sda"));
    ASSERT(!reads("/etc/shadow") || access("/etc/shadow", F_OK) != 0);
    ASSERT(!reads(in_tree("OUT/secret")));
    ASSERT(!reads(in_tree("ROOT-evil/s")));
    ASSERT(!reads("/"));
    PASS();
}

TEST home_stays_shut(void)
{
    tree_make(&tree, "f");
    write_file("OUT/.gitconfig", "");
    build(in_tree("OUT"), in_tree("OUT"), true);
    ASSERT(reads(in_tree("OUT/.gitconfig")));
    ASSERT(!writes(in_tree("OUT/.gitconfig")));
    ASSERT(!reads(in_tree("OUT/secret")));
    ASSERT(!reads(in_tree("OUT")));
    /* Nor is it opened from above. */
    build(in_tree("OUT"), tree.base, true);
    ASSERT(!reads(in_tree("OUT/secret")));
    build("/usr/lib", "/usr/bin", true);
    ASSERT(!reads("/usr/lib/secret"));
    ASSERT(reads("/usr/bin/true"));
    PASS();
}

TEST toolchains_of_path(void)
{
    char path[4 * TREE_TEXT];

    tree_make(&tree, "f");
    mkdir(in_tree("OUT/.pyenv"), 0755);
    mkdir(in_tree("OUT/.pyenv/shims"), 0755);
    mkdir(in_tree("OUT/.nvm"), 0755);
    mkdir(in_tree("OUT/.local"), 0755);
    mkdir(in_tree("OUT/.local/bin"), 0755);
    mkdir(in_tree("OUT/tools"), 0755);
    mkdir(in_tree("OUT/tools/bin"), 0755);
    mkdir(in_tree("elsewhere"), 0755);
    snprintf(path, sizeof path, "%s/.pyenv/shims/:%s/.local/bin::%s/tools/bin:.:%s:/nowhere",
             in_tree("OUT"), in_tree("OUT"), in_tree("OUT"), in_tree("elsewhere"));
    build(in_tree("OUT"), path, true);
    ASSERT(reads(in_tree("OUT/.pyenv/versions/3/lib")));
    ASSERT(!reads(in_tree("OUT/.nvm/versions")));
    ASSERT(reads(in_tree("OUT/.local/bin/x")));
    ASSERT(!reads(in_tree("OUT/.local/share/secret")));
    ASSERT(reads(in_tree("OUT/tools/bin/x")));
    ASSERT(!reads(in_tree("OUT/tools/x")));
    ASSERT(reads(in_tree("elsewhere/x")));
    ASSERT(!writes(in_tree("elsewhere/x")));
    ASSERT(!reads(in_tree("OUT/secret")));
    PASS();
}

TEST what_runs_outside_is_protected(void)
{
    tree_make(&tree, ".git/hooks/; .git/config; .git/objects/; .bashrc; .vscode/settings.json; "
                     "sub/.bashrc; hooks/; linked => hooks");
    build(NULL, NULL, true);
    ASSERT(!writes(in_tree("ROOT/.git/hooks/pre-commit")));
    ASSERT(!writes(in_tree("ROOT/.git/config")));
    ASSERT(reads(in_tree("ROOT/.git/config")));
    ASSERT(writes(in_tree("ROOT/.git/objects/1")));
    ASSERT(!writes(in_tree("ROOT/.bashrc")));
    ASSERT(!writes(in_tree("ROOT/.vscode/tasks.json")));
    ASSERT(writes(in_tree("ROOT/.zshrc"))); /* it did not exist */
    build(NULL, NULL, false);
    ASSERT(writes(in_tree("ROOT/.git/hooks/pre-commit")));
    PASS();
}

TEST a_link_is_protected_at_both_ends(void)
{
    tree_make(&tree, ".git/objects/; hooks/; .git/hooks => ../hooks");
    build(NULL, NULL, true);
    ASSERT(!writes(in_tree("ROOT/.git/hooks")));
    ASSERT(!writes(in_tree("ROOT/hooks/pre-commit")));
    PASS();
}

TEST a_work_tree_leads_to_its_repository(void)
{
    tree_make(&tree, "main/.git/hooks/; main/.git/config; main/.git/worktrees/w/; .git");
    write_file("ROOT/.git", "gitdir: main/.git/worktrees/w\n");
    write_file("ROOT/main/.git/worktrees/w/commondir", "../..\n");
    build(NULL, NULL, true);
    ASSERT(!writes(in_tree("ROOT/main/.git/hooks/pre-commit")));
    ASSERT(!writes(in_tree("ROOT/main/.git/config")));
    ASSERT(!writes(in_tree("ROOT/.git")));
    ASSERT(writes(in_tree("ROOT/main/.git/index")));
    PASS();
}

TEST a_file_in_the_workspace_opens_nothing(void)
{
    char line[2 * TREE_TEXT];

    tree_make(&tree, ".git");
    snprintf(line, sizeof line, "gitdir: %s\n", in_tree("OUT"));
    write_file("ROOT/.git", line);
    mkdir(in_tree("OUT/hooks"), 0755);
    build(NULL, NULL, true);
    ASSERT(!reads(in_tree("OUT/secret")));
    ASSERT(!reads(in_tree("OUT/hooks")));
    PASS();
}

TEST a_pipe_in_place_of_a_file_does_not_block(void)
{
    tree_make(&tree, ".git/hooks/");
    ASSERT_EQ(0, mkfifo(in_tree("ROOT/.git/commondir"), 0600));
    build(NULL, NULL, true);
    ASSERT(!writes(in_tree("ROOT/.git/hooks")));
    PASS();
}

TEST cordon_itself_is_read_and_not_written(void)
{
    struct surroundings around = {.protect = false};
    struct policy_builder *builder = policy_builder_new();

    tree_make(&tree, "build/cordon");
    write_file("OUT/shim.so", "");
    around.root = tree.root;
    around.command = in_tree("ROOT/build/cordon");
    around.shim = in_tree("OUT/shim.so");
    ASSERT(builder != NULL && defaults_add(builder, &around) == 0);
    policy = policy_build(builder);
    policy_builder_free(builder);
    ASSERT(policy != NULL);
    ASSERT(reads(around.command) && !writes(around.command));
    ASSERT(reads(around.shim) && !writes(around.shim));
    ASSERT(writes(in_tree("ROOT/build/other")));
    ASSERT(!reads(in_tree("OUT/secret")));
    PASS();
}

TEST what_may_be_written_is_not_narrowed(void)
{
    const char *writable[] = {NULL, NULL};
    struct surroundings around = {.root = "/usr", .writable = writable};
    struct policy_builder *builder = policy_builder_new();

    tree_make(&tree, "f");
    mkdir(in_tree("OUT/.pyenv"), 0755);
    around.home = in_tree("OUT");
    around.path = in_tree("OUT/.pyenv");
    writable[0] = in_tree("OUT");
    ASSERT(builder != NULL && policy_add(builder, RULE_WRITE, writable[0], "--write") == 0);
    ASSERT_EQ(0, defaults_add(builder, &around));
    policy = policy_build(builder);
    policy_builder_free(builder);
    ASSERT(policy != NULL);
    ASSERT(writes(in_tree("OUT/.pyenv/x")));
    ASSERT(writes("/usr/bin/x"));
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    SET_TEARDOWN(clean_up, NULL);
    RUN_TEST(the_system_is_read);
    RUN_TEST(home_stays_shut);
    RUN_TEST(toolchains_of_path);
    RUN_TEST(what_runs_outside_is_protected);
    RUN_TEST(a_link_is_protected_at_both_ends);
    RUN_TEST(a_work_tree_leads_to_its_repository);
    RUN_TEST(a_file_in_the_workspace_opens_nothing);
    RUN_TEST(a_pipe_in_place_of_a_file_does_not_block);
    RUN_TEST(cordon_itself_is_read_and_not_written);
    RUN_TEST(what_may_be_written_is_not_narrowed);
    GREATEST_MAIN_END();
}
