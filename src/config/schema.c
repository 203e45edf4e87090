/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON schema of a configuration. $defs holds one entry a kind, which
 * picks by `type` (if-then, so that a validator's complaint is about the
 * component that was meant), and one entry a component, called KIND.NAME.
 * Every setting may also be a reference, and every object may include files.
 */
#include "config/describe.h"

#include "config/options.h"
#include "config/registry.h"

#include <string.h>

/* A piece of the schema from its text. */
#define PIECE(arena, ...) json_from_word(arena, arena_format(arena, __VA_ARGS__))

static void add_text(struct arena *arena, struct json *object, const char *key, const char *text)
{
    if (text)
        json_add(object, key, json_text(arena, text));
}

static struct json *typed(struct arena *arena, const char *type) { return PIECE(arena, "{\"type\": \"%s\"}", type); }

static struct json *pointer(struct arena *arena, const char *to)
{
    return PIECE(arena, "{\"$ref\": \"#/$defs/%s\"}", to);
}

static struct json *any_of(struct arena *arena, struct json *a, struct json *b)
{
    struct json *node = json_object(arena), *list = json_add(node, "anyOf", json_array(arena));
    json_append(list, a);
    json_append(list, b);
    return node;
}

static struct json *object_schema(struct arena *arena, const struct option *rows, const char *type);

static struct json *number(struct arena *arena, const char *type, const struct option *row)
{
    struct json *node = typed(arena, type);
    if (row->min > -NO_LIMIT)
        json_add(node, "minimum", json_number_f64(arena, row->min));
    if (row->max < NO_LIMIT)
        json_add(node, "maximum", json_number_f64(arena, row->max));
    return node;
}

static struct json *list_of(struct arena *arena, struct json *items)
{
    struct json *node = typed(arena, "array");
    json_add(node, "items", items);
    return node;
}

static struct json *text_like(struct arena *arena, const char *pattern)
{
    struct json *node = typed(arena, "string");
    add_text(arena, node, "pattern", pattern);
    return node;
}

static struct json *words(struct arena *arena, const char *const *names)
{
    struct json *node = json_object(arena), *list = json_add(node, "enum", json_array(arena));
    for (size_t i = 0; names[i]; i++)
        json_append(list, json_text(arena, names[i]));
    return node;
}

static struct json *choices(struct arena *arena, const struct option *row)
{
    struct json *node = list_of(arena, pointer(arena, row->kind));
    json_add(node, "minItems", json_number_f64(arena, row->min));
    if (row->max < NO_LIMIT)
        json_add(node, "maxItems", json_number_f64(arena, row->max));
    return node;
}

static struct json *value_schema(struct arena *arena, const struct option *row)
{
    const struct option_kind *kind = &option_kinds[row->type];
    if (kind->item_size)
        return list_of(arena,
                       value_schema(arena, &(struct option){.type = kind->item, .min = row->min, .max = row->max}));
    if (kind->number && kind->pattern)
        return any_of(arena, number(arena, kind->number, row), text_like(arena, kind->pattern));
    if (kind->number || kind->pattern)
        return kind->number ? number(arena, kind->number, row) : text_like(arena, kind->pattern);
    switch (row->type) {
    case OPTION_TYPE_BOOL:
        return typed(arena, "boolean");
    case OPTION_TYPE_ENUM:
        return words(arena, row->names);
    case OPTION_TYPE_BLOCK:
        return object_schema(arena, row->rows, NULL);
    case OPTION_TYPE_CHOICE:
        return pointer(arena, row->kind);
    case OPTION_TYPE_CHOICES:
        return choices(arena, row);
    default:
        return typed(arena, "string");
    }
}

static struct json *row_schema(struct arena *arena, const struct option *row)
{
    struct json *value = value_schema(arena, row);
    struct json *fallback = row->fallback ? json_from_word(arena, row->fallback) : NULL;
    if (fallback && fallback->type == JSON_NULL)
        value = any_of(arena, value, typed(arena, "null"));
    struct json *node = any_of(arena, value, pointer(arena, "reference"));
    const char *meaning = option_meaning(arena, row);
    add_text(arena, node, "description", row->unit ? arena_format(arena, "%s [%s]", meaning, row->unit) : meaning);
    if (fallback && row->type != OPTION_TYPE_BLOCK)
        json_add(node, "default", fallback);
    return node;
}

/* The schema of the object that the rows read; `type` is the component's name, NULL for a block. */
static struct json *object_schema(struct arena *arena, const struct option *rows, const char *type)
{
    struct json *node = typed(arena, "object");
    struct json *properties = json_add(node, "properties", json_object(arena));
    if (type)
        json_add(properties, "type", PIECE(arena, "{\"const\": \"%s\"}", type));
    ROWS_EACH(row, rows)
        json_add(properties, row->key, row_schema(arena, row));
    json_add(properties, "$include", pointer(arena, "include"));
    struct json *required = json_array(arena);
    ROWS_EACH(row, rows)
        if (!row->fallback)
            json_append(required, json_text(arena, row->key));
    if (required->count)
        json_add(node, "required", required);
    json_add(node, "additionalProperties", json_bool(arena, false));
    return node;
}

static struct json *kind_schema(struct arena *arena, const char *kind)
{
    struct json *bare = json_object(arena), *names = json_add(bare, "enum", json_array(arena));
    struct json *cases = json_array(arena);
    for (const struct registration *at = registry_kind(kind); at; at = registry_next(at)) {
        const char *name = at->component->name;
        json_append(names, json_text(arena, name));
        json_append(cases,
                    PIECE(arena,
                          "{\"if\": {\"properties\": {\"type\": {\"const\": \"%s\"}}, \"required\": [\"type\"]}, "
                          "\"then\": {\"$ref\": \"#/$defs/%s.%s\"}}",
                          name, kind, name));
    }
    struct json *full = typed(arena, "object");
    json_add(json_add(full, "properties", json_object(arena)), "type", json_copy(arena, bare));
    json_add(full, "allOf", cases);
    return any_of(arena, bare, full);
}

static void add_kinds(struct arena *arena, struct json *definitions)
{
    for (const struct registration *at = registry_first(); at; at = registry_next_kind(at))
        json_add(definitions, at->kind, kind_schema(arena, at->kind));
    for (const struct registration *at = registry_first(); at; at = at->next) {
        struct json *node = object_schema(arena, at->component->options, at->component->name);
        add_text(arena, node, "description", at->component->summary);
        json_add(definitions, arena_format(arena, "%s.%s", at->kind, at->component->name), node);
    }
}

/* Kinds that rows ask for although nothing of them is registered: no pointer may lead nowhere. */
static void add_empty_kinds(struct arena *arena, struct json *definitions, const struct option *rows)
{
    ROWS_EACH(row, rows) {
        if (row->kind && !json_find(definitions, row->kind))
            json_add(definitions, row->kind, json_bool(arena, false));
        if (row->type == OPTION_TYPE_BLOCK)
            add_empty_kinds(arena, definitions, row->rows);
    }
}

/* An empty schema of a draft. */
static struct json *schema_begin(struct arena *arena, const char *title)
{
    return PIECE(arena, "{\"$schema\": \"https://json-schema.org/draft/2020-12/schema\", \"title\": \"%s\"}", title);
}

struct json *schema_create(struct arena *arena, const struct option *root)
{
    struct json *schema = schema_begin(arena, "flitwarp configuration");
    struct json *body = object_schema(arena, root, NULL), *next;
    json_add(json_find(body, "properties"), "$schema", typed(arena, "string"));
    for (struct json *child = body->first; child; child = next) {
        next = child->next;
        json_append(schema, child);
    }
    struct json *definitions = json_add(schema, "$defs", json_object(arena));
    json_add(definitions, "reference",
             PIECE(arena, "{\"type\": \"object\", \"properties\": {\"$ref\": {\"type\": \"string\"}}, "
                          "\"required\": [\"$ref\"], \"additionalProperties\": false}"));
    json_add(definitions, "include", any_of(arena, typed(arena, "string"), list_of(arena, typed(arena, "string"))));
    add_kinds(arena, definitions);
    add_empty_kinds(arena, definitions, root);
    for (const struct registration *at = registry_first(); at; at = at->next)
        add_empty_kinds(arena, definitions, at->component->options);
    return schema;
}

/* ---- results ---- */

static struct json *result_schema(struct arena *arena, const struct result *row);

static void add_properties(struct arena *arena, struct json *properties, const struct result *rows)
{
    for (const struct result *row = rows; row && row->type != RESULT_TYPE_END; row++) {
        if (row->key && !json_find(properties, row->key))
            json_add(properties, row->key, result_schema(arena, row));
        const struct registration *own = row->type == RESULT_TYPE_OWN ? registry_kind(row->kind) : NULL;
        for (; own; own = registry_next(own))
            add_properties(arena, properties, own->component->reports);
    }
}

static struct json *results_object(struct arena *arena, const struct result *rows)
{
    struct json *node = PIECE(arena, "{\"type\": [\"object\", \"null\"]}");
    add_properties(arena, json_add(node, "properties", json_object(arena)), rows);
    return node;
}

#define NUMBER_OR_NULL "{\"type\": [\"number\", \"null\"]}"
#define LIST_OF(items) "{\"type\": \"array\", \"items\": " items "}"

static struct json *result_schema(struct arena *arena, const struct result *row)
{
    static const char *const values[] = {
        [RESULT_TYPE_COUNT] = "{\"type\": \"integer\"}",
        [RESULT_TYPE_NUMBER] = NUMBER_OR_NULL,
        [RESULT_TYPE_FLAG] = "{\"type\": \"boolean\"}",
        [RESULT_TYPE_TEXT] = "{\"type\": \"string\"}",
        [RESULT_TYPE_SUMMARY] = "{\"$ref\": \"#/$defs/summary\"}",
        [RESULT_TYPE_SPREAD] = "{\"$ref\": \"#/$defs/spread\"}",
        [RESULT_TYPE_LIST] = LIST_OF(NUMBER_OR_NULL),
        [RESULT_TYPE_LISTS] = LIST_OF(LIST_OF(NUMBER_OR_NULL)),
        [RESULT_TYPE_END] = NULL,
    };
    struct json *node;
    if (row->type == RESULT_TYPE_BLOCK)
        node = results_object(arena, row->rows);
    else if (row->type == RESULT_TYPE_BLOCKS)
        node = list_of(arena, results_object(arena, row->rows));
    else
        node = json_from_word(arena, values[row->type] ? values[row->type] : "{}");
    add_text(arena, node, "description", row->help);
    add_text(arena, node, "title", row->label);
    add_text(arena, node, "unit", row->unit);
    return node;
}

struct json *results_schema_create(struct arena *arena, const struct result *rows)
{
    static const struct result spread[] = {
        RESULT("distribution", LISTS, NULL, "[value, count], ..."),
        RESULT_END,
    };
    struct json *schema = schema_begin(arena, "flitwarp results");
    add_text(arena, schema, "type", "object");
    add_properties(arena, json_add(schema, "properties", json_object(arena)), rows);
    struct json *definitions = json_add(schema, "$defs", json_object(arena));
    json_add(definitions, "summary", results_object(arena, summary_results));
    struct json *both = json_add(definitions, "spread", results_object(arena, summary_results));
    add_properties(arena, json_find(both, "properties"), spread);
    return schema;
}
