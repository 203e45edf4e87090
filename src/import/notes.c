/* SPDX-License-Identifier: Apache-2.0 */
/* What importers say: errors, comments in the result, and the list of what was not carried over. */
#include "import/import.h"

#include "base/text.h"
#include "config/json.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_SHOWN 60 /* bytes of a long value in a note */

/* One line whatever it holds: it goes into comments too. */
static const char *one_line(char *text)
{
    for (char *at = text; *at; at++)
        if (iscntrl((unsigned char)*at))
            *at = '?';
    return text;
}

/* "file:line:column: path", or what is known of that. */
static void add_theirs_place(struct text *text, const struct import *import, const struct json *node)
{
    const struct json *written = node;
    while (written && !written->file)
        written = written->parent;
    if (written)
        text_addf(text, "%s:%u:%u: ", written->file, written->line, written->column);
    else
        text_addf(text, "%s: ", import->file);
    text_add(text, node ? json_path(import->arena, node) : "");
}

bool import_refuse(struct import *import, const struct json *node, const char *message)
{
    struct text text = {0};
    add_theirs_place(&text, import, node);
    text_addf(&text, "%s%s", name_ends_with(text.chars, ": ") ? "" : ": ", message);
    const struct error_message *same = import->errors->first; /* a setting may be asked for twice */
    while (same && strcmp(same->text, one_line(text.chars)) != 0)
        same = same->next;
    if (!same)
        errors_add(import->errors, "%s", text.chars);
    text_release(&text);
    return false;
}

void import_found(struct import *import, const struct json *node, const char *expected)
{
    bool is_shown = node->type == JSON_TEXT || node->type == JSON_NUMBER;
    import_error(import, node, "found %s%s%s%.60s%s, expected %s", import->is_text ? "" : json_type_name(node->type),
                 import->is_text || !is_shown ? "" : " ", is_shown ? "'" : "", is_shown ? node->text : "",
                 is_shown ? "'" : "", expected);
}

static const char *compact(struct import *import, const struct json *node)
{
    struct text text = {0};
    if (node->type == JSON_TEXT)
        return node->text;
    json_write_text(&text, node, 0);
    return text_keep(&text, import->arena);
}

void import_note(struct import *import, const struct json *node, enum import_kind kind, const char *why,
                 const char *nearest)
{
    if (!node)
        return;
    const char *value = compact(import, node);
    struct text text = {0};
    add_theirs_place(&text, import, node);
    text_addf(&text, " = %.*s%s", VALUE_SHOWN, value, strlen(value) > VALUE_SHOWN ? "..." : "");
    if (!node->file)
        text_addf(&text, ", %s's default", import->whose);
    text_addf(&text, ": %s%s%s [%s]", why, nearest ? "; nearest: " : "", nearest ? nearest : "",
              kind == DECISIVE ? "decisive" : "harmless");
    errors_add(import->notes, "%s", one_line(text.chars));
    *import->decisive += kind == DECISIVE;
    text_release(&text);
}

void import_say(struct import *import, struct json *node, char *comment)
{
    node->comment = list_add(import->arena, node->comment ? node->comment : "", "\n", one_line(comment));
}

/* ---- what was not carried over ---- */

static void remove_taken(struct json *block)
{
    for (struct json *child = block->first, *next; child; child = next) {
        next = child->next;
        remove_taken(child);
        if (child->is_taken)
            json_remove(block, child);
    }
}

static bool is_same(const char *value, const char *other)
{
    char *value_end, *other_end;
    double a = strtod(value, &value_end), b = strtod(other, &other_end);
    bool are_numbers = *value && !*value_end && *other && !*other_end;
    return are_numbers ? a == b : strcmp(value, other) == 0;
}

/* The next of "a=1; b; c=": its name, and its value or NULL. False at the end. */
static bool next_key(struct arena *arena, const char **at, const char **key, const char **value)
{
    size_t length = strcspn(*at, ";"), name = strcspn(*at, "=;");
    *key = arena_format(arena, "%.*s", (int)name, *at);
    *value = name < length ? arena_format(arena, "%.*s", (int)(length - name - 1), *at + name + 1) : NULL;
    *at += length + strspn(*at + length, "; ");
    return length > 0;
}

static void add_fallbacks(struct import *import)
{
    const char *key, *value;
    for (const struct import_row *row = import->rows; row->key; row++)
        if (row->fallback && !json_find(import->root, row->key))
            json_add(import->root, row->key, json_text(import->arena, row->fallback));
    for (const struct import_lost *lost = import->lost; lost->keys; lost++)
        for (const char *at = lost->keys; next_key(import->arena, &at, &key, &value);)
            if (value && !json_find(import->root, key))
                json_add(import->root, key, json_text(import->arena, value));
}

static void note_unknown(struct import *import, const struct json *node)
{
    struct nearest nearest = {.wanted = node->key ? node->key : ""};
    const char *key, *value;
    for (const struct import_row *row = import->rows; row && row->key; row++)
        nearest_try(&nearest, row->key);
    for (const struct import_lost *lost = import->lost; lost->keys; lost++)
        for (const char *at = lost->keys; next_key(import->arena, &at, &key, &value);)
            if (!strpbrk(key, "*."))
                nearest_try(&nearest, key);
    import_note(import, node, DECISIVE,
                arena_format(import->arena, "no setting of %s that is known here%s", import->whose,
                             meant_hint(import->arena, nearest_word(&nearest))),
                NULL);
}

/* The row that says why a setting was not carried over, and the value that needs no word; NULL: none knows it. */
static const struct import_lost *find_lost(struct import *import, const char *path, const char **fallback)
{
    const char *key;
    for (const struct import_lost *lost = import->lost; lost->keys; lost++)
        for (const char *at = lost->keys; next_key(import->arena, &at, &key, fallback);)
            if (fnmatch(key, path, 0) == 0)
                return lost;
    return NULL;
}

static bool holds_objects(const struct json *array)
{
    const struct json *item = array->first;
    while (item && item->type == JSON_OBJECT)
        item = item->next;
    return !item;
}

/* All that it held was taken. */
static bool is_all_taken(const struct json *node)
{
    const struct json *child = node->first;
    while (child && child->type >= JSON_ARRAY && is_all_taken(child))
        child = child->next;
    return node->type >= JSON_ARRAY && !child;
}

static void list_block(struct import *import, const struct json *block)
{
    for (const struct json *node = block->first; node; node = node->next) {
        if (is_all_taken(node) || node->type == JSON_NULL || !node->file)
            continue;
        const char *fallback;
        const struct import_lost *row = find_lost(import, json_path(import->arena, node), &fallback);
        if (row && !(fallback && is_same(compact(import, node), fallback)))
            import_note(import, node, row->why ? row->kind : HARMLESS,
                        row->why ? row->why : "has no effect beside the other settings", row->nearest);
        else if (!row && (node->type == JSON_OBJECT || (node->type == JSON_ARRAY && holds_objects(node))))
            list_block(import, node);
        else if (!row)
            note_unknown(import, node);
    }
}

bool import_list_rest(struct import *import)
{
    remove_taken(import->root);
    list_block(import, import->root);
    return import->errors->count == 0;
}

bool import_all(struct import *import, const struct import_row *rows, const struct import_lost *lost)
{
    if (!import->root)
        return false;
    import->rows = rows;
    import->lost = lost;
    if (import->is_text)
        add_fallbacks(import);
    import_carry(import, rows, import->root, import->result);
    return import_list_rest(import);
}
