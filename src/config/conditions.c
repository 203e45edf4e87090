/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings that others make void: the rows that say ONLY_WITH or NOT_WITH. A setting
 * that does nothing would leave its user with a wrong idea of what was simulated, so it
 * is refused. Defaults pass, written or not: effective settings can be run again.
 */
#include "config/options.h"

#include <string.h>

static bool is_default(struct config_reader *reader, const struct option *row, const struct json *node)
{
    struct json *fallback = row->fallback ? json_from_word(reader->arena, row->fallback) : json_null(reader->arena);
    struct choice choice;
    if (row->type == OPTION_TYPE_CHOICE && fallback->type != JSON_NULL)
        choice_read(reader, row, &choice, fallback); /* with all its settings, as those of the node are */
    return json_is_equal(fallback, node);
}

/* "key" is set to something, "key=word" to that. */
static bool holds(struct config_reader *reader, const struct option *rows, const struct json *settings,
                  const char *condition)
{
    size_t length = strcspn(condition, "=");
    const struct option *row = option_find(rows, condition, length);
    CHECK(row, "a row has an effect with '%s' only, which is no key beside it", condition);
    const struct json *node = json_find(settings, row->key);
    if (!condition[length])
        return !is_default(reader, row, node);
    return node->type == JSON_TEXT && strcmp(node->text, condition + length + 1) == 0;
}

static void add_condition(struct text *text, const char *condition)
{
    int length = (int)strcspn(condition, "=");
    text_addf(text, "%.*s", length, condition);
    if (condition[length])
        text_addf(text, " \"%s\"", condition + length + 1);
}

void option_add_meaning(struct text *text, const struct option *row)
{
    text_add(text, row->help);
    if (row->only_with) {
        text_add(text, " (only with ");
        add_condition(text, row->only_with);
        text_add(text, ")");
    }
    if (row->not_with)
        text_addf(text, " (not beside %s)", row->not_with);
}

static void report_void(struct config_reader *reader, const struct option *row, const struct json *node)
{
    struct text text = {0};
    if (row->not_with)
        text_addf(&text, "has no effect beside %s; accepted: one of them", row->not_with);
    else {
        text_add(&text, "has no effect without ");
        add_condition(&text, row->only_with);
        text_addf(&text, "; accepted: %s, or both", row->fallback);
    }
    node_error(reader->errors, node, NULL, "%s", text.chars);
    text_release(&text);
}

bool conditions_check(struct config_reader *reader, const struct option *rows, const struct json *settings)
{
    bool is_good = true;
    for (const struct option *row = rows; row->type != OPTION_TYPE_END; row++) {
        bool is_void = (row->only_with && !holds(reader, rows, settings, row->only_with)) ||
                       (row->not_with && holds(reader, rows, settings, row->not_with));
        const struct json *node = json_find(settings, row->key);
        if (!is_void || is_default(reader, row, node))
            continue;
        report_void(reader, row, node);
        is_good = false;
    }
    return is_good;
}
