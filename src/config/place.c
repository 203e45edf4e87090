/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places and paths of settings, and the messages that carry them. A value that
 * the user did not write (a default) is placed at its nearest ancestor that
 * they did write: that is where the setting would have to be added.
 */
#include "config/place.h"

#include "flitwarp/option.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

static uint32_t index_in_parent(const struct json *node)
{
    uint32_t index = 0;
    for (const struct json *at = node->parent->first; at != node; at = at->next)
        index++;
    return index;
}

void json_add_path(struct text *text, const struct json *node)
{
    if (!node->parent)
        return;
    json_add_path(text, node->parent);
    if (node->parent->type == JSON_ARRAY)
        text_addf(text, "[%u]", index_in_parent(node));
    else
        text_addf(text, "%s%s", text->length ? "." : "", node->key);
}

const char *json_path(struct arena *arena, const struct json *node)
{
    struct text text = {0};
    json_add_path(&text, node);
    return text_keep(&text, arena);
}

static const struct json *written_node(const struct json *node)
{
    while (!node->file && node->parent)
        node = node->parent;
    return node;
}

const char *json_file(const struct json *node) { return written_node(node)->file; }

static void add_place(struct text *text, const struct json *node)
{
    const struct json *written = written_node(node);
    if (!written->file)
        text_add(text, "configuration");
    else if (written->line == 0)
        text_add(text, written->file);
    else
        text_addf(text, "%s:%u", written->file, written->line);
    text_add(text, ": ");
}

static void add_setting(struct text *text, const struct json *node, const char *key)
{
    struct text path = {0};
    json_add_path(&path, node);
    if (key)
        text_addf(&path, "%s%s", path.length ? "." : "", key);
    text_addf(text, "%s: ", path.length ? path.chars : "the configuration");
    text_release(&path);
}

__attribute__((format(printf, 4, 0))) static void place_error(struct errors *errors, const struct json *node,
                                                              const char *key, const char *format, va_list arguments)
{
    const struct json *child = key ? json_find(node, key) : NULL;
    struct text text = {0};
    add_place(&text, child ? child : node);
    add_setting(&text, node, key);
    text_addv(&text, format, arguments);
    errors_add(errors, "%s", text.chars);
    text_release(&text);
}

bool node_error(struct errors *errors, const struct json *node, const char *key, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    place_error(errors, node, key, format, arguments);
    va_end(arguments);
    return false;
}

bool choice_error(struct errors *errors, const struct choice *choice, const char *key, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    place_error(errors, choice->node, key, format, arguments);
    va_end(arguments);
    return false;
}

/* JSON pointers write ~1 for a slash and ~0 for a tilde inside a key. */
static void unescape_step(char *step)
{
    char *to = step;
    for (const char *from = step; *from; from++) {
        bool is_escape = from[0] == '~' && (from[1] == '0' || from[1] == '1');
        *to++ = is_escape ? (from[1] == '0' ? '~' : '/') : *from;
        from += is_escape;
    }
    *to = '\0';
}

bool path_read(struct arena *arena, const char *written, struct path *path)
{
    if (*written == '#')
        written++;
    bool is_pointer = *written == '/';
    const char *separators = is_pointer ? "/[]" : "./[]";
    const char *at = written + is_pointer;
    *path = (struct path){.steps = arena_array(arena, const char *, JSON_DEPTH_MAX)};
    for (;;) {
        size_t length = strcspn(at, separators);
        if (length == 0 || path->count == JSON_DEPTH_MAX)
            return false;
        char *step = memcpy(arena_take(arena, length + 1), at, length);
        if (is_pointer)
            unescape_step(step);
        path->steps[path->count++] = step;
        at += length;
        if (*at == ']')
            at++;
        if (*at == '\0')
            return true;
        if (!strchr(separators, *at))
            return false;
        at++;
    }
}

bool path_index(const char *step, uint32_t *index)
{
    uint64_t value = 0;
    for (const char *at = step; *at; at++) {
        if (!isdigit((unsigned char)*at) || value > UINT32_MAX)
            return false;
        value = value * 10 + (uint64_t)(*at - '0');
    }
    *index = value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
    return true;
}
