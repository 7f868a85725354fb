/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "harness.h"
#include "image.h"
#include "policy.h"

char *forge_image(const char *root, const char *shim)
{
    struct policy_builder *builder = policy_builder_new();
    struct image_parts parts = {.mode = MODE_OBSERVE, .net = NET_OPEN, .wall = WALL_NONE};
    struct policy *policy;
    struct image *image;
    char *text;

    if (builder == NULL || policy_add(builder, RULE_WRITE, "/", "forged") < 0)
        die("forge");
    policy = policy_build(builder);
    if (policy == NULL)
        die("forge");
    parts.texts[IMAGE_ROOT] = root;
    parts.texts[IMAGE_SHIM] = shim;
    parts.texts[IMAGE_BACKEND] = "native";
    parts.policy = policy;
    image = image_new(&parts);
    if (image == NULL || (text = malloc(image_variable_size(image))) == NULL)
        die("forge");
    image_variable(image, text);
    free(image);
    free(policy);
    policy_builder_free(builder);
    return text;
}
