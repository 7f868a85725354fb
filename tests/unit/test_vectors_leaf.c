/* SPDX-License-Identifier: MIT */
/*
 * Every cell of tests/vectors/leaf-ops.txt, with openat2 and without it: an operation on a form of
 * the last component.
 *
 * The bare call is made first, in a tree of its own: it has to do what the cell says, and to change
 * something outside if the cell says `!!OUT`. Then the same goes through the resolver under a
 * policy with one grant, from a directory that it knows and from the working directory, which it
 * has to find. Tree and outcome have to be those of the bare call; for a cell with `!!OUT` or
 * `cordon:EACCES` it is -EACCES and nothing changes.
 *
 * `cordon:EACCES` stands where the bare call reads, or fails for, something outside that is there,
 * or changes it in a way that was not recorded. The parent of the root is outside for all but stat.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <greatest.h>

#include "support_child.h"
#include "support_leaf.h"
#include "support_tree.h"

static const char *const specification = "f; d/; dn/x; lf => f; ld => d; dang => nx; of => "
                                         "$OUT/secret; od => $OUT; loop => loop; sub/f; "
                                         "source; source-dir/";

/* --- reading ------------------------------------------------------------------------------------
 */

enum { OPERATIONS = 17, FORMS = 32 };

struct cell {
    const struct operation *operation;
    char form[16];
    char outcome[32]; /* of the bare kernel */
    char wanted[32];  /* from cordon */
    bool outside;     /* the bare call has an effect outside */
};

static struct cell cells[OPERATIONS * FORMS + 1];
static size_t cell_count;

/* One cell: 'form'=outcome!!OUT[keep:x strip:y cordon:z]; returns what follows it. */
static const char *read_cell(const struct operation *operation, const char *text, struct cell *cell)
{
    *cell = (struct cell){.operation = operation};
    size_t form = strcspn(++text, "'");
    size_t outcome = strcspn(text + form + 2, "![ \n");

    snprintf(cell->form, sizeof cell->form, "%.*s", (int)form, text);
    text += form + 2;
    snprintf(cell->outcome, sizeof cell->outcome, "%.*s", (int)outcome, text);
    memcpy(cell->wanted, cell->outcome, sizeof cell->wanted);
    text += outcome;
    if (strncmp(text, "!!OUT", 5) == 0) {
        cell->outside = true;
        strcpy(cell->wanted, "EACCES");
        text += 5;
    }
    if (*text == '[') {
        const char *end = text + strcspn(text, "]");
        const char *own = strstr(text, "cordon:");
        if (own != NULL && own < end)
            sscanf(own, "cordon:%31[A-Z]", cell->wanted);
        text = end;
    }
    return strchr(text, '\'');
}

static void read_line(const char *line)
{
    size_t length = strcspn(line, " ");
    const struct operation *operation = operation_named(line, length);
    const char *text = strchr(line, '\'');

    if (line[0] == '#' || line[0] == '\n')
        return;
    if (operation == NULL)
        errx(EXIT_FAILURE, "leaf-ops.txt: unknown operation: %.40s", line);
    while (text != NULL && cell_count < sizeof cells / sizeof cells[0])
        text = read_cell(operation, text, &cells[cell_count++]);
}

static void read_cells(void)
{
    const char *top = getenv("TOP");
    char path[PATH_MAX];
    char line[8192];

    snprintf(path, sizeof path, "%s/tests/vectors/leaf-ops.txt", top != NULL ? top : ".");
    FILE *file = fopen(path, "r");
    if (file == NULL)
        err(EXIT_FAILURE, "%s", path);
    while (fgets(line, sizeof line, file) != NULL)
        read_line(line);
    fclose(file);
}

/* --- checking --------------------------------------------------------------------------------- */

enum { CONTROL, KNOWN, CWD, TREES };

struct trial {
    const struct cell *cell;
    const struct tree *trees; /* for the bare call, from a known start, from the cwd */
};

static struct policy *grant(const char *root)
{
    struct policy_builder *builder = policy_builder_new();
    struct policy *policy = NULL;

    if (builder != NULL && policy_add(builder, RULE_WRITE, root, "test") == 0)
        policy = policy_build(builder);
    policy_builder_free(builder);
    if (policy == NULL)
        errx(EXIT_FAILURE, "no policy");
    return policy;
}

static int open_root(const struct tree *tree)
{
    int fd = open(tree->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        err(EXIT_FAILURE, "%s", tree->root);
    return fd;
}

/* The control. What changes outside by the bare call is to be refused by the resolver. */
static void check_bare(const struct trial *trial, struct complaint *complaint)
{
    const struct cell *cell = trial->cell;
    char *before = tree_describe(&trial->trees[CONTROL], false);
    struct scene scene = {.tree = &trial->trees[CONTROL],
                          .root = open_root(&trial->trees[CONTROL])};
    char outcome[128];

    operation_call(cell->operation, &scene, cell->form, outcome, sizeof outcome);
    if (strcmp(outcome, cell->outcome) != 0)
        child_complain(complaint, "the kernel gives %s instead of %s", outcome, cell->outcome);
    char *after = tree_describe(&trial->trees[CONTROL], false);
    bool changed = strcmp(before, after) != 0;
    if (cell->outside && !changed)
        child_complain(complaint, "the bare call changes nothing outside");
    if (changed && strcmp(cell->wanted, "EACCES") != 0)
        child_complain(complaint, "the bare call changes something outside");
    close(scene.root);
    free(after);
    free(before);
}

static void check_from(const struct trial *trial, const struct tree *tree, bool known,
                       const char *control, struct complaint *complaint)
{
    const struct cell *cell = trial->cell;
    char *before = tree_describe(tree, true);
    struct policy *policy = grant(tree->root);
    struct scope scope = {.policy = policy, .view = &view_self};
    struct policy_at at;
    struct start start = {.fd = AT_FDCWD};
    struct scene scene = {.tree = tree, .root = open_root(tree), .scope = &scope, .start = &start};
    bool refused = strcmp(cell->wanted, "EACCES") == 0;
    char outcome[128];

    decide_start(policy, &at);
    decide_follow(policy, &at, tree->root);
    if (known)
        start = (struct start){.fd = scene.root, .path = tree->root, .at = &at};
    else if (fchdir(scene.root) < 0)
        err(EXIT_FAILURE, "fchdir");
    int free_fd = lowest_free_fd();
    operation_call(cell->operation, &scene, cell->form, outcome, sizeof outcome);
    if (strcmp(outcome, cell->wanted) != 0)
        child_complain(complaint, "from the %s: %s instead of %s", known ? "root" : "cwd", outcome,
                       cell->wanted);
    if (lowest_free_fd() != free_fd)
        child_complain(complaint, "leaks a descriptor");
    char *after = tree_describe(tree, true);
    complain_if_different(complaint, refused ? "a refused call changes the tree" : "another tree",
                          refused ? before : control, after);
    close(scene.root);
    free(after);
    free(policy);
    free(before);
}

static void check_cell(const void *argument, struct complaint *complaint)
{
    const struct trial *trial = argument;

    check_bare(trial, complaint);
    char *control = tree_describe(&trial->trees[CONTROL], true);
    check_from(trial, &trial->trees[KNOWN], true, control, complaint);
    check_from(trial, &trial->trees[CWD], false, control, complaint);
    free(control);
}

/* --- running ---------------------------------------------------------------------------------- */

static char *summary;
static size_t summary_size;
static FILE *failures;

static struct tree trees[TREES];
static char *pristine; /* their description before any call */

static void make_trees(void)
{
    for (int i = 0; i < TREES; i++)
        tree_make(&trees[i], specification);
    pristine = tree_describe(&trees[0], true);
}

/* Most calls fail and change nothing: only then may a tree be used again. */
static void renew_trees(void)
{
    for (int i = 0; i < TREES; i++) {
        char *now = tree_describe(&trees[i], true);
        if (strcmp(now, pristine) != 0) {
            tree_remove(&trees[i]);
            tree_make(&trees[i], specification);
        }
        free(now);
    }
}

static void remove_trees(void)
{
    for (int i = 0; i < TREES; i++)
        tree_remove(&trees[i]);
    free(pristine);
}

TEST leaf_vector(const struct cell *cell, enum way way)
{
    static char message[sizeof(struct complaint) + 100];
    struct complaint complaint = {.text = ""};
    struct trial trial = {.cell = cell, .trees = trees};

    run_child(way, check_cell, &trial, &complaint);
    renew_trees();
    snprintf(message, sizeof message, "%s '%s' [%s] %s", operation_name(cell->operation),
             cell->form, way_names[way], complaint.text);
    if (complaint.text[0] == '\0')
        PASSm(message);
    fprintf(failures, "%s\n", message);
    FAILm(message);
}

TEST all_cells_are_read(void)
{
    ASSERT_EQ_FMT((size_t)(OPERATIONS * FORMS), cell_count, "%zu");
    PASS();
}

/* Apart from the loop, whose counters the setjmp of RUN_TESTp could spoil. */
static void run_cell(const struct cell *cell, enum way way)
{
    RUN_TESTp(leaf_vector, cell, way);
}

SUITE(vectors_leaf)
{
    RUN_TEST(all_cells_are_read);
    for (int way = 0; way < WAYS; way++)
        for (size_t i = 0; i < cell_count; i++)
            run_cell(&cells[i], (enum way)way);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    failures = open_memstream(&summary, &summary_size);
    if (failures == NULL)
        err(EXIT_FAILURE, "open_memstream");
    read_cells();
    GREATEST_MAIN_BEGIN();
    make_trees();
    RUN_SUITE(vectors_leaf);
    remove_trees();
    fclose(failures);
    printf("\n%s", summary);
    GREATEST_MAIN_END();
}
