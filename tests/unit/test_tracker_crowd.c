/* SPDX-License-Identifier: MIT */
/*
 * The tracker under threads, and under processes one of which is killed.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "tracker_fixture.h"

#define CROWD 8

/* Threads */

struct worker {
    struct tracker *tracker;
    uint64_t random;
    unsigned paths;
    unsigned marks;
    _Atomic unsigned *newly; /* by number of the path */
    int error;
};

static void *mark_at_random(void *argument)
{
    struct worker *worker = argument;
    char path[64];

    for (unsigned i = 0; i < worker->marks && worker->error == 0; i++) {
        unsigned number = (unsigned)(next_random(&worker->random) % worker->paths);
        int result = mark(worker->tracker, numbered(path, number));

        if (result == 1)
            atomic_fetch_add(&worker->newly[number], 1);
        if (result < 0 && result != -ENOSPC)
            worker->error = result;
        if (result >= 0 && has(worker->tracker, path) != 1)
            worker->error = -EIO;
    }
    return NULL;
}

/* Returns how many paths were newly marked, or a negative errno; -EEXIST: one of them twice. */
static int run_threads(struct tracker *tracker, unsigned paths, unsigned marks)
{
    _Atomic unsigned *newly = calloc(paths, sizeof *newly);
    struct worker workers[CROWD];
    pthread_t threads[CROWD];
    int result = 0;

    for (unsigned i = 0; i < CROWD; i++) {
        workers[i] = (struct worker){tracker, seed + i, paths, marks, newly, 0};
        pthread_create(&threads[i], NULL, mark_at_random, &workers[i]);
    }
    for (unsigned i = 0; i < CROWD; i++) {
        pthread_join(threads[i], NULL);
        if (workers[i].error != 0)
            result = workers[i].error;
    }
    for (unsigned i = 0; i < paths && result >= 0; i++)
        result = newly[i] > 1 ? -EEXIST : result + (int)newly[i];
    free(newly);
    return result;
}

TEST threads_mark_each_path_once(void)
{
    struct tracker tracker;
    char path[64];
    unsigned there = 0;

    for (int round = 0; round < 10; round++) {
        ASSERT_EQ(0, fresh(&tracker, 3000, 150000));
        int newly = run_threads(&tracker, 3000, 6000);

        ASSERT(newly > 2900);
        there = 0;
        for (unsigned i = 0; i < 3000; i++)
            there += has(&tracker, numbered(path, i)) == 1;
        ASSERT_EQ_FMT((unsigned)newly, there, "%u");
        ASSERT_EQ((uint64_t)newly, atomic_load(&tracker.memory->count));
        tracker_detach(&tracker);
    }
    PASS();
}

TEST threads_fill_it_to_the_last_path(void)
{
    struct tracker tracker;

    ASSERT_EQ(0, fresh(&tracker, 500, 50000));
    /* Losers of a race hold a place for a moment, so somebody may see it full too early: but in the
     * end it is, and never overfull. */
    ASSERT_EQ_FMT(500, run_threads(&tracker, 100000, 5000), "%d");
    ASSERT_EQ(500, atomic_load(&tracker.memory->count));
    tracker_detach(&tracker);
    PASS();
}

/* Processes */

#define POOL 2000 /* the odd ones are never marked */

struct ledger {
    _Atomic unsigned char begun[POOL];
    _Atomic unsigned char done[POOL];
    _Atomic unsigned char newly[POOL];
    _Atomic int error;
};

static void keep_marking(struct tracker *tracker, struct ledger *ledger, uint64_t random,
                         unsigned marks)
{
    char path[64];

    for (unsigned i = 0; i < marks; i++) {
        unsigned number = (unsigned)(next_random(&random) % (POOL / 2)) * 2;

        ledger->begun[number] = 1;
        int result = mark(tracker, numbered(path, number));
        if (result < 0)
            ledger->error = result;
        if (result == 1)
            ledger->newly[number]++;
        if (result >= 0)
            ledger->done[number] = 1;
    }
    _exit(0);
}

/* Eight at work, the first of them killed on the way. */
static void run_processes(struct tracker *tracker, struct ledger *ledger, uint64_t *random)
{
    pid_t children[CROWD];

    for (unsigned i = 0; i < CROWD; i++) {
        uint64_t own = next_random(random);

        children[i] = fork();
        if (children[i] == 0)
            keep_marking(tracker, ledger, own, i == 0 ? UINT_MAX : 300);
    }
    usleep((useconds_t)(next_random(random) % 1500));
    kill(children[0], SIGKILL);
    for (unsigned i = 0; i < CROWD; i++)
        waitpid(children[i], NULL, 0);
}

static int count_only(void *context, const char *path, size_t length)
{
    (void)path;
    (void)length;
    ++*(unsigned *)context;
    return 0;
}

TEST a_killed_process_does_no_harm(void)
{
    struct tracker tracker;
    uint64_t random = seed;
    char path[64];

    for (int round = 0; round < 150; round++) {
        struct ledger *ledger = shared_memory(sizeof *ledger);
        unsigned there = 0;
        unsigned listed = 0;
        unsigned unclaimed = 0;

        ASSERT(ledger != NULL);
        ASSERT_EQ(0, fresh(&tracker, POOL, POOL * 64));
        run_processes(&tracker, ledger, &random);
        ASSERT_EQ_FMT(0, ledger->error, "%d");
        for (unsigned i = 0; i < POOL; i++) {
            int found = has(&tracker, numbered(path, i));

            ASSERT(found == 0 || found == 1);
            ASSERT(found || !ledger->done[i]);
            ASSERT(!found || ledger->begun[i]);
            ASSERT(ledger->newly[i] <= 1);
            unclaimed += found && !ledger->newly[i];
            there += (unsigned)found;
        }
        /* The one that was killed had no time to say that it marked its last path. */
        ASSERT(unclaimed <= 1);
        ASSERT_EQ(0, tracker_each(&tracker, count_only, &listed));
        ASSERT_EQ_FMT(there, listed, "%u");
        ASSERT(there > 0);
        tracker_detach(&tracker);
        munmap(ledger, sizeof *ledger);
    }
    PASS();
}

SUITE(tracker_crowd)
{
    RUN_TEST(threads_mark_each_path_once);
    RUN_TEST(threads_fill_it_to_the_last_path);
    RUN_TEST(a_killed_process_does_no_harm);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    print_seed("test_tracker_crowd");
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(tracker_crowd);
    GREATEST_MAIN_END();
}
