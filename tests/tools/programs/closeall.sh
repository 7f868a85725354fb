# A program that closes every descriptor, the way daemons and test runners do, and goes on: neither it
# nor its children get out of the cordon by that.
# needs gcc: package gcc
# shellcheck shell=sh disable=SC2016,SC2164 # other shells expand; sh -e runs this

setup()
{
    cat >program.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void close_all(const char *how)
{
    if (strcmp(how, "loop") == 0)
        for (int fd = 3; fd < 4096; fd++)
            close(fd);
    else if (strcmp(how, "range") == 0)
        syscall(SYS_close_range, 3, ~0u, 0);
    else
        closefrom(3);
}

/* HOW FILE COMMAND...: closes, reads the first line of FILE, runs COMMAND */
int main(int argc, char **argv)
{
    char line[100] = "";
    FILE *file;

    close_all(argv[1]);
    file = fopen(argv[2], "r");
    if (file == NULL || fgets(line, sizeof line, file) == NULL)
        perror("open");
    else
        fputs(line, stdout);
    fflush(stdout);
    dup2(1, 9);
    if (argc > 3)
        execvp(argv[3], argv + 3);
    return file == NULL;
}
END
    gcc -o program program.c
    echo input >input
}

inside()
{
    for how in loop range closefrom; do
        ./program $how input ./program $how input sh -c 'echo $0 >&9; cat input' $how
    done
}

outside()
{
    ./program loop "$OUT/secret" ./program range "$OUT/secret" cat "$OUT/secret"
}
