/* SPDX-License-Identifier: MIT */
/*
 * bench_supervisor.c - what it costs that no call goes unseen: those of a static program, which the
 * supervisor answers; those of the shim, which go past him by the gate; and real programs. Beside
 * others that see every call. Figures never fail the bench, only wrong answers do.
 */
#include <stdio.h>
#include <string.h>

#include "support.h"
#include "support_copies.h"
#include "support_work.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* A static program is to be twice as fast as under proot. */
#define TARGET_STATIC 0.5
/* What is judged in the program itself is to cost what it would without a supervisor. */
#define TARGET_GATE 1.05

/* --- calls ------------------------------------------------------------------------------------ */

/* Most of it is the loader of that program, whose calls nobody judges but the supervisor. */
#define EXEC "fork + exec of true"

static const char *const names[] = {
    "open absolute, 5 directories",
    "open relative, 5 directories",
    "open a bare name",
    "open, missing",
    "stat absolute",
    "stat relative",
    "access",
    "readlink",
    "create + unlink",
    "rename, twice",
    "mkdir + rmdir",
    EXEC,
};

static const struct column static_columns[] = {
    {SIDE_LANDLOCK, SIDE_BARE, false}, {SIDE_SHIM, SIDE_BARE, false},
    {SIDE_PROOT, SIDE_BARE, false},    {SIDE_STRACE, SIDE_BARE, false},
    {SIDE_LANDLOCK, SIDE_PROOT, true},
};

static const struct column gate_columns[] = {
    {SIDE_SHIM, SIDE_BARE, false},
    {SIDE_LANDLOCK, SIDE_BARE, false},
    {SIDE_STRICT, SIDE_BARE, false},
    {SIDE_LANDLOCK, SIDE_SHIM, true},
};

static const struct column loopback_columns[] = {
    {SIDE_LOOPBACK, SIDE_BARE, false},
    {SIDE_PROOT, SIDE_BARE, false},
    {SIDE_STRACE, SIDE_BARE, false},
    {SIDE_LOOPBACK, SIDE_PROOT, true},
};

static struct table static_calls = {"calls of a static program", static_columns,
                                    COUNT(static_columns), .turn = copies_turn};
static struct table gate_calls = {"calls of a program with shim", gate_columns, COUNT(gate_columns),
                                  .turn = copies_turn};
static struct table loopback_calls = {"static, --net loopback", loopback_columns,
                                      COUNT(loopback_columns), .turn = copies_turn};

static void compare_calls(struct table *table, const char *program, const char *const *which,
                          size_t count, double target, double seconds)
{
    if (!copies_start(table, program)) {
        printf("%s: no %s was built\n", table->title, program);
        return;
    }
    table_print_head(table);
    for (size_t i = 0; i < count; i++) {
        const struct call *call = calls_find(which[i]);
        if (call != NULL)
            copies_row(table, call, strcmp(call->name, EXEC) == 0 ? 0 : target,
                       seconds / (double)count);
    }
    copies_end();
}

/* --- programs --------------------------------------------------------------------------------- */

#define TREE           "tree" /* of 3,000 files */
#define STATIC_BUSYBOX "a static busybox"
#define IS_STATIC      "command -v busybox >/dev/null && ! ldd \"$(command -v busybox)\" >/dev/null 2>&1"

static const struct work works[] = {
    {"busybox tar, 3,000 files",
     "mkdir " TREE " && for i in $(seq 40); do mkdir " TREE "/$i && "
     "(cd " TREE "/$i && seq 75 | split -l 1 - f); done",
     "exec busybox tar -cf - " TREE, STATIC_BUSYBOX, TARGET_STATIC, 0, IS_STATIC},
    {"busybox find, 3,000 files", NULL, "exec busybox find " TREE " -size +1000", STATIC_BUSYBOX,
     TARGET_STATIC, 0, IS_STATIC},
    {"a Go program, 3,000 files",
     "mkdir go && cat >go/main.go <<'END'\n"
     "package main\n"
     "import (\"os\"; \"path/filepath\")\n"
     "func main() {\n"
     "    filepath.Walk(os.Args[1], func(path string, info os.FileInfo, err error) error {\n"
     "        if err != nil { os.Exit(1) }\n"
     "        if info.Mode().IsRegular() {\n"
     "            if _, err := os.ReadFile(path); err != nil { os.Exit(1) }\n"
     "        }\n"
     "        return nil\n"
     "    })\n"
     "}\n"
     "END\n"
     "cd go && GOCACHE=$PWD/cache GO111MODULE=off CGO_ENABLED=0 go build -o walk main.go",
     "exec go/walk " TREE, "go", TARGET_STATIC, 0, NULL},
    {"python3 start", NULL, "exec /usr/bin/python3 -c pass", "/usr/bin/python3", 0, 0, NULL},
    {"a bash script, 200 commands", "echo text >text",
     "exec bash -c 'for i in $(seq 40); do /bin/true; /bin/cat text; "
     "/usr/bin/basename a/b; /bin/ls; /usr/bin/expr $i + 1; done'",
     "bash", 0, 0, NULL},
    {"a configure script, 15 tests", WORK_CONFIGURE, "exec sh configure 15", "cc", 0, 0, NULL},
};

static const struct column work_columns[] = {
    {SIDE_LANDLOCK, SIDE_BARE, false}, {SIDE_STRICT, SIDE_BARE, false},
    {SIDE_SHIM, SIDE_BARE, false},     {SIDE_PROOT, SIDE_BARE, false},
    {SIDE_STRACE, SIDE_BARE, false},   {SIDE_LANDLOCK, SIDE_PROOT, true},
};

static struct table programs = {"programs", work_columns, COUNT(work_columns), .turn = work_turn};

int main(void)
{
    static const char *const connect[] = {"connect + accept on loopback"};
    struct side_place place;
    double seconds = bench_seconds(100);
    int status;

    side_begin(&place);
    /* Programs may use all processors, as they would. */
    table_print_head(&programs);
    work_rows(&programs, works, COUNT(works), seconds * 0.6);
    status = table_end(&programs);
    side_prepare(calls_prepare);
    copies_stay_here();
    compare_calls(&static_calls, "bench/copy-static", names, COUNT(names), TARGET_STATIC,
                  seconds * 0.2);
    compare_calls(&loopback_calls, "bench/copy-static", connect, 1, TARGET_STATIC, seconds * 0.02);
    loopback_calls.targets += static_calls.targets;
    loopback_calls.misses += static_calls.misses;
    loopback_calls.wrong |= static_calls.wrong;
    status |= table_end(&loopback_calls);
    compare_calls(&gate_calls, "bench/copy", names, COUNT(names), TARGET_GATE, seconds * 0.18);
    return status | table_end(&gate_calls);
}
