/* SPDX-License-Identifier: MIT */
/*
 * support_wall.h - deeds (support_acts.h) in front of a wall and behind it.
 *
 * A deed is done by this very program, started anew behind the wall from a copy beside the tree, so
 * that what is inherited over exec is what counts. main of a test that uses it begins with
 * wall_main.
 */
#ifndef SUPPORT_WALL_H
#define SUPPORT_WALL_H

#include <sys/types.h>

#include "backend.h"
#include "support_tree.h"

/* Does what this program was started for, if that is not to test. */
void wall_main(int argc, char **argv);

/* The tree of a scene, which belongs to that user, with sockets that listen and a victim. */
struct wall {
    struct tree tree;
    char out[TREE_TEXT];
    char self[TREE_TEXT]; /* the copy */
    uid_t user;
    pid_t victim;
    int port;
};

void wall_build(struct wall *wall, uid_t user);
void wall_remove(struct wall *wall);

/* All that could be changed from inside though it should not, as text; the caller frees it. */
char *wall_outside(const struct wall *wall);

/* An image for the wall's tree: what every program needs, and rules as in policy_fixture.h, where
 * $ABS is the workspace and $OUT what lies outside. The caller frees it. */
struct image *wall_image(const struct wall *wall, const char *backend, const char *rules,
                         enum image_net net);

/* Does the deed as the wall's user: errno or 0, or 125 if the wall could not be built. Without an
 * image there is none. */
int wall_try(const struct wall *wall, const struct image *image, const char *act);

/* Runs any command so: its exit status, 125 likewise, or a signal as its negative number. */
int wall_run(const struct wall *wall, const struct image *image, const char *const words[]);

/* In a child: becomes the command, behind the wall; returns if that cannot be. */
void wall_exec(const struct wall *wall, const struct image *image, const char *const words[]);

/* Answers what makes namespaces, or Landlock, with an error from now on, in this process and all
 * that it starts. */
void forbid_namespaces(void);
void forbid_landlock(void);

/* Why a test that needs them cannot be run here, or NULL. */
const char *lacks_landlock(void);
const char *lacks_bwrap(void);
const char *lacks_any(void);

#endif
