/* SPDX-License-Identifier: MIT */
#include "env.h"

#include <stdbool.h>
#include <string.h>

#include "image.h"
#include "load.h"
#include "nest.h"

#define PRELOAD "LD_PRELOAD="

static const char shim_name[] = "libcordon-shim.so";

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* What a program may only add to for its children (nest.h). */
static bool is_image(const char *variable)
{
    return begins(variable, IMAGE_VARIABLE "=");
}

static bool is_handshake(const char *variable)
{
    return begins(variable, "CORDON_HANDSHAKE=");
}

const char *env_get(char *const envp[], const char *name)
{
    size_t length = strlen(name);

    for (; envp != NULL && *envp != NULL; envp++)
        if (strncmp(*envp, name, length) == 0 && (*envp)[length] == '=')
            return *envp + length + 1;
    return NULL;
}

/* The next entry of a list of objects, as the loader reads it; false at the end. */
static bool next_entry(const char **list, const char **entry, size_t *length)
{
    *list += strspn(*list, ": ");
    *entry = *list;
    *length = strcspn(*list, ": ");
    *list += *length;
    return *length > 0;
}

static bool is_shim(const char *entry, size_t length)
{
    size_t name = sizeof shim_name - 1;
    const char *own = load_hold.preload == NULL ? "" : load_hold.preload + sizeof PRELOAD - 1;

    if (length == strlen(own) && memcmp(entry, own, length) == 0)
        return true;
    return length >= name && memcmp(entry + length - name, shim_name, name) == 0 &&
           (length == name || entry[length - name - 1] == '/');
}

/* Copies the user's entries of the list to `out`, which may be the list itself; returns the length.
 */
static size_t copy_entries(char *out, const char *list)
{
    const char *entry;
    size_t length;
    size_t n = 0;

    while (next_entry(&list, &entry, &length)) {
        if (is_shim(entry, length))
            continue;
        if (n > 0)
            out[n++] = ':';
        memmove(out + n, entry, length);
        n += length;
    }
    return n;
}

/* Whether the shim is named in the list: else it is the user's own, to the last colon. */
static bool names_shim(const char *list)
{
    const char *entry;
    size_t length;

    while (next_entry(&list, &entry, &length))
        if (is_shim(entry, length))
            return true;
    return false;
}

/* Takes the shim out of a "LD_PRELOAD=..." string; false if nothing is left. */
static bool strip_preload(char *variable)
{
    char *list = variable + sizeof PRELOAD - 1;
    size_t length;

    if (!names_shim(list))
        return true;
    length = copy_entries(list, list);
    list[length] = '\0';
    return length > 0;
}

void env_strip(char **envp)
{
    char **kept = envp;

    if (envp == NULL)
        return;
    for (; *envp != NULL; envp++)
        if (!is_image(*envp) && !is_handshake(*envp) &&
            (!begins(*envp, PRELOAD) || strip_preload(*envp)))
            *kept++ = *envp;
    *kept = NULL;
}

/* The variable that counts for the loader: the last one of that name. */
static char *const *find_preload(char *const envp[])
{
    char *const *found = NULL;

    for (; envp != NULL && *envp != NULL; envp++)
        if (begins(*envp, PRELOAD))
            found = envp;
    return found;
}

size_t env_size(char *const envp[])
{
    char *const *preload = find_preload(envp);
    size_t count = 0;

    while (envp != NULL && envp[count] != NULL)
        count++;
    return nest_size(envp) + (count + 3) * sizeof *envp + (preload == NULL ? 0 : strlen(*preload)) +
           (load_hold.preload == NULL ? 0 : strlen(load_hold.preload)) + 2;
}

/* "LD_PRELOAD=theirs:ours" */
static char *join_preload(char *out, const char *variable)
{
    const char *own = load_hold.preload + sizeof PRELOAD - 1;
    char *list = out + sizeof PRELOAD - 1;
    size_t length = copy_entries(list, variable + sizeof PRELOAD - 1);

    memcpy(out, PRELOAD, sizeof PRELOAD - 1);
    if (length > 0)
        list[length++] = ':';
    memcpy(list + length, own, strlen(own) + 1);
    return out;
}

char **env_make(void *memory, char *const envp[], bool preload)
{
    char *const *theirs;
    const char *variable;
    char **made = (char **)((char *)memory + nest_size(envp));
    size_t count = 0;
    size_t n = 0;

    if (load_hold.variable == NULL) {
        static char *none[] = {NULL};
        return envp == NULL ? none : (char **)envp;
    }
    variable = nest_variable(envp, memory);
    if (variable == NULL)
        return NULL;
    preload = preload && load_hold.preload != NULL;
    theirs = preload ? find_preload(envp) : NULL;
    while (envp != NULL && envp[count] != NULL)
        count++;
    for (size_t i = 0; i < count; i++) {
        if (is_image(envp[i]))
            continue;
        if (!preload || !begins(envp[i], PRELOAD))
            made[n++] = envp[i];
        else if (&envp[i] == theirs) /* in the place that it had */
            made[n++] = join_preload((char *)(made + count + 3), envp[i]);
    }
    if (preload && theirs == NULL)
        made[n++] = (char *)load_hold.preload;
    made[n++] = (char *)variable;
    made[n] = NULL;
    return made;
}
