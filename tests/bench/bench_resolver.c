/* SPDX-License-Identifier: MIT */
/*
 * bench_resolver.c - what the resolver adds to a call, as a ratio to the bare call.
 *
 * The tree, in a temporary directory; the bench stands in ws:
 *
 *     outside/secret
 *     ws/file                         ws/out  -> ../outside     ws/abs -> /.../ws/d01
 *     ws/d01/file                     ws/d01/d02/link -> d03
 *     ws/d01/d02/d03/d04/d05/file     .../d05/tofile -> file
 *     ws/d01/ ... /d20/file           ws/x.../x.../file: more than 256 bytes
 *
 * Figures never fail the bench, only wrong answers do.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cordon.h"
#include "os.h"
#include "place.h"
#include "support.h"

#define D5   "d01/d02/d03/d04/d05/"
#define D20  D5 "d06/d07/d08/d09/d10/d11/d12/d13/d14/d15/d16/d17/d18/d19/d20/"
#define X50  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define LONG X50 X50 X50 "/" X50 X50 X50 "/"

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* What one call works on. */
struct work {
    struct scope scope;
    struct start home; /* the workspace, as a shim would know it */
    struct start start;
    bool confirm; /* the start is a descriptor that is known, but has to be looked at again */
    char path[PATH_MAX];
    char fresh[PATH_MAX]; /* a free name in the same directory */
    const cordon_workspace *workspace;
    enum cordon_mode mode;
};

static char base_dir[PATH_MAX];
static char ws_dir[PATH_MAX];
static pid_t owner;

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "bench_resolver: %s: %s\n", what, strerror(errno));
    exit(2);
}

/* --- the calls, bare and judged --------------------------------------------------------------- */

/* libc's -1 and errno as the resolver has it. */
static long answer(long result)
{
    return result < 0 ? -errno : result;
}

/* What the shim does before it trusts what it knows of a descriptor. */
static void confirm(const struct work *work)
{
    struct os_id id;

    if (work->confirm)
        os_identify(work->start.fd, "", &id);
}

static long open_bare(void *subject)
{
    const struct work *work = subject;
    int fd = openat(work->start.fd, work->path, O_RDONLY | O_CLOEXEC);

    return answer(fd < 0 ? fd : close(fd));
}

static long open_judged(void *subject)
{
    const struct work *work = subject;
    int fd;

    confirm(work);
    fd = place_open(&work->scope, &work->start, work->path, O_RDONLY | O_CLOEXEC, 0, NULL);
    return fd < 0 ? fd : os_close(fd);
}

/* Inode numbers as answers, so that another file than the right one is noticed. */
static long stat_bare_with(const struct work *work, int flags)
{
    struct stat st;
    int error = fstatat(work->start.fd, work->path, &st, flags);

    return answer(error < 0 ? error : (long)st.st_ino);
}

static long stat_judged_with(const struct work *work, bool follow)
{
    struct stat st;
    int error;

    confirm(work);
    error = place_stat(&work->scope, &work->start, work->path, follow, &st, NULL);
    return error < 0 ? error : (long)st.st_ino;
}

static long stat_bare(void *subject)
{
    return stat_bare_with(subject, 0);
}

static long stat_judged(void *subject)
{
    return stat_judged_with(subject, true);
}

static long lstat_bare(void *subject)
{
    return stat_bare_with(subject, AT_SYMLINK_NOFOLLOW);
}

static long lstat_judged(void *subject)
{
    return stat_judged_with(subject, false);
}

static long create_bare(void *subject)
{
    const struct work *work = subject;
    int fd = openat(work->start.fd, work->fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0)
        return answer(fd);
    close(fd);
    return answer(unlinkat(work->start.fd, work->fresh, 0));
}

static long remove_judged(const struct work *work, int flags)
{
    struct place place;
    int error;

    confirm(work);
    error = place_parent(&work->scope, &work->start, work->fresh, NAME_GONE, &place, NULL);
    if (error < 0)
        return error;
    error = os_unlinkat(place.dir, place.name, flags);
    place_release(&place);
    return error;
}

static long create_judged(void *subject)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
    const struct work *work = subject;
    int fd;

    confirm(work);
    fd = place_open(&work->scope, &work->start, work->fresh, flags, 0600, NULL);
    if (fd < 0)
        return fd;
    os_close(fd);
    return remove_judged(work, 0);
}

static long mkdir_bare(void *subject)
{
    const struct work *work = subject;
    int error = mkdirat(work->start.fd, work->fresh, 0700);

    return answer(error < 0 ? error : unlinkat(work->start.fd, work->fresh, AT_REMOVEDIR));
}

static long mkdir_judged(void *subject)
{
    const struct work *work = subject;
    struct place place;
    int error;

    confirm(work);
    error = place_parent(&work->scope, &work->start, work->fresh, NAME_NEW, &place, NULL);
    if (error < 0)
        return error;
    error = os_mkdirat(place.dir, place.name, 0700);
    place_release(&place);
    return error < 0 ? error : remove_judged(work, AT_REMOVEDIR);
}

static long rename_bare(void *subject)
{
    const struct work *work = subject;
    int dir = work->start.fd;
    int error = renameat(dir, work->path, dir, work->fresh);

    return answer(error < 0 ? error : renameat(dir, work->fresh, dir, work->path));
}

static long rename_judged(void *subject)
{
    const struct work *work = subject;
    const struct start *start = &work->start;
    int error;

    confirm(work);
    error = place_rename(&work->scope, start, work->path, start, work->fresh, 0, NULL);
    if (error < 0)
        return error;
    confirm(work);
    return place_rename(&work->scope, start, work->fresh, start, work->path, 0, NULL);
}

/* What many programs do instead: look where it leads, compare, and open the name. Full of races. */
static long open_after_realpath(void *subject)
{
    const struct work *work = subject;
    char real[PATH_MAX];
    int fd;

    if (realpath(work->path, real) == NULL)
        return -errno;
    if (!path_is_below(ws_dir, real))
        return -EACCES;
    fd = open(real, O_RDONLY | O_CLOEXEC);
    return answer(fd < 0 ? fd : close(fd));
}

static long resolve_by_libc(void *subject)
{
    const struct work *work = subject;
    char real[PATH_MAX];

    return realpath(work->path, real) == NULL ? -errno : (long)strlen(real);
}

static long resolve_by_cordon(void *subject)
{
    const struct work *work = subject;
    char real[PATH_MAX];

    return cordon_workspace_resolve(work->workspace, work->mode, work->path, real, sizeof real);
}

/* --- what is measured ------------------------------------------------------------------------- */

/* Which target of DESIGN.md (Cost) holds. */
enum group { GROUP_OPEN, GROUP_STAT, GROUP_CHANGE };

enum {
    OPEN = 1,
    STAT = 2,
    LSTAT = 4,
    CREATE = 8,
    RENAME = 16,
    MKDIR = 32,
    READS = OPEN | STAT | LSTAT,
    ALL = READS | CREATE | RENAME | MKDIR,
};

static const struct operation {
    const char *title;
    unsigned bit;
    enum group group;
    long (*bare)(void *);
    long (*judged)(void *);
} operations[] = {
    {"open and close", OPEN, GROUP_OPEN, open_bare, open_judged},
    {"stat", STAT, GROUP_STAT, stat_bare, stat_judged},
    {"lstat", LSTAT, GROUP_STAT, lstat_bare, lstat_judged},
    {"create (open, close) and unlink", CREATE, GROUP_CHANGE, create_bare, create_judged},
    {"rename, there and back", RENAME, GROUP_CHANGE, rename_bare, rename_judged},
    {"mkdir and rmdir", MKDIR, GROUP_CHANGE, mkdir_bare, mkdir_judged},
};

enum from {
    FROM_CWD,
    FROM_ROOT,      /* an absolute path */
    FROM_DIRFD,     /* a descriptor of ws/d01/.../d05 that is known */
    FROM_CONFIRMED, /* the same, looked at again before each call */
    FROM_UNKNOWN,   /* the same, of which nothing is known */
};

enum shape { SHAPE_NAME, SHAPE_DIRFD, SHAPE_PLAIN, SHAPE_LINK, SHAPE_FREE };

static const struct kind {
    const char *name;
    enum from from;
    enum shape shape;
    const char *dir;
    const char *leaf;
    unsigned operations;
    int expected; /* 0: whatever the bare call says, which is no error */
} kinds[] = {
    {"bare name", FROM_CWD, SHAPE_NAME, "", "file", ALL, 0},
    {"name in a known dirfd", FROM_DIRFD, SHAPE_DIRFD, "", "file", ALL, 0},
    {"name in a dirfd, fstat first", FROM_CONFIRMED, SHAPE_DIRFD, "", "file", ALL, 0},
    {"name in an unknown dirfd", FROM_UNKNOWN, SHAPE_FREE, "", "file", ALL, 0},
    {"relative, depth 1", FROM_CWD, SHAPE_PLAIN, "d01/", "file", ALL, 0},
    {"relative, depth 5", FROM_CWD, SHAPE_PLAIN, D5, "file", ALL, 0},
    {"relative, depth 20", FROM_CWD, SHAPE_PLAIN, D20, "file", ALL, 0},
    {"absolute, depth 1", FROM_ROOT, SHAPE_PLAIN, "d01/", "file", ALL, 0},
    {"absolute, depth 5", FROM_ROOT, SHAPE_PLAIN, D5, "file", ALL, 0},
    {"absolute, depth 20", FROM_ROOT, SHAPE_PLAIN, D20, "file", ALL, 0},
    {"absolute, over 256 bytes", FROM_ROOT, SHAPE_PLAIN, LONG, "file", ALL, 0},
    {"link in the middle", FROM_CWD, SHAPE_LINK, "d01/d02/link/d04/d05/", "file", ALL, 0},
    {"absolute link in the middle", FROM_CWD, SHAPE_LINK, "abs/d02/d03/d04/d05/", "file", ALL, 0},
    {"link at the end", FROM_CWD, SHAPE_LINK, D5, "tofile", READS, 0},
    {"with ..", FROM_CWD, SHAPE_LINK, "d01/d02/../d02/d03/d04/d05/", "file", ALL, 0},
    {"missing, bare name", FROM_CWD, SHAPE_NAME, "", "gone", READS, -ENOENT},
    {"missing, absolute, depth 5", FROM_ROOT, SHAPE_PLAIN, D5, "gone", READS, -ENOENT},
    {"refused, absolute", FROM_ROOT, SHAPE_FREE, "../outside/", "secret", READS, -EACCES},
    {"refused, by a link", FROM_CWD, SHAPE_FREE, "out/", "secret", READS, -EACCES},
};

enum { POLICIES = 4, TASKS = 160 };

struct shelf {
    const char *name;
    size_t grants;
    bool patterns;
    struct policy *policy;
    struct policy_at at_ws;
    struct policy_at at_d5;
};

/* A line of the table to be. */
struct task {
    const char *title;
    char name[40];
    struct bench_side base;
    struct bench_side other;
    double target;
    double aim;
    bool blind; /* to be measured without openat2, too */
    struct work work;
};

struct bench {
    struct shelf shelves[POLICIES];
    cordon_workspace *workspace;
    int dirfd; /* of ws/d01/.../d05 */
    char d5[PATH_MAX];
    struct task *tasks;
    size_t count;
    bool wrong;
};

static void set_targets(struct task *task, enum group group, enum shape shape)
{
    if (shape == SHAPE_FREE)
        return;
    if (group == GROUP_CHANGE || shape == SHAPE_DIRFD) {
        task->target = 1.5;
    } else if (group == GROUP_OPEN) {
        task->target = shape == SHAPE_LINK ? 0 : 1.15;
    } else {
        task->target = shape == SHAPE_NAME ? 1.25 : 2.5;
        task->aim = shape == SHAPE_NAME ? 0 : 1.5;
    }
}

static void set_start(const struct bench *bench, const struct shelf *shelf, enum from from,
                      struct work *work)
{
    work->home = (struct start){.fd = AT_FDCWD, .path = ws_dir, .at = &shelf->at_ws};
    work->scope = (struct scope){.policy = shelf->policy, .view = &view_self, .home = &work->home};
    if (from == FROM_CWD || from == FROM_ROOT)
        work->start = (struct start){.fd = AT_FDCWD, .path = ws_dir, .at = &shelf->at_ws};
    else if (from == FROM_UNKNOWN)
        work->start = (struct start){.fd = bench->dirfd};
    else
        work->start = (struct start){.fd = bench->dirfd, .path = bench->d5, .at = &shelf->at_d5};
    work->confirm = from == FROM_CONFIRMED;
}

static void set_paths(struct work *work, enum from from, const char *dir, const char *leaf)
{
    const char *root = from == FROM_ROOT ? ws_dir : "";
    const char *slash = from == FROM_ROOT ? "/" : "";

    if (strncmp(dir, "../", 3) == 0 && from == FROM_ROOT) { /* beside the workspace */
        root = base_dir;
        dir += 3;
    }
    if (snprintf(work->path, sizeof work->path, "%s%s%s%s", root, slash, dir, leaf) >= PATH_MAX ||
        snprintf(work->fresh, sizeof work->fresh, "%s%s%snew", root, slash, dir) >= PATH_MAX)
        die(dir);
}

static struct task *add_task(struct bench *bench, const char *title, const char *name)
{
    struct task *task = &bench->tasks[bench->count++];

    if (bench->count > TASKS)
        abort();
    task->title = title;
    snprintf(task->name, sizeof task->name, "%s", name);
    task->base.subject = &task->work;
    task->other.subject = &task->work;
    task->blind = true;
    return task;
}

/* Asks both once. From then on each has to repeat itself, and the two have to agree unless the path
 * is to be refused. */
static void expect(struct bench *bench, struct task *task, int expected)
{
    long bare = task->base.call(&task->work);
    long judged = task->other.call(&task->work);
    bool right = expected == -EACCES ? bare >= 0 && judged == -EACCES
                 : expected < 0      ? bare == expected && judged == expected
                                     : bare >= 0 && judged == bare;

    task->base.expected = bare;
    task->other.expected = judged;
    if (right)
        return;
    fprintf(stderr, "bench_resolver: %s: %s: %ld, and bare %ld\n", task->title, task->name, judged,
            bare);
    bench->wrong = true;
}

/* An open has only "it worked" for an answer: here is looked at what it opened. */
static void expect_same_file(struct bench *bench, const struct task *task)
{
    const struct work *work = &task->work;
    struct stat bare;
    struct stat judged;
    int fd = place_open(&work->scope, &work->start, work->path, O_RDONLY | O_CLOEXEC, 0, NULL);

    if (fd < 0 || fstat(fd, &judged) < 0 || fstatat(work->start.fd, work->path, &bare, 0) < 0 ||
        bare.st_ino != judged.st_ino || bare.st_dev != judged.st_dev) {
        fprintf(stderr, "bench_resolver: %s: not the same file\n", task->name);
        bench->wrong = true;
    }
    if (fd >= 0)
        close(fd);
}

static void add_call(struct bench *bench, const struct shelf *shelf,
                     const struct operation *operation, const struct kind *kind, const char *name)
{
    struct task *task = add_task(bench, operation->title, name);

    task->base.call = operation->bare;
    task->other.call = operation->judged;
    set_targets(task, operation->group, kind->shape);
    set_start(bench, shelf, kind->from, &task->work);
    set_paths(&task->work, kind->from, kind->dir, kind->leaf);
    expect(bench, task, kind->expected);
    if (operation->bit == OPEN && kind->expected == 0)
        expect_same_file(bench, task);
}

/* The naive way costs as much as it costs: in the column of the ratio to the bare open. */
static void add_naive(struct bench *bench)
{
    static const char *const dirs[] = {"d01/", D5, D20, "d01/d02/link/d04/d05/"};
    static const char *const names[] = {"absolute, depth 1", "absolute, depth 5",
                                        "absolute, depth 20", "absolute, link in the middle"};

    for (size_t i = 0; i < LENGTH(dirs); i++) {
        struct task *task =
            add_task(bench, "for comparison: realpath(3), then open: slow, and a race", names[i]);
        task->base.call = open_bare;
        task->other.call = open_after_realpath;
        task->blind = false;
        set_start(bench, &bench->shelves[0], FROM_ROOT, &task->work);
        set_paths(&task->work, FROM_ROOT, dirs[i], "file");
        expect(bench, task, 0);
    }
}

static void add_resolve(struct bench *bench)
{
    static const struct {
        const char *name;
        const char *dir;
        enum cordon_mode mode;
    } cases[] = {
        {"kernel, depth 1", "d01/", CORDON_KERNEL},
        {"kernel, depth 5", D5, CORDON_KERNEL},
        {"kernel, depth 20", D20, CORDON_KERNEL},
        {"kernel, link in the middle", "d01/d02/link/d04/d05/", CORDON_KERNEL},
        {"clean, depth 5", D5, CORDON_CLEAN},
        {"strict, depth 5", D5, CORDON_STRICT},
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct task *task =
            add_task(bench, "cordon_workspace_resolve against realpath(3)", cases[i].name);
        task->base.call = resolve_by_libc;
        task->other.call = resolve_by_cordon;
        task->work.workspace = bench->workspace;
        task->work.mode = cases[i].mode;
        set_paths(&task->work, FROM_CWD, cases[i].dir, "file");
        expect(bench, task, 0);
    }
}

static void add_tasks(struct bench *bench)
{
    static const struct kind deep = {NULL, FROM_ROOT, SHAPE_PLAIN, D5, "file", ALL, 0};

    for (size_t i = 0; i < LENGTH(operations); i++) {
        for (size_t j = 0; j < LENGTH(kinds); j++)
            if (kinds[j].operations & operations[i].bit)
                add_call(bench, &bench->shelves[0], &operations[i], &kinds[j], kinds[j].name);
        /* Shelf 0 is in "absolute, depth 5". */
        for (size_t j = 1; j < POLICIES; j++) {
            char name[40];
            snprintf(name, sizeof name, "  %s", bench->shelves[j].name);
            if (operations[i].bit & (OPEN | STAT | CREATE | RENAME))
                add_call(bench, &bench->shelves[j], &operations[i], &deep, name);
        }
    }
    add_naive(bench);
    add_resolve(bench);
}

/* --- measuring -------------------------------------------------------------------------------- */

/* As on an old kernel, or behind a filter that does not know the call. For good. */
static bool take_openat2_away(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = LENGTH(code), .filter = code};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* What the child without openat2 tells. */
struct told {
    bool filtered;
    bool right;
    struct bench_ratio ratio;
};

/* The filter slows every call down, hence the bare one is measured behind it as well. */
static void compare_blind(const struct task *task, double seconds, struct told *told)
{
    int status;
    pid_t child;

    *told = (struct told){.right = false};
    fflush(NULL);
    child = fork();
    if (child < 0)
        die("fork");
    if (child == 0) {
        told->filtered = take_openat2_away();
        told->right =
            !told->filtered || bench_compare(&task->base, &task->other, seconds, &told->ratio);
        _exit(0);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
}

/* Returns whether the row has a target and misses it. */
static bool run_task(struct bench *bench, const struct task *task, double seconds,
                     struct told *told)
{
    struct bench_ratio ratio;
    struct bench_row row = {
        .name = task->name, .with = &ratio, .target = task->target, .aim = task->aim};

    if (task->blind) {
        compare_blind(task, seconds / 3, told);
        seconds -= seconds / 3;
        if (told->right && told->filtered)
            row.without = &told->ratio;
    }
    if (!bench_compare(&task->base, &task->other, seconds, &ratio) ||
        (task->blind && !told->right)) {
        fprintf(stderr, "bench_resolver: %s: %s: wrong\n", task->title, task->name);
        bench->wrong = true;
        return false;
    }
    bench_print_row(&row);
    return bench_misses(&row);
}

static void run_tasks(struct bench *bench, double seconds)
{
    struct told *told =
        mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    size_t targets = 0;
    size_t misses = 0;

    if (told == MAP_FAILED)
        die("mmap");
    bench_print_head("bare");
    for (size_t i = 0; i < bench->count; i++) {
        const struct task *task = &bench->tasks[i];
        if (i == 0 || strcmp(task->title, bench->tasks[i - 1].title) != 0)
            bench_print_title(task->title);
        misses += run_task(bench, task, seconds / (double)bench->count, told);
        targets += task->target > 0;
    }
    munmap(told, sizeof *told);
    printf("%zu of %zu targets missed\n", misses, targets);
}

/* --- policies --------------------------------------------------------------------------------- */

/* The i-th grant: the workspace, the system, then half of them below the workspace. */
static void grant_path(size_t i, char *path, size_t size)
{
    static const char *const fixed[] = {"/usr", "/bin",  "/lib", "/lib64", "/sbin",
                                        "/etc", "/proc", "/opt", "/dev"};

    if (i == 0)
        snprintf(path, size, "%s", ws_dir);
    else if (i <= LENGTH(fixed))
        snprintf(path, size, "%s", fixed[i - 1]);
    else if (i % 2 == 0)
        snprintf(path, size, "%.4000s/d01/d02/grant%zu", ws_dir, i);
    else
        snprintf(path, size, "/srv/%zu/grant%zu", i % 100, i);
}

static const char *const patterns[] = {
    "**/.env",   "*.pem",      "secrets/",   "id_rsa*",  ".env.*",
    "*.key",     "*.p12",      ".netrc",     ".npmrc",   ".pypirc",
    "*.kdbx",    ".aws/",      ".ssh/",      ".gnupg/",  "config/id_*",
    "*.tfstate", "**/.docker", "*.keystore", "private/", "*[Ss]ecret*.json",
};

static int add_rules(const struct shelf *shelf, struct policy_builder *builder)
{
    char path[PATH_MAX];
    int error = 0;

    for (size_t i = 0; i < shelf->grants && error == 0; i++) {
        grant_path(i, path, sizeof path);
        error = policy_add(builder, i == 0 || i % 2 ? RULE_WRITE : RULE_READ, path, "bench");
    }
    for (size_t i = 0; shelf->patterns && i < LENGTH(patterns) && error == 0; i++)
        error = policy_add_pattern(builder, RULE_DENY, ws_dir, patterns[i], "bench");
    return error;
}

static struct policy *make_policy(const struct shelf *shelf)
{
    struct policy_builder *builder = policy_builder_new();
    struct policy *policy = NULL;

    if (builder == NULL)
        die("policy");
    if (add_rules(shelf, builder) == 0)
        policy = policy_build(builder);
    else
        fprintf(stderr, "bench_resolver: %s\n", policy_builder_error(builder));
    policy_builder_free(builder);
    return policy;
}

static void fill_shelves(struct bench *bench)
{
    static const struct shelf wanted[POLICIES] = {
        {.name = "10 grants", .grants = 10},
        {.name = "1,000 grants", .grants = 1000},
        {.name = "100,000 grants", .grants = 100000},
        {.name = "10 grants, 20 deny patterns", .grants = 10, .patterns = true},
    };

    for (size_t i = 0; i < POLICIES; i++) {
        struct shelf *shelf = &bench->shelves[i];
        *shelf = wanted[i];
        shelf->policy = make_policy(shelf);
        if (shelf->policy == NULL)
            die("policy");
        decide_start(shelf->policy, &shelf->at_ws);
        decide_follow(shelf->policy, &shelf->at_ws, ws_dir);
        shelf->at_d5 = shelf->at_ws;
        decide_follow(shelf->policy, &shelf->at_d5, D5);
    }
}

static long build_once(void *subject)
{
    struct policy *policy = make_policy(subject);
    bool made = policy != NULL;

    free(policy);
    return made;
}

static long check_once(void *subject)
{
    const struct shelf *shelf = subject;

    return policy_check(shelf->policy, (size_t)shelf->policy->size) == NULL;
}

/* Which paths to decide on, in turn. */
struct questions {
    const struct policy *policy;
    size_t next;
    size_t count; /* a power of two */
    char (*paths)[PATH_MAX / 16];
};

static long decide_once(void *subject)
{
    struct questions *questions = subject;
    const char *path = questions->paths[questions->next++ & (questions->count - 1)];

    return decide(questions->policy, path, INTENT_READ).allowed;
}

/* Numbers without order that are the same every time. */
static size_t scatter(size_t i)
{
    return (size_t)(((uint64_t)i * 0x9e3779b97f4a7c15U) >> 20);
}

/* Nanoseconds of decide() on `count` paths, each two components below a grant taken at random: one
 * is found in the caches, many are not. */
static double time_decide(const struct shelf *shelf, size_t count, double seconds)
{
    struct questions questions = {.policy = shelf->policy, .count = count};
    struct bench_side side = {decide_once, &questions, 1};
    struct bench_cost cost = {.ns = -1};

    questions.paths = calloc(count, sizeof *questions.paths);
    if (questions.paths == NULL)
        die("decide");
    for (size_t i = 0; i < count; i++) {
        char grant[PATH_MAX];
        grant_path(count == 1 ? 0 : scatter(i) % shelf->grants, grant, sizeof grant);
        snprintf(questions.paths[i], sizeof *questions.paths, "%.200s/d01/file", grant);
    }
    bench_time(&side, seconds, &cost);
    free(questions.paths);
    return cost.ns;
}

static void measure_policies(struct bench *bench, double seconds)
{
    double share = seconds / POLICIES / 4;

    printf("%-31s %9s %9s %9s %15s %15s\n", "policies", "build", "size", "check", "decide 1 path",
           "8,192 paths");
    for (size_t i = 0; i < POLICIES; i++) {
        struct shelf *shelf = &bench->shelves[i];
        struct bench_cost build;
        struct bench_cost check;
        char text[5][32];
        if (!bench_time(&(struct bench_side){build_once, shelf, 1}, share, &build) ||
            !bench_time(&(struct bench_side){check_once, shelf, 1}, share, &check)) {
            bench->wrong = true;
            continue;
        }
        double one = time_decide(shelf, 1, share);
        double many = time_decide(shelf, 8192, share);
        bench->wrong = bench->wrong || one < 0 || many < 0;
        printf("  %-29s %9s %9s %9s %15s %15s\n", shelf->name, bench_duration(build.ns, text[0]),
               bench_bytes(shelf->policy->size, text[1]), bench_duration(check.ns, text[2]),
               bench_duration(one, text[3]), bench_duration(many, text[4]));
    }
}

/* --- the tree --------------------------------------------------------------------------------- */

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st;
    (void)kind;
    (void)ftw;
    return remove(path);
}

/* Children end by _exit; should one not, the tree is not theirs. */
static void remove_tree(void)
{
    if (getpid() == owner && chdir("/") == 0)
        nftw(base_dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void make_dirs(const char *dirs)
{
    char path[PATH_MAX];

    for (const char *slash = strchr(dirs, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        snprintf(path, sizeof path, "%.*s", (int)(slash - dirs), dirs);
        if (mkdir(path, 0700) < 0 && errno != EEXIST)
            die(path);
    }
}

static void make_file(const char *dir, const char *name)
{
    char path[PATH_MAX];
    int fd;

    make_dirs(dir);
    snprintf(path, sizeof path, "%s%s", dir, name);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || close(fd) < 0)
        die(path);
}

static void make_link(const char *target, const char *path)
{
    if (symlink(target, path) < 0)
        die(path);
}

/* A canonical directory: a link on the way to it would make no path below it plain. */
static void make_base(void)
{
    const char *tmp = getenv("TMPDIR");
    char template[PATH_MAX];

    snprintf(template, sizeof template, "%s/cordon-bench-XXXXXX",
             tmp != NULL && tmp[0] != '\0' ? tmp : "/tmp");
    if (mkdtemp(template) == NULL || realpath(template, base_dir) == NULL)
        die(template);
    owner = getpid();
    atexit(remove_tree);
    if (snprintf(ws_dir, sizeof ws_dir, "%s/ws", base_dir) >= (int)sizeof ws_dir ||
        mkdir(ws_dir, 0700) < 0 || chdir(ws_dir) < 0)
        die(base_dir);
}

static void make_tree(void)
{
    char d01[PATH_MAX];

    make_base();
    make_file("../outside/", "secret");
    make_file("", "file");
    make_file("d01/", "file");
    make_file(D5, "file");
    make_file(D20, "file");
    make_file(LONG, "file");
    make_link("../outside", "out");
    make_link("d03", "d01/d02/link");
    make_link("file", D5 "tofile");
    if (snprintf(d01, sizeof d01, "%s/d01", ws_dir) >= (int)sizeof d01)
        die(ws_dir);
    make_link(d01, "abs");
}

static void begin(struct bench *bench)
{
    make_tree();
    bench->dirfd = open(D5, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bench->tasks = calloc(TASKS, sizeof *bench->tasks);
    if (bench->dirfd < 0 || bench->tasks == NULL || realpath(D5, bench->d5) == NULL ||
        cordon_workspace_new(ws_dir, &bench->workspace) < 0)
        die(ws_dir);
    fill_shelves(bench);
    add_tasks(bench);
}

static void end(struct bench *bench)
{
    cordon_workspace_close(bench->workspace);
    close(bench->dirfd);
    for (size_t i = 0; i < POLICIES; i++)
        free(bench->shelves[i].policy);
    free(bench->tasks);
}

int main(void)
{
    struct bench bench = {.wrong = false};
    double seconds = bench_seconds(25);

    begin(&bench);
    run_tasks(&bench, seconds * 0.9);
    measure_policies(&bench, seconds * 0.1);
    end(&bench);
    return bench.wrong ? 1 : 0;
}
