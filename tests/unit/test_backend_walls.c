/* SPDX-License-Identifier: MIT */
/*
 * What the walls stop and what they do not: each deed once without a wall, where it has to work,
 * and once behind each, as root and as somebody else. What is stopped leaves no trace outside.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <greatest.h>

#include "support_wall.h"

#define NEEDS(reason)                   \
    do {                                \
        const char *lacking = (reason); \
        if (lacking != NULL)            \
            SKIPm(lacking);             \
    } while (0)

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { NOBODY = 65534 };

#define RULES                                                                           \
    "protect $ABS/.git/hooks; deny $ABS/secret; deny $ABS/vault; read $ABS/vault/open;" \
    " read $ABS/d"

struct deed {
    const char *act;
    int landlock; /* errno; 0: not stopped */
    int bwrap;
    bool root_only; /* nobody else can do it without a wall */
};

static const struct deed deeds[] = {
    /* Files outside. */
    {"read", EACCES, ENOENT, false},
    {"write", EACCES, ENOENT, false},
    {"read_trunc", EACCES, ENOENT, false},
    {"truncate", EACCES, ENOENT, false},
    {"create", EACCES, ENOENT, false},
    {"tmpfile", EACCES, ENOENT, false},
    {"mkdir", EACCES, ENOENT, false},
    {"rmdir", EACCES, ENOENT, false},
    {"unlink", EACCES, ENOENT, false},
    {"symlink", EACCES, ENOENT, false},
    {"mkfifo", EACCES, ENOENT, false},
    {"rename_out", EACCES, ENOENT, false},
    {"rename_in", EACCES, ENOENT, false},
    {"link_out", EACCES, ENOENT, false},
    {"link_in", EXDEV, ENOENT, false},
    {"exec", EACCES, ENOENT, false},
    {"list", EACCES, ENOENT, false},
    {"list_root", EACCES, EACCES, false},
    {"sysctl", EACCES, EROFS, true},
    {"shadow", 0, EACCES, true},
    {"device", EACCES, EACCES, true},

    /* What Landlock says that it does not see. */
    {"stat", 0, ENOENT, false},
    {"chmod", 0, ENOENT, false},
    {"utime", 0, ENOENT, false},
    {"chdir", 0, ENOENT, false},

    /* Other processes. */
    {"kill", EPERM, ESRCH, false},
    {"ptrace", EPERM, ESRCH, false},
    {"environ", EACCES, ENOENT, false},
    {"root_of", EACCES, ENOENT, false},
    {"prlimit", EPERM, ESRCH, false},

    /* Sockets. */
    {"unix_path", EACCES, ENOENT, false},
    {"unix_abstract", EACCES, ECONNREFUSED, false},
    {"unix_bind", EACCES, ENOENT, false},
    {"pair_turned", EACCES, ENOENT, false},
    {"tcp", EACCES, EACCES, false},
    {"udp", EACCES, EACCES, false},
    {"mptcp", EACCES, EACCES, false},
    {"fastopen", EACCES, EACCES, false},
    {"netlink", EACCES, EACCES, false},

    /* Another view of the files. */
    {"mount", EPERM, EPERM, true},
    {"chroot", EPERM, EPERM, true},

    /* Rules inside of a grant. */
    {"denied", 0, EACCES, false},
    {"denied_dir", 0, EACCES, false},
    {"denied_below", 0, ENOENT, false},
    {"denied_gone", 0, EBUSY, false},
    {"protected", 0, EROFS, false},
    {"protected_new", 0, EROFS, false},
    {"protected_chmod", 0, EROFS, false},
    {"protected_moved", 0, EBUSY, false},
    {"narrowed", 0, EROFS, false},

    /* What has to go on working. */
    {"reopened", 0, 0, false},
    {"protected_read", 0, 0, false},
    {"in_read", 0, 0, false},
    {"in_write", 0, 0, false},
    {"in_create", 0, 0, false},
    {"in_truncate", 0, 0, false},
    {"in_mkdir", 0, 0, false},
    {"in_unlink", 0, 0, false},
    {"in_rename", 0, 0, false},
    {"in_link", 0, 0, false},
    {"in_symlink", 0, 0, false},
    {"in_list", 0, 0, false},
    {"in_git", 0, 0, false},
    {"null", 0, 0, false},
    {"terminal", 0, 0, false},
    {"shell", 0, 0, false},
    {"system", 0, 0, false},
    {"proc_self", 0, 0, false},
    {"thread", 0, 0, false},
    {"pair_stream", 0, 0, false},
    {"pair_packets", 0, 0, false},
};

/* Behind bwrap alone, where the kernel has no Landlock, these have another outcome: the root
 * directory is a list of what is granted. */
static const struct deed alone[] = {
    {.act = "list_root", .bwrap = 0},
    {.act = "device", .bwrap = EPERM},
};

static const char *current; /* the backend, NULL: none */
static bool is_alone;
static uid_t user;

static int expected(const struct deed *deed)
{
    if (current == NULL)
        return 0;
    for (size_t i = 0; is_alone && i < COUNT(alone); i++)
        if (strcmp(alone[i].act, deed->act) == 0)
            return alone[i].bwrap;
    return strcmp(current, "bwrap") == 0 ? deed->bwrap : deed->landlock;
}

/* What is wrong, or NULL. */
static const char *try(const struct deed *deed)
{
    static char wrong[4000];
    struct wall wall;
    int wanted = expected(deed);

    wrong[0] = '\0';
    wall_build(&wall, user);
    char *before = wall_outside(&wall);
    struct image *image = current == NULL ? NULL : wall_image(&wall, current, RULES, NET_DENY);
    int got = wall_try(&wall, image, deed->act);
    char *after = wall_outside(&wall);
    if (got != wanted)
        snprintf(wrong, sizeof wrong, "%s as user %d: %d (%s) instead of %d (%s)", deed->act,
                 (int)user, got, strerror(got), wanted, strerror(wanted));
    else if (wanted != 0 && strcmp(before, after) != 0)
        snprintf(wrong, sizeof wrong, "%s as user %d changed something outside:\n%s", deed->act,
                 (int)user, after);
    free(before);
    free(after);
    free(image);
    wall_remove(&wall);
    return wrong[0] == '\0' ? NULL : wrong;
}

/* How many went wrong. */
static unsigned try_all(const char *backend)
{
    const uid_t users[] = {geteuid(), NOBODY};
    unsigned count = geteuid() == 0 ? 2 : 1;
    unsigned failures = 0;

    current = backend;
    for (unsigned i = 0; i < count; i++) {
        user = users[i];
        for (size_t j = 0; j < COUNT(deeds); j++) {
            if (deeds[j].root_only && user != 0)
                continue;
            const char *wrong = try(&deeds[j]);
            if (wrong == NULL)
                continue;
            printf("%s\n", wrong);
            failures++;
        }
    }
    return failures;
}

/* On a machine that lacks something. */
static bool try_all_without(void (*forbid)(void), const char *backend)
{
    int status;

    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        forbid();
        unsigned failures = try_all(backend);
        fflush(NULL);
        _exit(failures > 0);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

TEST without_a_wall_all_of_it_works(void)
{
    ASSERT_EQ(0, try_all(NULL));
    PASS();
}

TEST behind_landlock(void)
{
    NEEDS(lacks_landlock());
    ASSERT_EQ(0, try_all("landlock"));
    PASS();
}

TEST behind_landlock_without_namespaces(void)
{
    NEEDS(lacks_landlock());
    ASSERT(try_all_without(forbid_namespaces, "landlock"));
    PASS();
}

TEST behind_bwrap(void)
{
    NEEDS(lacks_any());
    ASSERT_EQ(0, try_all("bwrap"));
    PASS();
}

TEST behind_bwrap_without_landlock(void)
{
    NEEDS(lacks_bwrap());
    is_alone = true;
    ASSERT(try_all_without(forbid_landlock, "bwrap"));
    is_alone = false;
    PASS();
}

/* The same deeds with other rules for sockets and the network. */
struct other {
    const char *backend;
    const char *rules;
    const char *act;
    enum image_net net;
    int error;
};

static enum greatest_test_res try_others(const struct other *rows, size_t count)
{
    struct wall wall;

    wall_build(&wall, geteuid());
    char *before = wall_outside(&wall);
    for (size_t i = 0; i < count; i++) {
        struct image *image = wall_image(&wall, rows[i].backend, rows[i].rules, rows[i].net);
        ASSERT_EQ_FMTm(rows[i].act, rows[i].error, wall_try(&wall, image, rows[i].act), "%d");
        free(image);
    }
    char *after = wall_outside(&wall);
    ASSERT_STR_EQ(before, after);
    free(before);
    free(after);
    wall_remove(&wall);
    PASS();
}

#define SOCKET "unix $OUT/socket"
#define ALL    "unix $OUT"

TEST sockets_by_path(void)
{
    static const struct other rows[] = {
        {"bwrap", SOCKET, "unix_path", NET_DENY, 0},
        {"bwrap", SOCKET, "read", NET_DENY, ENOENT},
        {"bwrap", SOCKET, "create", NET_DENY, EROFS},
        {"bwrap", SOCKET, "pair_turned", NET_DENY, ENOENT},
        {"bwrap", SOCKET, "tcp", NET_DENY, EACCES},
        {"bwrap", SOCKET, "unix_path", NET_OPEN, 0},
        {"bwrap", ALL, "unix_path", NET_DENY, 0},
        {"bwrap", ALL, "pair_turned", NET_DENY, 0},
        {"bwrap", ALL, "read", NET_DENY, EACCES},
        {"bwrap", ALL, "write", NET_DENY, EROFS},
        {"bwrap", ALL, "list", NET_DENY, EACCES},
        {"bwrap", ALL, "chmod", NET_DENY, EROFS},
        {"bwrap", ALL, "unix_bind", NET_DENY, EROFS},
    };

    NEEDS(lacks_any());
    CHECK_CALL(try_others(rows, COUNT(rows)));
    PASS();
}

TEST an_open_network(void)
{
    static const struct other rows[] = {
        {"landlock", "", "tcp", NET_OPEN, 0},
        {"landlock", "", "udp", NET_OPEN, 0},
        {"landlock", "", "netlink", NET_OPEN, 0},
        {"landlock", "", "mptcp", NET_OPEN, EACCES},
        {"landlock", "", "unix_path", NET_OPEN, EACCES},
        {"landlock", "", "unix_abstract", NET_OPEN, EACCES},
        {"landlock", "", "pair_turned", NET_OPEN, EACCES},
        {"bwrap", "", "tcp", NET_OPEN, 0},
        {"bwrap", "", "mptcp", NET_OPEN, EACCES},
        {"bwrap", "", "unix_path", NET_OPEN, ENOENT},
        {"bwrap", "", "unix_abstract", NET_OPEN, EPERM},
    };

    NEEDS(lacks_any());
    CHECK_CALL(try_others(rows, COUNT(rows)));
    PASS();
}

/* What the backends say of each rule is what the deeds above found. */
TEST who_holds_what_is_said_truly(void)
{
    static const struct {
        const char *rule;
        enum holder landlock;
        enum holder bwrap;
    } rows[] = {
        {"write $ABS", HELD_BY_KERNEL, HELD_BY_KERNEL},
        {"read /usr", HELD_BY_KERNEL, HELD_BY_KERNEL},
        {"deny /etc/shadow", HELD_BY_SHIM, HELD_BY_KERNEL},
        {"protect $ABS/.git/hooks", HELD_BY_SHIM, HELD_BY_KERNEL},
        {"deny $ABS/secret", HELD_BY_SHIM, HELD_BY_KERNEL},
        {"deny $ABS/vault", HELD_BY_SHIM, HELD_BY_KERNEL},
        {"read $ABS/d", HELD_BY_SHIM, HELD_BY_KERNEL},
        {"read $ABS/vault/open", HELD_BY_SHIM, HELD_BY_KERNEL},
        {"deny $ABS/missing", HELD_BY_SHIM, HELD_BY_SHIM},
        {"deny /srv/nothing", HELD_BY_KERNEL, HELD_BY_KERNEL},
        {"protect /usr/bin", HELD_BY_KERNEL, HELD_BY_KERNEL},
        {"deny $ABS/**/*.pem", HELD_BY_SHIM, HELD_BY_SHIM},
    };
    struct wall wall;

    NEEDS(lacks_landlock());
    wall_build(&wall, geteuid());
    struct image *image = wall_image(&wall, "auto",
                                     RULES "; deny $ABS/missing; deny /srv/nothing;"
                                           " protect /usr/bin; deny $ABS/**/*.pem",
                                     NET_DENY);
    const struct policy *policy = image_policy(image);
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *text = tree_expand(&wall.tree, rows[i].rule);
        const char *path = strchr(text, ' ') + 1;
        uint32_t rule = 0;
        while (rule < policy->rules &&
               strcmp(policy_string(policy, policy_rules(policy)[rule].text), path) != 0)
            rule++;
        ASSERTm(rows[i].rule, rule < policy->rules);
        ASSERT_EQm(rows[i].rule, rows[i].landlock, backend_landlock.holds(image, rule));
        ASSERT_EQm(rows[i].rule, rows[i].bwrap, backend_bwrap.holds(image, rule));
        ASSERT_EQm(rows[i].rule, HELD_BY_SHIM, backend_native.holds(image, rule));
        free(text);
    }
    free(image);
    wall_remove(&wall);
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    wall_main(argc, argv);
    GREATEST_MAIN_BEGIN();
    RUN_TEST(without_a_wall_all_of_it_works);
    RUN_TEST(behind_landlock);
    RUN_TEST(behind_landlock_without_namespaces);
    RUN_TEST(behind_bwrap);
    RUN_TEST(behind_bwrap_without_landlock);
    RUN_TEST(sockets_by_path);
    RUN_TEST(an_open_network);
    RUN_TEST(who_holds_what_is_said_truly);
    GREATEST_MAIN_END();
}
