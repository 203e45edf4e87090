/* SPDX-License-Identifier: Apache-2.0 */
/* Files of numbers, read up to the first wrong line: the rest is rarely better; and weights. See numbers.h. */
#include "workload/numbers.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_VALUE 1e100 /* so that sums stay finite */

struct reader {
    const char *path;
    uint32_t line;
    struct arena *arena;
    const struct choice *self;
    const char *key;
    struct errors *errors;
};

static const char *skip_space(const char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

static uint32_t count_fields(const char *text)
{
    uint32_t fields = 1;
    for (; *text; text++)
        fields += *text == ',';
    return fields;
}

static bool numbers_read_row(struct numbers_row *row, const char *text, const struct reader *reader)
{
    uint32_t fields = count_fields(text);
    *row = (struct numbers_row){.line = reader->line, .values = arena_array(reader->arena, double, fields)};
    while (row->count < fields) {
        char *end;
        double value = strtod(text, &end);
        const char *rest = skip_space(end);
        if (end == text || (*rest && *rest != ',') || !(value >= 0 && value <= MAX_VALUE))
            return choice_error(reader->errors, reader->self, reader->key,
                                "%s:%u: field %u (\"%.*s\") is not a number; accepted: 0 or more", reader->path,
                                reader->line, row->count + 1, (int)strcspn(text, ","), text);
        row->values[row->count++] = value;
        text = rest + 1;
    }
    return true;
}

static void trim_end(char *text)
{
    size_t length = strlen(text);
    while (length && isspace((unsigned char)text[length - 1]))
        text[--length] = '\0';
}

static bool numbers_read_lines(struct numbers *numbers, FILE *file, const char *header, struct reader *reader)
{
    char *line = NULL;
    size_t size = 0;
    uint32_t room = 0;
    bool ok = true;
    for (ssize_t length; ok && (length = getline(&line, &size, file)) >= 0;) {
        reader->line++;
        ok = !memchr(line, '\0', (size_t)length) ||
             choice_error(reader->errors, reader->self, reader->key, "%s:%u: found a NUL, expected text", reader->path,
                          reader->line);
        trim_end(line);
        const char *text = skip_space(line);
        bool is_header = header && numbers->count == 0 && strcmp(text, header) == 0;
        if (!ok || !*text || *text == '#' || is_header)
            continue;
        numbers->rows = memory_grow(numbers->rows, numbers->count, &room, sizeof *numbers->rows);
        ok = numbers_read_row(&numbers->rows[numbers->count++], text, reader);
    }
    free(line);
    return ok;
}

bool numbers_read(struct numbers *numbers, const char *path, const char *header, struct arena *arena,
                  const struct choice *self, const char *key, struct errors *errors)
{
    *numbers = (struct numbers){0};
    FILE *file = fopen(path, "r");
    if (!file)
        return choice_error(errors, self, key, "cannot read \"%s\": %s", path, strerror(errno));
    struct reader reader = {path, 0, arena, self, key, errors};
    bool ok = numbers_read_lines(numbers, file, header, &reader);
    if (ok && ferror(file))
        ok = choice_error(errors, self, key, "reading \"%s\" failed after line %u", path, reader.line);
    fclose(file);
    if (ok && numbers->count == 0)
        ok = choice_error(errors, self, key, "\"%s\" holds no numbers", path);
    struct numbers_row *rows = arena_array(arena, struct numbers_row, numbers->count); /* out of the heap */
    if (numbers->count)
        memcpy(rows, numbers->rows, numbers->count * sizeof(*rows));
    free(numbers->rows);
    numbers->rows = rows;
    return ok;
}

/* ---- weights ---- */

void weights_init(struct weights *weights, struct arena *arena, const double *values, uint32_t count)
{
    *weights = (struct weights){.count = count, .sums = arena_array(arena, double, count)};
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        weights->sums[i] = sum += values ? values[i] : 1;
}

static double weights_sum(const struct weights *weights) { return weights->sums[weights->count - 1]; }

bool weights_from_option(struct weights *weights, struct arena *arena, const struct f64_list *values, uint32_t count,
                         const struct choice *self, struct errors *errors)
{
    if (values->count && values->count != count)
        return choice_error(errors, self, "weights", "%u weights for %u entries: one each, or none for equal weights",
                            values->count, count);
    weights_init(weights, arena, values->count ? values->items : NULL, count);
    return weights_sum(weights) > 0 ||
           choice_error(errors, self, "weights", "all weights are 0: one at least must be above");
}

double weights_share(const struct weights *weights, uint32_t index)
{
    double before = index ? weights->sums[index - 1] : 0;
    return (weights->sums[index] - before) / weights_sum(weights);
}
