/* SPDX-License-Identifier: MIT */
/*
 * The tracker's answers, its limits, and its list. Crowds, damage and the journal have programs of
 * their own.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "tracker_fixture.h"

/* What CPython 3.11 computes with the key 0. */
TEST hash_is_siphash_1_3(void)
{
    static const struct {
        size_t length;
        uint64_t hash;
    } known[] = {
        {1, 0x68a914128e01e473},  {7, 0x2f098ab0c751325a},  {8, 0xead411e67ebe2eea},
        {9, 0x75927f9d95124362},  {15, 0xf30eb725bb91c9ea}, {16, 0x8972188433a5c5b7},
        {63, 0x385d3e39e5f37359}, {64, 0x75e05fd5bbc870c6}, {70, 0x5d929c334c3c5220},
    };
    const uint64_t key[2] = {0, 0};
    char bytes[128];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)i;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        ASSERT_EQ_FMT(known[i].hash, tracker_hash(key, bytes, known[i].length), "%" PRIx64);
    PASS();
}

TEST takes_canonical_paths_only(void)
{
    static const char *const good[] = {
        "/", "/a", "/a/b", "/.a", "/..a", "/a..", "/...", "/a/.b/..c", "/a b\n/\xff\xfe", "/a/...",
    };
    static const char *const bad[] = {
        "",   "a",   "a/b",  ".",     "..",   "./a",   "//",     "//a",     "/a//b", "/a/",
        "/.", "/..", "/a/.", "/a/..", "/./a", "/../a", "/a/./b", "/a/../b", "/a/b/", "/a/b//",
    };
    struct tracker tracker;

    ASSERT_EQ(0, fresh(&tracker, 100, 10000));
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ASSERT_EQm(good[i], 0, has(&tracker, good[i]));
        ASSERT_EQm(good[i], 1, mark(&tracker, good[i]));
        ASSERT_EQm(good[i], 1, has(&tracker, good[i]));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ASSERT_EQm(bad[i], -EINVAL, mark(&tracker, bad[i]));
        ASSERT_EQm(bad[i], -EINVAL, has(&tracker, bad[i]));
    }
    ASSERT_EQ(-EINVAL, tracker_mark(&tracker, "/a\0b", 4));
    ASSERT_EQ(-EINVAL, tracker_has(&tracker, "/a\0", 3));
    ASSERT_EQ(-EINVAL, tracker_mark(&tracker, NULL, 0));
    ASSERT_EQ(-EINVAL, tracker_has(&tracker, NULL, 5));
    tracker_detach(&tracker);
    PASS();
}

TEST takes_paths_below_path_max(void)
{
    struct tracker tracker;
    char path[PATH_MAX + 1];

    memset(path, 'x', sizeof path);
    path[0] = '/';
    ASSERT_EQ(0, fresh(&tracker, 4, 4 * PATH_MAX));
    ASSERT_EQ(1, tracker_mark(&tracker, path, PATH_MAX - 1));
    ASSERT_EQ(1, tracker_has(&tracker, path, PATH_MAX - 1));
    ASSERT_EQ(0, tracker_has(&tracker, path, PATH_MAX - 2));
    ASSERT_EQ(-ENAMETOOLONG, tracker_mark(&tracker, path, PATH_MAX));
    ASSERT_EQ(-ENAMETOOLONG, tracker_has(&tracker, path, SIZE_MAX));
    tracker_detach(&tracker);
    PASS();
}

TEST marks_once_and_finds_in_every_mapping(void)
{
    struct tracker one;
    struct tracker two;
    int fd = tracker_create(10, 1000);

    ASSERT(fd >= 0);
    ASSERT_EQ(FD_CLOEXEC, fcntl(fd, F_GETFD));
    ASSERT_EQ(0, tracker_attach(&one, fd));
    ASSERT_EQ(0, tracker_attach(&two, fd));
    close(fd);
    ASSERT_EQ(0, has(&two, "/a/b"));
    ASSERT_EQ(1, mark(&one, "/a/b"));
    ASSERT_EQ(0, mark(&one, "/a/b"));
    ASSERT_EQ(0, mark(&two, "/a/b"));
    ASSERT_EQ(1, has(&two, "/a/b"));
    ASSERT_EQ(0, has(&two, "/a"));
    ASSERT_EQ(0, has(&two, "/a/bb"));
    ASSERT_EQ(0, has(&two, "/a/B"));
    ASSERT_EQ(1, tracker_has(&two, "/a/bb", 4)); /* the length counts, not a terminator */
    tracker_detach(&one);
    ASSERT_EQ(1, has(&two, "/a/b"));
    tracker_detach(&two);
    PASS();
}

TEST full_of_paths(void)
{
    struct tracker tracker;
    char path[64];

    ASSERT_EQ(0, fresh(&tracker, 100, 100000));
    for (unsigned i = 0; i < 100; i++)
        ASSERT_EQ(1, mark(&tracker, numbered(path, i)));
    for (unsigned i = 100; i < 10000; i++)
        ASSERT_EQ(-ENOSPC, mark(&tracker, numbered(path, i)));
    for (unsigned i = 0; i < 10000; i++)
        ASSERT_EQ(i < 100, has(&tracker, numbered(path, i)));
    ASSERT_EQ(0, mark(&tracker, numbered(path, 99)));
    ASSERT_EQ(100, atomic_load(&tracker.memory->count));
    tracker_detach(&tracker);
    PASS();
}

TEST full_of_bytes(void)
{
    struct tracker tracker;
    char path[PATH_MAX];
    unsigned room = 0;
    uint64_t tail;

    memset(path, 'x', sizeof path);
    ASSERT_EQ(0, fresh(&tracker, 10000, 100 * sizeof path));
    for (unsigned i = 0; i < 5000; i++) {
        path[snprintf(path, 12, "/%010u", i)] = 'x';
        int result = tracker_mark(&tracker, path, sizeof path - 1);

        ASSERT_EQ(i == room ? result == 1 || result == -ENOSPC : result == -ENOSPC, 1);
        room += result == 1;
    }
    ASSERT(room >= 100 && room < 5000);
    tail = atomic_load(&tracker.memory->tail);
    ASSERT(tail <= tracker.size && tail > tracker.size - PATH_MAX - 64);
    for (unsigned i = 0; i < 5000; i++) {
        path[snprintf(path, 12, "/%010u", i)] = 'x';
        ASSERT_EQ(i < room, tracker_has(&tracker, path, sizeof path - 1));
    }
    ASSERT_EQ(room, atomic_load(&tracker.memory->count));
    tracker_detach(&tracker);
    PASS();
}

/* As many paths with as many bytes as asked for do fit, whatever their lengths. */
TEST holds_what_was_asked_for(void)
{
    struct tracker tracker;
    char path[64];
    uint64_t bytes = 0;

    for (unsigned i = 0; i < 20000; i++)
        bytes += strlen(numbered(path, i));
    ASSERT_EQ(0, fresh(&tracker, 20000, bytes));
    for (unsigned i = 0; i < 20000; i++)
        ASSERT_EQ(1, mark(&tracker, numbered(path, i)));
    for (unsigned i = 0; i < 40000; i++)
        ASSERT_EQ(i < 20000, has(&tracker, numbered(path, i)));
    tracker_detach(&tracker);
    PASS();
}

TEST costs_nothing_up_front(void)
{
    struct tracker tracker;
    struct stat st;
    int fd = tracker_create(1000000, 70000000);

    ASSERT(fd >= 0);
    ASSERT_EQ(0, tracker_attach(&tracker, fd));
    ASSERT_EQ(1, mark(&tracker, "/a"));
    ASSERT_EQ(0, fstat(fd, &st));
    ASSERT(st.st_size > 80000000);
    ASSERT(st.st_blocks * 512 <= 3 * 4096);
    tracker_detach(&tracker);
    close(fd);
    ASSERT_EQ(-EINVAL, tracker_create(0, 100));
    ASSERT_EQ(-EINVAL, tracker_create(UINT64_MAX, 100));
    ASSERT_EQ(-EINVAL, tracker_create(100, UINT64_MAX));
    PASS();
}

struct visits {
    unsigned count;
    unsigned stop;
    bool ordered;
};

static int count_visit(void *context, const char *path, size_t length)
{
    struct visits *visits = context;
    char expected[64];

    numbered(expected, visits->count++);
    if (strcmp(path, expected) != 0 || length != strlen(expected))
        visits->ordered = false;
    return visits->count == visits->stop ? 42 : 0;
}

TEST each_in_order(void)
{
    struct visits visits = {.ordered = true};
    struct tracker tracker;
    char path[64];

    ASSERT_EQ(0, fresh(&tracker, 1000, 100000));
    ASSERT_EQ(0, tracker_each(&tracker, count_visit, &visits));
    ASSERT_EQ(0, visits.count);
    for (unsigned i = 0; i < 1000; i++)
        ASSERT_EQ(1, mark(&tracker, numbered(path, i)));
    ASSERT_EQ(0, tracker_each(&tracker, count_visit, &visits));
    ASSERT_EQ(1000, visits.count);
    visits = (struct visits){.stop = 10, .ordered = visits.ordered};
    ASSERT_EQ(42, tracker_each(&tracker, count_visit, &visits));
    ASSERT_EQ(10, visits.count);
    ASSERT(visits.ordered);
    tracker_detach(&tracker);
    PASS();
}

SUITE(tracker)
{
    RUN_TEST(hash_is_siphash_1_3);
    RUN_TEST(takes_canonical_paths_only);
    RUN_TEST(takes_paths_below_path_max);
    RUN_TEST(marks_once_and_finds_in_every_mapping);
    RUN_TEST(full_of_paths);
    RUN_TEST(full_of_bytes);
    RUN_TEST(holds_what_was_asked_for);
    RUN_TEST(costs_nothing_up_front);
    RUN_TEST(each_in_order);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    print_seed("test_tracker");
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(tracker);
    GREATEST_MAIN_END();
}
