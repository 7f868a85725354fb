/* SPDX-License-Identifier: MIT */
#include "tracker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "os.h"
#include "syscall.h"
#include "tracker_set.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* Far more than a session needs, and small enough that no sum or offset below can overflow. */
#define PATHS_MAX (UINT64_C(1) << 32)
#define BYTES_MAX (UINT64_C(1) << 40)

/* Room for what killed processes and lost races leave unused; it costs nothing until it is used. */
#define SLACK 65536

static int fill_random(void *bytes, size_t size)
{
    long n;

    do
        n = os_syscall(SYS_getrandom, (long)bytes, (long)size, 0, 0, 0, 0);
    while (n == -EINTR);
    if (n < 0)
        return (int)n;
    return (size_t)n == size ? 0 : -EIO;
}

static int layout(struct tracker_memory *header, uint64_t paths, uint64_t bytes)
{
    const uint64_t record = sizeof(struct tracker_record) + 7;
    uint64_t slots = 16;
    uint64_t arena;

    if (paths == 0 || paths > PATHS_MAX || bytes > BYTES_MAX)
        return -EINVAL;
    while (slots < 2 * paths)
        slots *= 2;
    arena = sizeof *header + slots * sizeof(uint64_t);
    *header = (struct tracker_memory){
        .magic = TRACKER_MAGIC,
        .version = TRACKER_VERSION,
        .size = (arena + paths * record + bytes + SLACK) & ~UINT64_C(7),
        .slots = slots,
        .paths = paths,
        .tail = arena,
    };
    return fill_random(header->key, sizeof header->key);
}

/* A file of holes: memory comes with the first use of a page. */
static int fill(int fd, const struct tracker_memory *header)
{
    long n = os_syscall(SYS_ftruncate, fd, (long)header->size, 0, 0, 0, 0);

    if (n == 0)
        n = os_syscall(SYS_pwrite64, fd, (long)header, sizeof *header, 0, 0, 0);
    if (n >= 0)
        n = (size_t)n == sizeof *header ? 0 : -EIO;
    if (n == 0)
        n = os_syscall(SYS_fcntl, fd, F_ADD_SEALS, SEALS, 0, 0, 0);
    return (int)n;
}

int tracker_create(uint64_t paths, uint64_t bytes)
{
    struct tracker_memory header;
    int error = layout(&header, paths, bytes);
    int fd;

    if (error < 0)
        return error;
    fd = (int)os_syscall(SYS_memfd_create, (long)"cordon-tracker", MFD_CLOEXEC | MFD_ALLOW_SEALING,
                         0, 0, 0, 0);
    if (fd < 0)
        return fd;
    error = fill(fd, &header);
    if (error < 0) {
        os_close(fd);
        return error;
    }
    return fd;
}

/* Takes over what the header says about the layout, if all of it agrees with the size. From here on
 * only these copies count. */
static int check_header(struct tracker *tracker)
{
    struct tracker_memory header;

    memcpy(&header, tracker->memory, sizeof header);
    if (header.magic != TRACKER_MAGIC || header.version != TRACKER_VERSION ||
        header.size != tracker->size || header.size % 8 != 0)
        return -EINVAL;
    if (header.slots < 2 || (header.slots & (header.slots - 1)) != 0 ||
        header.slots > (tracker->size - sizeof header) / sizeof(uint64_t))
        return -EINVAL;
    if (header.paths == 0 || header.paths > header.slots / 2)
        return -EINVAL;
    tracker->slots = header.slots;
    tracker->paths = header.paths;
    memcpy(tracker->key, header.key, sizeof header.key);
    /* A record needs its head at least: offsets are compared with the size less that. */
    return tracker->size - tracker_arena(tracker) < sizeof(struct tracker_record) ? -EINVAL : 0;
}

int tracker_attach(struct tracker *tracker, int fd)
{
    struct tracker attached = {.journal = -1};
    struct stat st;
    long seals = os_syscall(SYS_fcntl, fd, F_GET_SEALS, 0, 0, 0, 0);
    long result = os_syscall(SYS_fstat, fd, (long)&st, 0, 0, 0, 0);

    if (result < 0)
        return (int)result;
    if (seals < 0 || (seals & SEALS) != SEALS)
        return -EINVAL;
    if (st.st_size < (off_t)sizeof(struct tracker_memory) || st.st_size > (off_t)TRACKER_SIZE_MAX)
        return -EINVAL;
    attached.size = (size_t)st.st_size;
    result = os_syscall(SYS_mmap, 0, st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (result < 0 && result > -4096)
        return result == -EPERM || result == -EACCES ? -EINVAL : (int)result;
    attached.memory = (struct tracker_memory *)result;
    result = check_header(&attached);
    if (result < 0) {
        tracker_detach(&attached);
        return (int)result;
    }
    *tracker = attached;
    return 0;
}

void tracker_detach(struct tracker *tracker)
{
    if (tracker->memory != NULL)
        os_unmap(tracker->memory, tracker->size);
    if (tracker->journal >= 0)
        os_close(tracker->journal);
    *tracker = (struct tracker){.journal = -1};
}

/* No byte of a path is NUL, and every component is a name. "/" has none. */
static bool is_canonical(const char *path, size_t length)
{
    size_t start = 1; /* of the component that is being read */

    if (length == 0 || path[0] != '/')
        return false;
    for (size_t i = 1; i <= length && length > 1; i++) {
        size_t name = i - start;

        if (i < length && path[i] == '\0')
            return false;
        if (i < length && path[i] != '/')
            continue;
        if (name == 0 || (path[start] == '.' && (name == 1 || (name == 2 && path[i - 1] == '.'))))
            return false;
        start = i + 1;
    }
    return true;
}

int tracker_text(const struct tracker *tracker, const char *path, size_t length,
                 struct tracker_text *text)
{
    if (length >= PATH_MAX)
        return -ENAMETOOLONG;
    if (path == NULL || !is_canonical(path, length))
        return -EINVAL;
    text->text = path;
    text->length = length;
    text->hash = tracker_hash(tracker->key, path, length);
    return 0;
}

static bool is_journaled(const struct tracker *tracker, uint64_t slot)
{
    return atomic_load_explicit(&tracker->memory->slot[slot], memory_order_relaxed) &
           TRACKER_JOURNALED;
}

/* Into the memory first: a full one must not fill the journal with what nobody can take in. If the
 * journal fails then, the flag stays unset and the next mark of this path tries again. */
static int mark_in_both(const struct tracker *tracker, const struct tracker_text *text)
{
    uint64_t slot;
    uint64_t end;
    int error = tracker_journal_settle(tracker, &end);
    int added;

    if (error < 0)
        return error;
    added = tracker_set_add(tracker, text, &slot);
    if (added < 0 || is_journaled(tracker, slot))
        return added;
    error = tracker_journal_append(tracker, text->text, text->length, end);
    if (error < 0)
        return error;
    atomic_fetch_or_explicit(&tracker->memory->slot[slot], TRACKER_JOURNALED, memory_order_relaxed);
    return added;
}

int tracker_mark(struct tracker *tracker, const char *path, size_t length)
{
    struct tracker_text text;
    uint64_t slot;
    int result = tracker_text(tracker, path, length, &text);

    if (result < 0)
        return result;
    if (tracker->journal < 0)
        return tracker_set_add(tracker, &text, &slot);
    result = tracker_set_find(tracker, &text, &slot);
    if (result < 0)
        return result;
    if (result == 1 && is_journaled(tracker, slot))
        return 0;
    return mark_in_both(tracker, &text);
}

int tracker_has(struct tracker *tracker, const char *path, size_t length)
{
    struct tracker_text text;
    uint64_t slot;
    uint64_t end;
    uint64_t absorbed;
    int result = tracker_text(tracker, path, length, &text);

    if (result < 0)
        return result;
    /* Before the search: if another thread takes the path in from the journal right after it, the
     * journal still has to count as grown. */
    absorbed = atomic_load_explicit(&tracker->memory->absorbed, memory_order_acquire);
    result = tracker_set_find(tracker, &text, &slot);
    if (result != 0 || tracker->journal < 0)
        return result;
    result = tracker_journal_absorb(tracker, absorbed, &end);
    if (result > 0) /* half a record: somebody is writing it, or it stays torn */
        result = tracker_journal_settle(tracker, &end);
    if (result < 0)
        return result;
    return end == absorbed ? 0 : tracker_set_find(tracker, &text, &slot);
}

static int by_offset(const void *a, const void *b)
{
    uint64_t x = tracker_slot_offset(*(const uint64_t *)a);
    uint64_t y = tracker_slot_offset(*(const uint64_t *)b);

    return x < y ? -1 : x > y;
}

/* All slots in use, by the place of their records: that is the order of marking. */
static int64_t collect(const struct tracker *tracker, uint64_t *values)
{
    uint64_t count = 0;

    for (uint64_t i = 0; i < tracker->slots; i++) {
        uint64_t value = atomic_load_explicit(&tracker->memory->slot[i], memory_order_acquire);

        if (value == 0)
            continue;
        if (count == tracker->paths)
            return -EBADMSG;
        values[count++] = value;
    }
    qsort(values, count, sizeof *values, by_offset);
    return (int64_t)count;
}

int tracker_each(const struct tracker *tracker,
                 int (*visit)(void *context, const char *path, size_t length), void *context)
{
    size_t size = tracker->paths * sizeof(uint64_t) + PATH_MAX;
    uint64_t *values;
    char *path;
    void *scratch;
    int64_t count;
    int result = os_map(size, &scratch);

    if (result < 0)
        return result;
    values = scratch;
    path = (char *)(values + tracker->paths);
    count = collect(tracker, values);
    result = count < 0 ? (int)count : 0;
    for (int64_t i = 0; i < count && result == 0; i++) {
        int length = tracker_set_read(tracker, values[i], path);

        if (length < 0 || (i > 0 && by_offset(&values[i - 1], &values[i]) == 0))
            result = -EBADMSG;
        else
            result = visit(context, path, (size_t)length);
    }
    os_unmap(scratch, size);
    return result;
}
