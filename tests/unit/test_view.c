/* SPDX-License-Identifier: MIT */
/*
 * Resolving for another process: its root, its working directory, its mounts, its /proc/self. The
 * other one is a child that only waits; whoever looks through its eyes is another child, with
 * openat2 and without.
 */
#include <errno.h>
#include <fcntl.h>
#include <greatest.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "place.h"
#include "support_child.h"
#include "support_tree.h"

static struct tree tree;

/*
 * ROOT/f  ROOT/d/g  ROOT/abs -> /f  ROOT/up -> ../../../OUT/secret  ROOT/bound/
 */
static void set_up(void *unused)
{
    (void)unused;
    tree_make(&tree, "f; d/g; abs => /f; up => ../../../OUT/secret; bound/");
}

static void tear_down(void *unused)
{
    (void)unused;
    tree_remove(&tree);
}

static const char *at(const char *name)
{
    static char paths[8][2 * PATH_MAX];
    static int next;
    char *path = paths[next++ % 8];

    snprintf(path, sizeof paths[0], "%s/%s", tree.base, name);
    return path;
}

/* --- the other process ------------------------------------------------------------------------ */

struct other {
    pid_t pid;
    int root;
    int cwd;
    char self[32];
    char thread_self[64];
};

/* Lets the other process be: it prepares itself, tells whether it could, and waits for its end. */
static void be_other(int (*prepare)(void), int tell)
{
    int error;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    error = prepare() < 0 ? errno : 0;
    prctl(PR_SET_DUMPABLE, 1); /* else its /proc is not for its parent */
    if (write(tell, &error, sizeof error) != sizeof error)
        _exit(EXIT_FAILURE);
    for (;;)
        pause();
}

static int open_of(pid_t pid, const char *what)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, what);
    return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void other_end(struct other *other)
{
    kill(other->pid, SIGKILL);
    waitpid(other->pid, NULL, 0);
    if (other->root >= 0)
        close(other->root);
    if (other->cwd >= 0)
        close(other->cwd);
}

/* Returns 0, or the errno that says why there is no such process here. */
static int other_begin(struct other *other, int (*prepare)(void))
{
    int ends[2];
    int error = EIO;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return errno;
    fflush(NULL);
    other->pid = fork();
    if (other->pid == 0)
        be_other(prepare, ends[1]);
    close(ends[1]);
    if (other->pid < 0 || read(ends[0], &error, sizeof error) != sizeof error)
        abort();
    close(ends[0]);
    other->root = open_of(other->pid, "root");
    other->cwd = open_of(other->pid, "cwd");
    if (error == 0 && (other->root < 0 || other->cwd < 0))
        error = errno;
    snprintf(other->self, sizeof other->self, "%d", (int)other->pid);
    snprintf(other->thread_self, sizeof other->thread_self, "%d/task/%d", (int)other->pid,
             (int)other->pid);
    if (error != 0)
        other_end(other);
    return error;
}

/* --- looking through its eyes ----------------------------------------------------------------- */

/* A path, whether it is opened, and what is found: the text of a file, or where it leads. */
struct look {
    const char *path;
    int wanted; /* 0 or an error */
    const char *text;
};

struct looking {
    const struct other *other;
    const char *granted;
    const struct look *looks;
    size_t count;
};

static struct policy *grant(const char *path)
{
    struct policy_builder *builder = policy_builder_new();
    struct policy *policy = NULL;

    if (policy_add(builder, RULE_WRITE, path, "test") == 0)
        policy = policy_build(builder);
    policy_builder_free(builder);
    return policy;
}

static void read_text(int fd, char *text, size_t size)
{
    ssize_t length = read(fd, text, size - 1);

    text[length < 0 ? 0 : length] = '\0';
}

/* Where it leads is compared where it is refused, what was opened where it is not. */
static void look_once(const struct looking *looking, const struct scope *scope,
                      const struct look *look, struct complaint *complaint)
{
    struct start start = {.fd = looking->other->cwd};
    char where[PATH_MAX] = "";
    char text[64] = "";
    struct report report = {.path = where, .size = sizeof where};
    struct stat st;
    int fd = place_open(scope, &start, look->path, O_RDONLY | O_CLOEXEC, 0, &report);
    int stated = place_stat(scope, &start, look->path, true, &st, NULL);

    if (fd >= 0) {
        read_text(fd, text, sizeof text);
        close(fd);
    }
    if ((fd < 0 ? fd : 0) != look->wanted || stated != look->wanted)
        child_complain(complaint, "%s: open gives %d, stat %d instead of %d", look->path, fd,
                       stated, look->wanted);
    else if (look->text != NULL && strcmp(look->wanted == 0 ? text : where, look->text) != 0)
        child_complain(complaint, "%s: found \"%s\", \"%s\"", look->path, text, where);
}

static void look_at_all(const void *argument, struct complaint *complaint)
{
    const struct looking *looking = argument;
    const struct view view = {.root = looking->other->root,
                              .self = looking->other->self,
                              .thread_self = looking->other->thread_self};
    struct policy *policy = grant(looking->granted);
    struct scope scope = {.policy = policy, .view = &view};
    int free_fd = lowest_free_fd();

    for (size_t i = 0; i < looking->count; i++)
        look_once(looking, &scope, &looking->looks[i], complaint);
    if (lowest_free_fd() != free_fd)
        child_complain(complaint, "descriptors are left open");
    free(policy);
}

/* What is wrong, in every way; NULL if nothing is. */
static const char *look(const struct looking *looking)
{
    static struct complaint complaint;

    for (enum way way = WAY_OPENAT2; way < WAYS; way++) {
        run_child(way, look_at_all, looking, &complaint);
        if (complaint.text[0] != '\0') {
            child_complain(&complaint, "(%s)", way_names[way]);
            return complaint.text;
        }
    }
    return NULL;
}

#define LOOK(looking)                      \
    do {                                   \
        const char *wrong = look(looking); \
        ASSERTm(wrong, wrong == NULL);     \
    } while (0)

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0)
        abort();
}

/* --- another working directory ---------------------------------------------------------------- */

static int go_below(void)
{
    return chdir(at("ROOT/d"));
}

TEST its_working_directory(void)
{
    struct other other;

    write_text(at("ROOT/f"), "file");
    write_text(at("ROOT/d/g"), "below");
    ASSERT_EQ(0, other_begin(&other, go_below));
    const struct look looks[] = {
        {"g", 0, "below"},
        {"../f", 0, "file"},
        {".././d/../f", 0, "file"},
        {"f", -ENOENT, NULL},
        {"../abs", -ENOENT, NULL},
        {"../../OUT/secret", -EACCES, at("OUT/secret")},
        {"/proc/self/cwd/g", 0, "below"},
        {"/proc/thread-self/cwd/../f", 0, "file"},
        {"/proc/self/root/etc/passwd", -EACCES, "/etc/passwd"},
    };
    const struct looking looking = {&other, tree.root, looks, sizeof looks / sizeof *looks};
    LOOK(&looking);
    other_end(&other);
    PASS();
}

/* --- another root ----------------------------------------------------------------------------- */

static int change_root(void)
{
    if (chdir(tree.root) < 0)
        return -1;
    if (chroot(".") == 0)
        return 0;
    return unshare(CLONE_NEWUSER) < 0 ? -1 : chroot(".");
}

TEST its_root(void)
{
    struct other other;
    int error = other_begin(&other, change_root);

    if (error != 0)
        SKIPm("no right to change the root");
    write_text(at("ROOT/f"), "file");
    write_text(at("ROOT/d/g"), "below");
    static const struct look looks[] = {
        {"/f", 0, "file"},
        {"f", 0, "file"},
        {"abs", 0, "file"},
        {"/d/../../../f", 0, "file"},
        {"up", -ENOENT, NULL}, /* its ".." ends at its root */
        {"/OUT/secret", -ENOENT, NULL},
        {"/../f/", -ENOTDIR, NULL},
    };
    static const struct look narrow[] = {
        {"/d/g", 0, "below"},   {"d/./g", 0, "below"},        {"/f", -EACCES, "/f"},
        {"abs", -EACCES, "/f"}, {"/d/../abs", -EACCES, "/f"},
    };
    const struct looking all = {&other, "/", looks, sizeof looks / sizeof *looks};
    const struct looking some = {&other, "/d", narrow, sizeof narrow / sizeof *narrow};
    LOOK(&all);
    LOOK(&some);
    other_end(&other);
    PASS();
}

/* --- other mounts ----------------------------------------------------------------------------- */

static int own_mounts(void)
{
    if (unshare(CLONE_NEWNS) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
        return -1;
    return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

/* A file system of its own hides d, and OUT is to be seen at `bound`. */
static int mount_over(void)
{
    if (own_mounts() < 0 || mount("none", at("ROOT/d"), "tmpfs", 0, NULL) < 0 ||
        mount(at("OUT"), at("ROOT/bound"), NULL, MS_BIND, NULL) < 0 || chdir(at("ROOT/d")) < 0 ||
        symlink("../f", "link") < 0 || symlink(at("OUT/secret"), "out") < 0)
        return -1;
    write_text(at("ROOT/d/new"), "new");
    return 0;
}

TEST its_mounts(void)
{
    struct other other;

    write_text(at("ROOT/f"), "file");
    write_text(at("OUT/secret"), "secret");
    int error = other_begin(&other, mount_over);
    if (error != 0)
        SKIPm("no right to mount");
    const struct look looks[] = {
        {"new", 0, "new"},
        {"g", -ENOENT, NULL}, /* is hidden */
        {"../d/new", 0, "new"},
        {"link", 0, "file"},
        {"../bound/../f", 0, "file"},
        {at("ROOT/d/new"), 0, "new"},
        {at("ROOT/d/../d/link"), 0, "file"},
        {at("ROOT/bound/secret"), 0, "secret"}, /* inside is what is mounted inside */
        {"out", -EACCES, at("OUT/secret")},
    };
    const struct looking looking = {&other, tree.root, looks, sizeof looks / sizeof *looks};
    LOOK(&looking);
    ASSERT_EQm("the control", -1, access(at("ROOT/d/new"), F_OK));
    ASSERT_EQm("the control", -1, access(at("ROOT/bound/secret"), F_OK));
    other_end(&other);
    PASS();
}

/* --- its /proc -------------------------------------------------------------------------------- */

static int change_name(void)
{
    return prctl(PR_SET_NAME, "the other one");
}

TEST its_proc_self(void)
{
    struct other other;

    ASSERT_EQ(0, other_begin(&other, change_name));
    static const struct look looks[] = {
        {"/proc/self/comm", 0, "the other one\n"},
        {"/proc/thread-self/comm", 0, "the other one\n"},
        {"/proc/./self/../self/comm", 0, "the other one\n"},
        {"/proc/self/none", -ENOENT, NULL},
        {"/proc/self/comm/x", -ENOTDIR, NULL},
    };
    const struct looking looking = {&other, "/proc", looks, sizeof looks / sizeof *looks};
    LOOK(&looking);
    other_end(&other);
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    SET_SETUP(set_up, NULL);
    SET_TEARDOWN(tear_down, NULL);
    RUN_TEST(its_working_directory);
    RUN_TEST(its_root);
    RUN_TEST(its_mounts);
    RUN_TEST(its_proc_self);
    GREATEST_MAIN_END();
}
