/* SPDX-License-Identifier: MIT */
/* names.h - names that mean something else to each process, and the caller's when he uses them. */
#ifndef CORDON_NAMES_H
#define CORDON_NAMES_H

#include "job.h"

/* readlink(2): what /proc/self and /proc/thread-self say to us is about us. */
long names_read_link(int dir, const char *path, char *target, size_t size);

/* What an open gave, or its error: /dev/tty is the terminal of whoever opens it. */
int names_mend_terminal(struct job *job, int fd);

#endif
