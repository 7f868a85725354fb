/* SPDX-License-Identifier: MIT */
/* No wall: the shim alone, for who asks for it by name. */
#include "backend.h"

static int probe(const struct image *image, struct trouble *trouble)
{
    (void)image;
    (void)trouble;
    return 0;
}

static bool likely(const struct image *image)
{
    (void)image;
    return true;
}

static enum holder holds(const struct image *image, uint32_t rule)
{
    const struct policy *policy = image_policy(image);

    return policy_rules(policy)[rule].kind == RULE_UNIX ? HELD_BY_NOBODY : HELD_BY_SHIM;
}

static enum holder holds_net(const struct image *image)
{
    (void)image;
    return HELD_BY_NOBODY;
}

static const struct gap *gaps(void)
{
    static const struct gap list[] = {
        {"whatever does not go through libc: raw system calls, calls inside libc", HELD_BY_NOBODY},
        {"the network, and sockets of all kinds", HELD_BY_NOBODY},
        {"signals to, and tracing of, other processes of the same user", HELD_BY_NOBODY},
        {NULL, HELD_BY_NOBODY},
    };

    return list;
}

const struct backend backend_native = {
    .name = "native",
    .probe = probe,
    .likely = likely,
    .holds = holds,
    .holds_net = holds_net,
    .gaps = gaps,
};
