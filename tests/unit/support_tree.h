/* SPDX-License-Identifier: MIT */
/*
 * support_tree.h - small trees of files to try paths on.
 *
 * A tree lies in a directory of its own:
 *
 *     base/ROOT           the workspace, with what the specification names
 *     base/ROOT-evil/s    a neighbour with the same prefix
 *     base/OUT/secret     outside
 *
 * A specification is a list with "; " in between: `a/b/f` is a file, `d/` a directory, `l => t` a
 * link, `l1..l9 => t` a chain of links of which the last leads to t. Directories on the way are
 * made.
 *
 * All functions end the program, saying why, if the system does not let them do their work: then
 * there is nothing to test with.
 */
#ifndef SUPPORT_TREE_H
#define SUPPORT_TREE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum { TREE_TEXT = PATH_MAX };

struct tree {
    char base[TREE_TEXT]; /* canonical */
    char root[TREE_TEXT];
};

/* In $TMPDIR or /tmp. */
void tree_make(struct tree *tree, const char *specification);
void tree_remove(struct tree *tree);

/* `text` with $ABS and $OUT put in, and `{x*3}` spelled out as xxx. The caller frees it. */
char *tree_expand(const struct tree *tree, const char *text);

/*
 * All that is there as text, one line for each file: name, kind, mode, owner, target or contents.
 * It is the same for two trees of one specification. Without `inside` the lines below ROOT are left
 * out. The caller frees it.
 */
char *tree_describe(const struct tree *tree, bool inside);

/* Files with this modification time are described as touched. */
enum { TREE_TOUCHED = 1000000000 };

/*
 * Where a canonical path lies, in the words of the vectors: `ok f`, `ok .` below or at ROOT, else
 * `ESC /OUT/new`, cut off at base if it is below that. The number of a file without a name becomes
 * N, as in `ok d/#N (deleted)`.
 */
void tree_tell(const struct tree *tree, const char *canonical, char *text, size_t size);

/* tree_tell of what a descriptor stands for. */
void tree_tell_fd(const struct tree *tree, int fd, char *text, size_t size);

#endif
