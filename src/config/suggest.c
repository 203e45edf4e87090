/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Suggestions, see suggest.h. A setting's path is walked along the rows and the
 * configuration at once: `at` is where the next step begins in the word.
 */
#include "config/describe.h"

#include "config/options.h"
#include "config/registry.h"

#include <ctype.h>
#include <string.h>

struct walk {
    struct suggestions *suggestions;
    size_t at;
};

void suggest(struct suggestions *suggestions, const char *word)
{
    if (strncmp(word, suggestions->begun, strlen(suggestions->begun)) == 0)
        fprintf(suggestions->out, "%s\n", word);
}

void suggest_kinds(struct suggestions *suggestions, int place)
{
    if (place != 0)
        return;
    for (const struct registration *at = registry_first(); at; at = registry_next_kind(at))
        suggest(suggestions, at->kind);
}

static void suggest_blocks_below(struct suggestions *suggestions, const struct option *rows, const char *prefix)
{
    ROWS_EACH(row, rows) {
        if (row->type != OPTION_TYPE_BLOCK)
            continue;
        const char *path = list_add(suggestions->arena, prefix, ".", row->key);
        suggest(suggestions, path);
        suggest_blocks_below(suggestions, row->rows, path);
    }
}

void suggest_blocks(struct suggestions *suggestions, const struct option *root)
{
    suggest_blocks_below(suggestions, root, "");
}

/* A word behind what was walked so far. */
static void suggest_step(const struct walk *walk, const char *step, const char *behind)
{
    struct suggestions *suggestions = walk->suggestions;
    suggest(suggestions, arena_format(suggestions->arena, "%.*s%s%s", (int)walk->at, suggestions->begun, step, behind));
}

static void suggest_names(const struct walk *walk, const char *kind)
{
    for (const struct registration *at = registry_kind(kind); at; at = registry_next(at))
        suggest_step(walk, at->component->name, "");
}

void suggest_components(struct suggestions *suggestions, const char *kind)
{
    suggest_names(&(struct walk){suggestions, 0}, kind);
}

static void suggest_values(const struct walk *walk, const struct option *row)
{
    for (size_t i = 0; row->type == OPTION_TYPE_ENUM && row->names[i]; i++)
        suggest_step(walk, row->names[i], "");
    if (row->type == OPTION_TYPE_BOOL) {
        suggest_step(walk, "true", "");
        suggest_step(walk, "false", "");
    }
    if (row->type == OPTION_TYPE_CHOICE)
        suggest_names(walk, row->kind);
}

static void suggest_keys(const struct walk *walk, const struct option *rows)
{
    ROWS_EACH(row, rows) {
        bool holds_others = row->type == OPTION_TYPE_BLOCK || row->type == OPTION_TYPE_CHOICE;
        if (holds_others || row->type == OPTION_TYPE_CHOICES)
            suggest_step(walk, row->key, ".");
        if (row->type != OPTION_TYPE_BLOCK && row->type != OPTION_TYPE_CHOICES)
            suggest_step(walk, row->key, "=");
    }
}

/* What the configuration picked, or else the default; NULL when that is no component. */
static const struct component *picked(const struct walk *walk, const struct option *row, const struct json *node)
{
    const struct json *type = node && node->type == JSON_OBJECT ? json_find(node, "type") : node;
    const char *name = type && type->type == JSON_TEXT ? type->text : fallback_type(walk->suggestions->arena, row);
    return name ? component_find(row->kind, name) : NULL;
}

static void walk_rows(struct walk *walk, const struct option *rows, const struct json *node);

/* Behind the dot of a component: its type, and what it has of its own. */
static void walk_component(struct walk *walk, const struct option *row, const struct json *node)
{
    const struct component *component = picked(walk, row, node);
    const char *rest = walk->suggestions->begun + walk->at;
    if (strncmp(rest, "type=", 5) == 0) {
        walk->at += 5;
        suggest_names(walk, row->kind);
        return;
    }
    if (!strpbrk(rest, ".="))
        suggest_step(walk, "type", "=");
    if (component && component->options)
        walk_rows(walk, component->options, node);
}

/* Behind the dot of a list: numbers of its members, at least one. */
static void walk_list(struct walk *walk, const struct option *row, const struct json *list)
{
    const char *rest = walk->suggestions->begun + walk->at;
    uint32_t index = 0, count = list && list->type == JSON_ARRAY && list->count ? list->count : 1;
    size_t digits = 0;
    for (; digits < 9 && isdigit((unsigned char)rest[digits]); digits++)
        index = index * 10 + (uint32_t)(rest[digits] - '0');
    for (uint32_t i = 0; !rest[digits] && i < count; i++)
        suggest_step(walk, arena_format(walk->suggestions->arena, "%u", i), ".");
    walk->at += digits + 1;
    if (digits && rest[digits] == '.')
        walk_component(walk, row, list && list->type == JSON_ARRAY ? json_at(list, index) : NULL);
    else if (digits && rest[digits] == '=')
        suggest_names(walk, row->kind);
}

/* Behind a key and the dot or = that follows it. */
static void walk_value(struct walk *walk, const struct option *row, const struct json *node)
{
    bool is_path = walk->suggestions->begun[walk->at - 1] == '.';
    if (!is_path)
        suggest_values(walk, row);
    else if (row->type == OPTION_TYPE_BLOCK)
        walk_rows(walk, row->rows, node);
    else if (row->type == OPTION_TYPE_CHOICE)
        walk_component(walk, row, node);
    else if (row->type == OPTION_TYPE_CHOICES)
        walk_list(walk, row, node);
}

static void walk_rows(struct walk *walk, const struct option *rows, const struct json *node)
{
    const char *rest = walk->suggestions->begun + walk->at;
    size_t length = strcspn(rest, ".=");
    if (!rest[length]) {
        suggest_keys(walk, rows);
        return;
    }
    struct option row;
    if (!option_find(rows, rest, length, &row))
        return;
    walk->at += length + 1;
    walk_value(walk, &row, node ? json_find(node, row.key) : NULL);
}

void suggest_setting(struct suggestions *suggestions, const struct option *root, const struct json *config)
{
    walk_rows(&(struct walk){suggestions, 0}, root, config);
}
