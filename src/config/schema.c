/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON schema of a configuration, written as text. $defs holds one entry a kind, which picks by `type` (if-then, so
 * that a validator's complaint is about the component that was meant), and one entry a component, called KIND.NAME.
 * Every setting may also be a reference, and every object may include files.
 */
#include "config/describe.h"

#include "config/options.h"
#include "config/registry.h"

#include <string.h>

struct schema {
    struct text out; /* owned */
    struct arena *arena;
};

static void write_members(struct schema *schema, const struct option *rows, const char *type);

/* Its bounds, and the end of its object. */
static void write_limits(struct schema *schema, const struct option *row, const char *least, const char *most)
{
    if (row->min > -NO_LIMIT)
        write_format(&schema->out, "'%s':%s", least, json_number_f64(schema->arena, row->min)->text);
    if (row->max < NO_LIMIT)
        write_format(&schema->out, "'%s':%s", most, json_number_f64(schema->arena, row->max)->text);
    write_close(&schema->out, '}');
}

static void write_value(struct schema *schema, const struct option *row);

static void write_block(struct schema *schema, const struct option *row)
{
    write_open(&schema->out, '{');
    write_members(schema, row->rows, NULL);
    write_close(&schema->out, '}');
}

/* One of them, several, or what a list of anything else is short for. */
static void write_blocks(struct schema *schema, const struct option *row)
{
    struct text *out = &schema->out;
    struct option list;
    write_format(out, "{'anyOf':[");
    write_block(schema, row);
    write_format(out, "{'type':'array','items':");
    write_block(schema, row);
    write_close(out, '}');
    if (row->short_key && option_find(row->rows, row->short_key, strlen(row->short_key), &list))
        write_value(schema, &list);
    write_format(out, "]}");
}

static void write_value(struct schema *schema, const struct option *row)
{
    struct text *out = &schema->out;
    const struct option_kind *kind = &option_kinds[row->type];
    bool takes_both = kind->number && kind->pattern;
    if (takes_both)
        write_format(out, "{'anyOf':[");
    if (kind->number) {
        write_format(out, "{'type':'%s'", kind->number);
        write_limits(schema, row, "minimum", "maximum");
    }
    if (kind->pattern) {
        write_format(out, "{'type':'string'");
        write_text_at(out, "pattern", kind->pattern);
        write_close(out, '}');
    }
    if (takes_both)
        write_format(out, "]}");
    if (kind->number || kind->pattern)
        return;
    if (kind->item_size) {
        write_format(out, "{'type':'array','items':");
        write_value(schema, &(struct option){.type = kind->item, .min = row->min, .max = row->max});
        write_close(out, '}');
    } else if (row->type == OPTION_TYPE_ENUM) {
        write_format(out, "{'enum':[");
        for (size_t i = 0; row->names[i]; i++)
            write_text(out, row->names[i]);
        write_format(out, "]}");
    } else if (row->type == OPTION_TYPE_BLOCK) {
        write_block(schema, row);
    } else if (row->type == OPTION_TYPE_BLOCKS) {
        write_blocks(schema, row);
    } else if (row->type == OPTION_TYPE_CHOICE) {
        write_format(out, "{'$ref':'#/$defs/%s'}", row->kind);
    } else if (row->type == OPTION_TYPE_CHOICES) {
        write_format(out, "{'type':'array','items':{'$ref':'#/$defs/%s'}", row->kind);
        write_limits(schema, row, "minItems", "maxItems");
    } else {
        write_format(out, "{'type':'%s'}", row->type == OPTION_TYPE_BOOL ? "boolean" : "string");
    }
}

static void write_row(struct schema *schema, const struct option *row)
{
    struct text *out = &schema->out;
    const char *meaning = option_meaning(schema->arena, row);
    bool is_optional = option_is_optional(row);
    write_format(out, is_optional ? "'%s':{'anyOf':[{'anyOf':[" : "'%s':{'anyOf':[", row->key);
    write_value(schema, row);
    write_format(out, "%s{'$ref':'#/$defs/reference'}]", is_optional ? "{\"type\":\"null\"}]}," : "");
    write_text_at(out, "description", row->unit ? arena_format(schema->arena, "%s [%s]", meaning, row->unit) : meaning);
    if (row->fallback && row->type != OPTION_TYPE_BLOCK) {
        write_format(out, "'default':");
        write_json(out, json_from_word(schema->arena, row->fallback));
    }
    write_close(out, '}');
}

/* Of an object that rows read; `type` is the component's name, NULL for a block, "" for the whole. */
static void write_members(struct schema *schema, const struct option *rows, const char *type)
{
    struct text *out = &schema->out;
    write_format(out, "'type':'object','properties':{");
    if (type && *type)
        write_format(out, "'type':{'const':'%s'}", type);
    ROWS_EACH(row, rows)
        write_row(schema, row);
    write_format(out, "'$include':{'$ref':'#/$defs/include'}%s}",
                 type && !*type ? ",\"$schema\":{\"type\":\"string\"}" : "");
    bool is_any_required = false;
    ROWS_EACH(row, rows) {
        if (row->fallback)
            continue;
        if (!is_any_required)
            write_format(out, "'required':[");
        is_any_required = true;
        write_text(out, row->key);
    }
    if (is_any_required)
        write_close(out, ']');
    write_format(out, "'additionalProperties':false");
}

static void write_names(struct text *out, const char *kind)
{
    write_format(out, "{'enum':[");
    for (const struct registration *at = registry_kind(kind); at; at = registry_next(at))
        write_text(out, at->component->name);
    write_format(out, "]}");
}

static void write_kind(struct text *out, const char *kind)
{
    write_format(out, "'%s':{'anyOf':[", kind);
    write_names(out, kind);
    write_format(out, "{'type':'object','properties':{'type':");
    write_names(out, kind);
    write_format(out, "},'allOf':[");
    for (const struct registration *at = registry_kind(kind); at; at = registry_next(at))
        write_format(
            out, "{'if':{'properties':{'type':{'const':'%s'}},'required':['type']},'then':{'$ref':'#/$defs/%s.%s'}}",
            at->component->name, kind, at->component->name);
    write_format(out, "]}]}");
}

/* Kinds that rows ask for although nothing of them is registered: no pointer may lead nowhere. */
static void add_empty_kinds(struct arena *arena, struct json *definitions, const struct option *rows)
{
    ROWS_EACH(row, rows) {
        if (row->kind && !json_find(definitions, row->kind))
            json_add(definitions, row->kind, json_bool(arena, false));
        if (row->type == OPTION_TYPE_BLOCK || row->type == OPTION_TYPE_BLOCKS)
            add_empty_kinds(arena, definitions, row->rows);
    }
}

struct json *schema_create(struct arena *arena, const struct option *root)
{
    struct schema schema = {.arena = arena};
    struct text *out = &schema.out;
    write_format(out, "{'$schema':'https://json-schema.org/draft/2020-12/schema','title':'flitwarp configuration'");
    write_members(&schema, root, "");
    write_format(out, "'$defs':{'reference':{'type':'object','properties':{'$ref':{'type':'string'}},"
                      "'required':['$ref'],'additionalProperties':false}");
    write_format(out, "'include':{'anyOf':[{'type':'string'},{'type':'array','items':{'type':'string'}}]}");
    for (const struct registration *at = registry_first(); at; at = registry_next_kind(at))
        write_kind(out, at->kind);
    for (const struct registration *at = registry_first(); at; at = at->next) {
        write_format(out, "'%s.%s':{", at->kind, at->component->name);
        write_members(&schema, at->component->options, at->component->name);
        write_text_at(out, "description", at->component->summary);
        write_close(out, '}');
    }
    write_format(out, "}}");
    struct json *whole = json_from_word(arena, out->chars), *definitions = json_find(whole, "$defs");
    text_release(out);
    add_empty_kinds(arena, definitions, root);
    for (const struct registration *at = registry_first(); at; at = at->next)
        add_empty_kinds(arena, definitions, at->component->options);
    return whole;
}

/* ---- results ---- */

static void add_text(struct arena *arena, struct json *object, const char *key, const char *text)
{
    if (text)
        json_add(object, key, json_text(arena, text));
}

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
    struct json *node = json_from_word(arena, "{\"type\": [\"object\", \"null\"]}");
    add_properties(arena, json_add(node, "properties", json_object(arena)), rows);
    return node;
}

#define NUMBER_OR_NULL "{\"type\": [\"number\", \"null\"]}"
#define LIST_OF(items) "{\"type\": \"array\", \"items\": " items "}"

const struct result_kind result_kinds[] = {
    [RESULT_TYPE_COUNT] = {"whole number", "{\"type\": \"integer\"}"},
    [RESULT_TYPE_NUMBER] = {"number", NUMBER_OR_NULL},
    [RESULT_TYPE_FLAG] = {"true or false", "{\"type\": \"boolean\"}"},
    [RESULT_TYPE_TEXT] = {"text", "{\"type\": \"string\"}"},
    [RESULT_TYPE_SUMMARY] = {"summary", "{\"$ref\": \"#/$defs/summary\"}"},
    [RESULT_TYPE_SPREAD] = {"summary, distribution", "{\"$ref\": \"#/$defs/spread\"}"},
    [RESULT_TYPE_LIST] = {"list", LIST_OF(NUMBER_OR_NULL)},
    [RESULT_TYPE_LISTS] = {"list of lists", LIST_OF(LIST_OF(NUMBER_OR_NULL))},
    [RESULT_TYPE_BLOCK] = {"object", NULL},
    [RESULT_TYPE_BLOCKS] = {"list of objects", "{\"type\": \"array\"}"},
    [RESULT_TYPE_ANY] = {"", "{}"},
};

static struct json *result_schema(struct arena *arena, const struct result *row)
{
    struct json *node = row->type == RESULT_TYPE_BLOCK ? results_object(arena, row->rows)
                                                       : json_from_word(arena, result_kinds[row->type].schema);
    if (row->type == RESULT_TYPE_BLOCKS)
        json_add(node, "items", results_object(arena, row->rows));
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
    struct json *schema = json_from_word(arena, "{\"$schema\": \"https://json-schema.org/draft/2020-12/schema\", "
                                                "\"title\": \"flitwarp results\", \"type\": \"object\"}");
    add_properties(arena, json_add(schema, "properties", json_object(arena)), rows);
    struct json *definitions = json_add(schema, "$defs", json_object(arena));
    json_add(definitions, "summary", results_object(arena, summary_results));
    struct json *both = json_add(definitions, "spread", results_object(arena, summary_results));
    add_properties(arena, json_find(both, "properties"), spread);
    return schema;
}
