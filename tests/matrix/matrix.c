/* SPDX-License-Identifier: MIT */
#include "matrix.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os.h"
#include "syscall.h"

/* --- one run: all cases, a line each ---------------------------------------------------------- */

static const char *expand(const char *path)
{
    static char text[2 * BASE_MAX + 512];
    const char *at = strchr(path, '@');

    if (at == NULL)
        return path;
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - path), path, tree_base, at + 1);
    return text;
}

static int open_raw(const char *path, int flags)
{
    return (int)os_syscall(SYS_openat, AT_FDCWD, (long)path, flags, 0, 0, 0);
}

static int directory_of(const struct form *form)
{
    char text[2 * BASE_MAX];

    if (form->dir == NULL)
        return AT_FDCWD;
    if (strcmp(form->dir, "none") == 0)
        return 999;
    snprintf(text, sizeof text, "%s/%s", tree_base, form->dir);
    return open_raw(text, O_RDONLY);
}

/* In a process of its own, which may be left in any state. */
static void attempt(const struct example *example, const struct form *form, struct outcome *outcome)
{
    char path[2 * BASE_MAX + 512];
    struct given given = {.dir = directory_of(form), .path = path, .opened = -1};
    void *function = dlsym(RTLD_DEFAULT, example->symbol);

    snprintf(path, sizeof path, "%s", expand(form->path));
    if (strstr(example->arguments, "OPENED") != NULL) {
        given.opened = open_raw(path, O_RDONLY | O_NONBLOCK);
        outcome->result = -1;
        outcome->error = -given.opened;
        if (given.opened < 0)
            return;
    }
    example->call(function, &given, outcome);
    size_t length = strlen(outcome->text);
    char cwd[512] = "";
    os_cwd(cwd, sizeof cwd);
    snprintf(outcome->text + length, sizeof outcome->text - length, " in %.80s",
             strncmp(cwd, tree_base, strlen(tree_base)) == 0 ? cwd + strlen(tree_base) : cwd);
}

static int run_apart(const struct example *example, const struct form *form,
                     struct outcome *outcome)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        alarm(10);
        attempt(example, form, outcome);
        _exit(0);
    }
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* Whether the call acts on what a link at the end of the path leads to. */
static bool follows(const struct example *example)
{
    static const char *const names[] = {"lstat",    "__lx",      "lchown", "lchmod", "lutimes",
                                        "readlink", "unlink",    "rmdir",  "remove", "rename",
                                        "link",     "mkdir",     "mknod",  "mkfifo", "__xmknod",
                                        "symlink",  "__readlink"};

    if (strstr(example->arguments, "AT_SYMLINK_FOLLOW") != NULL)
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(example->symbol, names[i], strlen(names[i])) == 0)
            return false;
    return strstr(example->arguments, "NOFOLLOW") == NULL &&
           strstr(example->arguments, "O_EXCL") == NULL && strstr(example->arguments, "wx") == NULL;
}

static bool leads_outside(const struct example *example, const struct form *form)
{
    if (strstr(example->arguments, "PATH") == NULL && form->dir != NULL) /* the descriptor itself */
        return strncmp(form->dir, "out", 3) == 0;
    switch (form->leads) {
    case OUTSIDE:
        return true;
    case LINK_OUT:
        return follows(example);
    case LINK_IN:
        return !follows(example);
    default:
        return false;
    }
}

static void run_case(const struct example *example, const struct form *form,
                     struct outcome *outcome)
{
    static uint64_t fresh_ws, fresh_out;

    if (fresh_ws == 0) {
        tree_remove();
        tree_make();
        fresh_ws = tree_digest("ws");
        fresh_out = tree_digest("out");
    }
    if (chdir(expand("@/ws")) < 0)
        exit(1);
    memset(outcome, 0, sizeof *outcome);
    int signal = run_apart(example, form, outcome);
    if (chdir("/") < 0)
        exit(1);
    uint64_t ws = tree_digest("ws");
    uint64_t out = tree_digest("out");
    printf("%s%s %s%s%s|%d|%d|%s|%d|%016lx|%d\n", example->symbol, example->arguments,
           form->dir == NULL ? "" : form->dir, form->dir == NULL ? "" : ":", form->path, signal,
           outcome->result < 0 ? outcome->error : 0, outcome->result < 0 ? "" : outcome->text,
           leads_outside(example, form), (unsigned long)ws, out == fresh_out);
    if (ws != fresh_ws || out != fresh_out) {
        tree_remove();
        tree_make();
    }
}

static bool fits(const struct example *example, const struct form *form)
{
    bool takes_dir =
        strstr(example->arguments, "DIR,") != NULL || strstr(example->arguments, "DIR)") != NULL;
    bool takes_path = strstr(example->arguments, "PATH") != NULL;

    if (strstr(example->arguments, "OPENED") != NULL)
        return form->dir == NULL && form->path[0] != '\0';
    return (takes_dir || form->dir == NULL) && (takes_path || form->dir != NULL);
}

/* An alias is tried with the example of its row. */
static struct example resolved(const struct example *example)
{
    struct example result = *example;

    for (size_t i = 0; example->of != NULL && i < example_count; i++)
        if (examples[i].of == NULL && strcmp(examples[i].symbol, example->of) == 0) {
            result = examples[i];
            break;
        }
    result.symbol = example->symbol;
    return result;
}

static int run_all(const char *base)
{
    struct outcome *outcome =
        mmap(NULL, sizeof *outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    void *libc = dlopen("libc.so.6", RTLD_NOW);

    snprintf(tree_base, sizeof tree_base, "%s", base);
    for (size_t i = 0; i < example_count; i++) {
        struct example example = resolved(&examples[i]);
        if (example.arguments[0] == '\0' || dlsym(libc, example.symbol) == NULL)
            continue; /* nothing to compare with */
        for (size_t j = 0; j < form_count; j++)
            if (fits(&example, &forms[j]))
                run_case(&example, &forms[j], outcome);
    }
    tree_remove();
    return fflush(stdout) == 0 ? 0 : 1;
}

/* --- two runs, compared ----------------------------------------------------------------------- */

struct line {
    char name[512]; /* what was tried */
    int signal;
    int error;
    char text[700];
    int outside;
    char ws[20];
    int out_untouched;
};

static int number(const char *text)
{
    return (int)strtol(text, NULL, 10);
}

static bool read_line(FILE *in, struct line *line)
{
    char text[2048];
    char *part[7];
    char *rest = text;

    if (fgets(text, sizeof text, in) == NULL)
        return false;
    for (int i = 0; i < 7; i++) {
        part[i] = strsep(&rest, "|\n");
        if (part[i] == NULL) { /* what a run says when it cannot go on */
            fputs(text, stdout);
            return false;
        }
    }
    /* An argument list may hold a "|" itself. */
    while (rest != NULL && rest[0] != '\0') {
        part[1][-1] = '|';
        for (int i = 1; i < 6; i++)
            part[i] = part[i + 1];
        part[6] = strsep(&rest, "|\n");
    }
    snprintf(line->name, sizeof line->name, "%s", part[0]);
    line->signal = number(part[1]);
    line->error = number(part[2]);
    snprintf(line->text, sizeof line->text, "%s", part[3]);
    line->outside = number(part[4]);
    snprintf(line->ws, sizeof line->ws, "%s", part[5]);
    line->out_untouched = number(part[6]);
    return true;
}

/* NULL, or what is wrong with the case under the shim. */
static const char *compare(const struct line *bare, const struct line *held)
{
    if (strcmp(bare->name, held->name) != 0)
        return "the runs have parted";
    if (held->signal != bare->signal)
        return "killed";
    if (!held->out_untouched)
        return "the outside has changed";
    if (bare->outside) {
        if (held->error == EACCES || (bare->error != 0 && held->error == bare->error))
            return NULL;
        return bare->error == 0 ? "not refused" : "another errno";
    }
    if (held->error != bare->error)
        return "another errno";
    if (strcmp(held->text, bare->text) != 0)
        return "another result";
    return strcmp(held->ws, bare->ws) == 0 ? NULL : "another effect";
}

/* Where all is that a run needs, for a user who may not look into the build directory. */
struct place {
    char top[64];
    char program[128];
    char shim[128];
};

static int start(const struct place *place, const char *base, bool held, uid_t uid, FILE **out)
{
    char root[2 * BASE_MAX];
    int fds[2];

    snprintf(root, sizeof root, "%s/ws", base);
    if (mkdir(base, 0777) < 0 || mkdir(root, 0777) < 0 || pipe(fds) < 0 || chmod(base, 0777) < 0 ||
        chmod(root, 0777) < 0)
        return -1;
    if (fork() == 0) {
        dup2(fds[1], STDOUT_FILENO);
        close(fds[0]);
        close(fds[1]);
        if (held) {
            setenv("LD_PRELOAD", place->shim, 1);
            setenv("CORDON_ROOT", root, 1);
            setenv("CORDON_BACKEND", "native", 1);
        }
        if (uid == geteuid() || (setgid(uid) == 0 && setuid(uid) == 0))
            execl(place->program, "matrix", "--run", base, (char *)NULL);
        _exit(127);
    }
    close(fds[1]);
    *out = fdopen(fds[0], "r");
    return 0;
}

static void compare_as(const struct place *place, uid_t uid, int *passed, int *failed)
{
    char bare_base[BASE_MAX];
    char held_base[BASE_MAX];
    FILE *bare_out, *held_out;
    struct line bare, held;
    int status;

    snprintf(bare_base, sizeof bare_base, "%s/bare", place->top);
    snprintf(held_base, sizeof held_base, "%s/held", place->top);
    if (start(place, bare_base, false, uid, &bare_out) < 0 ||
        start(place, held_base, true, uid, &held_out) < 0)
        exit(1);
    while (read_line(bare_out, &bare)) {
        const char *wrong =
            read_line(held_out, &held) ? compare(&bare, &held) : "the run has ended";
        if (wrong == NULL) {
            (*passed)++;
            continue;
        }
        (*failed)++;
        printf("FAIL %s: %s: bare errno %d \"%s\", held errno %d \"%s\", uid %d\n", bare.name,
               wrong, bare.error, bare.text, held.error, held.text, (int)uid);
        if (feof(held_out))
            break;
    }
    fclose(bare_out);
    fclose(held_out);
    while (wait(&status) > 0)
        *failed += status != 0;
    rmdir(bare_base);
    rmdir(held_base);
}

static void copy(const char *from, const char *to)
{
    char bytes[65536];
    int in = open(from, O_RDONLY);
    int out = open(to, O_WRONLY | O_CREAT | O_EXCL, 0755);
    ssize_t length;

    while ((length = read(in, bytes, sizeof bytes)) > 0 &&
           write(out, bytes, (size_t)length) == length)
        continue;
    close(in);
    if (length != 0 || close(out) < 0)
        exit(1);
}

int main(int argc, char **argv)
{
    struct place place = {.top = "/tmp/matrix.XXXXXX"};
    char shim[512];
    const char *build = getenv("BUILD");
    int passed = 0, failed = 0;

    if (argc == 3 && strcmp(argv[1], "--run") == 0)
        return run_all(argv[2]);
    if (mkdtemp(place.top) == NULL || chmod(place.top, 0755) < 0)
        return 1;
    snprintf(shim, sizeof shim, "%s/libcordon-shim.so", build == NULL ? "build" : build);
    snprintf(place.program, sizeof place.program, "%s/matrix", place.top);
    snprintf(place.shim, sizeof place.shim, "%s/libcordon-shim.so", place.top);
    copy(argv[0], place.program);
    copy(shim, place.shim);
    compare_as(&place, geteuid(), &passed, &failed);
    if (geteuid() == 0)
        compare_as(&place, 65534, &passed, &failed);
    unlink(place.program);
    unlink(place.shim);
    rmdir(place.top);
    printf("Pass: %d, fail: %d, skip: 0.\n", passed, failed);
    return failed == 0 && passed > 0 ? 0 : 1;
}
