/* SPDX-License-Identifier: MIT */
/*
 * usage: plain COMMAND [ARG...]
 *
 * Runs COMMAND without the shim, linked statically so that the shim is not in here either: behind a
 * wall that leaves the wall alone, to compare with.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc < 2)
        return 125;
    unsetenv("LD_PRELOAD");
    unsetenv("CORDON_IMAGE");
    unsetenv("CORDON_HANDSHAKE");
    execvp(argv[1], argv + 1);
    perror(argv[1]);
    return 127;
}
