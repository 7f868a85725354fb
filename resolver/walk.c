/* SPDX-License-Identifier: MIT */
#include "walk.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "os.h"

const struct view view_self = {.root = VIEW_SELF};

static const int to_directory = O_PATH | O_DIRECTORY | O_CLOEXEC;

/* Moves the walk onto `dir`. */
static void stand_on(struct walk *walk, int dir, bool owns)
{
    if (walk->owns)
        os_close(walk->dir);
    walk->dir = dir;
    walk->owns = owns;
}

void walk_free(struct walk *walk)
{
    stand_on(walk, -1, false);
    os_unmap(walk, sizeof *walk);
}

int walk_steal(struct walk *walk)
{
    int dir = walk->owns ? walk->dir : os_dup(walk->dir);

    walk->owns = false;
    return dir;
}

/* Ends the text after `name`, which lies in walk->todo; returns what to put back. */
static char cut_after(struct walk *walk, struct name name)
{
    char *end = walk->todo + (name.text - walk->todo) + name.length;
    char cut = *end;

    *end = '\0';
    return cut;
}

static void mend_after(struct walk *walk, struct name name, char cut)
{
    walk->todo[(size_t)(name.text - walk->todo) + name.length] = cut;
}

static int go_to_root(struct walk *walk)
{
    if (walk->view->root == VIEW_SELF) {
        int root = os_open_name(AT_FDCWD, "/", to_directory, 0);
        if (root < 0)
            return root;
        stand_on(walk, root, true);
    } else {
        stand_on(walk, walk->view->root, false);
    }
    walk->ground = GROUND_KNOWN;
    return path_set(&walk->path, "/");
}

/* Opens a canonical text, which must not meet a link, from the view's root. */
static int open_from_root(const struct walk *walk, const char *text)
{
    const int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
    bool self = walk->view->root == VIEW_SELF;
    const char *relative = text[1] == '\0' ? "." : text + 1;

    return self ? os_open_plain(AT_FDCWD, text, flags, 0)
                : os_open_plain(walk->view->root, relative, flags, 0);
}

/* The same without openat2, one name after the other. Cuts `text` up. */
static int open_from_root_by_names(const struct walk *walk, char *text)
{
    bool self = walk->view->root == VIEW_SELF;
    int fd = os_open_name(self ? AT_FDCWD : walk->view->root, self ? "/" : ".", to_directory, 0);

    while (fd >= 0 && *text == '/' && text[1] != '\0') {
        char *name = ++text;
        text += strcspn(text, "/");
        char cut = *text;
        *text = '\0';
        int next = os_open_name(fd, name, O_PATH | O_CLOEXEC | (cut ? O_DIRECTORY : 0), 0);
        *text = cut;
        os_close(fd);
        fd = next;
    }
    return fd;
}

static bool same_file(const struct os_id *a, const struct os_id *b)
{
    return a->dev == b->dev && a->ino == b->ino && a->mount == b->mount;
}

/* Whether the canonical text in walk->target leads to `id`. */
static bool verify(struct walk *walk, const struct os_id *id)
{
    struct os_id there;
    int fd = open_from_root(walk, walk->target);

    if (fd == -ENOSYS)
        fd = open_from_root_by_names(walk, walk->target);
    if (fd < 0)
        return false;
    int error = os_identify(fd, "", &there);
    os_close(fd);
    return error == 0 && same_file(id, &there);
}

/* Turns a text of this process's own root, in walk->target, into one of the view's root. */
static int see_from_root(struct walk *walk)
{
    ssize_t length;

    if (walk->view->root == VIEW_SELF)
        return 0;
    length = os_path_of(walk->view->root, walk->root_text, sizeof walk->root_text);
    if (length < 0)
        return (int)length;
    if (!path_is_below(walk->root_text, walk->target))
        return -EXDEV;
    if (strcmp(walk->root_text, "/") != 0)
        memmove(walk->target, walk->target + length, strlen(walk->target + length) + 1);
    if (walk->target[0] == '\0')
        strcpy(walk->target, "/");
    return 0;
}

/* Puts the kernel's text for where `fd` is into walk->target. */
static int ask_where(struct walk *walk, int fd)
{
    ssize_t length = os_path_of(fd, walk->target, sizeof walk->target);

    return length < 0 ? (int)length : see_from_root(walk);
}

/* Whether the walk is in the view's own part of procfs. */
static bool in_own_proc(const struct walk *walk)
{
    char pid[32];
    const char *self = walk->view->self;
    const char *path = walk->path.text;

    if (self == NULL && os_proc_self(pid, sizeof pid) > 0)
        self = pid;
    return self != NULL && strncmp(path, "/proc/", 6) == 0 &&
           strncmp(path + 6, self, strlen(self)) == 0 && path[6 + strlen(self)] == '/';
}

/* A deleted file counts as where it was. False if the text is not one of a deleted file with a
 * place: a memfd never had one. */
static bool take_deleted_text(struct walk *walk)
{
    if (!path_says_deleted(walk->target) || strncmp(walk->target, "/memfd:", 7) == 0)
        return false;
    walk->target[strlen(walk->target) - strlen(" (deleted)")] = '\0';
    return path_is_canonical(walk->target);
}

/* Whether a deleted file may have been where the text in walk->target says: then the nearest
 * directory that still is there lies on the same mount. Cuts the text up. */
static bool verify_deleted(struct walk *walk, const struct os_id *id)
{
    struct path above = {
        .text = walk->target, .size = sizeof walk->target, .length = strlen(walk->target)};
    struct os_id there;
    int fd = -ENOENT;

    while (fd == -ENOENT && above.length > 0) {
        path_pop(&above);
        char *text = above.length == 0 ? strcpy(walk->root_text, "/") : walk->target;
        fd = open_from_root(walk, text);
        if (fd == -ENOSYS)
            fd = open_from_root_by_names(walk, text);
    }
    if (fd < 0)
        return false;
    int error = os_identify(fd, "", &there);
    os_close(fd);
    return error == 0 && there.dev == id->dev && there.mount == id->mount;
}

/* Finds out whether the text in walk->target is true of `fd`, and makes it the walk's path. `own`:
 * a thing without a place may be used, since this process has it open anyway. */
static void locate(struct walk *walk, int fd, bool own)
{
    struct os_id id;
    bool placeless = walk->target[0] != '/';
    bool sound = false;

    walk->ground = GROUND_LOST;
    if (os_identify(fd, "", &id) < 0)
        return;
    /* Anybody may give a file such a name, but it would have a link. */
    if (id.links == 0 && strncmp(walk->target, "/memfd:", 7) == 0)
        placeless = true;
    if (id.links == 0 && take_deleted_text(walk))
        sound = path_set(&walk->path, walk->target) == 0 && verify_deleted(walk, &id);
    else if (path_is_canonical(walk->target))
        sound = verify(walk, &id) && path_set(&walk->path, walk->target) == 0;
    if (sound)
        walk->ground = GROUND_KNOWN;
    else if (own && placeless)
        walk->ground = GROUND_OBJECT;
}

/* Stands on the start of a relative path, with a descriptor of its own: the program's other threads
 * may change directory, or what the number means, at any time. */
static int go_to_start(struct walk *walk, const struct start *start)
{
    struct os_id id;
    int fd =
        start->fd == AT_FDCWD ? os_open_name(AT_FDCWD, ".", to_directory, 0) : os_dup(start->fd);

    if (fd < 0)
        return fd;
    stand_on(walk, fd, true);
    if (os_identify(fd, "", &id) == 0 && !S_ISDIR(id.mode))
        return -ENOTDIR;
    walk->ground = GROUND_KNOWN;
    if (start->path != NULL)
        return path_set(&walk->path, start->path);
    if (ask_where(walk, fd) == 0 ||
        (start->fd == AT_FDCWD && os_cwd(walk->target, sizeof walk->target) >= 0))
        locate(walk, fd, false);
    else
        walk->ground = GROUND_LOST;
    return 0;
}

/* Puts `text` in front of what is left. */
static int put_in_front(struct walk *walk, const char *text, size_t length)
{
    if ((size_t)(walk->todo - walk->room) < length)
        return -ENAMETOOLONG;
    walk->todo -= length;
    memcpy(walk->todo, text, length);
    return 0;
}

static int begin(struct walk *walk, const struct start *start, const char *path)
{
    size_t length = strnlen(path, PATH_MAX);

    if (length == 0)
        return -ENOENT;
    if (length == PATH_MAX)
        return -ENAMETOOLONG;
    walk->todo = walk->room + sizeof walk->room - 1; /* zeroed: the terminator */
    put_in_front(walk, path, length);
    walk->own = walk->todo;
    return path[0] == '/' ? go_to_root(walk) : go_to_start(walk, start);
}

int walk_new(struct walk **walk, const struct view *view, const struct start *start,
             const char *path)
{
    struct walk *new;
    void *memory;
    int error = os_map(sizeof *new, &memory);

    if (error < 0)
        return error;
    if (view->prepare != NULL)
        view->prepare(view);
    new = memory;
    new->view = view;
    new->max_links = WALK_LINKS;
    new->path = (struct path){.text = new->path_text, .size = sizeof new->path_text};
    error = begin(new, start, path);
    if (error < 0)
        walk_free(new);
    else
        *walk = new;
    return error;
}

/* ".." from where the walk stands. The parent may not be the one by which the walk came. */
static int go_up(struct walk *walk)
{
    int fd;

    if (walk->ground == GROUND_KNOWN && walk->path.length == 0)
        return 0;
    fd = os_open_name(walk->dir, "..", to_directory, 0);
    if (fd < 0)
        return fd;
    stand_on(walk, fd, true);
    path_pop(&walk->path);
    const char *expected = walk->path.length == 0 ? "/" : walk->path.text;
    int error = ask_where(walk, fd);
    if (error == 0 && walk->ground == GROUND_KNOWN && strcmp(walk->target, expected) == 0)
        return 0;
    walk->ground = GROUND_LOST;
    if (error < 0) { /* no procfs here: at least what is expected can be checked */
        if (strlen(expected) >= sizeof walk->target)
            return 0;
        strcpy(walk->target, expected);
    }
    locate(walk, fd, false);
    return 0;
}

/* In a directory like /tmp the kernel does not follow everybody's links (protected_symlinks). It
 * says so when it is asked to follow this one. */
static int ask_sticky(const struct walk *walk, const char *link)
{
    const mode_t shared = S_ISVTX | S_IWOTH;
    struct os_id id;
    int fd;

    if (os_identify(walk->dir, "", &id) < 0 || (id.mode & shared) != shared)
        return 0;
    fd = os_open_magic(walk->dir, link);
    if (fd >= 0)
        os_close(fd);
    return fd == -EACCES ? -EACCES : 0;
}

/* What /proc/self and /proc/thread-self mean in another process's view. */
static const char *self_link(const struct walk *walk, const char *link)
{
    if (strcmp(link, "self") == 0)
        return walk->view->self;
    if (strcmp(link, "thread-self") == 0)
        return walk->view->thread_self;
    return NULL;
}

/* A link on procfs whose text is a path of the kernel's making, or no path: "pipe:[1]". */
static bool is_magic(const char *target)
{
    return target[0] == '/' || strchr(target, ':') != NULL;
}

static int open_magic(const struct walk *walk, const char *link)
{
    return walk->view->open_magic != NULL ? walk->view->open_magic(walk->dir, link)
                                          : os_open_magic(walk->dir, link);
}

/* Steps onto what a magic link leads to. The link's own text is out of date by then: another thread
 * may have given the number to something else. So the kernel is asked about what was opened. */
static int enter_magic(struct walk *walk, const char *link)
{
    bool own = in_own_proc(walk);
    bool hidden = walk->view->hides != NULL && walk->view->hides(walk->path.text);
    int fd = hidden ? -EACCES : open_magic(walk, link);
    struct os_id id = {.mode = S_IFDIR};
    ssize_t length;

    if (fd < 0)
        return fd;
    stand_on(walk, fd, true);
    if (!path_ends(walk->todo) && os_identify(fd, "", &id) == 0 && !S_ISDIR(id.mode))
        return -ENOTDIR;
    length = os_path_of(fd, walk->target, sizeof walk->target);
    if (length < 0 || (walk->target[0] == '/' && see_from_root(walk) < 0))
        walk->ground = GROUND_LOST;
    else
        locate(walk, fd, own);
    return 0;
}

/* Reads the link into walk->target, terminated. 0: it is a link no more. */
static ssize_t read_target(struct walk *walk, const char *link)
{
    const struct view *view = walk->view;
    ssize_t length = view->read_link != NULL
                         ? view->read_link(walk->dir, link, walk->target, sizeof walk->target)
                         : os_readlink(walk->dir, link, walk->target, sizeof walk->target);

    if (length == -EINVAL)
        return 0;
    if (length == (ssize_t)sizeof walk->target)
        return -ENAMETOOLONG;
    if (length > 0)
        walk->target[length] = '\0';
    return length == 0 ? -ENOENT : length;
}

/* Follows the link of that name in the current directory; `rest` comes after it. */
static int follow(struct walk *walk, const char *link, char *rest)
{
    ssize_t length;
    int kind = os_links_of(walk->dir);

    if (kind < 0)
        return kind;
    if (walk->links++ >= walk->max_links || kind == OS_LINKS_NEVER)
        return -ELOOP;
    length = read_target(walk, link);
    if (length <= 0)
        return (int)length;
    int error = ask_sticky(walk, link);
    if (error < 0)
        return error;
    walk->todo = rest;
    if (walk->own < rest)
        walk->own = rest;
    if (kind == OS_LINKS_MAGIC) {
        const char *self = self_link(walk, link);
        if (self != NULL)
            return put_in_front(walk, self, strlen(self));
        if (is_magic(walk->target))
            return enter_magic(walk, link);
    }
    error = put_in_front(walk, walk->target, (size_t)length);
    return error == 0 && walk->target[0] == '/' ? go_to_root(walk) : error;
}

static int follow_name(struct walk *walk, struct name name)
{
    char *link = walk->todo + (name.text - walk->todo);
    char copy[NAME_MAX + 1];

    if (name.length > NAME_MAX)
        return -ENAMETOOLONG;
    memcpy(copy, link, name.length);
    copy[name.length] = '\0';
    return follow(walk, copy, link + name.length);
}

/* Without openat2: opens the one name that the text at walk->todo is cut to. */
static int open_step(struct walk *walk)
{
    struct os_id id;
    int fd = os_open_name(walk->dir, walk->todo, O_PATH | O_CLOEXEC, 0);

    if (fd < 0)
        return fd;
    int error = os_identify(fd, "", &id);
    if (error == 0 && S_ISLNK(id.mode))
        error = -ELOOP;
    else if (error == 0 && !S_ISDIR(id.mode))
        error = -ENOTDIR;
    if (error < 0) {
        os_close(fd);
        return error;
    }
    return fd;
}

static int open_chunk(struct walk *walk)
{
    int fd = walk->blind ? -ENOSYS : os_open_plain(walk->dir, walk->todo, to_directory, 0);

    if (fd != -ENOSYS)
        return fd;
    if (!walk->blind) {
        walk->blind = true;
        return -ELOOP; /* try again, with one name */
    }
    return open_step(walk);
}

/* How many components lie before the last one and before any "..". */
static size_t count_steps(const char *todo)
{
    struct name name;
    size_t steps = 0;

    while (path_next(&todo, &name) && !path_ends(todo) && !name_is_dotdot(name))
        steps++;
    return steps;
}

/* The last of the first `steps` components. */
static struct name nth_name(const char *todo, size_t steps)
{
    struct name name = {todo, 0};

    while (steps-- > 0)
        path_next(&todo, &name);
    return name;
}

/* Takes as many directories as are plain, or follows the link that stands first. */
static int go_down(struct walk *walk)
{
    size_t steps = walk->single || walk->blind ? 1 : count_steps(walk->todo);

    for (;;) {
        struct name last = nth_name(walk->todo, steps);
        bool was_blind = walk->blind;
        char cut = cut_after(walk, last);
        int fd = open_chunk(walk);
        int error = fd >= 0 ? path_append_clean(&walk->path, walk->todo) : 0;
        mend_after(walk, last, cut);

        if (fd >= 0) {
            stand_on(walk, fd, true);
            walk->todo += (last.text - walk->todo) + (ptrdiff_t)last.length;
            return error;
        }
        if (fd != -ELOOP)
            return fd;
        if (walk->blind != was_blind)
            steps = 1;
        else if (steps == 1)
            return follow_name(walk, last);
        else
            steps /= 2;
    }
}

int walk_parent(struct walk *walk)
{
    for (;;) {
        const char *rest = walk->todo;
        struct name name;
        int error = 0;

        if (!path_next(&rest, &name) || path_ends(rest)) {
            walk->leaf = name;
            walk->slash = name.length > 0 ? *rest == '/' : *walk->todo == '/';
            return 0;
        }
        walk->todo += name.text - walk->todo;
        if (name_is_dotdot(name))
            error = go_up(walk);
        if (name_is_dot(name) || name_is_dotdot(name))
            walk->todo += name.length;
        else
            error = go_down(walk);
        if (error < 0)
            return error;
    }
}

bool walk_has_name(const struct walk *walk)
{
    return walk->leaf.length > 0 && !name_is_dot(walk->leaf) && !name_is_dotdot(walk->leaf);
}

int walk_follow_leaf(struct walk *walk)
{
    return follow_name(walk, walk->leaf);
}

int walk_settle(struct walk *walk)
{
    struct os_id id;
    bool up = name_is_dotdot(walk->leaf);

    walk->slash = walk->slash || walk->leaf.length > 0;
    walk->leaf.length = 0;
    if (up)
        return go_up(walk);
    if (!walk->slash)
        return 0;
    int error = os_identify(walk->dir, "", &id);
    return error == 0 && !S_ISDIR(id.mode) ? -ENOTDIR : error;
}

int walk_name_place(struct walk *walk)
{
    return walk_has_name(walk) ? path_push(&walk->path, walk->leaf) : 0;
}

/* Without openat2, which refuses links by itself: look first where O_NOFOLLOW is not enough. With
 * O_CREAT, a link in a directory like /tmp may give -EACCES instead of -ELOOP. */
static bool must_look(const struct walk *walk, int flags)
{
    bool makes = (flags & (O_CREAT | O_EXCL)) == O_CREAT;

    return walk->slash || (!(flags & O_NOFOLLOW) && (makes || (flags & (O_DIRECTORY | O_PATH))));
}

static int open_name_blind(const struct walk *walk, const char *name, int flags, mode_t mode)
{
    struct os_id id;

    if (walk->slash && (flags & O_CREAT))
        return -EISDIR;
    if (must_look(walk, flags)) {
        int error = os_identify(walk->dir, name, &id);
        if (error < 0 && !(error == -ENOENT && (flags & O_CREAT)))
            return error;
        if (error == 0 && S_ISLNK(id.mode))
            return -ELOOP;
        if (error == 0 && walk->slash && !S_ISDIR(id.mode))
            return -ENOTDIR;
    }
    return os_open_name(walk->dir, name, walk->slash ? flags | O_DIRECTORY : flags, mode);
}

/* An O_PATH descriptor of what turned into a link at the last moment is not what was asked for. */
static int refuse_link(int fd, int flags)
{
    struct os_id id;

    if (fd < 0 || !(flags & O_PATH) || (flags & O_NOFOLLOW))
        return fd;
    if (os_identify(fd, "", &id) == 0 && !S_ISLNK(id.mode))
        return fd;
    os_close(fd);
    return -ELOOP;
}

int walk_open_leaf(struct walk *walk, int flags, mode_t mode)
{
    int fd = walk->blind ? -ENOSYS : os_open_plain(walk->dir, walk->leaf.text, flags, mode);

    if (fd != -ENOSYS)
        return fd;
    char cut = cut_after(walk, walk->leaf);
    fd = open_name_blind(walk, walk->leaf.text, flags, mode);
    mend_after(walk, walk->leaf, cut);
    return refuse_link(fd, flags);
}

int walk_identify_leaf(struct walk *walk, struct os_id *id)
{
    char cut = cut_after(walk, walk->leaf);
    int error = os_identify(walk->dir, walk->leaf.text, id);

    mend_after(walk, walk->leaf, cut);
    return error;
}

int walk_object(struct walk *walk, bool follow_last)
{
    for (;;) {
        int error = walk_parent(walk);
        if (error < 0)
            return error;
        if (!walk_has_name(walk))
            return walk_settle(walk);
        bool follows = follow_last || walk->slash;
        int fd = walk_open_leaf(walk, O_PATH | O_CLOEXEC | (follows ? 0 : O_NOFOLLOW), 0);
        if (fd >= 0) {
            stand_on(walk, fd, true);
            error = walk_name_place(walk);
            walk->leaf.length = 0;
            return error;
        }
        error = fd == -ELOOP && follows ? walk_follow_leaf(walk) : fd;
        if (error < 0)
            return error;
    }
}
