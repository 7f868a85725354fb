/* SPDX-License-Identifier: MIT */
/*
 * Every row of tests/vectors/open.tsv, with openat2 and without it.
 *
 * The column `kernel` is what open(2) does, which is tried first, in a tree of its own. In a second
 * one cordon_workspace_open has to open or make the same file, or to fail with the same errno; what
 * leads outside (`ESC`) is CORDON_EOUTSIDE and changes nothing.
 *
 * cordon_workspace_resolve is held to `kernel`, `clean_mode` and `strict_mode`. The last two record
 * other resolvers; where cordon differs, the columns `cordon_kernel`, `cordon_clean` and
 * `cordon_strict` say what it answers:
 *   - kernel: a last name that is missing is no error, and the flags of the open play no part: the
 *     last link is followed, a file may be where O_DIRECTORY is asked for;
 *   - a dangling link that leads outside is outside, and one that stays inside is ENOENT in clean
 *     mode, the missing file in strict mode: to write to it would make that file, not the link;
 *   - only ENOENT means missing: a loop is ELOOP, a file used as a directory ENOTDIR, a name that
 *     no file can have ENAMETOOLONG. The other resolvers take all of these for files to be made.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <greatest.h>

#include "cordon.h"
#include "support_child.h"
#include "support_tree.h"

enum column {
    CASE,
    TREE,
    PATH,
    FLAGS,
    KERNEL,
    BENEATH,
    IN_ROOT,
    OS_ROOT,
    CLEAN_MODE,
    STRICT_MODE,
    CORDON_KERNEL_MODE,
    CORDON_CLEAN_MODE,
    CORDON_STRICT_MODE,
    COLUMNS,
};

struct row {
    const char *text[COLUMNS];
    int flags;
};

struct trial {
    const struct row *row;
    struct tree control;
    struct tree tree;
};

static struct row rows[100];
static size_t row_count;

/* --- reading ---------------------------------------------------------------------------------- */

static int read_flags(const char *text)
{
    static const struct {
        const char *name;
        int flag;
    } names[] = {
        {"R", O_RDONLY},    {"W", O_WRONLY},      {"RW", O_RDWR},
        {"CREAT", O_CREAT}, {"EXCL", O_EXCL},     {"NOFOLLOW", O_NOFOLLOW},
        {"PATH", O_PATH},   {"DIR", O_DIRECTORY}, {"TMPFILE", O_TMPFILE},
    };
    int flags = O_CLOEXEC;

    while (*text != '\0') {
        size_t length = strcspn(text, "|");
        size_t i = 0;
        while (i < sizeof names / sizeof names[0] &&
               (strlen(names[i].name) != length || strncmp(names[i].name, text, length) != 0))
            i++;
        if (i == sizeof names / sizeof names[0])
            errx(EXIT_FAILURE, "open.tsv: no flag %s", text);
        flags |= names[i].flag;
        text += length + (text[length] == '|');
    }
    return flags;
}

static void read_row(const char *line, struct row *row)
{
    char *rest = strdup(line);

    if (rest == NULL)
        err(EXIT_FAILURE, "strdup");
    rest[strcspn(rest, "\n")] = '\0';
    for (int i = 0; i < COLUMNS; i++) {
        const char *field = rest != NULL ? strsep(&rest, "\t") : "";
        row->text[i] = field;
    }
    row->flags = read_flags(row->text[FLAGS]);
}

static void read_rows(void)
{
    const char *top = getenv("TOP");
    char line[4096];
    bool header = true;
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/tests/vectors/open.tsv", top != NULL ? top : ".");
    FILE *file = fopen(path, "r");
    if (file == NULL)
        err(EXIT_FAILURE, "%s", path);
    while (fgets(line, sizeof line, file) != NULL) {
        if (line[0] == '#')
            continue;
        if (!header && row_count < sizeof rows / sizeof rows[0])
            read_row(line, &rows[row_count++]);
        header = false;
    }
    fclose(file);
}

/* --- open ------------------------------------------------------------------------------------- */

/* The control: what the kernel does by itself. */
static void check_kernel(const struct trial *trial, const char *expected,
                         struct complaint *complaint)
{
    char *path = tree_expand(&trial->control, trial->row->text[PATH]);
    char outcome[TREE_TEXT + 8];
    int dir = open(trial->control.root, O_PATH | O_CLOEXEC);
    int fd = openat(dir, path, trial->row->flags, 0644);

    if (fd >= 0)
        tree_tell_fd(&trial->control, fd, outcome, sizeof outcome);
    else
        snprintf(outcome, sizeof outcome, "%s", strerrorname_np(errno));
    if (strcmp(outcome, expected) != 0)
        child_complain(complaint, "the kernel gives %.300s instead of %.300s", outcome, expected);
    if (fd >= 0)
        close(fd);
    close(dir);
    free(path);
}

/* Whether `fd` is the file that has the name in the tree. */
static bool has_name(const struct tree *tree, int fd, const char *name)
{
    struct stat there;
    struct stat opened;
    int root = open(tree->root, O_PATH | O_CLOEXEC);
    bool same = fstatat(root, name, &there, AT_SYMLINK_NOFOLLOW) == 0 && fstat(fd, &opened) == 0 &&
                there.st_dev == opened.st_dev && there.st_ino == opened.st_ino;

    close(root);
    return same;
}

static void tell_open(const struct tree *tree, int result, char *outcome, size_t size)
{
    if (result == CORDON_EOUTSIDE)
        snprintf(outcome, size, "OUTSIDE");
    else if (result < 0)
        snprintf(outcome, size, "%s", strerrorname_np(cordon_errno(result)));
    else
        tree_tell_fd(tree, result, outcome, size);
}

static void check_open(const struct trial *trial, const cordon_workspace *workspace,
                       const char *path, const char *expected, struct complaint *complaint)
{
    bool escapes = strncmp(expected, "ESC", 3) == 0;
    const char *wanted = escapes ? "OUTSIDE" : expected;
    char outcome[TREE_TEXT + 8];
    int free_fd = lowest_free_fd();

    errno = 0;
    int fd = cordon_workspace_open(workspace, path, trial->row->flags, 0644);
    if (errno != 0)
        child_complain(complaint, "open touches errno");
    tell_open(&trial->tree, fd, outcome, sizeof outcome);
    if (strcmp(outcome, wanted) != 0)
        child_complain(complaint, "open gives %.300s instead of %.300s", outcome, wanted);
    else if (fd >= 0 && strstr(outcome, "(deleted)") == NULL &&
             !has_name(&trial->tree, fd, expected + strlen("ok ")))
        child_complain(complaint, "open gives another file");
    if (fd >= 0)
        close(fd);
    if (lowest_free_fd() != free_fd)
        child_complain(complaint, "open leaks a descriptor");
}

/* --- resolve ---------------------------------------------------------------------------------- */

/* What a mode should answer, in the words of tell_resolve. */
static const char *wanted_of(const struct row *row, enum cordon_mode mode)
{
    static const enum column recorded[] = {KERNEL, CLEAN_MODE, STRICT_MODE};
    const char *own = row->text[CORDON_KERNEL_MODE + (int)mode];
    const char *wanted = *own != '\0' ? own : row->text[recorded[mode]];

    if (strcmp(wanted, "too many links") == 0)
        return "ELOOP";
    return strcmp(wanted, "parent-ENOENT") == 0 ? "ENOENT" : wanted;
}

static void tell_resolve(const struct tree *tree, ssize_t result, const char *place, char *outcome,
                         size_t size)
{
    if (result == CORDON_EEMPTY)
        snprintf(outcome, size, "reject-empty");
    else if (result == CORDON_EDOTDOT)
        snprintf(outcome, size, "reject-dotdot");
    else if (result < 0 && result != CORDON_EOUTSIDE)
        snprintf(outcome, size, "%s", strerrorname_np(cordon_errno((int)result)));
    else
        tree_tell(tree, place, outcome, size);
}

static void check_resolve(const struct trial *trial, const cordon_workspace *workspace,
                          enum cordon_mode mode, const char *path, struct complaint *complaint)
{
    static const char *const names[] = {"kernel", "clean", "strict"};
    char *wanted = tree_expand(&trial->tree, wanted_of(trial->row, mode));
    char place[TREE_TEXT] = "untouched";
    char outcome[TREE_TEXT + 8];
    int free_fd = lowest_free_fd();

    errno = 0;
    ssize_t result = cordon_workspace_resolve(workspace, mode, path, place, sizeof place);
    if (errno != 0)
        child_complain(complaint, "%s: resolve touches errno", names[mode]);
    if (result < 0 && result != CORDON_EOUTSIDE && strcmp(place, "untouched") != 0)
        child_complain(complaint, "%s: resolve fails and stores %.300s", names[mode], place);
    if (result >= 0 && (size_t)result != strlen(place))
        child_complain(complaint, "%s: resolve gives a wrong length", names[mode]);
    tell_resolve(&trial->tree, result, place, outcome, sizeof outcome);
    bool outside = result == CORDON_EOUTSIDE && strncmp(outcome, "ESC", 3) == 0;
    if (strcmp(outcome, wanted) != 0 && !(outside && strcmp(wanted, "OUTSIDE") == 0))
        child_complain(complaint, "%s: resolve gives %.300s instead of %.300s", names[mode],
                       outcome, wanted);
    if (result >= 0 && strncmp(outcome, "ESC", 3) == 0)
        child_complain(complaint, "%s: resolve accepts what is outside", names[mode]);
    if (lowest_free_fd() != free_fd)
        child_complain(complaint, "%s: resolve leaks a descriptor", names[mode]);
    free(wanted);
}

/* --- both ------------------------------------------------------------------------------------- */

static void check_row(const void *argument, struct complaint *complaint)
{
    const struct trial *trial = argument;
    char *path = tree_expand(&trial->tree, trial->row->text[PATH]);
    char *expected = tree_expand(&trial->tree, trial->row->text[KERNEL]);
    char *before = tree_describe(&trial->tree, true);
    cordon_workspace *workspace;

    check_kernel(trial, expected, complaint);
    if (cordon_workspace_new(trial->tree.root, &workspace) < 0) {
        child_complain(complaint, "no workspace");
        return;
    }
    for (int mode = CORDON_KERNEL; mode <= CORDON_STRICT; mode++)
        check_resolve(trial, workspace, (enum cordon_mode)mode, path, complaint);
    char *resolved = tree_describe(&trial->tree, true);
    complain_if_different(complaint, "resolve changes the tree", before, resolved);
    check_open(trial, workspace, path, expected, complaint);
    char *opened = tree_describe(&trial->tree, true);
    char *control = tree_describe(&trial->control, true);
    if (strncmp(expected, "ESC", 3) == 0)
        complain_if_different(complaint, "a refused open changes the tree", before, opened);
    else
        complain_if_different(complaint, "open leaves another tree than the kernel", control,
                              opened);
    cordon_workspace_close(workspace);
    free(control);
    free(opened);
    free(resolved);
    free(before);
    free(expected);
    free(path);
}

static char *summary;
static size_t summary_size;
static FILE *failures;

TEST open_vector(const struct row *row, enum way way)
{
    static char message[sizeof(struct complaint) + 100];
    struct complaint complaint = {.text = ""};
    struct trial trial = {.row = row};

    tree_make(&trial.control, row->text[TREE]);
    tree_make(&trial.tree, row->text[TREE]);
    int probe =
        open(trial.control.base, row->flags & O_TMPFILE ? O_TMPFILE | O_RDWR : O_PATH, 0600);
    bool possible = probe >= 0;
    if (possible) {
        close(probe);
        run_child(way, check_row, &trial, &complaint);
    }
    tree_remove(&trial.tree);
    tree_remove(&trial.control);
    snprintf(message, sizeof message, "%s [%s] %s", row->text[CASE], way_names[way],
             complaint.text);
    if (!possible)
        SKIPm("O_TMPFILE does not work on this file system");
    if (complaint.text[0] == '\0')
        PASSm(message);
    fprintf(failures, "%s\n", message);
    FAILm(message);
}

TEST openat2_is_here(void)
{
    if (!have_openat2())
        SKIPm("this kernel has no openat2: all rows go without");
    PASS();
}

TEST all_rows_are_read(void)
{
    ASSERT_EQ_FMT((size_t)78, row_count, "%zu");
    PASS();
}

/* Apart from the loop, whose counters the setjmp of RUN_TESTp could spoil. */
static void run_row(const struct row *row, enum way way)
{
    RUN_TESTp(open_vector, row, way);
}

SUITE(vectors_open)
{
    RUN_TEST(openat2_is_here);
    RUN_TEST(all_rows_are_read);
    for (int way = 0; way < WAYS; way++)
        for (size_t i = 0; i < row_count; i++)
            run_row(&rows[i], (enum way)way);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    failures = open_memstream(&summary, &summary_size);
    if (failures == NULL)
        err(EXIT_FAILURE, "open_memstream");
    read_rows();
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(vectors_open);
    fclose(failures);
    printf("\n%s", summary);
    GREATEST_MAIN_END();
}
