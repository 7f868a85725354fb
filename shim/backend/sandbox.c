/* SPDX-License-Identifier: MIT */
/*
 * The sandboxes of cordon.h. The command knows how to read a policy, which backend holds it and how
 * to run something: so it is asked, and what is wrapped is a command line for it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "argv.h"
#include "cordon.h"

struct cordon_sandbox {
    struct argv options; /* -r PATH and the like */
    const char *network;
    char *root;
    char *backend;
    char trouble[1024];
    bool used;
};

/* What the command says, each cut to size. */
struct answer {
    char out[1024];
    char err[1024];
};

int cordon_sandbox_new(const char *root, cordon_sandbox **sandbox)
{
    cordon_workspace *workspace;
    cordon_sandbox *new;
    int error = cordon_workspace_new(root, &workspace);

    if (error < 0)
        return error;
    new = calloc(1, sizeof *new);
    if (new != NULL) {
        new->network = "deny";
        new->root = strdup(cordon_workspace_root(workspace));
        new->backend = strdup("auto");
    }
    cordon_workspace_close(workspace);
    if (new == NULL || new->root == NULL || new->backend == NULL) {
        cordon_sandbox_free(new);
        return -ENOMEM;
    }
    *sandbox = new;
    return 0;
}

void cordon_sandbox_free(cordon_sandbox *sandbox)
{
    if (sandbox == NULL)
        return;
    argv_free(sandbox->options.words);
    free(sandbox->root);
    free(sandbox->backend);
    free(sandbox);
}

static int add(cordon_sandbox *sandbox, const char *option, const char *value)
{
    if (sandbox->used)
        return CORDON_EUSED;
    if (value == NULL)
        return -EFAULT;
    if (value[0] == '\0')
        return CORDON_EEMPTY;
    argv_add(&sandbox->options, option, value);
    return sandbox->options.failed ? -ENOMEM : 0;
}

static int add_path(cordon_sandbox *sandbox, const char *option, const char *path)
{
    if (path != NULL && path[0] != '\0' && path[0] != '/')
        return CORDON_ERELATIVE;
    return add(sandbox, option, path);
}

int cordon_sandbox_read(cordon_sandbox *sandbox, const char *path)
{
    return add_path(sandbox, "--read", path);
}

int cordon_sandbox_write(cordon_sandbox *sandbox, const char *path)
{
    return add_path(sandbox, "--write", path);
}

int cordon_sandbox_deny(cordon_sandbox *sandbox, const char *pattern)
{
    return add(sandbox, "--deny", pattern);
}

int cordon_sandbox_unix(cordon_sandbox *sandbox, const char *path)
{
    return add_path(sandbox, "--unix", path);
}

int cordon_sandbox_network(cordon_sandbox *sandbox, enum cordon_network network)
{
    static const char *const words[] = {
        [CORDON_NET_DENY] = "deny", [CORDON_NET_LOOPBACK] = "loopback", [CORDON_NET_OPEN] = "open"};

    if (sandbox->used)
        return CORDON_EUSED;
    if ((unsigned)network >= sizeof words / sizeof words[0])
        return -EINVAL;
    sandbox->network = words[network];
    return 0;
}

static int set_backend(cordon_sandbox *sandbox, const char *name, size_t length)
{
    char *copy = strndup(name, length);

    if (copy == NULL)
        return -ENOMEM;
    free(sandbox->backend);
    sandbox->backend = copy;
    return 0;
}

int cordon_sandbox_backend(cordon_sandbox *sandbox, const char *name)
{
    if (sandbox->used)
        return CORDON_EUSED;
    if (name == NULL)
        return -EFAULT;
    return name[0] == '\0' ? CORDON_EEMPTY : set_backend(sandbox, name, strlen(name));
}

const char *cordon_sandbox_backend_name(const cordon_sandbox *sandbox)
{
    return sandbox->used ? sandbox->backend : NULL;
}

const char *cordon_sandbox_trouble(const cordon_sandbox *sandbox)
{
    return sandbox->trouble;
}

/* --- the command ------------------------------------------------------------------------------ */

static bool is_there(char *path, const char *directory, size_t length, const char *name)
{
    int size = snprintf(path, PATH_MAX, "%.*s/%s", (int)length, directory, name);

    return size < PATH_MAX && access(path, X_OK) == 0;
}

/* Beside this library, as in a build tree, or in the bin beside its directory; else by PATH. */
static bool find_command(char path[PATH_MAX])
{
    const char *rest = getenv("PATH");
    Dl_info own;

    if (dladdr(&find_command, &own) != 0 && own.dli_fname != NULL) {
        const char *slash = strrchr(own.dli_fname, '/');
        size_t length = slash == NULL ? 0 : (size_t)(slash - own.dli_fname);
        if (own.dli_fname[0] == '/' && (is_there(path, own.dli_fname, length, "cordon") ||
                                        is_there(path, own.dli_fname, length, "../bin/cordon")))
            return true;
    }
    while (rest != NULL && *rest != '\0') {
        size_t length = strcspn(rest, ":");
        if (rest[0] == '/' && is_there(path, rest, length, "cordon"))
            return true;
        rest += length;
        rest += *rest == ':';
    }
    return false;
}

/* Takes what comes, as far as it fits, and throws the rest away; false at the end. */
static bool take(int fd, char *text, size_t size)
{
    char rest[512];
    size_t length = strlen(text);
    bool full = length + 1 == size;
    ssize_t got = full ? read(fd, rest, sizeof rest) : read(fd, text + length, size - 1 - length);

    if (got > 0 && !full)
        text[length + (size_t)got] = '\0';
    return got > 0 || (got < 0 && errno == EINTR);
}

static void hear(int out, int err, struct answer *answer)
{
    struct pollfd ends[2] = {{.fd = out, .events = POLLIN}, {.fd = err, .events = POLLIN}};

    while (ends[0].fd >= 0 || ends[1].fd >= 0) {
        if (poll(ends, 2, -1) < 0 && errno != EINTR)
            return;
        if (ends[0].revents != 0 && !take(out, answer->out, sizeof answer->out))
            ends[0].fd = -1;
        if (ends[1].revents != 0 && !take(err, answer->err, sizeof answer->err))
            ends[1].fd = -1;
    }
}

static int spawn(char *const argv[], const int out[2], const int err[2], pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);

    if (error != 0)
        return -error;
    error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
    if (error == 0)
        error = posix_spawn(pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return -error;
}

/* Runs the command to its end. Its exit status may be somebody else's to collect: what it says is
 * what counts. */
static int ask(char *const argv[], struct answer *answer)
{
    int out[2] = {-1, -1};
    int err[2] = {-1, -1};
    pid_t pid = 0;
    int error = -EMFILE;

    answer->out[0] = answer->err[0] = '\0';
    if (pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0)
        error = spawn(argv, out, err, &pid);
    close(out[1]);
    close(err[1]);
    if (error == 0) {
        hear(out[0], err[0], answer);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    close(out[0]);
    close(err[0]);
    return error;
}

/* "cordon: BACKEND: ..." is about the backend, everything else about what was asked for. */
static int refused(cordon_sandbox *sandbox, const struct answer *answer)
{
    static const char *const about[] = {
        "landlock: ", "bwrap: ", "sandboxexec: ", "native: ", "--backend"};
    const char *words = answer->err;

    if (strncmp(words, "cordon: ", strlen("cordon: ")) == 0)
        words += strlen("cordon: ");
    snprintf(sandbox->trouble, sizeof sandbox->trouble, "%.*s", (int)strcspn(words, "\n"), words);
    for (size_t i = 0; i < sizeof about / sizeof about[0]; i++)
        if (strncmp(words, about[i], strlen(about[i])) == 0)
            return CORDON_EBACKEND;
    return CORDON_EPOLICY;
}

static void begin(const cordon_sandbox *sandbox, const char *command, struct argv *argv)
{
    argv_add(argv, command, "run", "--root", sandbox->root, "--net", sandbox->network, "--backend",
             sandbox->backend);
    if (sandbox->options.count > 0)
        argv_append(argv, (const char *const *)sandbox->options.words);
}

/* Which backend it would be. */
static int consult(cordon_sandbox *sandbox, const char *command)
{
    static const char label[] = "\nbackend ";
    struct argv argv = {.words = NULL};
    struct answer answer;
    const char *name;
    char **words;
    int error;

    begin(sandbox, command, &argv);
    argv_add(&argv, "--print");
    words = argv_take(&argv);
    if (words == NULL)
        return -ENOMEM;
    error = ask(words, &answer);
    argv_free(words);
    if (error < 0)
        return error;
    name = strstr(answer.out, label);
    if (name == NULL)
        return refused(sandbox, &answer);
    name += strlen(label);
    name += strspn(name, " ");
    return set_backend(sandbox, name, strcspn(name, " \n"));
}

static int wrap(cordon_sandbox *sandbox, char *const command[], char ***wrapped)
{
    struct argv argv = {.words = NULL};
    char path[PATH_MAX];
    char **words;
    int error;

    if (!find_command(path))
        return CORDON_ECOMMAND;
    error = consult(sandbox, path);
    if (error < 0)
        return error;
    begin(sandbox, path, &argv);
    argv_add(&argv, "--");
    argv_append(&argv, (const char *const *)command);
    words = argv_take(&argv);
    if (words == NULL)
        return -ENOMEM;
    sandbox->used = true;
    *wrapped = words;
    return 0;
}

int cordon_sandbox_wrap(cordon_sandbox *sandbox, char *const argv[], char ***wrapped)
{
    int saved = errno;
    int error;

    sandbox->trouble[0] = '\0';
    if (sandbox->used)
        return CORDON_EUSED;
    if (argv == NULL || wrapped == NULL)
        return -EFAULT;
    if (argv[0] == NULL)
        return CORDON_EEMPTY;
    error = wrap(sandbox, argv, wrapped);
    errno = saved;
    return error;
}

void cordon_argv_free(char **argv)
{
    argv_free(argv);
}
