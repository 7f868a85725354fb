/* SPDX-License-Identifier: MIT */
/*
 * syscall.h - the one door from the resolver into the Linux kernel.
 *
 * Linux system calls by number, returning the kernel's own negative errno. libc's wrappers would
 * set errno, be cancellation points, and be hooked when this code runs inside the shim.
 */
#ifndef CORDON_SYSCALL_H
#define CORDON_SYSCALL_H

__attribute__((visibility("hidden"))) long os_syscall(long number, long a, long b, long c, long d,
                                                      long e, long f);

/* The instruction that enters the kernel, and one that returns. The shim has it at an address by
 * which a filter tells its calls from those of the program. */
extern const void *os_door __attribute__((visibility("hidden")));
__attribute__((visibility("hidden"))) void os_own_door(void);

#endif
