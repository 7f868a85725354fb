/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "path.h"
#include "pattern.h"
#include "policy_form.h"

/* uthash ends the process when memory runs out unless it is told that somebody will look. */
#define HASH_NONFATAL_OOM        1
#define uthash_nonfatal_oom(obj) ((obj)->lost = true)
#include <uthash.h>

/* The ways down from a node. */
enum way { WAY_NAME, WAY_GLOB, WAY_DEEP };

struct way_key {
    uint32_t parent;
    uint32_t way;
    uint32_t name; /* interned: equal names have equal offsets */
};

struct child {
    struct way_key key;
    uint32_t length;
    uint32_t node;
    bool lost;
    UT_hash_handle hh;
};

struct interned {
    uint32_t offset;
    bool lost;
    UT_hash_handle hh;
    char text[];
};

struct draft {
    struct policy_node node;
    uint32_t parent;
    bool behind_pattern;
};

/* An array that grows. */
struct list {
    void *items;
    size_t count;
    size_t room;
};

struct policy_builder {
    struct list drafts;  /* struct draft */
    struct list rules;   /* struct policy_rule */
    struct list strings; /* char */
    struct child *children;
    struct interned *interned;
    uint32_t names;
    uint32_t globs;
    bool spoilt;
    char error[512];
};

/* A new item at the end, or `count` of them. NULL: no memory. */
static void *list_grow(struct list *list, size_t count, size_t size)
{
    if (list->room - list->count < count) {
        size_t room = (list->count + count) * 2 + 16;
        void *items = realloc(list->items, room * size);
        if (items == NULL)
            return NULL;
        list->items = items;
        list->room = room;
    }
    list->count += count;
    return (char *)list->items + (list->count - count) * size;
}

static struct draft *draft_at(const struct policy_builder *builder, uint32_t node)
{
    return &((struct draft *)builder->drafts.items)[node];
}

static struct policy_rule *rule_at(const struct policy_builder *builder, uint32_t rule)
{
    return &((struct policy_rule *)builder->rules.items)[rule];
}

static int no_memory(struct policy_builder *builder)
{
    builder->spoilt = true;
    strcpy(builder->error, "out of memory");
    return -ENOMEM;
}

static int refuse(struct policy_builder *builder, const char *text, const char *origin,
                  const char *why)
{
    builder->spoilt = true;
    snprintf(builder->error, sizeof builder->error, "%s: \"%.200s\": %s", origin, text, why);
    return -EINVAL;
}

/* Puts `text` into the strings, once. */
static int intern(struct policy_builder *builder, const char *text, size_t length, uint32_t *offset)
{
    struct interned *known;
    char *copy;

    HASH_FIND(hh, builder->interned, text, length, known);
    if (known != NULL) {
        *offset = known->offset;
        return 0;
    }
    known = calloc(1, sizeof *known + length + 1);
    copy = list_grow(&builder->strings, length + 1, 1);
    if (known == NULL || copy == NULL || builder->strings.count > UINT32_MAX / 2) {
        free(known);
        return no_memory(builder);
    }
    memcpy(known->text, text, length);
    memcpy(copy, known->text, length + 1);
    known->offset = (uint32_t)(builder->strings.count - length - 1);
    HASH_ADD_KEYPTR(hh, builder->interned, known->text, length, known);
    if (known->lost) {
        free(known);
        return no_memory(builder);
    }
    *offset = known->offset;
    return 0;
}

static int add_node(struct policy_builder *builder, uint32_t parent, enum way way, uint32_t *node)
{
    struct draft *draft = list_grow(&builder->drafts, 1, sizeof *draft);

    if (draft == NULL || builder->drafts.count >= UINT32_MAX / 2)
        return no_memory(builder);
    *draft = (struct draft){
        .node = {.deny = POLICY_NONE,
                 .protect = POLICY_NONE,
                 .grant = POLICY_NONE,
                 .socket = POLICY_NONE,
                 .grant_below = POLICY_NONE,
                 .rule_below = POLICY_NONE,
                 .deep = POLICY_NONE,
                 .inner = POLICY_NONE,
                 .is_deep = way == WAY_DEEP},
        .parent = parent,
        .behind_pattern =
            way != WAY_NAME || (parent != POLICY_NONE && draft_at(builder, parent)->behind_pattern),
    };
    *node = (uint32_t)(builder->drafts.count - 1);
    return 0;
}

/* Counts the new way down in its parent. */
static void link_down(struct policy_builder *builder, const struct child *child)
{
    struct policy_node *parent = &draft_at(builder, child->key.parent)->node;

    parent->below++;
    if (child->key.way == WAY_NAME)
        builder->names++;
    else if (child->key.way == WAY_DEEP)
        parent->deep = child->node;
    else {
        parent->globs++;
        builder->globs++;
    }
}

/* The node below `parent` by that way, made if it is not there. */
static int go_down(struct policy_builder *builder, uint32_t parent, enum way way, struct name name,
                   uint32_t *node)
{
    struct way_key key = {.parent = parent, .way = way};
    struct child *child;
    int error = intern(builder, name.text, name.length, &key.name);

    if (error < 0)
        return error;
    HASH_FIND(hh, builder->children, &key, sizeof key, child);
    if (child != NULL) {
        *node = child->node;
        return 0;
    }
    child = calloc(1, sizeof *child);
    if (child == NULL)
        return no_memory(builder);
    child->key = key;
    child->length = (uint32_t)name.length;
    error = add_node(builder, parent, way, &child->node);
    if (error == 0) {
        HASH_ADD(hh, builder->children, key, sizeof child->key, child);
        if (child->lost)
            error = no_memory(builder);
    }
    if (error < 0) {
        free(child);
        return error;
    }
    link_down(builder, child);
    *node = child->node;
    return 0;
}

static int go_to(struct policy_builder *builder, const char *canonical, uint32_t *node)
{
    struct name name;
    int error = 0;

    *node = 0;
    while (error == 0 && path_next(&canonical, &name))
        error = go_down(builder, *node, WAY_NAME, name, node);
    return error;
}

static bool set_first(uint32_t *slot, uint32_t rule)
{
    if (*slot != POLICY_NONE)
        return false;
    *slot = rule;
    return true;
}

/* Tells the nodes above of a rule. Those that have been told of one have told theirs. */
static void tell_above(struct policy_builder *builder, uint32_t node, uint32_t rule, bool grant)
{
    bool news = true;

    while (news && (node = draft_at(builder, node)->parent) != POLICY_NONE) {
        struct policy_node *above = &draft_at(builder, node)->node;
        news = set_first(&above->rule_below, rule);
        if (grant && set_first(&above->grant_below, rule))
            news = true;
    }
}

static void put_rule(struct policy_builder *builder, uint32_t at, uint32_t rule)
{
    struct policy_node *node = &draft_at(builder, at)->node;
    uint32_t kind = rule_at(builder, rule)->kind;

    if (kind == RULE_DENY)
        set_first(&node->deny, rule);
    else if (kind == RULE_PROTECT)
        set_first(&node->protect, rule);
    else if (kind == RULE_UNIX)
        set_first(&node->socket, rule);
    else if (!set_first(&node->grant, rule) && kind == RULE_WRITE &&
             rule_at(builder, node->grant)->kind == RULE_READ)
        node->grant = rule;
    tell_above(builder, at, rule, kind != RULE_DENY && kind != RULE_PROTECT);
}

static int add_rule(struct policy_builder *builder, struct policy_rule rule, const char *text,
                    const char *origin, uint32_t node)
{
    struct policy_rule *slot;
    int error = intern(builder, text, strlen(text), &rule.text);

    if (error == 0)
        error = intern(builder, origin, strlen(origin), &rule.origin);
    if (error < 0)
        return error;
    slot = list_grow(&builder->rules, 1, sizeof *slot);
    if (slot == NULL)
        return no_memory(builder);
    *slot = rule;
    put_rule(builder, node, (uint32_t)(builder->rules.count - 1));
    return 0;
}

int policy_add(struct policy_builder *builder, enum rule_kind kind, const char *path,
               const char *origin)
{
    uint32_t node;
    int error;

    if (builder->spoilt)
        return -EINVAL;
    if (kind < RULE_READ || kind > RULE_UNIX)
        return refuse(builder, path, origin, "no such kind of rule");
    if (!path_is_canonical(path))
        return refuse(builder, path, origin, "not a canonical absolute path");
    error = go_to(builder, path, &node);
    if (error < 0)
        return error;
    return add_rule(builder, (struct policy_rule){.kind = kind, .is_path = 1}, path, origin, node);
}

/* Two stars that are not escaped, next to each other. */
static bool has_double_star(struct name name)
{
    for (size_t i = 0; i + 1 < name.length; i++) {
        if (name.text[i] == '\\')
            i++;
        else if (name.text[i] == '*' && name.text[i + 1] == '*')
            return true;
    }
    return false;
}

static bool is_double_star(struct name name)
{
    return name.length == 2 && has_double_star(name);
}

/* Whether the component matches `text` and nothing else, however it is escaped. */
static bool stands_for(struct name name, const char *text)
{
    return !pattern_is_wild(name.text, name.length) &&
           pattern_match(name.text, name.length, text, strlen(text));
}

/* What is wrong with one component of a pattern, or NULL. */
static const char *component_error(struct name name, bool first)
{
    if (stands_for(name, "..") || (stands_for(name, ".") && !first))
        return "\".\" and \"..\" have no place in a pattern";
    if (has_double_star(name) && !is_double_star(name))
        return "\"**\" has to stand alone between slashes";
    return pattern_error(name.text, name.length);
}

static int go_down_literal(struct policy_builder *builder, struct name name, uint32_t *node)
{
    char *text = malloc(name.length + 1);
    int error;

    if (text == NULL)
        return no_memory(builder);
    name.length = pattern_literal(text, name.text, name.length);
    name.text = text;
    error = go_down(builder, *node, WAY_NAME, name, node);
    free(text);
    return error;
}

static int go_down_pattern(struct policy_builder *builder, struct name name, bool last,
                           uint32_t *node)
{
    static const struct name star = {"*", 1};

    if (name_is_dot(name))
        return 0;
    /* At the end it means all that lies below: so does the first level of it. */
    if (is_double_star(name) && last)
        return go_down(builder, *node, WAY_GLOB, star, node);
    if (is_double_star(name))
        return draft_at(builder, *node)->node.is_deep
                   ? 0
                   : go_down(builder, *node, WAY_DEEP, name, node);
    if (pattern_is_wild(name.text, name.length))
        return go_down(builder, *node, WAY_GLOB, name, node);
    return go_down_literal(builder, name, node);
}

/* A slash anywhere but at the end ties a pattern to its base; so does a "." in front. */
static bool is_anchored(const char *pattern)
{
    const char *slash = strchr(pattern, '/');

    if (pattern[0] == '.' && (pattern[1] == '/' || pattern[1] == '\0'))
        return true;
    return slash != NULL && !path_ends(slash);
}

int policy_add_pattern(struct policy_builder *builder, enum rule_kind kind, const char *base,
                       const char *pattern, const char *origin)
{
    static const struct name deep = {"**", 2};
    const char *rest = pattern;
    struct name name;
    uint32_t node;
    int error;

    if (builder->spoilt)
        return -EINVAL;
    if (kind != RULE_DENY && kind != RULE_PROTECT)
        return refuse(builder, pattern, origin, "only denies and protections can be patterns");
    if (pattern[0] == '\0')
        return refuse(builder, pattern, origin, "the pattern is empty");
    if (!path_is_canonical(base))
        return refuse(builder, base, origin, "not a canonical absolute path");
    error = go_to(builder, pattern[0] == '/' ? "/" : base, &node);
    if (error == 0 && pattern[0] != '/' && !is_anchored(pattern))
        error = go_down(builder, node, WAY_DEEP, deep, &node);
    for (bool first = true; error == 0 && path_next(&rest, &name); first = false) {
        const char *wrong = component_error(name, first && pattern[0] == '.');
        if (wrong != NULL)
            return refuse(builder, pattern, origin, wrong);
        error = go_down_pattern(builder, name, path_ends(rest), &node);
    }
    if (error < 0)
        return error;
    return add_rule(builder, (struct policy_rule){.kind = kind}, pattern, origin, node);
}

struct policy_builder *policy_builder_new(void)
{
    struct policy_builder *builder = calloc(1, sizeof *builder);
    uint32_t node;

    if (builder == NULL)
        return NULL;
    if (add_node(builder, POLICY_NONE, WAY_NAME, &node) < 0) {
        policy_builder_free(builder);
        return NULL;
    }
    return builder;
}

void policy_builder_free(struct policy_builder *builder)
{
    struct child *child;
    struct child *next_child;
    struct interned *text;
    struct interned *next_text;

    if (builder == NULL)
        return;
    HASH_ITER(hh, builder->children, child, next_child)
    {
        // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what is freed is out of reach
        HASH_DEL(builder->children, child);
        free(child);
    }
    HASH_ITER(hh, builder->interned, text, next_text)
    {
        // NOLINTNEXTLINE(clang-analyzer-unix.Malloc)
        HASH_DEL(builder->interned, text);
        free(text);
    }
    free(builder->drafts.items);
    free(builder->rules.items);
    free(builder->strings.items);
    free(builder);
}

const char *policy_builder_error(const struct policy_builder *builder)
{
    return builder->spoilt ? builder->error : NULL;
}

/* Hands a bit to each node behind a pattern that has something below it. */
static int number_inner(struct policy_builder *builder, uint32_t *count)
{
    *count = 0;
    for (uint32_t i = 0; i < builder->drafts.count; i++) {
        struct draft *draft = draft_at(builder, i);
        if (!draft->behind_pattern || draft->node.below == 0)
            continue;
        if (*count == POLICY_INNER) {
            builder->spoilt = true;
            snprintf(builder->error, sizeof builder->error,
                     "too many patterns: more than %d directories with a wildcard in their path",
                     POLICY_INNER);
            return -EINVAL;
        }
        draft->node.inner = (*count)++;
    }
    return 0;
}

static uint32_t slots_for(uint32_t names)
{
    uint32_t slots = 2;

    while (slots < 2 * names)
        slots *= 2;
    return slots;
}

static void write_nodes(const struct policy_builder *builder, struct policy *policy)
{
    struct policy_node *nodes = (struct policy_node *)policy_nodes(policy);
    uint32_t *inner = (uint32_t *)policy_inner(policy);
    uint32_t glob = 0;

    for (uint32_t i = 0; i < policy->nodes; i++) {
        nodes[i] = draft_at(builder, i)->node;
        nodes[i].glob = glob;
        glob += nodes[i].globs;
        nodes[i].globs = 0; /* counts up again as they are written */
        if (nodes[i].inner != POLICY_NONE)
            inner[nodes[i].inner] = i;
    }
}

static void write_name(struct policy *policy, const struct child *child)
{
    struct policy_edge *edges = (struct policy_edge *)policy_edges(policy);
    const char *name = policy_string(policy, child->key.name);
    uint32_t mask = policy->edges - 1;
    uint32_t i = policy_slot(policy, child->key.parent, policy_hash(name, child->length));

    while (edges[i].child != POLICY_NONE)
        i = (i + 1) & mask;
    edges[i] = (struct policy_edge){.parent = child->key.parent,
                                    .child = child->node,
                                    .name = child->key.name,
                                    .length = child->length};
}

/* A pattern is found by one end: that is enough to pass it over for most names. */
static void note_ends(struct policy_node *node, const char *pattern, size_t length)
{
    int first = pattern_first(pattern);
    int last = pattern_last(pattern, length);

    if (last >= 0)
        node->ends |= policy_byte(last);
    else if (first >= 0)
        node->begins |= policy_byte(first);
    else
        node->ends = UINT64_MAX;
}

static void write_glob(struct policy *policy, const struct child *child)
{
    struct policy_node *parent = (struct policy_node *)policy_nodes(policy) + child->key.parent;
    struct policy_glob *globs = (struct policy_glob *)policy_globs(policy);

    globs[parent->glob + parent->globs++] = (struct policy_glob){
        .name = child->key.name, .length = child->length, .child = child->node};
    note_ends(parent, policy_string(policy, child->key.name), child->length);
}

struct policy *policy_build(struct policy_builder *builder)
{
    struct policy header = {.magic = POLICY_MAGIC, .version = POLICY_VERSION};
    struct policy *policy;
    uint32_t empty;

    if (builder->spoilt || number_inner(builder, &header.inner) < 0 ||
        intern(builder, "", 0, &empty) < 0)
        return NULL;
    header.nodes = (uint32_t)builder->drafts.count;
    header.edges = slots_for(builder->names);
    header.globs = builder->globs;
    header.rules = (uint32_t)builder->rules.count;
    header.strings = (uint32_t)builder->strings.count;
    header.size = policy_size_of(&header);
    policy = malloc(header.size);
    if (policy == NULL) {
        no_memory(builder);
        return NULL;
    }
    *policy = header;
    write_nodes(builder, policy);
    memset((void *)policy_edges(policy), 0xff, policy->edges * sizeof(struct policy_edge));
    if (header.rules > 0)
        memcpy((void *)policy_rules(policy), builder->rules.items,
               header.rules * sizeof(struct policy_rule));
    memcpy((char *)policy_string(policy, 0), builder->strings.items, header.strings);
    for (struct child *child = builder->children; child != NULL; child = child->hh.next) {
        if (child->key.way == WAY_NAME)
            write_name(policy, child);
        else if (child->key.way == WAY_GLOB)
            write_glob(policy, child);
    }
    policy->checksum = policy_checksum(policy);
    return policy;
}
