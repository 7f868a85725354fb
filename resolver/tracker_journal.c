/* SPDX-License-Identifier: MIT */
/*
 * The journal: records of {length, checksum, text}, one write(2) each, in the order in which they
 * were appended. The first is the mark of the format. It is a record like any other and may come
 * again: two processes that start with an empty file at once both write it, and the second may come
 * after the first one's paths.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

#include "os.h"
#include "syscall.h"
#include "tracker_set.h"

static const char format[] = "cordon tracker journal 1\n";
#define FORMAT_LENGTH (sizeof format - 1)

struct header {
    uint32_t length;
    uint32_t checksum;
};

#define RECORD_MAX (sizeof(struct header) + PATH_MAX)

/* At least one whole record; more saves calls when a long journal is read. */
#define BUFFER_SIZE (16 * RECORD_MAX)

/* Not a secret: it finds accidents, not forgeries. Every process has to come to the same. */
static uint32_t checksum(const char *text, size_t length)
{
    const uint64_t key[2] = {length, UINT64_C(0x6c616e72756f6a)};

    return (uint32_t)tracker_hash(key, text, length);
}

/* Size of the journal, if the descriptor still is the journal: a program may have closed it and
 * opened something else under its number. */
static int64_t journal_size(const struct tracker *tracker)
{
    struct stat st;
    long error = os_syscall(SYS_fstat, tracker->journal, (long)&st, 0, 0, 0, 0);

    if (error < 0)
        return error;
    if (st.st_dev != tracker->journal_dev || st.st_ino != tracker->journal_ino)
        return -EBADF;
    if (st.st_nlink == 0 && tracker->journal_named)
        return -EBADMSG;
    return st.st_size;
}

/* Bytes of the whole record that `bytes` begins with, 0 if it is not whole, or -EBADMSG. */
static int parse(const char *bytes, size_t size, size_t *length)
{
    struct header header;

    if (size < sizeof header)
        return 0;
    memcpy(&header, bytes, sizeof header);
    if (header.length == 0 || header.length >= PATH_MAX)
        return -EBADMSG;
    if (size - sizeof header < header.length)
        return 0;
    if (checksum(bytes + sizeof header, header.length) != header.checksum)
        return -EBADMSG;
    *length = header.length;
    return (int)(sizeof header + header.length);
}

static int take_path(const struct tracker *tracker, const char *path, size_t length)
{
    struct tracker_text text;
    uint64_t slot;
    int result;

    if (tracker_text(tracker, path, length, &text) < 0)
        return -EBADMSG;
    result = tracker_set_add(tracker, &text, &slot);
    if (result < 0)
        return result;
    atomic_fetch_or_explicit(&tracker->memory->slot[slot], TRACKER_JOURNALED, memory_order_relaxed);
    return 0;
}

/* Takes in the whole records; returns how many bytes they are, or a negative errno. */
static int take_in(const struct tracker *tracker, const char *bytes, size_t size, bool first)
{
    size_t used = 0;
    size_t length = 0;
    int step;

    while ((step = parse(bytes + used, size - used, &length)) > 0) {
        const char *text = bytes + used + sizeof(struct header);
        bool mark = length == FORMAT_LENGTH && memcmp(text, format, length) == 0;
        int error = mark ? 0 : first ? -EBADMSG : take_path(tracker, text, length);

        if (error < 0)
            return error;
        first = false;
        used += (size_t)step;
    }
    return step < 0 ? step : (int)used;
}

/* Everything before `offset` is in the memory. Others may be further on already. */
static void advance(const struct tracker *tracker, uint64_t offset)
{
    _Atomic uint64_t *absorbed = &tracker->memory->absorbed;
    uint64_t now = atomic_load_explicit(absorbed, memory_order_relaxed);

    while (now < offset)
        if (atomic_compare_exchange_weak_explicit(absorbed, &now, offset, memory_order_release,
                                                  memory_order_relaxed))
            break;
}

static int absorb_with(const struct tracker *tracker, char *buffer, uint64_t *end)
{
    for (;;) {
        long n =
            os_syscall(SYS_pread64, tracker->journal, (long)buffer, BUFFER_SIZE, (long)*end, 0, 0);
        int used;

        if (n == -EINTR)
            continue;
        if (n <= 0)
            return (int)n;
        used = take_in(tracker, buffer, (size_t)n, *end == 0);
        if (used < 0)
            return used;
        if (used == 0)
            return 1;
        *end += (uint64_t)used;
        advance(tracker, *end);
    }
}

int tracker_journal_absorb(const struct tracker *tracker, uint64_t from, uint64_t *end)
{
    int64_t size = journal_size(tracker);
    void *buffer;
    int result;

    if (size < 0)
        return (int)size;
    if ((uint64_t)size < from)
        return -EBADMSG;
    *end = from;
    if ((uint64_t)size == from)
        return 0;
    result = os_map(BUFFER_SIZE, &buffer);
    if (result < 0)
        return result;
    result = absorb_with(tracker, buffer, end);
    os_unmap(buffer, BUFFER_SIZE);
    return result;
}

int tracker_journal_settle(const struct tracker *tracker, uint64_t *end)
{
    /* 1, 2, 4, 8 and 16 ms: a writer between two pages of its record needs far less. */
    for (long wait = 1000000; wait <= 16000000; wait *= 2) {
        const struct timespec pause = {.tv_sec = 0, .tv_nsec = wait};
        uint64_t from = atomic_load_explicit(&tracker->memory->absorbed, memory_order_acquire);
        int result = tracker_journal_absorb(tracker, from, end);

        if (result <= 0)
            return result;
        os_syscall(SYS_nanosleep, (long)&pause, 0, 0, 0, 0, 0);
    }
    return -EBADMSG;
}

/* One system call for the whole record, so that those of several processes never mix. */
static int append(int journal, const char *text, size_t length)
{
    struct header header = {.length = (uint32_t)length, .checksum = checksum(text, length)};
    struct iovec parts[2] = {
        {.iov_base = &header, .iov_len = sizeof header},
        {.iov_base = (void *)(uintptr_t)text, .iov_len = length},
    };
    long n;

    do
        n = os_syscall(SYS_writev, journal, (long)parts, 2, 0, 0, 0);
    while (n == -EINTR);
    if (n < 0)
        return (int)n;
    return (size_t)n == sizeof header + length ? 0 : -EIO;
}

int tracker_journal_append(const struct tracker *tracker, const char *path, size_t length,
                           uint64_t end)
{
    uint64_t after = end + sizeof(struct header) + length;
    int error = append(tracker->journal, path, length);

    if (error < 0)
        return error;
    /* If the file grew by just this record it need not be read again. */
    if (journal_size(tracker) == (int64_t)after)
        atomic_compare_exchange_strong_explicit(&tracker->memory->absorbed, &end, after,
                                                memory_order_release, memory_order_relaxed);
    return 0;
}

/* One memory counts the bytes of one journal: two would never agree. */
static int claim(const struct tracker *tracker)
{
    const uint64_t id[2] = {tracker->journal_dev, tracker->journal_ino};
    uint64_t owner = tracker_hash(tracker->key, (const char *)id, sizeof id) | 1;
    uint64_t before = 0;

    if (atomic_compare_exchange_strong(&tracker->memory->owner, &before, owner) || before == owner)
        return 0;
    return -EINVAL;
}

static int adopt(struct tracker *tracker, int journal)
{
    struct stat st;
    long flags = os_syscall(SYS_fcntl, journal, F_GETFL, 0, 0, 0, 0);
    long error;

    if (flags < 0)
        return (int)flags;
    if ((flags & O_ACCMODE) != O_RDWR || !(flags & O_APPEND))
        return -EINVAL;
    error = os_syscall(SYS_fstat, journal, (long)&st, 0, 0, 0, 0);
    if (error < 0)
        return (int)error;
    if (!S_ISREG(st.st_mode))
        return -EINVAL;
    tracker->journal = journal;
    tracker->journal_dev = st.st_dev;
    tracker->journal_ino = st.st_ino;
    tracker->journal_named = st.st_nlink > 0;
    return claim(tracker);
}

int tracker_journal(struct tracker *tracker, int journal)
{
    struct tracker tied = *tracker;
    uint64_t end = 0;
    int error;

    if (tracker->journal >= 0)
        return -EBUSY;
    error = adopt(&tied, journal);
    if (error == 0)
        error = tracker_journal_settle(&tied, &end);
    if (error == 0 && end == 0) {
        error = append(journal, format, FORMAT_LENGTH);
        if (error == 0)
            error = tracker_journal_settle(&tied, &end);
    }
    if (error < 0)
        return error;
    *tracker = tied;
    return 0;
}
