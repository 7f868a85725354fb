/* SPDX-License-Identifier: MIT */
#include "caps.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "syscall.h"

/* Not DAC_READ_SEARCH, which opens files by handle, and nothing that reaches beyond files. */
#define KEPT                                                                          \
    (1U << CAP_CHOWN | 1U << CAP_DAC_OVERRIDE | 1U << CAP_FOWNER | 1U << CAP_FSETID | \
     1U << CAP_SETGID | 1U << CAP_SETUID)

/* To see what the callers mean, whoever they are. */
#define SUPERVISES (1U << CAP_SYS_PTRACE)

enum { WORDS = _LINUX_CAPABILITY_U32S_3, CAPABILITIES = 32 * WORDS };

static long prctl_raw(int option, long a, long b)
{
    return os_syscall(SYS_prctl, option, a, b, 0, 0, 0);
}

/* Only who has CAP_SETPCAP may do this. Where it fails no_new_privs stands in its place: an exec
 * gives nothing then that was not there before. */
static void drop_bounding(uint32_t kept)
{
    for (int capability = 0; capability < CAPABILITIES; capability++)
        if (capability >= 32 || (kept >> capability & 1) == 0)
            if (prctl_raw(PR_CAPBSET_DROP, capability, 0) < 0)
                return;
}

int caps_drop(bool supervises)
{
    /* Who drops the rest later on has to be able to. */
    const uint32_t kept = supervises ? KEPT | SUPERVISES | 1U << CAP_SETPCAP : KEPT;
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[WORDS];
    uint32_t any = 0;
    long error = os_syscall(SYS_capget, (long)&header, (long)data, 0, 0, 0, 0);

    if (error < 0)
        return (int)error;
    for (int i = 0; i < WORDS; i++) {
        any |= data[i].permitted | data[i].inheritable;
        data[i].permitted &= i == 0 ? kept : 0;
        data[i].effective &= i == 0 ? kept : 0;
        data[i].inheritable = 0;
    }
    if (any == 0)
        return 0;
    drop_bounding(kept);
    error = prctl_raw(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0);
    if (error < 0 && error != -EINVAL)
        return (int)error;
    return (int)os_syscall(SYS_capset, (long)&header, (long)data, 0, 0, 0, 0);
}
