# A program that is linked statically: the shim never sees it, the wall does.
# needs gcc: package gcc
# unshimmed: yes
# shellcheck shell=sh disable=SC2016,SC2164 # other shells expand; sh -e runs this

setup()
{
    cat >program.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Copies a file to standard output, then makes, renames and removes things beside it. */
int main(int argc, char **argv)
{
    FILE *file = fopen(argv[1], "r");
    int c;

    if (file == NULL || argc < 2) {
        perror("open");
        return 1;
    }
    while ((c = getc(file)) != EOF)
        putchar(c);
    fclose(file);
    if (mkdir("made", 0755) < 0 || rename("made", "moved") < 0 || symlink("moved", "link") < 0)
        return 2;
    file = fopen("moved/file", "w");
    if (file == NULL || fputs("text\n", file) < 0 || fclose(file) != 0)
        return 3;
    fflush(stdout);
    return system("cat link/file") == 0 ? 0 : 4;
}
END
    gcc -static -o program program.c
    echo input >input
}

inside()
{
    ./program input
    ./program none || echo $?
}

outside()
{
    ./program "$OUT/secret"
}
