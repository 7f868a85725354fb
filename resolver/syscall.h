/* SPDX-License-Identifier: MIT */
/*
 * syscall.h - the one door from the resolver into the Linux kernel.
 *
 * Linux system calls by number, returning the kernel's own negative errno. libc's wrappers would
 * set errno, be cancellation points, and be hooked when this code runs inside the shim.
 */
#ifndef CORDON_SYSCALL_H
#define CORDON_SYSCALL_H

long os_syscall(long number, long a, long b, long c, long d, long e, long f);

#endif
