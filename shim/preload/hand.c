/* SPDX-License-Identifier: MIT */
#include "hand.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "backend.h"
#include "call.h"
#include "cordon.h"
#include "defaults.h"
#include "env.h"
#include "load.h"
#include "os.h"
#include "path.h"
#include "resolve.h"

struct hand {
    char *const *envp;
    struct policy_builder *builder;
    char *shim;
    char *command;
    char *log;
    char *root;
};

static void *must(void *memory)
{
    if (memory == NULL)
        load_fail("shim: no memory");
    return memory;
}

/* The canonical text of a path that exists, on the heap; NULL with *error. */
static char *canonical(const char *path, int *error)
{
    struct walk *walk;
    char *text;

    *error = resolve_existing(path, &walk);
    if (*error < 0)
        return NULL;
    text = must(strdup(walk->path.length == 0 ? "/" : walk->path.text));
    walk_free(walk);
    return text;
}

static const char *get(const struct hand *hand, const char *name)
{
    const char *value = env_get(hand->envp, name);

    return value != NULL && value[0] == '\0' ? NULL : value;
}

/* --- settings --------------------------------------------------------------------------------- */

/* The index of a variable's value in a list of words; 0 if it is not set. */
static int choose(const struct hand *hand, const char *name, const char *const words[])
{
    const char *value = get(hand, name);

    for (int i = 0; words[i] != NULL; i++)
        if (value == NULL || strcmp(value, words[i]) == 0)
            return i;
    load_fail(name, ": \"", value, "\" is no value for it");
}

static void refuse_later(const struct hand *hand)
{
    static const char *const later[] = {"CORDON_POLICY", "CORDON_TRACK", "CORDON_SESSION"};

    for (size_t i = 0; i < sizeof later / sizeof *later; i++)
        if (get(hand, later[i]) != NULL)
            load_fail(later[i], ": not in this version");
}

static void take_root(struct hand *hand)
{
    const char *value = get(hand, "CORDON_ROOT");
    struct stat st;
    int error;

    if (value == NULL)
        load_fail("CORDON_ROOT: not set: nothing to confine the program to");
    else if (value[0] != '/')
        load_fail("CORDON_ROOT: ", value, ": not an absolute path");
    hand->root = canonical(value, &error);
    if (hand->root == NULL)
        load_fail("CORDON_ROOT: ", value, ": ", cordon_strerror(error));
    if (os_fstatat(AT_FDCWD, hand->root, &st, 0) < 0 || !S_ISDIR(st.st_mode))
        load_fail("CORDON_ROOT: ", value, ": not a directory");
}

/* The log is opened anew for each record, so it has to be there and in reach. */
static void take_log(struct hand *hand)
{
    const char *value = get(hand, "CORDON_LOG");
    int error;

    if (value == NULL || strcmp(value, "stderr") == 0) {
        hand->log = value == NULL ? NULL : must(strdup(value));
        return;
    }
    int fd =
        (int)CALL(SYS_openat, AT_FDCWD, value, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        load_fail("CORDON_LOG: ", value, ": ", cordon_strerror(fd));
    os_close(fd);
    hand->log = canonical(value, &error);
    if (hand->log == NULL || policy_add(hand->builder, RULE_WRITE, hand->log, "CORDON_LOG") < 0)
        load_fail("CORDON_LOG: ", value, ": cannot be used");
}

/* --- rules ------------------------------------------------------------------------------------ */

static void add_path(struct hand *hand, const char *name, enum rule_kind kind, const char *path)
{
    int error;
    char *text = canonical(path, &error);

    if (text == NULL && kind == RULE_DENY)
        return; /* a pattern, or not there yet */
    if (text == NULL)
        load_fail(name, ": ", path, ": ", cordon_strerror(error));
    if (policy_add(hand->builder, kind, text, name) < 0)
        load_fail(name, ": ", path, ": ", policy_builder_error(hand->builder));
    free(text);
}

static void add_pattern(struct hand *hand, const char *name, const char *pattern)
{
    if (policy_add_pattern(hand->builder, RULE_DENY, hand->root, pattern, name) < 0)
        load_fail(name, ": ", pattern, ": ", policy_builder_error(hand->builder));
}

/* Calls for each item of a colon list; an empty item is a slip that nobody should have to find. */
static void add_list(struct hand *hand, const char *name, enum rule_kind kind)
{
    const char *value = get(hand, name);
    char *item = must(malloc(value == NULL ? 1 : strlen(value) + 1));

    while (value != NULL) {
        size_t n = 0;
        for (; *value != '\0' && *value != ':'; value++) {
            if (value[0] == '\\' && value[1] == ':')
                value++;
            item[n++] = *value;
        }
        item[n] = '\0';
        if (n == 0)
            load_fail(name, ": an empty item in the list");
        if (kind == RULE_DENY)
            add_pattern(hand, name, item);
        add_path(hand, name, kind, item);
        value = *value == ':' ? value + 1 : NULL;
    }
    free(item);
}

/* This very object, and the command that was installed with it. */
static void find_own_files(struct hand *hand)
{
    static const char *const beside[] = {"/cordon", "/../bin/cordon"};
    Dl_info info;
    int error = -ENOENT;

    if (dladdr((void *)(uintptr_t)&hand_image, &info) != 0)
        hand->shim = canonical(info.dli_fname, &error);
    if (hand->shim == NULL)
        load_fail("shim: cannot find its own file: ", cordon_strerror(error));
    if (strpbrk(hand->shim, ": ") != NULL)
        load_fail("shim: LD_PRELOAD cannot name ", hand->shim);
    size_t length = (size_t)(strrchr(hand->shim, '/') - hand->shim);
    for (size_t i = 0; i < 2 && hand->command == NULL; i++) {
        char *path = must(calloc(1, length + sizeof "/../bin/cordon"));
        memcpy(path, hand->shim, length);
        memcpy(path + length, beside[i], strlen(beside[i]));
        hand->command = canonical(path, &error);
        free(path);
    }
}

static void add_defaults(struct hand *hand)
{
    const char *home = get(hand, "HOME");
    int error;
    char *place = home == NULL ? NULL : canonical(home, &error);
    const struct surroundings around = {.root = hand->root,
                                        .home = place,
                                        .path = get(hand, "PATH"),
                                        .shim = hand->shim,
                                        .command = hand->command,
                                        .protect = true};

    error = defaults_add(hand->builder, &around);
    if (error < 0)
        load_fail("the default policy: ", cordon_strerror(error));
    free(place);
}

static struct policy *make_policy(struct hand *hand)
{
    struct policy *policy;

    add_defaults(hand);
    add_list(hand, "CORDON_READ", RULE_READ);
    add_list(hand, "CORDON_WRITE", RULE_WRITE);
    add_list(hand, "CORDON_DENY", RULE_DENY);
    add_list(hand, "CORDON_UNIX", RULE_UNIX);
    policy = policy_build(hand->builder);
    if (policy == NULL)
        load_fail("the policy: ", policy_builder_error(hand->builder));
    return policy;
}

/* --- the wall --------------------------------------------------------------------------------- */

enum { BY_AUTO, BY_LANDLOCK, BY_BWRAP, BY_NATIVE };
static const char *const backend_names[] = {"auto", "landlock", "bwrap", "native", NULL};

static struct image *image_of(const struct image_parts *parts)
{
    struct image *image = image_new(parts);

    if (image == NULL)
        load_fail("the policy is too large");
    return image;
}

/* Confines this process, which has no choice but to go in here: children inherit it. */
static struct image *enter_landlock(struct image_parts *parts, struct trouble *trouble)
{
    struct image *image;

    parts->wall = WALL_HELD;
    parts->texts[IMAGE_BACKEND] = "landlock";
    image = image_of(parts);
    if (backend_enter(&backend_landlock, image, trouble) == 0)
        return image;
    free(image);
    return NULL;
}

/* This process cannot be moved behind bwrap any more, but its children can be started there. */
static struct image *wrap_children(struct image_parts *parts)
{
    if (parts->texts[IMAGE_COMMAND] == NULL)
        load_fail("bwrap: the cordon command is not beside ", parts->texts[IMAGE_SHIM]);
    parts->wall = WALL_WRAP;
    parts->texts[IMAGE_BACKEND] = "bwrap";
    return image_of(parts);
}

static struct image *build_wall(struct image_parts *parts, int backend)
{
    struct trouble trouble = {.step = ""};
    struct image *image;

    if (backend == BY_NATIVE) {
        parts->wall = WALL_NONE;
        parts->texts[IMAGE_BACKEND] = "native";
        return image_of(parts);
    }
    if (backend == BY_BWRAP && !backend_is_inside())
        return wrap_children(parts);
    image = enter_landlock(parts, &trouble);
    if (image == NULL && backend == BY_AUTO && !backend_is_inside())
        image = wrap_children(parts);
    if (image == NULL)
        load_fail("landlock: ", trouble.step, ": ", trouble.words);
    return image;
}

struct image *hand_image(char *const envp[])
{
    static const char *const nets[] = {"deny", "loopback", "open", NULL};
    static const char *const modes[] = {"enforce", "observe", NULL};
    struct hand hand = {.envp = envp};
    struct image_parts parts = {.mode = MODE_ENFORCE};
    struct policy *policy;
    struct image *image;

    take_root(&hand);
    refuse_later(&hand);
    parts.mode = (enum image_mode)choose(&hand, "CORDON_MODE", modes);
    parts.net = (enum image_net)choose(&hand, "CORDON_NET", nets);
    int backend = choose(&hand, "CORDON_BACKEND", backend_names);
    if (parts.net == NET_LOOPBACK)
        load_fail("CORDON_NET: loopback: not in this version");
    if (parts.mode == MODE_OBSERVE) /* a wall would not only look on */
        backend = BY_NATIVE;
    hand.builder = must(policy_builder_new());
    find_own_files(&hand);
    take_log(&hand);
    policy = make_policy(&hand);
    parts.policy = policy;
    parts.texts[IMAGE_ROOT] = hand.root;
    parts.texts[IMAGE_SHIM] = hand.shim;
    parts.texts[IMAGE_COMMAND] = hand.command;
    parts.texts[IMAGE_LOG] = hand.log;
    image = build_wall(&parts, backend);
    policy_builder_free(hand.builder);
    free(policy);
    free(hand.root);
    free(hand.shim);
    free(hand.command);
    free(hand.log);
    return image;
}
