/* SPDX-License-Identifier: MIT */
#include "confine.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "caps.h"
#include "cordon.h"
#include "os.h"
#include "ruleset.h"
#include "syscall.h"

static void copy(char *to, size_t size, const char *from)
{
    size_t length = strlen(from);

    if (length >= size)
        length = size - 1;
    memcpy(to, from, length);
    to[length] = '\0';
}

int trouble_set(struct trouble *trouble, const char *step, const char *words, const char *cause,
                const char *fix)
{
    copy(trouble->step, sizeof trouble->step, step);
    copy(trouble->words, sizeof trouble->words, words);
    copy(trouble->cause, sizeof trouble->cause, cause);
    copy(trouble->fix, sizeof trouble->fix, fix);
    return -1;
}

int trouble_landlock(struct trouble *trouble, int error)
{
    const char *cause = "";
    const char *fix = "";

    switch (error) {
    case -ENOSYS:
        cause = "this kernel has no Landlock, or a filter hides it";
        fix = "use Linux 6.2 or newer; in a container, a seccomp profile that allows landlock_*";
        break;
    case -EOPNOTSUPP:
        cause = "Landlock is switched off";
        fix = "add landlock to the lsm= list of the kernel's command line";
        break;
    case -EPERM:
        cause = "a filter stands in front of Landlock";
        fix = "use a seccomp profile that allows landlock_* for the container";
        break;
    case -E2BIG:
        cause = "16 Landlock layers around this process already";
        fix = "nest fewer sandboxes";
        break;
    default:
        break;
    }
    return trouble_set(trouble, "Landlock", cordon_strerror(error), cause, fix);
}

/* Landlock restricts the one thread that asks for it. */
static bool has_threads(void)
{
    struct stat st;

    /* One link for each, and two for the directory itself. */
    return os_fstatat(AT_FDCWD, "/proc/self/task", &st, 0) == 0 && st.st_nlink > 3;
}

static int drop_caps(bool supervises, struct trouble *trouble)
{
    int error = caps_drop(supervises);

    return error < 0 ? trouble_set(trouble, "capabilities", cordon_strerror(error), "", "") : 0;
}

int confine_wall(const struct image *image, const struct confinement *confinement,
                 struct trouble *trouble)
{
    const bool supervises = confinement->wants.supervise != SUPERVISE_NONE;
    long error;

    if (has_threads())
        return trouble_set(trouble, "threads", "the process has several threads already",
                           "a library started them before cordon was loaded",
                           "run the program with cordon run");
    error = os_syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0);
    if (error < 0)
        return trouble_set(trouble, "no_new_privs", cordon_strerror((int)error), "", "");
    if (drop_caps(supervises, trouble) < 0)
        return -1;
    error = confinement->landlock ? ruleset_enforce(image, supervises) : 0;
    return error < 0 ? trouble_landlock(trouble, (int)error) : 0;
}

int confine_inside(const struct image *image, const struct confinement *confinement,
                   struct trouble *trouble)
{
    const bool supervised = confinement->wants.supervise != SUPERVISE_NONE;
    int error = 0;

    if (supervised && drop_caps(false, trouble) < 0)
        return -1;
    if (supervised && confinement->landlock)
        error = ruleset_enclose(image);
    if (error < 0)
        return trouble_landlock(trouble, error);
    error = seccomp_enter(&confinement->wants);
    if (error < 0)
        return trouble_set(trouble, supervised ? "the supervisor" : "seccomp",
                           cordon_strerror(error),
                           error == -EINVAL  ? "this kernel has no such filters"
                           : error == -EBUSY ? "another supervisor holds this process already"
                                             : "",
                           supervised ? "use --no-supervise" : "");
    return error;
}

int confine(const struct image *image, const struct confinement *confinement,
            struct trouble *trouble)
{
    int error = confine_wall(image, confinement, trouble);

    return error < 0 ? error : confine_inside(image, confinement, trouble);
}
