/* SPDX-License-Identifier: MIT */
#include "known.h"

#include <fcntl.h>
#include <linux/stat.h>
#include <string.h>
#include <sys/syscall.h>

#include "call.h"
#include "os.h"

void known_write(struct known_cell *cell, const struct policy_at *at)
{
    uint64_t words[KNOWN_WORDS];

    memcpy(words, at, sizeof words);
    for (size_t i = 0; i < KNOWN_WORDS; i++)
        atomic_store_explicit(&cell->word[i], words[i], memory_order_relaxed);
}

void known_read(struct known_cell *cell, struct policy_at *at)
{
    uint64_t words[KNOWN_WORDS] = {0};

    for (size_t i = 0; i < KNOWN_WORDS; i++)
        words[i] = atomic_load_explicit(&cell->word[i], memory_order_relaxed);
    memcpy(at, words, sizeof words);
}

bool identity_of(int fd, struct identity *id)
{
    const unsigned wanted = STATX_TYPE | STATX_INO | STATX_BTIME | STATX_MNT_ID;
    struct statx stx;

    if (CALL(SYS_statx, fd, "", AT_EMPTY_PATH, wanted, &stx) < 0 ||
        (stx.stx_mask & wanted) != wanted || !S_ISDIR(stx.stx_mode))
        return false;
    id->dev = (uint64_t)stx.stx_dev_major << 32 | stx.stx_dev_minor;
    id->ino = stx.stx_ino;
    id->mount = stx.stx_mnt_id;
    id->born = (uint64_t)stx.stx_btime.tv_sec * 1000000000U + stx.stx_btime.tv_nsec;
    return true;
}

static bool recall(struct known *entry, const struct identity *id, struct policy_at *at)
{
    uint64_t turn = atomic_load_explicit(&entry->turn, memory_order_acquire);
    bool same = atomic_load_explicit(&entry->dev, memory_order_relaxed) == id->dev &&
                atomic_load_explicit(&entry->ino, memory_order_relaxed) == id->ino &&
                atomic_load_explicit(&entry->mount, memory_order_relaxed) == id->mount &&
                atomic_load_explicit(&entry->born, memory_order_relaxed) == id->born;

    if (!same || turn == 0 || (turn & 1) != 0)
        return false;
    known_read(&entry->cell, at);
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&entry->turn, memory_order_relaxed) == turn;
}

static void keep(struct known *entry, const struct identity *id, const struct policy_at *at)
{
    uint64_t turn = atomic_load(&entry->turn);

    if ((turn & 1) != 0 || !atomic_compare_exchange_strong(&entry->turn, &turn, turn + 1))
        return;
    atomic_store_explicit(&entry->dev, id->dev, memory_order_relaxed);
    atomic_store_explicit(&entry->ino, id->ino, memory_order_relaxed);
    atomic_store_explicit(&entry->mount, id->mount, memory_order_relaxed);
    atomic_store_explicit(&entry->born, id->born, memory_order_relaxed);
    known_write(&entry->cell, at);
    atomic_store(&entry->turn, turn + 2);
}

/* Where the descriptor leads: the walk finds and verifies the text. The number may mean something
 * else by then, so the walk's own copy is what is identified. */
static bool learn(const struct scope *scope, int fd, struct identity *id, struct policy_at *at)
{
    const struct start start = {.fd = fd};
    struct walk *walk;
    bool known;

    if (walk_new(&walk, scope->view, &start, ".") < 0)
        return false;
    decide_start(scope->policy, at);
    known = walk->ground == GROUND_KNOWN && identity_of(walk->dir, id) &&
            decide_follow(scope->policy, at, walk->path.text);
    walk_free(walk);
    return known;
}

bool known_find(struct known *entry, const struct scope *scope, int fd, const struct identity *id,
                struct policy_at *at)
{
    struct identity learnt;

    if (recall(entry, id, at))
        return true;
    if (!learn(scope, fd, &learnt, at) || memcmp(&learnt, id, sizeof learnt) != 0)
        return false;
    keep(entry, id, at);
    return true;
}
