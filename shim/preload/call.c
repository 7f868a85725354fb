/* SPDX-License-Identifier: MIT */
#include "call.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "os.h"

int call_lookup(struct call *call, bool follow, enum intent intent)
{
    call->follow = follow;
    return place_lookup(call->scope, &call->where.start, call->path, follow, intent, &call->report);
}

long call_refuse(struct call *call, enum intent intent, const char *hint)
{
    call->hint = hint;
    call->report = (struct report){
        .denied = true, .verdict = {.allowed = false, .rule = POLICY_NONE}, .intent = intent};
    return call_settled(call) ? -EACCES : 0;
}

bool call_is_name(const struct call *call, enum intent intent)
{
    const struct name name = {call->path, strlen(call->path)};
    struct policy_at at;

    if (call->where.start.at == NULL || name.length == 0 || name_is_dotdot(name) ||
        memchr(name.text, '/', name.length) != NULL)
        return false;
    at = call->where.at;
    return decide_follow(call->scope->policy, &at, call->path) &&
           decide_here(call->scope->policy, &at, intent).allowed;
}

bool call_is_descriptor(const char *path, int flags)
{
    return (flags & AT_EMPTY_PATH) && !call_is_wild(path) && path[0] == '\0';
}

long call_end(int fd, long result)
{
    os_close(fd);
    return result;
}

struct fd_name call_fd_name(int fd)
{
    static const char prefix[] = "/proc/thread-self/fd/";
    struct fd_name name = {""};
    char digits[12];
    size_t n = 0;
    char *out = name.text + sizeof prefix - 1;

    memcpy(name.text, prefix, sizeof prefix - 1);
    do
        digits[n++] = (char)('0' + fd % 10);
    while ((fd /= 10) > 0);
    while (n > 0)
        *out++ = digits[--n];
    return name;
}
