/* SPDX-License-Identifier: MIT */
/*
 * Feeds the tracker bytes that others could put where it looks. The first byte says where:
 * a journal as it is, a journal of rightly summed records, or the shared memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tracker_set.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const paths[] = {"/", "/a", "/a/b", "/usr/include/stdio.h", "/home/user/x.c"};
#define PATHS (sizeof paths / sizeof *paths)

static void expect(int condition)
{
    if (!condition)
        abort();
}

static int check_path(void *context, const char *path, size_t length)
{
    (void)context;
    expect(path[0] == '/' && strlen(path) == length);
    return 0;
}

static void use(struct tracker *tracker)
{
    for (size_t i = 0; i < PATHS; i++) {
        size_t length = strlen(paths[i]);
        int found = tracker_has(tracker, paths[i], length);
        int marked = tracker_mark(tracker, paths[i], length);

        expect(found == 0 || found == 1 || found == -EBADMSG || found == -ENOSPC);
        expect(marked == 0 || marked == 1 || marked == -EBADMSG || marked == -ENOSPC);
        if (found == 1)
            expect(marked != 1);
        if (marked >= 0)
            expect(tracker_has(tracker, paths[i], length) == 1);
    }
    int result = tracker_each(tracker, check_path, NULL);

    expect(result == 0 || result == -EBADMSG);
}

/* With a key that is always the same, so that an input does the same every time. */
static int make_memory(void)
{
    static const uint64_t key[2] = {1, 2};
    int fd = tracker_create(32, 1024);

    expect(fd >= 0);
    expect(pwrite(fd, key, sizeof key, offsetof(struct tracker_memory, key)) == sizeof key);
    return fd;
}

static void with_journal(const void *bytes, size_t size)
{
    struct tracker tracker;
    int memory = make_memory();
    int journal = memfd_create("journal", MFD_CLOEXEC);

    expect(write(journal, bytes, size) == (ssize_t)size && fcntl(journal, F_SETFL, O_APPEND) == 0);
    expect(tracker_attach(&tracker, memory) == 0);
    close(memory);
    int error = tracker_journal(&tracker, journal);

    expect(error == 0 || error == -EBADMSG || error == -ENOSPC);
    if (error < 0)
        close(journal);
    use(&tracker);
    tracker_detach(&tracker);
}

static size_t put_record(char *out, const void *text, size_t length)
{
    const uint64_t key[2] = {length, UINT64_C(0x6c616e72756f6a)};
    const uint32_t head[2] = {(uint32_t)length, (uint32_t)tracker_hash(key, text, length)};

    memcpy(out, head, sizeof head);
    memcpy(out + sizeof head, text, length);
    return sizeof head + length;
}

/* Lines of the input become records, behind the mark of the format. */
static void with_records(const uint8_t *data, size_t size)
{
    static const char format[] = "cordon tracker journal 1\n";
    char *out = malloc(9 * (size + sizeof format));
    size_t length = put_record(out, format, sizeof format - 1);

    while (size > 0) {
        const uint8_t *end = memchr(data, '\n', size);
        size_t line = end == NULL ? size : (size_t)(end - data);

        length += put_record(out + length, data, line);
        line += end != NULL;
        data += line;
        size -= line;
    }
    with_journal(out, length);
    free(out);
}

/* Triples of the input change the memory: where, two bytes; by what, one byte. Before or after it
 * is attached, as the first byte says. */
static void scribble(int fd, const uint8_t *data, size_t size)
{
    for (; size >= 3; data += 3, size -= 3) {
        off_t where = data[0] | (data[1] & 7) << 8;
        uint8_t byte;

        expect(pread(fd, &byte, 1, where) == 1);
        byte ^= data[2];
        expect(pwrite(fd, &byte, 1, where) == 1);
    }
}

static void with_memory(const uint8_t *data, size_t size, int before)
{
    struct tracker tracker;
    int fd = make_memory();

    expect(tracker_attach(&tracker, fd) == 0);
    for (size_t i = 0; i < PATHS; i += 2)
        expect(tracker_mark(&tracker, paths[i], strlen(paths[i])) == 1);
    if (before) {
        tracker_detach(&tracker);
        scribble(fd, data, size);
        int error = tracker_attach(&tracker, fd);

        expect(error == 0 || error == -EINVAL);
        if (error == 0)
            use(&tracker);
    } else {
        scribble(fd, data, size);
        use(&tracker);
    }
    close(fd);
    if (tracker.memory != NULL)
        tracker_detach(&tracker);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    switch (data[0] % 4) {
    case 0:
        with_journal(data + 1, size - 1);
        break;
    case 1:
        with_records(data + 1, size - 1);
        break;
    default:
        with_memory(data + 1, size - 1, data[0] % 2);
        break;
    }
    return 0;
}
