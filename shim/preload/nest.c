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
    const char *own = load_hold.variable + sizeof IMAGE_VARIABLE; /* behind the "=" */

    return value != NULL && strcmp(value, own) != 0 ? value : NULL;
}

size_t nest_size(char *const envp[])
{
    return find_other(envp) == NULL ? 0 : sizeof(struct room) + 8;
}

/* Only the rules of the other count: texts such as the log's path are not for a program to choose.
 */
static struct image_parts parts_of(const struct image *image, const struct policy *policy)
{
    struct image_parts parts = {
        .mode = (enum image_mode)image->mode,
        .net = (enum image_net)image->net,
        .wall = (enum image_wall)image->wall,
        .policy = policy,
    };

    for (int i = 0; i < IMAGE_TEXTS; i++)
        parts.texts[i] = image_text(image, (enum image_text)i);
    return parts;
}

const char *nest_variable(char *const envp[], void *memory)
{
    struct room *room = memory;
    const char *other = find_other(envp);
    struct image_parts parts;

    if (other == NULL || image_read(other, room->theirs, sizeof room->theirs) != NULL)
        return load_hold.variable;
    if (policy_stack(load_hold.scope.policy, image_policy((const struct image *)room->theirs),
                     room->policy, sizeof room->policy) == 0)
        return NULL;
    parts = parts_of(load_hold.image, (const struct policy *)room->policy);
    if (image_size(&parts) == 0)
        return NULL;
    image_variable(image_write(&parts, room->image), room->variable);
    return room->variable;
}
