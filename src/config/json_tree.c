/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON trees: building and changing them, where their values stand, and the messages that say so. Numbers keep the text
 * they were read from, and new ones get the shortest text that reads back equal, so that a document is the same bytes on
 * every machine.
 */
#include "config/json.h"

#include "flitwarp/option.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct json *node_create(struct arena *arena, enum json_type type)
{
    struct json *node = arena_take(arena, sizeof(*node));
    node->type = type;
    return node;
}

struct json *json_null(struct arena *arena) { return node_create(arena, JSON_NULL); }
struct json *json_array(struct arena *arena) { return node_create(arena, JSON_ARRAY); }
struct json *json_object(struct arena *arena) { return node_create(arena, JSON_OBJECT); }

struct json *json_bool(struct arena *arena, bool truth)
{
    struct json *node = node_create(arena, JSON_BOOL);
    node->truth = truth;
    return node;
}

struct json *json_text(struct arena *arena, const char *text)
{
    struct json *node = node_create(arena, JSON_TEXT);
    node->text = arena_text(arena, text);
    return node;
}

struct json *json_number_u64(struct arena *arena, uint64_t number)
{
    struct json *node = node_create(arena, JSON_NUMBER);
    node->number = (double)number;
    node->text = arena_format(arena, "%llu", (unsigned long long)number);
    return node;
}

struct json *json_number_f64(struct arena *arena, double number)
{
    if (!isfinite(number))
        return json_null(arena);
    struct json *node = node_create(arena, JSON_NUMBER);
    node->number = number == 0 ? 0 : number; /* no minus before zero */
    char text[40];
    if (fabs(number) < 0x1p53 && number == floor(number)) {
        snprintf(text, sizeof(text), "%.0f", node->number);
    } else {
        int digits = 15;
        do
            snprintf(text, sizeof(text), "%.*g", digits, number);
        while (strtod(text, NULL) != number && ++digits <= 17);
    }
    node->text = arena_text(arena, text);
    return node;
}

struct json *json_append(struct json *array, struct json *node)
{
    node->parent = array;
    node->next = NULL;
    if (array->last)
        array->last->next = node;
    else
        array->first = node;
    array->last = node;
    array->count++;
    return node;
}

struct json *json_add(struct json *object, const char *key, struct json *node)
{
    node->key = key;
    return json_append(object, node);
}

struct json *json_find(const struct json *object, const char *key)
{
    if (object->type != JSON_OBJECT)
        return NULL;
    struct json *child = object->first;
    while (child && strcmp(child->key, key) != 0)
        child = child->next;
    return child;
}

struct json *json_at(const struct json *array, uint32_t index)
{
    struct json *child = array->first;
    while (child && index--)
        child = child->next;
    return child;
}

void json_remove(struct json *parent, struct json *child)
{
    struct json *before = NULL;
    for (struct json *at = parent->first; at != child; at = at->next)
        before = at;
    if (before)
        before->next = child->next;
    else
        parent->first = child->next;
    if (parent->last == child)
        parent->last = before;
    parent->count--;
    child->parent = child->next = NULL;
}

void json_move_last(struct json *object, const char *key)
{
    struct json *child = json_find(object, key);
    if (!child)
        return;
    json_remove(object, child);
    json_append(object, child);
}

static bool has_equal_children(const struct json *a, const struct json *b)
{
    const struct json *other = b->first;
    for (const struct json *child = a->first; child; child = child->next) {
        if (a->type == JSON_OBJECT)
            other = json_find(b, child->key);
        if (!other || !json_is_equal(child, other))
            return false;
        other = other->next;
    }
    return a->count == b->count;
}

bool json_is_equal(const struct json *a, const struct json *b)
{
    if (a->type != b->type)
        return false;
    return a->type == JSON_TEXT ? strcmp(a->text, b->text) == 0
                                : a->truth == b->truth && a->number == b->number && has_equal_children(a, b);
}

struct json *json_copy(struct arena *arena, const struct json *node)
{
    struct json *copy = arena_take(arena, sizeof(*copy));
    *copy = *node;
    copy->parent = copy->next = copy->first = copy->last = NULL;
    copy->count = 0;
    for (const struct json *child = node->first; child; child = child->next)
        json_append(copy, json_copy(arena, child));
    return copy;
}

void json_replace(struct json *node, struct json *with)
{
    struct json old = *node;
    *node = *with;
    node->key = old.key;
    node->parent = old.parent;
    node->next = old.next;
    for (struct json *child = node->first; child; child = child->next)
        child->parent = node;
}

void json_open(struct arena *arena, struct json *node)
{
    struct json *object = json_object(arena);
    object->file = node->file;
    object->line = node->line;
    object->column = node->column;
    if (node->type == JSON_TEXT)
        json_add(object, "type", json_copy(arena, node));
    json_replace(node, object);
}

void json_place_all(struct json *node, const char *file)
{
    node->file = file;
    node->line = node->column = 0;
    for (struct json *child = node->first; child; child = child->next)
        json_place_all(child, file);
}

const char *json_type_name(enum json_type type)
{
    static const char *const names[] = {"null", "true or false", "a number", "text", "an array", "an object"};
    return names[type];
}

/* ---- places and paths ---- */

const char *json_path(struct arena *arena, const struct json *node)
{
    if (!node->parent)
        return "";
    const char *above = json_path(arena, node->parent);
    if (node->parent->type != JSON_ARRAY)
        return list_add(arena, above, ".", node->key);
    uint32_t index = 0;
    for (const struct json *at = node->parent->first; at != node; at = at->next)
        index++;
    return arena_format(arena, "%s[%u]", above, index);
}

/* A value that the user did not write stands at its nearest ancestor that they did: the setting would have to be added there. */
static const struct json *written_node(const struct json *node)
{
    while (!node->file && node->parent)
        node = node->parent;
    return node;
}

const char *json_file(const struct json *node) { return written_node(node)->file; }

bool node_error(struct errors *errors, const struct json *node, const char *key, const char *format, ...)
{
    if (!errors)
        return false;
    const struct json *child = key ? json_find(node, key) : NULL, *written = written_node(child ? child : node);
    const char *path = json_path(errors->arena, node), *place = written->file ? written->file : "configuration";
    if (key)
        path = list_add(errors->arena, path, ".", key);
    if (written->file && written->line)
        place = arena_format(errors->arena, "%s:%u", place, written->line);
    va_list arguments;
    va_start(arguments, format);
    const char *message = arena_formatv(errors->arena, format, arguments);
    va_end(arguments);
    return errors_add(errors, "%s: %s: %s", place, *path ? path : "the configuration", message);
}

/* JSON pointers write ~1 for a slash and ~0 for a tilde inside a key. */
static void unescape_step(char *step)
{
    char *to = step;
    for (const char *from = step; *from; from++) {
        bool is_escape = from[0] == '~' && (from[1] == '0' || from[1] == '1');
        *to++ = is_escape ? (from[1] == '0' ? '~' : '/') : *from;
        from += is_escape;
    }
    *to = '\0';
}

bool path_read(struct arena *arena, const char *written, struct path *path)
{
    if (*written == '#')
        written++;
    bool is_pointer = *written == '/';
    const char *separators = is_pointer ? "/[]" : "./[]";
    const char *at = written + is_pointer;
    bool is_in_brackets = false;
    *path = (struct path){.steps = arena_array(arena, const char *, JSON_DEPTH_MAX)};
    for (;;) {
        size_t length = strcspn(at, separators);
        if (length == 0 || path->count == JSON_DEPTH_MAX || is_in_brackets != (at[length] == ']'))
            return false;
        char *step = memcpy(arena_take(arena, length + 1), at, length);
        if (is_pointer)
            unescape_step(step);
        path->steps[path->count++] = step;
        at += length + is_in_brackets;
        if (*at == '\0')
            return true;
        if (*at == ']' || !strchr(separators, *at))
            return false;
        is_in_brackets = *at++ == '[';
    }
}

bool path_index(const char *step, uint32_t *index)
{
    uint64_t number;
    bool is_index = number_read(&step, UINT32_MAX, &number) && !*step;
    *index = is_index ? (uint32_t)number : 0;
    return is_index;
}
