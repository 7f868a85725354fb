/* SPDX-License-Identifier: MIT */
/*
 * walk.h - where a path leads, step by step, as the kernel would go.
 *
 * A walk holds an O_PATH descriptor of the directory it stands in and the canonical text of that
 * place; what is left of the path, link targets included, is its to-do text. As many components as
 * possible are taken in one plain open; a link is read and put in front of the rest; for ".." the
 * kernel is asked where the parent is, and a text that it gives is verified by opening it from the
 * root and comparing identities. So text and descriptor are true together, and whoever acts on the
 * descriptor acts on what was judged.
 *
 * A walk needs much room and lives in memory of its own (walk_new); no heap, no lock, no errno.
 */
#ifndef CORDON_WALK_H
#define CORDON_WALK_H

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "os.h"
#include "path.h"

struct policy_at;

/* Whose eyes to look with: a process's root directory and what /proc/self means to it. */
struct view {
    int root;                /* descriptor of its root, or VIEW_SELF */
    const char *self;        /* "1234"; NULL: as the kernel tells this process */
    const char *thread_self; /* "1234/task/1235"; NULL: likewise */

    /* Whether a canonical path lies in what is this process's own alone, and none of the other's
     * business: its part of procfs, which the kernel would open to us. NULL: there is no such. */
    bool (*hides)(const char *path);

    /* os_open_magic and os_readlink by who may look into the other process; NULL: everybody may. */
    int (*open_magic)(int dir, const char *name);
    ssize_t (*read_link)(int dir, const char *name, char *target, size_t size);

    /* Called before a walk, if not NULL: fills in the texts that `self` and `thread_self` point
     * to, which most calls do without. */
    void (*prepare)(const struct view *view);
};

/* Whether the view is another process's, to whom names below /proc mean something else. */
static inline bool view_is_other(const struct view *view)
{
    return view->self != NULL || view->thread_self != NULL;
}

#define VIEW_SELF AT_FDCWD

extern const struct view view_self;

/* Where a relative path starts, and what the caller knows about it for sure. */
struct start {
    int fd;                     /* a directory; AT_FDCWD only for view_self */
    const char *path;           /* its canonical text, or NULL: find out */
    const struct policy_at *at; /* where a look-up stands there, or NULL: find out */
};

enum {
    WALK_LINKS = 40,                /* the kernel's limit */
    WALK_TODO_SIZE = 64 * PATH_MAX, /* untouched pages cost nothing */
    WALK_PATH_SIZE = 2 * PATH_MAX,
};

/* What kind of place the walk stands in. */
enum walk_ground {
    GROUND_KNOWN,  /* the text says where */
    GROUND_OBJECT, /* one's own pipe, socket, memfd ...: no place in any tree */
    GROUND_LOST,   /* cannot be told */
};

struct walk {
    const struct view *view;
    int dir;     /* where it stands; after a magic link possibly no directory */
    bool owns;   /* whether dir is to be closed */
    bool single; /* the caller wants to know at which component it ends */
    bool blind;  /* no openat2 here */
    enum walk_ground ground;
    int links;        /* followed so far ... */
    int max_links;    /* ... and allowed */
    struct path path; /* canonical text of dir */
    char *todo;       /* what is left ... */
    char *own;        /* ... of which this part is the caller's text, not a link's */
    struct name leaf; /* after walk_parent: the last component, inside todo; length 0: none */
    bool slash;       /* whether slashes follow it */
    char path_text[WALK_PATH_SIZE];
    char target[PATH_MAX];     /* a link just read, or a text to be verified */
    char root_text[PATH_MAX];  /* scratch for other views */
    char room[WALK_TODO_SIZE]; /* todo grows downwards from its end */
};

/* Begins at the root or at `start`, with `path` to do. -ENOENT for "", -ENAMETOOLONG, -EBADF,
 * -ENOTDIR: as the kernel. walk_free closes what the walk holds. */
int walk_new(struct walk **walk, const struct view *view, const struct start *start,
             const char *path);
void walk_free(struct walk *walk);

/*
 * Goes on until just the last component is left, which may be "." or ".."; if the path names the
 * root, or ended in a magic link, the leaf has length 0 and the walk stands on the object itself.
 */
int walk_parent(struct walk *walk);

/* Whether the leaf is a real name. */
bool walk_has_name(const struct walk *walk);

/* The leaf is known to be a link: puts its target in front of what is left (nothing but perhaps
 * slashes) so that walk_parent can go on. -ELOOP: too many. */
int walk_follow_leaf(struct walk *walk);

/* The leaf is "." or "..": steps onto that directory; then there is no leaf. */
int walk_settle(struct walk *walk);

/* Opens the leaf, which is a name, if it is no link: -ELOOP then. With O_PATH|O_NOFOLLOW and no
 * slash behind it also a link. Any error is the kernel's own for the whole path. */
int walk_open_leaf(struct walk *walk, int flags, mode_t mode);

/* What the leaf, which is a name, is, a link not followed and slashes behind it left aside. */
int walk_identify_leaf(struct walk *walk, struct os_id *id);

/* Goes on, through links if `follow` (or if a slash ends the path), to the object itself; the walk
 * then stands on it and has no leaf. */
int walk_object(struct walk *walk, bool follow);

/* Appends the leaf to the path text. Now the walk's text names the place itself. */
int walk_name_place(struct walk *walk);

/* Gives up the descriptor that the walk stands on: the caller closes it. */
int walk_steal(struct walk *walk);

#endif
