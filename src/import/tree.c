/* SPDX-License-Identifier: Apache-2.0 */
/* Taking settings out of their tree, listing what is left, putting settings into ours: see import.h. */
#include "import/import.h"

#include "base/text.h"
#include "config/place.h"

#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_SHOWN 60 /* bytes of a long value in a note */

/* ---- theirs ---- */

struct json *import_take(struct json *block, const char *key)
{
    struct json *node = block ? json_find(block, key) : NULL;
    if (!node)
        return NULL;
    json_remove(block, node);
    node->parent = block; /* messages name it by its path */
    return node;
}

struct json *import_need(struct import *import, struct json *block, const char *key)
{
    struct json *node = import_take(block, key);
    if (!node)
        import_error(import, block, "has no '%s', which is needed", key);
    return node;
}

/* One line whatever it holds: it goes into comments too. */
static const char *one_line(char *text)
{
    for (char *at = text; *at; at++)
        if (iscntrl((unsigned char)*at))
            *at = '?';
    return text;
}

static void add_place(struct text *text, const struct import *import, const struct json *node)
{
    while (node && !node->file)
        node = node->parent;
    if (node)
        text_addf(text, "%s:%u:%u: ", node->file, node->line, node->column);
    else
        text_addf(text, "%s: ", import->file);
}

void import_error(struct import *import, const struct json *node, const char *format, ...)
{
    struct text text = {0};
    add_place(&text, import, node);
    const char *path = node ? json_path(import->arena, node) : "";
    text_addf(&text, "%s%s", path, *path ? ": " : "");
    va_list arguments;
    va_start(arguments, format);
    text_addv(&text, format, arguments);
    va_end(arguments);
    const struct error_message *same = import->errors->first; /* a setting may be asked for twice */
    while (same && strcmp(same->text, one_line(text.chars)) != 0)
        same = same->next;
    if (!same)
        errors_add(import->errors, "%s", text.chars);
    text_release(&text);
}

void import_expected(struct import *import, const struct json *node, const char *expected)
{
    bool is_shown = node->type == JSON_TEXT || node->type == JSON_NUMBER;
    import_error(import, node, "found %s%s%.60s%s, expected %s", json_type_name(node->type), is_shown ? " '" : "",
                 is_shown ? node->text : "", is_shown ? "'" : "", expected);
}

double import_number(struct import *import, const struct json *node, double fallback, double min, double max)
{
    if (!node)
        return fallback;
    if (node->type != JSON_NUMBER)
        import_expected(import, node, "a number");
    else if (node->number < min || node->number > max)
        import_error(import, node, "found %s, expected a number from %g to %g", node->text, min, max);
    else
        return node->number;
    return fallback;
}

uint64_t import_count(struct import *import, const struct json *node, uint64_t fallback, uint64_t min, uint64_t max)
{
    if (!node)
        return fallback;
    bool is_whole = node->type == JSON_NUMBER && node->number == floor(node->number);
    if (is_whole && node->number >= (double)min && node->number <= (double)max)
        return (uint64_t)node->number;
    import_expected(import, node,
                    arena_format(import->arena, "a whole number from %llu to %llu", (unsigned long long)min,
                                 (unsigned long long)max));
    return fallback;
}

const char *import_word(struct import *import, const struct json *node, const char *fallback)
{
    if (node && node->type != JSON_TEXT)
        import_expected(import, node, "text");
    return node && node->type == JSON_TEXT ? node->text : fallback;
}

bool import_truth(struct import *import, const struct json *node, bool fallback)
{
    if (node && node->type != JSON_BOOL)
        import_expected(import, node, "true or false");
    return node && node->type == JSON_BOOL ? node->truth : fallback;
}

struct json *import_block(struct import *import, struct json *block, const char *key)
{
    struct json *found = block ? json_find(block, key) : NULL;
    if (found && found->type != JSON_OBJECT)
        import_expected(import, found, "an object");
    return found && found->type == JSON_OBJECT ? found : NULL;
}

static const char *word_at(const void *rows, size_t row_size, uint32_t index)
{
    return *(const char *const *)((const char *)rows + index * row_size);
}

const void *import_find(const void *rows, size_t row_size, const char *word)
{
    for (uint32_t i = 0; word_at(rows, row_size, i); i++)
        if (strcmp(word_at(rows, row_size, i), word) == 0)
            return (const char *)rows + i * row_size;
    return NULL;
}

void import_refuse(struct import *import, const struct json *node, const void *rows, size_t row_size)
{
    if (!node || node->type != JSON_TEXT)
        return;
    struct text text = {0};
    for (uint32_t i = 0; word_at(rows, row_size, i); i++)
        text_addf(&text, "%s%s", i ? ", " : "", word_at(rows, row_size, i));
    import_error(import, node, "found '%.60s', expected one of: %s", node->text, text.chars);
    text_release(&text);
}

const char *import_choice(struct import *import, const struct json *node, const struct import_name *names,
                          const char *fallback)
{
    const struct import_name *name = IMPORT_FIND(names, import_word(import, node, ""));
    if (!name)
        IMPORT_REFUSE(import, node, names);
    return name ? name->ours : fallback;
}

struct json *import_numbers(struct import *import, const struct json *node, uint64_t min, uint64_t max)
{
    struct json *copy = json_array(import->arena);
    if (node && node->type != JSON_ARRAY)
        import_expected(import, node, "an array of whole numbers");
    for (const struct json *item = node && node->type == JSON_ARRAY ? node->first : NULL; item; item = item->next)
        json_append(copy, json_number_u64(import->arena, import_count(import, item, min, min, max)));
    return copy;
}

/* ---- what was not carried over ---- */

static char *compact(const struct json *node)
{
    if (node->type == JSON_TEXT)
        return strdup(node->text);
    char *chars = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&chars, &size);
    NEED(out, "out of memory for a stream");
    json_write(out, node, 0);
    fclose(out);
    return chars;
}

void import_note(struct import *import, const struct json *node, const char *why, const char *nearest)
{
    if (!node)
        return;
    char *value = compact(node);
    struct text text = {0};
    add_place(&text, import, node);
    text_addf(&text, "%s = %.*s%s: %s", json_path(import->arena, node), VALUE_SHOWN, value,
              strlen(value) > VALUE_SHOWN ? "..." : "", why);
    if (nearest)
        text_addf(&text, "; nearest: %s", nearest);
    errors_add(import->notes, "%s", one_line(text.chars));
    text_release(&text);
    free(value);
}

const struct import_row *import_find_row(const struct import_row *rows, const char *path)
{
    for (const struct import_row *row = rows; row->key; row++)
        if (fnmatch(row->key, path, 0) == 0)
            return row;
    return NULL;
}

static bool is_fallback(const struct json *node, const char *fallback)
{
    if (!fallback)
        return false;
    char *value = compact(node), *value_end, *fallback_end;
    double a = strtod(value, &value_end), b = strtod(fallback, &fallback_end);
    bool are_numbers = *value && !*value_end && *fallback && !*fallback_end;
    bool is_same = are_numbers ? a == b : strcmp(value, fallback) == 0;
    free(value);
    return is_same;
}

static void note_unknown(struct import *import, const struct json *node, const struct import_row *rows,
                         const char *whose)
{
    struct nearest nearest = {.wanted = node->key ? node->key : ""};
    for (const struct import_row *row = rows; row->key; row++)
        if (!strpbrk(row->key, "*."))
            nearest_try(&nearest, row->key);
    const char *word = nearest_word(&nearest);
    import_note(import, node,
                arena_format(import->arena, "no setting of %s that is known here%s%s%s", whose,
                             word ? " (did you mean '" : "", word ? word : "", word ? "'?)" : ""),
                NULL);
}

static bool holds_objects(const struct json *array)
{
    const struct json *item = array->first;
    while (item && item->type == JSON_OBJECT)
        item = item->next;
    return !item;
}

/* All that it held was taken. */
static bool is_empty(const struct json *node)
{
    const struct json *child = node->first;
    while (child && child->type >= JSON_ARRAY && is_empty(child))
        child = child->next;
    return node->type >= JSON_ARRAY && !child;
}

void import_list_rest(struct import *import, const struct json *block, const struct import_row *rows, const char *whose)
{
    for (const struct json *node = block->first; node; node = node->next) {
        if (is_empty(node) || node->type == JSON_NULL)
            continue;
        const struct import_row *row = import_find_row(rows, json_path(import->arena, node));
        if (row) {
            if (!is_fallback(node, row->fallback))
                import_note(import, node, row->why ? row->why : "has no effect beside the other settings",
                            row->nearest);
        } else if (node->type == JSON_OBJECT || (node->type == JSON_ARRAY && holds_objects(node))) {
            import_list_rest(import, node, rows, whose);
        } else {
            note_unknown(import, node, rows, whose);
        }
    }
}

/* ---- ours ---- */

struct json *import_put(struct import *import, struct json *block, const char *path, struct json *value)
{
    for (;;) {
        size_t length = strcspn(path, ".");
        const char *key = arena_format(import->arena, "%.*s", (int)length, path);
        struct json *child = json_find(block, key);
        if (path[length] == '\0') {
            if (!child)
                return json_add(block, key, value);
            json_replace(child, value);
            return child;
        }
        block = child ? child : json_add(block, key, json_object(import->arena));
        path += length + 1;
    }
}

struct json *import_put_u64(struct import *import, struct json *block, const char *path, uint64_t value)
{
    return import_put(import, block, path, json_number_u64(import->arena, value));
}

struct json *import_put_f64(struct import *import, struct json *block, const char *path, double value)
{
    return import_put(import, block, path, json_number_f64(import->arena, value));
}

struct json *import_put_text(struct import *import, struct json *block, const char *path, const char *value)
{
    return import_put(import, block, path, json_text(import->arena, value));
}

struct json *import_put_row(struct import *import, struct json *block, const char *path, uint64_t count, uint64_t value)
{
    struct json *row = json_array(import->arena);
    for (uint64_t i = 0; i < count; i++)
        json_append(row, json_number_u64(import->arena, value));
    return import_put(import, block, path, row);
}

void import_move(struct import *import, struct json *theirs, const char *key, struct json *ours, const char *our_key,
                 const struct import_name *names)
{
    const struct json *node = theirs ? json_find(theirs, key) : NULL;
    if (!node || node->type == JSON_NULL || node->type >= JSON_ARRAY || (!names && node->type == JSON_TEXT))
        return;
    const char *word = node->type == JSON_BOOL ? (node->truth ? "true" : "false") : node->text;
    const struct import_name *name = names ? IMPORT_FIND(names, word) : NULL;
    if (names && !name)
        return;
    import_put(import, ours, our_key, name ? json_text(import->arena, name->ours) : json_copy(import->arena, node));
    import_take(theirs, key);
}

void import_put_load(struct import *import, struct json *application, double load, uint64_t channels,
                     const struct json *node)
{
    if (load > (double)channels) {
        import_note(import, node,
                    arena_format(import->arena, "%g flits a cycle are more than a terminal can send", load),
                    arena_format(import->arena, "load %llu", (unsigned long long)channels));
        load = (double)channels;
    }
    import_put_f64(import, application, "load", load);
}

void import_put_mix(struct import *import, struct json *size, struct json *sizes, struct json *weights)
{
    import_put_text(import, size, "type", "mix");
    import_put(import, size, "sizes", sizes);
    import_put(import, size, "weights", weights);
}

void import_put_read_write(struct import *import, struct json *size, double reads, const double flits[4])
{
    static const char *const keys[] = {"read_request", "write_request", "read_reply", "write_reply"};
    import_put_text(import, size, "type", "read_write");
    import_put_f64(import, size, "reads", reads);
    for (uint32_t i = 0; i < 4; i++)
        import_put_f64(import, size, keys[i], flits[i]);
}

void import_comment(struct import *import, struct json *node, const char *format, ...)
{
    struct text text = {0};
    if (node->comment)
        text_addf(&text, "%s\n", node->comment);
    size_t before = text.length;
    va_list arguments;
    va_start(arguments, format);
    text_addv(&text, format, arguments);
    va_end(arguments);
    one_line(text.chars + before);
    node->comment = text_keep(&text, import->arena);
}

/* Ours are relative to the configuration that names them: nothing changes when it lies beside theirs. */
const char *import_path(struct import *import, const struct json *node)
{
    const char *named_in = node->file ? node->file : import->file, *path = import_word(import, node, "");
    const char *from = strrchr(named_in, '/'), *to = import->output ? strrchr(import->output, '/') : NULL;
    size_t from_length = from ? (size_t)(from - named_in) : 0, to_length = to ? (size_t)(to - import->output) : 0;
    bool is_beside = from_length == to_length && (!to || strncmp(named_in, import->output, to_length) == 0);
    if (*path == '/' || is_beside || (!import->output && !from))
        return path;
    char *whole = realpath(path_beside(import->arena, named_in, path), NULL);
    const char *kept = whole ? arena_text(import->arena, whole) : path_beside(import->arena, named_in, path);
    free(whole);
    return kept;
}
