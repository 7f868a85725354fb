/* SPDX-License-Identifier: MIT */
/*
 * session.h - what a run is going to be, worked out from the options and the surroundings before
 * anything is started: the policy, the image that carries it, and the wall.
 */
#ifndef CORDON_SESSION_H
#define CORDON_SESSION_H

#include <limits.h>
#include <stdbool.h>

#include "backend.h"
#include "options.h"

struct session {
    const struct options *options;
    char root[PATH_MAX]; /* all canonical; "" if there is no such thing */
    char home[PATH_MAX];
    char command[PATH_MAX]; /* this program */
    char shim[PATH_MAX];
    char preload[PATH_MAX];    /* the shim by a name that LD_PRELOAD can carry */
    char tmp[PATH_MAX];        /* does not exist yet, if it is private */
    char cache[PATH_MAX];      /* for the caches of tools */
    char cache_home[PATH_MAX]; /* where it is to be kept, if it is temporary */
    char log[PATH_MAX];
    struct policy *policy;
    struct image *image;
    const struct backend *backend; /* NULL until one is chosen */
    enum image_supervise supervise;
    char unsupervised[256]; /* why there is no supervisor, if one was wanted; else "" */
};

/* Works out all but the wall, and goes to the workspace if the current directory is not inside it.
 * With `dry` nothing is made. Returns 0, or the exit status after a message. */
int session_begin(struct session *session, const struct options *options, bool dry);

/*
 * Chooses the wall. The cheap way takes the one that was named, or the first to be tried, as it is
 * if it can hold the policy: whoever enters it finds out whether it works. Returns 0, or the exit
 * status after a message for each that was tried.
 */
int session_choose(struct session *session, bool cheaply);

/* The two steps of it, for who tries backends one by one: the image for the one of that name, and
 * the directory for temporary files, for what a wall is built around has to be there. Both return
 * 0, or EXIT_SETUP after a message. */
int session_image(struct session *session, const char *backend);
int session_make_tmp(const struct session *session);

/* The log, for the supervisor: a descriptor, or -1 if there is none. */
int session_open_log(const struct session *session);

/* Frees all, and removes the directory for temporary files if nothing was run. */
void session_end(struct session *session);

#endif
