/* SPDX-License-Identifier: MIT */
#include "support_wall.h"

#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bwrap.h"
#include "command.h"
#include "ruleset.h"
#include "support_acts.h"

enum { SETUP_FAILED = 125 };

void wall_main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--inner") == 0)
        exit(command_inner(argc - 1, argv + 1));
    if (argc == 7 && strcmp(argv[1], "--act") == 0)
        /* At once: what a sanitizer does at the end may not work where the deed has led. */
        _exit(act(argv[2], &(struct scene){.in = argv[3],
                                           .out = argv[4],
                                           .victim = (pid_t)strtol(argv[5], NULL, 10),
                                           .port = (int)strtol(argv[6], NULL, 10)}));
}

/* --- the scene -------------------------------------------------------------------------------- */

static void become(uid_t user)
{
    if (geteuid() == user)
        return;
    if (setgroups(0, NULL) < 0 || setresgid(user, user, user) < 0 ||
        setresuid(user, user, user) < 0)
        err(EXIT_FAILURE, "user %d", (int)user);
}

/* Listens at a path, or at an abstract name if it begins with '@'. */
static void listen_at(const char *path, int type)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
    int fd = socket(AF_UNIX, type, 0);

    snprintf(name.sun_path, sizeof name.sun_path, "%s", path);
    if (path[0] == '@')
        name.sun_path[0] = '\0';
    if (fd < 0 || bind(fd, (struct sockaddr *)&name, length) < 0 ||
        (type == SOCK_STREAM && listen(fd, 5) < 0))
        err(EXIT_FAILURE, "listening at %s", path);
}

static int listen_on_loopback(void)
{
    struct sockaddr_in name = {.sin_family = AF_INET,
                               .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof name;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&name, length) < 0 || listen(fd, 5) < 0 ||
        getsockname(fd, (struct sockaddr *)&name, &length) < 0)
        err(EXIT_FAILURE, "listening on the loopback");
    return ntohs(name.sin_port);
}

/* A process of the user's, which listens and waits to be ended. */
static void start_victim(struct wall *wall)
{
    char name[TREE_TEXT + 32];
    int ready[2];

    if (pipe(ready) < 0 || (wall->victim = fork()) < 0)
        err(EXIT_FAILURE, "fork");
    if (wall->victim == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        become(wall->user);
        prctl(PR_SET_DUMPABLE, 1);
        snprintf(name, sizeof name, "%s/socket", wall->out);
        listen_at(name, SOCK_STREAM);
        snprintf(name, sizeof name, "%s/datagrams", wall->out);
        listen_at(name, SOCK_DGRAM);
        snprintf(name, sizeof name, "@cordon-test-%d", (int)getpid());
        listen_at(name, SOCK_STREAM);
        int port = listen_on_loopback();
        if (write(ready[1], &port, sizeof port) != sizeof port)
            _exit(EXIT_FAILURE);
        for (;;)
            pause();
    }
    close(ready[1]);
    if (read(ready[0], &wall->port, sizeof wall->port) != sizeof wall->port)
        errx(EXIT_FAILURE, "the victim is not ready");
    close(ready[0]);
}

static uid_t owner;

static int give(const char *path, const struct stat *st, int kind, struct FTW *place)
{
    (void)st;
    (void)kind;
    (void)place;
    return lchown(path, owner, owner);
}

static void copy_self(const char *to)
{
    int in = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    int out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    struct stat st;
    ssize_t copied;

    if (in < 0 || out < 0 || fstat(in, &st) < 0)
        err(EXIT_FAILURE, "%s", to);
    for (off_t left = st.st_size; left > 0; left -= copied)
        if ((copied = sendfile(out, in, NULL, (size_t)left)) <= 0)
            err(EXIT_FAILURE, "%s", to);
    close(in);
    close(out);
}

static void write_program(const char *out)
{
    char path[TREE_TEXT + 8];

    snprintf(path, sizeof path, "%s/prog", out);
    FILE *file = fopen(path, "w");
    if (file == NULL || fputs("#!/bin/sh\n", file) < 0 || fclose(file) != 0 ||
        chmod(path, 0755) < 0)
        err(EXIT_FAILURE, "%s", path);
}

void wall_build(struct wall *wall, uid_t user)
{
    char *out;

    wall->user = user;
    tree_make(&wall->tree, "f; d/g; d2/; secret; vault/v; vault/open/o; .git/hooks/h; .git/HEAD");
    out = tree_expand(&wall->tree, "$OUT");
    snprintf(wall->out, sizeof wall->out, "%s", out);
    free(out);
    snprintf(wall->self, sizeof wall->self, "%.*s/self", TREE_TEXT - 8, wall->tree.base);
    copy_self(wall->self);
    write_program(wall->out);
    out = tree_expand(&wall->tree, "$OUT/d");
    if (mkdir(out, 0755) < 0 || chmod(wall->tree.base, 0755) < 0)
        err(EXIT_FAILURE, "%s", out);
    free(out);
    owner = user;
    if (nftw(wall->tree.base, give, 16, FTW_PHYS) != 0)
        err(EXIT_FAILURE, "chown");
    start_victim(wall);
}

void wall_remove(struct wall *wall)
{
    kill(wall->victim, SIGKILL);
    waitpid(wall->victim, NULL, 0);
    tree_remove(&wall->tree);
}

char *wall_outside(const struct wall *wall)
{
    return tree_describe(&wall->tree, false);
}

/* --- the wall --------------------------------------------------------------------------------- */

static int add_rule(struct policy_builder *builder, const char *line)
{
    static const char *const kinds[] = {"read", "write", "deny", "protect", "unix"};
    size_t word = strcspn(line, " ");

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strncmp(kinds[i], line, word) != 0)
            continue;
        enum rule_kind kind = (enum rule_kind)(RULE_READ + i);
        const char *text = line + word + 1;
        return strchr(text, '*') == NULL ? policy_add(builder, kind, text, "test")
                                         : policy_add_pattern(builder, kind, "/", text, "test");
    }
    return -EINVAL;
}

static void add_rules(struct policy_builder *builder, char *text)
{
    char *line;

    while ((line = strsep(&text, ";")) != NULL) {
        line += strspn(line, " ");
        if (line[0] != '\0' && add_rule(builder, line) < 0)
            errx(EXIT_FAILURE, "%s: %s", line, policy_builder_error(builder));
    }
}

struct image *wall_image(const struct wall *wall, const char *backend, const char *rules,
                         enum image_net net)
{
    static char system[] = "read /usr; read /etc; read /proc; deny /etc/shadow; write /dev/null;"
                           "write /dev/ptmx; write /dev/pts; write /dev/tty";
    char *usual = strdup(system);
    char *more = tree_expand(&wall->tree, rules);
    struct policy_builder *builder = policy_builder_new();
    struct image_parts parts = {.net = net, .wall = WALL_HELD};

    add_rules(builder, usual);
    policy_add(builder, RULE_READ, wall->self, "test");
    policy_add(builder, RULE_WRITE, wall->tree.root, "test");
    add_rules(builder, more);
    struct policy *policy = policy_build(builder);
    parts.policy = policy;
    parts.texts[IMAGE_ROOT] = wall->tree.root;
    parts.texts[IMAGE_COMMAND] = wall->self;
    parts.texts[IMAGE_BACKEND] = backend;
    struct image *image = policy != NULL ? image_new(&parts) : NULL;
    if (image == NULL)
        errx(EXIT_FAILURE, "no image");
    policy_builder_free(builder);
    free(policy);
    free(usual);
    free(more);
    return image;
}

void wall_exec(const struct wall *wall, const struct image *image, const char *const words[])
{
    char *const *command = (char *const *)words;
    const struct backend *backend;
    struct trouble trouble;
    char line[1024];

    become(wall->user);
    if (image == NULL) {
        execvp(command[0], command);
        return;
    }
    backend = backend_by_name(image_text(image, IMAGE_BACKEND));
    if (backend->wrap != NULL) {
        char *variable = malloc(image_variable_size(image));
        image_variable(image, variable);
        putenv(variable);
        char **argv = backend->wrap(image, wall->tree.root, command, &trouble);
        if (argv != NULL)
            backend_exec(argv);
    } else if (backend_enter(backend, image, &trouble) == 0) {
        execvp(command[0], command);
    }
    trouble_print(&trouble, line, sizeof line);
    dprintf(STDERR_FILENO, "%s: %s\n", backend->name, line);
}

int wall_run(const struct wall *wall, const struct image *image, const char *const words[])
{
    int status;

    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        wall_exec(wall, image, words);
        _exit(SETUP_FAILED);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        err(EXIT_FAILURE, "fork");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int wall_try(const struct wall *wall, const struct image *image, const char *act)
{
    char victim[16];
    char port[16];

    snprintf(victim, sizeof victim, "%d", (int)wall->victim);
    snprintf(port, sizeof port, "%d", wall->port);
    return wall_run(
        wall, image,
        (const char *[]){wall->self, "--act", act, wall->tree.root, wall->out, victim, port, NULL});
}

/* --- a poorer machine ------------------------------------------------------------------------- */

static void filter(struct sock_filter *code, size_t count)
{
    struct sock_fprog program = {.len = (unsigned short)count, .filter = code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        err(EXIT_FAILURE, "seccomp");
}

#define ANSWER(call, error)                            \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))

void forbid_landlock(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ANSWER(SYS_landlock_create_ruleset, ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };

    filter(code, sizeof code / sizeof code[0]);
    if (ruleset_abi() != -ENOSYS)
        errx(EXIT_FAILURE, "the filter has no effect on Landlock");
}

void forbid_namespaces(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ANSWER(SYS_unshare, EPERM),
        ANSWER(SYS_clone3, ENOSYS),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x7e020000, 0, 1), /* CLONE_NEW* */
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };

    filter(code, sizeof code / sizeof code[0]);
    if (syscall(SYS_unshare, 0x10000000) != -1 || errno != EPERM)
        errx(EXIT_FAILURE, "the filter has no effect on namespaces");
}

const char *lacks_landlock(void)
{
    return ruleset_abi() < 6 ? "no Landlock, or one older than Linux 6.12" : NULL;
}

static bool bwrap_works(void)
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0) {
        close(STDERR_FILENO);
        execlp("bwrap", "bwrap", "--unshare-all", "--ro-bind", "/", "/", "true", (char *)NULL);
        _exit(EXIT_FAILURE);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

const char *lacks_bwrap(void)
{
    struct policy_builder *builder = policy_builder_new();
    struct policy *policy = policy_build(builder);
    struct trouble trouble;
    bool found = bwrap_find(policy, NULL, &trouble);

    policy_builder_free(builder);
    free(policy);
    if (!found)
        return "package bubblewrap";
    return bwrap_works() ? NULL : "user namespaces are forbidden";
}

const char *lacks_any(void)
{
    const char *reason = lacks_landlock();

    return reason != NULL ? reason : lacks_bwrap();
}
