/* SPDX-License-Identifier: MIT */
/* The trackers of cordon.h: paths as people write them, sessions, and handing over. */
#include <errno.h>
#include <fcntl.h>
#include <greatest.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cordon.h"

static char top[PATH_MAX];

static const char *at(const char *name)
{
    static char paths[4][2 * PATH_MAX];
    static int next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", top, name);
    return path;
}

static int write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    if (file == NULL)
        return -1;
    fputs(text, file);
    return fclose(file);
}

/* file, other, link -> file, dir -> ., dangling -> nowhere */
static void set_up(void *unused)
{
    (void)unused;
    if (write_file(at("file"), "text") < 0 || write_file(at("other"), "text") < 0)
        abort();
    if (symlink("file", at("link")) < 0 || symlink(".", at("dir")) < 0 ||
        symlink("nowhere", at("dangling")) < 0)
        abort();
}

static void tear_down(void *unused)
{
    static const char *const names[] = {"file", "other", "link", "dir", "dangling", "session"};

    (void)unused;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(at(names[i]));
}

TEST a_link_and_its_file_are_one(void)
{
    cordon_tracker *tracker = NULL;

    ASSERT_EQ(0, cordon_tracker_new(&tracker));
    ASSERT_EQ(0, cordon_tracker_has_been_read(tracker, at("file")));
    ASSERT_EQ(1, cordon_tracker_mark_read(tracker, at("dir/dir/link")));
    ASSERT_EQ(1, cordon_tracker_has_been_read(tracker, at("file")));
    ASSERT_EQ(1, cordon_tracker_has_been_read(tracker, at("dir/./file")));
    ASSERT_EQ(0, cordon_tracker_mark_read(tracker, at("file")));
    ASSERT_EQ(0, cordon_tracker_has_been_read(tracker, at("other")));
    cordon_tracker_close(tracker);
    PASS();
}

TEST relative_paths_start_at_the_working_directory(void)
{
    cordon_tracker *tracker = NULL;

    ASSERT_EQ(0, chdir(top));
    ASSERT_EQ(0, cordon_tracker_new(&tracker));
    ASSERT_EQ(1, cordon_tracker_mark_read(tracker, "file"));
    ASSERT_EQ(1, cordon_tracker_has_been_read(tracker, at("file")));
    ASSERT_EQ(1, cordon_tracker_mark_read(tracker, "/"));
    ASSERT_EQ(1, cordon_tracker_has_been_read(tracker, "/.."));
    cordon_tracker_close(tracker);
    ASSERT_EQ(0, chdir("/"));
    PASS();
}

TEST what_is_missing_has_not_been_read(void)
{
    cordon_tracker *tracker = NULL;

    ASSERT_EQ(0, cordon_tracker_new(&tracker));
    ASSERT_EQ(-ENOENT, cordon_tracker_mark_read(tracker, at("dangling")));
    ASSERT_EQ(0, cordon_tracker_has_been_read(tracker, at("dangling")));
    ASSERT_EQ(CORDON_ENOTDIR, cordon_tracker_mark_read(tracker, at("file/x")));
    ASSERT_EQ(-EFAULT, cordon_tracker_mark_read(tracker, NULL));
    ASSERT_EQ(-ENOENT, cordon_tracker_mark_read(tracker, ""));
    cordon_tracker_close(tracker);
    cordon_tracker_close(NULL);
    PASS();
}

/* Its name may be another file's by now. */
TEST a_deleted_file_has_no_path(void)
{
    cordon_tracker *tracker = NULL;
    char link[64];
    int fd = open(at("file"), O_RDONLY | O_CLOEXEC);

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ASSERT_EQ(0, cordon_tracker_new(&tracker));
    ASSERT_EQ(0, unlink(at("file")));
    ASSERT_EQ(-ENOENT, cordon_tracker_mark_read(tracker, link));
    ASSERT_EQ(0, write_file(at("file"), "another"));
    ASSERT_EQ(0, cordon_tracker_has_been_read(tracker, at("file")));
    cordon_tracker_close(tracker);
    close(fd);
    PASS();
}

TEST a_session_without_a_name_gives_no_answer(void)
{
    cordon_tracker *tracker = NULL;

    ASSERT_EQ(0, cordon_tracker_open(at("session"), &tracker));
    ASSERT_EQ(0, cordon_tracker_has_been_read(tracker, at("file")));
    ASSERT_EQ(0, unlink(at("session")));
    ASSERT_EQ(-EBADMSG, cordon_tracker_has_been_read(tracker, at("file")));
    ASSERT_EQ(-EBADMSG, cordon_tracker_mark_read(tracker, at("file")));
    cordon_tracker_close(tracker);
    PASS();
}

TEST errno_is_left_alone(void)
{
    cordon_tracker *tracker = NULL;

    errno = EXFULL;
    ASSERT_EQ(0, cordon_tracker_open(at("session"), &tracker));
    cordon_tracker_mark_read(tracker, at("file"));
    cordon_tracker_has_been_read(tracker, at("missing"));
    cordon_tracker_close(tracker);
    ASSERT_EQ(EXFULL, errno);
    PASS();
}

TEST a_session_outlives_its_tracker(void)
{
    cordon_tracker *first = NULL;
    cordon_tracker *second = NULL;

    ASSERT_EQ(0, cordon_tracker_open(at("session"), &first));
    ASSERT_EQ(1, cordon_tracker_mark_read(first, at("file")));
    ASSERT_EQ(0, cordon_tracker_open(at("session"), &second));
    ASSERT_EQ(1, cordon_tracker_has_been_read(second, at("link")));
    ASSERT_EQ(1, cordon_tracker_mark_read(second, at("other")));
    ASSERT_EQ(1, cordon_tracker_has_been_read(first, at("other")));
    cordon_tracker_close(first);
    cordon_tracker_close(second);
    PASS();
}

TEST a_file_that_is_no_session_is_refused(void)
{
    cordon_tracker *tracker = NULL;
    char text[8] = "";
    int fd;

    ASSERT_EQ(-EBADMSG, cordon_tracker_open(at("file"), &tracker));
    ASSERT_EQ(-EBADMSG, cordon_tracker_open("/dev/null", &tracker));
    ASSERT_EQ(-EISDIR, cordon_tracker_open(top, &tracker));
    ASSERT_EQ(-ENOENT, cordon_tracker_open(at("no/session"), &tracker));
    ASSERT_EQ(NULL, tracker);
    fd = open(at("file"), O_RDONLY);
    ASSERT_EQ(4, read(fd, text, sizeof text));
    ASSERT_STR_EQ("text", text);
    close(fd);
    PASS();
}

TEST a_descriptor_hands_it_over(void)
{
    cordon_tracker *tracker = NULL;
    cordon_tracker *same = NULL;
    int status;
    pid_t child;

    ASSERT_EQ(0, cordon_tracker_new(&tracker));
    ASSERT_EQ(FD_CLOEXEC, fcntl(cordon_tracker_fd(tracker), F_GETFD));
    child = fork();
    if (child == 0) {
        if (cordon_tracker_attach(cordon_tracker_fd(tracker), &same) < 0)
            _exit(1);
        _exit(cordon_tracker_mark_read(same, at("file")) == 1 ? 0 : 2);
    }
    ASSERT_EQ(child, waitpid(child, &status, 0));
    ASSERT_EQ(0, status);
    ASSERT_EQ(1, cordon_tracker_has_been_read(tracker, at("file")));
    ASSERT_EQ(-EINVAL, cordon_tracker_attach(STDIN_FILENO, &same));
    ASSERT_EQ(-EBADF, cordon_tracker_attach(-1, &same));
    ASSERT_EQ(NULL, same);
    cordon_tracker_close(tracker);
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    char template[] = "/tmp/cordon-tracker-XXXXXX";
    int status;

    GREATEST_MAIN_BEGIN();
    if (mkdtemp(template) == NULL || realpath(template, top) == NULL)
        return 2;
    SET_SETUP(set_up, NULL);
    SET_TEARDOWN(tear_down, NULL);
    RUN_TEST(a_link_and_its_file_are_one);
    RUN_TEST(relative_paths_start_at_the_working_directory);
    RUN_TEST(what_is_missing_has_not_been_read);
    RUN_TEST(a_deleted_file_has_no_path);
    RUN_TEST(a_session_without_a_name_gives_no_answer);
    RUN_TEST(errno_is_left_alone);
    RUN_TEST(a_session_outlives_its_tracker);
    RUN_TEST(a_file_that_is_no_session_is_refused);
    RUN_TEST(a_descriptor_hands_it_over);
    rmdir(top);
    GREATEST_PRINT_REPORT();
    status = greatest_all_passed() ? EXIT_SUCCESS : EXIT_FAILURE;
    return status;
}
