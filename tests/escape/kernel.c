/* SPDX-License-Identifier: MIT */
/* Doors of the kernel that lead past path lookups, or into other people's objects. */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attack.h"
#include "layer.h"

/* --- io_uring --------------------------------------------------------------------------------- */

struct ring {
    int fd;
    char *submit;
    char *complete;
    struct io_uring_sqe *entries;
    struct io_uring_params params;
};

static int ring_new(struct ring *ring)
{
    const struct io_uring_params *params = &ring->params;
    size_t size;
    long fd;

    memset(ring, 0, sizeof *ring);
    fd = sys(SYS_io_uring_setup, 4, &ring->params);
    if (fd < 0)
        return (int)fd;
    ring->fd = (int)fd;
    size = params->sq_off.array + params->sq_entries * sizeof(unsigned);
    ring->submit =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, IORING_OFF_SQ_RING);
    size = params->cq_off.cqes + params->cq_entries * sizeof(struct io_uring_cqe);
    ring->complete =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, IORING_OFF_CQ_RING);
    ring->entries = mmap(NULL, params->sq_entries * sizeof *ring->entries, PROT_READ | PROT_WRITE,
                         MAP_SHARED, ring->fd, IORING_OFF_SQES);
    return ring->submit == MAP_FAILED || ring->complete == MAP_FAILED || ring->entries == MAP_FAILED
               ? cannot("no memory for a ring")
               : 0;
}

/* Makes one request and waits for its result. */
static int ring_call(struct ring *ring, const struct io_uring_sqe *request)
{
    _Atomic unsigned *tail = (_Atomic unsigned *)(ring->submit + ring->params.sq_off.tail);
    unsigned *array = (unsigned *)(ring->submit + ring->params.sq_off.array);
    const struct io_uring_cqe *results =
        (const struct io_uring_cqe *)(ring->complete + ring->params.cq_off.cqes);
    long error;

    ring->entries[0] = *request;
    array[0] = 0;
    atomic_fetch_add(tail, 1);
    error = sys(SYS_io_uring_enter, ring->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0);
    return error < 0 ? (int)error : results[0].res;
}

static int ring_open(void)
{
    struct ring ring;
    int error = ring_new(&ring);

    if (error < 0)
        return error;
    return spill(ring_call(&ring, &(struct io_uring_sqe){.opcode = IORING_OP_OPENAT,
                                                         .fd = AT_FDCWD,
                                                         .addr = (unsigned long)in("out", "secret"),
                                                         .open_flags = O_RDONLY}));
}

static int ring_unlink(void)
{
    struct ring ring;
    int error = ring_new(&ring);

    if (error < 0)
        return error;
    return ring_call(&ring, &(struct io_uring_sqe){.opcode = IORING_OP_UNLINKAT,
                                                   .fd = AT_FDCWD,
                                                   .addr = (unsigned long)in("out", "victim")});
}

/* --- handles ---------------------------------------------------------------------------------- */

union handle {
    struct file_handle head;
    unsigned char room[sizeof(struct file_handle) + 128];
};

static int handle_of(const char *path, union handle *handle)
{
    int mount;

    handle->head.handle_bytes = 128;
    return (int)sys(SYS_name_to_handle_at, AT_FDCWD, path, &handle->head, &mount, 0);
}

static int handle_name(void)
{
    union handle handle;

    return handle_of(in("out", "secret"), &handle);
}

/* A handle that was made outside, or guessed, needs no path. */
static int handle_open(void)
{
    union handle handle;
    const char *text = fact("handle");
    unsigned type = 0;
    unsigned size = 0;
    unsigned byte;
    int used = 0;
    long mount = do_open(".", O_RDONLY | O_DIRECTORY, 0);

    if (sscanf(text, "%u:%u:%n", &type, &size, &used) != 2 || // NOLINT(cert-err34-c)
        size > 128)
        return cannot("no handle");
    handle.head.handle_type = (int)type;
    handle.head.handle_bytes = size;
    for (unsigned i = 0; i < size; i++) {
        if (sscanf(text + used + 2 * i, "%2x", &byte) != 1) // NOLINT(cert-err34-c)
            return cannot("no handle");
        handle.room[sizeof handle.head + i] = (unsigned char)byte;
    }
    return mount < 0 ? (int)mount
                     : spill(sys(SYS_open_by_handle_at, mount, &handle.head, O_RDONLY));
}

/* --- other numbers for the same calls --------------------------------------------------------- */

/* In a child: a filter may kill for it. */
static int in_child(int (*attempt)(void))
{
    long pid = do_fork();

    if (pid == 0)
        _exit(-attempt());
    return pid < 0 ? (int)pid : reap(pid);
}

#ifdef __x86_64__
static long int80(long number, long a, long b, long c)
{
    __asm__ volatile("int $0x80"
                     : "+a"(number)
                     : "b"(a), "c"(b), "d"(c)
                     : "r8", "r9", "r10", "r11", "memory");
    return number;
}

static int open_32(void)
{
    enum { OPEN_32 = 5 };
    char *low =
        mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

    if (low == MAP_FAILED)
        return -ENOMEM;
    strcpy(low, in("out", "secret"));
    return spill(int80(OPEN_32, (long)low, O_RDONLY, 0));
}

static int open_x32(void)
{
    return spill(sys(SYS_open | 0x40000000, in("out", "secret"), O_RDONLY));
}
#else
static int open_32(void)
{
    return -ENOSYS;
}

static int open_x32(void)
{
    return -ENOSYS;
}
#endif

static int old_calls(void)
{
    int error = in_child(open_32);

    return error == -ENOSYS && is_bare() ? cannot("no 32-bit calls") : error;
}

static int x32_calls(void)
{
    int error = in_child(open_x32);

    return error == -ENOSYS && is_bare() ? cannot("no x32 calls") : error;
}

/* --- other people's objects ------------------------------------------------------------------- */

/* Memory of the harness's, which the user may attach. */
static int shared_memory(void)
{
    long address = sys(SYS_shmat, fact_number("memory"), 0, 010000 /* SHM_RDONLY */);

    if (address < 0 && address > -4096)
        return (int)address;
    return spill_text((const char *)address, 64);
}

static int message_queue(void)
{
    char text[8192];
    long fd = sys(SYS_mq_open, fact("queue"), O_RDONLY | O_NONBLOCK, 0, NULL);

    if (fd < 0)
        return (int)fd;
    return spill_text(text, sys(SYS_mq_timedreceive, fd, text, sizeof text, NULL, NULL));
}

/* A key that the user has. */
static int key(void)
{
    char text[128];
    long id;

    if (fact_number("key") == 0)
        return cannot("no keys");
    id = fact_number("key");
    return spill_text(text, sys(SYS_keyctl, KEYCTL_READ, id, text, sizeof text));
}

static int add_key(void)
{
    long id = sys(SYS_add_key, "user", "escape", "x", 1, KEY_SPEC_PROCESS_KEYRING);

    return id == -ENOSYS ? cannot("no keys") : id < 0 ? (int)id : 0;
}

/* --- what has no business here ---------------------------------------------------------------- */

static int bpf(void)
{
    union bpf_attr attributes = {
        .map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};
    long fd = sys(SYS_bpf, BPF_MAP_CREATE, &attributes, sizeof attributes);

    return fd < 0 ? (int)fd : 0;
}

static int perf(void)
{
    struct perf_event_attr attributes = {.type = PERF_TYPE_SOFTWARE,
                                         .size = sizeof attributes,
                                         .config = PERF_COUNT_SW_CONTEXT_SWITCHES,
                                         .exclude_kernel = 1};
    long fd = sys(SYS_perf_event_open, &attributes, 0, -1, -1, 0);

    if (fd < 0 && is_bare())
        return cannot("no performance events");
    return fd < 0 ? (int)fd : 0;
}

static int user_faults(void)
{
    long fd = sys(SYS_userfaultfd, 1 /* UFFD_USER_MODE_ONLY */ | O_CLOEXEC);

    return fd < 0 ? (int)fd : 0;
}

/* With a bad descriptor: EBADF tells that one got as far as that. */
static int load_module(void)
{
    long error = sys(SYS_finit_module, -1, "", 0);

    if (error == -ENOSYS)
        return cannot("no modules");
    return error == -EPERM ? -EPERM : 0;
}

static int watch_mount(void)
{
    long fd = sys(SYS_fanotify_init, 0, O_RDONLY);

    if (fd == -ENOSYS)
        return cannot("no fanotify");
    return fd < 0 ? (int)fd : 0;
}

static int ports(void)
{
#ifdef SYS_iopl
    long error = sys(SYS_iopl, 3);

    return error == -ENOSYS && is_bare() ? cannot("no ports") : (int)error;
#else
    return cannot("no ports");
#endif
}

#define FILTER "seccomp.c: "

static const struct attack rows[] = {
    {"ring_open", ring_open, LEAK, WALL, 0, "ENOSYS EPERM", FILTER "io_uring; landlock.c", NULL,
     RETREAT},
    {"ring_unlink", ring_unlink, CHANGE, WALL, 0, "ENOSYS EPERM", FILTER "io_uring; landlock.c",
     NULL, RETREAT},
    {"handle_name", handle_name, CLAIM, WALL, 0, "EPERM", FILTER "handles", NULL,
     "name_to_handle_at"},
    {"handle_open", handle_open, LEAK, WALL, NEEDS_ROOT, "EPERM",
     FILTER "handles; caps.c: DAC_READ_SEARCH is dropped", NULL, "open_by_handle_at"},
    {"old_calls", old_calls, LEAK, WALL, 0, "EINTR ENOSYS", FILTER "kills foreign architectures",
     NULL, KERNEL},
    {"x32_calls", x32_calls, LEAK, WALL, 0, "EINTR ENOSYS", FILTER "x32 numbers", NULL, RETREAT},
    {"shared_memory", shared_memory, LEAK, BWRAP, 0, "EINVAL EIDRM EACCES",
     "bwrap.c: --unshare-ipc", "System V", KERNEL},
    {"message_queue", message_queue, LEAK, WALL, 0, NULL,
     "landlock.c: READ_FILE; bwrap.c: --unshare-ipc", NULL, KERNEL},
    {"key", key, LEAK, WALL, 0, "EPERM", FILTER "keys", NULL, "keyctl"},
    {"add_key", add_key, CLAIM, WALL, 0, "EPERM", FILTER "keys", NULL, "add_key"},
    {"bpf", bpf, CLAIM, WALL, NEEDS_ROOT, "EPERM", FILTER "bpf; caps.c", NULL, "bpf"},
    {"perf", perf, CLAIM, WALL, 0, "EPERM EACCES", FILTER "perf_event_open", NULL,
     "perf_event_open"},
    {"user_faults", user_faults, CLAIM, WALL, 0, "EPERM", FILTER "userfaultfd", NULL,
     "userfaultfd"},
    {"load_module", load_module, CLAIM, WALL, NEEDS_ROOT, "EPERM", FILTER "modules; caps.c", NULL,
     "finit_module"},
    {"watch_mount", watch_mount, CLAIM, WALL, NEEDS_ROOT, "EPERM", "caps.c: SYS_ADMIN is dropped",
     NULL, "fanotify_init"},
    {"ports", ports, CLAIM, WALL, NEEDS_ROOT, "EPERM", "caps.c: SYS_RAWIO is dropped", NULL,
     "iopl"},
};
const struct attacks attacks_kernel = ATTACKS(rows);
