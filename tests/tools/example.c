/* SPDX-License-Identifier: MIT */
/* The README's example. usage: example ROOT */
#include <cordon.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char place[PATH_MAX];
    cordon_workspace *workspace;
    ssize_t length;
    int fd;
    int error = cordon_workspace_new(argc > 1 ? argv[1] : "", &workspace);

    if (error < 0) {
        fprintf(stderr, "workspace: %s\n", cordon_strerror(error));
        return 1;
    }
    length = cordon_workspace_resolve(workspace, CORDON_CLEAN, "a/../b", place, sizeof place);
    if (length >= 0)
        printf("a/../b is %s\n", place);

    fd = cordon_workspace_open(workspace, "/etc/passwd", O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        printf("/etc/passwd: %s\n", cordon_strerror(fd));
    else
        close(fd);
    cordon_workspace_close(workspace);
    return length < 0 || fd != CORDON_EOUTSIDE;
}
