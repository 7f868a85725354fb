/* SPDX-License-Identifier: MIT */
#include "ids.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor.h"

static atomic_bool vary;

void ids_vary(void)
{
    atomic_store(&vary, true);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* The text behind "KEY:" at the start of a line. */
static const char *field(const char *text, const char *key)
{
    size_t length = strlen(key);

    while (text != NULL && (strncmp(text, key, length) != 0 || text[length] != ':')) {
        text = strchr(text, '\n');
        text = text == NULL ? NULL : text + 1;
    }
    return text == NULL ? "" : text + length + 1;
}

static unsigned long long hex(const char *text, const char *key)
{
    return strtoull(field(text, key), NULL, 16);
}

static void read_four(const char *text, const char *key, unsigned values[4])
{
    const char *at = field(text, key);
    char *end;

    for (int i = 0; i < 4; i++) {
        values[i] = (unsigned)strtoul(at, &end, 10);
        at = end;
    }
}

static void read_groups(const char *text, struct ids_status *status)
{
    const char *at = field(text, "Groups");
    char *end;

    for (status->groups = 0; *at != '\0' && *at != '\n'; at = end) {
        gid_t group = (gid_t)strtoul(at, &end, 10);
        if (end == at)
            break;
        if (status->groups == IDS_GROUPS) {
            status->groups = -1;
            return;
        }
        status->group[status->groups++] = group;
        end += strspn(end, " ");
    }
}

static int read_status(int fd, struct ids_status *status)
{
    char text[8192];
    ssize_t length = pread(fd, text, sizeof text - 1, 0);

    if (length <= 0)
        return -ESRCH;
    text[length] = '\0';
    status->umask = (mode_t)strtoul(field(text, "Umask"), NULL, 8);
    status->process = (pid_t)strtol(field(text, "Tgid"), NULL, 10);
    status->parent = (pid_t)strtol(field(text, "PPid"), NULL, 10);
    read_four(text, "Uid", status->uid);
    read_four(text, "Gid", status->gid);
    read_groups(text, status);
    status->caps = hex(text, "CapEff");
    /* Not only those that it handles: others stop it, or end it with a core dump. */
    unsigned long long felt = ~hex(text, "SigBlk") & ~hex(text, "SigIgn");
    status->pending = (hex(text, "SigPnd") | hex(text, "ShdPnd")) & felt;
    status->restarts =
        (hex(text, "SigPnd") & felt) != 0 || strtol(field(text, "Threads"), NULL, 10) == 1;
    return 0;
}

int ids_read_of(int proc, pid_t thread, struct ids_status *status)
{
    char path[64];
    int fd;

    snprintf(path, sizeof path, "%d/status", (int)thread);
    fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int error = read_status(fd, status);
    close(fd);
    return error;
}

int ids_read(struct job *job, struct ids_status *status)
{
    int fd = job_open_proc(job, "status", O_RDONLY);

    if (fd < 0)
        return fd;
    int error = read_status(fd, status);
    close(fd);
    return error;
}

/* --- acting ----------------------------------------------------------------------------------- */

static void set_effective(unsigned long long caps)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

    if (syscall(SYS_capget, &header, data) < 0)
        return;
    data[0].effective = data[0].permitted & (uint32_t)caps;
    data[1].effective = 0;
    syscall(SYS_capset, &header, data);
}

/* To find the way back. */
#define OWN_CAPS (1U << CAP_SETUID | 1U << CAP_SETGID)

/* What fails here leaves the thread with rights of which the caller has no part: give up. */
static void must(struct job *job, long result)
{
    if (result < 0)
        job_give_up(job, -EACCES);
}

bool ids_can_change(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

    return syscall(SYS_capget, &header, data) == 0 &&
           (data[0].permitted & (1U << CAP_SETUID | 1U << CAP_SETGID | 1U << CAP_DAC_OVERRIDE)) !=
               0;
}

void ids_become(struct job *job)
{
    struct ids_status status;

    if (!job->on->wants.many_ids || !atomic_load(&vary))
        return;
    if (ids_read(job, &status) < 0 || status.groups < 0)
        job_give_up(job, -EACCES);
    job->lowered = true;
    job->caps = ~0ULL;
    must(job, syscall(SYS_setgroups, status.groups, status.group));
    must(job, syscall(SYS_setresgid, status.gid[0], -1, -1));
    must(job, syscall(SYS_setresuid, status.uid[0], -1, -1));
    syscall(SYS_setfsgid, status.gid[3]);
    syscall(SYS_setfsuid, status.uid[3]);
    if ((gid_t)syscall(SYS_setfsgid, -1) != status.gid[3] ||
        (uid_t)syscall(SYS_setfsuid, -1) != status.uid[3])
        must(job, -1);
    job->caps = status.caps | OWN_CAPS;
    set_effective(job->caps);
}

void ids_pause(struct job *job)
{
    if (job->lowered)
        set_effective(~0ULL);
}

void ids_resume(struct job *job)
{
    if (job->lowered)
        set_effective(job->caps);
}

void ids_return(struct job *job)
{
    const struct ids_status *own = &job->on->own;

    job->acts_as_caller = false;
    if (!job->lowered)
        return;
    job->lowered = false;
    syscall(SYS_setresuid, own->uid[0], -1, -1);
    syscall(SYS_setfsuid, own->uid[3]);
    syscall(SYS_setresgid, own->gid[0], -1, -1);
    syscall(SYS_setfsgid, own->gid[3]);
    syscall(SYS_setgroups, own->groups, own->group);
    set_effective(~0ULL);
}
