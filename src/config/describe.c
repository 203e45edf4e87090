/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of options for people. A cell that is much wider than its column
 * would push the help of all rows aside; its own help goes to the next line
 * instead.
 */
#include "config/describe.h"

#include "config/options.h"
#include "config/registry.h"

#include <string.h>

#define WIDEST_COLUMN 44

enum { COLUMN_KEY, COLUMN_ACCEPTS, COLUMN_DEFAULT, COLUMN_HELP, COLUMNS };

struct table {
    int width[COLUMNS];
    FILE *out; /* NULL: measure only */
};

static void measure_cells(struct table *table, const char *const cells[COLUMNS])
{
    for (int i = 0; i < COLUMNS; i++) {
        int length = (int)strlen(cells[i]);
        if (length <= WIDEST_COLUMN && length > table->width[i])
            table->width[i] = length;
    }
}

static void print_cells(const struct table *table, const char *const cells[COLUMNS])
{
    int at = 0, start = 2;
    for (int i = 0; i < COLUMNS; i++) {
        if (at >= start) {
            putc('\n', table->out);
            at = 0;
        }
        if (*cells[i])
            at += fprintf(table->out, "%*s%s", start - at, "", cells[i]);
        start += table->width[i] + 2;
    }
    putc('\n', table->out);
}

static void table_row(struct table *table, const char *const cells[COLUMNS])
{
    if (table->out)
        print_cells(table, cells);
    else
        measure_cells(table, cells);
}

void describe_accepted(struct text *text, const struct option *row)
{
    text_add(text, option_kinds[row->type].name);
    if (row->type == OPTION_TYPE_ENUM)
        for (size_t i = 0; row->names[i]; i++)
            text_addf(text, "%s%s", i ? " | " : "", row->names[i]);
    if (row->kind) {
        text_addf(text, "%s: ", row->kind);
        registry_add_names(text, row->kind);
        return;
    }
    size_t before = text->length;
    text_add(text, ", ");
    option_add_range(text, row);
    if (text->length == before + 2) {
        text->length = before;
        text->chars[before] = '\0';
    }
}

static void table_rows(struct table *table, const struct option *rows, const char *prefix)
{
    ROWS_EACH(row, rows) {
        struct text key = {0}, accepts = {0}, meaning = {0};
        text_addf(&key, "%s%s", prefix, row->key);
        describe_accepted(&accepts, row);
        option_add_meaning(&meaning, row);
        bool is_block = row->type == OPTION_TYPE_BLOCK;
        const char *fallback = is_block ? "" : row->fallback ? row->fallback : "required";
        table_row(table, (const char *[COLUMNS]){key.chars, accepts.chars, fallback, meaning.chars});
        if (is_block) {
            text_add(&key, ".");
            table_rows(table, row->rows, key.chars);
        }
        text_release(&key);
        text_release(&accepts);
        text_release(&meaning);
    }
}

void describe_rows(FILE *out, const struct option *rows)
{
    static const char *const heads[COLUMNS] = {"key", "accepts", "default", "meaning"};
    struct table table = {0};
    for (int pass = 0; pass < 2; pass++) {
        table.out = pass == 0 ? NULL : out;
        table_row(&table, heads);
        table_rows(&table, rows, "");
    }
}

/* Summary, table and example of one component. */
static void describe_component(FILE *out, const char *kind, const struct component *component)
{
    fprintf(out, "%s %s: %s\n", kind, component->name, component->summary);
    if (component->needs)
        fprintf(out, "needs %s\n", component->needs);
    putc('\n', out);
    if (component->options && component->options->type != OPTION_TYPE_END)
        describe_rows(out, component->options);
    else
        fprintf(out, "  no options\n");
    fprintf(out, "\n  example: \"%s\": ", kind);
    if (component->example)
        fprintf(out, "%s\n", component->example);
    else
        fprintf(out, "{\"type\": \"%s\"}\n", component->name);
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
    if (!option_find(rows, path, length, block) || block->type != OPTION_TYPE_BLOCK)
        return false;
    return !path[length] || find_block(block->rows, path + length + 1, block);
}

/* "NAME" fits components of every kind, "KIND/NAME" of one. */
static bool fits(const struct registration *registration, const char *name)
{
    const char *slash = strchr(name, '/');
    const char *kind = registration->kind;
    if (!slash)
        return strcmp(registration->component->name, name) == 0;
    size_t length = (size_t)(slash - name);
    return strlen(kind) == length && strncmp(kind, name, length) == 0 &&
           strcmp(registration->component->name, slash + 1) == 0;
}

static bool has_key(const struct option *rows, const char *key)
{
    struct option row;
    return option_find(rows, key, strlen(key), &row);
}

/* Blocks of the configuration, by their paths, and components, as KIND/NAME, that have a setting of this name. */
static void add_owners(struct text *text, const struct option *rows, const char *path, const char *key)
{
    ROWS_EACH(row, rows) {
        if (row->type != OPTION_TYPE_BLOCK)
            continue;
        struct text below = {0};
        text_addf(&below, "%s%s%s", path, *path ? "." : "", row->key);
        if (has_key(row->rows, key))
            text_addf(text, "%s%s", text->length ? ", " : "", below.chars);
        add_owners(text, row->rows, below.chars, key);
        text_release(&below);
    }
}

/* A setting is no component, but it is told where it belongs. */
static bool report_setting(const struct option *root, const char *name, struct errors *errors)
{
    struct text owners = {0};
    add_owners(&owners, root, "", name);
    for (const struct registration *at = registry_first(); at; at = at->next)
        if (has_key(at->component->options, name))
            text_addf(&owners, "%s%s/%s", owners.length ? ", " : "", at->kind, at->component->name);
    bool is_setting = owners.length;
    if (is_setting)
        errors_add(errors, "'%s' is a setting; explain what has it: %s", name, owners.chars);
    text_release(&owners);
    return is_setting;
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
    struct text text = {0};
    registry_add_kinds(&text);
    const char *near = nearest_word(&nearest);
    errors_add(errors, "nothing is called '%s'%s%s%s, expected a component, a kind or a block (kinds: %s)", name,
               near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "", text.length ? text.chars : "none");
    text_release(&text);
}

bool describe_name(FILE *out, const struct option *root, const char *name, struct errors *errors)
{
    const char *separator = "";
    struct option block;
    if (find_block(root, name, &block)) {
        fprintf(out, "%s: %s\n\n", name, block.help);
        describe_rows(out, block.rows);
        separator = "\n";
    }
    if (registry_kind(name)) {
        fputs(separator, out);
        describe_kind(out, name);
        separator = "\n";
    }
    for (const struct registration *at = registry_first(); at; at = at->next) {
        if (!fits(at, name))
            continue;
        fputs(separator, out);
        describe_component(out, at->kind, at->component);
        separator = "\n";
    }
    if (!*separator && !report_setting(root, name, errors))
        report_unknown(root, name, errors);
    return *separator;
}

/* ---- results ---- */

struct result_table {
    struct table table;
    const char *wanted; /* NULL: all */
    struct nearest nearest;
    uint32_t count;
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

static void table_results(struct result_table *shown, const struct result *rows, const char *prefix, const char *owner);

static void table_result(struct result_table *shown, const struct result *row, const char *prefix, const char *owner)
{
    static const char *const types[] = {
        [RESULT_TYPE_COUNT] = "whole number",
        [RESULT_TYPE_NUMBER] = "number",
        [RESULT_TYPE_FLAG] = "true or false",
        [RESULT_TYPE_TEXT] = "text",
        [RESULT_TYPE_SUMMARY] = "summary",
        [RESULT_TYPE_SPREAD] = "summary, distribution",
        [RESULT_TYPE_LIST] = "list",
        [RESULT_TYPE_LISTS] = "list of lists",
        [RESULT_TYPE_BLOCK] = "object",
        [RESULT_TYPE_BLOCKS] = "list of objects",
        [RESULT_TYPE_ANY] = "",
    };
    struct text path = {0}, meaning = {0};
    text_addf(&path, "%s%s%s", prefix, *prefix ? "." : "", row->key);
    text_addf(&meaning, "%s%s%s", owner ? owner : "", owner ? ": " : "", row->help);
    nearest_try(&shown->nearest, row->key);
    if (!shown->wanted || path_holds(path.chars, shown->wanted)) {
        const char *unit = row->unit ? row->unit : "";
        table_row(&shown->table, (const char *[COLUMNS]){path.chars, types[row->type], unit, meaning.chars});
        shown->count++;
    }
    if (row->rows)
        table_results(shown, row->rows, path.chars, owner);
    text_release(&path);
    text_release(&meaning);
}

/* What components report of their own is marked by their names. */
static void table_results(struct result_table *shown, const struct result *rows, const char *prefix, const char *owner)
{
    for (const struct result *row = rows; row->type != RESULT_TYPE_END; row++) {
        if (row->key)
            table_result(shown, row, prefix, owner);
        const struct registration *own = row->type == RESULT_TYPE_OWN ? registry_kind(row->kind) : NULL;
        for (; own; own = registry_next(own))
            if (own->component->reports)
                table_results(shown, own->component->reports, prefix, own->component->name);
    }
}

bool describe_results(FILE *out, const struct result *rows, const char *name, struct errors *errors)
{
    static const char *const heads[COLUMNS] = {"key", "value", "unit", "meaning"};
    struct result_table shown = {.wanted = name, .nearest = {.wanted = name ? name : ""}};
    table_results(&shown, rows, "", NULL);
    if (!shown.count) {
        const char *near = nearest_word(&shown.nearest);
        errors_add(errors, "no result is called '%s'%s%s%s; explain results names all", name,
                   near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
        return false;
    }
    measure_cells(&shown.table, heads);
    shown.table.out = out;
    print_cells(&shown.table, heads);
    table_results(&shown, rows, "", NULL);
    return true;
}
