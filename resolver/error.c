/* SPDX-License-Identifier: MIT */
#include "error.h"

#include <errno.h>
#include <string.h>

#include "cordon.h"

static const struct {
    int error;
    int number;
    const char *text;
} named[] = {
    {CORDON_EOUTSIDE, EACCES, "leads outside the workspace"},
    {CORDON_EDOTDOT, EACCES, "has a \"..\" component, which strict mode refuses"},
    {CORDON_EEMPTY, ENOENT, "the path is empty"},
    {CORDON_ERELATIVE, EINVAL, "not an absolute path"},
    {CORDON_ENOTDIR, ENOTDIR, "not a directory"},
    {CORDON_ELOOP, ELOOP, "too many symbolic links"},
    {CORDON_ETOOLONG, ENAMETOOLONG, "the path or a name in it is too long"},
    {CORDON_EUSED, EBUSY, "the sandbox has been used already"},
    {CORDON_EBACKEND, ENOTSUP, "no backend here can hold the policy"},
    {CORDON_EPOLICY, EINVAL, "the policy is malformed, or names what does not exist"},
    {CORDON_ECOMMAND, ENOENT, "the cordon command was not found"},
};

int error_named(int negative_errno)
{
    switch (negative_errno) {
    case -ENOTDIR:
        return CORDON_ENOTDIR;
    case -ELOOP:
        return CORDON_ELOOP;
    case -ENAMETOOLONG:
        return CORDON_ETOOLONG;
    default:
        return negative_errno;
    }
}

const char *cordon_strerror(int error)
{
    const char *text;

    if (error >= 0)
        return "no error";
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++)
        if (named[i].error == error)
            return named[i].text;
    text = error > -4096 ? strerrordesc_np(-error) : NULL;
    return text != NULL ? text : "unknown error";
}

int cordon_errno(int error)
{
    if (error >= 0)
        return 0;
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++)
        if (named[i].error == error)
            return named[i].number;
    return error > -4096 ? -error : EINVAL;
}

const char *cordon_version(void)
{
    return CORDON_VERSION;
}
