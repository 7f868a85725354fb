/* SPDX-License-Identifier: MIT */
#include "where.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "call.h"
#include "known.h"
#include "load.h"
#include "os.h"

/* --- the working directory -------------------------------------------------------------------- */

/* In `turn`: how many threads are changing it right now, whether it is known, and a count of
 * changes. */
enum { CWD_CHANGING = 0xff, CWD_KNOWN = 0x100, CWD_TURN = 0x200 };

static struct {
    _Atomic uint64_t turn;
    struct known_cell cell;
} cwd;

/* A page, at the most that this machine has. */
#if defined(__x86_64__)
enum { PAGE_MAX = 4096 };
#else
enum { PAGE_MAX = 65536 };
#endif

/* The process that the memory above belongs to. Its page is wiped in a child with memory of its
 * own, so there it reads 0; a child of vfork, which shares the memory but not the directory, sees
 * its parent. */
static _Alignas(PAGE_MAX) char owned[PAGE_MAX];
static _Atomic int *owner;
static _Atomic bool forgetful;

/* Set in a thread that shares its memory with a parent, and has left the parent's directory. */
static __thread bool astray __attribute__((tls_model("initial-exec")));

static bool is_owner(void)
{
    int self = (int)CALL(SYS_getpid, 0);
    int expected = 0;

    return owner != NULL &&
           (atomic_compare_exchange_strong(owner, &expected, self) || expected == self);
}

/* Announces a change. Until all that were announced are over nobody trusts what is remembered. */
static uint64_t cwd_begin(void)
{
    uint64_t old = atomic_load(&cwd.turn);
    uint64_t new;

    do
        new = ((old & ~(uint64_t)CWD_KNOWN) + CWD_TURN) + 1;
    while (!atomic_compare_exchange_weak(&cwd.turn, &old, new));
    return new;
}

/* Ends it. What was found, if anything, counts if nobody else came between. */
static void cwd_end(uint64_t turn, const struct policy_at *found)
{
    uint64_t expected = turn;

    if (found != NULL && (turn & CWD_CHANGING) == 1 && atomic_load(&cwd.turn) == turn) {
        known_write(&cwd.cell, found);
        if (atomic_compare_exchange_strong(&cwd.turn, &expected, (turn - 1) | CWD_KNOWN))
            return;
    }
    atomic_fetch_sub(&cwd.turn, 1);
}

/* Where the kernel says that we are. A text of more than what a small stack has room for is rare.
 */
static bool ask_cwd(struct policy_at *at)
{
    char few[512];
    void *room = few;
    size_t size = sizeof few;
    ssize_t length = os_cwd(room, size);

    if (length == -ERANGE && os_map(PATH_MAX, &room) == 0) {
        size = PATH_MAX;
        length = os_cwd(room, size);
    }
    decide_start(load_hold.scope.policy, at);
    bool known = length > 0 && decide_follow(load_hold.scope.policy, at, room);
    if (room != few)
        os_unmap(room, size);
    return known;
}

long where_change(int fd, const struct policy_at *place)
{
    struct policy_at asked;
    long result;

    if (!is_owner()) {
        astray = true;
        return CALL(SYS_fchdir, fd);
    }
    uint64_t turn = cwd_begin();
    result = CALL(SYS_fchdir, fd);
    if (result < 0 || place == NULL)
        place = ask_cwd(&asked) ? &asked : NULL;
    cwd_end(turn, place);
    return result;
}

static bool cwd_recall(struct policy_at *at)
{
    if (astray && !is_owner())
        return false;
    astray = false;
    uint64_t turn = atomic_load_explicit(&cwd.turn, memory_order_acquire);
    if ((turn & (CWD_KNOWN | CWD_CHANGING)) != CWD_KNOWN ||
        atomic_load_explicit(&forgetful, memory_order_relaxed))
        return false;
    known_read(&cwd.cell, at);
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&cwd.turn, memory_order_relaxed) == turn;
}

void where_forget(void)
{
    atomic_store(&forgetful, true);
}

void where_load(void)
{
    struct policy_at at;

    if (CALL(SYS_madvise, owned, sizeof owned, MADV_WIPEONFORK) < 0)
        return;
    owner = (_Atomic int *)owned;
    if (is_owner())
        cwd_end(cwd_begin(), ask_cwd(&at) ? &at : NULL);
}

/* --- directory descriptors -------------------------------------------------------------------- */

static struct known table[256];

static bool descriptor_recall(int fd, struct policy_at *at)
{
    struct identity id;

    return fd >= 0 && (size_t)fd < sizeof table / sizeof *table && identity_of(fd, &id) &&
           known_find(&table[fd], &load_hold.scope, fd, &id, at);
}

void where_from(struct where *where, int dir, const char *path)
{
    bool known = false;

    where->start = (struct start){.fd = dir};
    if (path[0] == '/')
        return;
    known = dir == AT_FDCWD ? cwd_recall(&where->at) : descriptor_recall(dir, &where->at);
    if (known)
        where->start.at = &where->at;
}
