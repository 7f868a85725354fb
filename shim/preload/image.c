/* SPDX-License-Identifier: MIT */
#include "image.h"

#include <stdlib.h>
#include <string.h>

#define IMAGE_MAGIC   0x43494d47U /* "CIMG" */
#define IMAGE_VERSION 2U

static const char prefix[] = IMAGE_VARIABLE "=";
static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static size_t up_to_8(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

static const char *text_or_empty(const char *text)
{
    return text == NULL ? "" : text;
}

/* Where the policy begins. */
static size_t policy_offset(const struct image_parts *parts)
{
    size_t at = sizeof(struct image);

    for (int i = 0; i < IMAGE_TEXTS; i++)
        at += strlen(text_or_empty(parts->texts[i])) + 1;
    return up_to_8(at);
}

size_t image_size(const struct image_parts *parts)
{
    size_t size = policy_offset(parts) + policy_whole_size(parts->policy);

    return size > IMAGE_MAX ? 0 : size;
}

struct image *image_write(const struct image_parts *parts, void *memory)
{
    struct image *image = memory;
    size_t at = sizeof *image;

    *image = (struct image){.magic = IMAGE_MAGIC,
                            .version = IMAGE_VERSION,
                            .size = (uint32_t)image_size(parts),
                            .mode = parts->mode,
                            .net = parts->net,
                            .wall = parts->wall,
                            .supervise = parts->supervise,
                            .policy = (uint32_t)policy_offset(parts)};
    for (int i = 0; i < IMAGE_TEXTS; i++) {
        const char *text = text_or_empty(parts->texts[i]);
        image->texts[i] = (uint32_t)at;
        memcpy((char *)image + at, text, strlen(text) + 1);
        at += strlen(text) + 1;
    }
    memset((char *)image + at, 0, image->policy - at);
    memcpy((char *)image + image->policy, parts->policy, policy_whole_size(parts->policy));
    return image;
}

struct image *image_new(const struct image_parts *parts)
{
    size_t size = image_size(parts);
    void *memory = size == 0 ? NULL : malloc(size);

    return memory == NULL ? NULL : image_write(parts, memory);
}

const char *image_text(const struct image *image, enum image_text which)
{
    return (const char *)image + image->texts[which];
}

const struct policy *image_policy(const struct image *image)
{
    return (const struct policy *)((const char *)image + image->policy);
}

size_t image_variable_size(const struct image *image)
{
    return sizeof prefix + (image->size + 2) / 3 * 4;
}

void image_variable(const struct image *image, char *out)
{
    const unsigned char *bytes = (const unsigned char *)image;

    memcpy(out, prefix, sizeof prefix - 1);
    out += sizeof prefix - 1;
    for (size_t i = 0; i < image->size; i += 3) {
        uint32_t three = 0;
        for (size_t j = i; j < i + 3; j++)
            three = three << 8 | (j < image->size ? bytes[j] : 0);
        for (int shift = 18; shift >= 0; shift -= 6)
            *out++ = digits[three >> shift & 63];
    }
    *out = '\0';
}

/* The value of a digit, or -1. */
static int value_of(char digit)
{
    if (digit >= 'A' && digit <= 'Z')
        return digit - 'A';
    if (digit >= 'a' && digit <= 'z')
        return digit - 'a' + 26;
    if (digit >= '0' && digit <= '9')
        return digit - '0' + 52;
    if (digit == '-')
        return 62;
    return digit == '_' ? 63 : -1;
}

/* Returns how many bytes were written, 0 if the text is none of ours. */
static size_t decode(const char *text, unsigned char *bytes, size_t size)
{
    size_t n = 0;

    for (; *text != '\0'; text += 4) {
        uint32_t four = 0;
        for (int i = 0; i < 4; i++) {
            int value = value_of(text[i]); /* -1 at the terminator: never read past it */
            if (value < 0)
                return 0;
            four = four << 6 | (uint32_t)value;
        }
        if (size - n < 3)
            return 0;
        bytes[n++] = (unsigned char)(four >> 16);
        bytes[n++] = (unsigned char)(four >> 8);
        bytes[n++] = (unsigned char)four;
    }
    return n;
}

const char *image_check(const struct image *image, size_t size)
{
    if (size < sizeof *image || image->magic != IMAGE_MAGIC)
        return "not an image";
    if (image->version != IMAGE_VERSION)
        return "made by another version of cordon";
    if (image->size > size || size - image->size > 2 || image->policy < sizeof *image ||
        image->policy > image->size || image->policy % 8 != 0)
        return "not whole";
    if (image->mode > MODE_OBSERVE || image->net > NET_OPEN || image->wall > WALL_WRAP ||
        image->supervise > SUPERVISE_ALL)
        return "values that cannot be";
    /* All texts end before the policy begins. */
    if (image->policy == sizeof *image || ((const char *)image)[image->policy - 1] != '\0')
        return "texts without an end";
    for (int i = 0; i < IMAGE_TEXTS; i++)
        if (image->texts[i] < sizeof *image || image->texts[i] >= image->policy)
            return "a text leads out of the image";
    return policy_check(image_policy(image), image->size - image->policy);
}

const char *image_read(const char *text, void *memory, size_t size)
{
    return image_check(memory, decode(text, memory, size));
}

struct image_parts image_parts_of(const struct image *image, const struct policy *policy)
{
    struct image_parts parts = {
        .mode = (enum image_mode)image->mode,
        .net = (enum image_net)image->net,
        .wall = (enum image_wall)image->wall,
        .supervise = (enum image_supervise)image->supervise,
        .policy = policy,
    };

    for (int i = 0; i < IMAGE_TEXTS; i++)
        parts.texts[i] = image_text(image, (enum image_text)i);
    return parts;
}
