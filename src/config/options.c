/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading an object by its rows: unknown keys, missing ones, defaults, nested
 * blocks and components, which a setting picks by their `type` and which read the
 * rest by their own rows. Single values are read in values.c. Nothing stops at the
 * first error; a row that failed leaves its field zeroed.
 */
#include "config/options.h"

#include "config/json.h"
#include "config/registry.h"

#include <string.h>

/* What the row that includes it says of a row. */
static void row_include(struct option *row, const struct option *included)
{
    row->only_with = row->only_with ? row->only_with : included->only_with;
    row->not_with = row->not_with ? row->not_with : included->not_with;
    if (included->key && strcmp(included->key, row->key) == 0)
        row->fallback = included->fallback;
}

const struct option *row_walk_next(struct row_walk *walk)
{
    for (;;) {
        const struct option *row = walk->next++;
        bool is_end = row->type == OPTION_TYPE_END;
        if (is_end && walk->depth == 0)
            return NULL;
        if (is_end) {
            walk->depth--;
            walk->next = walk->outer[walk->depth].included + 1;
            walk->offset = walk->outer[walk->depth].offset;
        } else if (row->type == OPTION_TYPE_ROWS) {
            FW_CHECK(walk->depth < ROWS_DEPTH_MAX, "rows include rows more than %d levels deep", ROWS_DEPTH_MAX);
            walk->outer[walk->depth].included = row;
            walk->outer[walk->depth++].offset = walk->offset;
            walk->offset += row->offset;
            walk->next = row->rows;
        } else if (!row->is_hidden || walk->has_hidden) {
            walk->row = *row;
            walk->row.offset += walk->offset;
            for (uint32_t i = walk->depth; i-- > 0;)
                row_include(&walk->row, walk->outer[i].included);
            return &walk->row;
        }
    }
}

bool option_find(const struct option *rows, const char *key, size_t length, struct option *found)
{
    ROWS_EACH(row, rows) {
        if (strlen(row->key) != length || memcmp(row->key, key, length) != 0)
            continue;
        *found = *row;
        return true;
    }
    return false;
}

/* A key of this name in another place of the tree; NULL: none. */
static const struct json *find_elsewhere(const struct json *node, const struct json *here)
{
    for (const struct json *child = node->first; child; child = child->next) {
        if (child != here && child->key && strcmp(child->key, here->key) == 0)
            return child;
        const struct json *below = child == here ? NULL : find_elsewhere(child, here);
        if (below)
            return below;
    }
    return NULL;
}

/* What was meant: a key of this block but for one letter, that very key in another block, or one that is spelt like it. */
static const char *meant_key(struct arena *arena, const struct nearest *nearest, const struct json *child)
{
    const struct json *root = child;
    while (root->parent)
        root = root->parent;
    bool is_slip = nearest_word(nearest) && nearest->distance == 1;
    const struct json *elsewhere = is_slip ? NULL : find_elsewhere(root, child);
    return meant_hint(arena, elsewhere ? json_path(arena, elsewhere) : nearest_word(nearest));
}

static bool report_unknown_key(struct config_reader *reader, const struct option *rows, const char *first_key,
                               const struct json *child)
{
    struct nearest nearest = {.wanted = child->key};
    const char *known = first_key ? first_key : "";
    if (first_key)
        nearest_try(&nearest, first_key);
    ROWS_EACH(row, rows) {
        nearest_try(&nearest, row->key);
        known = list_add(reader->arena, known, ", ", row->key);
    }
    return node_error(reader->errors, child, NULL, "unknown key%s, expected one of %s",
                      meant_key(reader->arena, &nearest, child), known);
}

static bool refuse_unknown_keys(struct config_reader *reader, const struct option *rows, const struct json *node,
                                const char *first_key)
{
    bool is_good = true;
    struct option row;
    for (const struct json *child = node->first; child; child = child->next) {
        bool is_known = option_find(rows, child->key, strlen(child->key), &row) ||
                        (first_key && strcmp(child->key, first_key) == 0);
        is_good &= is_known || report_unknown_key(reader, rows, first_key, child);
    }
    return is_good;
}

/* The row's value in the object, made from the default when it was not given. */
static bool row_read(struct config_reader *reader, const struct option *row, void *config, struct json *node)
{
    void *field = (char *)config + row->offset;
    struct json *child = json_find(node, row->key);
    if (!child && row->fallback)
        child = json_add(node, row->key, json_from_word(reader->arena, row->fallback));
    if (!child)
        return node_error(reader->errors, node, row->key, "missing, expected %s", option_expected(reader->arena, row));
    if (child->type == JSON_NULL && option_is_optional(row)) {
        if (row->type == OPTION_TYPE_CHOICE)
            ((struct choice *)field)->node = child;
        return true;
    }
    return option_kinds[row->type].read(reader, row, child, field);
}

/* ---- settings that others make void ---- */

/*
 * Rows that say ONLY_WITH or NOT_WITH. A setting that does nothing would leave its user with a wrong idea of what was
 * simulated, so it is refused. Defaults pass, written or not: effective settings can be run again.
 */
static bool is_default(struct config_reader *reader, const struct option *row, const struct json *node)
{
    struct json *fallback = row->fallback ? json_from_word(reader->arena, row->fallback) : json_null(reader->arena);
    struct choice choice;
    if (row->type == OPTION_TYPE_CHOICE && fallback->type != JSON_NULL)
        choice_read(reader, row, fallback, &choice); /* with all its settings, as those of the node are */
    return json_is_equal(fallback, node);
}

/* "key" is set to something, "key=word" to that. */
static bool holds(struct config_reader *reader, const struct option *rows, const struct json *settings,
                  const char *condition)
{
    size_t length = strcspn(condition, "=");
    struct option row;
    FW_CHECK(option_find(rows, condition, length, &row),
             "a row has an effect with '%s' only, which is no key beside it", condition);
    const struct json *node = json_find(settings, row.key);
    if (!condition[length])
        return !is_default(reader, &row, node);
    return node->type == JSON_TEXT && strcmp(node->text, condition + length + 1) == 0;
}

static const char *condition_text(struct arena *arena, const char *condition)
{
    int length = (int)strcspn(condition, "=");
    return condition[length] ? arena_format(arena, "%.*s \"%s\"", length, condition, condition + length + 1)
                             : condition;
}

const char *option_meaning(struct arena *arena, const struct option *row)
{
    const char *meaning = row->help;
    if (row->only_with)
        meaning = arena_format(arena, "%s (only with %s)", meaning, condition_text(arena, row->only_with));
    if (row->not_with)
        meaning = arena_format(arena, "%s (not beside %s)", meaning, row->not_with);
    return meaning;
}

/* Refuses what another setting of the same object makes void; all rows have been read. */
static bool conditions_check(struct config_reader *reader, const struct option *rows, const struct json *settings)
{
    bool is_good = true;
    ROWS_EACH(row, rows) {
        bool is_void = (row->only_with && !holds(reader, rows, settings, row->only_with)) ||
                       (row->not_with && holds(reader, rows, settings, row->not_with));
        const struct json *node = json_find(settings, row->key);
        if (!is_void || is_default(reader, row, node))
            continue;
        is_good = row->not_with
                      ? node_error(reader->errors, node, NULL, "has no effect beside %s; accepted: one of them",
                                   row->not_with)
                      : node_error(reader->errors, node, NULL, "has no effect without %s; accepted: %s, or both",
                                   condition_text(reader->arena, row->only_with), row->fallback);
    }
    return is_good;
}

/* ---- objects ---- */

/* Hidden rows that are set are read and taken out of the settings: nobody sees them afterwards. */
static bool hidden_read(struct config_reader *reader, const struct option *rows, void *config, struct json *node)
{
    bool is_good = true;
    struct row_walk walk = {.next = rows, .has_hidden = true};
    for (const struct option *row; rows && (row = row_walk_next(&walk));) {
        struct json *child = row->is_hidden ? json_find(node, row->key) : NULL;
        if (!child)
            continue;
        is_good &= row_read(reader, row, config, node);
        json_remove(node, child);
    }
    return is_good;
}

static bool settings_read(struct config_reader *reader, const struct option *rows, void *config, struct json *node,
                          const char *first_key)
{
    if (reader->depth == JSON_DEPTH_MAX) /* a component whose default contains itself */
        return node_error(reader->errors, node, NULL, "settings are nested more than %d levels deep", JSON_DEPTH_MAX);
    reader->depth++;
    bool is_good = hidden_read(reader, rows, config, node);
    is_good &= refuse_unknown_keys(reader, rows, node, first_key);
    ROWS_EACH(row, rows)
        if (reader->depth > 1 || row->key != reader->done)
            is_good &= row_read(reader, row, config, node);
    if (is_good)
        is_good = conditions_check(reader, rows, node);
    if (first_key) /* in order; what the rows do not know stays in front, and was reported */
        json_move_last(node, first_key);
    ROWS_EACH(row, rows)
        json_move_last(node, row->key);
    reader->depth--;
    return is_good;
}

bool config_read(struct config_reader *reader, const struct option *rows, void *config, struct json *node)
{
    if (node->type == JSON_OBJECT)
        return settings_read(reader, rows, config, node, NULL);
    return node_error(reader->errors, node, NULL, "found %s, expected an object", json_type_name(node->type));
}

bool config_read_first(struct config_reader *reader, const struct option *rows, const char *key, void *config,
                       struct json *node)
{
    struct option row;
    FW_CHECK(option_find(rows, key, strlen(key), &row), "no row '%s' to be read first", key);
    if (node->type != JSON_OBJECT)
        return true; /* config_read reports it */
    reader->done = row.key;
    return row_read(reader, &row, config, node);
}

bool block_read(struct config_reader *reader, const struct option *row, struct json *node, void *config)
{
    return config_read(reader, row->rows, config, node);
}

/* [[0, 1], [2, 3]] becomes {"list": [[0, 1], [2, 3]]}. */
static void write_out(struct config_reader *reader, const struct option *row, struct json *node)
{
    struct json *list = json_copy(reader->arena, node);
    json_open(reader->arena, node);
    json_add(node, row->short_key, list);
}

bool blocks_read(struct config_reader *reader, const struct option *row, struct json *node, void *field)
{
    struct block_list *list = field;
    if (node->type == JSON_ARRAY && row->short_key && node->first && node->first->type != JSON_OBJECT)
        write_out(reader, row, node);
    if (node->type != JSON_ARRAY && node->type != JSON_OBJECT)
        return type_error(reader, row, node);
    size_t size = rows_config_size(row->rows);
    list->count = node->type == JSON_ARRAY ? node->count : 1;
    char *items = list->items = arena_take(reader->arena, size * list->count);
    list->nodes = arena_array(reader->arena, const struct json *, list->count);
    bool is_good = true;
    struct json *child = node->type == JSON_ARRAY ? node->first : node;
    for (uint32_t i = 0; i < list->count; i++, child = child->next) {
        list->nodes[i] = child;
        is_good &= config_read(reader, row->rows, items + i * size, child);
    }
    return is_good;
}

/* ---- components ---- */

const char *fallback_type(struct arena *arena, const struct option *row)
{
    if (!row->fallback || row->type != OPTION_TYPE_CHOICE)
        return NULL;
    struct json *fallback = json_from_word(arena, row->fallback);
    struct json *type = fallback->type == JSON_OBJECT ? json_find(fallback, "type") : fallback;
    return type && type->type == JSON_TEXT ? type->text : NULL;
}

static const struct component *find_component(struct config_reader *reader, const struct option *row, struct json *node)
{
    struct arena *arena = reader->arena;
    struct json *type = json_find(node, "type");
    const char *fallback = type ? NULL : fallback_type(arena, row);
    if (fallback)
        type = json_add(node, "type", json_text(arena, fallback));
    if (type && type->type != JSON_TEXT)
        return node_refuse(reader->errors, type, NULL, "found %s, expected a name of kind %s",
                           json_type_name(type->type), row->kind);
    const struct component *component = type ? component_find(row->kind, type->text) : NULL;
    if (component)
        return component;
    return node_refuse(reader->errors, node, "type", "%s%s, expected a name of kind %s (%s%s)",
                       type ? arena_format(arena, "found '%s'", type->text) : "missing",
                       meant_hint(arena, type ? registry_nearest(row->kind, type->text) : NULL), row->kind,
                       registry_kind(row->kind) ? "registered: " : "none is registered",
                       registry_names(arena, row->kind));
}

/* Some rows of a table may be of a struct that the whole one begins with. */
size_t rows_config_size(const struct option *rows)
{
    size_t largest = 0;
    for (; rows && rows->type != OPTION_TYPE_END; rows++) {
        size_t size = rows->config_size ? rows->config_size : rows_config_size(rows->rows);
        largest = size > largest ? size : largest;
    }
    return largest;
}

bool choice_read(struct config_reader *reader, const struct option *row, struct json *node, void *field)
{
    struct choice *choice = field;
    if (node->type == JSON_TEXT)
        json_open(reader->arena, node);
    if (node->type != JSON_OBJECT)
        return type_error(reader, row, node);
    const struct component *component = find_component(reader, row, node);
    if (!component)
        return false;
    void *config = arena_take(reader->arena, rows_config_size(component->options));
    *choice = (struct choice){.component = component, .config = config, .node = node};
    return settings_read(reader, component->options, config, node, "type");
}

bool choices_read(struct config_reader *reader, const struct option *row, struct json *node, void *field)
{
    struct choice_list *list = field;
    if (node->type != JSON_ARRAY)
        return type_error(reader, row, node);
    if (node->count < row->min || node->count > row->max)
        return value_error(reader, row, node, "found %u of them", node->count);
    list->count = node->count;
    list->items = arena_array(reader->arena, struct choice, node->count);
    bool is_good = true;
    uint32_t i = 0;
    for (struct json *child = node->first; child; child = child->next)
        is_good &= choice_read(reader, row, child, &list->items[i++]);
    return is_good;
}
