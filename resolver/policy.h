/* SPDX-License-Identifier: MIT */
/*
 * policy.h - the rules, in the one flat form that processes map, receive and look up.
 *
 * A policy is built once (policy_builder), and is then a block of bytes without pointers: it may be
 * written to a memfd, mapped anywhere and shared. What arrives from elsewhere goes through
 * policy_check before it is used; after that decide.h trusts it.
 *
 * The rules form a tree of names, one node a directory level. Below a node lie
 *   - names, found by hash: one probe, however many there are;
 *   - shell patterns for one name, tried one after the other;
 *   - at most one `**` node, which stays active on every level below.
 * A look-up goes down the path one component at a time. It is on at most one node that names alone
 * lead to, and on a set of nodes that lie behind a pattern: POLICY_INNER of those can have rules
 * below them, so the set is a bit mask, and where a look-up stands is a small struct of fixed size.
 */
#ifndef CORDON_POLICY_H
#define CORDON_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rule_kind {
    RULE_READ = 1, /* grant: read, exec and stat at the path and below */
    RULE_WRITE,    /* grant: that, and write */
    RULE_DENY,     /* takes away what a rule above gave */
    RULE_PROTECT,  /* takes write away */
    RULE_UNIX,     /* grant: connect to and bind sockets at the path and below */
};

#define POLICY_NONE   UINT32_MAX /* no node, no rule */
#define POLICY_INNER  256        /* nodes behind a pattern with something below them */
#define POLICY_LAYERS 3          /* a cordon in a cordon in a cordon */

struct policy_rule {
    uint32_t kind;
    uint32_t text;    /* the path or pattern, as offset into the strings */
    uint32_t origin;  /* who asked for it: "default", "--read", "policy.json:12" */
    uint32_t is_path; /* 1: the text is a canonical path, not a pattern */
};

struct policy_node {
    uint32_t deny;        /* the rules at this very node, or POLICY_NONE */
    uint32_t protect;     /* ... */
    uint32_t grant;       /* RULE_READ or RULE_WRITE */
    uint32_t socket;      /* RULE_UNIX */
    uint32_t grant_below; /* some grant further down: this node may be traversed */
    uint32_t rule_below;  /* some rule further down: this node may not move */
    uint32_t below;       /* how many nodes lie directly below, `**` included */
    uint32_t glob;        /* first of its patterns ... */
    uint32_t globs;       /* ... and how many */
    uint32_t deep;        /* the `**` node below it, or POLICY_NONE */
    uint32_t inner;       /* its bit, if it lies behind a pattern and something below; or NONE */
    uint32_t is_deep;     /* 1: this is a `**` node */
    uint64_t begins;      /* which names its patterns can match at all: by their first byte ... */
    uint64_t ends;        /* ... or by their last one (policy_byte) */
};

/* A slot of the hash table of names; empty if child is POLICY_NONE. */
struct policy_edge {
    uint32_t parent;
    uint32_t child;
    uint32_t name;
    uint32_t length;
};

struct policy_glob {
    uint32_t name;
    uint32_t length;
    uint32_t child;
};

/* The counts alone say where everything lies: nodes, edges, globs, inner nodes, rules and strings
 * follow each other. Node 0 is "/". Behind the strings may come the next layer: a whole policy,
 * which has to allow what is asked for as well. */
struct policy {
    uint32_t magic;
    uint32_t version;
    uint64_t size;     /* of this layer */
    uint64_t checksum; /* of all that follows it */
    uint32_t nodes;
    uint32_t edges; /* a power of two, at most half of them used */
    uint32_t globs;
    uint32_t inner;
    uint32_t rules;
    uint32_t strings; /* bytes */
    uint32_t more;    /* how many layers follow; the next begins at the size, rounded up to 8 */
    uint32_t unused;
};

/* What is wrong with these bytes as a policy, or NULL: then they are one. The bytes must be aligned
 * to 8 and must not change afterwards. */
const char *policy_check(const void *bytes, size_t size);

/* The layer below, or NULL; and the one with that number, which is there. */
const struct policy *policy_next(const struct policy *policy);
const struct policy *policy_layer(const struct policy *policy, uint32_t number);

/* How many bytes a policy has with all its layers. */
size_t policy_whole_size(const struct policy *policy);

/* Writes the layers of both to `memory`, which has `size` bytes and is aligned to 8: what the
 * result allows both allow. Returns its whole size, or 0: no room, or more than POLICY_LAYERS. */
size_t policy_stack(const struct policy *first, const struct policy *second, void *memory,
                    size_t size);

static inline const struct policy_node *policy_nodes(const struct policy *policy)
{
    return (const struct policy_node *)(policy + 1);
}

static inline const struct policy_edge *policy_edges(const struct policy *policy)
{
    return (const struct policy_edge *)(policy_nodes(policy) + policy->nodes);
}

static inline const struct policy_glob *policy_globs(const struct policy *policy)
{
    return (const struct policy_glob *)(policy_edges(policy) + policy->edges);
}

static inline const uint32_t *policy_inner(const struct policy *policy)
{
    return (const uint32_t *)(policy_globs(policy) + policy->globs);
}

static inline const struct policy_rule *policy_rules(const struct policy *policy)
{
    return (const struct policy_rule *)(policy_inner(policy) + policy->inner);
}

static inline const char *policy_string(const struct policy *policy, uint32_t offset)
{
    return (const char *)(policy_rules(policy) + policy->rules) + offset;
}

/* The bit for a byte in `begins` and `ends`: a name with neither bit matches no pattern there. */
static inline uint64_t policy_byte(int byte)
{
    return UINT64_C(1) << (byte & 63);
}

uint64_t policy_checksum(const struct policy *policy);

/* Of a name, and where in the table of names to look for it below `parent` first. */
uint64_t policy_hash(const char *name, size_t length);

static inline uint32_t policy_slot(const struct policy *policy, uint32_t parent, uint64_t hash)
{
    return (uint32_t)(((hash ^ parent) * 0x9e3779b97f4a7c15U) >> 32) & (policy->edges - 1);
}

/*
 * Building. A builder collects rules; the first that is refused says why in policy_builder_error
 * and spoils the builder: nothing is built from half of what was asked for.
 */
struct policy_builder;

struct policy_builder *policy_builder_new(void); /* NULL: no memory */
void policy_builder_free(struct policy_builder *builder);
const char *policy_builder_error(const struct policy_builder *builder);

/* `path` is canonical. Returns 0, -EINVAL or -ENOMEM. */
int policy_add(struct policy_builder *builder, enum rule_kind kind, const char *path,
               const char *origin);

/*
 * A deny or protect by pattern, below the canonical directory `base`, read as in .gitignore:
 *   `*.pem`, `.env`, `secrets/`   a name, at any depth below base
 *   `config/id_*`, `./.env`       with a slash in it: from base
 *   `/srv/secrets`, `/srv/id_*`   absolute, whatever base is
 * `**` alone between slashes stands for any number of directories. All that lies below a match is
 * meant too, so a slash at the end adds nothing. A slash and `**` at the end spares the directory
 * itself: all that lies below it is meant.
 */
int policy_add_pattern(struct policy_builder *builder, enum rule_kind kind, const char *base,
                       const char *pattern, const char *origin);

/* The policy, in memory that the caller frees; NULL if the builder is spoilt or out of memory. */
struct policy *policy_build(struct policy_builder *builder);

#endif
