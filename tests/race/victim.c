/* SPDX-License-Identifier: MIT */
#include "victim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum op {
    OP_READ,
    OP_WRITE,
    OP_TRUNCATE,
    OP_LIST,
    OP_STAT,
    OP_LOOKUP,
    OP_CREATE,
    OP_UNLINK,
    OP_MKDIR,
    OP_RMDIR,
    OP_RENAME_FROM,
    OP_RENAME_TO,
    OPS,
};

static const char *const op_names[OPS] = {
    [OP_READ] = "open for reading",
    [OP_WRITE] = "open for writing",
    [OP_TRUNCATE] = "truncate",
    [OP_LIST] = "open the directory of",
    [OP_STAT] = "stat",
    [OP_LOOKUP] = "lookup",
    [OP_CREATE] = "create",
    [OP_UNLINK] = "unlink",
    [OP_MKDIR] = "mkdir",
    [OP_RMDIR] = "rmdir",
    [OP_RENAME_FROM] = "rename from",
    [OP_RENAME_TO] = "rename to",
};

/* Two ways to the same directory: to what is there, and to what is not. Led astray, none comes out
 * above TOP: the naive victim really does it. */
static const struct form {
    enum attack attack;
    enum home home;
    const char *there;
    const char *new; /* NULL: only what can be done to what is there */
} forms[] = {
    {ATTACK_PARENT, HOME_ROOT, "par/f", "par/new"},
    {ATTACK_PARENT, HOME_ROOT, "hop/f", "hop/new"},
    {ATTACK_PARENT, HOME_ROOT, "q/par/f", "q/par/new"},
    {ATTACK_PARENT, HOME_ROOT, "q/hop/f", "q/hop/new"},
    {ATTACK_PARENT, HOME_ROOT, "q/../par/f", "q/../par/new"},
    {ATTACK_PARENT, HOME_ROOT, "par/../f", "par/../new"},
    {ATTACK_PARENT, HOME_ROOT, "q/par/../f", "q/par/../new"},
    {ATTACK_PARENT, HOME_Q, "par/f", "par/new"},
    {ATTACK_PARENT, HOME_Q, "hop/./f", "hop//new"},
    {ATTACK_PARENT, HOME_Q_PAR, "../par/f", "../par/new"},
    {ATTACK_PARENT, HOME_PAR, "../par/../par/f", "../hop/new"},
    {ATTACK_NAME, HOME_ROOT, "leaf/f", "leaf/new"},
    {ATTACK_NAME, HOME_ROOT, "to-f", "to-new"},
    {ATTACK_NAME, HOME_ROOT, "q/../to-f", "q/../to-new"},
    {ATTACK_NAME, HOME_Q, "../leaf/f", "../leaf/new"},
    {ATTACK_NAME, HOME_LEAF, "f", "new"},
    {ATTACK_NAME, HOME_LEAF, "../to-f", "./new"},
    {ATTACK_INSIDE, HOME_ROOT, "a/deep/b/../../f", "a/deep/b/../../new"},
    {ATTACK_INSIDE, HOME_ROOT, "a/deep/b/up/f", "a/deep/b/up/new"},
    {ATTACK_INSIDE, HOME_ROOT, "a/deep/b/up-f", "a/deep/b/up-new"},
    {ATTACK_INSIDE, HOME_ROOT, "a/deep/b/up/../f", "a/deep/b/up/../new"},
    {ATTACK_INSIDE, HOME_ROOT, "a/deep/b/../b/../../f", "a/deep/b/../b/../../new"},
    {ATTACK_INSIDE, HOME_B1, "../../f", "../../new"},
    {ATTACK_INSIDE, HOME_B1, "up/f", "up/new"},
    {ATTACK_INSIDE, HOME_B2, "up-f", "up-new"},
    {ATTACK_OUT, HOME_ROOT, "a/m/../f", "a/m/../new"},
    {ATTACK_OUT, HOME_ROOT, "a/m/up/f", "a/m/up/new"},
    {ATTACK_OUT, HOME_ROOT, "a/m/up-f", "a/m/up-new"},
    {ATTACK_OUT, HOME_ROOT, "a/m/../m/../../f", "a/m/../m/../../new"},
    {ATTACK_OUT, HOME_A, "m/../f", "m/../new"},
    {ATTACK_OUT, HOME_M1, "../f", "../new"},
    {ATTACK_OUT, HOME_M1, "up/f", "up/new"},
    {ATTACK_OUT, HOME_M2, "up-f", "up-new"},
    {ATTACK_HANDLE, HOME_ROOT, "/proc/self/fd/" TREE_HANDLE "/f",
     "/proc/self/fd/" TREE_HANDLE "/new"},
    {ATTACK_HANDLE, HOME_ROOT, "/dev/fd/" TREE_HANDLE "/f", "/dev/fd/" TREE_HANDLE "/new"},
    {ATTACK_HANDLE, HOME_ROOT, "/proc/thread-self/fd/" TREE_HANDLE "/q/../f",
     "/proc/thread-self/fd/" TREE_HANDLE "/q/../new"},
    {ATTACK_HANDLE, HOME_ROOT, "/proc/self/fd/" TREE_HANDLE "/out/f", NULL},
    {ATTACK_HANDLE, HOME_ROOT, "/proc/self/fd/" TREE_HANDLE, NULL},
};

/* From where the path goes. */
enum from { FROM_TOP, FROM_KNOWN, FROM_DIRECTORY, FROM_CWD, FROMS };
static const char *const from_names[FROMS] = {"/", "known", "dirfd", "cwd"};

/* A call, ready to be made. */
struct call {
    enum op op;
    enum from from;
    const struct form *form;
    char path[PATH_MAX];
    struct aim aim;
    char root_f[PLACE_SIZE + 8];   /* the other name of a rename ... */
    char root_new[PLACE_SIZE + 8]; /* ... whichever it is */
    struct policy_at at;
};

/* --- choosing --------------------------------------------------------------------------------- */

static unsigned random_below(uint64_t *state, unsigned bound)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (unsigned)(*state >> 33) % bound;
}

static const struct form *choose_form(struct victim *victim)
{
    const struct form *form;

    do
        form = &forms[random_below(&victim->random, COUNT(forms))];
    while (form->attack != victim->attack);
    return form;
}

static bool is_of_new(enum op op)
{
    return op == OP_CREATE || op == OP_MKDIR || op == OP_RMDIR || op == OP_RENAME_TO;
}

static enum op choose_op(struct victim *victim, const struct form *form)
{
    enum op op;

    do {
        op = (enum op)random_below(&victim->random, OPS);
        /* In leaf the attackers need something named "new". */
    } while ((victim->attack == ATTACK_NAME && is_of_new(op) && op != OP_CREATE) ||
             (form->new == NULL &&is_of_new(op)));
    return op;
}

/* Only the workspace never moves: of it alone something can be known. */
static enum from choose_from(struct victim *victim, const struct form *form)
{
    enum from first = form->home == HOME_ROOT ? FROM_TOP : FROM_DIRECTORY;

    return first + (enum from)random_below(&victim->random, FROMS - first);
}

static void set_path(const struct tree *tree, struct call *call)
{
    const char *text = is_of_new(call->op) ? call->form->new : call->form->there;
    bool join = call->from == FROM_TOP && text[0] != '/';

    snprintf(call->path, sizeof call->path, "%s%s%s", join ? tree->root : "", join ? "/" : "",
             text);
    if (call->op != OP_LIST)
        return;
    /* The slash stays, and so does a path that is a directory itself. */
    char *slash = strrchr(call->path, '/');
    if (slash == NULL)
        memcpy(call->path, ".", 2);
    else if (strcmp(slash, "/" TREE_HANDLE) != 0)
        slash[1] = '\0';
}

static void set_start(struct victim *victim, struct call *call)
{
    const struct tree *tree = victim->caller.tree;
    const struct policy *policy = victim->caller.scope.policy;
    struct start *start = &call->aim.start;

    *start = (struct start){.fd = tree->homes[call->form->home]};
    if (call->from == FROM_CWD) {
        fchdir(start->fd);
        start->fd = AT_FDCWD;
    } else if (call->from == FROM_KNOWN) {
        start->path = tree->root;
        decide_start(policy, &call->at);
        if (decide_follow(policy, &call->at, tree->root))
            start->at = &call->at;
    }
}

static void choose(struct victim *victim, struct call *call)
{
    const struct tree *tree = victim->caller.tree;

    call->form = choose_form(victim);
    call->op = choose_op(victim, call->form);
    call->from = choose_from(victim, call->form);
    set_path(tree, call);
    set_start(victim, call);
    call->aim.path = call->path;
    snprintf(call->root_f, sizeof call->root_f, "%s/f", tree->root);
    snprintf(call->root_new, sizeof call->root_new, "%s/new", tree->root);
}

/* --- calling ---------------------------------------------------------------------------------- */

/* Whether something outside has been got hold of. A directory above may be had for looking only. A
 * link itself is wrong, too: all these calls follow. */
static void inspect(struct victim *victim, const struct stat *st, bool opened)
{
    const struct tree *tree = victim->caller.tree;

    if (tree_is_outside(tree, st) || (opened && tree_is_above(tree, st)) || S_ISLNK(st->st_mode))
        victim->caller.escaped = true;
}

static int use_descriptor(struct victim *victim, int fd, int flags)
{
    struct stat st;

    if (fd < 0)
        return fd;
    if (fstat(fd, &st) == 0)
        inspect(victim, &st, !(flags & O_PATH));
    if ((flags & O_ACCMODE) != O_RDONLY && write(fd, "written\n", 8) < 0 && errno != EAGAIN)
        perror("write"); /* the pipe gets full */
    close(fd);
    return 0;
}

static int call_open(struct victim *victim, const struct aim *aim, int flags)
{
    /* A pipe that nobody writes to must not hold us up. */
    int fd = victim->manner->open(&victim->caller, aim, flags | O_CLOEXEC | O_NONBLOCK);

    return use_descriptor(victim, fd, flags);
}

static int call_stat(struct victim *victim, const struct aim *aim)
{
    struct stat st;
    int error = victim->manner->stat(&victim->caller, aim, &st);

    if (error == 0)
        inspect(victim, &st, false);
    return error;
}

static int make(struct victim *victim, const struct call *call)
{
    const struct manner *manner = victim->manner;
    struct caller *caller = &victim->caller;
    const struct aim *aim = &call->aim;
    struct aim other = {.start = {.fd = AT_FDCWD}};

    switch (call->op) {
    case OP_READ:
        return call_open(victim, aim, O_RDONLY);
    case OP_WRITE:
        return call_open(victim, aim, O_WRONLY);
    case OP_TRUNCATE:
        return call_open(victim, aim, O_RDWR | O_TRUNC);
    case OP_LIST:
        return call_open(victim, aim, O_RDONLY | O_DIRECTORY);
    case OP_CREATE:
        return call_open(victim, aim, O_WRONLY | O_CREAT);
    case OP_STAT:
        return call_stat(victim, aim);
    case OP_LOOKUP:
        return use_descriptor(victim, manner->lookup(caller, aim), O_PATH);
    case OP_UNLINK:
        return manner->unlink(caller, aim, 0);
    case OP_MKDIR:
        return manner->mkdir(caller, aim);
    case OP_RMDIR:
        return manner->unlink(caller, aim, AT_REMOVEDIR);
    case OP_RENAME_FROM:
        other.path = call->root_new;
        return manner->rename(caller, aim, &other);
    case OP_RENAME_TO:
        other.path = call->root_f;
        return manner->rename(caller, &other, aim);
    case OPS:
    default:
        return -EINVAL;
    }
}

/* A "new" is left for a while: so that it is in the way, and can be removed. */
static void mend(struct victim *victim, enum op op)
{
    const struct tree *tree = victim->caller.tree;

    if (op == OP_UNLINK || op == OP_RENAME_FROM || op == OP_RENAME_TO) {
        tree_mend_files(tree);
        tree_mend_links(tree);
        tree_mend_names(tree);
    }
    if ((is_of_new(op) || op == OP_RENAME_FROM) && random_below(&victim->random, 4) == 0)
        tree_clear_new(tree);
}

void victim_call(struct victim *victim, struct call_result *result)
{
    static struct call call;

    choose(victim, &call);
    victim->caller.escaped = false;
    result->error = make(victim, &call);
    result->escaped = victim->caller.escaped;
    if (result->escaped)
        snprintf(result->text, sizeof result->text, "%s %.200s (%s, home %d)", op_names[call.op],
                 call.path, from_names[call.from], (int)call.form->home);
    if (result->error == 0)
        mend(victim, call.op);
}
