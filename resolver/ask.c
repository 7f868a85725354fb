/* SPDX-License-Identifier: MIT */
#include "ask.h"

#include <errno.h>

/* From an unknown directory a path may lead to where the kernel's text is not to be trusted: below
 * a mount, or outside of the root. Elsewhere it always stays in what can be seen from the root. */
static bool may_ask(const struct view *view, const struct start *start, const char *path)
{
    return view->root == VIEW_SELF && (path[0] == '/' || start->path != NULL || start->at != NULL);
}

/* A file may bear a name that ends as the text of a deleted one does: no matter, it has to walk. */
static bool tell(struct asked *asked)
{
    return os_path_of(asked->fd, asked->text, sizeof asked->text) > 0 && asked->text[0] == '/' &&
           !path_says_deleted(asked->text);
}

int ask(const struct view *view, const struct start *start, const char *path, int flags,
        struct asked *asked)
{
    if (!may_ask(view, start, path))
        return -ELOOP;
    asked->fd = os_open_path(start->fd, path, flags);
    /* What is missing to us below /proc may be there for another. */
    if ((asked->fd == -ENOENT || asked->fd == -ENOTDIR) && !view_is_other(view))
        return asked->fd;
    if (asked->fd < 0)
        return -ELOOP;
    if (tell(asked) && !(view_is_other(view) && path_is_below("/proc", asked->text)))
        return 0;
    os_close(asked->fd);
    return -ELOOP;
}

int ask_parent(const struct view *view, const struct start *start, const char *path,
               struct asked *asked, struct name *leaf)
{
    size_t length;

    if (!path_split(path, &length, leaf) || length == 0 || length >= sizeof asked->text)
        return -ELOOP;
    memcpy(asked->text, path, length);
    asked->text[length] = '\0';
    return ask(view, start, asked->text, O_DIRECTORY, asked);
}
