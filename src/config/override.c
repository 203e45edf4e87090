/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings from the command line: PATH=VALUE, and SuperSim's PATH=TYPE=VALUE.
 * Objects that are missing on the way are made, since the option rows refuse
 * keys that mean nothing. A component that was given by its bare name turns
 * into an object when the path leads into it.
 */
#include "config/json.h"

#include "config/source.h"
#include "flitwarp/option.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct override {
    const struct source *source;
    struct arena *arena;
    const char *path; /* as written, for messages */
};

#define fail(override, ...) override_fail(override, arena_format((override)->arena, __VA_ARGS__))
static void *override_fail(const struct override *override, const char *message)
{
    errors_add(override->source->errors, COMMAND_LINE ": %s: %s", override->path, message);
    return NULL;
}

static struct json *value_plain(const struct override *override, const char *value)
{
    struct errors syntax = {.arena = override->arena};
    struct json *node = json_parse(override->arena, &syntax, "value", value, strlen(value));
    if (node)
        return node;
    if (*value && strchr("{[\"", *value)) /* meant as JSON: to take it as text would hide the mistake */
        return fail(override, "%s", syntax.first->text);
    return json_text(override->arena, value);
}

static struct json *value_string(const struct override *override, const char *value)
{
    return json_text(override->arena, value);
}

static struct json *value_bool(const struct override *override, const char *value)
{
    bool is_true = strcmp(value, "true") == 0 || strcmp(value, "1") == 0;
    bool is_false = strcmp(value, "false") == 0 || strcmp(value, "0") == 0;
    if (!is_true && !is_false)
        return fail(override, "found '%s', expected true, false, 1 or 0", value);
    return json_bool(override->arena, is_true);
}

static struct json *value_ref(const struct override *override, const char *value)
{
    struct json *node = json_object(override->arena);
    json_add(node, "$ref", json_text(override->arena, value));
    return node;
}

static struct json *value_file(const struct override *override, const char *value)
{
    if (access(value, R_OK) != 0)
        return fail(override, "cannot read '%s': %s", value, strerror(errno));
    return source_read_file(override->source, value);
}

static const struct typed_value {
    const char *prefix;
    struct json *(*make)(const struct override *override, const char *value); /* NULL: a number */
    const char *without;                                                      /* what a number must not contain */
    const char *accepted;
} typed_values[] = {
    {"uint=", .without = "-.eE", .accepted = "a whole number from 0"},
    {"int=", .without = ".eE", .accepted = "a whole number"},
    {"float=", .without = "", .accepted = "a number"},
    {"string=", .make = value_string},
    {"bool=", .make = value_bool},
    {"ref=", .make = value_ref},
    {"file=", .make = value_file},
    {0},
};

static struct json *value_number(const struct override *override, const struct typed_value *type, const char *value)
{
    struct errors ignored = {.arena = override->arena};
    struct json *node = json_parse(override->arena, &ignored, "value", value, strlen(value));
    bool is_good = node && node->type == JSON_NUMBER && !strpbrk(node->text, type->without);
    return is_good ? node : fail(override, "found '%s', expected %s", value, type->accepted);
}

static struct json *read_value(const struct override *override, const char *value)
{
    for (const struct typed_value *type = typed_values; type->prefix; type++) {
        size_t length = strlen(type->prefix);
        if (strncmp(value, type->prefix, length) != 0)
            continue;
        value += length;
        struct json *node = type->make ? type->make(override, value) : value_number(override, type, value);
        if (node && type->make != value_file) /* a file's values keep their places */
            json_place_all(node, COMMAND_LINE);
        return node;
    }
    struct json *node = value_plain(override, value);
    if (!node)
        return NULL;
    json_place_all(node, COMMAND_LINE);
    return source_include(override->source, node) ? node : NULL;
}

static struct json *step_into_array(const struct override *override, struct json *array, const char *step)
{
    uint32_t index;
    if (!array->count)
        return fail(override, "no element '%s': the array is empty, set it as a whole", step);
    if (!path_index(step, &index) || index >= array->count)
        return fail(override, "no element '%s', accepted are 0 to %u", step, array->count - 1);
    return json_at(array, index);
}

static struct json *step_into(const struct override *override, struct json *node, const char *step)
{
    if (node->type == JSON_ARRAY)
        return step_into_array(override, node, step);
    if (node->type == JSON_NULL || node->type == JSON_TEXT) /* that loses nothing */
        json_open(override->arena, node);
    if (node->type != JSON_OBJECT)
        return fail(override, "'%s' is %s, expected an object to hold '%s'", json_path(override->arena, node),
                    json_type_name(node->type), step);
    if (json_find(node, "$ref"))
        return fail(override, "'%s' is a reference, expected its target or itself to be set",
                    json_path(override->arena, node));
    struct json *child = json_find(node, step);
    if (child)
        return child;
    child = json_add(node, step, json_null(override->arena));
    child->file = COMMAND_LINE;
    return child;
}

bool source_override(const struct source *source, struct json *root, const char *override)
{
    struct arena *arena = source->arena;
    size_t length = strcspn(override, "=");
    struct path path;
    if (override[length] == '\0' || length == 0)
        return errors_add(source->errors, COMMAND_LINE ": found '%s', expected PATH=VALUE (network.router.num_vcs=4)",
                          override);
    struct override context = {source, arena, arena_format(arena, "%.*s", (int)length, override)};
    if (!path_read(arena, context.path, &path))
        return fail(
            &context,
            "expected keys separated by single dots, numbers in brackets (network.router.num_vcs, applications[0])");
    struct json *value = read_value(&context, override + length + 1);
    struct json *node = value ? root : NULL;
    for (uint32_t i = 0; node && i < path.count; i++)
        node = step_into(&context, node, path.steps[i]);
    if (node)
        json_replace(node, value);
    return node;
}

/*
 * ---- references ----
 *
 * {"$ref": "/network/router/num_vcs"} stands for a copy of the
 * setting at that path. A target may hold references itself; they are resolved
 * first. A reference whose target contains it, or contains one that is still
 * being resolved, can never end: that is the whole test for cycles. Copies are
 * limited in depth and number, since references to references grow quickly.
 */
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

static bool lies_within(const struct json *node, const struct json *tree)
{
    while (node && node != tree)
        node = node->parent;
    return node;
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
        return node_refuse(resolver->errors, text, NULL,
                           "expected the path of another setting (/network/router/num_vcs)");
    struct json *node = resolver->root;
    for (uint32_t i = 0, index; i < path.count; i++) {
        bool is_item = node->type == JSON_ARRAY && path_index(path.steps[i], &index);
        struct json *next = is_item ? json_at(node, index) : json_find(node, path.steps[i]);
        if (!next) {
            const char *at = json_path(resolver->arena, node);
            return node_refuse(resolver->errors, text, NULL, "no setting '%s': there is no '%s' in %s%s%s", text->text,
                               path.steps[i], *at ? "'" : "", *at ? at : "the configuration", *at ? "'" : "");
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
    struct errors *errors = resolver->errors;
    uint32_t level = 0;
    if (reference->count > 1)
        return node_refuse(errors, reference, NULL, "found other keys beside '$ref', expected it alone");
    if (waiting->depth > JSON_DEPTH_MAX)
        return node_refuse(errors, reference, NULL, "found a chain of more than 200 references, expected fewer");
    struct json *target = find_target(resolver, json_find(reference, "$ref"), waiting);
    if (!target)
        return NULL;
    for (const struct waiting *at = waiting; at; at = at->outer)
        if (lies_within(at->reference, target))
            return node_refuse(errors, reference, NULL,
                               "the reference leads back here, expected one that ends somewhere");
    if (!resolve_tree(resolver, target, waiting))
        return NULL;
    for (const struct json *at = reference; at->parent; at = at->parent)
        level++;
    if (!may_copy(resolver, target, level))
        return node_refuse(errors, reference, NULL, "the reference makes the configuration too large or too deep");
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
