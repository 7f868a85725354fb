/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>

#include "ask.h"
#include "os.h"
#include "place_judge.h"

static bool flags_have(int flags, int wanted)
{
    return (flags & wanted) == wanted;
}

static enum intent intent_of(const struct scope *scope, int flags)
{
    if (flags & O_PATH)
        return scope->handles;
    if ((flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) ||
        flags_have(flags, O_TMPFILE))
        return INTENT_WRITE;
    return INTENT_READ;
}

/* Whether the file may be made, if that is asked for. */
static bool may_create(const struct scope *scope, const struct policy_at *at, int flags)
{
    return !(flags & O_CREAT) || decide_here(scope->policy, at, INTENT_CREATE).allowed;
}

static int open_plain(const struct scope *scope, const struct start *start, const char *path,
                      int flags, mode_t mode)
{
    struct plain plain;

    if (!place_follow(scope, start, path, &plain) ||
        !decide_here(scope->policy, &plain.at, intent_of(scope, flags)).allowed ||
        !may_create(scope, &plain.at, flags))
        return -ELOOP;
    return os_open_plain(plain.dir, plain.path, flags, mode);
}

/* Whether an answer for a text that was true a moment ago says that it is true no more, or that
 * the way to it is barred where the path itself had another. */
static bool is_stale(int result)
{
    return result == -ENOENT || result == -ENOTDIR || result == -EACCES;
}

/* A path that leads to what is there: with the kernel's text for that place it is a plain one. */
static int open_asked(const struct scope *scope, const struct start *start, const char *path,
                      int flags, mode_t mode)
{
    struct asked asked;
    struct policy_at at;
    int result = ask(scope->view, start, path, flags & O_DIRECTORY, &asked);

    if (result < 0)
        return result;
    os_close(asked.fd);
    at = place_look_up(scope, asked.text);
    if (!decide_here(scope->policy, &at, intent_of(scope, flags)).allowed)
        return -ELOOP;
    result = os_open_plain(AT_FDCWD, asked.text, flags, mode);
    return is_stale(result) ? -ELOOP : result;
}

/* A path whose last name may be missing, or may not be followed. */
static int open_in_asked(const struct scope *scope, const struct start *start, const char *path,
                         int flags, mode_t mode)
{
    struct asked asked;
    struct policy_at at;
    struct name leaf;
    int result = ask_parent(scope->view, start, path, &asked, &leaf);

    if (result < 0)
        return result;
    at = place_look_up(scope, asked.text);
    decide_step(scope->policy, &at, leaf);
    result = -ELOOP;
    if (leaf.text[leaf.length] == '\0' &&
        decide_here(scope->policy, &at, intent_of(scope, flags)).allowed &&
        may_create(scope, &at, flags))
        result = os_open_plain(asked.fd, leaf.text, flags, mode);
    os_close(asked.fd);
    return result;
}

static int open_by_asking(const struct scope *scope, const struct start *start, const char *path,
                          int flags, mode_t mode)
{
    return flags & (O_CREAT | O_NOFOLLOW) ? open_in_asked(scope, start, path, flags, mode)
                                          : open_asked(scope, start, path, flags, mode);
}

/* Opens the object that the walk stands on. */
static int open_object(const struct scope *scope, struct walk *walk, int flags, mode_t mode,
                       struct report *report)
{
    struct os_id id;
    struct verdict verdict;
    int error = walk_settle(walk);

    if (error < 0)
        return error;
    error = os_identify(walk->dir, "", &id);
    if (error < 0)
        return error;
    if (flags_have(flags, O_CREAT | O_EXCL))
        return -EEXIST;
    if (S_ISLNK(id.mode) &&
        !(flags & (O_PATH | O_DIRECTORY))) /* a descriptor of a link leads no further */
        return -ELOOP;
    verdict = place_judge(scope, walk, intent_of(scope, flags));
    if (!verdict.allowed)
        return place_refuse(place_text(walk), verdict, intent_of(scope, flags), report);
    if (S_ISDIR(id.mode))
        return os_open_here(walk->dir, flags, mode);
    return os_reopen(walk->dir, flags);
}

/* The answer for a leaf that may not be opened so: the kernel's if that is an error anyhow, -ELOOP
 * for a link. The walk's text names the leaf. */
static int refuse_leaf(const struct scope *scope, struct walk *walk, struct verdict verdict,
                       int flags, struct report *report)
{
    struct os_id id;
    int error = walk_identify_leaf(walk, &id);

    if (error == -ENOENT && (flags & O_CREAT) && !place_is_removed(walk->dir))
        return place_refuse(place_text(walk), verdict, INTENT_CREATE, report);
    if (error == -EACCES && verdict.rule != POLICY_NONE)
        return place_refuse(place_text(walk), verdict, intent_of(scope, flags), report);
    if (error < 0)
        return error;
    if (flags_have(flags, O_CREAT | O_EXCL))
        return -EEXIST;
    if (S_ISLNK(id.mode) && (walk->slash || !(flags & O_NOFOLLOW)))
        return -ELOOP;
    if ((walk->slash || (flags & O_DIRECTORY)) && !S_ISDIR(id.mode))
        return -ENOTDIR;
    if (S_ISLNK(id.mode) && !(flags & O_PATH))
        return -ELOOP;
    return place_refuse(place_text(walk), verdict, intent_of(scope, flags), report);
}

/* Opens the leaf where it may be written but not made. The kernel makes no difference between
 * O_CREAT of a directory that is there and of a new one. */
static int open_if_there(struct walk *walk, int flags, mode_t mode)
{
    struct os_id id;
    int fd = (flags & O_EXCL) ? -ENOENT : walk_open_leaf(walk, flags & ~O_CREAT, mode);

    if (fd >= 0 && os_identify(fd, "", &id) == 0 && S_ISDIR(id.mode)) {
        os_close(fd);
        return -EISDIR;
    }
    return fd;
}

/* Judges the leaf and opens it, if it is no link: -ELOOP then. */
static int open_leaf(const struct scope *scope, struct walk *walk, int flags, mode_t mode,
                     struct report *report)
{
    struct policy_at at;
    struct verdict verdict;
    int result = walk_name_place(walk);

    if (result < 0)
        return result;
    at = place_look_up(scope, walk->path.text);
    verdict = place_judge(scope, walk, intent_of(scope, flags));
    if (verdict.allowed) {
        bool creates = may_create(scope, &at, flags);
        result = creates ? walk_open_leaf(walk, flags, mode) : open_if_there(walk, flags, mode);
        if (result == -ENOENT && !creates)
            result = refuse_leaf(scope, walk, decide_here(scope->policy, &at, INTENT_CREATE), flags,
                                 report);
    } else {
        result = refuse_leaf(scope, walk, verdict, flags, report);
    }
    path_pop(&walk->path);
    return result;
}

static int open_by_walk(const struct scope *scope, struct walk *walk, int flags, mode_t mode,
                        struct report *report)
{
    bool follows = !(flags & O_NOFOLLOW) && !flags_have(flags, O_CREAT | O_EXCL);

    for (;;) {
        int result = walk_parent(walk);
        if (result < 0)
            return result;
        if (!walk_has_name(walk))
            return open_object(scope, walk, flags, mode, report);
        if (walk->slash && (flags & O_CREAT))
            return -EISDIR;
        result = open_leaf(scope, walk, flags, mode, report);
        if (result != -ELOOP || !(follows || walk->slash))
            return result;
        result = walk_follow_leaf(walk);
        if (result < 0)
            return result;
    }
}

int place_open(const struct scope *scope, const struct start *start, const char *path, int flags,
               mode_t mode, struct report *report)
{
    struct walk *walk;
    int result;

    if (path == NULL)
        return -EFAULT;
    if (flags & O_PATH) /* makes the kernel ignore the others, so must we */
        flags &= O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    result = open_plain(scope, start, path, flags, mode);
    if (!place_must_walk(result))
        return result;
    if (!os_takes_flags(flags))
        return -EINVAL;
    if (result == -ELOOP)
        result = open_by_asking(scope, start, path, flags, mode);
    if (!place_must_walk(result) && !place_may_be_hidden(result, report))
        return result;
    result = walk_new(&walk, scope->view, start, path);
    if (result < 0)
        return result;
    result = open_by_walk(scope, walk, flags, mode, report);
    walk_free(walk);
    return result;
}
