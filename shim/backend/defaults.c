/* SPDX-License-Identifier: MIT */
#include "defaults.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "os.h"
#include "path.h"
#include "resolve.h"
#include "syscall.h"

/* The system: programs, libraries, settings, and what they ask about the machine. */
static const char *const read_paths[] = {
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    "/nix",
    "/proc",
    "/etc/resolv.conf",         /* often a link to a place below /run */
    "/var/lib/ca-certificates", /* where some systems keep what /etc/ssl leads to */
    "/sys/devices/system/cpu",  /* how many processors there are, and how much memory */
    "/sys/devices/system/node",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
    NULL,
};

/* Devices that belong to nobody, or to whoever opens them. */
static const char *const write_paths[] = {
    "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",
    "/dev/tty",  "/dev/ptmx", "/dev/pts",  NULL,
};

/* Secrets of the system: for root neither, whom permissions do not stop. */
static const char *const deny_paths[] = {
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/security/opasswd",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssh/ssh_host_dsa_key",
    "/etc/ssh/ssh_host_ecdsa_key",
    "/etc/ssh/ssh_host_ed25519_key",
    "/etc/ssh/ssh_host_rsa_key",
    "/etc/ssl/private",
    "/etc/pki/tls/private",
    "/etc/letsencrypt",
    "/etc/wireguard",
    "/etc/NetworkManager/system-connections",
    "/etc/krb5.keytab",
    NULL,
};

/* Below $HOME. */
static const char *const home_paths[] = {".gitconfig", ".config/git", NULL};

/*
 * Toolchains below $HOME: if a directory of PATH lies in the first, all of them are opened for
 * reading. A directory of PATH that is in none of these is opened alone.
 */
static const char *const toolchains[][6] = {
    {".pyenv"},
    {".rbenv"},
    {".nodenv"},
    {".goenv"},
    {".jenv"},
    {".asdf"},
    {".nvm"},
    {".volta"},
    {".fnm"},
    {".local/share/fnm"},
    {".local/share/mise"},
    {".local/share/pnpm"},
    {".bun"},
    {".deno"},
    {".sdkman"},
    {".rvm"},
    {".ghcup"},
    {".opam"},
    {".nix-profile"},
    {"miniconda3"},
    {"miniforge3"},
    {"anaconda3"},
    {".linuxbrew"},
    {".cargo/bin", ".cargo/env", ".rustup"},
    /* Programs that pip, pipx and uv installed for the user; not the rest of ~/.local. */
    {".local/bin", ".local/lib", ".local/pipx", ".local/share/pipx", ".local/share/uv"},
};

/* Inside the workspace: what a shell or an editor outside runs without being asked. */
static const char *const protected_paths[] = {
    ".bashrc",   ".bash_profile", ".bash_login", ".bash_logout", ".profile",  ".zshrc", ".zshenv",
    ".zprofile", ".zlogin",       ".vscode",     ".idea",        ".mcp.json", NULL,
};

/* Inside a git directory. */
static const char *const protected_git_paths[] = {"hooks", "config", "config.worktree", NULL};

struct adder {
    struct policy_builder *builder;
    const struct surroundings *around;
    char **opened; /* what may be read so far */
    size_t count;
};

/* The text of a walk to the end of `path`. */
static int walk_to(const char *path, char text[PATH_MAX])
{
    struct walk *walk;
    int error = resolve_existing(path, &walk);

    if (error < 0)
        return error;
    if (walk->path.length >= PATH_MAX)
        error = -ENAMETOOLONG;
    else
        snprintf(text, PATH_MAX, "%s", walk->path.length == 0 ? "/" : walk->path.text);
    walk_free(walk);
    return error;
}

/* If the last name of `path` is a link with a simple target: the path that it stands for. */
static bool step_over_link(const char *path, char next[PATH_MAX])
{
    char target[PATH_MAX];
    ssize_t length = os_readlink(AT_FDCWD, path, target, sizeof target - 1);
    int parent = (int)(strrchr(path, '/') - path);

    if (length <= 0)
        return false;
    target[length] = '\0';
    return snprintf(next, PATH_MAX, "%.*s%s%s", target[0] == '/' ? 0 : parent, path,
                    target[0] == '/' ? "" : "/", target) < PATH_MAX &&
           path_is_canonical(next);
}

/* The canonical text of what exists, or a negative errno. For most paths that is one system call,
 * for those like /bin three; the rest is left to the walker. */
static int canonical(const char *path, char text[PATH_MAX])
{
    char next[PATH_MAX];
    int fd =
        path_is_canonical(path) ? os_open_plain(AT_FDCWD, path, O_PATH | O_CLOEXEC, 0) : -EXDEV;

    if (fd == -ELOOP && step_over_link(path, next)) {
        path = next;
        fd = os_open_plain(AT_FDCWD, path, O_PATH | O_CLOEXEC, 0);
    }
    if (fd < 0)
        return fd == -ENOENT ? fd : walk_to(path, text);
    os_close(fd);
    return snprintf(text, PATH_MAX, "%s", path) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* "DIRECTORY/NAME". False if that is too long for anything to be there. */
static bool join(char path[PATH_MAX], const char *directory, const char *name)
{
    return snprintf(path, PATH_MAX, "%s/%s", strcmp(directory, "/") == 0 ? "" : directory, name) <
           PATH_MAX;
}

static int add(struct adder *adder, enum rule_kind kind, const char *path)
{
    return policy_add(adder->builder, kind, path, "default");
}

/* Whether `path` can be read by what was added before. What lies above the home directory does not
 * open anything in it. */
static bool is_open(const struct adder *adder, const char *path)
{
    const char *home = adder->around->home;
    const char *const *writable = adder->around->writable;
    bool at_home = home != NULL && path_is_below(home, path);

    if (path_is_below(adder->around->root, path))
        return true;
    for (; writable != NULL && *writable != NULL; writable++)
        if (path_is_below(*writable, path))
            return true;
    for (size_t i = 0; i < adder->count; i++)
        if (path_is_below(adder->opened[i], path) &&
            !(at_home && path_is_below(adder->opened[i], home)))
            return true;
    return false;
}

/* Whether what a confined program can write decides where `path` leads: a link of its making must
 * not choose what the next run may read. */
static bool is_steered(const struct adder *adder, const char *path)
{
    char prefix[PATH_MAX];
    char text[PATH_MAX];
    size_t length = strlen(path);

    for (size_t end = 1; end <= length; end++) {
        const char *const *writable = adder->around->writable;
        if (path[end] != '/' && path[end] != '\0')
            continue;
        memcpy(prefix, path, end);
        prefix[end] = '\0';
        if (canonical(prefix, text) < 0)
            return false;
        if (path_is_below(adder->around->root, text))
            return true;
        for (; writable != NULL && *writable != NULL; writable++)
            if (path_is_below(*writable, text))
                return true;
    }
    return false;
}

/* `text` is canonical. */
static int open_place(struct adder *adder, const char *text)
{
    char **opened;

    if (is_open(adder, text))
        return 0;
    /* Not the whole tree, nor a home directory. */
    if (strcmp(text, "/") == 0 ||
        (adder->around->home != NULL && strcmp(text, adder->around->home) == 0))
        return 0;
    opened = realloc(adder->opened, (adder->count + 1) * sizeof *opened);
    if (opened == NULL)
        return -ENOMEM;
    adder->opened = opened;
    opened[adder->count] = strdup(text);
    if (opened[adder->count] == NULL)
        return -ENOMEM;
    adder->count++;
    return add(adder, RULE_READ, text);
}

static int open_for_reading(struct adder *adder, const char *path)
{
    char text[PATH_MAX];

    return canonical(path, text) < 0 ? 0 : open_place(adder, text);
}

static int add_system(struct adder *adder)
{
    const char *home = adder->around->home;
    char text[PATH_MAX];
    int error = 0;

    for (size_t i = 0; error == 0 && read_paths[i] != NULL; i++)
        error = open_for_reading(adder, read_paths[i]);
    /* Some service accounts live inside the system. */
    for (size_t i = 0; error == 0 && home != NULL && i < adder->count; i++)
        if (path_is_below(adder->opened[i], home)) {
            error = add(adder, RULE_DENY, home);
            break;
        }
    for (size_t i = 0; error == 0 && write_paths[i] != NULL; i++)
        if (canonical(write_paths[i], text) == 0)
            error = add(adder, RULE_WRITE, text);
    for (size_t i = 0; error == 0 && deny_paths[i] != NULL; i++)
        if (canonical(deny_paths[i], text) == 0)
            error = add(adder, RULE_DENY, text);
    return error;
}

static int open_below_home(struct adder *adder, const char *name)
{
    char path[PATH_MAX];

    if (!join(path, adder->around->home, name) || is_open(adder, path) || is_steered(adder, path))
        return 0;
    return open_for_reading(adder, path);
}

/* Opens the toolchain that this directory of PATH belongs to. Returns 1 if it is in the table. */
static int open_toolchain(struct adder *adder, const char *directory)
{
    const size_t rows = sizeof toolchains / sizeof toolchains[0];
    const size_t columns = sizeof toolchains[0] / sizeof toolchains[0][0];
    char first[PATH_MAX];

    for (size_t row = 0; row < rows; row++) {
        int error = 0;
        if (!join(first, adder->around->home, toolchains[row][0]) ||
            !path_is_below(first, directory))
            continue;
        for (size_t i = 0; error == 0 && i < columns && toolchains[row][i] != NULL; i++)
            error = open_below_home(adder, toolchains[row][i]);
        return error < 0 ? error : 1;
    }
    return 0;
}

/* One directory of PATH, by its name and by where that leads: toolchains are often reached by a
 * link. */
static int open_directory(struct adder *adder, const char *directory)
{
    const char *home = adder->around->home;
    char text[PATH_MAX];
    int found = 0;

    /* A relative one means another directory after each chdir. */
    if (!path_is_canonical(directory) || canonical(directory, text) < 0)
        return 0;
    if (strcmp(directory, text) != 0 && is_steered(adder, directory))
        return 0;
    if (home != NULL && path_is_below(text, home))
        return 0;
    if (home != NULL) {
        found = open_toolchain(adder, directory);
        if (found == 0 && strcmp(directory, text) != 0)
            found = open_toolchain(adder, text);
    }
    if (found != 0)
        return found < 0 ? found : 0;
    return open_place(adder, text);
}

static int add_path(struct adder *adder)
{
    const char *at = adder->around->path;
    char directory[PATH_MAX];
    int error = 0;

    while (error == 0 && at != NULL && *at != '\0') {
        size_t length = strcspn(at, ":");
        size_t kept = length;
        while (kept > 1 && at[kept - 1] == '/')
            kept--;
        if (kept < sizeof directory) {
            memcpy(directory, at, kept);
            directory[kept] = '\0';
            error = open_directory(adder, directory);
        }
        at += length + (at[length] == ':');
    }
    return error;
}

static int add_home(struct adder *adder)
{
    int error = 0;

    for (size_t i = 0; error == 0 && home_paths[i] != NULL; i++)
        error = open_below_home(adder, home_paths[i]);
    return error;
}

/* Protects a name, and where it leads if it is a link: either could be changed. */
static int protect(struct adder *adder, const char *directory, const char *name)
{
    char path[PATH_MAX];
    char text[PATH_MAX];
    struct os_id id;
    int error;

    if (!join(path, directory, name) || os_identify(AT_FDCWD, path, &id) < 0)
        return 0;
    error = add(adder, RULE_PROTECT, path);
    if (error == 0 && S_ISLNK(id.mode) && canonical(path, text) == 0)
        error = add(adder, RULE_PROTECT, text);
    return error;
}

static int protect_all(struct adder *adder, const char *directory, const char *const names[])
{
    int error = 0;

    for (size_t i = 0; error == 0 && names[i] != NULL; i++)
        error = protect(adder, directory, names[i]);
    return error;
}

/* The first line of a small file, which may turn out to be anything: never wait for it. */
static bool first_line(const char *file, char line[PATH_MAX])
{
    const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    long fd = os_syscall(SYS_openat, AT_FDCWD, (long)file, flags, 0, 0, 0);
    long length = fd < 0 ? fd : os_syscall(SYS_read, fd, (long)line, PATH_MAX - 1, 0, 0, 0);

    if (fd >= 0)
        os_close((int)fd);
    if (length <= 0)
        return false;
    line[length] = '\0';
    line[strcspn(line, "\r\n")] = '\0';
    return true;
}

/* The directory that such a file names after `prefix`, as a canonical text. */
static int directory_in(const char *base, const char *file, const char *prefix, char text[PATH_MAX])
{
    char line[PATH_MAX];
    char path[PATH_MAX];
    const char *named = line + strlen(prefix);

    if (!first_line(file, line) || strncmp(line, prefix, strlen(prefix)) != 0)
        return -ENOENT;
    if (named[0] == '/')
        return canonical(named, text);
    return join(path, base, named) ? canonical(path, text) : -ENAMETOOLONG;
}

/*
 * The repository of the workspace. In a work tree .git is a file that names the real directory,
 * which in turn names the one that all work trees share. They may lie elsewhere; a file in the
 * workspace can take rights away there, never give any.
 */
static int protect_repository(struct adder *adder)
{
    const char *root = adder->around->root;
    char dot_git[PATH_MAX];
    char directory[PATH_MAX];
    char common[PATH_MAX];
    char file[PATH_MAX];
    struct os_id id;
    int error;

    if (!join(dot_git, root, ".git") || canonical(dot_git, directory) < 0 ||
        os_identify(AT_FDCWD, directory, &id) < 0)
        return 0;
    error = S_ISREG(id.mode) || strcmp(dot_git, directory) != 0 ? protect(adder, root, ".git") : 0;
    if (error < 0 || (S_ISREG(id.mode) && directory_in(root, dot_git, "gitdir: ", directory) < 0))
        return error;
    error = protect_all(adder, directory, protected_git_paths);
    if (error == 0 && join(file, directory, "commondir") &&
        directory_in(directory, file, "", common) == 0)
        error = protect_all(adder, common, protected_git_paths);
    return error;
}

/* Cordon itself can be run inside, but not changed, wherever it lies. */
static int add_own(struct adder *adder, const char *path)
{
    int error;

    if (path == NULL)
        return 0;
    error = open_for_reading(adder, path);
    return error < 0 ? error : add(adder, RULE_PROTECT, path);
}

int defaults_add(struct policy_builder *builder, const struct surroundings *around)
{
    struct adder adder = {.builder = builder, .around = around};
    int error = add(&adder, RULE_WRITE, around->root);

    if (error == 0 && around->tmp != NULL)
        error = add(&adder, RULE_WRITE, around->tmp);
    if (error == 0)
        error = add_system(&adder);
    if (error == 0)
        error = add_path(&adder);
    if (error == 0 && around->home != NULL)
        error = add_home(&adder);
    if (error == 0 && around->protect)
        error = protect_all(&adder, around->root, protected_paths);
    if (error == 0 && around->protect)
        error = protect_repository(&adder);
    if (error == 0)
        error = add_own(&adder, around->command);
    if (error == 0)
        error = add_own(&adder, around->shim);
    for (size_t i = 0; i < adder.count; i++)
        free(adder.opened[i]);
    free(adder.opened);
    return error;
}
