/* SPDX-License-Identifier: MIT */
#include "nest.h"

#include <string.h>

#include "env.h"
#include "image.h"
#include "load.h"

struct room {
    _Alignas(8) char theirs[IMAGE_MAX];
    _Alignas(8) char policy[IMAGE_MAX];
    _Alignas(8) char image[IMAGE_MAX];
    char variable[IMAGE_MAX / 3 * 4 + 64];
};

/* The text of an image that is not our own, or NULL. */
static const char *find_other(char *const envp[])
{
    const char *value = env_get(envp, IMAGE_VARIABLE);

    if (load_hold.variable == NULL || value == NULL)
        return NULL;
    /* Behind the "=". */
    return strcmp(value, load_hold.variable + sizeof IMAGE_VARIABLE) != 0 ? value : NULL;
}

size_t nest_size(char *const envp[])
{
    return find_other(envp) == NULL ? 0 : sizeof(struct room) + 8;
}

const char *nest_variable(char *const envp[], void *memory)
{
    struct room *room = memory;
    const char *other = find_other(envp);
    struct image_parts parts;

    if (other == NULL || image_read(other, room->theirs, sizeof room->theirs) != NULL)
        return load_hold.variable;
    if (policy_stack(image_policy(load_hold.carried),
                     image_policy((const struct image *)room->theirs), room->policy,
                     sizeof room->policy) == 0)
        return NULL;
    /* Only the rules of the other count: texts such as the log's path are not for a program to
     * choose. */
    parts = image_parts_of(load_hold.carried, (const struct policy *)room->policy);
    if (image_size(&parts) == 0)
        return NULL;
    image_variable(image_write(&parts, room->image), room->variable);
    return room->variable;
}
