/* SPDX-License-Identifier: MIT */
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>

#include "ask.h"
#include "os.h"

/* A path taken by its text: what to hand to the kernel, and where the look-up stands then. */
struct plain {
    int dir;
    const char *path;
    struct policy_at at;
};

/* Follows an absolute text from the root, or from home if it lies below that. */
static bool follow_absolute(const struct scope *scope, const char *text, struct policy_at *at)
{
    const struct start *home = scope->home;

    if (home == NULL || home->path[1] == '\0' || !path_is_below(home->path, text)) {
        decide_start(scope->policy, at);
        return decide_follow(scope->policy, at, text);
    }
    *at = *home->at;
    return decide_follow(scope->policy, at, text + strlen(home->path));
}

/* False if the text alone does not say where the path leads. */
static bool follow_text(const struct scope *scope, const struct start *start, const char *path,
                        struct plain *plain)
{
    plain->dir = start->fd;
    plain->path = path;
    if (path[0] == '/' && scope->view->root != VIEW_SELF) {
        plain->dir = scope->view->root;
        plain->path += strspn(path, "/");
        if (plain->path[0] == '\0')
            plain->path = ".";
    }
    if (path[0] == '/')
        return follow_absolute(scope, path, &plain->at);
    if (start->at != NULL)
        plain->at = *start->at;
    else if (start->path == NULL || !follow_absolute(scope, start->path, &plain->at))
        return false;
    return decide_follow(scope->policy, &plain->at, path);
}

/* Whether an answer to a plain call says nothing about the path itself. */
static bool must_walk(int result)
{
    return result == -ELOOP || result == -ENOSYS;
}

static const char *text_of(const struct walk *walk)
{
    if (walk->ground != GROUND_KNOWN)
        return "";
    return walk->path.length == 0 ? "/" : walk->path.text;
}

/* Where the look-up stands at a canonical text. */
static struct policy_at look_up(const struct scope *scope, const char *text)
{
    struct policy_at at;

    follow_absolute(scope, text, &at);
    return at;
}

static struct verdict judge(const struct scope *scope, const struct walk *walk, enum intent intent)
{
    struct policy_at at;

    if (walk->ground != GROUND_KNOWN)
        return (struct verdict){.allowed = walk->ground == GROUND_OBJECT, .rule = POLICY_NONE};
    at = look_up(scope, walk->path.text);
    return decide_here(scope->policy, &at, intent);
}

/* `text`: where the path leads. */
static int refuse(const char *text, struct verdict verdict, enum intent intent,
                  struct report *report)
{
    if (report == NULL)
        return -EACCES;
    report->denied = true;
    report->verdict = verdict;
    report->intent = intent;
    if (report->path != NULL && report->size > 0) {
        size_t length = strnlen(text, report->size - 1);
        memcpy(report->path, text, length);
        report->path[length] = '\0';
    }
    return -EACCES;
}

/* A directory that was removed takes no new name: the kernel says ENOENT, whatever the name. */
static bool is_removed(int dir)
{
    struct os_id id;

    return os_identify(dir, "", &id) == 0 && id.links == 0;
}

/* --- open ------------------------------------------------------------------------------------- */

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

    if (!follow_text(scope, start, path, &plain) ||
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
    at = look_up(scope, asked.text);
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
    at = look_up(scope, asked.text);
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
    verdict = judge(scope, walk, intent_of(scope, flags));
    if (!verdict.allowed)
        return refuse(text_of(walk), verdict, intent_of(scope, flags), report);
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

    if (error == -ENOENT && (flags & O_CREAT) && !is_removed(walk->dir))
        return refuse(text_of(walk), verdict, INTENT_CREATE, report);
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
    return refuse(text_of(walk), verdict, intent_of(scope, flags), report);
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
    at = look_up(scope, walk->path.text);
    verdict = judge(scope, walk, intent_of(scope, flags));
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
    if (!must_walk(result))
        return result;
    if (!os_takes_flags(flags))
        return -EINVAL;
    if (result == -ELOOP)
        result = open_by_asking(scope, start, path, flags, mode);
    if (!must_walk(result))
        return result;
    result = walk_new(&walk, scope->view, start, path);
    if (result < 0)
        return result;
    result = open_by_walk(scope, walk, flags, mode, report);
    walk_free(walk);
    return result;
}

/* --- look-up ---------------------------------------------------------------------------------- */

static int lookup_plain(const struct scope *scope, const struct start *start, const char *path,
                        bool follow, enum intent intent)
{
    struct plain plain;

    if (!follow_text(scope, start, path, &plain) ||
        !decide_here(scope->policy, &plain.at, intent).allowed)
        return -ELOOP;
    return os_open_plain(plain.dir, plain.path, O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW), 0);
}

static int lookup_by_asking(const struct scope *scope, const struct start *start, const char *path,
                            bool follow, enum intent intent, struct report *report)
{
    struct asked asked;
    struct policy_at at;
    struct verdict verdict;
    int result = ask(scope->view, start, path, follow ? 0 : O_NOFOLLOW, &asked);

    if (result < 0)
        return result;
    at = look_up(scope, asked.text);
    verdict = decide_here(scope->policy, &at, intent);
    if (verdict.allowed)
        return asked.fd;
    os_close(asked.fd);
    return refuse(asked.text, verdict, intent, report);
}

static int lookup_by_walk(const struct scope *scope, struct walk *walk, bool follow,
                          enum intent intent, struct report *report)
{
    int error = walk_object(walk, follow);
    struct verdict verdict;

    if (error < 0)
        return error;
    verdict = judge(scope, walk, intent);
    return verdict.allowed ? walk_steal(walk) : refuse(text_of(walk), verdict, intent, report);
}

int place_lookup(const struct scope *scope, const struct start *start, const char *path,
                 bool follow, enum intent intent, struct report *report)
{
    struct walk *walk;
    int result;

    if (path == NULL)
        return -EFAULT;
    result = lookup_plain(scope, start, path, follow, intent);
    if (result == -ELOOP)
        result = lookup_by_asking(scope, start, path, follow, intent, report);
    if (!must_walk(result))
        return result;
    result = walk_new(&walk, scope->view, start, path);
    if (result < 0)
        return result;
    result = lookup_by_walk(scope, walk, follow, intent, report);
    walk_free(walk);
    return result;
}

/* A bare name in a known directory: nothing to go through, and a link shows itself. */
static int stat_name(const struct scope *scope, const struct start *start, const char *name,
                     bool follow, struct stat *st)
{
    struct name whole = {name, strlen(name)};
    struct plain plain;
    int error;

    if (whole.length == 0 || strchr(name, '/') != NULL || name_is_dotdot(whole) ||
        !follow_text(scope, start, name, &plain) ||
        !decide_here(scope->policy, &plain.at, INTENT_STAT).allowed)
        return -ELOOP;
    error = os_fstatat(plain.dir, name, st, AT_SYMLINK_NOFOLLOW);
    return error == 0 && follow && S_ISLNK(st->st_mode) ? -ELOOP : error;
}

int place_stat(const struct scope *scope, const struct start *start, const char *path, bool follow,
               struct stat *st, struct report *report)
{
    int result;

    if (path == NULL)
        return -EFAULT;
    result = stat_name(scope, start, path, follow, st);
    if (!must_walk(result))
        return result;
    int fd = place_lookup(scope, start, path, follow, INTENT_STAT, report);
    if (fd < 0)
        return fd;
    result = os_fstatat(fd, "", st, AT_EMPTY_PATH);
    os_close(fd);
    return result;
}

/* --- parent and name -------------------------------------------------------------------------- */

static enum intent intent_of_use(enum name_use use)
{
    return use == NAME_GONE ? INTENT_REMOVE : INTENT_CREATE;
}

/* A name that is too long is cut to one that still is, so that the kernel gives its own answer. */
static void set_name(struct place *place, struct name name, bool slash)
{
    size_t length = name.length <= NAME_MAX ? name.length : NAME_MAX + 1;

    memcpy(place->name, name.text, length);
    if (slash)
        place->name[length++] = '/';
    place->name[length] = '\0';
}

/* Makes the place that of a name in a directory, if the policy allows it. What is left to fill in
 * is the directory's descriptor. */
static bool admit(const struct scope *scope, const struct policy_at *above, struct name leaf,
                  enum name_use use, struct place *place)
{
    place->above = *above;
    place->at = *above;
    decide_step(scope->policy, &place->at, leaf);
    place->allowed = decide_here(scope->policy, &place->at, intent_of_use(use)).allowed;
    set_name(place, leaf, leaf.text[leaf.length] == '/');
    return place->allowed;
}

static int parent_plain(const struct scope *scope, const struct start *start, const char *path,
                        enum name_use use, struct place *place)
{
    char parent[ASK_TEXT_SIZE];
    struct plain plain;
    struct name leaf;
    size_t length;

    if (!path_split(path, &length, &leaf) || length >= sizeof parent)
        return -ELOOP;
    memcpy(parent, path, length);
    parent[length] = '\0';
    if (!follow_text(scope, start, parent, &plain) || !admit(scope, &plain.at, leaf, use, place))
        return -ELOOP;
    place->owns = length > 0;
    place->dir = plain.dir;
    if (length == 0)
        return 0;
    place->dir = os_open_plain(plain.dir, plain.path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    return place->dir < 0 ? place->dir : 0;
}

static int parent_by_asking(const struct scope *scope, const struct start *start, const char *path,
                            enum name_use use, struct place *place)
{
    struct asked asked;
    struct policy_at above;
    struct name leaf;
    int error = ask_parent(scope->view, start, path, &asked, &leaf);

    if (error < 0)
        return error;
    above = look_up(scope, asked.text);
    if (!admit(scope, &above, leaf, use, place)) {
        os_close(asked.fd);
        return -ELOOP;
    }
    place->dir = asked.fd;
    place->owns = true;
    return 0;
}

/* Where the name is, judged. What is refused is reported, and left to place_answer. */
static int parent_by_walk(const struct scope *scope, struct walk *walk, enum name_use use,
                          struct place *place, struct report *report)
{
    static const struct name root = {"/", 1};
    struct verdict verdict = {.allowed = true};
    int error = walk_parent(walk);

    if (error < 0)
        return error;
    set_name(place, walk->leaf.length > 0 ? walk->leaf : root, walk->slash);
    place->above = look_up(scope, walk->path.text);
    /* What is no name the kernel refuses by itself, whatever is done with it. */
    if (walk_has_name(walk)) {
        error = walk_name_place(walk);
        if (error < 0)
            return error;
        verdict = judge(scope, walk, intent_of_use(use));
    }
    if (!verdict.allowed)
        refuse(text_of(walk), verdict, intent_of_use(use), report);
    place->allowed = verdict.allowed;
    place->at = look_up(scope, walk->path.text);
    place->dir = walk_steal(walk);
    place->owns = true;
    return place->dir < 0 ? place->dir : 0;
}

/* Finds the parent, and judges the name in it. Only errors of the way there are errors here. */
static int find_parent(const struct scope *scope, const struct start *start, const char *path,
                       enum name_use use, struct place *place, struct report *report)
{
    struct walk *walk;
    int result;

    if (path == NULL)
        return -EFAULT;
    result = parent_plain(scope, start, path, use, place);
    if (result == -ELOOP)
        result = parent_by_asking(scope, start, path, use, place);
    if (!must_walk(result))
        return result;
    result = walk_new(&walk, scope->view, start, path);
    if (result < 0)
        return result;
    result = parent_by_walk(scope, walk, use, place, report);
    walk_free(walk);
    return result;
}

/* What the name in the place is, slashes behind it left aside. */
static int identify_name(const struct place *place, struct os_id *id)
{
    char name[sizeof place->name];
    size_t length = strcspn(place->name, "/");

    memcpy(name, place->name, length);
    name[length] = '\0';
    return length == 0 ? -EBUSY : os_identify(place->dir, name, id);
}

/* 0, or the answer for a name that is refused: the kernel's own, if it is an error anyhow. */
static int place_answer(const struct place *place, enum name_use use, struct report *report)
{
    struct os_id id;
    int error = -EACCES;
    int there;

    if (place->allowed)
        return 0;
    there = identify_name(place, &id);
    if (there < 0 && (there != -ENOENT || use == NAME_GONE || is_removed(place->dir)))
        error = there;
    else if (there == 0 && use == NAME_NEW)
        error = -EEXIST;
    if (error != -EACCES && report != NULL)
        report->denied = false;
    return error;
}

int place_parent(const struct scope *scope, const struct start *start, const char *path,
                 enum name_use use, struct place *place, struct report *report)
{
    int error = find_parent(scope, start, path, use, place, report);

    if (error < 0)
        return error;
    error = place_answer(place, use, report);
    if (error < 0)
        place_release(place);
    return error;
}

void place_release(struct place *place)
{
    if (place->owns)
        os_close(place->dir);
    place->owns = false;
}

/* --- rename ----------------------------------------------------------------------------------- */

/* A directory takes all that lies below it along. What is a file now may be a directory when the
 * kernel comes to rename it, so files have to keep to this as well. */
static bool may_move(const struct scope *scope, const struct place *from, const struct place *to,
                     struct report *report)
{
    struct verdict verdict = decide_move(scope->policy, &from->at, &to->at);

    if (!verdict.allowed)
        refuse("", verdict, INTENT_REMOVE, report);
    return verdict.allowed;
}

static bool is_name(const struct place *place)
{
    struct name name = {place->name, strcspn(place->name, "/")};

    return name.length > 0 && !name_is_dot(name) && !name_is_dotdot(name);
}

/* The answer where one of the names is refused: the kernel's own, if it is an error anyhow. */
static int refuse_rename(const struct place *from, const struct place *to, bool exchange)
{
    struct os_id id;
    int error = identify_name(from, &id);

    if (error < 0)
        return error;
    error = identify_name(to, &id);
    if (error == -ENOENT && !exchange && !is_removed(to->dir))
        error = 0;
    return error == 0 ? -EACCES : error;
}

static int rename_places(const struct scope *scope, const struct place *from,
                         const struct place *to, unsigned flags, struct report *report)
{
    bool exchange = flags & RENAME_EXCHANGE;

    /* What is no name the kernel refuses by itself. */
    if (is_name(from) && is_name(to) &&
        (!from->allowed || !to->allowed || !may_move(scope, from, to, report)))
        return refuse_rename(from, to, exchange);
    return os_renameat(from->dir, from->name, to->dir, to->name, flags);
}

/* Whether two paths have the same text but for their last names. */
static bool share_parent(const struct start *old_start, const char *old_path,
                         const struct start *new_start, const char *new_path)
{
    struct name leaf;
    size_t old_length;
    size_t new_length;

    return new_path != NULL && path_split(old_path, &old_length, &leaf) &&
           path_split(new_path, &new_length, &leaf) && old_length == new_length &&
           memcmp(old_path, new_path, old_length) == 0 &&
           (new_path[0] == '/' || old_start->fd == new_start->fd);
}

/* The place of another name beside the one in `from`. False if it is refused. */
static bool find_beside(const struct scope *scope, const struct place *from, const char *path,
                        enum name_use use, struct place *to)
{
    struct name leaf;
    size_t length;

    if (!from->allowed || !path_split(path, &length, &leaf) ||
        !admit(scope, &from->above, leaf, use, to))
        return false;
    to->dir = from->dir;
    to->owns = false;
    return true;
}

int place_rename(const struct scope *scope, const struct start *old_start, const char *old_path,
                 const struct start *new_start, const char *new_path, unsigned flags,
                 struct report *report)
{
    enum name_use use = (flags & RENAME_EXCHANGE) ? NAME_GONE : NAME_REPLACED;
    struct place from;
    struct place to;
    int error;

    if (!os_renames_with(flags))
        return -EINVAL;
    error = find_parent(scope, old_start, old_path, NAME_GONE, &from, report);
    if (error < 0)
        return error;
    /* The usual rename is that of x.tmp to x. Of two refusals the first is reported. */
    if (!share_parent(old_start, old_path, new_start, new_path) ||
        !find_beside(scope, &from, new_path, use, &to))
        error = find_parent(scope, new_start, new_path, use, &to, from.allowed ? report : NULL);
    if (error == 0) {
        error = rename_places(scope, &from, &to, flags, report);
        place_release(&to);
    }
    place_release(&from);
    /* A refusal of one end is none of the call, if the kernel had another answer for the whole. */
    if (error != -EACCES && report != NULL)
        report->denied = false;
    return error;
}
