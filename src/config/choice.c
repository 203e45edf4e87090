/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choices: settings that pick a component of one kind by its `type`, and are
 * read by that component's own rows. A bare string stands for the type alone.
 */
#include "config/options.h"

#include "config/registry.h"

static const struct option no_rows[] = {OPTION_END};

/* "torus" becomes {"type": "torus"}, in the place where it stood. */
static void expand_bare_name(struct config_reader *reader, struct json *node)
{
    struct json *object = json_object(reader->arena);
    object->file = node->file;
    object->line = node->line;
    object->column = node->column;
    json_add(object, "type", json_copy(reader->arena, node));
    json_replace(node, object);
}

const char *fallback_type(struct arena *arena, const struct option *row)
{
    if (!row->fallback || row->type != OPTION_TYPE_CHOICE)
        return NULL;
    struct json *fallback = json_from_word(arena, row->fallback);
    struct json *type = fallback->type == JSON_OBJECT ? json_find(fallback, "type") : fallback;
    return type && type->type == JSON_TEXT ? type->text : NULL;
}

static void report_type(struct config_reader *reader, const struct option *row, const struct json *node,
                        const char *found)
{
    struct text text = {0};
    const char *nearest = found ? registry_nearest(row->kind, found) : NULL;
    if (found)
        text_addf(&text, "found '%s'", found);
    else
        text_add(&text, "missing");
    if (nearest)
        text_addf(&text, " (did you mean '%s'?)", nearest);
    text_addf(&text, ", expected a name of kind %s", row->kind);
    text_add(&text, registry_kind(row->kind) ? " (registered: " : " (none is registered");
    registry_add_names(&text, row->kind);
    node_error(reader->errors, node, "type", "%s)", text.chars);
    text_release(&text);
}

static const struct component *find_component(struct config_reader *reader, const struct option *row, struct json *node)
{
    struct json *type = json_find(node, "type");
    const char *fallback = type ? NULL : fallback_type(reader->arena, row);
    if (fallback)
        type = json_add(node, "type", json_text(reader->arena, fallback));
    if (type && type->type != JSON_TEXT) {
        node_error(reader->errors, type, NULL, "found %s, expected a name of kind %s", json_type_name(type->type),
                   row->kind);
        return NULL;
    }
    const struct component *component = type ? component_find(row->kind, type->text) : NULL;
    if (!component)
        report_type(reader, row, node, type ? type->text : NULL);
    return component;
}

bool choice_read(struct config_reader *reader, const struct option *row, struct choice *choice, struct json *node)
{
    if (node->type == JSON_TEXT)
        expand_bare_name(reader, node);
    if (node->type != JSON_OBJECT)
        return value_error(reader, row, node, "found %s", json_type_name(node->type));
    const struct component *component = find_component(reader, row, node);
    if (!component)
        return false;
    const struct option *rows = component->options ? component->options : no_rows;
    void *config = arena_take(reader->arena, component->config_size);
    *choice = (struct choice){.component = component, .config = config, .node = node};
    return settings_read(reader, rows, config, node, "type");
}

bool choices_read(struct config_reader *reader, const struct option *row, struct choice_list *list, struct json *node)
{
    if (node->type != JSON_ARRAY)
        return value_error(reader, row, node, "found %s", json_type_name(node->type));
    if (node->count < row->min || node->count > row->max)
        return value_error(reader, row, node, "found %u of them", node->count);
    list->count = node->count;
    list->items = arena_array(reader->arena, struct choice, node->count);
    bool is_good = true;
    uint32_t i = 0;
    for (struct json *child = node->first; child; child = child->next)
        is_good &= choice_read(reader, row, &list->items[i++], child);
    return is_good;
}
