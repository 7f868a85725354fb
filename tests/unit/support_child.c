/* SPDX-License-Identifier: MIT */
#include "support_child.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

const char *const way_names[WAYS] = {
    [WAY_OPENAT2] = "openat2", [WAY_ENOSYS] = "ENOSYS", [WAY_EPERM] = "EPERM"};

/* 0, or the errno of an openat2 that cannot fail by itself. */
static int try_openat2(void)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC};
    long fd = syscall(SYS_openat2, AT_FDCWD, "/", &how, sizeof how);

    if (fd < 0)
        return errno;
    close((int)fd);
    return 0;
}

bool have_openat2(void)
{
    return try_openat2() == 0;
}

void forbid_openat2(int error)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof code[0], .filter = code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        err(EXIT_FAILURE, "seccomp");
    if (try_openat2() != error)
        errx(EXIT_FAILURE, "the filter has no effect on openat2");
}

static void go(enum way way)
{
    if (way == WAY_ENOSYS)
        forbid_openat2(ENOSYS);
    if (way == WAY_EPERM)
        forbid_openat2(EPERM);
}

void child_complain(struct complaint *complaint, const char *format, ...)
{
    size_t length = strlen(complaint->text);
    va_list arguments;

    if (length > 0 && length + 2 < sizeof complaint->text) {
        memcpy(complaint->text + length, "; ", sizeof "; ");
        length += 2;
    }
    va_start(arguments, format);
    vsnprintf(complaint->text + length, sizeof complaint->text - length, format, arguments);
    va_end(arguments);
}

void complain_if_different(struct complaint *complaint, const char *what, const char *wanted,
                           const char *found)
{
    if (strcmp(wanted, found) != 0)
        child_complain(complaint, "%s:\n%s--- instead of\n%s", what, found, wanted);
}

int lowest_free_fd(void)
{
    int fd = dup(STDOUT_FILENO);

    close(fd);
    return fd;
}

void run_child(enum way way, void (*check)(const void *argument, struct complaint *complaint),
               const void *argument, struct complaint *complaint)
{
    struct complaint *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status;

    if (shared == MAP_FAILED)
        err(EXIT_FAILURE, "mmap");
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        go(way);
        check(argument, shared);
        _exit(EXIT_SUCCESS);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        err(EXIT_FAILURE, "fork");
    if (status != 0)
        child_complain(shared, "the child ended with status 0x%x", (unsigned)status);
    *complaint = *shared;
    munmap(shared, sizeof *shared);
}
