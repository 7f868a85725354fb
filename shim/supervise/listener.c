/* SPDX-License-Identifier: MIT */
#include "listener.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

/* Newer than some headers. */
#ifndef SECCOMP_ADDFD_FLAG_SEND
#define SECCOMP_ADDFD_FLAG_SEND (1UL << 1)
#endif
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif
#ifndef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif

int listener_receive(int listener, struct seccomp_notif *call)
{
    memset(call, 0, sizeof *call); /* the kernel insists */
    return ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, call) < 0 ? -errno : 0;
}

bool listener_is_waiting(int listener, uint64_t id)
{
    return ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

/* One that fails was for a caller that is gone. */
static void send_response(int listener, struct seccomp_notif_resp *response)
{
    while (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, response) < 0 && errno == EINTR)
        ;
}

void listener_answer(int listener, uint64_t id, int64_t value)
{
    struct seccomp_notif_resp response = {.id = id};

    if (value < 0 && value > -4096)
        response.error = (int32_t)value;
    else
        response.val = value;
    send_response(listener, &response);
}

void listener_let(int listener, uint64_t id)
{
    struct seccomp_notif_resp response = {.id = id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};

    send_response(listener, &response);
}

static int add(int listener, struct seccomp_notif_addfd *add)
{
    int result;

    do
        result = ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, add);
    while (result < 0 && errno == EINTR);
    return result < 0 ? -errno : 0;
}

int listener_hand_over(int listener, uint64_t id, int fd, int flags)
{
    struct seccomp_notif_addfd request = {.id = id,
                                          .flags = SECCOMP_ADDFD_FLAG_SEND,
                                          .srcfd = (uint32_t)fd,
                                          .newfd_flags = (uint32_t)flags};

    return add(listener, &request);
}

int listener_replace(int listener, uint64_t id, int fd, int number, int flags)
{
    struct seccomp_notif_addfd request = {.id = id,
                                          .flags = SECCOMP_ADDFD_FLAG_SETFD,
                                          .srcfd = (uint32_t)fd,
                                          .newfd = (uint32_t)number,
                                          .newfd_flags = (uint32_t)flags};

    return add(listener, &request);
}

void listener_hasten(int listener)
{
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
}
