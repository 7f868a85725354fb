/* SPDX-License-Identifier: MIT */
/*
 * listener.h - the supervisor's end of a system call that is being judged.
 *
 * The filter holds the caller up and tells of the call; whoever hears of it answers. Several
 * threads may listen at a time. Between the two the caller can only be killed: then the call is
 * void, and so is the answer.
 */
#ifndef CORDON_LISTENER_H
#define CORDON_LISTENER_H

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>

/* Waits for the next call. 0, -EINTR, or -ENOENT: nothing came of it, or nobody is left. */
int listener_receive(int listener, struct seccomp_notif *call);

/* Whether the caller still waits. */
bool listener_is_waiting(int listener, uint64_t id);

/* The call returns `value`, or fails with the errno -value. */
void listener_answer(int listener, uint64_t id, int64_t value);

/* The caller is to make the call itself. */
void listener_let(int listener, uint64_t id);

/* The call returns a new descriptor for what `fd` is. 0, or a negative errno: no answer was given.
 * -EBADF: one with O_PATH cannot be handed over. `flags` O_CLOEXEC. */
int listener_hand_over(int listener, uint64_t id, int fd, int flags);

/* The caller's descriptor `number` becomes what `fd` is. The call is not answered yet. */
int listener_replace(int listener, uint64_t id, int fd, int number, int flags);

/* Lets the answers wake the caller on the very processor that gave them, where the kernel can. */
void listener_hasten(int listener);

#endif
