/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of options and of results for people. A cell that is much wider than its
 * column would push the help of all rows aside; its own help goes to the next line
 * instead.
 */
#include "config/describe.h"

#include "config/options.h"
#include "config/registry.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define WIDEST_COLUMN 44

enum { COLUMN_KEY, COLUMN_ACCEPTS, COLUMN_DEFAULT, COLUMN_HELP, COLUMNS };

struct cells {
    const char *text[COLUMNS];
};

struct table {
    struct arena *arena;
    struct cells *rows; /* owned */
    uint32_t count, room;
};

static void table_add(struct table *table, struct cells cells)
{
    table->rows = memory_grow(table->rows, table->count, &table->room, sizeof *table->rows);
    table->rows[table->count++] = cells;
}

static void table_print(struct table *table, FILE *out)
{
    int width[COLUMNS] = {0};
    for (uint32_t row = 0; row < table->count; row++)
        for (int i = 0; i < COLUMNS; i++) {
            int length = (int)strlen(table->rows[row].text[i]);
            if (length <= WIDEST_COLUMN && length > width[i])
                width[i] = length;
        }
    for (uint32_t row = 0; row < table->count; row++) {
        int at = 0, start = 2;
        for (int i = 0; i < COLUMNS; i++) {
            const char *cell = table->rows[row].text[i];
            if (at >= start) {
                putc('\n', out);
                at = 0;
            }
            if (*cell)
                at += fprintf(out, "%*s%s", start - at, "", cell);
            start += width[i] + 2;
        }
        putc('\n', out);
    }
    free(table->rows);
}

const char *describe_accepted(struct arena *arena, const struct option *row)
{
    const char *words = "", *range = option_range(arena, row), *name = option_kinds[row->type].name;
    if (row->kind)
        return arena_format(arena, "%s%s: %s", name, row->kind, registry_names(arena, row->kind));
    for (size_t i = 0; row->type == OPTION_TYPE_ENUM && row->names[i]; i++)
        words = list_add(arena, words, " | ", row->names[i]);
    return arena_format(arena, "%s%s%s%s", name, words, *range ? ", " : "", range);
}

static void table_add_option(struct table *table, const struct option *row, const char *key)
{
    const char *fallback = row->type == OPTION_TYPE_BLOCK ? "" : row->fallback ? row->fallback : "required";
    table_add(table,
              (struct cells){{key, describe_accepted(table->arena, row), fallback, option_meaning(table->arena, row)}});
}

static void table_add_options(struct table *table, const struct option *rows, const char *prefix)
{
    ROWS_EACH(row, rows) {
        const char *key = arena_format(table->arena, "%s%s", prefix, row->key);
        table_add_option(table, row, key);
        if (row->rows)
            table_add_options(table, row->rows, arena_format(table->arena, "%s.", key));
    }
}

static struct table table_begin(struct arena *arena)
{
    struct table table = {.arena = arena};
    table_add(&table, (struct cells){{"key", "accepts", "default", "meaning"}});
    return table;
}

void describe_rows(FILE *out, const struct option *rows, struct arena *arena)
{
    struct table table = table_begin(arena);
    table_add_options(&table, rows, "");
    table_print(&table, out);
}

/* The row that takes a component of a kind: one of the same name if there is one. */
static bool find_taker(const struct option *rows, const char *kind, struct option *taker, bool is_found)
{
    ROWS_EACH(row, rows) {
        if (row->rows)
            is_found = find_taker(row->rows, kind, taker, is_found);
        if (!row->kind || strcmp(row->kind, kind) != 0 || (is_found && strcmp(row->key, kind) != 0))
            continue;
        *taker = *row;
        is_found = true;
    }
    return is_found;
}

/* As it stands in a configuration, by the key that it has there. */
static void describe_example(FILE *out, const struct option *root, const char *kind, const struct component *component)
{
    struct option taker;
    bool is_found = find_taker(root, kind, &taker, false);
    for (const struct registration *at = registry_first(); at; at = at->next)
        is_found = find_taker(at->component->options, kind, &taker, is_found);
    bool is_list = is_found && taker.type == OPTION_TYPE_CHOICES;
    fprintf(out, "\n  example: \"%s\": %s", is_found ? taker.key : kind, is_list ? "[" : "");
    if (component->example)
        fprintf(out, "%s", component->example);
    else
        fprintf(out, "{\"type\": \"%s\"}", component->name);
    fprintf(out, is_list ? "]\n" : "\n");
}

/* Summary, table and example of one component. */
static void describe_component(FILE *out, const struct option *root, const char *kind,
                               const struct component *component, struct arena *arena)
{
    fprintf(out, "%s %s: %s\n", kind, component->name, component->summary);
    if (component->needs)
        fprintf(out, "needs %s\n", component->needs);
    if (component_has_device_form(component))
        fprintf(out, "runs on a device\n");
    putc('\n', out);
    if (component->options && component->options->type != OPTION_TYPE_END)
        describe_rows(out, component->options, arena);
    else
        fprintf(out, "  no options\n");
    describe_example(out, root, kind, component);
}

static void describe_kind(FILE *out, const char *kind)
{
    fprintf(out, "%s: one of\n\n", kind);
    for (const struct registration *at = registry_kind(kind); at; at = registry_next(at))
        fprintf(out, "  %-24s  %s\n", at->component->name, at->component->summary);
}

/* The block that a dotted path leads to; false when it leads elsewhere. */
static bool find_block(const struct option *rows, const char *path, struct option *block)
{
    size_t length = strcspn(path, ".");
    if (!option_find(rows, path, length, block) || !block->rows)
        return false;
    return !path[length] || find_block(block->rows, path + length + 1, block);
}

/* What the path of a setting leads to: of a component any may be meant that has it. */
struct setting_search {
    struct table table;
    const struct path *path;
    const char *kind; /* that it takes; NULL: no component */
};

static bool search_setting(struct setting_search *search, const struct option *rows, uint32_t at, const char *owner)
{
    const struct path *path = search->path;
    struct option row;
    uint32_t index;
    if (!option_find(rows, path->steps[at], strlen(path->steps[at]), &row))
        return false;
    if (++at < path->count && path_index(path->steps[at], &index)) /* of a list */
        at++;
    bool is_type = row.kind && at + 1 == path->count && strcmp(path->steps[at], "type") == 0;
    if (at == path->count || is_type) {
        table_add_option(&search->table, &row,
                         *owner ? arena_format(search->table.arena, "%s of %s", row.key, owner) : row.key);
        search->kind = row.kind;
        return true;
    }
    if (row.rows)
        return search_setting(search, row.rows, at, owner);
    bool is_found = false;
    for (const struct registration *of = row.kind ? registry_kind(row.kind) : NULL; of; of = registry_next(of))
        is_found |= search_setting(search, of->component->options, at, of->component->name);
    return is_found;
}

static bool describe_setting(FILE *out, const struct option *root, const char *name, struct arena *arena)
{
    struct path path;
    struct setting_search search = {.table = table_begin(arena), .path = &path};
    if (!path_read(arena, name, &path) || path.count < 2 || !search_setting(&search, root, 0, "")) {
        free(search.table.rows);
        return false;
    }
    fprintf(out, "%s:\n\n", name);
    table_print(&search.table, out);
    if (search.kind) {
        fprintf(out, "\n");
        describe_kind(out, search.kind);
    }
    return true;
}

static bool has_key(const struct option *rows, const char *key)
{
    struct option row;
    return option_find(rows, key, strlen(key), &row);
}

/* Blocks of the configuration that have a setting of this name, by their paths, behind a list of others. */
static const char *add_owners(struct arena *arena, const char *owners, const struct option *rows, const char *path,
                              const char *key)
{
    ROWS_EACH(row, rows) {
        if (!row->rows)
            continue;
        const char *below = list_add(arena, path, ".", row->key);
        if (has_key(row->rows, key))
            owners = list_add(arena, owners, ", ", below);
        owners = add_owners(arena, owners, row->rows, below, key);
    }
    return owners;
}

/* A setting is no component, but it is told where it belongs. */
static bool report_setting(const struct option *root, const char *name, struct errors *errors)
{
    struct arena *arena = errors->arena;
    const char *owners = add_owners(arena, "", root, "", name);
    for (const struct registration *at = registry_first(); at; at = at->next)
        if (has_key(at->component->options, name))
            owners = list_add(arena, owners, ", ", arena_format(arena, "%s/%s", at->kind, at->component->name));
    if (*owners)
        errors_add(errors, "'%s' is a setting; explain what has it: %s", name, owners);
    return *owners;
}

static void report_unknown(const struct option *root, const char *name, struct errors *errors)
{
    const char *before = strrchr(name, strchr(name, '/') ? '/' : '.'); /* KIND/NAME, or the path of a setting */
    struct nearest nearest = {.wanted = before ? before + 1 : name};
    ROWS_EACH(row, root)
        nearest_try(&nearest, row->key);
    for (const struct registration *at = registry_first(); at; at = at->next) {
        nearest_try(&nearest, at->kind);
        nearest_try(&nearest, at->component->name);
    }
    errors_add(errors, "nothing is called '%s'%s, expected a component, a kind or the path of a setting (kinds: %s)",
               name, meant_hint(errors->arena, nearest_word(&nearest)), registry_kinds(errors->arena));
}

bool describe_name(FILE *out, const struct option *root, const char *name, struct errors *errors)
{
    const char *separator = "";
    struct option block;
    if (find_block(root, name, &block)) {
        fprintf(out, "%s: %s\n\n", name, block.help);
        describe_rows(out, block.rows, errors->arena);
        separator = "\n";
    }
    if (registry_kind(name)) {
        fputs(separator, out);
        describe_kind(out, name);
        separator = "\n";
    }
    for (const struct registration *at = registry_first(); at; at = at->next) {
        const char *whole = arena_format(errors->arena, "%s/%s", at->kind, at->component->name);
        if (strcmp(at->component->name, name) != 0 && strcmp(whole, name) != 0)
            continue;
        fputs(separator, out);
        describe_component(out, root, at->kind, at->component, errors->arena);
        separator = "\n";
    }
    if (!*separator && describe_setting(out, root, name, errors->arena))
        return true;
    if (!*separator && !report_setting(root, name, errors))
        report_unknown(root, name, errors);
    return *separator;
}

/* ---- results ---- */

struct result_table {
    struct table table;
    const char *wanted; /* NULL: all */
    struct nearest nearest;
};

/* Whether the steps of `wanted` stand in the path, one behind the other. */
static bool path_holds(const char *path, const char *wanted)
{
    size_t length = strlen(wanted);
    for (const char *at = path; at; at = strchr(at, '.') ? strchr(at, '.') + 1 : NULL)
        if (strncmp(at, wanted, length) == 0 && (at[length] == '.' || !at[length]))
            return true;
    return false;
}

static void table_add_results(struct result_table *shown, const struct result *rows, const char *prefix,
                              const char *owner);

static void table_add_result(struct result_table *shown, const struct result *row, const char *prefix,
                             const char *owner)
{
    struct arena *arena = shown->table.arena;
    const char *path = list_add(arena, prefix, ".", row->key);
    nearest_try(&shown->nearest, row->key);
    if (!shown->wanted || path_holds(path, shown->wanted))
        table_add(&shown->table, (struct cells){{path, result_kinds[row->type].words, row->unit ? row->unit : "",
                                                 list_add(arena, owner, ": ", row->help)}});
    if (row->rows)
        table_add_results(shown, row->rows, path, owner);
}

/* What components report of their own is marked by their names. */
static void table_add_results(struct result_table *shown, const struct result *rows, const char *prefix,
                              const char *owner)
{
    for (const struct result *row = rows; row->type != RESULT_TYPE_END; row++) {
        if (row->key)
            table_add_result(shown, row, prefix, owner);
        const struct registration *own = row->type == RESULT_TYPE_OWN ? registry_kind(row->kind) : NULL;
        for (; own; own = registry_next(own))
            if (own->component->reports)
                table_add_results(shown, own->component->reports, prefix, own->component->name);
    }
}

bool describe_results(FILE *out, const struct result *rows, const char *name, struct errors *errors)
{
    struct result_table shown = {{.arena = errors->arena}, name, {.wanted = name ? name : ""}};
    table_add(&shown.table, (struct cells){{"key", "value", "unit", "meaning"}});
    table_add_results(&shown, rows, "", "");
    if (shown.table.count > 1)
        table_print(&shown.table, out);
    else
        errors_add(errors, "no result is called '%s'%s; explain results names all", name,
                   meant_hint(errors->arena, nearest_word(&shown.nearest)));
    return shown.table.count > 1;
}

/* ---- suggestions: a setting's path is walked along the rows and the configuration at once ---- */

struct walk {
    struct suggestions *suggestions;
    size_t at; /* where the next step begins in the word */
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

void suggest_blocks(struct suggestions *suggestions, const struct option *rows, const char *prefix)
{
    ROWS_EACH(row, rows) {
        if (!row->rows)
            continue;
        const char *path = list_add(suggestions->arena, prefix, ".", row->key);
        suggest(suggestions, path);
        suggest_blocks(suggestions, row->rows, path);
    }
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
        bool holds_others = row->rows || row->type == OPTION_TYPE_CHOICE;
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
    else if (row->rows)
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
