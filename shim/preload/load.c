/* SPDX-License-Identifier: MIT */
#include "load.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "call.h"
#include "env.h"
#include "hand.h"
#include "os.h"
#include "where.h"

struct hold load_hold;
_Atomic int load_state;

static _Atomic int loader; /* the thread that is loading */

void load_fail(const char *part, ...)
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
        load_fail("shim: no memory", NULL);
    return memory;
}

static void seal(void *memory, size_t size)
{
    if (CALL(SYS_mprotect, memory, size, PROT_READ) < 0)
        load_fail("shim: mprotect failed", NULL);
}

/* --- the image -------------------------------------------------------------------------------- */

/* The program may write over the environment that it was started with. */
static const char *keep_variable(const char *value)
{
    static const char prefix[] = IMAGE_VARIABLE "=";
    size_t length = strlen(value) + 1;
    char *memory = map(sizeof prefix - 1 + length);

    memcpy(memory, prefix, sizeof prefix - 1);
    memcpy(memory + sizeof prefix - 1, value, length);
    seal(memory, sizeof prefix - 1 + length);
    return memory;
}

static void take_image(const char *value)
{
    void *memory = map(IMAGE_MAX);
    const char *wrong = image_read(value, memory, IMAGE_MAX);

    if (wrong != NULL)
        load_fail(IMAGE_VARIABLE, ": ", wrong, NULL);
    seal(memory, IMAGE_MAX);
    load_hold.image = memory;
    load_hold.variable = keep_variable(value);
}

static void make_image(char *const envp[])
{
    struct image *made = hand_image(envp);
    size_t size = image_variable_size(made);
    void *memory = map(made->size);
    char *variable = map(size);

    memcpy(memory, made, made->size);
    image_variable(made, variable);
    seal(memory, made->size);
    seal(variable, size);
    load_hold.image = memory;
    load_hold.variable = variable;
    free(made);
}

static void make_preload(void)
{
    static const char prefix[] = "LD_PRELOAD=";
    const char *shim = image_text(load_hold.image, IMAGE_SHIM);
    size_t length = strlen(shim) + 1;
    char *memory = map(sizeof prefix - 1 + length);

    memcpy(memory, prefix, sizeof prefix - 1);
    memcpy(memory + sizeof prefix - 1, shim, length);
    seal(memory, sizeof prefix - 1 + length);
    load_hold.preload = memory;
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
        load_fail("shim: /proc/self/environ cannot be read", NULL);
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
        load_fail("shim: CORDON_HANDSHAKE is no number", NULL);
    CALL(SYS_write, fd, "k", 1);
    os_close(fd);
}

/* --- loading ---------------------------------------------------------------------------------- */

static void load(char *const envp[])
{
    const char *value = env_get(envp, IMAGE_VARIABLE);

    if (value != NULL)
        take_image(value);
    else
        make_image(envp);
    load_hold.scope =
        (struct scope){.policy = image_policy(load_hold.image), .view = &view_self};
    make_preload();
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
