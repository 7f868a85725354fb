/* SPDX-License-Identifier: MIT */
#include "seccomp.h"

#include <asm/unistd.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "syscall.h"
#include "word.h"

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#else
#error "cordon has no system call filter for this architecture"
#endif

/* Newer than some headers; the numbers are the same everywhere. */
#ifndef SYS_quotactl_fd
#define SYS_quotactl_fd 443
#endif
#ifndef SYS_file_setattr
#define SYS_file_setattr 469
#endif
#ifndef SYS_open_tree_attr
#define SYS_open_tree_attr 467
#endif
#ifndef SYS_file_getattr
#define SYS_file_getattr 468
#endif
#ifndef SYS_setxattrat
#define SYS_setxattrat    463
#define SYS_getxattrat    464
#define SYS_listxattrat   465
#define SYS_removexattrat 466
#endif
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SO_BINDTOIFINDEX
#define SO_BINDTOIFINDEX 62
#endif
#ifndef IPV6_UNICAST_IF
#define IPV6_UNICAST_IF 76
#endif
#define IPV6_2292RTHDR      5
#define IPV6_2292PKTOPTIONS 6
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define WAIT_KILLABLE_RECV (1U << 5)
#else
#define WAIT_KILLABLE_RECV SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#endif
#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif
#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

/* When a row counts. */
enum {
    ALWAYS = 0,
    UNIX = 1,         /* with unix sockets */
    NO_UNIX = 2,      /* without */
    INTERNET = 4,     /* with the internet */
    NO_INTERNET = 8,  /* without */
    SHARED_PIDS = 16, /* without a PID namespace */
    SUPERVISED = 32,  /* with a supervisor */
    GATE = 64,        /* with a gate past him */
    NO_GATE = 128,    /* with a supervisor and no gate */
    MANY_IDS = 256,   /* with a supervisor for processes that can change who they are */
    TOLD = 512,       /* always; a supervisor is to be told what was refused */
};

/* What becomes of a call, if it is not refused with an errno. */
enum {
    ALLOWED = 0,
    ASKED = 0xffff,  /* the supervisor says */
    JUDGED = 0xfffe, /* the same, if the shim has not judged it */
};

/*
 * One condition: (argument & mask) is, or is not, the value. Only the low 32 bits of an argument
 * are looked at, because the kernel does so too: they are ints, or flags that all lie there. With
 * the high bits in the comparison, garbage in them would be a way past it.
 */
struct test {
    uint32_t mask; /* 0: no condition */
    uint32_t value;
    uint8_t argument;
    bool differs;
};

/* The first row whose conditions are all met decides; without one the call is allowed. */
struct row {
    int call;
    uint16_t error;
    uint16_t when;
    struct test tests[3];
};

/* clang-format off */
/* A call that is refused whatever its arguments are, and worth a record. */
#define REFUSED(name, error) {SYS_##name, error, TOLD, {{0}}}
/* clang-format on */

#define IS(n, x)                                                    \
    {                                                               \
        .argument = (n), .mask = UINT32_MAX, .value = (uint32_t)(x) \
    }
#define IS_NOT(n, x)                                                                 \
    {                                                                                \
        .argument = (n), .mask = UINT32_MAX, .value = (uint32_t)(x), .differs = true \
    }
#define HAS(n, bits)                                               \
    {                                                              \
        .argument = (n), .mask = (uint32_t)(bits), .differs = true \
    }
#define TYPE(x)                                  \
    {                                            \
        .argument = 1, .mask = 0xf, .value = (x) \
    } /* without SOCK_CLOEXEC and the like */

#define SOCKET(family, type, protocol)                 \
    {                                                  \
        SYS_socket, ALLOWED, INTERNET,                 \
        {                                              \
            IS(0, family), TYPE(type), IS(2, protocol) \
        }                                              \
    }

#define NAMESPACES                                                                                \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | \
     CLONE_NEWNET)

static const struct row rows[] = {
    {SYS_prctl, WORD_YES, ALWAYS, {IS(0, WORD), IS(1, WORD_INSIDE)}},
    {SYS_prctl, WORD_YES, GATE, {IS(0, WORD), IS(1, WORD_SUPERVISED)}},
    {SYS_prctl, WORD_YES_BUT_NO_GATE, NO_GATE, {IS(0, WORD), IS(1, WORD_SUPERVISED)}},
    {SYS_prctl, ASKED, SUPERVISED, {IS(0, WORD)}},

/* What takes a path is judged, by the shim or by the supervisor. */
#define ROW_ACTS(name)    {SYS_##name, JUDGED, SUPERVISED, {{0}}},
#define ROW_OPENS(name)   {SYS_##name, JUDGED, SUPERVISED, {{0}}},
#define ROW_CHANGES(name) {SYS_##name, JUDGED, SUPERVISED, {{0}}},
#define ROW_RUNS(name)    {SYS_##name, JUDGED, SUPERVISED, {{0}}},
#define ROW_PASSES(name)
#define HOOK(result, symbol, parameters, body, ...)
#define VHOOK(result, symbol, parameters, last, body, ...)
#define ALIAS(alias, symbol)
#define EXAMPLE(symbol, ...)
#define SYSCALL(name, how, body) ROW_##how(name)
#include "hooks.def"
    {SYS_ioctl, ASKED, SUPERVISED, {IS(1, FS_IOC_SETFLAGS)}},
    {SYS_ioctl, ASKED, SUPERVISED, {IS(1, FS_IOC_FSSETXATTR)}},

    /* New forms of these, which nobody needs: who meets ENOSYS takes the old one. */
    {SYS_setxattrat, ENOSYS, ALWAYS, {{0}}},
    {SYS_getxattrat, ENOSYS, ALWAYS, {{0}}},
    {SYS_listxattrat, ENOSYS, ALWAYS, {{0}}},
    {SYS_removexattrat, ENOSYS, ALWAYS, {{0}}},
    {SYS_file_getattr, ENOSYS, ALWAYS, {{0}}},

    /* From then on the supervisor has to look who it is acting for. */
    {SYS_setuid, ASKED, MANY_IDS, {{0}}},
    {SYS_setgid, ASKED, MANY_IDS, {{0}}},
    {SYS_setreuid, ASKED, MANY_IDS, {{0}}},
    {SYS_setregid, ASKED, MANY_IDS, {{0}}},
    {SYS_setresuid, ASKED, MANY_IDS, {{0}}},
    {SYS_setresgid, ASKED, MANY_IDS, {{0}}},
    {SYS_setfsuid, ASKED, MANY_IDS, {{0}}},
    {SYS_setfsgid, ASKED, MANY_IDS, {{0}}},
    {SYS_setgroups, ASKED, MANY_IDS, {{0}}},
    {SYS_capset, ASKED, MANY_IDS, {{0}}},

    /* Opens and connects out of sight of any filter. */
    {SYS_io_uring_setup, ENOSYS, ALWAYS, {{0}}},
    {SYS_io_uring_enter, ENOSYS, ALWAYS, {{0}}},
    {SYS_io_uring_register, ENOSYS, ALWAYS, {{0}}},

    /* Another view of the file system. */
    REFUSED(mount, EPERM),
    REFUSED(umount2, EPERM),
    REFUSED(pivot_root, EPERM),
    REFUSED(chroot, EPERM),
    REFUSED(fsopen, EPERM),
    REFUSED(fsconfig, EPERM),
    REFUSED(fsmount, EPERM),
    REFUSED(fspick, EPERM),
    REFUSED(open_tree, EPERM),
    REFUSED(open_tree_attr, EPERM),
    REFUSED(move_mount, EPERM),
    REFUSED(mount_setattr, EPERM),
    REFUSED(name_to_handle_at, EPERM),
    REFUSED(open_by_handle_at, EPERM),
    REFUSED(fanotify_init, EPERM),

    /* New namespaces: a fresh set of capabilities in each. The flags of clone3 lie in memory, where
     * a filter cannot see them: libc then falls back to clone, where it can. */
    REFUSED(setns, EPERM),
    {SYS_unshare, EPERM, TOLD, {HAS(0, NAMESPACES | CLONE_NEWTIME)}},
    {SYS_clone, EPERM, TOLD, {HAS(0, NAMESPACES)}},
    {SYS_clone3, ENOSYS, ALWAYS, {{0}}},

    /* The system as a whole, and large targets inside the kernel. */
    REFUSED(swapon, EPERM),
    REFUSED(swapoff, EPERM),
    REFUSED(acct, EPERM),
    REFUSED(quotactl, EPERM),
    REFUSED(quotactl_fd, EPERM),
    REFUSED(reboot, EPERM),
    REFUSED(kexec_load, EPERM),
    REFUSED(kexec_file_load, EPERM),
    REFUSED(init_module, EPERM),
    REFUSED(finit_module, EPERM),
    REFUSED(delete_module, EPERM),
    REFUSED(bpf, EPERM),
    REFUSED(perf_event_open, EPERM),
    REFUSED(userfaultfd, EPERM),
    REFUSED(add_key, EPERM),
    REFUSED(request_key, EPERM),
    REFUSED(keyctl, EPERM),
#ifdef SYS_iopl
    REFUSED(iopl, EPERM),
    REFUSED(ioperm, EPERM),
#endif

    /* Keys pushed into the terminal are typed to whoever reads it next: the user's shell. */
    {SYS_ioctl, EPERM, TOLD, {IS(1, TIOCSTI)}},
    {SYS_ioctl, EPERM, TOLD, {IS(1, TIOCLINUX)}},

    /* Landlock sees neither: message queues have no path, inode flags are no contents. */
    {SYS_mq_unlink, EACCES, SHARED_PIDS | TOLD, {{0}}},
    REFUSED(file_setattr, EPERM),

    /* A limit of no CPU time at all ends somebody else's process like a signal, and a low priority
     * holds it up. (How it is scheduled stays open: libc names the caller's own threads by number
     * there.) */
    {SYS_prlimit64, EPERM, SHARED_PIDS | TOLD, {IS_NOT(0, 0)}},
    /* The supervisor's mark (domains.h). */
    {SYS_prlimit64, ASKED, SUPERVISED, {IS(1, RLIMIT_SIGPENDING)}},
    {SYS_setrlimit, EPERM, SUPERVISED, {IS(0, RLIMIT_SIGPENDING)}},
    {SYS_landlock_restrict_self, ASKED, SUPERVISED, {{0}}},
    {SYS_setpriority, EPERM, SHARED_PIDS | TOLD, {IS_NOT(1, 0)}},
    {SYS_ioprio_set, EPERM, SHARED_PIDS | TOLD, {IS_NOT(1, 0)}},

    /* Sockets: what is listed, and nothing else: no raw, packet, vsock, MPTCP ... */
    SOCKET(AF_INET, SOCK_STREAM, 0),
    SOCKET(AF_INET, SOCK_STREAM, IPPROTO_TCP),
    SOCKET(AF_INET, SOCK_DGRAM, 0),
    SOCKET(AF_INET, SOCK_DGRAM, IPPROTO_UDP),
    SOCKET(AF_INET, SOCK_DGRAM, IPPROTO_ICMP),
    SOCKET(AF_INET6, SOCK_STREAM, 0),
    SOCKET(AF_INET6, SOCK_STREAM, IPPROTO_TCP),
    SOCKET(AF_INET6, SOCK_DGRAM, 0),
    SOCKET(AF_INET6, SOCK_DGRAM, IPPROTO_UDP),
    SOCKET(AF_INET6, SOCK_DGRAM, IPPROTO_ICMPV6),
    SOCKET(AF_NETLINK, SOCK_RAW, 0), /* NETLINK_ROUTE; getaddrinfo asks for the addresses */
    SOCKET(AF_NETLINK, SOCK_DGRAM, 0),
    {SYS_socket, ALLOWED, UNIX, {IS(0, AF_UNIX)}},

    /* A supervisor sees where they are to be connected. Not datagrams: each has an address of its
     * own, in memory that the caller may change. */
    {SYS_socket, ALLOWED, SUPERVISED, {IS(0, AF_INET), TYPE(SOCK_STREAM), IS(2, 0)}},
    {SYS_socket, ALLOWED, SUPERVISED, {IS(0, AF_INET), TYPE(SOCK_STREAM), IS(2, IPPROTO_TCP)}},
    {SYS_socket, ALLOWED, SUPERVISED, {IS(0, AF_INET6), TYPE(SOCK_STREAM), IS(2, 0)}},
    {SYS_socket, ALLOWED, SUPERVISED, {IS(0, AF_INET6), TYPE(SOCK_STREAM), IS(2, IPPROTO_TCP)}},
    {SYS_socket, ALLOWED, SUPERVISED, {IS(0, AF_UNIX), TYPE(SOCK_STREAM)}},
    {SYS_socket, ALLOWED, SUPERVISED, {IS(0, AF_UNIX), TYPE(SOCK_SEQPACKET)}},
    {SYS_socket, EACCES, TOLD, {{0}}},

    /* One end of a pair of datagram sockets can send to, and be connected with, any other. */
    {SYS_socketpair, ALLOWED, UNIX, {IS(0, AF_UNIX)}},
    {SYS_socketpair, ALLOWED, NO_UNIX, {IS(0, AF_UNIX), TYPE(SOCK_STREAM)}},
    {SYS_socketpair, ALLOWED, NO_UNIX, {IS(0, AF_UNIX), TYPE(SOCK_SEQPACKET)}},
    {SYS_socketpair, EACCES, TOLD, {{0}}},

    /* Sockets that were there before: not to be turned elsewhere. */
    {SYS_connect, ASKED, SUPERVISED, {{0}}},
    {SYS_bind, ASKED, SUPERVISED, {{0}}},
    {SYS_listen, ASKED, SUPERVISED | NO_INTERNET, {{0}}},
    {SYS_connect, EACCES, NO_UNIX | NO_INTERNET, {{0}}},
    {SYS_bind, EACCES, NO_UNIX | NO_INTERNET, {{0}}},
    {SYS_listen, EACCES, NO_UNIX | NO_INTERNET, {{0}}},
    {SYS_sendto, EACCES, NO_INTERNET | TOLD, {HAS(3, MSG_FASTOPEN)}},
    {SYS_sendmsg, EACCES, NO_INTERNET | TOLD, {HAS(2, MSG_FASTOPEN)}},
    {SYS_sendmmsg, EACCES, NO_INTERNET | TOLD, {HAS(3, MSG_FASTOPEN)}},

    /* What sends a packet for one address by way of another, or out of another interface. */
    {SYS_setsockopt, EPERM, NO_INTERNET, {IS(1, IPPROTO_IP), IS(2, IP_OPTIONS)}},
    {SYS_setsockopt, EPERM, NO_INTERNET, {IS(1, IPPROTO_IP), IS(2, IP_UNICAST_IF)}},
    {SYS_setsockopt, EPERM, NO_INTERNET, {IS(1, IPPROTO_IPV6), IS(2, IPV6_RTHDR)}},
    {SYS_setsockopt, EPERM, NO_INTERNET, {IS(1, IPPROTO_IPV6), IS(2, IPV6_2292RTHDR)}},
    {SYS_setsockopt, EPERM, NO_INTERNET, {IS(1, IPPROTO_IPV6), IS(2, IPV6_2292PKTOPTIONS)}},
    {SYS_setsockopt, EPERM, NO_INTERNET, {IS(1, IPPROTO_IPV6), IS(2, IPV6_UNICAST_IF)}},
    {SYS_setsockopt, EPERM, NO_INTERNET, {IS(1, SOL_SOCKET), IS(2, SO_BINDTODEVICE)}},
    {SYS_setsockopt, EPERM, NO_INTERNET, {IS(1, SOL_SOCKET), IS(2, SO_BINDTOIFINDEX)}},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

/* At most ten instructions a row, its share of the tree included, and a few around them. */
struct program {
    struct sock_filter code[10 * ROWS + 16];
    unsigned short length;
    bool tells; /* there is a supervisor */
    bool gate;
};

static void emit(struct program *program, unsigned code, uint32_t k)
{
    program->code[program->length++] = (struct sock_filter){.code = (uint16_t)code, .k = k};
}

static void emit_load(struct program *program, size_t offset)
{
    emit(program, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset);
}

static void emit_return(struct program *program, uint32_t action)
{
    emit(program, BPF_RET | BPF_K, action);
}

static size_t argument(unsigned number)
{
    size_t low = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0;

    return offsetof(struct seccomp_data, args) + number * sizeof(uint64_t) + low;
}

/* Compares a word of where the call was made: what is not equal goes on `out` instructions later.
 */
static void emit_from(struct program *program, size_t high, uint32_t word, uint8_t out)
{
    emit_load(program, offsetof(struct seccomp_data, instruction_pointer) + high);
    emit(program, BPF_JMP | BPF_JEQ | BPF_K, word);
    program->code[program->length - 1].jf = out;
}

static void emit_action(struct program *program, unsigned action)
{
    size_t low = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0;

    if (action == JUDGED && program->gate) {
        emit_from(program, low, (uint32_t)GATE_RETURN, 3);
        emit_from(program, 4 - low, (uint32_t)(GATE_RETURN >> 32), 1);
        emit_return(program, SECCOMP_RET_ALLOW);
    }
    if (action == ALLOWED)
        emit_return(program, SECCOMP_RET_ALLOW);
    else if (action == ASKED || action == JUDGED)
        emit_return(program, SECCOMP_RET_USER_NOTIF);
    else
        emit_return(program, SECCOMP_RET_ERRNO | action);
}

/* A row is a chain of tests: a failed one jumps to `out`, where the next row begins. */
static void emit_row(struct program *program, const struct row *row)
{
    unsigned start = program->length;
    unsigned tested;
    unsigned end;

    emit(program, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)row->call);
    for (size_t i = 0; i < sizeof row->tests / sizeof row->tests[0]; i++) {
        const struct test *test = &row->tests[i];
        if (test->mask == 0)
            break;
        emit_load(program, argument(test->argument));
        if (test->mask != UINT32_MAX)
            emit(program, BPF_ALU | BPF_AND | BPF_K, test->mask);
        emit(program, BPF_JMP | BPF_JEQ | BPF_K, test->value);
        /* Which way is on and which is out; how far it is, is known at the end. */
        program->code[program->length - 1].jt = test->differs;
    }
    tested = program->length;
    emit_action(program, program->tells && (row->when & TOLD) ? ASKED : row->error);
    end = program->length;
    if (row->tests[0].mask != 0)
        emit_load(program, offsetof(struct seccomp_data, nr));

    for (unsigned at = start; at < tested; at++) {
        struct sock_filter *jump = &program->code[at];
        if (jump->code != (BPF_JMP | BPF_JEQ | BPF_K))
            continue;
        bool differs = jump->jt != 0;
        uint8_t out = (uint8_t)(end - at - 1);
        /* Another call's number is still loaded. */
        if (at == start)
            out = (uint8_t)(program->length - at - 1);
        jump->jt = differs ? out : 0;
        jump->jf = differs ? 0 : out;
    }
}

static bool counts(const struct row *row, const struct seccomp_wants *wants)
{
    int given = (wants->unix_sockets ? UNIX : NO_UNIX) |
                (wants->internet ? INTERNET : NO_INTERNET) | (wants->own_pids ? 0 : SHARED_PIDS) |
                TOLD;

    if (wants->supervise != SUPERVISE_NONE)
        given |= SUPERVISED | (wants->supervise == SUPERVISE_GATE ? GATE : NO_GATE) |
                 (wants->many_ids ? MANY_IDS : 0);

    return (row->when & given) == row->when;
}

/* The rows that count, by call; those of one call stay in their order. */
static size_t sort(const struct row *sorted[ROWS], const struct seccomp_wants *wants)
{
    size_t count = 0;

    for (size_t i = 0; i < ROWS; i++) {
        if (!counts(&rows[i], wants))
            continue;
        size_t at = count++;
        for (; at > 0 && sorted[at - 1]->call > rows[i].call; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = &rows[i];
    }
    return count;
}

/*
 * A search tree over the calls. When a filter is loaded the kernel runs it for every call there is,
 * to remember those that it always allows: from end to end that took longer than all the rest of
 * entering.
 */
static void emit_tree(struct program *program, const struct row *const *sorted, size_t count)
{
    enum { FEW = 4 };
    size_t middle = count / 2;
    unsigned jump;

    while (middle > 0 && middle < count && sorted[middle]->call == sorted[middle - 1]->call)
        middle++;
    if (count <= FEW || middle == count) {
        for (size_t i = 0; i < count; i++)
            emit_row(program, sorted[i]);
        emit_return(program, SECCOMP_RET_ALLOW);
        return;
    }
    emit(program, BPF_JMP | BPF_JGE | BPF_K, (uint32_t)sorted[middle]->call);
    program->code[program->length - 1].jf = 1;
    jump = program->length;
    emit(program, BPF_JMP | BPF_JA, 0);
    emit_tree(program, sorted, middle);
    program->code[jump].k = program->length - jump - 1;
    emit_tree(program, sorted + middle, count - middle);
}

static void compile(const struct seccomp_wants *wants, struct program *program)
{
    const struct row *sorted[ROWS];
    size_t count = sort(sorted, wants);

    program->length = 0;
    program->tells = wants->supervise != SUPERVISE_NONE;
    program->gate = wants->supervise == SUPERVISE_GATE;
    emit_load(program, offsetof(struct seccomp_data, arch));
    emit(program, BPF_JMP | BPF_JEQ | BPF_K, NATIVE);
    program->code[program->length - 1].jt = 1;
    emit_return(program, SECCOMP_RET_KILL_PROCESS);
    emit_load(program, offsetof(struct seccomp_data, nr));
#ifdef __X32_SYSCALL_BIT
    emit(program, BPF_JMP | BPF_JGE | BPF_K, __X32_SYSCALL_BIT);
    program->code[program->length - 1].jf = 1;
    emit_return(program, SECCOMP_RET_ERRNO | ENOSYS);
#endif
    emit_tree(program, sorted, count);
}

int seccomp_enter(const struct seccomp_wants *wants)
{
    /* The signals of a caller wait until its call is answered: else it might be made twice. */
    const unsigned listens = SECCOMP_FILTER_FLAG_NEW_LISTENER | WAIT_KILLABLE_RECV;
    bool supervised = wants->supervise != SUPERVISE_NONE;
    struct program program;
    struct sock_fprog loaded = {.filter = program.code};
    long result;

    compile(wants, &program);
    loaded.len = program.length;
    result = os_syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                        supervised ? listens : SECCOMP_FILTER_FLAG_TSYNC, (long)&loaded, 0, 0, 0);
    /* A number of a thread: it has a filter that ours cannot be added to. */
    return result > 0 && !supervised ? -EBUSY : (int)result;
}

static bool meets(const struct row *row, const uint64_t args[6])
{
    for (size_t i = 0; i < sizeof row->tests / sizeof row->tests[0]; i++) {
        const struct test *test = &row->tests[i];
        if (test->mask == 0)
            return true;
        if ((((uint32_t)args[test->argument] & test->mask) == test->value) == test->differs)
            return false;
    }
    return true;
}

/* What the calls are called that a supervisor is told of. */
#define NAMED(name)       \
    {                     \
        SYS_##name, #name \
    }
static const struct {
    int call;
    const char *name;
} names[] = {
    NAMED(mount),
    NAMED(umount2),
    NAMED(pivot_root),
    NAMED(chroot),
    NAMED(fsopen),
    NAMED(fsconfig),
    NAMED(fsmount),
    NAMED(fspick),
    NAMED(open_tree),
    NAMED(move_mount),
    NAMED(mount_setattr),
    NAMED(open_tree_attr),
    NAMED(setns),
    NAMED(name_to_handle_at),
    NAMED(open_by_handle_at),
    NAMED(fanotify_init),
    NAMED(unshare),
    NAMED(clone),
    NAMED(reboot),
    NAMED(kexec_load),
    NAMED(kexec_file_load),
    NAMED(init_module),
    NAMED(finit_module),
    NAMED(delete_module),
    NAMED(bpf),
    NAMED(perf_event_open),
    NAMED(userfaultfd),
    NAMED(add_key),
    NAMED(request_key),
    NAMED(keyctl),
#ifdef SYS_iopl
    NAMED(iopl),
    NAMED(ioperm),
#endif
    NAMED(ioctl),
    NAMED(prlimit64),
    NAMED(setpriority),
    NAMED(ioprio_set),
    NAMED(swapon),
    NAMED(swapoff),
    NAMED(acct),
    NAMED(quotactl),
    NAMED(quotactl_fd),
    NAMED(mq_unlink),
    NAMED(file_setattr),
    NAMED(socket),
    NAMED(socketpair),
    NAMED(sendto),
    NAMED(sendmsg),
    NAMED(sendmmsg),
};

static const char *name_of(int call)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].call == call)
            return names[i].name;
    return "";
}

int seccomp_refuses(const struct seccomp_wants *wants, int call, const uint64_t args[6],
                    const char **name)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].call != call || !counts(&rows[i], wants) || !meets(&rows[i], args))
            continue;
        *name = name_of(call);
        return (rows[i].when & TOLD) ? rows[i].error : 0;
    }
    return 0;
}

bool seccomp_is_entered(void)
{
    return os_syscall(SYS_prctl, WORD, WORD_INSIDE, 0, 0, 0, 0) == -WORD_YES;
}
