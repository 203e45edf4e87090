/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places and paths of settings, and the messages that carry them. A value that
 * the user did not write (a default) is placed at its nearest ancestor that
 * they did write: that is where the setting would have to be added.
 */
#include "config/place.h"

#include "flitwarp/option.h"

#include <string.h>

static uint32_t index_in_parent(const struct json *node)
{
    uint32_t index = 0;
    for (const struct json *at = node->parent->first; at != node; at = at->next)
        index++;
    return index;
}

const char *json_path(struct arena *arena, const struct json *node)
{
    if (!node->parent)
        return "";
    const char *above = json_path(arena, node->parent);
    if (node->parent->type == JSON_ARRAY)
        return arena_format(arena, "%s[%u]", above, index_in_parent(node));
    return list_add(arena, above, ".", node->key);
}

static const struct json *written_node(const struct json *node)
{
    while (!node->file && node->parent)
        node = node->parent;
    return node;
}

const char *json_file(const struct json *node) { return written_node(node)->file; }

bool node_error(struct errors *errors, const struct json *node, const char *key, const char *format, ...)
{
    if (!errors)
        return false;
    const struct json *child = key ? json_find(node, key) : NULL, *written = written_node(child ? child : node);
    const char *path = json_path(errors->arena, node), *place = written->file ? written->file : "configuration";
    if (key)
        path = list_add(errors->arena, path, ".", key);
    if (written->file && written->line)
        place = arena_format(errors->arena, "%s:%u", place, written->line);
    va_list arguments;
    va_start(arguments, format);
    const char *message = arena_formatv(errors->arena, format, arguments);
    va_end(arguments);
    return errors_add(errors, "%s: %s: %s", place, *path ? path : "the configuration", message);
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
    uint64_t number;
    bool is_index = number_read(&step, UINT32_MAX, &number) && !*step;
    *index = is_index ? (uint32_t)number : 0;
    return is_index;
}
