/* SPDX-License-Identifier: MIT */
#include "load.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "call.h"
#include "env.h"
#include "hand.h"
#include "os.h"
#include "where.h"
#include "word.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum { PAGE_SIZE = 4096 };

struct hold load_hold;
_Atomic int load_state;

static _Atomic int loader; /* the thread that is loading */

void load_fail_with(const char *part, ...)
{
    char line[512] = "cordon: ";
    size_t length = strlen(line);
    va_list parts;

    va_start(parts, part);
    for (; part != NULL; part = va_arg(parts, const char *)) {
        size_t more = strnlen(part, sizeof line - 1 - length);
        memcpy(line + length, part, more);
        length += more;
    }
    va_end(parts);
    line[length++] = '\n';
    CALL(SYS_write, 2, line, length);
    for (;;)
        CALL(SYS_exit_group, 125);
}

static void *map(size_t size)
{
    void *memory;

    if (os_map(size, &memory) < 0)
        load_fail("shim: no memory");
    return memory;
}

/* --- the image -------------------------------------------------------------------------------- */

/* What is kept, in one piece of memory that nobody can write any more: image, then texts. */
struct keep {
    char *memory;
    size_t size;
    size_t used;
};

static struct keep keep_begin(size_t size)
{
    return (struct keep){.memory = map(size), .size = size};
}

static void *keep_room(struct keep *keep, size_t size)
{
    char *room = keep->memory + keep->used;

    if (size > keep->size - keep->used)
        load_fail("shim: the image is too large");
    keep->used += size;
    return room;
}

/* The program may write over the environment that it was started with, so all is copied. */
static const char *keep_text(struct keep *keep, const char *prefix, const char *text)
{
    char *kept = keep_room(keep, strlen(prefix) + strlen(text) + 1);

    stpcpy(stpcpy(kept, prefix), text);
    return kept;
}

static void keep_end(struct keep *keep)
{
    const char *shim = image_text(load_hold.image, IMAGE_SHIM);

    load_hold.preload = keep_text(keep, "LD_PRELOAD=", shim);
    if (CALL(SYS_mprotect, keep->memory, keep->size, PROT_READ) < 0)
        load_fail("shim: mprotect failed");
}

/* From the supervisor: sealed memory that all processes share. */
static void take_handed_image(void)
{
    int fd = (int)CALL(SYS_prctl, WORD, WORD_IMAGE);
    struct stat st;
    long address;

    if (fd < 0 || os_fstatat(fd, "", &st, AT_EMPTY_PATH) < 0)
        load_fail("shim: the supervisor gives no image");
    address = CALL(SYS_mmap, 0, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    os_close(fd);
    if (address < 0 && address > -4096)
        load_fail("shim: no memory");
    load_hold.image = (const struct image *)address;
    const char *wrong = image_check(load_hold.image, (size_t)st.st_size);
    if (wrong != NULL)
        load_fail("the supervisor's image: ", wrong);
}

/* That of a cordon which was made inside this one: its rules hold as well. */
static void take_inner_image(const char *value)
{
    size_t length = strlen(value);
    size_t size = (length / 4 * 3 + 15) & ~(size_t)7;
    size_t room = policy_whole_size(image_policy(load_hold.image)) + size + 64;
    struct keep keep = keep_begin(size + room + sizeof IMAGE_VARIABLE + length + 1);
    struct image *inner = keep_room(&keep, size);
    void *stacked = keep_room(&keep, room & ~(size_t)7);

    const char *wrong = image_read(value, inner, size);
    if (wrong != NULL)
        load_fail(IMAGE_VARIABLE, ": ", wrong);
    if (policy_stack(image_policy(load_hold.image), image_policy(inner), stacked, room) == 0)
        load_fail(IMAGE_VARIABLE, ": too many cordons in each other");
    load_hold.scope.policy = stacked;
    load_hold.carried = inner;
    load_hold.variable = keep_text(&keep, IMAGE_VARIABLE "=", value);
    if (CALL(SYS_mprotect, keep.memory, keep.size, PROT_READ) < 0)
        load_fail("shim: mprotect failed");
}

static void take_image(const char *value)
{
    size_t length = strlen(value);
    size_t size = length / 4 * 3 + 8; /* what the text can hold */
    struct keep keep = keep_begin(size + sizeof IMAGE_VARIABLE + length + 1 + 2 * PATH_MAX);
    void *memory = keep_room(&keep, size);
    const char *wrong = image_read(value, memory, size);

    if (wrong != NULL)
        load_fail(IMAGE_VARIABLE, ": ", wrong);
    load_hold.image = load_hold.carried = memory;
    load_hold.variable = keep_text(&keep, IMAGE_VARIABLE "=", value);
    keep_end(&keep);
}

static void make_image(char *const envp[])
{
    struct image *made = hand_image(envp);
    size_t length = image_variable_size(made);
    struct keep keep = keep_begin(made->size + length + 2 * PATH_MAX);
    void *memory = keep_room(&keep, made->size);
    char *variable = keep_room(&keep, length);

    memcpy(memory, made, made->size);
    image_variable(made, variable);
    load_hold.image = load_hold.carried = memory;
    load_hold.variable = variable;
    free(made);
    keep_end(&keep);
}

/* --- the gate --------------------------------------------------------------------------------- */

/* Calls that are made from there pass the supervisor by. Where the program has something else at
 * that address, he judges them once more. */
static void open_gate(void)
{
    static const unsigned char code[] = GATE_CODE;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
    void *gate = (void *)GATE_ADDRESS;
    long mapped = CALL(SYS_mmap, gate, PAGE_SIZE, PROT_READ | PROT_WRITE, flags, -1, 0);

    /* Another shim, of a cordon inside this one, may have been here. */
    if (mapped == -EEXIST && memcmp(gate, code, sizeof code) == 0)
        os_door = gate;
    if (mapped != (long)GATE_ADDRESS)
        return;
    memcpy(gate, code, sizeof code);
    if (CALL(SYS_mprotect, gate, PAGE_SIZE, PROT_READ | PROT_EXEC) == 0)
        os_door = gate;
}

/* --- the environment -------------------------------------------------------------------------- */

enum { ENVIRON_MAX = 8 << 20 };

/* Before libc knows its environment the kernel does. The list is for reading only, and stays
 * mapped. */
static char **ask_environ(void)
{
    char *text = map(ENVIRON_MAX);
    char **list = map(ENVIRON_MAX * sizeof *list / 2);
    int fd = (int)CALL(SYS_openat, AT_FDCWD, "/proc/self/environ", O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    long n;
    size_t count = 0;

    if (fd < 0)
        load_fail("shim: /proc/self/environ cannot be read");
    while ((n = CALL(SYS_read, fd, text + length, ENVIRON_MAX - 1 - length)) > 0)
        length += (size_t)n;
    os_close(fd);
    for (char *p = text; p < text + length; p += strlen(p) + 1)
        list[count++] = p;
    return list;
}

/* Whoever waits for the shim to be there waits on a pipe. */
static void shake_hands(char *const envp[])
{
    const char *text = env_get(envp, "CORDON_HANDSHAKE");
    int fd = 0;

    if (text == NULL || text[0] == '\0')
        return;
    for (; *text >= '0' && *text <= '9' && fd < 1 << 20; text++)
        fd = fd * 10 + (*text - '0');
    if (*text != '\0')
        load_fail("shim: CORDON_HANDSHAKE is no number");
    CALL(SYS_write, fd, "k", 1);
    os_close(fd);
}

/* --- loading ---------------------------------------------------------------------------------- */

/* Most absolute paths lie in the workspace: a look-up of those begins there. */
static void settle_home(void)
{
    static struct policy_at at;
    static struct start home;

    home.path = image_text(load_hold.image, IMAGE_ROOT);
    home.at = &at;
    decide_start(load_hold.scope.policy, &at);
    if (path_is_canonical(home.path) && decide_follow(load_hold.scope.policy, &at, home.path))
        load_hold.scope.home = &home;
}

static void load(char *const envp[])
{
    const char *value = env_get(envp, IMAGE_VARIABLE);
    long supervised = CALL(SYS_prctl, WORD, WORD_SUPERVISED);

    if (supervised == -WORD_YES || supervised == -WORD_YES_BUT_NO_GATE)
        take_handed_image();
    else if (value != NULL)
        take_image(value);
    else
        make_image(envp);
    load_hold.scope = (struct scope){.policy = image_policy(load_hold.image), .view = &view_self};
    if (supervised == -WORD_YES)
        open_gate();
    if (load_hold.carried == NULL && value != NULL)
        take_inner_image(value);
    settle_home();
    where_load();
}

/* True if this thread is to load. A thread that comes while another one does waits for it. */
static bool begin(void)
{
    int self = (int)CALL(SYS_gettid, 0);
    int none = LOAD_NONE;

    if (atomic_compare_exchange_strong(&load_state, &none, LOAD_BUSY)) {
        atomic_store(&loader, self);
        return true;
    }
    while (atomic_load(&load_state) == LOAD_BUSY && atomic_load(&loader) != self)
        CALL(SYS_sched_yield, 0);
    return false;
}

bool load_now(void)
{
    if (begin()) {
        load(ask_environ());
        atomic_store(&load_state, LOAD_READY);
    }
    return atomic_load(&load_state) == LOAD_READY;
}

__attribute__((constructor)) static void construct(int argc, char **argv, char **envp)
{
    (void)argc;
    (void)argv;
    if (begin()) {
        load(envp != NULL ? envp : ask_environ());
        atomic_store(&load_state, LOAD_READY);
    }
    if (envp != NULL) {
        shake_hands(envp);
        env_strip(envp);
    }
}
