/* SPDX-License-Identifier: MIT */
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache.h"
#include "command.h"
#include "defaults.h"
#include "grants.h"
#include "path.h"
#include "supervisor.h"

/* This program, and the shim beside it or where `make install` puts it. */
static int find_own(struct session *session)
{
    char beside[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", session->command, PATH_MAX - 1);
    int directory;

    if (length <= 0)
        return setup_error("/proc/self/exe: %s", strerror(errno));
    session->command[length] = '\0';
    directory = (int)(strrchr(session->command, '/') - session->command);
    for (int installed = 0; installed < 2; installed++)
        if (snprintf(beside, sizeof beside, "%.*s/%slibcordon-shim.so", directory, session->command,
                     installed ? "../lib/" : "") < (int)sizeof beside &&
            realpath(beside, session->shim) != NULL)
            return 0;
    return setup_error("libcordon-shim.so: it is neither beside %s nor in ../lib",
                       session->command);
}

static int find_root(struct session *session)
{
    const char *asked = session->options->root != NULL ? session->options->root : ".";
    struct stat st;
    bool above_home;

    if (realpath(asked, session->root) == NULL || stat(session->root, &st) < 0) {
        complain(asked, "cannot be the workspace", strerror(errno));
        return EXIT_SETUP;
    }
    if (!S_ISDIR(st.st_mode)) {
        complain(asked, "cannot be the workspace", "not a directory");
        return EXIT_SETUP;
    }
    above_home = session->home[0] != '\0' && path_is_below(session->root, session->home);
    if (!session->options->any_root && (above_home || strcmp(session->root, "/") == 0)) {
        complain(session->root, "would open all of your home directory, or of the system",
                 "name a directory in it with -C, or insist with --any-root");
        return EXIT_SETUP;
    }
    return 0;
}

/* Where the command starts: here, if that is inside the workspace, else at its root. */
static int go_inside(const struct session *session)
{
    char here[PATH_MAX];

    if (getcwd(here, sizeof here) != NULL && path_is_below(session->root, here))
        return 0;
    if (chdir(session->root) < 0) {
        complain(session->root, "cannot be the workspace", strerror(errno));
        return EXIT_SETUP;
    }
    setenv("PWD", session->root, 1);
    unsetenv("OLDPWD");
    return 0;
}

/* Where temporary files go on this machine, canonical. Not in the workspace, where nothing is to be
 * left, if there is any other place. */
static bool find_tmp(const struct session *session, char place[PATH_MAX])
{
    const char *const asked[] = {getenv("TMPDIR"), "/tmp", "/var/tmp", getenv("XDG_RUNTIME_DIR")};

    for (int inside = 0; inside < 2; inside++)
        for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++)
            if (asked[i] != NULL && asked[i][0] == '/' && access(asked[i], W_OK | X_OK) == 0 &&
                realpath(asked[i], place) != NULL &&
                (inside || !path_is_below(session->root, place)))
                return true;
    return false;
}

/* The private one is not there yet; nobody else can guess its name. */
static int name_tmp(struct session *session)
{
    static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";
    char parent[PATH_MAX];
    unsigned char random[12];
    char name[sizeof random + 1] = "";

    if (!find_tmp(session, parent))
        return setup_error("no place for temporary files: neither TMPDIR nor /tmp can be written "
                           "(use --tmp none)");
    if (session->options->tmp == TMP_HOST) {
        strcpy(session->tmp, parent);
        return 0;
    }
    if (getentropy(random, sizeof random) < 0)
        return setup_error("random numbers: %s", strerror(errno));
    for (size_t i = 0; i < sizeof random; i++)
        name[i] = digits[random[i] % 32];
    if (snprintf(session->tmp, PATH_MAX, "%s/cordon-%s", parent, name) >= PATH_MAX)
        return setup_error("%s: %s", parent, strerror(ENAMETOOLONG));
    return 0;
}

/* LD_PRELOAD is a list: a name with a space or a colon in it goes by a link that has none. */
static int name_preload(struct session *session)
{
    strcpy(session->preload, session->shim);
    if (strpbrk(session->shim, " :") == NULL)
        return 0;
    if (session->options->tmp != TMP_PRIVATE ||
        snprintf(session->preload, PATH_MAX, "%s/libcordon-shim.so", session->tmp) >= PATH_MAX ||
        strpbrk(session->preload, " :") != NULL)
        return setup_error("%s: LD_PRELOAD cannot carry a name with a space or a colon",
                           session->shim);
    return 0;
}

/* The command may reach the log: it must not lead cordon elsewhere by a link, nor hold it up. */
static int open_log(const char *asked)
{
    const int flags =
        O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK;
    struct stat st;
    int fd = open(asked, flags, 0600);

    if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        errno = EINVAL;
        return -1;
    }
    return fd;
}

/* Whether a link in the workspace leads the log, which is not there, out of it. */
static bool is_log_steered(const struct session *session, const char *asked)
{
    char text[PATH_MAX];
    char real[PATH_MAX];
    struct path path = {.text = text, .size = sizeof text};
    char *cwd = asked[0] == '/' ? NULL : getcwd(NULL, 0);
    int error = path_set(&path, cwd == NULL ? "/" : cwd);

    free(cwd);
    if (error == 0)
        error = path_append_clean(&path, asked);
    if (error < 0 || path_is_below(session->root, session->log))
        return error < 0;
    for (path_pop(&path); path.length > 0; path_pop(&path))
        if (realpath(text, real) != NULL && path_is_below(session->root, real))
            return true;
    return false;
}

static int find_log(struct session *session, bool dry)
{
    const char *asked = session->options->log;
    int fd;

    if (asked == NULL)
        return 0;
    if (strcmp(asked, "stderr") == 0) {
        strcpy(session->log, asked);
        return 0;
    }
    fd = dry ? -1 : open_log(asked);
    if (fd >= 0)
        close(fd);
    if ((fd < 0 && !dry) || (realpath(asked, session->log) == NULL && !dry)) {
        complain(asked, "cannot be the log",
                 errno == ELOOP || errno == EINVAL || errno == ENXIO ? "not a regular file"
                                                                     : strerror(errno));
        return EXIT_SETUP;
    }
    if (!dry && is_log_steered(session, asked)) {
        complain(asked, "cannot be the log", "a link in the workspace leads it elsewhere");
        return EXIT_SETUP;
    }
    return 0;
}

static int build_policy(struct session *session)
{
    struct policy_builder *builder = policy_builder_new();
    int status = EXIT_SETUP;

    if (builder == NULL)
        return setup_error("out of memory");
    free(session->policy);
    session->policy = NULL;
    if (grants_add(builder, session) != 0)
        status = EXIT_SETUP;
    else if ((session->policy = policy_build(builder)) != NULL)
        status = 0;
    else
        setup_error("%s", policy_builder_error(builder) != NULL ? policy_builder_error(builder)
                                                                : "out of memory");
    policy_builder_free(builder);
    return status;
}

int session_image(struct session *session, const char *backend)
{
    const bool native = strcmp(backend, "native") == 0;
    const bool private = session->options->tmp == TMP_PRIVATE;
    const struct image_parts parts = {
        .mode = session->options->observe ? MODE_OBSERVE : MODE_ENFORCE,
        .net = session->options->net,
        .wall = native ? WALL_NONE : WALL_HELD,
        .supervise = native ? SUPERVISE_NONE : session->supervise,
        .texts = {[IMAGE_ROOT] = session->root,
                  [IMAGE_SHIM] = session->preload,
                  [IMAGE_COMMAND] = session->command,
                  [IMAGE_BACKEND] = backend,
                  [IMAGE_LOG] = session->log,
                  [IMAGE_TMP] = private ? session->tmp : "",
                  [IMAGE_PORTS] = session->options->ports},
        .policy = session->policy,
    };

    free(session->image);
    session->image = image_new(&parts);
    return session->image != NULL ? 0
                                  : setup_error("the policy is too large: use fewer rules, or "
                                                "directories instead of files");
}

/* Whether there will be a supervisor. That one can be had is taken for granted, or tried. */
static void choose_supervisor(struct session *session, bool cheaply)
{
    const struct options *options = session->options;
    struct trouble trouble = {.step = ""};

    session->supervise = options->strict ? SUPERVISE_ALL : SUPERVISE_GATE;
    session->unsupervised[0] = '\0';
    if (options->no_supervise || options->observe || strcmp(options->backend, "native") == 0) {
        session->supervise = SUPERVISE_NONE;
    } else if (supervisor_is_above()) {
        session->supervise = SUPERVISE_NONE;
        strcpy(session->unsupervised, "a supervisor holds this process already");
    } else if (!cheaply && supervisor_probe(&trouble) < 0) {
        session->supervise = SUPERVISE_NONE;
        trouble_print(&trouble, session->unsupervised, sizeof session->unsupervised);
    }
}

int session_begin(struct session *session, const struct options *options, bool dry)
{
    const char *home = getenv("HOME");
    int status;

    *session = (struct session){.options = options};
    if (home == NULL || home[0] != '/' || realpath(home, session->home) == NULL)
        session->home[0] = '\0';
    status = find_own(session);
    if (status == 0)
        status = find_root(session);
    if (status == 0 && options->tmp != TMP_NONE)
        status = name_tmp(session);
    if (status == 0)
        status = name_preload(session);
    if (status == 0)
        status = find_log(session, dry);
    if (status == 0)
        cache_find(session);
    choose_supervisor(session, true);
    if (status == 0)
        status = build_policy(session);
    if (status == 0)
        status = go_inside(session);
    return status;
}

int session_make_tmp(const struct session *session)
{
    if (session->options->tmp != TMP_PRIVATE)
        return 0;
    /* Whatever the caller's umask is. */
    if (mkdir(session->tmp, 0700) == 0)
        return chmod(session->tmp, 0700) == 0 ? 0 : setup_error("%s: cannot be made", session->tmp);
    if (errno == EEXIST)
        return 0;
    return setup_error("%s: %s", session->tmp, strerror(errno));
}

/* Says for each that was tried why it will not do. */
static int no_wall(const struct backend_troubles *troubles)
{
    char line[1024];

    for (size_t i = 0; i < troubles->count; i++) {
        trouble_print(&troubles->troubles[i], line, sizeof line);
        setup_error("%s: %s", troubles->names[i], line);
    }
    return EXIT_SETUP;
}

int session_open_log(const struct session *session)
{
    if (session->log[0] == '\0')
        return -1;
    return strcmp(session->log, "stderr") == 0 ? STDERR_FILENO : open_log(session->log);
}

int session_choose(struct session *session, bool cheaply)
{
    /* Where nothing is to be refused a wall would only be in the way. */
    const char *name = session->options->observe ? "native" : session->options->backend;
    const bool strict = session->options->strict;
    const enum image_supervise supposed = session->supervise;
    struct backend_troubles troubles;

    if (!cheaply)
        choose_supervisor(session, false);
    if ((session->supervise != supposed && build_policy(session) != 0) ||
        session_image(session, strcmp(name, "auto") == 0 ? "landlock" : name) != 0)
        return EXIT_SETUP;
    session->backend = cheaply ? backend_guess(session->image, name, strict) : NULL;
    if (session->backend == NULL) {
        if (session_make_tmp(session) != 0)
            return EXIT_SETUP;
        session->backend = backend_choose(session->image, name, strict, &troubles);
    }
    if (session->backend == NULL)
        return no_wall(&troubles);
    if (session->backend == &backend_bwrap && build_policy(session) != 0)
        return EXIT_SETUP;
    return session_image(session, session->backend->name);
}

void session_end(struct session *session)
{
    /* If there was a run its directory is gone. */
    if (session->options->tmp == TMP_PRIVATE && session->tmp[0] != '\0')
        rmdir(session->tmp);
    free(session->policy);
    free(session->image);
}
