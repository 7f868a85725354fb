/* SPDX-License-Identifier: MIT */
/*
 * The system call filter, row by row: what the kernel says without it and what the filter says in
 * its place. The arguments are such that nothing happens either way.
 */
#include <errno.h>
#include <limits.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <greatest.h>

#include "caps.h"
#include "seccomp.h"
#include "syscall.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A high half that an int, or a flag of 32 bits, does not have: the kernel drops it. */
#define HIGH (1L << 40)

struct call {
    const char *name;
    long number;
    long arguments[5];
    int error; /* what the filter says; 0: what the kernel says */
};

static const struct seccomp_wants landlock = {.internet = false};
static const struct seccomp_wants landlock_open = {.internet = true};
static const struct seccomp_wants bwrap = {.unix_sockets = true, .own_pids = true};

static long make(const struct call *call)
{
    const long *a = call->arguments;

    return os_syscall(call->number, a[0], a[1], a[2], a[3], a[4], 0);
}

/* The answers in a child, with the filter or, if `wants` is NULL, without. A call that makes
 * something new does so in that child alone. */
static bool answers(const struct call *calls, size_t count, const struct seccomp_wants *wants,
                    long *results)
{
    long *shared = mmap(NULL, count * sizeof *shared, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status;

    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        if (wants != NULL && seccomp_enter(wants) != 0)
            _exit(1);
        for (size_t i = 0; i < count; i++)
            shared[i] = make(&calls[i]);
        _exit(0);
    }
    bool ended = pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
    memcpy(results, shared, count * sizeof *shared);
    munmap(shared, count * sizeof *shared);
    return ended;
}

static enum greatest_test_res compare(const struct call *calls, size_t count,
                                      const struct seccomp_wants *wants)
{
    long without[64];
    long with[64];

    ASSERT(count <= COUNT(with));
    ASSERT(answers(calls, count, NULL, without));
    ASSERT(answers(calls, count, wants, with));
    for (size_t i = 0; i < count; i++) {
        if (calls[i].error == 0) {
            /* A descriptor may have another number. */
            bool same = without[i] == with[i] || (without[i] >= 0 && with[i] >= 0);
            ASSERTm(calls[i].name, same);
        } else {
            ASSERT_EQ_FMTm(calls[i].name, (long)-calls[i].error, with[i], "%ld");
            ASSERTm(calls[i].name, without[i] != with[i]);
        }
    }
    PASS();
}

/* Run as root, these reach the kernel's own checks of what they are given. */
TEST system_calls_with_power(void)
{
    static const struct call calls[] = {
        {"mount", SYS_mount, {0, 0, 0, 0, 0}, EPERM},
        {"umount2", SYS_umount2, {0, 0}, EPERM},
        {"pivot_root", SYS_pivot_root, {0, 0}, EPERM},
        {"chroot", SYS_chroot, {0}, EPERM},
        {"fsopen", SYS_fsopen, {0, 0}, EPERM},
        {"fspick", SYS_fspick, {-1, 0, 0}, EPERM},
        {"open_tree", SYS_open_tree, {-1, 0, 0}, EPERM},
        {"move_mount", SYS_move_mount, {-1, 0, -1, 0, 0}, EPERM},
        {"mount_setattr", SYS_mount_setattr, {-1, 0, 0, 0, 0}, EPERM},
        {"setns", SYS_setns, {-1, 0}, EPERM},
        {"swapon", SYS_swapon, {0, 0}, EPERM},
        {"swapoff", SYS_swapoff, {0}, EPERM},
        {"quotactl", SYS_quotactl, {0, 0, 0, 0}, EPERM},
        {"reboot", SYS_reboot, {0, 0, 0, 0}, EPERM},
        {"init_module", SYS_init_module, {0, 0, 0}, EPERM},
        {"finit_module", SYS_finit_module, {-1, 0, 0}, EPERM},
        {"delete_module", SYS_delete_module, {0, 0}, EPERM},
        {"bpf", SYS_bpf, {999, 0, 0}, EPERM},
        {"perf_event_open", SYS_perf_event_open, {0, 0, 0, 0, 0}, EPERM},
        {"open_by_handle_at", SYS_open_by_handle_at, {-1, 0, 0}, EPERM},
        {"userfaultfd", SYS_userfaultfd, {0x40000000}, EPERM},
        {"fanotify_init", SYS_fanotify_init, {-1, 0}, EPERM},
    };

    if (geteuid() != 0)
        SKIPm("only root gets as far as that");
    CHECK_CALL(compare(calls, COUNT(calls), &landlock));
    CHECK_CALL(compare(calls, COUNT(calls), &bwrap));
    PASS();
}

TEST system_calls_of_everybody(void)
{
    static const struct call calls[] = {
        {"name_to_handle_at", SYS_name_to_handle_at, {-1, 0, 0, 0, 0}, EPERM},
        {"unshare nothing", SYS_unshare, {0}, 0},
        {"unshare files", SYS_unshare, {CLONE_FILES}, 0},
        {"unshare unknown", SYS_unshare, {CLONE_NEWUSER | CSIGNAL}, EPERM},
        {"unshare, high", SYS_unshare, {(long)CLONE_NEWUSER | HIGH}, EPERM},
        {"clone with a conflict", SYS_clone, {CLONE_NEWUSER | CLONE_FS, 0, 0, 0, 0}, EPERM},
        {"clone, high", SYS_clone, {(long)(CLONE_NEWUSER | CLONE_FS) | HIGH, 0, 0, 0, 0}, EPERM},
        {"clone3", SYS_clone3, {0, 0}, ENOSYS},
        {"add_key", SYS_add_key, {0, 0, 0, 0, 0}, EPERM},
        {"request_key", SYS_request_key, {0, 0, 0, 0}, EPERM},
        {"keyctl", SYS_keyctl, {9999, 0, 0, 0, 0}, EPERM},
        {"io_uring_setup", SYS_io_uring_setup, {0, 0}, ENOSYS},
        {"io_uring_enter", SYS_io_uring_enter, {-1, 0, 0, 0, 0}, ENOSYS},
        {"io_uring_register", SYS_io_uring_register, {-1, 0, 0, 0}, ENOSYS},
        {"TIOCSTI", SYS_ioctl, {-1, TIOCSTI, 0}, EPERM},
        {"TIOCSTI, high", SYS_ioctl, {-1, TIOCSTI | HIGH, 0}, EPERM},
        {"TIOCLINUX", SYS_ioctl, {-1, TIOCLINUX, 0}, EPERM},
        {"TIOCGWINSZ", SYS_ioctl, {-1, TIOCGWINSZ, 0}, 0},
        {"prctl", SYS_prctl, {PR_GET_DUMPABLE, 0, 0, 0, 0}, 0},
        {"getpid", SYS_getpid, {0}, 0},
#ifdef __x86_64__
        {"x32 getpid", 0x40000000 + SYS_getpid, {0}, ENOSYS},
        {"x32 execve", 0x40000000 + 520, {0, 0, 0}, ENOSYS},
#endif
    };

    /* What the kernel says to x32 numbers depends on how it was built; where it says the same the
     * row shows nothing. */
    size_t count = COUNT(calls);
#ifdef __x86_64__
    if (make(&calls[count - 1]) == -ENOSYS)
        count -= 2;
#endif
    CHECK_CALL(compare(calls, count, &landlock));
    CHECK_CALL(compare(calls, count, &bwrap));
    PASS();
}

#define PAIR(type)            \
    {                         \
        AF_UNIX, (type), 0, 0 \
    }

TEST sockets_without_any(void)
{
    static const struct call calls[] = {
        {"unix", SYS_socket, {AF_UNIX, SOCK_STREAM, 0}, EACCES},
        {"inet", SYS_socket, {AF_INET, SOCK_STREAM, 0}, EACCES},
        {"inet, high", SYS_socket, {AF_INET | HIGH, SOCK_STREAM, 0}, EACCES},
        {"inet udp", SYS_socket, {AF_INET, SOCK_DGRAM, 0}, EACCES},
        {"inet6", SYS_socket, {AF_INET6, SOCK_STREAM, 0}, EACCES},
        {"netlink", SYS_socket, {AF_NETLINK, SOCK_RAW, 0}, EACCES},
        {"pair of streams", SYS_socketpair, PAIR(SOCK_STREAM), 0},
        {"pair with flags", SYS_socketpair, PAIR(SOCK_STREAM | SOCK_CLOEXEC), 0},
        {"pair of packets", SYS_socketpair, PAIR(SOCK_SEQPACKET), 0},
        {"pair of datagrams", SYS_socketpair, PAIR(SOCK_DGRAM), EACCES},
        {"raw pair", SYS_socketpair, PAIR(SOCK_RAW), EACCES},
        {"pair with flags", SYS_socketpair, PAIR(SOCK_DGRAM | SOCK_CLOEXEC), EACCES},
        {"connect", SYS_connect, {-1, 0, 0}, EACCES},
        {"bind", SYS_bind, {-1, 0, 0}, EACCES},
        {"listen", SYS_listen, {-1, 0}, EACCES},
        {"sendto fast", SYS_sendto, {-1, 0, 0, MSG_FASTOPEN, 0}, EACCES},
        {"sendmsg fast", SYS_sendmsg, {-1, 0, MSG_FASTOPEN}, EACCES},
        {"sendmmsg fast", SYS_sendmmsg, {-1, 0, 0, MSG_FASTOPEN}, EACCES},
        {"sendmsg", SYS_sendmsg, {-1, 0, 0}, 0},
        {"accept", SYS_accept, {-1, 0, 0}, 0},
        {"limits of others", SYS_prlimit64, {-1, RLIMIT_CORE, 0, 0}, EPERM},
        {"priority of others", SYS_setpriority, {PRIO_PROCESS, INT_MAX, 0}, EPERM},
        {"priority of its own", SYS_setpriority, {PRIO_PROCESS, 0, 0}, 0},
        {"I/O of others", SYS_ioprio_set, {1, INT_MAX, 0}, EPERM},
        {"limits of its own", SYS_prlimit64, {0, RLIMIT_CORE, 0, 0}, 0},
        {"queues of others", SYS_mq_unlink, {0}, EACCES},
        {"inode flags", 469, {-1, 0, 0, 0, 0}, EPERM},
    };

    CHECK_CALL(compare(calls, COUNT(calls), &landlock));
    PASS();
}

TEST sockets_with_the_internet(void)
{
    static const struct call calls[] = {
        {"tcp", SYS_socket, {AF_INET, SOCK_STREAM, 0}, 0},
        {"tcp with flags", SYS_socket, {AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP}, 0},
        {"udp", SYS_socket, {AF_INET, SOCK_DGRAM, IPPROTO_UDP}, 0},
        {"tcp6", SYS_socket, {AF_INET6, SOCK_STREAM, 0}, 0},
        {"udp6", SYS_socket, {AF_INET6, SOCK_DGRAM, 0}, 0},
        {"routes", SYS_socket, {AF_NETLINK, SOCK_RAW, 0}, 0},
        {"audit", SYS_socket, {AF_NETLINK, SOCK_RAW, 9}, EACCES},
        {"uevents", SYS_socket, {AF_NETLINK, SOCK_DGRAM, 15}, EACCES},
        {"unix", SYS_socket, {AF_UNIX, SOCK_STREAM, 0}, EACCES},
        {"mptcp", SYS_socket, {AF_INET, SOCK_STREAM, 262}, EACCES},
        {"pair of datagrams", SYS_socketpair, PAIR(SOCK_DGRAM), EACCES},
        {"connect", SYS_connect, {-1, 0, 0}, 0},
        {"sendto fast", SYS_sendto, {-1, 0, 0, MSG_FASTOPEN, 0}, 0},
        {"raw", SYS_socket, {AF_INET, SOCK_RAW, 1}, EACCES},
        {"packet", SYS_socket, {AF_PACKET, SOCK_RAW, 0}, EACCES},
    };

    /* The last two are for root. */
    CHECK_CALL(compare(calls, COUNT(calls) - (geteuid() == 0 ? 0 : 2), &landlock_open));
    PASS();
}

TEST sockets_with_paths(void)
{
    static const struct call calls[] = {
        {"unix", SYS_socket, {AF_UNIX, SOCK_STREAM, 0}, 0},
        {"unix datagrams", SYS_socket, {AF_UNIX, SOCK_DGRAM, 0}, 0},
        {"pair of datagrams", SYS_socketpair, PAIR(SOCK_DGRAM), 0},
        {"connect", SYS_connect, {-1, 0, 0}, 0},
        {"inet", SYS_socket, {AF_INET, SOCK_STREAM, 0}, EACCES},
        {"netlink", SYS_socket, {AF_NETLINK, SOCK_RAW, 0}, EACCES},
        {"sendto fast", SYS_sendto, {-1, 0, 0, MSG_FASTOPEN, 0}, EACCES},
        {"limits", SYS_prlimit64, {1, RLIMIT_CORE, 0, 0}, 0},
    };

    CHECK_CALL(compare(calls, COUNT(calls), &bwrap));
    PASS();
}

/* Runs `check` in a child, and gives its exit status; a signal as its negative number. */
static int apart(int (*check)(void))
{
    int status = 0;

    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        _exit(check());
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int is_entered(void)
{
    bool before = seccomp_is_entered();

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    int error = seccomp_enter(&landlock);
    return !before && error == 0 && seccomp_is_entered() ? 0 : 1;
}

TEST it_answers_whether_it_is_there(void)
{
    ASSERT_FALSE(seccomp_is_entered());
    ASSERT_EQ(0, apart(is_entered));
    PASS();
}

#ifdef __x86_64__
/* getpid by the door for 32-bit programs, where it has another number. */
static int foreign(void)
{
    long result = 20;

    __asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
    return result == getpid() ? 0 : result == -ENOSYS ? 2 : 1;
}

static int foreign_with_filter(void)
{
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return seccomp_enter(&landlock) == 0 ? foreign() : 3;
}
#endif

TEST another_architecture_ends_the_process(void)
{
#ifdef __x86_64__
    int without = apart(foreign);

    if (without != 0)
        SKIPm("this kernel runs no 32-bit programs");
    ASSERT_EQ(-SIGSYS, apart(foreign_with_filter));
    PASS();
#else
    SKIPm("not this architecture");
#endif
}

static int capabilities_left(void)
{
    static const int kept[] = {0, 1, 3, 4, 6, 7};
    unsigned long left = 0;
    FILE *file;
    char line[256];

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (caps_drop(false) != 0)
        return 1;
    for (size_t i = 0; i < COUNT(kept); i++)
        left |= 1UL << kept[i];
    file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *value = strchr(line, ':');
        if (strncmp(line, "Cap", 3) == 0 && value != NULL &&
            (strtoul(value + 1, NULL, 16) & ~left) != 0)
            return 2;
    }
    return file == NULL ? 3 : 0;
}

TEST root_keeps_but_few_capabilities(void)
{
    if (geteuid() != 0)
        SKIPm("for root");
    ASSERT_EQ(0, apart(capabilities_left));
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(system_calls_with_power);
    RUN_TEST(system_calls_of_everybody);
    RUN_TEST(sockets_without_any);
    RUN_TEST(sockets_with_the_internet);
    RUN_TEST(sockets_with_paths);
    RUN_TEST(it_answers_whether_it_is_there);
    RUN_TEST(another_architecture_ends_the_process);
    RUN_TEST(root_keeps_but_few_capabilities);
    GREATEST_MAIN_END();
}
