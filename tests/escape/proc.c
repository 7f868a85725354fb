/* SPDX-License-Identifier: MIT */
/* Ways out through /proc, /sys and /dev. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "attack.h"
#include "layer.h"

static int read_at(const char *magic, const char *path)
{
    char whole[4300];

    snprintf(whole, sizeof whole, "%s%s", magic, path);
    return spill(do_open(whole, O_RDONLY, 0));
}

static int read_of(long pid, const char *magic, const char *path)
{
    char whole[64];

    snprintf(whole, sizeof whole, "/proc/%ld/%s", pid, magic);
    return read_at(whole, path);
}

static int proc_self_root(void)
{
    return read_at("/proc/self/root", in("out", "secret"));
}

static int proc_thread_root(void)
{
    return read_at("/proc/thread-self/root", in("out", "secret"));
}

static int proc_self_cwd(void)
{
    return read_at("/proc/self/cwd", "/../out/secret");
}

static int proc_task_cwd(void)
{
    char whole[64];

    snprintf(whole, sizeof whole, "/proc/self/task/%d/cwd", getpid());
    return read_at(whole, "/../out/secret");
}

static int proc_init_root(void)
{
    int error = read_of(1, "root", in("out", "secret"));

    return error < 0 && is_bare() ? cannot("the first process is not ours to look into") : error;
}

static int proc_parent_root(void)
{
    return read_of(getppid(), "root", in("out", "secret"));
}

static int proc_victim_root(void)
{
    return read_of(fact_number("victim"), "root", in("out", "secret"));
}

static int proc_victim_cwd(void)
{
    return read_of(fact_number("victim"), "cwd", "/secret");
}

static int proc_victim_fd(void)
{
    return read_of(fact_number("victim"), "fd/", fact("victim_fd"));
}

static int proc_victim_environ(void)
{
    return read_of(fact_number("victim"), "environ", "");
}

static int proc_victim_mem(void)
{
    char path[64];
    char text[64];
    long fd;

    snprintf(path, sizeof path, "/proc/%ld/mem", fact_number("victim"));
    fd = do_open(path, O_RDONLY, 0);
    return fd < 0
               ? (int)fd
               : spill_text(text, sys(SYS_pread64, fd, text, sizeof text, fact_number("address")));
}

/* Opened only: what was written there would concern the whole machine. */
static int open_only(const char *path, int flags)
{
    long fd;

    if (access(path, F_OK) < 0 && is_bare())
        return cannot("there is none");
    fd = do_open(path, flags, 0);
    if (fd == -EPERM && is_bare())
        return cannot("devices are kept from us");
    return fd < 0 ? (int)fd : 0;
}

static int proc_core_pattern(void)
{
    return open_only("/proc/sys/kernel/core_pattern", O_WRONLY);
}

static int proc_sysrq(void)
{
    return open_only("/proc/sysrq-trigger", O_WRONLY);
}

static int proc_parent_oom(void)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%ld/oom_score_adj", fact_number("victim"));
    return open_only(path, O_WRONLY);
}

static int sys_write(void)
{
    return open_only("/sys/kernel/mm/transparent_hugepage/enabled", O_WRONLY);
}

static int cgroup_write(void)
{
    return open_only("/sys/fs/cgroup/cgroup.procs", O_WRONLY);
}

static int dev_memory(void)
{
    return open_only("/dev/mem", O_RDWR);
}

static int dev_kmsg(void)
{
    return open_only("/dev/kmsg", O_WRONLY);
}

/* The first disk that the kernel knows: its bytes hold every file. */
static int disk(char name[static 32], unsigned *major, unsigned *minor)
{
    char line[128];
    FILE *partitions = fopen("/proc/partitions", "r");
    int found = 0;

    while (partitions != NULL && found != 3 && fgets(line, sizeof line, partitions) != NULL)
        found = sscanf(line, "%u %u %*u %31s", major, minor, name); // NOLINT(cert-err34-c)
    if (partitions != NULL)
        fclose(partitions);
    return found == 3 ? 0 : cannot("no disk");
}

static int dev_disk(void)
{
    char name[32];
    unsigned major = 0;
    unsigned minor = 0;
    int error = disk(name, &major, &minor);

    return error < 0 ? error : open_only(join("/dev", name), O_RDONLY);
}

static int mknod_disk(void)
{
    char name[32];
    unsigned major = 0;
    unsigned minor = 0;
    int error = disk(name, &major, &minor);

    if (error == 0)
        error = (int)do_mknod("disk", S_IFBLK | 0600, makedev(major, minor));
    return error;
}

static int mknod_memory(void)
{
    return (int)do_mknod("memory", S_IFCHR | 0600, makedev(1, 1));
}

#define MAGIC   "walk.c: magic links are judged by where they lead; landlock.c: READ_FILE"
#define OTHERS  "landlock.c: a domain may not trace what is outside; bwrap.c: --unshare-pid"
#define SYSTEM  "defaults.c: /proc and /sys are not granted to write; landlock.c: WRITE_FILE"
#define DEVICES "defaults.c: which devices are granted; landlock.c: READ_FILE; bwrap.c: --dev"

static const struct attack rows[] = {
    {"proc_self_root", proc_self_root, LEAK, ALL, 0, NULL, MAGIC, NULL, "open out/secret"},
    {"proc_thread_root", proc_thread_root, LEAK, ALL, 0, NULL, MAGIC, NULL, "open out/secret"},
    {"proc_self_cwd", proc_self_cwd, LEAK, ALL, 0, NULL, MAGIC, NULL, "open out/secret"},
    {"proc_task_cwd", proc_task_cwd, LEAK, ALL, 0, NULL, MAGIC, NULL, "open out/secret"},
    {"proc_init_root", proc_init_root, LEAK, ALL, NEEDS_ROOT, NULL, MAGIC, NULL, KERNEL},
    {"proc_parent_root", proc_parent_root, LEAK, ALL, 0, NULL, MAGIC, NULL, KERNEL},
    {"proc_victim_root", proc_victim_root, LEAK, ALL, 0, NULL, MAGIC, NULL, KERNEL},
    {"proc_victim_cwd", proc_victim_cwd, LEAK, ALL, 0, NULL, MAGIC, NULL, KERNEL},
    {"proc_victim_fd", proc_victim_fd, LEAK, ALL, 0, NULL, MAGIC, NULL, KERNEL},
    {"proc_victim_environ", proc_victim_environ, LEAK, WALL, 0, "EACCES EPERM", OTHERS, NULL,
     KERNEL},
    {"proc_victim_mem", proc_victim_mem, LEAK, WALL, 0, "EACCES EPERM", OTHERS, NULL, KERNEL},
    {"proc_core_pattern", proc_core_pattern, CLAIM, ALL, NEEDS_ROOT, NULL, SYSTEM, NULL,
     "open /proc/sys/kernel/core_pattern"},
    {"proc_sysrq", proc_sysrq, CLAIM, ALL, NEEDS_ROOT, NULL, SYSTEM, NULL,
     "open /proc/sysrq-trigger"},
    {"proc_parent_oom", proc_parent_oom, CLAIM, ALL, 0, NULL, SYSTEM, NULL,
     "open /proc/*/oom_score_adj"},
    {"sys_write", sys_write, CLAIM, ALL, NEEDS_ROOT, NULL, SYSTEM, NULL,
     "open /sys/kernel/mm/transparent_hugepage/enabled"},
    {"cgroup_write", cgroup_write, CLAIM, ALL, NEEDS_ROOT, NULL, SYSTEM, NULL,
     "open /sys/fs/cgroup/cgroup.procs"},
    {"dev_memory", dev_memory, CLAIM, ALL, NEEDS_ROOT, NULL, DEVICES, NULL, "open /dev/mem"},
    {"dev_kmsg", dev_kmsg, CLAIM, ALL, NEEDS_ROOT, NULL, DEVICES, NULL, "open /dev/kmsg"},
    {"dev_disk", dev_disk, CLAIM, ALL, NEEDS_ROOT, NULL, DEVICES, NULL, "open /dev/*"},
    {"mknod_disk", mknod_disk, CLAIM, WALL, NEEDS_ROOT, "EACCES EPERM",
     "landlock.c: MAKE_BLOCK is granted nowhere; caps.c: MKNOD is dropped", NULL, KERNEL},
    {"mknod_memory", mknod_memory, CLAIM, WALL, NEEDS_ROOT, "EACCES EPERM",
     "landlock.c: MAKE_CHAR is granted nowhere; caps.c: MKNOD is dropped", NULL, KERNEL},
};
const struct attacks attacks_proc = ATTACKS(rows);
