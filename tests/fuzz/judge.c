/* SPDX-License-Identifier: MIT */
#include "judge.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>

static bool has_all(int flags, int wanted)
{
    return (flags & wanted) == wanted;
}

enum last judge_last(const struct call *call)
{
    switch (call->op) {
    case OP_OPEN:
        if ((call->flags & O_NOFOLLOW) ||
            (has_all(call->flags, O_CREAT | O_EXCL) && !(call->flags & O_PATH)))
            return LAST_SEEN;
        return LAST_FOLLOWED;
    case OP_STAT:
    case OP_LOOKUP:
        return call->follow ? LAST_FOLLOWED : LAST_SEEN;
    case OP_MKDIR:
    case OP_UNLINK:
    case OP_RMDIR:
    case OP_RENAME:
    case OPS:
    default:
        return LAST_NAMED;
    }
}

static bool is_below(const char *top, const char *place)
{
    size_t length = strlen(top);

    return strncmp(top, place, length) == 0 && place[length] == '/';
}

bool judge_is_dangerous(const struct trial *trial)
{
    for (int i = 0; i < call_paths(trial->call); i++) {
        const struct found *found = &trial->found[i];
        if (found->error == 0 && !found->object && !is_below(tree_copy(SIDE_B), found->place))
            return true;
    }
    return false;
}

/* --- what the policy says --------------------------------------------------------------------- */

static bool allows_open(const struct trial *trial)
{
    const struct found *found = &trial->found[0];
    int flags = trial->call->flags;
    bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) ||
                  has_all(flags, O_TMPFILE);

    if (flags & O_PATH)
        return rules_allow(trial->rules, found->place, INTENT_STAT);
    if (!writes)
        return rules_allow(trial->rules, found->place, INTENT_READ);
    if ((flags & O_CREAT) && !found->exists &&
        !rules_allow(trial->rules, found->place, INTENT_CREATE))
        return false;
    return rules_allow(trial->rules, found->place, INTENT_WRITE);
}

/* `.`, `..` and `/` are no names: the kernel refuses them by itself. */
static bool allows_name(const struct trial *trial, int which, enum intent intent)
{
    const struct found *found = &trial->found[which];

    return !found->named || rules_allow(trial->rules, found->place, intent);
}

static bool allows_rename(const struct trial *trial)
{
    const struct found *from = &trial->found[0];
    const struct found *to = &trial->found[1];

    return allows_name(trial, 0, INTENT_REMOVE) && allows_name(trial, 1, INTENT_CREATE) &&
           (!from->named || !to->named || rules_allow_move(trial->rules, from->place, to->place));
}

static bool allows(const struct trial *trial)
{
    switch (trial->call->op) {
    case OP_OPEN:
        return allows_open(trial);
    case OP_STAT:
        return rules_allow(trial->rules, trial->found[0].place, INTENT_STAT);
    case OP_LOOKUP:
        return rules_allow(trial->rules, trial->found[0].place, trial->call->intent);
    case OP_MKDIR:
        return allows_name(trial, 0, INTENT_CREATE);
    case OP_UNLINK:
    case OP_RMDIR:
        return allows_name(trial, 0, INTENT_REMOVE);
    case OP_RENAME:
        return allows_rename(trial);
    case OPS:
    default:
        return false;
    }
}

bool judge_denies(const struct trial *trial)
{
    for (int i = 0; i < call_paths(trial->call); i++)
        if (trial->found[i].error != 0)
            return false;
    return !trial->found[0].object && !allows(trial);
}

/* --- comparing -------------------------------------------------------------------------------- */

static bool same_stat(const struct stat *a, const struct stat *b, bool same_file)
{
    if (same_file && (a->st_dev != b->st_dev || a->st_ino != b->st_ino))
        return false;
    return a->st_mode == b->st_mode && a->st_nlink == b->st_nlink && a->st_uid == b->st_uid &&
           (S_ISDIR(a->st_mode) || S_ISLNK(a->st_mode) || a->st_size == b->st_size);
}

/* Compares the kernel's texts for two descriptors, with what differs by design left out: the letter
 * of the copy, and the numbers in "pipe:[1]", "#1 (deleted)". */
static bool same_place(const char *a, const char *b)
{
    size_t letter = strlen(tree_copy(SIDE_A)) - 1;
    bool number = strstr(a, "/#") != NULL || a[0] != '/';
    size_t i = 0;
    size_t j = 0;

    while (a[i] != '\0' && b[j] != '\0') {
        if (number && isdigit((unsigned char)a[i]) && isdigit((unsigned char)b[j])) {
            i += strspn(a + i, "0123456789");
            j += strspn(b + j, "0123456789");
        } else if (a[i] == b[j] || (i == letter && a[i] == 'A' && b[j] == 'B')) {
            i++;
            j++;
        } else {
            return false;
        }
    }
    return a[i] == b[j];
}

/* Without openat2 a link is kept out by O_NOFOLLOW, and a slash is kept by O_DIRECTORY: both stay
 * with the descriptor, and there is no other way. */
static bool same_flags(const struct trial *trial)
{
    int added = trial->blind ? O_NOFOLLOW | O_DIRECTORY : 0;

    return (trial->bare.getfl | added) == (trial->cordon.getfl | added);
}

static const char *compare_success(const struct trial *trial)
{
    const struct outcome *bare = &trial->bare;
    const struct outcome *cordon = &trial->cordon;
    bool changes = call_changes(trial->call);

    if (trial->call->op <= OP_LOOKUP && !same_stat(&bare->st, &cordon->st, !changes))
        return "another file, or another state of it";
    if (!same_place(bare->place, cordon->place))
        return "another place";
    if (trial->call->op == OP_OPEN && !same_flags(trial))
        return "other flags of the descriptor (F_GETFL)";
    if (trial->call->op == OP_OPEN && bare->getfd != cordon->getfd)
        return "other flags of the descriptor (F_GETFD)";
    return NULL;
}

/* Errors that stay what they are where the call would be refused. A path with a file on its way
 * leads nowhere, so what is left of ENOTDIR is about the call: a refusal comes first. A rename
 * meets an error at one end while the other may be what is refused. */
static bool is_of_path(const struct trial *trial, int error)
{
    bool exchange = trial->call->flags & RENAME_EXCHANGE;

    if (trial->call->op == OP_RENAME)
        return error == -ENOENT &&
               (!trial->found[0].exists || (exchange && !trial->found[1].exists));
    return error == -ENOENT || error == -ELOOP || error == -ENAMETOOLONG || error == -EEXIST;
}

/* Whether a path leads by a directory whose own path is longer than the kernel tells. Then nobody
 * can say where that is. */
static bool is_too_deep(const struct trial *trial)
{
    for (int i = 0; i < call_paths(trial->call); i++)
        if (trial->found[i].error == ENAMETOOLONG || strlen(trial->found[i].place) >= PATH_MAX)
            return true;
    return false;
}

/* Whether the reference can be trusted with this path at all. */
static const char *check_reference(const struct trial *trial)
{
    const struct found *found = &trial->found[0];
    bool looks = trial->call->op == OP_STAT || trial->call->op == OP_LOOKUP;

    if (is_too_deep(trial))
        return NULL;
    if (trial->bare.result == 0 && (found->error != 0 || trial->found[1].error != 0))
        return "the reference finds no place where the kernel does";
    if (looks && found->error != 0 && trial->bare.result != -found->error)
        return "the reference finds another error than the kernel";
    if (looks && found->error == 0 && (trial->bare.result == 0) != found->exists)
        return "the reference and the kernel disagree whether it exists";
    return NULL;
}

static const char *judge_refusal(const struct trial *trial)
{
    const struct outcome *cordon = &trial->cordon;
    const char *text = cordon->report;

    if (cordon->result != -EACCES)
        return "not refused";
    if (!cordon->denied)
        return "refused without a report";
    if (text[0] != '\0' && strcmp(text, trial->found[0].place) != 0 &&
        (trial->call->op != OP_RENAME || strcmp(text, trial->found[1].place) != 0))
        return "the report names another place";
    return NULL;
}

static const char *judge_failure(const struct trial *trial)
{
    int error = trial->bare.result;

    if (trial->cordon.result == error && !trial->cordon.denied)
        return NULL;
    if (judge_denies(trial) && !is_of_path(trial, error) && trial->cordon.result == -EACCES)
        return NULL;
    return trial->cordon.result == error ? "reported as refused" : "another error";
}

static const char *judge_answer(const struct trial *trial)
{
    if (is_too_deep(trial) &&
        (trial->cordon.result == -ENAMETOOLONG || trial->cordon.result == -EACCES ||
         (trial->cordon.result == -ENOENT && trial->bare.result == -EXDEV)))
        return NULL;
    if (trial->bare.result < 0)
        return judge_failure(trial);
    if (judge_denies(trial))
        return judge_refusal(trial);
    if (trial->cordon.result != 0)
        return "failed";
    return compare_success(trial);
}

/* The kernel counts links again when it starts a look-up anew because somebody renames something
 * somewhere: then more than twenty may be too many. */
static bool is_miscounted(const struct trial *trial)
{
    for (int i = 0; i < call_paths(trial->call); i++)
        if (trial->bare.result == -ELOOP && trial->found[i].error != ELOOP &&
            trial->found[i].links >= 20)
            return true;
    return false;
}

const char *judge(const struct trial *trial)
{
    const char *wrong = check_reference(trial);
    bool refused = trial->bare.result == 0 &&
                   (judge_denies(trial) || (is_too_deep(trial) && trial->cordon.result < 0));

    if (is_miscounted(trial))
        return NULL;
    if (wrong == NULL)
        wrong = judge_answer(trial);
    if (wrong != NULL)
        return wrong;
    if (trial->cordon.leaks)
        return "a descriptor is left open";
    if (trial->cordon.spoils_errno)
        return "errno is touched";
    if (trial->digest_b != (refused ? trial->digest : trial->digest_a))
        return refused ? "refused, but the tree has changed" : "another effect on the tree";
    return NULL;
}
