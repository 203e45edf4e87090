/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings from the command line: PATH=VALUE, and SuperSim's PATH=TYPE=VALUE.
 * Objects that are missing on the way are made, since the option rows refuse
 * keys that mean nothing. A component that was given by its bare name turns
 * into an object when the path leads into it.
 */
#include "config/place.h"
#include "config/source.h"

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
        return fail(&context, "expected keys separated by single dots (network.router.num_vcs)");
    struct json *value = read_value(&context, override + length + 1);
    struct json *node = value ? root : NULL;
    for (uint32_t i = 0; node && i < path.count; i++)
        node = step_into(&context, node, path.steps[i]);
    if (node)
        json_replace(node, value);
    return node;
}
