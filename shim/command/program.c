/* SPDX-License-Identifier: MIT */
#include "program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "command.h"
#include "decide.h"

/* As the kernel: so many bytes of a script count, and so many scripts may run each other. */
enum { LINE_SIZE = 256, SCRIPTS_MAX = 5 };

static const char cannot_be_read[] = "it cannot be read";
static const char is_static[] = "it is statically linked";
static const char is_foreign[] = "it is of another architecture";
static const char other_loader[] = "it has another dynamic loader";
static const char is_privileged[] = "it is set-user-ID, or has capabilities";
static const char no_format[] = "its format is unknown";

/* The dynamic loader that this very program was started by, or NULL. */
static const char *own_loader(void)
{
    const ElfW(Phdr) *headers = (const ElfW(Phdr) *)getauxval(AT_PHDR);
    unsigned long count = getauxval(AT_PHNUM);
    ElfW(Addr) base = 0;

    for (unsigned long i = 0; headers != NULL && i < count; i++) {
        if (headers[i].p_type == PT_PHDR)
            base = (ElfW(Addr))headers - headers[i].p_vaddr;
        if (headers[i].p_type == PT_INTERP)
            return (const char *)(base + headers[i].p_vaddr);
    }
    return NULL;
}

/* One loader may have several names. */
static bool is_same_loader(const char *loader)
{
    const char *own = own_loader();
    struct stat a;
    struct stat b;

    return own != NULL &&
           (strcmp(own, loader) == 0 || (stat(own, &a) == 0 && stat(loader, &b) == 0 &&
                                         a.st_dev == b.st_dev && a.st_ino == b.st_ino));
}

static const char *inspect_elf(int fd, const ElfW(Ehdr) * header)
{
    const ElfW(Ehdr) *own = (const ElfW(Ehdr) *)getauxval(AT_SYSINFO_EHDR);
    ElfW(Phdr) segment;
    char loader[PATH_MAX];

    if (header->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        (own != NULL && header->e_machine != own->e_machine))
        return is_foreign;
    for (unsigned i = 0; i < header->e_phnum; i++) {
        off_t at = (off_t)(header->e_phoff + (ElfW(Off))i * header->e_phentsize);
        if (pread(fd, &segment, sizeof segment, at) != (ssize_t)sizeof segment)
            return no_format;
        if (segment.p_type != PT_INTERP)
            continue;
        if (segment.p_filesz == 0 || segment.p_filesz > sizeof loader ||
            pread(fd, loader, segment.p_filesz, (off_t)segment.p_offset) !=
                (ssize_t)segment.p_filesz)
            return no_format;
        loader[segment.p_filesz - 1] = '\0';
        return is_same_loader(loader) ? NULL : other_loader;
    }
    return is_static;
}

/* The interpreter of a script, or NULL. `line` is what follows the "#!". */
static char *interpreter_of(char *line)
{
    line += strspn(line, " \t");
    line[strcspn(line, " \t\n")] = '\0';
    return line[0] == '\0' ? NULL : line;
}

/* Why the shim cannot enter the file, or NULL; sets *privileged for a binary that would be. */
static const char *inspect(const char *path, int scripts, bool *privileged)
{
    union {
        char line[LINE_SIZE + 1];
        ElfW(Ehdr) header;
    } start = {.line = ""};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    const char *alone = no_format;
    struct stat st;
    ssize_t length;

    if (fd < 0)
        return cannot_be_read;
    length = read(fd, start.line, LINE_SIZE);
    if (length > 2 && memcmp(start.line, "#!", 2) == 0) {
        char *interpreter = interpreter_of(start.line + 2);
        if (interpreter != NULL && scripts < SCRIPTS_MAX)
            alone = inspect(interpreter, scripts + 1, privileged);
    } else if (length >= (ssize_t)sizeof start.header &&
               memcmp(start.header.e_ident, ELFMAG, SELFMAG) == 0) {
        *privileged = fstat(fd, &st) == 0 && ((st.st_mode & (S_ISUID | S_ISGID)) != 0 ||
                                              fgetxattr(fd, "security.capability", NULL, 0) > 0);
        alone = inspect_elf(fd, &start.header);
        if (alone == NULL && *privileged)
            alone = is_privileged;
    } else if (length >= 0) {
        /* execvp(3) takes it for a script of the shell. */
        alone = inspect("/bin/sh", SCRIPTS_MAX, privileged);
    }
    close(fd);
    return alone;
}

/* Whether the file could be executed: 0, or the errno that says why not. */
static int try(const char *path, const struct policy *policy)
{
    char place[PATH_MAX];
    struct stat st;

    if (stat(path, &st) < 0)
        return errno;
    if (!S_ISREG(st.st_mode) || access(path, X_OK) < 0)
        return EACCES;
    if (policy != NULL &&
        (realpath(path, place) == NULL || !decide(policy, place, INTENT_EXEC).allowed))
        return EPERM;
    return 0;
}

/* Goes through PATH. The best reason wins: that there is one which may not be run. */
static int search(const char *name, const struct policy *policy, char found[PATH_MAX])
{
    const char *at = getenv("PATH");
    int error = ENOENT;

    for (bool more = true; more;) {
        char path[PATH_MAX];
        size_t length;
        int one;

        if (at == NULL)
            at = "/bin:/usr/bin";
        length = strcspn(at, ":");
        if (snprintf(path, sizeof path, "%.*s%s%s", (int)length, at, length > 0 ? "/" : "", name) <
                (int)sizeof path &&
            access(path, F_OK) == 0) {
            one = try(path, policy);
            if (one == 0 || error == ENOENT) {
                strcpy(found, path);
                error = one;
            }
            if (one == 0)
                return 0;
        }
        more = at[length] == ':';
        at += length + 1;
    }
    return error;
}

int program_find(const char *name, const struct policy *policy, struct program *program)
{
    int error;

    *program = (struct program){.path = ""};
    if (name[0] == '\0') {
        error = ENOENT;
    } else if (strchr(name, '/') == NULL) {
        error = search(name, policy, program->path);
    } else if (strlen(name) >= sizeof program->path) {
        error = ENAMETOOLONG;
    } else {
        strcpy(program->path, name);
        error = try(name, policy);
    }
    if (error == 0) {
        program->alone = inspect(program->path, 0, &program->privileged);
        return 0;
    }
    if (error == EPERM)
        complain(program->path, "may not be run: the policy does not open it",
                 "-r PATH would, see cordon why exec PATH");
    else if (error == ENOENT && strchr(name, '/') == NULL)
        complain(name, "command not found", NULL);
    else
        complain(strchr(name, '/') == NULL ? program->path : name, strerror(error), NULL);
    return error == ENOENT || error == ENOTDIR ? EXIT_NOT_FOUND : EXIT_NOT_RUN;
}

static int become_shell(const char *path, char **argv)
{
    size_t count = 0;
    char **words;

    while (argv[count] != NULL)
        count++;
    words = calloc(count + 2, sizeof *words);
    if (words == NULL)
        return ENOMEM;
    words[0] = (char *)"/bin/sh";
    words[1] = (char *)path;
    if (count > 1)
        memcpy(words + 2, argv + 1, (count - 1) * sizeof *words);
    execv(words[0], words);
    free(words);
    return errno;
}

int program_become(const char *path, char **argv)
{
    execv(path, argv);
    return errno == ENOEXEC ? become_shell(path, argv) : errno;
}
