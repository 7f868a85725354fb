/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>

#include "backend.h"
#include "confine.h"
#include "cordon.h"
#include "decide.h"
#include "os.h"
#include "ruleset.h"

/* Before this ABI truncate(2) of any file is free. */
enum { ABI_HOLDS = 3 };

/* Landlock knows nothing of sockets with a path: without a supervisor those are refused as a whole.
 */
static void plan(const struct image *image, struct confinement *confinement)
{
    *confinement = (struct confinement){
        .landlock = true,
        .wants = {.internet = image->net == NET_OPEN,
                  .supervise = (enum image_supervise)image->supervise},
    };
}

/* Enters, and looks whether that had any effect. */
static int attempt(const struct image *image, struct trouble *trouble)
{
    const char *root = image_text(image, IMAGE_ROOT);
    const struct policy *policy = image_policy(image);
    int before = os_open_plain(AT_FDCWD, root, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    int fd;

    struct confinement confinement;

    plan(image, &confinement);
    confinement.wants.supervise = SUPERVISE_NONE;
    if (confine(image, &confinement, trouble) < 0)
        return -1;
    fd = os_open_plain(AT_FDCWD, "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (fd != -EACCES && !decide(policy, "/", INTENT_READ).allowed && fd != -ENOSYS)
        return trouble_set(trouble, "a trial", "/ can be read although it is not granted", "", "");
    fd = os_open_plain(AT_FDCWD, root, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (before >= 0 && fd < 0 && decide(policy, root, INTENT_READ).allowed)
        return trouble_set(trouble, "a trial: reading the workspace", cordon_strerror(fd), "", "");
    if (!seccomp_is_entered())
        return trouble_set(trouble, "a trial", "the system call filter does not answer", "", "");
    return 0;
}

static bool wants_unix_sockets(const struct policy *policy)
{
    for (uint32_t i = 0; i < policy->rules; i++)
        if (policy_rules(policy)[i].kind == RULE_UNIX)
            return true;
    return false;
}

static int probe(const struct image *image, struct trouble *trouble)
{
    int abi = ruleset_abi();

    if (abi < 0)
        return trouble_landlock(trouble, abi);
    if (image->supervise == SUPERVISE_NONE && wants_unix_sockets(image_policy(image)))
        return trouble_set(trouble, "unix sockets", "none can be allowed",
                           "Landlock does not tell one path of a socket from another",
                           "use -b bwrap");
    return try_apart(attempt, image, TRIAL_LIMIT, trouble);
}

static bool likely(const struct image *image)
{
    return ruleset_abi() >= ABI_HOLDS &&
           (image->supervise != SUPERVISE_NONE || !wants_unix_sockets(image_policy(image)));
}

/* Asked for every rule. */
static bool is_old(void)
{
    static int abi;

    if (abi == 0)
        abi = ruleset_abi();
    return abi < ABI_HOLDS;
}

/* A rule is held if the grants add up to nothing but what it leaves. */
static enum holder holds(const struct image *image, uint32_t index)
{
    const struct policy *policy = image_policy(image);
    const struct policy_rule *rule = &policy_rules(policy)[index];
    const char *path = policy_string(policy, rule->text);
    struct policy_at at;

    if (rule->kind == RULE_UNIX)
        return image->supervise == SUPERVISE_NONE ? HELD_BY_NOBODY : HELD_BY_SUPERVISOR;
    if (!rule->is_path || is_old())
        return HELD_BY_SHIM;
    decide_start(policy, &at);
    if (!decide_follow(policy, &at, path))
        return HELD_BY_SHIM;
    return ruleset_gives(policy, path) == at.layers[0].access ? HELD_BY_KERNEL : HELD_BY_SHIM;
}

static enum holder holds_net(const struct image *image)
{
    if (image->net == NET_LOOPBACK)
        return image->supervise == SUPERVISE_NONE ? HELD_BY_NOBODY : HELD_BY_SUPERVISOR;
    return HELD_BY_KERNEL;
}

static const struct gap *gaps(void)
{
    /* From the newest ABI to the oldest: what this kernel lacks is the tail of the list. */
    static const struct {
        int until;
        struct gap gap;
    } all[] = {
        {INT32_MAX, {"deny and protect inside of a grant, and patterns", HELD_BY_SUPERVISOR}},
        {INT32_MAX,
         {"metadata of files outside: stat, access, readlink, chdir and inotify see it; chmod, "
          "chown, utime and xattr change it where the file's owner could (root: anybody's)",
          HELD_BY_SUPERVISOR}},
        {INT32_MAX, {"inode flags of files that are granted for reading", HELD_BY_SUPERVISOR}},
        {INT32_MAX, {"locks and leases of files that are granted for reading", HELD_BY_NOBODY}},
        {INT32_MAX,
         {"System V shared memory, semaphores and message queues of the same user",
          HELD_BY_NOBODY}},
        {INT32_MAX,
         {"other terminals of the same user, where /dev/pts is granted", HELD_BY_NOBODY}},
        {INT32_MAX,
         {"command lines of other processes, and affinity and scheduling of those of the same user",
          HELD_BY_NOBODY}},
        {6, {"signals to other processes of the same user (Linux 6.12)", HELD_BY_NOBODY}},
        {5, {"ioctl on the devices that are granted for reading (Linux 6.10)", HELD_BY_NOBODY}},
        {3, {"truncate of files outside (Linux 6.2)", HELD_BY_SUPERVISOR}},
    };
    static struct gap list[sizeof all / sizeof all[0] + 1];
    int abi = ruleset_abi();
    size_t count = 0;

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (abi < all[i].until)
            list[count++] = all[i].gap;
    list[count].text = NULL;
    return list;
}

const struct backend backend_landlock = {
    .name = "landlock",
    .probe = probe,
    .likely = likely,
    .holds = holds,
    .holds_net = holds_net,
    .gaps = gaps,
    .plan = plan,
};
