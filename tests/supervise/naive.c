/* SPDX-License-Identifier: MIT */
/*
 * usage: naive PREFIX... -- COMMAND [ARG...]
 *
 * A supervisor that looks at a path and then lets the call go on: what cordon's must not do. It
 * refuses every path that begins with one of the prefixes, as it is when it looks.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

/* Which arguments are paths; -1: none. */
static const struct {
    int call;
    int path[2];
} calls[] = {
    {SYS_openat, {1, -1}},     {SYS_openat2, {1, -1}},   {SYS_newfstatat, {1, -1}},
    {SYS_statx, {1, -1}},      {SYS_fchmodat, {1, -1}},  {SYS_fchmodat2, {1, -1}},
    {SYS_fchownat, {1, -1}},   {SYS_utimensat, {1, -1}}, {SYS_unlinkat, {1, -1}},
    {SYS_renameat2, {1, 3}},   {SYS_renameat, {1, 3}},   {SYS_linkat, {1, 3}},
    {SYS_truncate, {0, -1}},   {SYS_setxattr, {0, -1}},  {SYS_removexattr, {0, -1}},
    {SYS_getxattr, {0, -1}},   {SYS_listxattr, {0, -1}}, {SYS_faccessat, {1, -1}},
    {SYS_readlinkat, {1, -1}}, {SYS_mkdirat, {1, -1}},   {SYS_symlinkat, {2, -1}},
    {SYS_mknodat, {1, -1}},    {SYS_execve, {0, -1}},    {SYS_inotify_add_watch, {1, -1}},
    {SYS_connect, {1, -1}},
};

enum { CALLS = sizeof calls / sizeof calls[0] };

static int enter(void)
{
    struct sock_filter code[2 * CALLS + 2];
    struct sock_fprog program = {.filter = code};
    unsigned short n = 0;

    code[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < CALLS; i++) {
        code[n++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[i].call, 0, 1);
        code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    }
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program.len = n;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                        &program);
}

/* --- handing the listener over ---------------------------------------------------------------- */

union control {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
};

static int pass(int socket, int fd)
{
    union control control = {.header = {.cmsg_level = SOL_SOCKET,
                                        .cmsg_type = SCM_RIGHTS,
                                        .cmsg_len = CMSG_LEN(sizeof fd)}};
    struct iovec byte = {(char[]){'x'}, 1};
    struct msghdr message = {.msg_iov = &byte,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};

    memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
    return sendmsg(socket, &message, 0) == 1 ? 0 : -1;
}

static int take(int socket)
{
    union control control;
    char byte;
    struct iovec room = {&byte, 1};
    struct msghdr message = {.msg_iov = &room,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    int fd = -1;

    if (recvmsg(socket, &message, 0) == 1)
        memcpy(&fd, CMSG_DATA(&control.header), sizeof fd);
    return fd;
}

/* --- looking ---------------------------------------------------------------------------------- */

static int looks_well(pid_t pid, uint64_t address, char *const *prefixes, int count)
{
    char text[512] = "";
    struct iovec here = {text, 256};
    struct iovec there = {(void *)(uintptr_t)address, 256};

    if (process_vm_readv(pid, &here, 1, &there, 1, 0) < 0) {
        there.iov_len = here.iov_len = 4096 - (size_t)(address & 4095);
        process_vm_readv(pid, &here, 1, &there, 1, 0);
    }
    for (int i = 0; i < count; i++)
        if (strncmp(text, prefixes[i], strlen(prefixes[i])) == 0)
            return 0;
    return 1;
}

static void answer(int listener, char *const *prefixes, int count)
{
    struct seccomp_notif call;
    struct seccomp_notif_resp response;
    int well = 1;

    memset(&call, 0, sizeof call);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) < 0)
        return;
    for (int i = 0; i < CALLS; i++)
        for (int j = 0; j < 2 && calls[i].call == call.data.nr; j++)
            if (calls[i].path[j] >= 0 &&
                !looks_well((pid_t)call.pid,
                            call.data.args[calls[i].path[j]] +
                                (call.data.nr == SYS_connect ? sizeof(sa_family_t) : 0),
                            prefixes, count))
                well = 0;
    response = (struct seccomp_notif_resp){
        .id = call.id,
        .error = well ? 0 : -EACCES,
        .flags = well ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0,
    };
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

int main(int argc, char **argv)
{
    int sockets[2];
    int count = 1;
    int status;
    int listener;
    pid_t child;
    pid_t helper;

    while (count < argc && strcmp(argv[count], "--") != 0)
        count++;
    if (count >= argc - 1 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) < 0)
        return 2;
    child = fork();
    if (child == 0) {
        listener = enter();
        if (listener < 0 || pass(sockets[1], listener) < 0)
            _exit(2);
        close(listener);
        execv(argv[count + 1], argv + count + 1);
        _exit(2);
    }
    close(sockets[1]);
    listener = take(sockets[0]);
    if (listener < 0)
        return 2;
    helper = fork();
    if (helper == 0)
        for (;;)
            answer(listener, argv + 1, count - 1);
    close(listener);
    waitpid(child, &status, 0);
    kill(helper, SIGKILL);
    waitpid(helper, NULL, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
