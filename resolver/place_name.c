/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>

#include "ask.h"
#include "os.h"
#include "place_judge.h"

static enum intent intent_of_use(enum name_use use)
{
    if (use == NAME_BOUND)
        return INTENT_BIND;
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
    if (!place_follow(scope, start, parent, &plain) || !admit(scope, &plain.at, leaf, use, place))
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
    above = place_look_up(scope, asked.text);
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
    place->above = place_look_up(scope, walk->path.text);
    /* What is no name the kernel refuses by itself, whatever is done with it. */
    if (walk_has_name(walk)) {
        error = walk_name_place(walk);
        if (error < 0)
            return error;
        verdict = place_judge(scope, walk, intent_of_use(use));
    }
    if (!verdict.allowed)
        place_refuse(place_text(walk), verdict, intent_of_use(use), report);
    place->allowed = verdict.allowed;
    place->at = place_look_up(scope, walk->path.text);
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
    if (!place_must_walk(result))
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
    if (there < 0 && (there != -ENOENT || use == NAME_GONE || place_is_removed(place->dir)))
        error = there;
    else if (there == 0 && (use == NAME_NEW || use == NAME_BOUND))
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
        place_refuse("", verdict, INTENT_REMOVE, report);
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
    if (error == -ENOENT && !exchange && !place_is_removed(to->dir))
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
        if (report != NULL)
            report->second = from.allowed && !to.allowed;
        error = rename_places(scope, &from, &to, flags, report);
        place_release(&to);
    }
    place_release(&from);
    /* A refusal of one end is none of the call, if the kernel had another answer for the whole. */
    if (error != -EACCES && report != NULL)
        report->denied = false;
    return error;
}
