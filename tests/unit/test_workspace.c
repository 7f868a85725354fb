/* SPDX-License-Identifier: MIT */
/* The workspaces of cordon.h: what they refuse and how, and bad input of every kind. */
#include <errno.h>
#include <fcntl.h>
#include <greatest.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cordon.h"
#include "support_child.h"
#include "support_tree.h"

static const enum cordon_mode modes[] = {CORDON_KERNEL, CORDON_CLEAN, CORDON_STRICT};

static struct tree tree;
static cordon_workspace *workspace;
static char place[PATH_MAX];

/*
 * ROOT/f  ROOT/d/g  ROOT/in -> d  ROOT/out -> OUT  ROOT/dangling -> OUT/new  ROOT/loop -> loop
 */
static void set_up(void *unused)
{
    (void)unused;
    tree_make(&tree, "f; d/g; in => d; out => $OUT; dangling => $OUT/new; loop => loop");
    if (cordon_workspace_new(tree.root, &workspace) < 0)
        abort();
}

static void tear_down(void *unused)
{
    (void)unused;
    cordon_workspace_close(workspace);
    tree_remove(&tree);
}

/* `name` below the directory that holds the tree. */
static const char *beside(const char *name)
{
    static char path[2 * PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", tree.base, name);
    return path;
}

/* `count` times `part`, then `end`. The caller frees it. */
static char *repeated(const char *part, size_t count, const char *end)
{
    char *text = malloc(strlen(part) * count + strlen(end) + 1);
    char *to = text;

    if (text == NULL)
        abort();
    for (size_t i = 0; i < count; i++)
        to = stpcpy(to, part);
    strcpy(to, end);
    return text;
}

static ssize_t resolve_in(enum cordon_mode mode, const char *path)
{
    strcpy(place, "untouched");
    return cordon_workspace_resolve(workspace, mode, path, place, sizeof place);
}

static int open_and_close(const char *path, int flags)
{
    int fd = cordon_workspace_open(workspace, path, flags | O_CLOEXEC, 0600);

    if (fd >= 0)
        close(fd);
    return fd < 0 ? fd : 0;
}

/* --- roots ------------------------------------------------------------------------------------ */

TEST a_root_is_an_absolute_directory(void)
{
    cordon_workspace *none = NULL;
    char *deep = repeated("/.", 4000, "");

    ASSERT_EQ(-EFAULT, cordon_workspace_new(NULL, &none));
    ASSERT_EQ(CORDON_EEMPTY, cordon_workspace_new("", &none));
    ASSERT_EQ(CORDON_ERELATIVE, cordon_workspace_new("ROOT", &none));
    ASSERT_EQ(CORDON_ERELATIVE, cordon_workspace_new(".", &none));
    ASSERT_EQ(CORDON_ENOTDIR, cordon_workspace_new(beside("ROOT/f"), &none));
    ASSERT_EQ(CORDON_ENOTDIR, cordon_workspace_new(beside("ROOT/f/x"), &none));
    ASSERT_EQ(-ENOENT, cordon_workspace_new(beside("gone"), &none));
    ASSERT_EQ(-ENOENT, cordon_workspace_new(beside("ROOT/dangling"), &none));
    ASSERT_EQ(CORDON_ELOOP, cordon_workspace_new(beside("ROOT/loop"), &none));
    ASSERT_EQ(CORDON_ETOOLONG, cordon_workspace_new(deep, &none));
    ASSERT_EQ(NULL, none);
    free(deep);
    PASS();
}

TEST a_link_to_a_directory_is_that_directory(void)
{
    cordon_workspace *same = NULL;

    ASSERT_EQ(0, cordon_workspace_new(beside("ROOT/../ROOT/in/"), &same));
    ASSERT_STR_EQ(beside("ROOT/d"), cordon_workspace_root(same));
    cordon_workspace_close(same);
    cordon_workspace_close(NULL);
    PASS();
}

/* Somebody for whom modes count. */
static void check_unreadable(const void *unused, struct complaint *complaint)
{
    cordon_workspace *locked = NULL;
    int error;

    (void)unused;
    if (geteuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0)) {
        child_complain(complaint, "cannot be anybody else");
        return;
    }
    error = cordon_workspace_new(beside("ROOT/d"), &locked);
    if (error != -EACCES || locked != NULL)
        child_complain(complaint, "a root that cannot be reached: %d", error);
    error = open_and_close("f", O_RDONLY);
    if (error != -EACCES)
        child_complain(complaint, "a file in a root that cannot be searched: %d", error);
    if (resolve_in(CORDON_KERNEL, "f") != -EACCES)
        child_complain(complaint, "its place");
}

TEST what_cannot_be_searched_is_an_error(void)
{
    struct complaint complaint;

    ASSERT_EQ(0, chmod(tree.base, 0755));
    ASSERT_EQ(0, chmod(tree.root, 0));
    for (enum way way = WAY_OPENAT2; way < WAYS; way++) {
        run_child(way, check_unreadable, NULL, &complaint);
        ASSERT_STR_EQm(way_names[way], "", complaint.text);
    }
    ASSERT_EQ(0, chmod(tree.root, 0700));
    PASS();
}

TEST a_root_that_is_gone_holds_nothing(void)
{
    cordon_workspace *gone = NULL;

    ASSERT_EQ(0, mkdir(beside("gone"), 0700));
    ASSERT_EQ(0, cordon_workspace_new(beside("gone"), &gone));
    ASSERT_EQ(0, rmdir(beside("gone")));
    ASSERT_EQ(-ENOENT, cordon_workspace_open(gone, "x", O_CREAT | O_WRONLY, 0600));
    ASSERT_EQ(-ENOENT, cordon_workspace_open(gone, "x", O_RDONLY, 0));
    cordon_workspace_close(gone);
    PASS();
}

/* --- paths ------------------------------------------------------------------------------------ */

TEST no_path_and_an_empty_one(void)
{
    for (size_t i = 0; i < 3; i++)
        ASSERT_EQ(-EFAULT, resolve_in(modes[i], NULL));
    ASSERT_EQ(CORDON_EEMPTY, resolve_in(CORDON_KERNEL, ""));
    ASSERT_EQ(CORDON_EEMPTY, resolve_in(CORDON_STRICT, ""));
    ASSERT_STR_EQ("untouched", place);
    ASSERT_EQ((ssize_t)strlen(tree.root), resolve_in(CORDON_CLEAN, ""));
    ASSERT_STR_EQ(tree.root, place);
    ASSERT_EQ(-EFAULT, open_and_close(NULL, O_RDONLY));
    ASSERT_EQ(-ENOENT, open_and_close("", O_RDONLY));
    PASS();
}

TEST long_paths(void)
{
    char *longest = repeated("./", 2047, "f");
    char *longer = repeated("./", 2047, "./");
    char *monster = repeated("x/", 50000, "");
    char *name = repeated("n", NAME_MAX + 1, "");

    ASSERT_EQ(4095, strlen(longest));
    ASSERT_EQ(4096, strlen(longer));
    ASSERT_EQ(100000, strlen(monster));
    for (size_t i = 0; i < 3; i++) {
        ASSERT(resolve_in(modes[i], longest) > 0);
        ASSERT_STR_EQ(beside("ROOT/f"), place);
        ASSERT_EQ(CORDON_ETOOLONG, resolve_in(modes[i], monster));
        ASSERT_EQ(CORDON_ETOOLONG, resolve_in(modes[i], name));
    }
    ASSERT_EQ(CORDON_ETOOLONG, resolve_in(CORDON_KERNEL, longer));
    ASSERT_EQ(0, open_and_close(longest, O_RDONLY));
    ASSERT_EQ(CORDON_ETOOLONG, open_and_close(longer, O_RDONLY));
    ASSERT_EQ(CORDON_ETOOLONG, open_and_close(monster, O_RDONLY | O_CREAT));
    ASSERT_EQ(CORDON_ETOOLONG, open_and_close(name, O_RDONLY | O_CREAT));
    free(longest);
    free(longer);
    free(monster);
    free(name);
    PASS();
}

TEST a_name_is_any_bytes(void)
{
    static const char *const names[] = {"a\nb", "\xff\xfe\x80", " ", "\x01", "-", "d (deleted)"};

    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        ASSERT_EQ(0, open_and_close(names[n], O_CREAT | O_EXCL | O_WRONLY));
        ASSERT_EQ(0, open_and_close(names[n], O_RDONLY));
        for (size_t i = 0; i < 3; i++) {
            char wanted[2 * PATH_MAX];
            snprintf(wanted, sizeof wanted, "%s/%s", tree.root, names[n]);
            ASSERT_EQ((ssize_t)strlen(wanted), resolve_in(modes[i], names[n]));
            ASSERT_STR_EQ(wanted, place);
        }
        snprintf(place, sizeof place, "in/../%s", names[n]);
        ASSERT_EQ(0, open_and_close(place, O_RDONLY));
    }
    PASS();
}

TEST what_does_not_fit(void)
{
    size_t length = strlen(tree.root) + 2;
    char small[PATH_MAX];

    strcpy(small, "untouched");
    ASSERT_EQ(-ERANGE, cordon_workspace_resolve(workspace, CORDON_KERNEL, "f", small, length));
    ASSERT_EQ(-ERANGE, cordon_workspace_resolve(workspace, CORDON_KERNEL, "f", NULL, 0));
    ASSERT_STR_EQ("untouched", small);
    ASSERT_EQ((ssize_t)length,
              cordon_workspace_resolve(workspace, CORDON_KERNEL, "f", small, length + 1));
    ASSERT_STR_EQ(beside("ROOT/f"), small);
    PASS();
}

/* --- outside ---------------------------------------------------------------------------------- */

TEST the_place_outside_is_told(void)
{
    char small[5] = "xxxx";

    ASSERT_EQ(CORDON_EOUTSIDE, resolve_in(CORDON_KERNEL, "out/secret"));
    ASSERT_STR_EQ(beside("OUT/secret"), place);
    ASSERT_EQ(CORDON_EOUTSIDE, resolve_in(CORDON_STRICT, beside("ROOT-evil/s")));
    ASSERT_STR_EQ(beside("ROOT-evil/s"), place);
    ASSERT_EQ(CORDON_EOUTSIDE, resolve_in(CORDON_CLEAN, "dangling"));
    ASSERT_STR_EQ(beside("OUT/new"), place);
    ASSERT_EQ(CORDON_EOUTSIDE, resolve_in(CORDON_KERNEL, "../OUT/secret"));
    ASSERT_EQ(CORDON_EDOTDOT, resolve_in(CORDON_STRICT, "d/.."));
    ASSERT_EQ(CORDON_EOUTSIDE,
              cordon_workspace_resolve(workspace, CORDON_KERNEL, "/etc/passwd", small, 5));
    ASSERT_STR_EQ("/etc", small);
    ASSERT_EQ(CORDON_EOUTSIDE,
              cordon_workspace_resolve(workspace, CORDON_KERNEL, "/etc/passwd", NULL, 0));
    PASS();
}

TEST nothing_is_opened_or_made_outside(void)
{
    ASSERT_EQ(CORDON_EOUTSIDE, open_and_close("out/secret", O_RDONLY));
    ASSERT_EQ(CORDON_EOUTSIDE, open_and_close("../OUT/secret", O_RDWR | O_TRUNC));
    ASSERT_EQ(CORDON_EOUTSIDE, open_and_close("dangling", O_CREAT | O_WRONLY));
    ASSERT_EQ(CORDON_EOUTSIDE, open_and_close("out/new", O_CREAT | O_WRONLY));
    ASSERT_EQ(-1, access(beside("OUT/new"), F_OK));
    ASSERT_EQ(-ENOENT, open_and_close("out/missing", O_RDONLY));
    ASSERT_EQ(CORDON_ELOOP, open_and_close("loop", O_RDONLY));
    ASSERT_EQ(CORDON_ENOTDIR, open_and_close("f/x", O_RDONLY));
    PASS();
}

/* --- the rest --------------------------------------------------------------------------------- */

/* Whoever has a handle of a directory above the root can go anywhere from there. */
TEST no_handle_of_what_lies_above(void)
{
    static const char *const paths[] = {"..", "/", "/tmp", "../.."};

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        ASSERT_EQm(paths[i], CORDON_EOUTSIDE,
                   cordon_workspace_open(workspace, paths[i], O_PATH, 0));
        ASSERT_EQm(paths[i], CORDON_EOUTSIDE,
                   cordon_workspace_open(workspace, paths[i], O_PATH | O_DIRECTORY, 0));
    }
    ASSERT_EQ(-EINVAL,
              cordon_workspace_resolve(workspace, (enum cordon_mode)99, ".", place, sizeof place));
    PASS();
}

TEST errno_and_descriptors_are_left_alone(void)
{
    static const char *const paths[] = {"f", "in/g", "d/../f", "out/secret", "loop", "missing", ""};
    cordon_workspace *other = NULL;
    int free_fd = lowest_free_fd();

    errno = EXFULL;
    for (size_t p = 0; p < sizeof paths / sizeof *paths; p++) {
        for (size_t i = 0; i < 3; i++)
            resolve_in(modes[i], paths[p]);
        open_and_close(paths[p], O_RDONLY);
        open_and_close(paths[p], O_PATH | O_NOFOLLOW);
    }
    cordon_workspace_new(beside("gone"), &other);
    ASSERT_EQ(0, cordon_workspace_new(beside("OUT"), &other));
    cordon_workspace_close(other);
    ASSERT_EQ(EXFULL, errno);
    ASSERT_EQ(free_fd, lowest_free_fd());
    PASS();
}

static void *use(void *wrong)
{
    static const char *const paths[] = {"f", "in/../f", "d/.././f"};
    char found[PATH_MAX];

    for (int i = 0; i < 2000; i++) {
        const char *path = paths[i % 3];
        int fd = cordon_workspace_open(workspace, path, O_RDONLY | O_CLOEXEC, 0);
        ssize_t length = cordon_workspace_resolve(workspace, CORDON_KERNEL, path, found, PATH_MAX);
        if (fd < 0 || close(fd) < 0 || length != (ssize_t)strlen(tree.root) + 2 ||
            cordon_workspace_open(workspace, "out/secret", O_RDONLY, 0) != CORDON_EOUTSIDE)
            *(int *)wrong += 1;
    }
    return NULL;
}

TEST threads_share_a_workspace(void)
{
    pthread_t threads[4];
    int wrong[4] = {0};

    for (int i = 0; i < 4; i++)
        ASSERT_EQ(0, pthread_create(&threads[i], NULL, use, &wrong[i]));
    for (int i = 0; i < 4; i++) {
        ASSERT_EQ(0, pthread_join(threads[i], NULL));
        ASSERT_EQ(0, wrong[i]);
    }
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    SET_SETUP(set_up, NULL);
    SET_TEARDOWN(tear_down, NULL);
    RUN_TEST(a_root_is_an_absolute_directory);
    RUN_TEST(a_link_to_a_directory_is_that_directory);
    RUN_TEST(what_cannot_be_searched_is_an_error);
    RUN_TEST(a_root_that_is_gone_holds_nothing);
    RUN_TEST(no_path_and_an_empty_one);
    RUN_TEST(long_paths);
    RUN_TEST(a_name_is_any_bytes);
    RUN_TEST(what_does_not_fit);
    RUN_TEST(the_place_outside_is_told);
    RUN_TEST(nothing_is_opened_or_made_outside);
    RUN_TEST(no_handle_of_what_lies_above);
    RUN_TEST(errno_and_descriptors_are_left_alone);
    RUN_TEST(threads_share_a_workspace);
    GREATEST_MAIN_END();
}
