/* SPDX-License-Identifier: MIT */
/*
 * cordon.h - keep paths inside a workspace.
 *
 *     cordon_workspace *ws;
 *     char place[PATH_MAX];
 *     int error = cordon_workspace_new("/srv/project", &ws);
 *     ...
 *     error = cordon_workspace_resolve(ws, CORDON_KERNEL, "docs/../link", place, sizeof place);
 *     if (error < 0)
 *         fprintf(stderr, "docs/../link: %s\n", cordon_strerror(error));
 *     int fd = cordon_workspace_open(ws, "src/main.c", O_RDONLY | O_CLOEXEC, 0);
 *
 * Functions return 0 or more on success. A negative value is an error: one of the named ones below,
 * or the negative of an errno. cordon_strerror has a line of text for each. On failure nothing is
 * stored through the pointers handed in, except where it says so. Nothing here prints, changes the
 * working directory or touches errno. Link with -lcordon; see cordon(3).
 */
#ifndef CORDON_H
#define CORDON_H

#include <stddef.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CORDON_API __attribute__((visibility("default")))
#else
#define CORDON_API
#endif

/* Errors that have a name. They are not errnos: those lie above -4096. */
enum cordon_error {
    CORDON_EOUTSIDE = -4097,  /* leads outside the workspace */
    CORDON_EDOTDOT = -4098,   /* has a ".." component, which strict mode refuses */
    CORDON_EEMPTY = -4099,    /* the path is empty */
    CORDON_ERELATIVE = -4100, /* the root is not absolute */
    CORDON_ENOTDIR = -4101,   /* the root, or a component used as a directory, is none */
    CORDON_ELOOP = -4102,     /* too many symbolic links */
    CORDON_ETOOLONG = -4103,  /* the path or one of its names is too long */
    CORDON_EUSED = -4104,     /* the sandbox has been wrapped around something already */
    CORDON_EBACKEND = -4105,  /* no backend here can hold that policy */
    CORDON_EPOLICY = -4106,   /* the policy is malformed, or names what does not exist */
    CORDON_ECOMMAND = -4107,  /* the cordon command is not installed */
};

/* One line of text, without a period; never NULL. For an errno what strerror(3) says in C. */
CORDON_API const char *cordon_strerror(int error);

/* The errno that a system call would have failed with: EACCES for what leads outside. */
CORDON_API int cordon_errno(int error);

/* The version of the library, as "0.1.0". */
CORDON_API const char *cordon_version(void);

/*
 * Workspaces.
 *
 * A workspace is a directory that stays open; its path is made canonical once. After that it may be
 * used by any number of threads.
 */
typedef struct cordon_workspace cordon_workspace;

/* `root` is absolute and a directory, or a link to one: CORDON_EEMPTY, CORDON_ERELATIVE,
 * CORDON_ENOTDIR, or -ENOENT and the like. The caller ends it with cordon_workspace_close. */
CORDON_API int cordon_workspace_new(const char *root, cordon_workspace **workspace);

/* The canonical path of the root; lives as long as the workspace. */
CORDON_API const char *cordon_workspace_root(const cordon_workspace *workspace);

CORDON_API void cordon_workspace_close(cordon_workspace *workspace);

/*
 * How a path is read. In every mode a relative path starts at the root, an absolute one at "/", and
 * what leads outside is refused: by "..", by a symbolic link, also one that dangles, by
 * /proc/self/fd or by being a neighbour such as root-evil beside root.
 */
enum cordon_mode {
    /* As the kernel would in open(2) with O_CREAT: link by link, ".." taken where it really is. The
     * last component need not exist, all others have to. */
    CORDON_KERNEL,

    /* The text is cleaned first: "." and "x/.." vanish, whatever x is. Then links are followed, and
     * what does not exist is kept as it stands: "new/nested/file.txt" needs no directory "new". The
     * empty path is the root. A link that dangles is -ENOENT. */
    CORDON_CLEAN,

    /* Like CORDON_CLEAN, but an empty path and any ".." are refused, and the parent of what does
     * not exist has to. */
    CORDON_STRICT,
};

/*
 * Where `path` leads: writes the canonical path, terminated, and returns its length. -ERANGE if it
 * does not fit into `size` bytes; PATH_MAX is always enough. With CORDON_EOUTSIDE `place` says
 * where outside it leads, cut to size.
 *
 * The answer was true when it was given; somebody may have moved a directory since. To act on a
 * file use cordon_workspace_open, which leaves no such gap.
 */
CORDON_API ssize_t cordon_workspace_resolve(const cordon_workspace *workspace,
                                            enum cordon_mode mode, const char *path, char *place,
                                            size_t size);

/*
 * open(2) inside the workspace, in kernel mode: the file that is opened, made or cut short is the
 * one that was checked, whoever renames what meanwhile. A path without symbolic links and ".."
 * costs one system call. Takes all flags of open(2). Returns a descriptor; CORDON_EOUTSIDE if it
 * would be one outside, where nothing happens then; what does not exist is -ENOENT, outside too.
 */
CORDON_API int cordon_workspace_open(const cordon_workspace *workspace, const char *path, int flags,
                                     mode_t mode);

/*
 * Trackers: which files have been read.
 *
 * A set of canonical paths that only grows, shared by the threads and processes of a session:
 * memory that is inherited over fork and handed to others by its descriptor. A path is first
 * followed to where it leads, so a file marked by a link has been read under its real name as well.
 * Marking and asking need no lock; a process may be killed at any moment.
 */
typedef struct cordon_tracker cordon_tracker;

/* A new, empty tracker with room for a million paths. Takes memory as it fills. */
CORDON_API int cordon_tracker_new(cordon_tracker **tracker);

/*
 * A tracker whose paths are also kept in the session file `path`, made if it is not there: so they
 * outlive the process, and others who open the same file see them. A file that is torn, truncated
 * or no session file is -EBADMSG.
 */
CORDON_API int cordon_tracker_open(const char *path, cordon_tracker **tracker);

/* The tracker behind a descriptor that came from cordon_tracker_fd of another process. The
 * descriptor stays the caller's. What is marked through it is not kept in a session file: for that
 * every process opens the file. -EINVAL: not a tracker. */
CORDON_API int cordon_tracker_attach(int fd, cordon_tracker **tracker);

/* The descriptor to hand over, close-on-exec; it belongs to the tracker. */
CORDON_API int cordon_tracker_fd(const cordon_tracker *tracker);

CORDON_API void cordon_tracker_close(cordon_tracker *tracker);

/* 1: marked now, 0: was marked before. The file has to exist. -ENOSPC: the tracker is full. */
CORDON_API int cordon_tracker_mark_read(cordon_tracker *tracker, const char *path);

/* 1 or 0; what does not exist has not been read. -EBADMSG: the session is damaged, no answer. */
CORDON_API int cordon_tracker_has_been_read(cordon_tracker *tracker, const char *path);

/*
 * Sandboxes: a command line that runs another one inside a workspace.
 *
 *     cordon_sandbox *sandbox;
 *     char **argv;
 *     error = cordon_sandbox_new("/srv/project", &sandbox);
 *     error = cordon_sandbox_read(sandbox, "/srv/data");
 *     error = cordon_sandbox_wrap(sandbox, (char *[]){"make", "test", NULL}, &argv);
 *     posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
 *
 * The workspace and a private directory for temporary files can be written, the system can be read,
 * and there is no network: the default policy of cordon(1), to which the functions below add. A
 * sandbox is for one thread and one use.
 */
typedef struct cordon_sandbox cordon_sandbox;

enum cordon_network {
    CORDON_NET_DENY,     /* none; the default */
    CORDON_NET_LOOPBACK, /* the host's 127.0.0.0/8 and ::1 */
    CORDON_NET_OPEN,
};

/* Errors as of cordon_workspace_new. The caller ends it with cordon_sandbox_free. */
CORDON_API int cordon_sandbox_new(const char *root, cordon_sandbox **sandbox);

/* What may be read, or written too, at the absolute path and below. */
CORDON_API int cordon_sandbox_read(cordon_sandbox *sandbox, const char *path);
CORDON_API int cordon_sandbox_write(cordon_sandbox *sandbox, const char *path);

/* What may not be touched all the same: a path, or a pattern as of cordon(1), from the root. */
CORDON_API int cordon_sandbox_deny(cordon_sandbox *sandbox, const char *pattern);

/* A socket, or a directory of sockets, that may be connected to. */
CORDON_API int cordon_sandbox_unix(cordon_sandbox *sandbox, const char *path);

CORDON_API int cordon_sandbox_network(cordon_sandbox *sandbox, enum cordon_network network);

/* "landlock", "bwrap", "native" or, the default, "auto". */
CORDON_API int cordon_sandbox_backend(cordon_sandbox *sandbox, const char *name);

/*
 * The command line that runs `argv` in the sandbox: argv[0] is the absolute path of the cordon
 * command, which is looked for beside this library and in PATH. Ended by NULL; the caller frees it
 * with cordon_argv_free. The policy is checked and the backend tried now: CORDON_EPOLICY and
 * CORDON_EBACKEND, of which cordon_sandbox_trouble then tells more. The second time, and in every
 * function that would change the sandbox afterwards: CORDON_EUSED.
 */
CORDON_API int cordon_sandbox_wrap(cordon_sandbox *sandbox, char *const argv[], char ***wrapped);

/* The backend that was found; NULL before it has been wrapped. */
CORDON_API const char *cordon_sandbox_backend_name(const cordon_sandbox *sandbox);

/* What was wrong the last time it was to be wrapped, in one line; "" if nothing was. */
CORDON_API const char *cordon_sandbox_trouble(const cordon_sandbox *sandbox);

CORDON_API void cordon_sandbox_free(cordon_sandbox *sandbox);
CORDON_API void cordon_argv_free(char **argv);

#ifdef __cplusplus
}
#endif

#endif
