/* SPDX-License-Identifier: MIT */
/*
 * usage: race victim CALLS     in the workspace: calls on paths through dir, and what came of them
 *        race swap             likewise: dir changes places with a link that leads outside
 *
 * The victim is an ordinary program that knows nothing of cordon; it is the swaps, made by somebody
 * outside, that lead it astray. In dir and in its counterpart outside lies a file f, which holds
 * "inside" and "outside".
 *
 * The victim prints `calls N ok N refused N leaks N`; swap prints how many swaps it has made when
 * it is told to end.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    unsigned long calls, ok, refused, leaks;
} tally;

static void count(int error)
{
    tally.calls++;
    if (error == 0)
        tally.ok++;
    else if (error == EACCES)
        tally.refused++;
}

/* --- calls ------------------------------------------------------------------------------------ */

static int of(long value)
{
    return value < 0 ? errno : 0;
}

static void look_at(bool is_outside)
{
    if (is_outside)
        tally.leaks++;
}

static int read_file(const char *path)
{
    char text[16] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int error = of(fd);

    if (fd < 0)
        return error;
    look_at(read(fd, text, sizeof text - 1) > 0 && text[0] == 'o');
    close(fd);
    return 0;
}

static int read_stream(const char *path)
{
    char text[16] = "";
    FILE *file = fopen(path, "re");

    if (file == NULL)
        return errno;
    look_at(fgets(text, sizeof text, file) != NULL && text[0] == 'o');
    fclose(file);
    return 0;
}

static int write_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    int error = of(fd);

    if (fd < 0)
        return error;
    error = of(write(fd, "inside\n", 7));
    close(fd);
    return error;
}

static int look(const char *path)
{
    struct stat st;
    int error = of(stat(path, &st));

    look_at(error == 0 && st.st_size == (off_t)strlen("outside\n"));
    return error;
}

/* Outside lies a directory of that name, and inside there is none. */
static int list(const char *path)
{
    DIR *dir = opendir(path);
    const struct dirent *entry;

    if (dir == NULL)
        return errno;
    while ((entry = readdir(dir)) != NULL)
        look_at(strcmp(entry->d_name, "marker") == 0);
    closedir(dir);
    return 0;
}

/* dir is reached by its name, through a link, through "..", and from the root. */
static void call(unsigned long turn, const char *root)
{
    static const char *const ways[] = {"dir", "hop", "q/../dir", NULL};
    char directory[512];
    char file[600];
    char new[600];
    const char *way = ways[turn % 4];

    snprintf(directory, sizeof directory, "%s%s", way == NULL ? root : "",
             way == NULL ? "/dir" : way);
    snprintf(file, sizeof file, "%s/f", directory);
    snprintf(new, sizeof new, "%s/new", directory);
    switch (turn / 4 % 14) {
    case 0:
        return count(read_file(file));
    case 1:
        return count(read_stream(file));
    case 2:
        return count(write_file(file));
    case 3:
        return count(write_file(new));
    case 4:
        return count(look(file));
    case 5:
        return count(list(directory));
    case 6:
        return count(of(unlink(new)));
    case 7:
        return count(of(mkdir(new, 0755)));
    case 8:
        return count(of(rmdir(new)));
    case 9:
        return count(of(rename(file, "file")));
    case 10:
        return count(of(rename("file", file)));
    case 11:
        return count(of(chmod(file, turn % 8 < 4 ? 0644 : 0600)));
    case 12:
        return count(of(truncate(file, 7)));
    default:
        return count(of(symlink("f", new)));
    }
}

static int victim(unsigned long calls)
{
    char root[256];

    if (getcwd(root, sizeof root) == NULL)
        return 1;
    for (unsigned long turn = 0; turn < calls; turn++)
        call(turn, root);
    printf("calls %lu ok %lu refused %lu leaks %lu\n", tally.calls, tally.ok, tally.refused,
           tally.leaks);
    return 0;
}

/* --- swaps ------------------------------------------------------------------------------------ */

static volatile sig_atomic_t over;

static void stop(int unused)
{
    (void)unused;
    over = 1;
}

static int swap(void)
{
    unsigned long swaps = 0;

    signal(SIGTERM, stop);
    while (!over)
        if (renameat2(AT_FDCWD, "dir", AT_FDCWD, swaps % 2 == 0 ? "alt" : "absolute",
                      RENAME_EXCHANGE) == 0 &&
            renameat2(AT_FDCWD, "dir", AT_FDCWD, swaps % 2 == 0 ? "alt" : "absolute",
                      RENAME_EXCHANGE) == 0)
            swaps++;
    printf("%lu\n", swaps);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "victim") == 0)
        return victim(strtoul(argv[2], NULL, 10));
    if (argc == 2 && strcmp(argv[1], "swap") == 0)
        return swap();
    fprintf(stderr, "usage: race victim CALLS | race swap\n");
    return 2;
}
