/* SPDX-License-Identifier: MIT */
/* Processes that are not ours, namespaces, mounts, the root directory, the terminal. */
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attack.h"
#include "layer.h"

static long victim(void)
{
    return fact_number("victim");
}

/* --- signals ---------------------------------------------------------------------------------- */

static int kill_victim(void)
{
    return (int)sys(SYS_kill, victim(), SIGKILL);
}

static int tgkill_victim(void)
{
    return (int)sys(SYS_tgkill, victim(), victim(), SIGKILL);
}

static int queue_signal(void)
{
    siginfo_t info = {.si_code = SI_QUEUE, .si_signo = SIGTERM};

    return (int)sys(SYS_rt_sigqueueinfo, victim(), SIGTERM, &info);
}

static int pidfd_signal(void)
{
    long fd = sys(SYS_pidfd_open, victim(), 0);

    return fd < 0 ? (int)fd : (int)sys(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
}

/* Whoever started us is in our process group, in whatever namespace it is. */
static int kill_group(void)
{
    signal(SIGUSR1, SIG_IGN);
    return (int)sys(SYS_kill, 0, SIGUSR1);
}

/* The kernel sends this one when there is something to read. */
static int io_signal(void)
{
    int ends[2];
    long error = pipe(ends) < 0 ? -errno : 0;

    if (error == 0)
        error = sys(SYS_fcntl, ends[0], F_SETOWN, victim());
    if (error == 0)
        error = sys(SYS_fcntl, ends[0], F_SETSIG, SIGTERM);
    if (error == 0)
        error = sys(SYS_fcntl, ends[0], F_SETFL, O_ASYNC);
    if (error == 0 && write(ends[1], "x", 1) != 1)
        error = -errno;
    /* Whether it was sent only the victim knows. */
    return error < 0 ? (int)error : -EACCES;
}

/* A limit of no time at all is another way to kill. */
static int limit_victim(void)
{
    const struct rlimit none = {.rlim_cur = 0, .rlim_max = 0};

    return (int)sys(SYS_prlimit64, victim(), RLIMIT_NOFILE, &none, NULL);
}

static int priority_victim(void)
{
    return (int)sys(SYS_setpriority, PRIO_PROCESS, victim(), 19);
}

/* --- memory ----------------------------------------------------------------------------------- */

static int ptrace_victim(void)
{
    long pid = victim();
    long words[8] = {0};
    long error = sys(SYS_ptrace, PTRACE_ATTACH, pid, 0, 0);
    int status;

    if (error < 0)
        return (int)error;
    waitpid((pid_t)pid, &status, __WALL);
    for (int i = 0; i < 8 && error >= 0; i++)
        error = sys6(SYS_ptrace, PTRACE_PEEKDATA, pid, fact_number("address") + 8L * i,
                     (long)&words[i], 0, 0);
    /* libc's syscall() gives the kernel's way of this call, too: the word goes to the address. */
    sys(SYS_ptrace, PTRACE_DETACH, pid, 0, 0);
    return spill_text((const char *)words, error < 0 ? error : (long)sizeof words);
}

static int ptrace_seize(void)
{
    return (int)sys(SYS_ptrace, PTRACE_SEIZE, victim(), 0, 0);
}

/* Whoever watches over us: it must not be ours to steer. */
static int ptrace_parent(void)
{
    return (int)sys(SYS_ptrace, PTRACE_SEIZE, getppid(), 0, 0);
}

static int signal_parent(void)
{
    return (int)sys(SYS_kill, getppid(), 0);
}

static int memory_read(void)
{
    char text[64];
    struct iovec here = {.iov_base = text, .iov_len = sizeof text};
    struct iovec there = {.iov_base = (void *)fact_number("address"), .iov_len = sizeof text};

    return spill_text(text, sys(SYS_process_vm_readv, victim(), &here, 1, &there, 1, 0));
}

/* The harness shares that page with the victim. */
static int memory_write(void)
{
    char text[8] = "scribble";
    struct iovec here = {.iov_base = text, .iov_len = sizeof text};
    struct iovec there = {.iov_base = (char *)fact_number("address") + 128, .iov_len = sizeof text};
    long error = sys(SYS_process_vm_writev, victim(), &here, 1, &there, 1, 0);

    return error < 0 ? (int)error : 0;
}

static int take_descriptor(void)
{
    long fd = sys(SYS_pidfd_open, victim(), 0);

    if (fd < 0)
        return (int)fd;
    return spill(sys(SYS_pidfd_getfd, fd, fact_number("victim_fd"), 0));
}

/* --- namespaces and mounts -------------------------------------------------------------------- */

static int write_map(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY);
    ssize_t length = fd < 0 ? -1 : write(fd, text, strlen(text));

    if (fd >= 0)
        close(fd);
    return length < 0 ? -errno : 0;
}

/* Root in a namespace of one's own, who may mount: outside becomes inside. */
static int unshare_and_bind(void)
{
    char map[64];
    unsigned uid = geteuid();
    long error = sys(SYS_unshare, CLONE_NEWUSER | CLONE_NEWNS);

    if (error == 0) {
        snprintf(map, sizeof map, "0 %u 1", uid);
        error = write_map("/proc/self/uid_map", map);
    }
    if (error == 0)
        error = sys(SYS_mount, fact("out"), in("ws", "dir"), NULL, MS_BIND, NULL);
    return error < 0 ? (int)error : spill(do_open("dir/secret", O_RDONLY, 0));
}

static int clone_namespace(void)
{
    long pid = sys(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);

    if (pid == 0)
        sys(SYS_exit_group, 0);
    return pid < 0 ? (int)pid : reap(pid);
}

static int clone3_namespace(void)
{
    /* flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls */
    const unsigned long arguments[8] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD, 0, 0, 0};
    long pid = sys(SYS_clone3, arguments, sizeof arguments);

    if (pid == 0)
        sys(SYS_exit_group, 0);
    return pid < 0 ? (int)pid : reap(pid);
}

static int bind_mount(void)
{
    long error = sys(SYS_mount, fact("out"), in("ws", "dir"), NULL, MS_BIND, NULL);

    return error < 0 ? (int)error : spill(do_open("dir/secret", O_RDONLY, 0));
}

static int mount_over(void)
{
    return (int)sys(SYS_mount, "none", in("ws", ".git/hooks"), "tmpfs", 0, NULL);
}

static int open_tree_mount(void)
{
    long fd = sys(SYS_open_tree, AT_FDCWD, fact("out"), OPEN_TREE_CLONE);
    long error =
        fd < 0 ? fd
               : sys(SYS_move_mount, fd, "", AT_FDCWD, in("ws", "dir"), MOVE_MOUNT_F_EMPTY_PATH);

    return error < 0 ? (int)error : spill(do_open("dir/secret", O_RDONLY, 0));
}

static int new_file_system(void)
{
    long fd = sys(SYS_fsopen, "tmpfs", 0);

    return fd < 0 ? (int)fd : 0;
}

static int unmount(void)
{
    return (int)sys(SYS_umount2, "/proc", MNT_DETACH);
}

static int change_root(void)
{
    long error = sys(SYS_mount, in("ws", "dir"), in("ws", "dir"), NULL, MS_BIND, NULL);

    if (error == 0)
        error = do_chdir("dir");
    if (error == 0)
        error = sys(SYS_pivot_root, ".", ".");
    return (int)error;
}

static int enter_namespace(void)
{
    char path[64];
    long fd;

    snprintf(path, sizeof path, "/proc/%ld/ns/mnt", victim());
    fd = do_open(path, O_RDONLY, 0);
    return fd < 0 ? (int)fd : (int)sys(SYS_setns, fd, CLONE_NEWNS);
}

/* After it a path that may be read is another file: out/usr/secret. */
static int chroot_disguise(void)
{
    long error = do_chroot(fact("out"));

    return error < 0 ? (int)error : spill(do_open("/usr/secret", O_RDONLY, 0));
}

static int chroot_and_out(void)
{
    long error = do_chroot("dir");

    for (int i = 0; i < 32 && error == 0; i++)
        error = do_chdir("..");
    if (error == 0)
        error = do_chroot(".");
    return error < 0 ? (int)error : spill(do_open(in("out", "secret"), O_RDONLY, 0));
}

/* --- terminals -------------------------------------------------------------------------------- */

static int type_by(unsigned long request)
{
    long fd = do_open("/dev/tty", O_RDWR, 0);
    long error = fd < 0 ? fd : sys6(SYS_ioctl, fd, (long)request, (long)"x", 0, 0, 0);

    return error == -EIO && is_bare() ? cannot("TIOCSTI is switched off") : (int)error;
}

/* Types for the user: the shell runs it when we have gone. */
static int type_key(void)
{
    return type_by(TIOCSTI);
}

/* The kernel looks at the low half of the number only. */
static int type_key_disguised(void)
{
    return type_by(0x100000000L | TIOCSTI);
}

static int console_selection(void)
{
    char request[] = {12}; /* TIOCL_GETFGCONSOLE: harmless, if it comes through */
    long fd = do_open("/dev/tty1", O_RDWR | O_NOCTTY, 0);

    if ((fd == -ENOENT || fd == -ENXIO) && is_bare())
        return cannot("no console");
    if (fd < 0)
        return (int)fd;
    return sys(SYS_ioctl, fd, TIOCLINUX, request) == -EPERM ? -EPERM : 0;
}

/* A terminal of the same user's that is not ours: what is typed there is not for us. */
static int other_terminal(void)
{
    return spill(do_open(fact("terminal"), O_RDONLY | O_NOCTTY | O_NONBLOCK, 0));
}

#define SIGNALS "landlock.c: the scope of signals; bwrap.c: --unshare-pid"
#define TRACES  "landlock.c: a domain may not trace what is outside; bwrap.c: --unshare-pid"
#define MOUNTS  "seccomp.c: mount family; caps.c: SYS_ADMIN is dropped; landlock.c: no mounts"
#define SPACES  "seccomp.c: namespaces are refused"
#define HIDDEN  "EPERM EACCES ESRCH"

static const struct attack rows[] = {
    {"kill_victim", kill_victim, REACH, WALL, 0, HIDDEN, SIGNALS, NULL, KERNEL},
    {"tgkill_victim", tgkill_victim, REACH, WALL, 0, HIDDEN, SIGNALS, NULL, KERNEL},
    {"queue_signal", queue_signal, REACH, WALL, 0, HIDDEN, SIGNALS, NULL, KERNEL},
    {"pidfd_signal", pidfd_signal, REACH, WALL, 0, HIDDEN, SIGNALS, NULL, KERNEL},
    {"kill_group", kill_group, REACH, WALL, NEEDS_GROUP, "EPERM EACCES WON", SIGNALS, NULL, KERNEL},
    {"io_signal", io_signal, REACH, WALL, 0, HIDDEN, SIGNALS, NULL, KERNEL},
    {"limit_victim", limit_victim, REACH, WALL, 0, HIDDEN,
     "seccomp.c: limits of others; bwrap.c: --unshare-pid", NULL, "prlimit64"},
    {"priority_victim", priority_victim, REACH, WALL, NEEDS_USER, HIDDEN,
     "seccomp.c: priorities of others; bwrap.c: --unshare-pid", NULL, "setpriority"},
    {"ptrace_victim", ptrace_victim, LEAK, WALL, 0, HIDDEN, TRACES, NULL, KERNEL},
    {"ptrace_seize", ptrace_seize, CLAIM, WALL, 0, HIDDEN, TRACES, NULL, KERNEL},
    {"ptrace_parent", ptrace_parent, CLAIM, WALL, 0, HIDDEN, TRACES, NULL, KERNEL},
    {"signal_parent", signal_parent, CLAIM, LANDLOCK, 0, HIDDEN, SIGNALS, NULL, KERNEL},
    {"memory_read", memory_read, LEAK, WALL, 0, HIDDEN, TRACES, NULL, KERNEL},
    {"memory_write", memory_write, REACH, WALL, 0, HIDDEN, TRACES, NULL, KERNEL},
    {"take_descriptor", take_descriptor, LEAK, WALL, 0, HIDDEN, TRACES, NULL, KERNEL},
    {"unshare_and_bind", unshare_and_bind, LEAK, WALL, 0, "EPERM", SPACES, NULL, "unshare"},
    {"clone_namespace", clone_namespace, CLAIM, WALL, 0, "EPERM", SPACES, NULL, "clone"},
    {"clone3_namespace", clone3_namespace, CLAIM, WALL, 0, "EPERM ENOSYS", SPACES, NULL, RETREAT},
    {"bind_mount", bind_mount, LEAK, WALL, NEEDS_ROOT | NEEDS_MOUNTS, "EPERM", MOUNTS, NULL,
     "mount"},
    {"mount_over", mount_over, CLAIM, WALL, NEEDS_ROOT | NEEDS_MOUNTS, "EPERM", MOUNTS, NULL,
     "mount"},
    {"open_tree_mount", open_tree_mount, LEAK, WALL, NEEDS_ROOT | NEEDS_MOUNTS, "EPERM", MOUNTS,
     NULL, "open_tree"},
    {"new_file_system", new_file_system, CLAIM, WALL, NEEDS_ROOT, "EPERM", MOUNTS, NULL, "fsopen"},
    {"unmount", unmount, CLAIM, WALL, NEEDS_ROOT | NEEDS_MOUNTS, "EPERM", MOUNTS, NULL, "umount2"},
    {"change_root", change_root, CLAIM, WALL, NEEDS_ROOT | NEEDS_MOUNTS, "EPERM", MOUNTS, NULL,
     "mount"},
    {"enter_namespace", enter_namespace, CLAIM, WALL, NEEDS_ROOT | NEEDS_MOUNTS, "EPERM EACCES",
     "seccomp.c: setns; landlock.c: a domain may not trace what is outside", NULL, KERNEL},
    {"chroot_disguise", chroot_disguise, LEAK, ALL, NEEDS_ROOT, "EPERM EACCES",
     "preload/dir.c: chroot; caps.c: SYS_CHROOT is dropped", NULL, "chroot"},
    {"chroot_and_out", chroot_and_out, LEAK, ALL, NEEDS_ROOT, "EPERM EACCES",
     "preload/dir.c: chroot; caps.c: SYS_CHROOT is dropped", NULL, "chroot"},
    {"type_key", type_key, REACH, WALL, NEEDS_TTY, "EPERM EACCES", "seccomp.c: TIOCSTI", NULL,
     "ioctl request 0x5412"},
    {"type_key_disguised", type_key_disguised, REACH, WALL, NEEDS_TTY, "EPERM EACCES",
     "seccomp.c: TIOCSTI, whatever the high half holds", NULL, "ioctl request 0x5412"},
    {"console_selection", console_selection, CLAIM, WALL, NEEDS_ROOT, "EPERM EACCES",
     "defaults.c: which devices are granted; seccomp.c: TIOCLINUX", NULL, "open /dev/tty1"},
    {"other_terminal", other_terminal, LEAK, BWRAP, 0, "EACCES EIO", "bwrap.c: --dev", "/dev/pts",
     KERNEL},
};
const struct attacks attacks_process = ATTACKS(rows);
