/* SPDX-License-Identifier: Apache-2.0 */
/*
 * References: {"$ref": "/network/router/num_vcs"} stands for a copy of the
 * setting at that path. A target may hold references itself; they are resolved
 * first. A reference whose target contains it, or contains one that is still
 * being resolved, can never end: that is the whole test for cycles. Copies are
 * limited in depth and number, since references to references grow quickly.
 */
#include "config/place.h"
#include "config/source.h"
#include "flitwarp/option.h"

#include <string.h>

#define COPIES_MAX (1u << 20)

/* The references that wait for their targets, innermost first. */
struct waiting {
    const struct json *reference;
    const struct waiting *outer;
    uint32_t depth;
};

struct resolver {
    struct arena *arena;
    struct errors *errors;
    struct json *root;
    uint32_t copies;
};

static bool resolve_tree(struct resolver *resolver, struct json *node, const struct waiting *waiting);
static bool resolve(struct resolver *resolver, struct json *reference, const struct waiting *outer);

static void *fail(const struct resolver *resolver, const struct json *reference, const char *message)
{
    return node_error(resolver->errors, reference, NULL, "%s", message), NULL;
}

static bool lies_within(const struct json *node, const struct json *tree)
{
    while (node && node != tree)
        node = node->parent;
    return node;
}

static uint32_t levels_above(const struct json *node)
{
    uint32_t levels = 0;
    for (; node->parent; node = node->parent)
        levels++;
    return levels;
}

/* Counts the nodes of a tree; false when it is too deep or there are too many. */
static bool may_copy(struct resolver *resolver, const struct json *node, uint32_t level)
{
    if (level > JSON_DEPTH_MAX || ++resolver->copies > COPIES_MAX)
        return false;
    for (const struct json *child = node->first; child; child = child->next)
        if (!may_copy(resolver, child, level + 1))
            return false;
    return true;
}

static struct json *step_to(struct json *node, const char *step)
{
    uint32_t index;
    if (node->type == JSON_ARRAY)
        return path_index(step, &index) ? json_at(node, index) : NULL;
    return json_find(node, step);
}

static bool is_waiting(const struct json *node, const struct waiting *waiting)
{
    while (waiting && waiting->reference != node)
        waiting = waiting->outer;
    return waiting;
}

/* Walks the path; a reference on the way, or at its end, is resolved before it is entered. */
static struct json *find_target(struct resolver *resolver, const struct json *text, const struct waiting *waiting)
{
    struct path path;
    if (text->type != JSON_TEXT || !path_read(resolver->arena, text->text, &path))
        return node_error(resolver->errors, text, NULL,
                          "expected the path of another setting (/network/router/num_vcs)"),
               NULL;
    struct json *node = resolver->root;
    for (uint32_t i = 0; i < path.count; i++) {
        struct json *next = step_to(node, path.steps[i]);
        if (!next) {
            const char *at = json_path(resolver->arena, node);
            return node_error(resolver->errors, text, NULL, "no setting '%s': there is no '%s' in %s%s%s", text->text,
                              path.steps[i], *at ? "'" : "", *at ? at : "the configuration", *at ? "'" : ""),
                   NULL;
        }
        if (is_waiting(next, waiting))
            return next; /* resolve finds the cycle */
        if (json_find(next, "$ref") && !resolve(resolver, next, waiting))
            return NULL;
        node = next;
    }
    return node;
}

/* The copy to put in place of the reference; NULL when there can be none. */
static struct json *make_copy(struct resolver *resolver, struct json *reference, const struct waiting *waiting)
{
    struct json *text = json_find(reference, "$ref");
    if (reference->count > 1)
        return fail(resolver, reference, "found other keys beside '$ref', expected it alone");
    if (waiting->depth > JSON_DEPTH_MAX)
        return fail(resolver, reference, "found a chain of more than 200 references, expected fewer");
    struct json *target = find_target(resolver, text, waiting);
    if (!target)
        return NULL;
    for (const struct waiting *at = waiting; at; at = at->outer)
        if (lies_within(at->reference, target))
            return fail(resolver, reference, "the reference leads back here, expected one that ends somewhere");
    if (!resolve_tree(resolver, target, waiting))
        return NULL;
    if (!may_copy(resolver, target, levels_above(reference)))
        return fail(resolver, reference, "the reference makes the configuration too large or too deep");
    return json_copy(resolver->arena, target);
}

/* A reference that failed becomes null, so that it is reported once and the search for others goes on. */
static bool resolve(struct resolver *resolver, struct json *reference, const struct waiting *outer)
{
    struct waiting waiting = {reference, outer, outer ? outer->depth + 1 : 1};
    struct json *copy = make_copy(resolver, reference, &waiting);
    json_replace(reference, copy ? copy : json_null(resolver->arena));
    return copy;
}

static bool resolve_tree(struct resolver *resolver, struct json *node, const struct waiting *waiting)
{
    if (json_find(node, "$ref"))
        return resolve(resolver, node, waiting);
    bool is_good = true;
    for (struct json *child = node->first; child; child = child->next)
        is_good &= resolve_tree(resolver, child, waiting);
    return is_good;
}

bool source_resolve(struct arena *arena, struct errors *errors, struct json *root)
{
    struct resolver resolver = {.arena = arena, .errors = errors, .root = root};
    return resolve_tree(&resolver, root, NULL);
}
