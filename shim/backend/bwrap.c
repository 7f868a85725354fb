/* SPDX-License-Identifier: MIT */
#include "bwrap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "argv.h"
#include "confine.h"
#include "decide.h"
#include "mounts.h"
#include "ruleset.h"
#include "signals.h"

/* --- finding it ------------------------------------------------------------------------------- */

static bool can_run(const struct policy *policy, const char *path)
{
    char real[PATH_MAX];

    /* One that a confined program could have put there is none. */
    return access(path, X_OK) == 0 && realpath(path, real) != NULL &&
           !decide(policy, real, INTENT_WRITE).allowed;
}

bool bwrap_find(const struct policy *policy, char *path, struct trouble *trouble)
{
    static const char usual[] = "/usr/bin:/usr/local/bin:/bin:";
    const char *more = getenv("PATH");
    char list[sizeof usual + 4 * PATH_MAX];
    char found[PATH_MAX];
    char *rest = list;
    char *directory;

    snprintf(list, sizeof list, "%s%s", usual, more == NULL ? "" : more);
    while ((directory = strsep(&rest, ":")) != NULL) {
        int length = snprintf(found, sizeof found, "%s/bwrap", directory);
        if (directory[0] != '/' || length >= PATH_MAX || !can_run(policy, found))
            continue;
        if (path != NULL)
            memcpy(path, found, (size_t)length + 1);
        return true;
    }
    trouble_set(trouble, "bubblewrap", "bwrap: command not found", "it is not installed",
                "apt install bubblewrap, or what installs it on this system");
    return false;
}

/* --- mounts ----------------------------------------------------------------------------------- */

/* Links in the root directory that lead to what is granted, such as /bin to usr/bin. */
static void add_links(struct argv *argv, const struct policy *policy)
{
    DIR *root = opendir("/");
    struct dirent *entry;

    while (root != NULL && (entry = readdir(root)) != NULL) {
        char link[sizeof entry->d_name + 1];
        char target[PATH_MAX];
        char real[PATH_MAX];
        ssize_t length;

        snprintf(link, sizeof link, "/%s", entry->d_name);
        length = readlink(link, target, sizeof target - 1);
        if (length <= 0 || realpath(link, real) == NULL ||
            !decide(policy, real, INTENT_STAT).allowed)
            continue;
        target[length] = '\0';
        argv_add(argv, "--symlink", target, link);
    }
    if (root != NULL)
        closedir(root);
}

/*
 * bwrap makes a /dev of its own with the usual nodes, and terminals that are not the host's: those
 * cannot be had together with new ones, since /dev/ptmx looks for pts beside itself and a bound one
 * has nothing beside it. The terminal that the command is started on works, but for its name.
 */
static bool is_made(const char *path)
{
    static const char *const made[] = {"/dev/null",    "/dev/zero", "/dev/full", "/dev/random",
                                       "/dev/urandom", "/dev/tty",  "/dev/ptmx", "/dev/pts"};

    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++)
        if (path_is_below(made[i], path))
            return true;
    return false;
}

/* A file that nobody can read: its contents come from a descriptor, which has none to give. */
static void cover_file(struct argv *argv, const char *path)
{
    char number[16];
    int fd = open("/dev/null", O_RDONLY);

    if (fd < 0) {
        argv->failed = true;
        return;
    }
    snprintf(number, sizeof number, "%d", fd);
    argv_add(argv, "--perms", "0000", "--ro-bind-data", number, path);
}

static void add_mount(struct argv *argv, const struct mount *mount)
{
    const char *path = mount->path;

    if (mount->access == ACCESS_NONE && !mount->socket) {
        if (S_ISDIR(mount->mode))
            argv_add(argv, "--perms", mount->opened ? "0111" : "0000", "--tmpfs", path);
        else
            cover_file(argv, path);
    } else if (path_is_below("/proc", path)) {
        return; /* its own, and the numbers of processes are others inside */
    } else if (strcmp(path, "/dev/shm") == 0) {
        argv_add(argv, "--perms", "1777", "--tmpfs", path); /* nobody else's */
    } else if (path_is_below("/dev", path)) {
        if (!is_made(path))
            argv_add(argv, "--dev-bind", path, path);
    } else {
        /* A socket can be connected to where nothing can be written. */
        argv_add(argv, mount->access == ACCESS_WRITE ? "--bind" : "--ro-bind", path, path);
    }
}

/* What bwrap makes, in place of what the host has there. */
static void add_own(struct argv *argv, const struct policy *policy, bool host_proc)
{
    argv_add(argv, "--dev", "/dev");
    if (!decide(policy, "/proc", INTENT_STAT).allowed)
        return;
    if (host_proc)
        argv_add(argv, "--ro-bind", "/proc", "/proc");
    else
        argv_add(argv, "--proc", "/proc");
}

static int add_mounts(struct argv *argv, const struct image *image, bool host_proc)
{
    const struct policy *policy = image_policy(image);
    bool whole = decide(policy, "/", INTENT_READ).allowed;
    struct mounts mounts;
    size_t i = 0;
    int error = mounts_plan(image, &mounts);

    if (error < 0)
        return error;
    if (i < mounts.count && strcmp(mounts.list[i].path, "/") == 0)
        add_mount(argv, &mounts.list[i++]);
    add_own(argv, policy, host_proc);
    for (; i < mounts.count; i++)
        add_mount(argv, &mounts.list[i]);
    if (!whole)
        add_links(argv, policy);

    /* Nobody is to write into what covers, nor into what holds it all together. */
    for (i = 0; i < mounts.count; i++)
        if (mounts.list[i].access == ACCESS_NONE && S_ISDIR(mounts.list[i].mode) &&
            !mounts.list[i].socket)
            argv_add(argv, "--remount-ro", mounts.list[i].path);
    argv_add(argv, "--remount-ro", "/dev");
    /* To root, also one without capabilities, the files below /proc/sys are his own. */
    if (decide(policy, "/proc", INTENT_STAT).allowed)
        argv_add(argv, "--remount-ro", "/proc");
    if (!whole)
        argv_add(argv, "--remount-ro", "/");
    mounts_release(&mounts);
    return 0;
}

/* --- the command line ------------------------------------------------------------------------- */

static void add_number(struct argv *argv, const char *option, int number)
{
    char text[16];

    snprintf(text, sizeof text, "%d", number);
    if (number >= 0)
        argv_add(argv, option, text);
}

static void add_inner(struct argv *argv, const struct image *image, const struct bwrap_wants *wants,
                      char *const command[])
{
    const char *preload = getenv("LD_PRELOAD");
    char ignored[32];

    snprintf(ignored, sizeof ignored, "%" PRIx64, signals_ignored());
    argv_add(argv, "--", image_text(image, IMAGE_COMMAND), "--inner", "--backend",
             backend_bwrap.name, "--ignored", ignored);
    if (preload != NULL)
        argv_add(argv, "--preload", preload);
    if (wants->file != NULL)
        argv_add(argv, "--file", wants->file);
    add_number(argv, "--log", wants->log);
    add_number(argv, "--stops", wants->stops);
    if (wants->try_only) {
        argv_add(argv, "--try");
        return;
    }
    argv_add(argv, "--");
    argv_append(argv, (const char *const *)command);
}

char **bwrap_argv(const struct image *image, const struct bwrap_wants *wants, char *const command[],
                  struct trouble *trouble)
{
    struct argv argv = {.words = NULL};
    char path[PATH_MAX];

    if (!bwrap_find(image_policy(image), path, trouble))
        return NULL;
    if (image_text(image, IMAGE_COMMAND)[0] != '/') {
        trouble_set(trouble, "the helper inside", "where the cordon command is, is not known", "",
                    "");
        return NULL;
    }
    argv_add(&argv, path, "--die-with-parent", "--unshare-user", "--unshare-ipc", "--unshare-uts",
             "--unshare-cgroup-try", "--cap-drop", "ALL");
    if (!wants->host_proc)
        argv_add(&argv, "--unshare-pid");
    if (image->net == NET_DENY)
        argv_add(&argv, "--unshare-net");
    add_number(&argv, "--json-status-fd", wants->status_fd);
    if (add_mounts(&argv, image, wants->host_proc) < 0)
        argv.failed = true;
    argv_add(&argv, "--chdir", wants->cwd);
    add_inner(&argv, image, wants, command);
    char **words = argv_take(&argv);
    if (words == NULL)
        trouble_set(trouble, "the command line", strerror(ENOMEM), "", "");
    return words;
}

static char **wrap(const struct image *image, const char *cwd, char *const command[],
                   struct trouble *trouble)
{
    const struct bwrap_wants wants = {
        .cwd = cwd, .status_fd = -1, .log = -1, .stops = -1, .host_proc = bwrap_needs_host_proc()};

    return bwrap_argv(image, &wants, command, trouble);
}

struct bwrap_status bwrap_status(const char *report)
{
    struct bwrap_status status = {.exit_code = -1};
    const char *child = strstr(report, "\"child-pid\":");
    const char *code = strstr(report, "\"exit-code\":");

    if (child != NULL)
        status.child = (pid_t)strtol(strchr(child, ':') + 1, NULL, 10);
    if (code != NULL)
        status.exit_code = (int)strtol(strchr(code, ':') + 1, NULL, 10);
    return status;
}

/* --- the row of the table --------------------------------------------------------------------- */

/* In the host's network, abstract sockets are the host's: only a scope of Landlock keeps them out.
 */
static bool may_have_sockets(const struct image *image)
{
    return image->net == NET_DENY || ruleset_abi() >= 6;
}

/* From the inside: Landlock as a second wall, where there is one, and the filter. */
static void plan(const struct image *image, struct confinement *confinement)
{
    *confinement = (struct confinement){
        .landlock = ruleset_abi() > 0,
        .wants = {.unix_sockets = may_have_sockets(image),
                  .internet = image->net == NET_OPEN,
                  /* Of a namespace of processes bwrap is the first. */
                  .own_pids = getppid() == 1,
                  .supervise = (enum image_supervise)image->supervise},
    };
}

static enum holder holds(const struct image *image, uint32_t index)
{
    const struct policy *policy = image_policy(image);
    const struct policy_rule *rule = &policy_rules(policy)[index];
    struct stat st;

    if (rule->kind == RULE_UNIX && !may_have_sockets(image))
        return HELD_BY_NOBODY;
    /* A directory of sockets is bound as a whole: Landlock has to hold the rest of it. */
    if (rule->kind == RULE_UNIX &&
        (lstat(policy_string(policy, rule->text), &st) < 0 || !S_ISDIR(st.st_mode)))
        return HELD_BY_KERNEL;
    if (rule->kind == RULE_UNIX)
        return ruleset_abi() > 0 ? HELD_BY_KERNEL : HELD_BY_SHIM;
    return mounts_hold(policy, rule) ? HELD_BY_KERNEL : HELD_BY_SHIM;
}

static enum holder holds_net(const struct image *image)
{
    if (image->net == NET_LOOPBACK)
        return image->supervise == SUPERVISE_NONE ? HELD_BY_NOBODY : HELD_BY_SUPERVISOR;
    return HELD_BY_KERNEL;
}

static const struct gap *gaps(void)
{
    static struct gap list[] = {
        {"patterns, and denied or protected paths that were not there at the start",
         HELD_BY_SUPERVISOR},
        {"connecting to sockets that lie in what is granted for reading", HELD_BY_SUPERVISOR},
        {"sending datagrams to such sockets", HELD_BY_NOBODY},
        {"the name of the terminal: it has none inside, but works", HELD_BY_NOBODY},
        {NULL, HELD_BY_NOBODY},
        {NULL, HELD_BY_NOBODY},
    };

    if (bwrap_needs_host_proc() && ruleset_abi() < 6)
        list[4].text = "signals to other processes of the same user, since /proc is masked here";
    return list;
}

const struct backend backend_bwrap = {
    .name = "bwrap",
    .probe = bwrap_probe,
    .likely = bwrap_likely,
    .holds = holds,
    .holds_net = holds_net,
    .gaps = gaps,
    .wrap = wrap,
    .plan = plan,
};
