/* SPDX-License-Identifier: MIT */
#include "ruleset.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include "os.h"
#include "syscall.h"

/* From linux/landlock.h, which here may be older than the kernel. */
struct ruleset_attr {
    uint64_t files;
    uint64_t net;
    uint64_t scopes;
};

struct path_attr {
    uint64_t allowed;
    int32_t fd;
} __attribute__((packed));

enum { VERSION = 1, PATH_BENEATH = 1 };
enum { BIND_TCP = 1, CONNECT_TCP = 2 };
enum { ABSTRACT_SOCKETS = 1, SIGNALS = 2 };

enum {
    EXECUTE = 1 << 0,
    WRITE_FILE = 1 << 1,
    READ_FILE = 1 << 2,
    READ_DIR = 1 << 3,
    REMOVE_DIR = 1 << 4,
    REMOVE_FILE = 1 << 5,
    MAKE_CHAR = 1 << 6,
    MAKE_DIR = 1 << 7,
    MAKE_REG = 1 << 8,
    MAKE_SOCK = 1 << 9,
    MAKE_FIFO = 1 << 10,
    MAKE_BLOCK = 1 << 11,
    MAKE_SYM = 1 << 12,
    REFER = 1 << 13,
    TRUNCATE = 1 << 14,
    IOCTL_DEV = 1 << 15,
};

/* Devices are made by nobody. */
#define READING (EXECUTE | READ_FILE | READ_DIR)
#define WRITING                                                                            \
    (WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_SOCK | MAKE_FIFO | \
     MAKE_SYM | REFER | TRUNCATE | IOCTL_DEV)
#define ALL (READING | WRITING | MAKE_CHAR | MAKE_BLOCK)

/* The rights that mean something for what is no directory. */
#define OF_FILES (EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV)

int ruleset_abi(void)
{
    return (int)os_syscall(SYS_landlock_create_ruleset, 0, 0, VERSION, 0, 0, 0);
}

static unsigned known(int abi)
{
    unsigned rights = ALL;

    if (abi < 2)
        rights &= ~(unsigned)REFER;
    if (abi < 3)
        rights &= ~(unsigned)TRUNCATE;
    if (abi < 5)
        rights &= ~(unsigned)IOCTL_DEV;
    return rights;
}

static int create(const struct ruleset_attr *attr, int abi)
{
    size_t size = sizeof *attr;

    if (abi < 6)
        size = offsetof(struct ruleset_attr, scopes);
    if (abi < 4)
        size = offsetof(struct ruleset_attr, net);
    return (int)os_syscall(SYS_landlock_create_ruleset, (long)attr, (long)size, 0, 0, 0, 0);
}

/* By the very path that was judged: a link that has come up on the way leads elsewhere. */
static int open_granted(const char *path)
{
    int fd = os_open_plain(AT_FDCWD, path, O_PATH | O_CLOEXEC, 0);

    if (fd == -ENOSYS)
        fd = (int)os_syscall(SYS_openat, AT_FDCWD, (long)path, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0,
                             0, 0);
    return fd;
}

static bool is_gone(int error)
{
    return error == -ENOENT || error == -ENOTDIR || error == -ELOOP || error == -EACCES ||
           error == -ENAMETOOLONG;
}

/* What holds at the rule's own path, where a deny beside it has had its say. */
static struct layer_at stand_at(const struct policy *policy, const struct policy_rule *rule)
{
    struct policy_at at;

    decide_start(policy, &at);
    if (!decide_follow(policy, &at, policy_string(policy, rule->text)))
        at.layers[0] = (struct layer_at){.socket = POLICY_NONE};
    return at.layers[0];
}

static bool is_grant(const struct policy_rule *rule)
{
    return rule->kind == RULE_READ || rule->kind == RULE_WRITE;
}

static unsigned rights_of(const struct policy *policy, const struct policy_rule *rule)
{
    struct layer_at at = stand_at(policy, rule);
    unsigned rights = 0;

    if (rule->kind == RULE_UNIX && at.socket != POLICY_NONE)
        rights |= MAKE_SOCK;
    if (is_grant(rule) && at.access >= ACCESS_READ)
        rights |= READING;
    if (is_grant(rule) && at.access == ACCESS_WRITE)
        rights |= WRITING;
    return rights;
}

static int add(int ruleset, int fd, unsigned rights)
{
    struct path_attr attr = {.allowed = rights, .fd = fd};
    struct os_id id;
    int error = os_identify(fd, "", &id);

    if (error < 0)
        return error;
    if (S_ISLNK(id.mode))
        return 0;
    if (!S_ISDIR(id.mode))
        attr.allowed &= OF_FILES;
    if (attr.allowed == 0)
        return 0;
    return (int)os_syscall(SYS_landlock_add_rule, ruleset, PATH_BENEATH, (long)&attr, 0, 0, 0);
}

static int add_rules(int ruleset, const struct policy *policy, unsigned most)
{
    for (uint32_t i = 0; i < policy->rules; i++) {
        const struct policy_rule *rule = &policy_rules(policy)[i];
        unsigned rights = rule->is_path ? rights_of(policy, rule) & most : 0;
        if (rights == 0)
            continue;
        int fd = open_granted(policy_string(policy, rule->text));
        if (is_gone(fd))
            continue;
        if (fd < 0)
            return fd;
        int error = add(ruleset, fd, rights);
        os_close(fd);
        if (error < 0)
            return error;
    }
    return 0;
}

/* Restricts this process to the ruleset, if there was no error in making it, and closes it. */
static int enforce(int ruleset, int error)
{
    if (error == 0)
        error = (int)os_syscall(SYS_landlock_restrict_self, ruleset, 0, 0, 0, 0, 0);
    os_close(ruleset);
    return error;
}

static unsigned net_of(const struct image *image)
{
    return image->net == NET_OPEN ? 0 : BIND_TCP | CONNECT_TCP;
}

int ruleset_enforce(const struct image *image, bool supervises)
{
    int abi = ruleset_abi();
    const struct ruleset_attr attr = {
        .files = abi < 0 ? 0 : known(abi),
        .net = supervises ? 0 : net_of(image),
        .scopes = ABSTRACT_SOCKETS | SIGNALS,
    };
    int ruleset = abi < 0 ? abi : create(&attr, abi);

    return ruleset < 0 ? ruleset
                       : enforce(ruleset, add_rules(ruleset, image_policy(image), known(abi)));
}

/* Moving between directories is refused by every layer that holds anything of files, unless a rule
 * gives it back. */
static int add_moves(int ruleset)
{
    int fd = (int)os_syscall(SYS_openat, AT_FDCWD, (long)"/", O_PATH | O_CLOEXEC, 0, 0, 0);
    int error = fd < 0 ? fd : add(ruleset, fd, REFER);

    if (fd >= 0)
        os_close(fd);
    return error;
}

/* A layer has to hold something: block devices are made by nobody. */
int ruleset_enclose(const struct image *image)
{
    int abi = ruleset_abi();
    const struct ruleset_attr attr = {
        .files = (MAKE_BLOCK | REFER) & known(abi),
        .net = net_of(image),
        .scopes = SIGNALS,
    };
    int ruleset = abi < 0 ? abi : create(&attr, abi);

    if (ruleset < 0)
        return ruleset;
    return enforce(ruleset, abi < 2 ? 0 : add_moves(ruleset));
}

enum access ruleset_gives(const struct policy *policy, const char *path)
{
    enum access most = ACCESS_NONE;

    for (uint32_t i = 0; i < policy->rules; i++) {
        const struct policy_rule *rule = &policy_rules(policy)[i];
        if (!is_grant(rule) || !path_is_below(policy_string(policy, rule->text), path))
            continue;
        enum access access = stand_at(policy, rule).access;
        if (access > most)
            most = access;
    }
    return most;
}
