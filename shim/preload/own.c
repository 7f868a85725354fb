/* SPDX-License-Identifier: MIT */
/* A judged call in the very process that makes it: what call.h says differs. */
#include <fcntl.h>

#include "call.h"
#include "load.h"
#include "log.h"
#include "program.h"

bool call_is_ready(void)
{
    return load_is_ready();
}

bool call_begin(struct call *call, const char *op, int dir, const char *path)
{
    if (!load_is_ready() || call_is_wild(path))
        return false;
    call->scope = &load_hold.scope;
    call->op = op;
    call->hint = NULL;
    call->dir = dir;
    call->path = path;
    call->follow = true;
    call->report = (struct report){.denied = false};
    where_from(&call->where, dir, path);
    return true;
}

bool call_begin_ours(struct call *call, const char *op, const char *name)
{
    return call_begin(call, op, AT_FDCWD, name);
}

int call_fd(int fd)
{
    return fd;
}

uint64_t call_resolve(uint64_t resolve)
{
    return resolve;
}

bool call_may_find(int found)
{
    (void)found;
    return true;
}

bool call_settled(struct call *call)
{
    if (!call->report.denied)
        return true;
    log_refusal(call);
    return load_hold.image->mode != MODE_OBSERVE;
}

bool program_needs_shim(void)
{
    return load_hold.image->wall == WALL_NONE;
}
