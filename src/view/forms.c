/* SPDX-License-Identifier: Apache-2.0 */
/* Forms out of option rows, see view.h: settings are walked as they stand, components by the rows of the chosen one. */
#include "view/view.h"

#include "config/options.h"
#include "config/registry.h"

#include <math.h>
#include <string.h>

static const char *form_type(const struct option *row, const struct json *value)
{
    const struct option_kind *kind = &option_kinds[row->type];
    bool is_ticks = row->type == OPTION_TYPE_TICKS || row->type == OPTION_TYPE_TICKS_AUTO;
    if (row->type == OPTION_TYPE_BOOL)
        return "bool";
    if (row->type == OPTION_TYPE_ENUM || row->type == OPTION_TYPE_CHOICE)
        return "choice";
    bool is_number = kind->number && (!kind->pattern || (is_ticks && value->type == JSON_NUMBER));
    return is_number ? kind->number : "text";
}

static void forms_write_choices(struct text *out, const struct option *row)
{
    write_format(out, "'choices':[");
    if (row->type == OPTION_TYPE_ENUM)
        for (const char *const *name = row->names; *name; name++)
            write_text(out, *name);
    if (row->type == OPTION_TYPE_CHOICE)
        for (const struct registration *one = registry_kind(row->kind); one; one = registry_next(one))
            write_text(out, one->component->name);
    write_close(out, ']');
}

static void forms_write_value(struct text *out, const struct json *value)
{
    write_format(out, "'value':");
    if (value->type == JSON_ARRAY || value->type == JSON_OBJECT) { /* as it would be typed */
        struct text typed = {0};
        write_json(&typed, value);
        write_text(out, typed.chars);
        text_release(&typed);
    } else {
        write_json(out, value);
    }
}

static void forms_write_form(struct text *out, const struct option *row, const struct json *value, const char *path)
{
    const struct json *type = row->type == OPTION_TYPE_CHOICE ? json_find(value, "type") : NULL;
    write_open(out, '{');
    write_text_at(out, "path", path);
    write_text_at(out, "label", row->key);
    write_text_at(out, "type", form_type(row, value));
    if (row->max > row->min && row->type != OPTION_TYPE_BOOL) {
        write_exact_at(out, "min", row->min > -NO_LIMIT ? row->min : NAN);
        write_exact_at(out, "max", row->max < NO_LIMIT ? row->max : NAN);
    }
    write_text_at(out, "unit", row->unit);
    forms_write_choices(out, row);
    forms_write_value(out, type ? type : value);
    struct arena arena = {0};
    write_text_at(out, "meaning", option_meaning(&arena, row));
    arena_release(&arena);
    write_close(out, '}');
}

/* The settings of a component: those of the one that is chosen. */
static void forms_write_component(struct text *out, const struct option *row, const struct json *value,
                                  const char *path)
{
    const struct json *type = json_find(value, "type");
    const struct component *component = type && type->type == JSON_TEXT ? component_find(row->kind, type->text) : NULL;
    if (component && component->options)
        forms_write(out, component->options, value, path);
}

/* Settings of the one that there is, or of each. */
static void forms_write_blocks(struct text *out, const struct option *row, const struct json *value, const char *path)
{
    if (value->type == JSON_OBJECT)
        forms_write(out, row->rows, value, path);
    for (uint32_t i = 0; value->type == JSON_ARRAY && i < value->count; i++) {
        struct text item = {0};
        text_addf(&item, "%s.%u", path, i);
        forms_write(out, row->rows, json_at(value, i), item.chars);
        text_release(&item);
    }
}

static void forms_write_row(struct text *out, const struct option *row, const struct json *value, const char *path)
{
    if (row->type == OPTION_TYPE_BLOCK) {
        forms_write(out, row->rows, value, path);
        return;
    }
    if (row->type == OPTION_TYPE_BLOCKS) {
        forms_write_blocks(out, row, value, path);
        return;
    }
    if (row->type == OPTION_TYPE_CHOICES) {
        for (uint32_t i = 0; i < value->count; i++) {
            struct text item = {0};
            text_addf(&item, "%s.%u", path, i);
            forms_write_component(out, row, json_at(value, i), item.chars);
            text_release(&item);
        }
        return;
    }
    forms_write_form(out, row, value, path);
    if (row->type == OPTION_TYPE_CHOICE)
        forms_write_component(out, row, value, path);
}

/* What is null stays as it is: a form would not know what to offer. */
void forms_write(struct text *out, const struct option *rows, const struct json *settings, const char *path)
{
    ROWS_EACH(row, rows) {
        const struct json *value = json_find(settings, row->key);
        if (!value || value->type == JSON_NULL)
            continue;
        struct text below = {0};
        text_addf(&below, "%s%s%s", path, *path ? "." : "", row->key);
        /* How a run is made is not what is looked at: those who step it choose that. */
        if (strncmp(below.chars, "simulator.", 10) != 0 || strcmp(row->key, "seed") == 0)
            forms_write_row(out, row, value, below.chars);
        text_release(&below);
    }
}
