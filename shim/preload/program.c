/* SPDX-License-Identifier: MIT */
#include "program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "call.h"
#include "os.h"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#define LOADER  "/lib64/ld-linux-x86-64.so.2"
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#define LOADER  "/lib/ld-linux-aarch64.so.1"
#endif

enum { SCRIPT_DEPTH = 6 }; /* the kernel goes no deeper */

enum kind {
    KIND_OTHER,   /* the kernel will say what it thinks of it */
    KIND_SCRIPT,  /* room->interpreter says what runs it */
    KIND_ENTERS,  /* the shim will be in it */
    KIND_FREE,    /* it will not */
    KIND_FOREIGN, /* nor, and its loader would stumble over it */
};

/* The interpreter that a script names, by the kernel's rules. KIND_OTHER: none, or one that is cut.
 */
static enum kind read_script(struct program_room *room)
{
    size_t begin = 2;
    size_t end;

    while (begin < PROGRAM_HEAD && (room->head[begin] == ' ' || room->head[begin] == '\t'))
        begin++;
    for (end = begin; end < PROGRAM_HEAD && memchr(" \t\n", room->head[end], 4) == NULL;)
        end++;
    if (end == begin || end == PROGRAM_HEAD)
        return KIND_OTHER;
    memcpy(room->interpreter, room->head + begin, end - begin);
    room->interpreter[end - begin] = '\0';
    return KIND_SCRIPT;
}

/* The loader that this very process was started with. */
static const char *own_loader(void)
{
    const Elf64_Phdr *headers = (const Elf64_Phdr *)getauxval(AT_PHDR);
    size_t count = getauxval(AT_PHNUM);
    const char *base = NULL;

    for (size_t i = 0; headers != NULL && i < count; i++)
        if (headers[i].p_type == PT_PHDR)
            base = (const char *)headers - headers[i].p_vaddr;
    for (size_t i = 0; base != NULL && i < count; i++)
        if (headers[i].p_type == PT_INTERP)
            return base + headers[i].p_vaddr;
    return LOADER;
}

static bool is_own_loader(const char *path)
{
    struct stat own;
    struct stat other;

    return os_fstatat(AT_FDCWD, own_loader(), &own, 0) == 0 &&
           os_fstatat(AT_FDCWD, path, &other, 0) == 0 && own.st_dev == other.st_dev &&
           own.st_ino == other.st_ino;
}

/* Whether the program has a loader, and it is the one that will load the shim. */
static enum kind read_loader(int fd, const Elf64_Ehdr *elf, struct program_room *room)
{
    for (unsigned i = 0; i < elf->e_phnum; i++) {
        Elf64_Phdr header;
        long n = CALL(SYS_pread64, fd, &header, sizeof header, elf->e_phoff + i * sizeof header);
        if (n != (long)sizeof header)
            return KIND_FREE;
        if (header.p_type != PT_INTERP)
            continue;
        if (header.p_filesz == 0 || header.p_filesz > PROGRAM_HEAD)
            return KIND_FREE;
        n = CALL(SYS_pread64, fd, room->loader, header.p_filesz, header.p_offset);
        if (n != (long)header.p_filesz)
            return KIND_FREE;
        room->loader[n] = '\0';
        return is_own_loader(room->loader) ? KIND_ENTERS : KIND_FOREIGN;
    }
    return KIND_FREE;
}

/* Whether it would run with more than its caller has, so that the loader forgets LD_PRELOAD. */
static bool is_privileged(int fd)
{
    struct stat st;
    uid_t uid = (uid_t)CALL(SYS_getuid, 0);
    gid_t gid = (gid_t)CALL(SYS_getgid, 0);

    if (CALL(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
        return false;
    if (os_fstatat(fd, "", &st, AT_EMPTY_PATH) < 0)
        return true;
    return ((st.st_mode & S_ISUID) && st.st_uid != uid) ||
           ((st.st_mode & S_ISGID) && st.st_gid != gid) ||
           (uid != 0 && CALL(SYS_fgetxattr, fd, "security.capability", NULL, 0) > 0);
}

static enum kind read_elf(int fd, struct program_room *room)
{
    Elf64_Ehdr elf;

    memcpy(&elf, room->head, sizeof elf);
    if (elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_machine != MACHINE ||
        elf.e_phentsize != sizeof(Elf64_Phdr))
        return KIND_FREE;
    enum kind kind = read_loader(fd, &elf, room);
    return kind == KIND_ENTERS && is_privileged(fd) ? KIND_FREE : kind;
}

/* What the kernel would see in the O_PATH descriptor `fd`. */
static enum kind look(int fd, struct program_room *room)
{
    struct os_id id;
    enum kind kind = KIND_OTHER;
    int file;

    if (os_identify(fd, "", &id) < 0 || !S_ISREG(id.mode))
        return KIND_OTHER;
    file = os_reopen(fd, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return KIND_FREE;                     /* may be run but not read: who knows */
    memset(room->head, 0, sizeof room->head); /* as the kernel does: files may be short */
    if (CALL(SYS_pread64, file, room->head, PROGRAM_HEAD, 0) < 0)
        kind = KIND_FREE;
    else if (memcmp(room->head, "#!", 2) == 0)
        kind = read_script(room);
    else if (memcmp(room->head, ELFMAG, SELFMAG) == 0)
        kind = read_elf(file, room);
    return (enum kind)call_end(file, kind);
}

long program_judge(int dir, const char *path, bool follow, struct program_room *room)
{
    for (int depth = 0; depth < SCRIPT_DEPTH; depth++) {
        struct call call;
        if (!call_begin(&call, "exec", dir, path))
            return 0;
        int fd = call_lookup(&call, follow, INTENT_EXEC);
        if (fd < 0)
            return call_settled(&call) ? fd : 0;
        enum kind kind = (enum kind)call_end(fd, look(fd, room));
        if (kind >= KIND_FREE && program_needs_shim())
            return call_refuse(
                &call, INTENT_EXEC,
                "the shim cannot enter this program: use --backend landlock or bwrap");
        if (kind != KIND_SCRIPT)
            return kind == KIND_FOREIGN ? PROGRAM_FOREIGN : PROGRAM_RUNS;
        dir = AT_FDCWD;
        path = room->interpreter;
        follow = true;
    }
    return 0;
}
