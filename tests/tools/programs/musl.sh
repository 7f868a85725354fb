# A static program with another libc.
# needs musl-gcc: package musl-tools
# unshimmed: yes
# shellcheck shell=sh disable=SC2016,SC2164 # other shells expand; sh -e runs this

setup()
{
    cat >program.c <<'END'
#define _GNU_SOURCE
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int names;

static int count(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)path;
    (void)st;
    (void)type;
    (void)ftw;
    names++;
    return 0;
}

static int append(const char *path)
{
    FILE *file = fopen(path, "a");

    if (file == NULL || fputs("more\n", file) < 0 || fclose(file) != 0) {
        perror(path);
        return 1;
    }
    return 0;
}

/* Shows a file and works beside it, or appends to it. */
int main(int argc, char **argv)
{
    char name[] = "made/XXXXXX";
    char *path;
    FILE *file;
    int c;

    if (argc == 3 && strcmp(argv[1], "append") == 0)
        return append(argv[2]);
    file = fopen(argv[argc - 1], "r");
    if (file == NULL) {
        perror(argv[argc - 1]);
        return 1;
    }
    while ((c = getc(file)) != EOF)
        putchar(c);
    fclose(file);
    if (mkdir("made", 0755) < 0 || mkdir("made/deep", 0700) < 0 || mkstemp(name) < 0 ||
        rename(name, "made/deep/file") < 0 || symlink("deep", "made/link") < 0 ||
        chmod("made/deep/file", 0640) < 0 || link("made/deep/file", "made/hard") < 0)
        return 2;
    path = realpath("made/link/../deep/file", NULL);
    if (path == NULL || nftw("made", count, 8, FTW_PHYS) < 0)
        return 3;
    printf("%d %s\n", names, strrchr(path, '/'));
    fflush(stdout);
    return system("cat program.c | wc -l") == 0 ? 0 : 4;
}
END
    musl-gcc -static -o program program.c
    echo input >input
}

inside()
{
    ./program show input
    ./program append input
    ./program show none || echo $?
}

outside()
{
    ./program show "$OUT/secret"
}

change()
{
    ./program append "$OUT/secret"
}
