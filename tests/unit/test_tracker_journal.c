/* SPDX-License-Identifier: MIT */
/*
 * The tracker's journal: what outlives a session, and every way in which the file can be wrong.
 * Several processes on one journal are in test_tracker_sessions.c.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tracker_fixture.h"

#define FORMAT "cordon tracker journal 1\n"

/* A journal that the test writes by itself, by what the format says and not by what the code does.
 */
struct image {
    size_t size;
    size_t records;
    size_t ends[8]; /* where the records end */
    char bytes[1024];
};

static void add_record(struct image *image, const char *text, size_t length)
{
    const uint64_t key[2] = {length, UINT64_C(0x6c616e72756f6a)};
    const uint32_t head[2] = {(uint32_t)length, (uint32_t)tracker_hash(key, text, length)};

    memcpy(image->bytes + image->size, head, sizeof head);
    memcpy(image->bytes + image->size + sizeof head, text, length);
    image->size += sizeof head + length;
    image->ends[image->records++] = image->size;
}

static void add_text(struct image *image, const char *text)
{
    add_record(image, text, strlen(text));
}

static struct image sample(void)
{
    struct image image = {0};

    add_text(&image, FORMAT);
    add_text(&image, "/a");
    add_text(&image, "/b/c");
    add_text(&image, "/d");
    return image;
}

static int file_of(const void *bytes, size_t size)
{
    int file = memfd_create("journal", MFD_CLOEXEC);

    if (file >= 0 && write(file, bytes, size) != (ssize_t)size) {
        close(file);
        return -1;
    }
    return file;
}

/* What a session with a journal of these bytes begins with: an error, or how many of the sample's
 * paths it knows. */
static int opens_with(const void *bytes, size_t size)
{
    struct tracker tracker;
    int file = file_of(bytes, size);
    int error = file < 0 ? -EIO : session(&tracker, file);
    int found = 0;

    close(file);
    if (error < 0)
        return error;
    found += has(&tracker, "/a");
    found += has(&tracker, "/b/c");
    found += has(&tracker, "/d");
    tracker_detach(&tracker);
    return found;
}

static off_t size_of(int file)
{
    struct stat st;

    return fstat(file, &st) < 0 ? -1 : st.st_size;
}

TEST outlives_the_session(void)
{
    struct tracker tracker;
    char path[64];
    int file = file_of("", 0);

    for (unsigned i = 0; i < 20; i++) {
        ASSERT_EQ(0, session(&tracker, file));
        for (unsigned k = 0; k < 200; k++)
            ASSERT_EQ(k < 10 * i, has(&tracker, numbered(path, k)));
        for (unsigned k = 0; k < 10 * (i + 1); k++)
            ASSERT_EQ(k >= 10 * i, mark(&tracker, numbered(path, k)));
        tracker_detach(&tracker);
    }
    close(file);
    PASS();
}

TEST is_written_as_the_format_says(void)
{
    struct image image = sample();
    char written[1024];
    struct tracker tracker;
    int file = file_of("", 0);

    ASSERT_EQ(0, session(&tracker, file));
    ASSERT_EQ(1, mark(&tracker, "/a"));
    ASSERT_EQ(1, mark(&tracker, "/b/c"));
    ASSERT_EQ(0, mark(&tracker, "/a"));
    ASSERT_EQ(1, mark(&tracker, "/d"));
    ASSERT_EQ(0, mark(&tracker, "/d"));
    ASSERT_EQ((ssize_t)image.size, pread(file, written, sizeof written, 0));
    ASSERT_MEM_EQ(image.bytes, written, image.size);
    ASSERT_EQ(image.size, tracker.memory->absorbed); /* its own records are not read again */
    tracker_detach(&tracker);
    ASSERT_EQ(3, opens_with(image.bytes, image.size));
    close(file);
    PASS();
}

TEST is_shared_by_sessions(void)
{
    struct tracker one;
    struct tracker two;
    char path[64];
    int file = file_of("", 0);

    ASSERT_EQ(0, session(&one, file));
    ASSERT_EQ(0, session(&two, file));
    for (unsigned i = 0; i < 1000; i++) {
        struct tracker *writer = i % 3 ? &one : &two;
        struct tracker *reader = i % 3 ? &two : &one;

        ASSERT_EQ(0, has(reader, numbered(path, i)));
        ASSERT_EQ(1, mark(writer, path));
        if (i % 2)
            ASSERT_EQ(1, has(reader, path));
        ASSERT_EQ(0, mark(reader, path));
        ASSERT_EQ(1, has(writer, path));
    }
    tracker_detach(&one);
    tracker_detach(&two);
    close(file);
    PASS();
}

TEST torn_at_every_length_at_the_start(void)
{
    struct image image = sample();
    size_t whole = 0;

    for (size_t size = 1; size <= image.size; size++) {
        int expected = -EBADMSG;

        if (size == image.ends[whole])
            expected = (int)whole++;
        ASSERT_EQ_FMT(expected, opens_with(image.bytes, size), "%d");
    }
    ASSERT_EQ(image.records, whole);
    ASSERT_EQ(0, opens_with("", 0)); /* an empty file becomes a journal */
    PASS();
}

/* The others' records arrive byte by byte: a path is there with its last byte; before that there is
 * no answer, for half a record may be about any path. */
TEST torn_at_every_length_on_the_fly(void)
{
    struct image image = sample();
    struct tracker tracker;
    int file = file_of(image.bytes, image.ends[0]);

    ASSERT_EQ(0, session(&tracker, file));
    for (size_t size = image.ends[0], whole = 0; size < image.size; size++) {
        if (size == image.ends[whole + 1])
            whole++;
        ASSERT_EQ(size == image.ends[whole] ? 0 : -EBADMSG, has(&tracker, "/d"));
        if (whole >= 1)
            ASSERT_EQ(1, has(&tracker, "/a"));
        if (whole >= 2)
            ASSERT_EQ(1, has(&tracker, "/b/c"));
        ASSERT_EQ(1, write(file, image.bytes + size, 1));
    }
    ASSERT_EQ(1, has(&tracker, "/d"));
    tracker_detach(&tracker);
    close(file);
    PASS();
}

/* Behind half a record a whole one would be lost. */
TEST nothing_is_appended_to_a_torn_journal(void)
{
    struct image image = sample();
    struct tracker tracker;
    int file = file_of(image.bytes, image.ends[1]);

    ASSERT_EQ(0, session(&tracker, file));
    ASSERT_EQ(3, write(file, image.bytes + image.ends[1], 3));
    ASSERT_EQ(-EBADMSG, mark(&tracker, "/new"));
    ASSERT_EQ((off_t)image.ends[1] + 3, size_of(file));
    ASSERT_EQ(-EBADMSG, has(&tracker, "/new"));
    ASSERT_EQ(0, mark(&tracker, "/a"));
    tracker_detach(&tracker);
    close(file);
    PASS();
}

TEST truncated_while_in_use(void)
{
    struct image image = sample();

    for (size_t size = 0; size < image.size; size++) {
        struct tracker tracker;
        int file = file_of(image.bytes, image.size);

        ASSERT_EQ(0, session(&tracker, file));
        ASSERT_EQ(0, has(&tracker, "/new"));
        ASSERT_EQ(0, ftruncate(file, (off_t)size));
        ASSERT_EQ(-EBADMSG, has(&tracker, "/new"));
        ASSERT_EQ(-EBADMSG, mark(&tracker, "/new"));
        ASSERT_EQ(1, has(&tracker, "/b/c"));
        ASSERT_EQ((off_t)size, size_of(file));
        tracker_detach(&tracker);
        close(file);
    }
    PASS();
}

TEST any_changed_bit_is_found(void)
{
    struct image image = sample();

    for (size_t bit = 0; bit < 8 * image.size; bit += 1 + bit % 3) {
        struct image bad = image;

        bad.bytes[bit / 8] ^= (char)(1 << bit % 8);
        ASSERT_EQ_FMT(-EBADMSG, opens_with(bad.bytes, bad.size), "%d");
    }
    PASS();
}

TEST garbage_while_in_use(void)
{
    struct image image = sample();
    uint64_t random = seed;

    for (int round = 0; round < 200; round++) {
        uint64_t garbage[4] = {next_random(&random), next_random(&random), next_random(&random),
                               round % 2 ? 0 : next_random(&random)};
        struct tracker tracker;
        int file = file_of(image.bytes, image.size);

        if (round % 2) /* a length that could be, and a checksum that is not */
            garbage[0] = garbage[0] << 32 | (1 + garbage[0] % 24);
        ASSERT_EQ(0, session(&tracker, file));
        ASSERT_EQ((ssize_t)sizeof garbage, write(file, garbage, sizeof garbage));
        ASSERT_EQ(-EBADMSG, has(&tracker, "/new"));
        ASSERT_EQ(-EBADMSG, mark(&tracker, "/new"));
        ASSERT_EQ((off_t)(image.size + sizeof garbage), size_of(file));
        tracker_detach(&tracker);
        close(file);
    }
    PASS();
}

/* Whole records, rightly summed, that no tracker would write. */
TEST whole_but_wrong(void)
{
    static const char *const texts[] = {
        "a", "/a/", "//", "/a/../b", "/.", "cordon tracker journal 2\n", "cordon tracker journal 1",
    };
    struct image image = {0};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        image = sample();
        add_text(&image, texts[i]);
        ASSERT_EQm(texts[i], -EBADMSG, opens_with(image.bytes, image.size));
        image = (struct image){0};
        add_text(&image, texts[i]);
        ASSERT_EQm(texts[i], -EBADMSG, opens_with(image.bytes, image.size));
    }
    image = sample();
    add_record(&image, "/a\0b", 4);
    ASSERT_EQ(-EBADMSG, opens_with(image.bytes, image.size));
    image = (struct image){0};
    add_text(&image, "/a"); /* no mark of the format in front */
    add_text(&image, FORMAT);
    ASSERT_EQ(-EBADMSG, opens_with(image.bytes, image.size));
    image = sample();
    add_text(&image, FORMAT); /* but it may come again, and so may a path */
    add_text(&image, "/a");
    add_text(&image, FORMAT);
    ASSERT_EQ(3, opens_with(image.bytes, image.size));
    PASS();
}

TEST foreign_files(void)
{
    static const char text[] = "To whom it may concern:\nthis is a letter.\n";
    static const char zeros[5000];
    char exe[5000];
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

    ASSERT_EQ((ssize_t)sizeof exe, read(fd, exe, sizeof exe));
    close(fd);
    ASSERT_EQ(-EBADMSG, opens_with(text, sizeof text - 1));
    ASSERT_EQ(-EBADMSG, opens_with(zeros, sizeof zeros));
    ASSERT_EQ(-EBADMSG, opens_with(exe, sizeof exe));
    ASSERT_EQ(-EBADMSG, opens_with("\n", 1));
    PASS();
}

TEST descriptors_of_the_wrong_kind(void)
{
    struct tracker tracker;
    int ends[2];
    int file = file_of("", 0);
    int fds[] = {
        open_again(file, O_RDONLY),
        open_again(file, O_RDONLY | O_APPEND),
        open_again(file, O_WRONLY | O_APPEND),
        open_again(file, O_RDWR),
        open_again(file, O_PATH),
        open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
        open("/dev/null", O_RDWR | O_APPEND | O_CLOEXEC),
    };

    ASSERT_EQ(0, fresh(&tracker, 10, 1000));
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
        ASSERT(fds[i] >= 0);
        int error = tracker_journal(&tracker, fds[i]);

        ASSERT(error == -EINVAL || error == -EBADF);
        ASSERT_EQ(0, close(fds[i])); /* still the caller's */
        ASSERT_EQ(-1, tracker.journal);
    }
    ASSERT_EQ(0, pipe2(ends, O_CLOEXEC));
    ASSERT_EQ(-EINVAL, tracker_journal(&tracker, ends[0]));
    ASSERT_EQ(-EBADF, tracker_journal(&tracker, -1));
    ASSERT_EQ(1, mark(&tracker, "/a")); /* and it works without */
    ASSERT_EQ(0, size_of(file));
    close(ends[0]);
    close(ends[1]);
    close(file);
    tracker_detach(&tracker);
    PASS();
}

TEST one_memory_has_one_journal(void)
{
    struct tracker one;
    struct tracker two;
    int file = file_of("", 0);
    int other = file_of("", 0);
    int memory = tracker_create(10, 1000);

    ASSERT_EQ(0, tracker_attach(&one, memory));
    ASSERT_EQ(0, tracker_attach(&two, memory));
    ASSERT_EQ(0, tracker_journal(&one, open_again(file, O_RDWR | O_APPEND)));
    ASSERT_EQ(-EBUSY, tracker_journal(&one, open_again(file, O_RDWR | O_APPEND)));
    ASSERT_EQ(-EINVAL, tracker_journal(&two, open_again(other, O_RDWR | O_APPEND)));
    ASSERT_EQ(1, mark(&two, "/in-memory-only"));
    ASSERT_EQ(0, mark(&one, "/in-memory-only")); /* which brings it into the journal */
    ASSERT_EQ(0, tracker_journal(&two, open_again(file, O_RDWR | O_APPEND)));
    tracker_detach(&one);
    tracker_detach(&two);
    ASSERT_EQ(0, session(&one, file));
    ASSERT_EQ(1, has(&one, "/in-memory-only"));
    tracker_detach(&one);
    PASS();
}

/* A program may close what it did not open, and open something else in its place. */
TEST the_descriptor_is_not_the_journal_any_more(void)
{
    struct tracker tracker;
    int file = file_of("", 0);
    int other = file_of("precious", 8);

    ASSERT_EQ(0, session(&tracker, file));
    ASSERT_EQ(1, mark(&tracker, "/a"));
    int number = tracker.journal;

    close(number);
    ASSERT_EQ(-EBADF, has(&tracker, "/b"));
    ASSERT_EQ(-EBADF, mark(&tracker, "/b"));
    ASSERT_EQ(number, dup2(other, number));
    ASSERT_EQ(-EBADF, has(&tracker, "/b"));
    ASSERT_EQ(-EBADF, mark(&tracker, "/b"));
    ASSERT_EQ(1, has(&tracker, "/a"));
    ASSERT_EQ(8, size_of(other));
    tracker_detach(&tracker);
    close(file);
    close(other);
    PASS();
}

TEST more_than_the_memory_holds(void)
{
    struct tracker small;
    struct tracker large;
    char path[64];
    int file = file_of("", 0);

    ASSERT_EQ(0, fresh(&small, 10, 1000));
    ASSERT_EQ(0, tracker_journal(&small, open_again(file, O_RDWR | O_APPEND)));
    ASSERT_EQ(0, session(&large, file));
    for (unsigned i = 0; i < 20; i++)
        ASSERT_EQ(1, mark(&large, numbered(path, i)));
    ASSERT_EQ(-ENOSPC, has(&small, "/new")); /* who knows */
    ASSERT_EQ(1, has(&small, numbered(path, 5)));
    off_t before = size_of(file);

    ASSERT_EQ(-ENOSPC, mark(&small, "/new"));
    ASSERT_EQ(before, size_of(file));
    tracker_detach(&small);
    ASSERT_EQ(0, fresh(&small, 10, 1000));
    int again = open_again(file, O_RDWR | O_APPEND);

    ASSERT_EQ(-ENOSPC, tracker_journal(&small, again));
    close(again);
    tracker_detach(&small);
    tracker_detach(&large);
    close(file);
    PASS();
}

/* In a child, whose files may not grow any more: `room` bytes are left. Returns what mark gives
 * with the limit, and then what it gives without, in one number. */
static int mark_with_room(int file, rlim_t room)
{
    struct tracker tracker;
    struct rlimit limit;
    pid_t child = fork();
    int status = -1;

    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        if (session(&tracker, file) < 0 || getrlimit(RLIMIT_FSIZE, &limit) < 0)
            _exit(0);
        limit.rlim_cur = (rlim_t)size_of(file) + room;
        setrlimit(RLIMIT_FSIZE, &limit);
        int limited = mark(&tracker, "/some/path");

        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_FSIZE, &limit);
        int second = mark(&tracker, "/some/path");

        if (limited == -EFBIG && second == 0 && has(&tracker, "/some/path") == 1)
            _exit(1);
        if (limited == -EIO && second == -EBADMSG && has(&tracker, "/some/path") == 1)
            _exit(2);
        _exit(3);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST a_full_disk_is_an_error_and_is_tried_again(void)
{
    struct image image = sample();
    struct tracker tracker;
    int file = file_of(image.bytes, image.size);

    ASSERT_EQ_FMT(1, mark_with_room(file, 0), "%d");
    ASSERT_EQ(0, session(&tracker, file));
    ASSERT_EQ(1, has(&tracker, "/some/path"));
    tracker_detach(&tracker);
    close(file);
    file = file_of(image.bytes, image.size);
    ASSERT_EQ_FMT(2, mark_with_room(file, 5), "%d");
    ASSERT_EQ(-EBADMSG, session(&tracker, file));
    close(file);
    PASS();
}

SUITE(tracker_journal_suite)
{
    RUN_TEST(outlives_the_session);
    RUN_TEST(is_written_as_the_format_says);
    RUN_TEST(is_shared_by_sessions);
    RUN_TEST(torn_at_every_length_at_the_start);
    RUN_TEST(torn_at_every_length_on_the_fly);
    RUN_TEST(nothing_is_appended_to_a_torn_journal);
    RUN_TEST(truncated_while_in_use);
    RUN_TEST(any_changed_bit_is_found);
    RUN_TEST(garbage_while_in_use);
    RUN_TEST(whole_but_wrong);
    RUN_TEST(foreign_files);
    RUN_TEST(descriptors_of_the_wrong_kind);
    RUN_TEST(one_memory_has_one_journal);
    RUN_TEST(the_descriptor_is_not_the_journal_any_more);
    RUN_TEST(more_than_the_memory_holds);
    RUN_TEST(a_full_disk_is_an_error_and_is_tried_again);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    print_seed("test_tracker_journal");
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(tracker_journal_suite);
    GREATEST_MAIN_END();
}
