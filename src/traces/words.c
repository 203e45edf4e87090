/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of traces on the command line, see trace_words.h. */
#include "traces/words.h"

#include <string.h>

#define FORMAT "format."

struct json *format_settings(struct arena *arena) { return json_add(json_object(arena), "format", json_object(arena)); }

void setting_take(struct json *object, const char *word, struct arena *arena, struct errors *errors)
{
    const char *equals = strchr(word, '=');
    char *key = arena_format(arena, "%.*s", (int)(equals - word), word);
    if (json_find(object, key))
        errors_add(errors, "'%s' is given twice", key);
    else
        json_add(object, key, json_from_word(arena, equals + 1));
}

bool format_setting_take(struct json *settings, const char *word, struct arena *arena, struct errors *errors)
{
    size_t length = strlen(FORMAT);
    if (strncmp(word, FORMAT, length) != 0 || !strchr(word, '='))
        return false;
    setting_take(settings, word + length, arena, errors);
    return true;
}
