/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "attack.h"

static const struct attacks *const families[] = {
    &attacks_open, &attacks_names, &attacks_links, &attacks_proc,    &attacks_fds,
    &attacks_meta, &attacks_exec,  &attacks_net,   &attacks_process, &attacks_kernel,
};

const struct attack *attack_number(size_t index)
{
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        if (index < families[i]->count)
            return &families[i]->rows[index];
        index -= families[i]->count;
    }
    return NULL;
}

const struct attack *attack_find(const char *name)
{
    const struct attack *attack;

    for (size_t i = 0; (attack = attack_number(i)) != NULL; i++)
        if (strcmp(attack->name, name) == 0)
            return attack;
    return NULL;
}
