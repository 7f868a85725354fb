# Threads that make, stat, rename and remove files in their own and in each other's directories.
# needs gcc: package gcc
# shellcheck shell=sh disable=SC2016,SC2164 # other shells expand; sh -e runs this

setup()
{
    cat >program.c <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { THREADS = 8, ROUNDS = 300 };

static int failures;

static void expect(int right)
{
    if (!right)
        __atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
}

static void *work(void *number)
{
    char from[64], to[64], dir[64];
    struct stat st;

    snprintf(dir, sizeof dir, "dir%ld", (long)number);
    expect(mkdir(dir, 0755) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        snprintf(from, sizeof from, "%s/from%d", dir, i);
        snprintf(to, sizeof to, "shared/to%ld-%d", (long)number, i);
        int fd = open(from, O_WRONLY | O_CREAT | O_EXCL, 0644);
        expect(fd >= 0 && write(fd, "x", 1) == 1 && close(fd) == 0);
        expect(stat(from, &st) == 0 && st.st_size == 1);
        expect(rename(from, to) == 0 && access(to, R_OK) == 0 && access(from, F_OK) < 0);
        expect(i % 2 == 0 || unlink(to) == 0);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    struct stat st;

    if (argc > 1)
        return open(argv[1], O_WRONLY | O_TRUNC) < 0;
    mkdir("shared", 0755);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%d failures, %d\n", failures, stat("shared", &st));
    return failures != 0;
}
END
    gcc -pthread -o program program.c
}

inside()
{
    ./program
    find shared | wc -l
}

outside()
{
    ./program "$OUT/secret"
}
