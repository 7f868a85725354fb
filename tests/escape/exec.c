/* SPDX-License-Identifier: MIT */
/* Running what lies outside, and running something inside that is not confined any more. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attack.h"
#include "layer.h"

#define LOADER "/lib64/ld-linux-x86-64.so.2"

/* Runs a program in a child: 0, or the errno of exec or of the attack that it is to make. */
static int run(const char *path, char *const argv[], char *const envp[])
{
    long pid = do_fork();

    if (pid == 0)
        _exit((int)-do_execve(path, argv, envp));
    return pid < 0 ? (int)pid : reap(pid);
}

static int script(const char *name, const char *interpreter)
{
    char text[4300];
    long fd = do_open(name, O_WRONLY | O_CREAT | O_TRUNC, 0755);
    int length = snprintf(text, sizeof text, "#!%s say\n", interpreter);

    if (fd < 0)
        return (int)fd;
    if (write((int)fd, text, (size_t)length) != length)
        return -EIO;
    close((int)fd);
    return 0;
}

static int exec_outside(void)
{
    return run(in("out", "prog"), again("prog", "say"), environ);
}

static int exec_relative(void)
{
    return run("../out/prog", again("prog", "say"), environ);
}

static int exec_script(void)
{
    return run(in("out", "script"), again("script", "say"), environ);
}

static int exec_link(void)
{
    long error = do_symlink("../out/prog", "l");

    return error < 0 ? (int)error : run("./l", again("l", "say"), environ);
}

static int exec_search(void)
{
    long pid = do_fork();

    if (pid == 0) {
        setenv("PATH", fact("out"), 1);
        _exit((int)-do_execvp("prog", again("prog", "say")));
    }
    return pid < 0 ? (int)pid : reap(pid);
}

static int exec_interpreter(void)
{
    int error = script("s", in("out", "prog"));

    return error < 0 ? error : run("./s", again("s", "say"), environ);
}

/* For the kernel a NUL ends the name; what follows may fill all that a reader looks at. */
static int exec_interpreter_nul(void)
{
    char text[1024] = "";
    long fd = do_open("s", O_WRONLY | O_CREAT | O_TRUNC, 0755);

    if (fd < 0)
        return (int)fd;
    memset(text, 'x', sizeof text);
    snprintf(text, 512, "#!%s", in("out", "say"));
    if (write((int)fd, text, sizeof text) != (ssize_t)sizeof text)
        return -EIO;
    close((int)fd);
    return run("./s", again("s", "say"), environ);
}

static int exec_interpreter_chain(void)
{
    int error = script("s1", in("out", "prog"));

    if (error == 0)
        error = script("s2", in("ws", "s1"));
    if (error == 0)
        error = script("s3", in("ws", "s2"));
    return error < 0 ? error : run("./s3", again("s3", "say"), environ);
}

static int exec_interpreter_link(void)
{
    int error = (int)do_symlink("../out/prog", "l");

    if (error == 0)
        error = script("s", in("ws", "l"));
    return error < 0 ? error : run("./s", again("s", "say"), environ);
}

/* By descriptor, with and without a name of its own. */
static int exec_descriptor(void)
{
    long pid = do_fork();
    long fd;

    if (pid == 0) {
        fd = do_open(in("out", "prog"), O_PATH | O_CLOEXEC, 0);
        _exit((int)-(fd < 0 ? fd : do_fexecve((int)fd, again("prog", "say"), environ)));
    }
    return pid < 0 ? (int)pid : reap(pid);
}

static int exec_at(void)
{
    long pid = do_fork();
    long fd;

    if (pid == 0) {
        fd = do_open("dir", O_PATH, 0);
        _exit((int)-(
            fd < 0 ? fd
                   : sys(SYS_execveat, fd, "../../out/prog", again("prog", "say"), environ, 0)));
    }
    return pid < 0 ? (int)pid : reap(pid);
}

/* The loader opens its argument itself. */
static int exec_loader(void)
{
    char **argv = words_and(words("ld.so", NULL), again(in("out", "prog-dynamic"), "say"));

    if (access(LOADER, X_OK) < 0)
        return cannot("another loader");
    /* It says "cannot open" and exits with 127. */
    return run(LOADER, argv, environ) == 0 ? 0 : -EACCES;
}

/* --- out of the shim -------------------------------------------------------------------------- */

static int exec_loader_inside(void)
{
    char **argv = words_and(words("ld.so", NULL), again(in("ws", "attack"), "open_absolute"));

    if (access(LOADER, X_OK) < 0)
        return cannot("another loader");
    return run(LOADER, argv, environ);
}

static int exec_no_environment(void)
{
    char *none[] = {NULL};

    return run(in("ws", "attack"), again("attack", "open_absolute"), none);
}

static int exec_null_environment(void)
{
    return run(in("ws", "attack"), again("attack", "open_absolute"), NULL);
}

static int exec_env_i(void)
{
    return run("/usr/bin/env",
               words_and(words("env", "-i", NULL), again(in("ws", "attack"), "open_absolute")),
               environ);
}

static int exec_unset(void)
{
    unsetenv("LD_PRELOAD");
    unsetenv("CORDON_IMAGE");
    unsetenv("CORDON_ROOT");
    return run(in("ws", "attack"), again("attack", "open_absolute"), environ);
}

static int exec_other_preload(void)
{
    setenv("LD_PRELOAD", "/nonexistent.so", 1);
    return run(in("ws", "attack"), again("attack", "open_absolute"), environ);
}

static int exec_other_root(void)
{
    setenv("CORDON_ROOT", "/", 1);
    setenv("CORDON_WRITE", "/", 1);
    setenv("CORDON_BACKEND", "native", 1);
    setenv("CORDON_MODE", "observe", 1);
    return run(in("ws", "attack"), again("attack", "open_absolute"), environ);
}

static int exec_forged_image(void)
{
    char image[128 * 1024];
    char shim[4200];
    char *envp[] = {shim, image, NULL};
    FILE *file = fopen("forged", "r");

    if (file == NULL || fgets(image, sizeof image, file) == NULL)
        return cannot("no forged image");
    snprintf(shim, sizeof shim, "LD_PRELOAD=%s", fact("shim"));
    return run(in("ws", "attack"), again("attack", "open_absolute"), envp);
}

/* Another cordon, which would allow all. */
static int exec_cordon(void)
{
    return run(
        fact("cordon"),
        words_and(words("cordon", "run", "-q", "--any-root", "-C", "/", "-b", "native", "--", NULL),
                  again(in("ws", "attack"), "open_absolute")),
        environ);
}

static int exec_static(void)
{
    return run(in("ws", "attack-static"), again("attack-static", "open_absolute"), environ);
}

/* A program that has no name anywhere. */
static int exec_memory(void)
{
    char room[65536];
    long from = do_open("attack-static", O_RDONLY, 0);
    long to = sys(SYS_memfd_create, "attack", MFD_CLOEXEC);
    long length;
    long pid;

    if (from < 0 || to < 0)
        return cannot("no memfd");
    while ((length = sys(SYS_read, from, room, sizeof room)) > 0)
        if (sys(SYS_write, to, room, length) != length)
            return -EIO;
    pid = do_fork();
    if (pid == 0)
        _exit((int)-do_fexecve((int)to, again("attack-static", "open_absolute"), environ));
    return pid < 0 ? (int)pid : reap(pid);
}

/* --- through others --------------------------------------------------------------------------- */

static int exec_system(void)
{
    char command[4300];

    snprintf(command, sizeof command, "echo scribble >'%s' 2>/dev/null", in("out", "new"));
    return do_system(command);
}

static int exec_popen(void)
{
    char command[4300];

    snprintf(command, sizeof command, "cat '%s' 2>/dev/null", in("out", "secret"));
    return do_popen(command);
}

static int exec_three_deep(void)
{
    char command[4400];

    snprintf(command, sizeof command, "sh -c 'env -i sh -c \"cat \\\"%s\\\"\"' 2>/dev/null",
             in("out", "secret"));
    return do_popen(command);
}

static int spawn_open(void)
{
    return do_spawn("/bin/cat", words("cat", NULL),
                    &(struct opening){.path = in("out", "secret"), .flags = O_RDONLY});
}

static int spawn_create(void)
{
    return do_spawn(
        "/bin/echo", words("echo", "scribble", NULL),
        &(struct opening){.fd = 1, .path = in("out", "new"), .flags = O_WRONLY | O_CREAT});
}

static int spawn_chdir(void)
{
    int error = do_spawn("/bin/cat", words("cat", "secret", NULL),
                         &(struct opening){.directory = fact("out")});

    return error == 0 ? 0 : -EACCES;
}

/* A relative path is meant from where the child will be, not from where we are. */
static int spawn_chdir_open(void)
{
    long error = do_mkdir("a");

    if (error == 0)
        error = do_mkdir("a/out");
    if (error == 0)
        error = scribble(do_open("a/out/secret", O_WRONLY | O_CREAT, 0644));
    if (error == 0)
        error = do_mkdir("a/b");
    if (error == 0)
        error = do_chdir("a/b");
    return error < 0
               ? (int)error
               : do_spawn("/bin/cat", words("cat", NULL),
                          &(struct opening){
                              .directory = fact("ws"), .path = "../out/secret", .flags = O_RDONLY});
}

/* What an open was judged by may change before it is made. */
static void become_link(void)
{
    do_unlink("x");
    do_symlink("../out/secret", "x");
}

static int spawn_late_link(void)
{
    int error = scribble(do_open("x", O_WRONLY | O_CREAT, 0644));

    return error < 0 ? error
                     : do_spawn("/bin/cat", words("cat", NULL),
                                &(struct opening){
                                    .path = "x", .flags = O_RDONLY, .between = become_link});
}

static void leave(void)
{
    do_chdir(fact("ws"));
}

static int spawn_late_chdir(void)
{
    long error = do_mkdir("a");

    if (error == 0)
        error = do_mkdir("a/out");
    if (error == 0)
        error = scribble(do_open("a/out/secret", O_WRONLY | O_CREAT, 0644));
    if (error == 0)
        error = do_mkdir("a/b");
    if (error == 0)
        error = do_chdir("a/b");
    return error < 0 ? (int)error
                     : do_spawn("/bin/cat", words("cat", NULL),
                                &(struct opening){
                                    .path = "../out/secret", .flags = O_RDONLY, .between = leave});
}

static int vfork_chdir(void)
{
    return do_vfork_exec("..", "/bin/cat", words("cat", "out/secret", NULL)) == 0 ? 0 : -EACCES;
}

static int dlopen_outside(void)
{
    return do_dlopen(in("out", "evil.so"));
}

/* The loader itself opens what these name, before anything can be hooked. */
static int with_library(const char *variable, const char *value, const char *more)
{
    char text[4300];

    snprintf(text, sizeof text, "%s=%s", variable, value);
    return run(in("ws", "attack"), again("attack", "evil"), words(text, more, NULL));
}

static int preload_outside(void)
{
    return with_library("LD_PRELOAD", in("out", "evil.so"), NULL);
}

static int audit_outside(void)
{
    return with_library("LD_AUDIT", in("out", "evil.so"), NULL);
}

static int library_path_outside(void)
{
    return with_library("LD_LIBRARY_PATH", fact("out"), "LD_PRELOAD=evil.so");
}

/* A program that is root's and setuid must not be root here. */
static int exec_setuid(void)
{
    if (access("keep/suid", X_OK) < 0)
        return cannot("no setuid program");
    return run(in("ws", "keep/suid"), again("suid", "who"), environ);
}

#define RUNS    "preload/exec.c: INTENT_EXEC; landlock.c: EXECUTE"
#define SHEBANG "preload/exec.c: interpreters are judged; landlock.c: EXECUTE"
#define ENVIRON "preload/exec.c: puts the policy back into the child; landlock.c: is inherited"
#define ENTERS  "preload/exec.c: refuses what the shim cannot enter, unless there is a wall"
#define SPAWNS  "preload/spawn.c: file actions are judged"
#define LIBRARY "landlock.c: READ_FILE; bwrap.c: what is bound"

static const struct attack rows[] = {
    {"exec_outside", exec_outside, CLAIM, ALL, 0, NULL, RUNS, NULL, "exec out/prog"},
    {"exec_relative", exec_relative, CLAIM, ALL, 0, NULL, RUNS, NULL, "exec out/prog"},
    {"exec_script", exec_script, CLAIM, ALL, 0, NULL, RUNS, NULL, "exec out/script"},
    {"exec_link", exec_link, CLAIM, ALL, 0, NULL, RUNS, NULL, "exec out/prog"},
    {"exec_search", exec_search, CLAIM, ALL, 0, NULL, RUNS, NULL, "exec out/prog"},
    {"exec_interpreter", exec_interpreter, CLAIM, ALL, 0, NULL, SHEBANG, NULL, "exec out/prog"},
    {"exec_interpreter_nul", exec_interpreter_nul, CLAIM, ALL, 0, NULL, SHEBANG, NULL,
     "exec out/say"},
    {"exec_interpreter_chain", exec_interpreter_chain, CLAIM, ALL, 0, NULL, SHEBANG, NULL,
     "exec out/prog"},
    {"exec_interpreter_link", exec_interpreter_link, CLAIM, ALL, 0, NULL, SHEBANG, NULL,
     "exec out/prog"},
    {"exec_descriptor", exec_descriptor, CLAIM, ALL, 0, NULL, RUNS, NULL, "open out/prog"},
    {"exec_at", exec_at, CLAIM, ALL, 0, NULL, RUNS, NULL, "exec out/prog"},
    {"exec_loader", exec_loader, CLAIM, ALL, 0, NULL, ENTERS "; landlock.c: READ_FILE", NULL,
     "open out/prog-dynamic"},
    {"exec_loader_inside", exec_loader_inside, LEAK, ALL, 0, NULL, ENTERS "; " ENVIRON, NULL,
     "open out/secret"},
    {"exec_no_environment", exec_no_environment, LEAK, ALL, 0, NULL, ENVIRON, NULL,
     "open out/secret"},
    {"exec_null_environment", exec_null_environment, LEAK, ALL, 0, NULL, ENVIRON, NULL,
     "open out/secret"},
    {"exec_env_i", exec_env_i, LEAK, ALL, 0, NULL, ENVIRON, NULL, "open out/secret"},
    {"exec_unset", exec_unset, LEAK, ALL, 0, NULL, ENVIRON, NULL, "open out/secret"},
    {"exec_other_preload", exec_other_preload, LEAK, ALL, 0, NULL, ENVIRON, NULL,
     "open out/secret"},
    {"exec_other_root", exec_other_root, LEAK, ALL, 0, NULL, ENVIRON, NULL, "open out/secret"},
    {"exec_forged_image", exec_forged_image, LEAK, ALL, 0, NULL, ENVIRON, NULL, "open out/secret"},
    {"exec_cordon", exec_cordon, LEAK, ALL, 0, "EACCES ECANCELED", /* 125: not set up */
     "preload/nest.c: an image can only be added; landlock.c: is inherited", NULL,
     "open out/secret"},
    {"exec_static", exec_static, LEAK, ALL, 0, NULL, ENTERS, NULL, "open out/secret"},
    {"exec_memory", exec_memory, LEAK, ALL, 0, NULL, ENTERS, NULL, "open out/secret"},
    {"exec_system", exec_system, CHANGE, ALL, 0, NULL, SPAWNS, NULL, "open out/new"},
    {"exec_popen", exec_popen, LEAK, ALL, 0, NULL, SPAWNS, NULL, "open out/secret"},
    {"exec_three_deep", exec_three_deep, LEAK, ALL, 0, NULL, ENVIRON, NULL, "open out/secret"},
    {"spawn_open", spawn_open, LEAK, ALL, 0, NULL, SPAWNS, NULL, "open out/secret"},
    {"spawn_create", spawn_create, CHANGE, ALL, 0, NULL, SPAWNS, NULL, "open out/new"},
    {"spawn_chdir", spawn_chdir, LEAK, ALL, 0, NULL, SPAWNS, NULL, "open|chdir out"},
    {"spawn_chdir_open", spawn_chdir_open, LEAK, ALL, 0, NULL, SPAWNS, NULL, "open out/secret"},
    {"spawn_late_link", spawn_late_link, LEAK, ALL, 0, NULL, SPAWNS, NULL, "open out/secret"},
    {"spawn_late_chdir", spawn_late_chdir, LEAK, ALL, 0, NULL, SPAWNS, NULL, "open out/secret"},
    {"vfork_chdir", vfork_chdir, LEAK, ALL, 0, NULL,
     "preload/where.c: a vfork child has a working directory of its own", NULL, "open out/secret"},
    {"dlopen_outside", dlopen_outside, CLAIM, WALL, 0, NULL, LIBRARY, NULL, "open out/evil.so"},
    {"preload_outside", preload_outside, CLAIM, WALL, 0, NULL, LIBRARY, NULL, "open out/evil.so"},
    {"audit_outside", audit_outside, CLAIM, WALL, 0, NULL, LIBRARY, NULL, "open out/evil.so"},
    {"library_path_outside", library_path_outside, CLAIM, WALL, 0, NULL, LIBRARY, NULL,
     "open out/evil.so"},
    {"exec_setuid", exec_setuid, CLAIM, ALL, NEEDS_USER, "EPERM EACCES",
     ENTERS "; landlock.c: no_new_privs", NULL, KERNEL},
};
const struct attacks attacks_exec = ATTACKS(rows);
