/* SPDX-License-Identifier: MIT */
/*
 * Several processes and threads on one journal: starting at once, reading what the others append,
 * and being killed.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tracker_fixture.h"

#define CROWD 8
#define POOL  2000

struct ledger {
    _Atomic unsigned ready;
    _Atomic unsigned published; /* all paths below this number are marked */
    _Atomic int error;
    _Atomic unsigned char begun[POOL];
    _Atomic unsigned char done[POOL];
};

static int new_file(void)
{
    return memfd_create("journal", MFD_CLOEXEC);
}

/* All of them at once, as far as possible. */
static void meet(struct ledger *ledger, unsigned count)
{
    ledger->ready++;
    while (ledger->ready < count)
        sched_yield();
}

static void start_and_mark(struct ledger *ledger, int file, unsigned number)
{
    struct tracker tracker;
    char path[64];
    int error;

    meet(ledger, CROWD);
    error = session(&tracker, file);
    if (error == 0)
        error = mark(&tracker, numbered(path, number));
    if (error != 1)
        ledger->error = error == 0 ? -EEXIST : error;
    _exit(0);
}

TEST all_start_with_an_empty_journal(void)
{
    struct ledger *ledger = shared_memory(sizeof *ledger);
    struct tracker tracker;
    char path[64];

    ASSERT(ledger != NULL);
    for (int round = 0; round < 100; round++) {
        int file = new_file();

        ledger->ready = 0;
        for (unsigned i = 0; i < CROWD; i++)
            if (fork() == 0)
                start_and_mark(ledger, file, i);
        while (wait(NULL) > 0)
            ;
        ASSERT_EQ_FMT(0, ledger->error, "%d");
        ASSERT_EQ(0, session(&tracker, file));
        for (unsigned i = 0; i < 2 * CROWD; i++)
            ASSERT_EQ(i < CROWD, has(&tracker, numbered(path, i)));
        tracker_detach(&tracker);
        close(file);
    }
    munmap(ledger, sizeof *ledger);
    PASS();
}

struct worker {
    struct tracker *tracker;
    struct ledger *ledger;
    uint64_t random;
    unsigned newly;
    int error;
};

static void *mark_at_random(void *argument)
{
    struct worker *worker = argument;
    char path[64];

    for (unsigned i = 0; i < 4000 && worker->error == 0; i++) {
        unsigned number = (unsigned)(next_random(&worker->random) % POOL);
        int result = mark(worker->tracker, numbered(path, number));

        if (result < 0)
            worker->error = result;
        else
            worker->newly += (unsigned)result;
        if (result == 1 && worker->ledger->done[number]++ != 0)
            worker->error = -EEXIST;
    }
    return NULL;
}

static int run_threads(struct tracker *tracker, struct ledger *ledger, void *(*body)(void *),
                       unsigned *newly)
{
    struct worker workers[CROWD];
    pthread_t threads[CROWD];
    int error = 0;

    for (unsigned i = 0; i < CROWD; i++) {
        workers[i] = (struct worker){.tracker = tracker, .ledger = ledger, .random = seed + i};
        pthread_create(&threads[i], NULL, body, &workers[i]);
    }
    for (unsigned i = 0; i < CROWD; i++) {
        pthread_join(threads[i], NULL);
        *newly += workers[i].newly;
        if (workers[i].error != 0)
            error = workers[i].error;
    }
    return error;
}

TEST threads_append_each_path_once(void)
{
    struct ledger *ledger = shared_memory(sizeof *ledger);
    struct tracker tracker;
    struct tracker reader;
    char path[64];
    unsigned newly = 0;
    unsigned there = 0;
    int file = new_file();

    ASSERT(ledger != NULL);
    ASSERT_EQ(0, session(&tracker, file));
    ASSERT_EQ_FMT(0, run_threads(&tracker, ledger, mark_at_random, &newly), "%d");
    ASSERT_EQ(0, session(&reader, file));
    for (unsigned i = 0; i < POOL; i++) {
        ASSERT_EQ(ledger->done[i], has(&reader, numbered(path, i)));
        there += ledger->done[i];
    }
    ASSERT_EQ_FMT(newly, there, "%u");
    ASSERT(there > POOL / 2);
    tracker_detach(&tracker);
    tracker_detach(&reader);
    close(file);
    munmap(ledger, sizeof *ledger);
    PASS();
}

/* Looks, again and again, for the path that the other session marked last. */
static void *follow(void *argument)
{
    struct worker *worker = argument;
    char path[64];
    unsigned last;

    while ((last = worker->ledger->published) < POOL && worker->error == 0) {
        if (last > 0 && has(worker->tracker, numbered(path, last - 1)) != 1)
            worker->error = -ENOENT;
        if (has(worker->tracker, "/never/marked") != 0)
            worker->error = -EIO;
    }
    return NULL;
}

static void publish_all(struct ledger *ledger, int file)
{
    struct tracker tracker;
    char path[64];

    if (session(&tracker, file) < 0)
        ledger->error = -EIO;
    for (unsigned i = 0; i < POOL; i++) {
        if (mark(&tracker, numbered(path, i)) != 1)
            ledger->error = -EIO;
        ledger->published = i + 1;
    }
    _exit(0);
}

/* Threads share a memory, one takes a record in, another has just looked in vain: it must not
 * believe then that the journal has nothing new. */
TEST what_was_marked_before_is_found(void)
{
    struct ledger *ledger = shared_memory(sizeof *ledger);
    struct tracker tracker;
    unsigned newly = 0;

    ASSERT(ledger != NULL);
    for (int round = 0; round < 20; round++) {
        int file = new_file();

        ledger->published = 0;
        ASSERT_EQ(0, session(&tracker, file));
        if (fork() == 0)
            publish_all(ledger, file);
        ASSERT_EQ_FMT(0, run_threads(&tracker, ledger, follow, &newly), "%d");
        wait(NULL);
        ASSERT_EQ_FMT(0, ledger->error, "%d");
        tracker_detach(&tracker);
        close(file);
    }
    munmap(ledger, sizeof *ledger);
    PASS();
}

/* Half of the processes share a memory, the others have one of their own. */
static void keep_marking(struct tracker *tracker, struct ledger *ledger, int file, uint64_t random,
                         unsigned marks)
{
    struct tracker own;
    char path[64];

    if (random % 2) {
        if (session(&own, file) < 0)
            _exit(0);
        tracker = &own;
    }
    for (unsigned i = 0; i < marks; i++) {
        unsigned number = (unsigned)(next_random(&random) % (POOL / 2)) * 2;

        ledger->begun[number] = 1;
        int result = mark(tracker, numbered(path, number));

        if (result >= 0)
            ledger->done[number] = 1;
        else if (result != -EBADMSG)
            ledger->error = result;
        if (result < 0)
            break;
    }
    _exit(0);
}

static void run_processes(struct tracker *tracker, struct ledger *ledger, int file,
                          uint64_t *random)
{
    pid_t children[CROWD];

    for (unsigned i = 0; i < CROWD; i++) {
        uint64_t own = next_random(random);

        children[i] = fork();
        if (children[i] == 0)
            keep_marking(tracker, ledger, file, own, i == 0 ? POOL * 1000U : 200);
    }
    usleep((useconds_t)(next_random(random) % 3000));
    kill(children[0], SIGKILL);
    for (unsigned i = 0; i < CROWD; i++)
        waitpid(children[i], NULL, 0);
}

/* The kernel may end a write(2) of a killed process between two pages. A session then has no
 * journal any more, and says so; what it may not do is forget a path and say nothing. */
TEST a_killed_process_loses_no_path_in_silence(void)
{
    struct tracker tracker;
    struct tracker reader;
    uint64_t random = seed;
    char path[64];
    int torn = 0;

    for (int round = 0; round < 100; round++) {
        struct ledger *ledger = shared_memory(sizeof *ledger);
        int file = new_file();

        ASSERT(ledger != NULL);
        ASSERT_EQ(0, session(&tracker, file));
        run_processes(&tracker, ledger, file, &random);
        ASSERT_EQ_FMT(0, ledger->error, "%d");
        int error = session(&reader, file);

        ASSERT(error == 0 || error == -EBADMSG);
        torn += error < 0;
        for (unsigned i = 0; i < POOL && error == 0; i++) {
            int found = has(&reader, numbered(path, i));

            ASSERT(found == 0 || found == 1);
            ASSERT(found || !ledger->done[i]);
            ASSERT(!found || ledger->begun[i]);
            /* Killed between the memory and the journal: there, but nobody was told so. */
            ASSERT(has(&tracker, path) == 1 || !found);
        }
        if (error == 0)
            tracker_detach(&reader);
        tracker_detach(&tracker);
        close(file);
        munmap(ledger, sizeof *ledger);
    }
    printf("%d of 100 journals torn\n", torn);
    ASSERT(torn <= 10);
    PASS();
}

SUITE(tracker_sessions)
{
    RUN_TEST(all_start_with_an_empty_journal);
    RUN_TEST(threads_append_each_path_once);
    RUN_TEST(what_was_marked_before_is_found);
    RUN_TEST(a_killed_process_loses_no_path_in_silence);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    print_seed("test_tracker_sessions");
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(tracker_sessions);
    GREATEST_MAIN_END();
}
