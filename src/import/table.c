/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of tables: walking rows, taking settings out of theirs, putting into ours. */
#include "import/import.h"

#include "base/text.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The next of a list of words "theirs=ours" or "same"; false at the end. */
static bool next_word(struct import *import, const char **list, const char **theirs, const char **ours)
{
    size_t length = strcspn(*list, " "), split = strcspn(*list, "= "), begin = split < length ? split + 1 : 0;
    *theirs = arena_format(import->arena, "%.*s", (int)split, *list);
    *ours = arena_format(import->arena, "%.*s", (int)(length - begin), *list + begin);
    *list += length + ((*list)[length] == ' ');
    return length;
}

/* ---- rows ---- */

/* The value of a setting, or of its fallback, at our path; nothing when both are absent or it does not fit. */
static void carry_value(struct import *import, const struct import_row *row)
{
    const struct json *node = import_take(import, row->key);
    if (!node && row->fallback)
        node = json_from_word(import->arena, row->fallback);
    struct json *value = node ? row->as(import, node) : NULL;
    if (value)
        value = import_put(import, row->ours, value);
    if (value && row->comment)
        import_comment(import, value, "%s", row->comment);
    if (row->why && node && node->file)
        import_note(import, node, row->kind, row->why, row->nearest);
}

void import_carry(struct import *import, const struct import_row *rows, struct json *theirs, struct json *ours)
{
    struct import inner = import_within(import, theirs, ours);
    inner.beside = import->beside;
    for (const struct import_row *row = rows; row->key; row++) {
        inner.row = row;
        if (row->of && !import_lists(row->of, import->kind))
            continue;
        if (row->as)
            carry_value(&inner, row);
        else
            row->put(&inner);
    }
}

struct json *import_as_count(struct import *import, const struct json *node)
{
    uint64_t min = (uint64_t)import->row->min, max = (uint64_t)import->row->max;
    return json_number_u64(import->arena, import_count(import, node, min, min, max));
}

struct json *import_as_number(struct import *import, const struct json *node)
{
    double min = import->row->min;
    return json_number_f64(import->arena, import_number(import, node, min, min, import->row->max));
}

struct json *import_as_path(struct import *import, const struct json *node)
{
    return json_text(import->arena, import_path(import, node));
}

struct json *import_as_nearest(struct import *import, const struct json *node)
{
    const char *words = import->row->words, *theirs, *first;
    next_word(import, &words, &theirs, &first);
    return json_text(import->arena, import_nearest(import, node, import->row->words, import->row->key, first));
}

/* What is at a path of a block; NULL: nothing, and an error of theirs where what holds it is no object. */
static struct json *find_at(struct import *import, struct json *block, const char *path, bool is_theirs)
{
    for (path += *path == '/'; block; path += strcspn(path, ".") + 1) {
        struct json *found = json_find(block, arena_format(import->arena, "%.*s", (int)strcspn(path, "."), path));
        if (!strchr(path, '.'))
            return found;
        if (found && found->type != JSON_OBJECT && is_theirs)
            import_expected(import, found, "an object");
        block = found && found->type == JSON_OBJECT ? found : NULL;
    }
    return NULL;
}

struct json *import_look(struct import *import, const char *path)
{
    return find_at(import, *path == '/' ? import->root : import->theirs, path, false);
}

void import_put_same(struct import *import)
{
    const struct import_row *row = import->row;
    struct json *node = import_look(import, row->key);
    if (!node || node->type == JSON_NULL || node->type >= JSON_ARRAY || (!row->words && node->type == JSON_TEXT))
        return;
    const char *word = node->type == JSON_BOOL ? truth_word(node->truth) : node->text;
    const char *ours = row->words ? import_ours_for(import, row->words, word) : NULL;
    if (row->words && !ours)
        return;
    import_put(import, row->ours, ours ? json_text(import->arena, ours) : json_copy(import->arena, node));
    node->is_taken = true;
}

/* ---- theirs ---- */

struct import import_within(const struct import *import, struct json *theirs, struct json *ours)
{
    struct import inner = *import;
    inner.theirs = theirs;
    inner.ours = ours;
    inner.beside = NULL;
    return inner;
}

struct json *import_take(struct import *import, const char *path)
{
    struct json *node = find_at(import, *path == '/' ? import->root : import->theirs, path, true);
    if (!node && import->beside)
        node = find_at(import, import->beside, path, true);
    if (node)
        node->is_taken = true;
    return node;
}

struct json *import_need(struct import *import, const char *key)
{
    struct json *node = import_take(import, key);
    if (!node)
        import_error(import, import->theirs, "has no '%s', which is needed", key);
    return node;
}

struct json *import_block(struct import *import, const char *path)
{
    struct json *found = find_at(import, *path == '/' ? import->root : import->theirs, path, true);
    if (found && found->type != JSON_OBJECT)
        import_expected(import, found, "an object");
    return found && found->type == JSON_OBJECT ? found : NULL;
}

/* NAN when it is none. */
static double number_in(const struct import *import, const struct json *node)
{
    if (node->type == JSON_NUMBER)
        return node->number;
    if (node->type != JSON_TEXT || !import->is_text)
        return NAN;
    char *end;
    double number = strtod(node->text, &end);
    return end > node->text && !*end && isfinite(number) && !strpbrk(node->text, "xX") ? number : NAN;
}

double import_number(struct import *import, const struct json *node, double fallback, double min, double max)
{
    double number = node ? number_in(import, node) : fallback;
    if (!node || (number >= min && number <= max))
        return number;
    if (import->is_text)
        import_expected(import, node, "a number from %g to %g", min, max);
    else if (node->type == JSON_NUMBER)
        import_error(import, node, "found %s, expected a number from %g to %g", node->text, min, max);
    else
        import_expected(import, node, "a number");
    return fallback;
}

unsigned long long import_count(struct import *import, const struct json *node, uint64_t fallback, uint64_t min,
                                uint64_t max)
{
    if (!node)
        return fallback;
    double number = number_in(import, node);
    if (number == floor(number) && number >= (double)min && number <= (double)max)
        return (unsigned long long)number;
    import_expected(import, node, "a whole number from %llu to %llu", (unsigned long long)min, (unsigned long long)max);
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

bool import_is(const struct json *node, const char *word)
{
    return node && node->type == JSON_TEXT && strcmp(node->text, word) == 0;
}

double import_number_at(struct import *import, const char *path, double fallback, double min, double max)
{
    return import_number(import, import_take(import, path), fallback, min, max);
}

unsigned long long import_count_at(struct import *import, const char *path, uint64_t fallback, uint64_t min,
                                   uint64_t max)
{
    return import_count(import, import_take(import, path), fallback, min, max);
}

bool import_truth_at(struct import *import, const char *path, bool fallback)
{
    return import_truth(import, import_take(import, path), fallback);
}

static const char *table_word(const void *rows, size_t row_size, uint32_t index)
{
    return *(const char *const *)((const char *)rows + index * row_size);
}

const void *import_find(const void *rows, size_t row_size, const char *word)
{
    for (uint32_t i = 0; table_word(rows, row_size, i); i++)
        if (strcmp(table_word(rows, row_size, i), word) == 0)
            return (const char *)rows + i * row_size;
    return NULL;
}

bool import_lists(const char *list, const char *word)
{
    for (size_t length; *list; list += length + (list[length] == ' ')) {
        length = strcspn(list, " ");
        char one[64];
        snprintf(one, sizeof one, "%.*s", (int)length, list);
        if (fnmatch(one, word, 0) == 0)
            return true;
    }
    return false;
}

const void *import_choose(struct import *import, const struct json *node, const void *rows, size_t row_size)
{
    const void *row = import_find(rows, row_size, import_word(import, node, ""));
    if (row || !node || node->type != JSON_TEXT)
        return row;
    struct text text = {0};
    for (uint32_t i = 0; table_word(rows, row_size, i); i++)
        text_addf(&text, "%s%s", i ? ", " : "", table_word(rows, row_size, i));
    import_error(import, node, "found '%.60s', expected one of: %s", node->text, text.chars);
    text_release(&text);
    return NULL;
}

const char *import_ours_for(struct import *import, const char *words, const char *word)
{
    for (const char *theirs, *ours; next_word(import, &words, &theirs, &ours);)
        if (strcmp(theirs, word) == 0)
            return ours;
    return NULL;
}

const char *import_choice(struct import *import, const struct json *node, const char *words, const char *fallback)
{
    const char *chosen = import_ours_for(import, words, import_word(import, node, "")), *theirs, *ours;
    if (chosen || !node || node->type != JSON_TEXT)
        return chosen ? chosen : fallback;
    struct text list = {0};
    while (next_word(import, &words, &theirs, &ours))
        text_addf(&list, "%s%s", list.length ? ", " : "", theirs);
    import_error(import, node, "found '%.60s', expected one of: %s", node->text, list.chars);
    text_release(&list);
    return fallback;
}

const char *import_nearest(struct import *import, const struct json *node, const char *words, const char *what,
                           const char *fallback)
{
    const char *ours = node ? import_ours_for(import, words, import_word(import, node, "")) : fallback;
    if (!ours)
        import_note(import, node, DECISIVE, arena_format(import->arena, "no such %s", what), fallback);
    return ours ? ours : fallback;
}

const struct json *import_items(struct import *import, const struct json *array, const char *expected)
{
    if (array && array->type != JSON_ARRAY)
        import_expected(import, array, "%s", expected);
    return array && array->type == JSON_ARRAY ? array->first : NULL;
}

struct json *import_numbers(struct import *import, const struct json *node, uint64_t min, uint64_t max)
{
    struct json *copy = json_array(import->arena);
    const struct json *item = import_items(import, node, "an array of whole numbers");
    for (; item; item = item->next)
        json_append(copy, json_number_u64(import->arena, import_count(import, item, min, min, max)));
    return copy;
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

/* ---- ours ---- */

struct json *import_ours(struct import *import, const char *path)
{
    return find_at(import, *path == '/' ? import->result : import->ours, path, false);
}

struct json *import_put(struct import *import, const char *path, struct json *value)
{
    struct json *block = *path == '/' ? import->result : import->ours;
    for (path += *path == '/';;) {
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

struct json *import_set_words(struct import *import, const char *path, char *words)
{
    struct json *last = NULL;
    for (char *rest, *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        size_t length = strcspn(word, "=");
        struct json *value = json_from_word(import->arena, word + length + 1);
        if (value->type == JSON_NUMBER)
            value = json_number_f64(import->arena, value->number);
        last = import_put(import, arena_format(import->arena, "%s%s%.*s", path, *path ? "." : "", (int)length, word),
                          value);
    }
    return last;
}

struct json *import_repeat(struct import *import, uint64_t count, uint64_t value)
{
    struct json *row = json_array(import->arena);
    for (uint64_t i = 0; i < count; i++)
        json_append(row, json_number_u64(import->arena, value));
    return row;
}

void import_put_load(struct import *import, double load, uint64_t channels, const struct json *node)
{
    if (load > (double)channels) {
        import_note(import, node, DECISIVE,
                    arena_format(import->arena, "%g flits a cycle are more than a terminal can send", load),
                    arena_format(import->arena, "load %llu", (unsigned long long)channels));
        load = (double)channels;
    }
    import_set(import, "", "load=%.17g", load);
}

double import_put_mix(struct import *import, const char *path, struct json *sizes, struct json *weights,
                      double fallback)
{
    double sum = 0, total = 0;
    for (const struct json *size = sizes->first, *weight = weights->first; weight; weight = weight->next) {
        sum += weight->number * (size ? size->number : 0);
        total += weight->number;
        size = size ? size->next : NULL;
    }
    struct json *block = import_set(import, path, "type=mix")->parent;
    json_add(block, "sizes", sizes);
    json_add(block, "weights", weights);
    return total > 0 ? sum / total : fallback;
}

void import_put_read_write(struct import *import, double reads, const double flits[4])
{
    import_set(import, "size", "type=read_write reads=%.17g read_request=%.17g write_request=%.17g", reads, flits[0],
               flits[1]);
    import_set(import, "size", "read_reply=%.17g write_reply=%.17g", flits[2], flits[3]);
}
