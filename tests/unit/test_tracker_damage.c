/* SPDX-License-Identifier: MIT */
/*
 * The tracker's memory when it is not what tracker_create made, or when somebody scribbles on it:
 * an error, and never a crash.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "tracker_fixture.h"

TEST cannot_be_resized(void)
{
    struct stat st;
    int fd = tracker_create(10, 1000);

    ASSERT(fd >= 0);
    ASSERT_EQ(0, fstat(fd, &st));
    ASSERT(ftruncate(fd, 0) < 0 && errno == EPERM);
    ASSERT(ftruncate(fd, st.st_size - 1) < 0 && errno == EPERM);
    ASSERT(ftruncate(fd, st.st_size + 1) < 0 && errno == EPERM);
    ASSERT(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) < 0 && errno == EPERM);
    close(fd);
    PASS();
}

/* A memfd with those bytes, sealed so. */
static int forged(const void *bytes, size_t size, off_t length, int seals)
{
    int fd = memfd_create("forged", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd >= 0 && (pwrite(fd, bytes, size, 0) != (ssize_t)size || ftruncate(fd, length) < 0 ||
                    fcntl(fd, F_ADD_SEALS, seals) < 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Attaches to a memory with that header, and leaves no trace. */
static int attach_forged(const struct tracker_memory *header, off_t length, int seals)
{
    const struct tracker untouched = {.size = 12345};
    struct tracker tracker = untouched;
    int fd = forged(header, sizeof *header, length, seals);
    int error = fd < 0 ? -EIO : tracker_attach(&tracker, fd);

    if (fd >= 0)
        close(fd);
    if (error == 0)
        tracker_detach(&tracker);
    else if (tracker.memory != untouched.memory || tracker.size != untouched.size ||
             tracker.slots != untouched.slots || tracker.journal != untouched.journal)
        error = -EIO;
    return error;
}

TEST attach_refuses_what_is_not_whole(void)
{
    const int sealed = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    struct tracker_memory good;
    struct tracker_memory bad;
    int fd = tracker_create(100, 1000);
    off_t size;

    ASSERT_EQ((ssize_t)sizeof good, pread(fd, &good, sizeof good, 0));
    close(fd);
    size = (off_t)good.size;
    ASSERT_EQ(0, attach_forged(&good, size, sealed)); /* the control */
    ASSERT_EQ(-EINVAL, attach_forged(&good, size, 0));
    ASSERT_EQ(-EINVAL, attach_forged(&good, size, F_SEAL_SHRINK | F_SEAL_SEAL));
    ASSERT_EQ(-EINVAL, attach_forged(&good, size, F_SEAL_GROW | F_SEAL_SEAL));
    ASSERT_EQ(-EINVAL, attach_forged(&good, size, F_SEAL_SHRINK | F_SEAL_GROW));
    ASSERT_EQ(-EINVAL, attach_forged(&good, size, sealed | F_SEAL_WRITE));
    ASSERT_EQ(-EINVAL, attach_forged(&good, 0, sealed));
    ASSERT_EQ(-EINVAL, attach_forged(&good, 100, sealed));
    ASSERT_EQ(-EINVAL, attach_forged(&good, sizeof good, sealed));
    ASSERT_EQ(-EINVAL, attach_forged(&good, size - 8, sealed));
    ASSERT_EQ(-EINVAL, attach_forged(&good, size + 8, sealed));
#define REFUSES(change)                                                  \
    do {                                                                 \
        bad = good;                                                      \
        bad.change;                                                      \
        ASSERT_EQm(#change, -EINVAL, attach_forged(&bad, size, sealed)); \
    } while (0)
    REFUSES(magic ^= 1);
    REFUSES(version += 1);
    REFUSES(size -= 8);
    REFUSES(slots = 0);
    REFUSES(slots += 1);
    REFUSES(slots = UINT64_C(1) << 63);
    REFUSES(slots = UINT64_C(1) << 61);
    REFUSES(slots <<= 20);
    REFUSES(paths = 0);
    REFUSES(paths = good.slots);
    REFUSES(paths = UINT64_MAX);
#undef REFUSES
    PASS();
}

TEST attach_refuses_other_files(void)
{
    struct tracker tracker;
    uint64_t random = seed;
    uint64_t noise[512];
    int fd;

    for (int round = 0; round < 1000; round++) {
        for (size_t i = 0; i < 512; i++)
            noise[i] = next_random(&random);
        fd = forged(noise, sizeof noise, sizeof noise, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
        ASSERT(fd >= 0);
        ASSERT_EQ(-EINVAL, tracker_attach(&tracker, fd));
        close(fd);
    }
    fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    ASSERT_EQ(-EINVAL, tracker_attach(&tracker, fd));
    close(fd);
    ASSERT_EQ(-EBADF, tracker_attach(&tracker, -1));
    ASSERT_EQ(-EBADF, tracker_attach(&tracker, fd));
    PASS();
}

/* Attached between two pages that may not be touched, the last byte at the end of a page: what
 * reads beyond the memory crashes. */
static int attach_guarded(struct tracker *tracker)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct stat st = {.st_size = 1};
    int fd = -1;

    for (uint64_t bytes = 1000; (size_t)st.st_size % page != 0; bytes++) {
        close(fd);
        fd = tracker_create(64, bytes);
        if (fd < 0 || fstat(fd, &st) < 0)
            return -EIO;
    }
    if (tracker_attach(tracker, fd) < 0)
        return -EIO;
    char *room =
        mmap(NULL, tracker->size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    munmap(tracker->memory, tracker->size);
    tracker->memory =
        mmap(room + page, tracker->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
    close(fd);
    return 0;
}

static void detach_guarded(struct tracker *tracker)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    munmap((char *)tracker->memory - page, tracker->size + 2 * page);
}

struct outcomes {
    unsigned yes, no, damaged, full, other;
};

static void tally(struct outcomes *outcomes, int result)
{
    if (result == 1)
        outcomes->yes++;
    else if (result == 0)
        outcomes->no++;
    else if (result == -EBADMSG)
        outcomes->damaged++;
    else if (result == -ENOSPC)
        outcomes->full++;
    else
        outcomes->other++;
}

static int check_canonical(void *context, const char *path, size_t length)
{
    *(bool *)context |= path[0] != '/' || strlen(path) != length;
    return 0;
}

/* The one in `spread` bytes is changed, in a copy of the memory as it was. */
static void scribble(struct tracker *tracker, const char *before, size_t used, uint64_t *random)
{
    char *bytes = (char *)tracker->memory;
    uint64_t flips = 1 + next_random(random) % 40;

    memcpy(bytes, before, used);
    while (flips-- > 0)
        bytes[next_random(random) % used] ^= (char)(1 << next_random(random) % 8);
}

TEST scribbled_memory_gives_no_crash(void)
{
    struct outcomes found = {0};
    struct outcomes marked = {0};
    struct tracker tracker;
    uint64_t random = seed;
    char path[64];
    bool garbled = false;

    ASSERT_EQ(0, attach_guarded(&tracker));
    for (unsigned i = 0; i < 32; i++)
        ASSERT_EQ(1, mark(&tracker, numbered(path, i)));
    size_t used = atomic_load(&tracker.memory->tail);
    char *before = malloc(used);

    memcpy(before, tracker.memory, used);
    for (int round = 0; round < 20000; round++) {
        scribble(&tracker, before, used, &random);
        for (unsigned i = 0; i < 64; i++)
            tally(&found, has(&tracker, numbered(path, i)));
        int result = tracker_each(&tracker, check_canonical, &garbled);

        ASSERT(result == 0 || result == -EBADMSG);
        for (unsigned i = 0; i < 64; i++)
            tally(&marked, mark(&tracker, numbered(path, i)));
    }
    free(before);
    detach_guarded(&tracker);
    ASSERT_FALSE(garbled);
    ASSERT_EQ(0, found.other + found.full + marked.other);
    ASSERT(found.yes > 0 && found.no > 0 && found.damaged > 0);
    ASSERT(marked.yes > 0 && marked.no > 0 && marked.damaged > 0);
    PASS();
}

/* A slot that matches the path in its tag and names a record where the forger wants it. */
static int find_forged(struct tracker *tracker, uint64_t offset, uint64_t hash, uint32_t length)
{
    const char *path = "/forged";
    struct tracker_text text;
    uint64_t slot = 0;

    memset((char *)tracker->memory + sizeof(struct tracker_memory), 0,
           tracker->slots * sizeof(uint64_t));
    tracker_text(tracker, path, strlen(path), &text);
    if (offset >= tracker_arena(tracker) &&
        offset <= tracker->size - sizeof(struct tracker_record)) {
        struct tracker_record *record = (struct tracker_record *)((char *)tracker->memory + offset);

        record->hash = hash == 0 ? text.hash : hash;
        record->length = length;
    }
    if (tracker_set_find(tracker, &text, &slot) != 0)
        return -EIO;
    tracker->memory->slot[slot] = (text.hash >> 41) << 41 | offset / 8;
    return has(tracker, path);
}

TEST forged_records_are_refused(void)
{
    static const uint32_t lengths[] = {0, 1, 7, 8, 9, 100, 4095, 4096, 65536, INT_MAX, UINT_MAX};
    const uint64_t far[] = {0, 8, 64, 120, 128, UINT64_C(1) << 32, (UINT64_C(1) << 43) - 8};
    struct tracker tracker;

    ASSERT_EQ(0, attach_guarded(&tracker));
    for (size_t i = 0; i < sizeof far / sizeof *far; i++)
        ASSERT_EQ(-EBADMSG, find_forged(&tracker, far[i], 0, 7));
    for (uint64_t end = 0; end <= 8192; end += 8)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
            ASSERT_EQ(-EBADMSG, find_forged(&tracker, tracker.size - end, 0, lengths[i]));
    ASSERT_EQ(-EBADMSG, find_forged(&tracker, tracker_arena(&tracker), ~UINT64_C(0), 7));
    detach_guarded(&tracker);
    PASS();
}

TEST a_table_without_an_end_is_damage(void)
{
    struct tracker tracker;

    ASSERT_EQ(0, fresh(&tracker, 100000, 100000));
    for (uint64_t i = 0; i < tracker.slots; i++)
        tracker.memory->slot[i] = (i << 50) | 1;
    for (unsigned i = 0; i < 1000; i++) {
        char path[64];

        ASSERT_EQ(-EBADMSG, has(&tracker, numbered(path, i)));
        ASSERT_EQ(-EBADMSG, mark(&tracker, path));
    }
    tracker_detach(&tracker);
    PASS();
}

TEST counters_out_of_range_are_damage(void)
{
    struct tracker tracker;
    uint64_t tail;

    ASSERT_EQ(0, fresh(&tracker, 10, 1000));
    tail = tracker.memory->tail;
    static const uint64_t wrong[] = {0, 128, UINT64_MAX, UINT64_MAX - 7, UINT64_C(1) << 63};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tracker.memory->tail = wrong[i];
        ASSERT_EQ(-EBADMSG, mark(&tracker, "/a"));
        ASSERT_EQ(wrong[i], tracker.memory->tail);
    }
    tracker.memory->tail = tail + 1;
    ASSERT_EQ(-EBADMSG, mark(&tracker, "/a"));
    tracker.memory->tail = tracker.size + 8;
    ASSERT_EQ(-EBADMSG, mark(&tracker, "/a"));
    tracker.memory->tail = tail;
    ASSERT_EQ(0, tracker.memory->count);
    tracker.memory->count = 11;
    ASSERT_EQ(-EBADMSG, mark(&tracker, "/a"));
    tracker.memory->count = UINT64_MAX;
    ASSERT_EQ(-EBADMSG, mark(&tracker, "/a"));
    tracker.memory->count = 0;
    ASSERT_EQ(1, mark(&tracker, "/a"));
    tracker_detach(&tracker);
    PASS();
}

SUITE(tracker_damage)
{
    RUN_TEST(cannot_be_resized);
    RUN_TEST(attach_refuses_what_is_not_whole);
    RUN_TEST(attach_refuses_other_files);
    RUN_TEST(scribbled_memory_gives_no_crash);
    RUN_TEST(forged_records_are_refused);
    RUN_TEST(a_table_without_an_end_is_damage);
    RUN_TEST(counters_out_of_range_are_damage);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    print_seed("test_tracker_damage");
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(tracker_damage);
    GREATEST_MAIN_END();
}
