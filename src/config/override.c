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
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

struct override {
    const struct source *source;
    struct arena *arena;
    const char *path; /* as written, for messages */
};

__attribute__((format(printf, 2, 3))) static void *fail(const struct override *override, const char *format, ...)
{
    struct text text = {0};
    va_list arguments;
    va_start(arguments, format);
    text_addv(&text, format, arguments);
    va_end(arguments);
    errors_add(override->source->errors, COMMAND_LINE ": %s: %s", override->path, text.chars);
    text_release(&text);
    return NULL;
}

static struct json *value_plain(const struct override *override, const char *value)
{
    struct errors syntax = {.arena = override->arena};
    struct json *node = json_parse(override->arena, &syntax, "value", value, strlen(value));
    if (node)
        return node;
    if (*value && strchr("{[\"", *value)) { /* meant as JSON: to take it as text would hide the mistake */
        const char *message = errors_text(&syntax);
        return fail(override, "%.*s", (int)strcspn(message, "\n"), message);
    }
    return json_text(override->arena, value);
}

static struct json *value_number(const struct override *override, const char *value, bool is_whole, bool is_signed)
{
    struct errors ignored = {.arena = override->arena};
    struct json *node = json_parse(override->arena, &ignored, "value", value, strlen(value));
    const char *accepted = !is_whole ? "a number" : is_signed ? "a whole number" : "a whole number from 0";
    bool is_good = node && node->type == JSON_NUMBER && (!is_whole || !strpbrk(node->text, ".eE")) &&
                   (is_signed || node->text[0] != '-');
    return is_good ? node : fail(override, "found '%s', expected %s", value, accepted);
}

static struct json *value_uint(const struct override *override, const char *value)
{
    return value_number(override, value, true, false);
}

static struct json *value_int(const struct override *override, const char *value)
{
    return value_number(override, value, true, true);
}

static struct json *value_float(const struct override *override, const char *value)
{
    return value_number(override, value, false, true);
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

static const struct {
    const char *prefix;
    struct json *(*make)(const struct override *override, const char *value);
} typed_values[] = {
    {"uint=", value_uint}, {"int=", value_int}, {"float=", value_float}, {"string=", value_string},
    {"bool=", value_bool}, {"ref=", value_ref}, {"file=", value_file},
};

static struct json *read_value(const struct override *override, const char *value)
{
    for (size_t i = 0; i < sizeof(typed_values) / sizeof(typed_values[0]); i++) {
        size_t length = strlen(typed_values[i].prefix);
        if (strncmp(value, typed_values[i].prefix, length) != 0)
            continue;
        struct json *node = typed_values[i].make(override, value + length);
        if (node && typed_values[i].make != value_file) /* a file's values keep their places */
            json_place_all(node, COMMAND_LINE);
        return node;
    }
    struct json *node = value_plain(override, value);
    if (!node)
        return NULL;
    json_place_all(node, COMMAND_LINE);
    return source_include(override->source, node) ? node : NULL;
}

static struct json *missing_member(const struct override *override, struct json *object, const char *key)
{
    struct json *node = json_null(override->arena);
    node->file = COMMAND_LINE;
    return json_add(object, key, node);
}

/* Makes `node` an object that can hold settings, where that loses nothing. */
static bool open_node(const struct override *override, struct json *node)
{
    if (node->type != JSON_NULL && node->type != JSON_TEXT)
        return false;
    struct json *object = json_object(override->arena);
    object->file = node->file;
    object->line = node->line;
    object->column = node->column;
    if (node->type == JSON_TEXT) {
        struct json *type = json_copy(override->arena, node);
        json_add(object, "type", type);
    }
    json_replace(node, object);
    return true;
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
    if (node->type != JSON_OBJECT && !open_node(override, node))
        return fail(override, "'%s' is %s, expected an object to hold '%s'", json_path(override->arena, node),
                    json_type_name(node->type), step);
    if (json_find(node, "$ref"))
        return fail(override, "'%s' is a reference, expected its target or itself to be set",
                    json_path(override->arena, node));
    struct json *child = json_find(node, step);
    return child ? child : missing_member(override, node, step);
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
