/* SPDX-License-Identifier: MIT */
#include "call.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os.h"

enum { UNKNOWN_FLAG = 1 << 30, ERRNO_MARK = 4711 };

/* --- choosing --------------------------------------------------------------------------------- */

static int random_flags(struct random *random)
{
    static const int access[] = {O_RDONLY, O_RDONLY, O_RDONLY, O_WRONLY, O_RDWR, O_RDWR};
    static const struct {
        int flag;
        unsigned percent;
    } extra[] = {{O_CREAT, 35},    {O_EXCL, 15},      {O_TRUNC, 15},    {O_NOFOLLOW, 15},
                 {O_PATH, 12},     {O_DIRECTORY, 10}, {O_NONBLOCK, 10}, {O_CLOEXEC, 30},
                 {O_APPEND, 5},    {O_NOCTTY, 5},     {O_SYNC, 2},      {O_ACCMODE, 1},
                 {UNKNOWN_FLAG, 1}};
    int flags = access[random_below(random, 6)];

    for (size_t i = 0; i < sizeof extra / sizeof *extra; i++)
        if (random_percent(random, extra[i].percent))
            flags |= extra[i].flag;
    if (random_percent(random, 4))
        flags = (flags & ~(random_percent(random, 80) ? O_CREAT : 0)) | O_TMPFILE;
    return flags;
}

static struct from random_from(struct random *random)
{
    static const int props[] = {PROP_DIR_IN,  PROP_DIR_IN,   PROP_DIR_IN, PROP_DIR_OUT,
                                PROP_FILE_IN, PROP_GONE_DIR, PROP_LINK,   FROM_NOTHING};
    struct from from = {.prop = FROM_CWD, .knowledge = KNOWS_NOTHING};

    if (random_percent(random, 35))
        from.prop = props[random_below(random, 8)];
    if (from.prop == FROM_CWD || from.prop == PROP_DIR_IN || from.prop == PROP_DIR_OUT)
        from.knowledge = (enum knowledge)random_below(random, 3);
    return from;
}

static int random_cwd(const struct tree *tree, struct random *random)
{
    unsigned kind = random_below(random, 100);

    if (kind < 50)
        return 0; /* the root */
    if (kind < 80)
        return tree_pick(tree, random, "d", "root");
    if (kind < 93)
        return tree_pick(tree, random, "d", random_percent(random, 70) ? "out" : "root-evil");
    return -1;
}

static const char *base_of(const struct call *call, const struct tree *tree, int which)
{
    int prop = call->from[which].prop;
    int entry = prop == FROM_CWD ? call->cwd : prop < 0 ? -1 : tree->props[prop];

    return entry >= 0 ? tree->entries[entry].path : "root/gone";
}

void call_generate(struct call *call, const struct tree *tree, struct random *random)
{
    static const unsigned weights[OPS] = {44, 20, 8, 7, 6, 5, 10};
    static const unsigned rename_flags[] = {0, 0, 0, RENAME_NOREPLACE, RENAME_EXCHANGE, 3};
    static const enum intent intents[] = {INTENT_STAT, INTENT_READ, INTENT_WRITE, INTENT_EXEC};
    unsigned kind = random_below(random, 100);
    int op = 0;

    while (kind >= weights[op])
        kind -= weights[op++];
    *call = (struct call){.op = (enum op)op, .cwd = random_cwd(tree, random)};
    call->mode =
        random_percent(random, 90) ? random_below(random, 01000) : (mode_t)random_next(random);
    call->follow = random_percent(random, 60);
    call->intent = intents[random_below(random, 4)];
    call->flags =
        op == OP_RENAME ? (int)rename_flags[random_below(random, 6)] : random_flags(random);
    for (int i = 0; i < call_paths(call); i++) {
        call->from[i] = random_from(random);
        path_generate(call->path[i], tree, base_of(call, tree, i), random);
    }
}

int call_paths(const struct call *call)
{
    return call->op == OP_RENAME ? 2 : 1;
}

bool call_changes(const struct call *call)
{
    if (call->op == OP_OPEN)
        return !(call->flags & O_PATH) &&
               (call->flags & (O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY)));
    return call->op >= OP_MKDIR;
}

/* --- where it starts -------------------------------------------------------------------------- */

static int fd_of(const struct from *from, int side)
{
    if (from->prop == FROM_CWD)
        return AT_FDCWD;
    return from->prop < 0 ? -1 : tree_prop(side, (enum prop)from->prop);
}

void call_origin(const struct call *call, const struct tree *tree, int which, int side,
                 struct origin *origin)
{
    int prop = call->from[which].prop;

    snprintf(origin->text, sizeof origin->text, "%s/%s", tree_copy(side),
             base_of(call, tree, which));
    origin->gone = prop == PROP_GONE_DIR || (prop == FROM_CWD && call->cwd < 0);
    origin->error = prop == FROM_NOTHING                        ? EBADF
                    : prop == PROP_FILE_IN || prop == PROP_LINK ? ENOTDIR
                                                                : 0;
}

/* False: an ordinary user is locked out. */
static bool enter_cwd(const struct call *call, const struct tree *tree, int side)
{
    const char *path;
    bool entered;
    int dir;

    if (call->cwd < 0)
        return fchdir(tree_prop(side, PROP_GONE_DIR)) == 0;
    path = tree->entries[call->cwd].path;
    if (chdir(tree_copy(side)) < 0)
        return false;
    for (; strlen(path) >= PATH_MAX; path += 1 + strcspn(path, "/")) {
        char name[NAME_MAX + 1];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(path, "/"), path);
        if (chdir(name) < 0)
            return false;
    }
    dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    entered = dir >= 0 && fchdir(dir) == 0;
    if (dir >= 0)
        close(dir);
    return entered;
}

void call_settle(struct call *call, const struct tree *tree)
{
    if (!enter_cwd(call, tree, SIDE_B))
        call->cwd = 0;
}

/* --- making it -------------------------------------------------------------------------------- */

static int or_errno(long result)
{
    return result < 0 ? -errno : (int)result;
}

static void examine(struct outcome *outcome)
{
    char link[32];
    ssize_t length;
    int fd = outcome->result;

    outcome->getfl = fcntl(fd, F_GETFL);
    outcome->getfd = fcntl(fd, F_GETFD);
    fstat(fd, &outcome->st);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    length = readlink(link, outcome->place, sizeof outcome->place - 1);
    outcome->place[length > 0 ? length : 0] = '\0';
    close(fd);
    outcome->result = 0;
}

static int bare(const struct call *call, int fd[2], char path[2][FULL_TEXT], struct stat *st)
{
    const int stays = call->follow ? 0 : O_NOFOLLOW;

    switch (call->op) {
    case OP_OPEN: /* libc would drop a mode that is not needed */
        return or_errno(syscall(SYS_openat, fd[0], path[0], call->flags, call->mode));
    case OP_STAT:
        return or_errno(fstatat(fd[0], path[0], st, call->follow ? 0 : AT_SYMLINK_NOFOLLOW));
    case OP_LOOKUP:
        return or_errno(openat(fd[0], path[0], O_PATH | O_CLOEXEC | stays));
    case OP_MKDIR:
        return or_errno(mkdirat(fd[0], path[0], call->mode));
    case OP_UNLINK:
        return or_errno(unlinkat(fd[0], path[0], 0));
    case OP_RMDIR:
        return or_errno(unlinkat(fd[0], path[0], AT_REMOVEDIR));
    case OP_RENAME:
        return or_errno(syscall(SYS_renameat2, fd[0], path[0], fd[1], path[1], call->flags));
    case OPS:
    default:
        return -ENOSYS;
    }
}

static bool returns_fd(const struct call *call)
{
    return call->op == OP_OPEN || call->op == OP_LOOKUP;
}

/* Goes where the call is to be made from, and says what it is made on. */
static bool prepare(const struct call *call, const struct tree *tree, int side, int fd[2],
                    char path[2][FULL_TEXT])
{
    for (int i = 0; i < 2; i++) {
        fd[i] = fd_of(&call->from[i], side);
        if (!tree_expand(call->path[i], side, path[i], FULL_TEXT))
            return false;
    }
    return enter_cwd(call, tree, side);
}

void call_bare(const struct call *call, const struct tree *tree, int side, struct outcome *outcome)
{
    char path[2][FULL_TEXT];
    int fd[2];

    *outcome = (struct outcome){.result = -ENOSYS};
    if (!prepare(call, tree, side, fd, path))
        return;
    outcome->result = bare(call, fd, path, &outcome->st);
    if (outcome->result >= 0 && returns_fd(call))
        examine(outcome);
}

static int on_parent(const struct call *call, const struct scope *scope, const struct start *start,
                     const char *path, struct report *report)
{
    struct place place;
    enum name_use use = call->op == OP_MKDIR ? NAME_NEW : NAME_GONE;
    int result = place_parent(scope, start, path, use, &place, report);

    if (result < 0)
        return result;
    if (call->op == OP_MKDIR)
        result = os_mkdirat(place.dir, place.name, call->mode);
    else
        result = os_unlinkat(place.dir, place.name, call->op == OP_RMDIR ? AT_REMOVEDIR : 0);
    place_release(&place);
    return result;
}

static int cordon(const struct call *call, const struct scope *scope, const struct start start[2],
                  char path[2][FULL_TEXT], struct stat *st, struct report *report)
{
    switch (call->op) {
    case OP_OPEN:
        return place_open(scope, &start[0], path[0], call->flags, call->mode, report);
    case OP_STAT:
        return place_stat(scope, &start[0], path[0], call->follow, st, report);
    case OP_LOOKUP:
        return place_lookup(scope, &start[0], path[0], call->follow, call->intent, report);
    case OP_MKDIR:
    case OP_UNLINK:
    case OP_RMDIR:
        return on_parent(call, scope, &start[0], path[0], report);
    case OP_RENAME:
        return place_rename(scope, &start[0], path[0], &start[1], path[1], (unsigned)call->flags,
                            report);
    case OPS:
    default:
        return -ENOSYS;
    }
}

/* The descriptor that the next open will get. */
static int next_fd(void)
{
    int fd = dup(0);

    close(fd);
    return fd;
}

void call_cordon(const struct call *call, const struct tree *tree, int side,
                 const struct policy *policy, struct outcome *outcome)
{
    static struct origin origin[2];
    char path[2][FULL_TEXT];
    int fd[2];
    struct start start[2];
    struct policy_at at[2];
    struct scope scope = {.policy = policy, .view = &view_self};
    struct report report = {.path = outcome->report, .size = sizeof outcome->report};

    *outcome = (struct outcome){.result = -ENOSYS};
    if (!prepare(call, tree, side, fd, path))
        return;
    for (int i = 0; i < 2; i++) {
        call_origin(call, tree, i, side, &origin[i]);
        start[i] = (struct start){.fd = fd[i]};
        if (call->from[i].knowledge == KNOWS_NOTHING || origin[i].gone)
            continue;
        start[i].path = origin[i].text;
        decide_start(policy, &at[i]);
        decide_follow(policy, &at[i], origin[i].text);
        if (call->from[i].knowledge == KNOWS_VERDICT)
            start[i].at = &at[i];
        if (start[i].at != NULL && scope.home == NULL)
            scope.home = &start[i];
    }
    int next = next_fd();
    errno = ERRNO_MARK;
    outcome->result = cordon(call, &scope, start, path, &outcome->st, &report);
    outcome->spoils_errno = errno != ERRNO_MARK;
    outcome->denied = report.denied;
    if (outcome->result >= 0 && returns_fd(call))
        examine(outcome);
    outcome->leaks = next_fd() != next;
}

/* --- printing --------------------------------------------------------------------------------- */

static void print_flags(int flags)
{
    static const struct {
        int flag;
        const char *name;
    } names[] = {{O_TMPFILE, "TMPFILE"},     {O_CREAT, "CREAT"},       {O_EXCL, "EXCL"},
                 {O_TRUNC, "TRUNC"},         {O_NOFOLLOW, "NOFOLLOW"}, {O_PATH, "PATH"},
                 {O_DIRECTORY, "DIRECTORY"}, {O_NONBLOCK, "NONBLOCK"}, {O_CLOEXEC, "CLOEXEC"},
                 {O_APPEND, "APPEND"},       {O_NOCTTY, "NOCTTY"},     {O_SYNC, "SYNC"}};
    static const char *const access[] = {"RDONLY", "WRONLY", "RDWR", "3"};

    printf(" O_%s", access[flags & O_ACCMODE]);
    flags &= ~O_ACCMODE;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((flags & names[i].flag) == names[i].flag) {
            printf("|O_%s", names[i].name);
            flags &= ~names[i].flag;
        }
    if (flags != 0)
        printf("|%#x", (unsigned)flags);
}

static void print_path(const struct call *call, const struct tree *tree, int which)
{
    static const char *const knowledge[] = {"nothing", "its path", "its path and verdict"};
    static const char *const props[PROPS] = {
        [PROP_DIR_IN] = "dirfd inside",      [PROP_DIR_OUT] = "dirfd outside",
        [PROP_FILE_IN] = "fd of a file",     [PROP_GONE_DIR] = "fd of a deleted directory",
        [PROP_LINK] = "O_PATH fd of a link",
    };
    int prop = call->from[which].prop;

    printf(" \"");
    print_text(call->path[which]);
    printf("\" (%zu bytes as template; from %s ", strlen(call->path[which]),
           prop == FROM_CWD ? "AT_FDCWD"
           : prop < 0       ? "fd -1"
                            : props[prop]);
    print_text(base_of(call, tree, which));
    printf(", caller knows %s)", knowledge[call->from[which].knowledge]);
}

void call_print(const struct call *call, const struct tree *tree)
{
    static const char *const ops[OPS] = {"open",   "stat",  "lookup", "mkdir",
                                         "unlink", "rmdir", "rename"};

    printf("%s", ops[call->op]);
    for (int i = 0; i < call_paths(call); i++)
        print_path(call, tree, i);
    if (call->op == OP_OPEN)
        print_flags(call->flags);
    if (call->op == OP_OPEN || call->op == OP_MKDIR)
        printf(" mode %#o", (unsigned)call->mode);
    if (call->op == OP_STAT || call->op == OP_LOOKUP)
        printf(call->follow ? " follow" : " nofollow");
    if (call->op == OP_LOOKUP)
        printf(" intent %d", (int)call->intent);
    if (call->op == OP_RENAME)
        printf(" flags %d", call->flags);
    printf("\n    cwd: ");
    print_text(call->cwd < 0 ? "the deleted directory root/gone" : tree->entries[call->cwd].path);
    for (int prop = 0; prop < PROPS; prop++)
        if (tree->props[prop] >= 0) {
            printf("\n    fd 1{SIDE}%d: ", prop);
            print_text(tree->entries[tree->props[prop]].path);
        }
    printf("\n");
}
