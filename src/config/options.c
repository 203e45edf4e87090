/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading an object by its rows: unknown keys, missing ones, defaults, nested
 * blocks and components. Single values are read in values.c. Nothing stops at
 * the first error; a row that failed leaves its field zeroed.
 */
#include "config/options.h"

#include "config/place.h"
#include "config/registry.h"

#include <string.h>

static void add_known_keys(struct text *text, const struct option *rows, const char *first_key)
{
    const char *comma = "";
    if (first_key) {
        text_add(text, first_key);
        comma = ", ";
    }
    for (const struct option *row = rows; row->type != OPTION_TYPE_END; row++, comma = ", ")
        text_addf(text, "%s%s", comma, row->key);
}

const struct option *option_find(const struct option *rows, const char *key, size_t length)
{
    for (; rows->type != OPTION_TYPE_END; rows++)
        if (strlen(rows->key) == length && memcmp(rows->key, key, length) == 0)
            return rows;
    return NULL;
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
static void add_meant_key(struct text *text, const struct nearest *nearest, const struct json *child)
{
    const struct json *root = child;
    while (root->parent)
        root = root->parent;
    bool is_slip = nearest_word(nearest) && nearest->distance == 1;
    const struct json *elsewhere = is_slip ? NULL : find_elsewhere(root, child);
    struct text path = {0};
    if (elsewhere)
        json_add_path(&path, elsewhere);
    else if (nearest_word(nearest))
        text_add(&path, nearest_word(nearest));
    if (path.length)
        text_addf(text, " (did you mean '%s'?)", path.chars);
    text_release(&path);
}

static void report_unknown_key(struct config_reader *reader, const struct option *rows, const char *first_key,
                               const struct json *child)
{
    struct nearest nearest = {.wanted = child->key};
    if (first_key)
        nearest_try(&nearest, first_key);
    for (const struct option *row = rows; row->type != OPTION_TYPE_END; row++)
        nearest_try(&nearest, row->key);
    struct text text = {0};
    text_add(&text, "unknown key");
    add_meant_key(&text, &nearest, child);
    text_add(&text, ", expected one of ");
    add_known_keys(&text, rows, first_key);
    node_error(reader->errors, child, NULL, "%s", text.chars);
    text_release(&text);
}

static bool refuse_unknown_keys(struct config_reader *reader, const struct option *rows, const struct json *node,
                                const char *first_key)
{
    bool is_good = true;
    for (const struct json *child = node->first; child; child = child->next) {
        if (option_find(rows, child->key, strlen(child->key)) || (first_key && strcmp(child->key, first_key) == 0))
            continue;
        report_unknown_key(reader, rows, first_key, child);
        is_good = false;
    }
    return is_good;
}

/* The row's value in the object, made from the default when it was not given. NULL when it is required. */
static struct json *find_or_default(struct config_reader *reader, const struct option *row, struct json *node)
{
    struct json *child = json_find(node, row->key);
    if (child)
        return child;
    if (row->fallback)
        return json_add(node, row->key, json_from_word(reader->arena, row->fallback));
    struct text text = {0};
    option_add_accepted(&text, row);
    option_add_help(&text, row);
    node_error(reader->errors, node, row->key, "missing, expected %s", text.chars);
    text_release(&text);
    return NULL;
}

static bool row_read(struct config_reader *reader, const struct option *row, void *config, struct json *node)
{
    void *field = (char *)config + row->offset;
    struct json *child = find_or_default(reader, row, node);
    if (!child)
        return false;
    if (child->type == JSON_NULL && option_is_optional(row)) {
        if (row->type == OPTION_TYPE_CHOICE)
            ((struct choice *)field)->node = child;
        return true;
    }
    switch (row->type) {
    case OPTION_TYPE_BLOCK:
        return config_read(reader, row->rows, field, child);
    case OPTION_TYPE_CHOICE:
        return choice_read(reader, row, field, child);
    case OPTION_TYPE_CHOICES:
        return choices_read(reader, row, field, child);
    default:
        return value_read(reader, row, field, child);
    }
}

static void move_to_end(struct json *node, const char *key)
{
    struct json *child = json_find(node, key);
    if (!child)
        return;
    json_remove(node, child);
    json_append(node, child);
}

/* What the rows do not know stays in front; it was reported. */
static void order_keys(struct json *node, const struct option *rows, const char *first_key)
{
    if (first_key)
        move_to_end(node, first_key);
    for (const struct option *row = rows; row->type != OPTION_TYPE_END; row++)
        move_to_end(node, row->key);
}

bool settings_read(struct config_reader *reader, const struct option *rows, void *config, struct json *node,
                   const char *first_key)
{
    if (reader->depth == JSON_DEPTH_MAX) { /* a component whose default contains itself */
        node_error(reader->errors, node, NULL, "settings are nested more than %d levels deep", JSON_DEPTH_MAX);
        return false;
    }
    reader->depth++;
    bool is_good = refuse_unknown_keys(reader, rows, node, first_key);
    for (const struct option *row = rows; row->type != OPTION_TYPE_END; row++)
        if (row != reader->done)
            is_good &= row_read(reader, row, config, node);
    if (is_good)
        is_good = conditions_check(reader, rows, node);
    order_keys(node, rows, first_key);
    reader->depth--;
    return is_good;
}

bool config_read(struct config_reader *reader, const struct option *rows, void *config, struct json *node)
{
    if (node->type == JSON_OBJECT)
        return settings_read(reader, rows, config, node, NULL);
    node_error(reader->errors, node, NULL, "found %s, expected an object", json_type_name(node->type));
    return false;
}

bool config_read_first(struct config_reader *reader, const struct option *rows, const char *key, void *config,
                       struct json *node)
{
    const struct option *row = option_find(rows, key, strlen(key));
    CHECK(row, "no row '%s' to be read first", key);
    if (node->type != JSON_OBJECT)
        return true; /* config_read reports it */
    reader->done = row;
    return row_read(reader, row, config, node);
}
