/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON trees: building, changing and writing them. Numbers keep the text they
 * were read from, and new ones get the shortest text that reads back equal, so
 * that a document is the same bytes on every machine.
 */
#include "config/json.h"

#include "base/need.h"

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
    switch (a->type) {
    case JSON_BOOL:
        return a->truth == b->truth;
    case JSON_NUMBER:
        return a->number == b->number;
    case JSON_TEXT:
        return strcmp(a->text, b->text) == 0;
    default:
        return has_equal_children(a, b);
    }
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

static void write_text(FILE *out, const char *text)
{
    putc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if (*text == '\n')
            fputs("\\n", out);
        else if (*text == '\t')
            fputs("\\t", out);
        else if ((unsigned char)*text < 0x20)
            fprintf(out, "\\u%04x", *text);
        else
            putc(*text, out);
    }
    putc('"', out);
}

static bool holds_only_scalars(const struct json *node)
{
    for (const struct json *child = node->first; child; child = child->next)
        if (child->type >= JSON_ARRAY)
            return false;
    return true;
}

static void write_node(FILE *out, const struct json *node, int indent, int level);

static void write_comment(FILE *out, const char *comment, int margin)
{
    while (*comment) {
        size_t length = strcspn(comment, "\n");
        fprintf(out, "\n%*s// %.*s", margin, "", (int)length, comment);
        comment += length + (comment[length] == '\n');
    }
}

static void write_children(FILE *out, const struct json *node, int indent, int level)
{
    bool is_object = node->type == JSON_OBJECT;
    bool on_one_line = indent == 0 || node->count == 0 || (!is_object && holds_only_scalars(node));
    putc(is_object ? '{' : '[', out);
    for (const struct json *child = node->first; child; child = child->next) {
        if (child != node->first)
            fputs(on_one_line ? ", " : ",", out);
        if (!on_one_line && child->comment)
            write_comment(out, child->comment, indent * (level + 1));
        if (!on_one_line)
            fprintf(out, "\n%*s", indent * (level + 1), "");
        if (is_object) {
            write_text(out, child->key);
            fputs(": ", out);
        }
        write_node(out, child, indent, level + 1);
    }
    if (!on_one_line)
        fprintf(out, "\n%*s", indent * level, "");
    putc(is_object ? '}' : ']', out);
}

static void write_node(FILE *out, const struct json *node, int indent, int level)
{
    switch (node->type) {
    case JSON_NULL:
        fputs("null", out);
        break;
    case JSON_BOOL:
        fputs(node->truth ? "true" : "false", out);
        break;
    case JSON_NUMBER:
        fputs(node->text, out);
        break;
    case JSON_TEXT:
        write_text(out, node->text);
        break;
    case JSON_ARRAY:
    case JSON_OBJECT:
        write_children(out, node, indent, level);
        break;
    }
}

void json_write(FILE *out, const struct json *node, int indent) { write_node(out, node, indent, 0); }

void json_write_text(struct text *text, const struct json *node, int indent)
{
    char *chars = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&chars, &length);
    NEED(stream, "out of memory for a JSON text");
    json_write(stream, node, indent);
    fclose(stream);
    text_add_bytes(text, chars, length);
    free(chars);
}
