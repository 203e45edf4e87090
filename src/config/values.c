/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single values: numbers, words, times, rates and lists of numbers, each held
 * against its row. Nothing is rounded or clamped: 2.5 is no whole number, 1e3
 * is one, and a time that is not a whole number of ticks is refused together
 * with the two that would do.
 */
#include "config/options.h"

#include "config/source.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- times and rates as text: a plain decimal number (no hexadecimal, no infinities), blanks, exactly one unit ---- */

/* How many of a unit of time make a second, how many bits a second a unit of rates has, and what a prefix multiplies by. */
static const struct unit {
    const char *name;
    double factor;
} time_units[] = {{"fs", 1e15}, {"ps", 1e12}, {"ns", 1e9}, {"us", 1e6}, {"ms", 1e3}, {"s", 1}},
  prefixes[] = {{"", 1},     {"K", 1e3},     {"k", 1e3},     {"M", 1e6},     {"G", 1e9},
                {"T", 1e12}, {"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40}},
  rate_units[] = {{"b/s", 1}, {"bps", 1}, {"B/s", 8}};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The number at the beginning of the text; returns what follows it, NULL when there is none. */
static const char *read_number(const char *text, double *number)
{
    const char *digits = text + (*text == '-');
    if (!isdigit((unsigned char)*digits) || (digits[0] == '0' && tolower((unsigned char)digits[1]) == 'x'))
        return NULL;
    char *end;
    *number = strtod(text, &end);
    if (!isfinite(*number))
        return NULL;
    while (*end == ' ')
        end++;
    return end;
}

/* Divides by exact powers, so that "625ps" is the double nearest to 625e-12. */
static bool read_time(const char *text, double *seconds, const struct unit **unit)
{
    double number;
    const char *rest = read_number(text, &number);
    for (*unit = time_units; rest && *unit < time_units + COUNT(time_units); ++*unit)
        if (strcmp(rest, (*unit)->name) == 0) {
            *seconds = number / (*unit)->factor;
            return true;
        }
    return false;
}

static bool read_rate(const char *text, double *rate)
{
    double number;
    const char *rest = read_number(text, &number);
    for (size_t p = 0; rest && p < COUNT(prefixes); p++) {
        size_t length = strlen(prefixes[p].name);
        if (strncmp(rest, prefixes[p].name, length) != 0)
            continue;
        for (size_t u = 0; u < COUNT(rate_units); u++)
            if (strcmp(rest + length, rate_units[u].name) == 0) {
                *rate = number * (prefixes[p].factor * rate_units[u].factor);
                return isfinite(*rate);
            }
    }
    return false;
}

/* ---- words of messages ---- */

bool option_is_optional(const struct option *row) { return row->fallback && strcmp(row->fallback, "null") == 0; }

const char *option_range(struct arena *arena, const struct option *row)
{
    bool has_min = row->min > -NO_LIMIT, has_max = row->max < NO_LIMIT;
    const char *unit = row->unit ? row->unit : "", *space = row->unit ? " " : "";
    if ((row->min == 0 && row->max == 0) || row->type == OPTION_TYPE_BOOL)
        return "";
    if (has_min && has_max)
        return arena_format(arena, "%.16g to %.16g%s%s", row->min, row->max, space, unit);
    if (has_min || has_max)
        return arena_format(arena, "at %s %.16g%s%s", has_min ? "least" : "most", has_min ? row->min : row->max, space,
                            unit);
    return unit;
}

/* " (meaning, range)" */
static const char *option_help(struct arena *arena, const struct option *row)
{
    const char *range = option_range(arena, row);
    return arena_format(arena, " (%s%s%s)", option_meaning(arena, row), *range ? ", " : "", range);
}

const char *option_expected(struct arena *arena, const struct option *row)
{
    const char *words = row->kind ? row->kind : "";
    for (size_t i = 0; row->type == OPTION_TYPE_ENUM && row->names[i]; i++)
        words = list_add(arena, words, ", ", arena_format(arena, "'%s'", row->names[i]));
    return arena_format(arena, "%s%s%s%s", option_kinds[row->type].accepted, words,
                        option_is_optional(row) ? ", or null" : "", option_help(arena, row));
}

bool type_error(const struct config_reader *reader, const struct option *row, const struct json *node)
{
    const char *found = json_type_name(node->type);
    if (row->kind)
        return value_error(reader, row, node, "found %s", found);
    if (node->type == JSON_TEXT)
        found = arena_format(reader->arena, "text '%s'", node->text);
    else if (node->type == JSON_NUMBER)
        found = arena_format(reader->arena, "the number %s", node->text);
    else if (node->type == JSON_BOOL)
        found = truth_word(node->truth);
    return value_error(reader, row, node, "found %s", found);
}

static bool range_error(const struct config_reader *reader, const struct option *row, const struct json *node,
                        const char *relation, double bound)
{
    return node_error(reader->errors, node, NULL, "%s is %s %.16g%s", node->text, relation, bound,
                      option_help(reader->arena, row));
}

static bool check_range(const struct config_reader *reader, const struct option *row, const struct json *node,
                        double value)
{
    if (value < row->min)
        return range_error(reader, row, node, "below", row->min);
    if (value > row->max)
        return range_error(reader, row, node, "above", row->max);
    return true;
}

/* Digits alone are read exactly; with a point or exponent the number must be whole. */
static bool read_whole(struct config_reader *reader, const struct option *row, struct json *node, void *field)
{
    bool is_short = row->type == OPTION_TYPE_U32;
    uint64_t most = is_short ? UINT32_MAX : row->type == OPTION_TYPE_U64 ? UINT64_MAX : TICKS_AUTO - 1;
    if (node->type != JSON_NUMBER)
        return type_error(reader, row, node);
    if (node->number != floor(node->number))
        return value_error(reader, row, node, "found %s", node->text);
    if (!check_range(reader, row, node, node->number))
        return false;
    if (node->number < 0)
        return range_error(reader, row, node, "below", 0);
    bool is_plain = !strpbrk(node->text, ".eE");
    bool fits = is_plain || node->number < 0x1p64;
    errno = 0;
    uint64_t whole = is_plain ? strtoull(node->text, NULL, 10) : fits ? (uint64_t)node->number : 0;
    if (errno || !fits || whole > most)
        return range_error(reader, row, node, "above", (double)most);
    if (row->max < 0x1p64 && row->max >= 0 && whole > (uint64_t)row->max) /* which the double was rounded down to */
        return range_error(reader, row, node, "above", row->max);
    if (is_short)
        *(uint32_t *)field = (uint32_t)whole;
    else
        *(uint64_t *)field = whole;
    return true;
}

static bool read_enum(struct config_reader *reader, const struct option *row, struct json *node, void *field)
{
    uint32_t *value = field;
    if (node->type != JSON_TEXT)
        return type_error(reader, row, node);
    struct nearest nearest = {.wanted = node->text};
    for (uint32_t i = 0; row->names[i]; i++) {
        if (strcmp(row->names[i], node->text) == 0) {
            *value = i;
            return true;
        }
        nearest_try(&nearest, row->names[i]);
    }
    return value_error(reader, row, node, "found '%s'%s", node->text,
                       meant_hint(reader->arena, nearest_word(&nearest)));
}

/* A time between two ticks: say which ones, in the user's own unit. */
static bool report_fraction(const struct config_reader *reader, const struct option *row, const struct json *node,
                            double ticks, const struct unit *unit)
{
    double per_tick = reader->tick_seconds * unit->factor;
    return node_error(reader->errors, node, NULL,
                      "'%s' is %.15g ticks, expected a whole number of them: '%.12g%s' is %.15g, '%.12g%s' is %.15g%s",
                      node->text, ticks, floor(ticks) * per_tick, unit->name, floor(ticks), ceil(ticks) * per_tick,
                      unit->name, ceil(ticks), option_help(reader->arena, row));
}

/* A number, or a text with a unit, as a number of ticks, bytes a tick, seconds or bits per second. */
static bool read_quantity(const struct config_reader *reader, const struct option *row, const struct json *node,
                          double *value, const struct unit **unit)
{
    const struct option_kind *kind = &option_kinds[row->type];
    bool is_bandwidth = row->type == OPTION_TYPE_BANDWIDTH, is_rate = is_bandwidth || row->type == OPTION_TYPE_RATE;
    *value = node->number;
    if (node->type == JSON_NUMBER && kind->number)
        return true;
    bool is_right = node->type == JSON_TEXT && kind->pattern &&
                    (is_rate ? read_rate(node->text, value) : read_time(node->text, value, unit));
    if (!is_right)
        return type_error(reader, row, node);
    if (row->type == OPTION_TYPE_SECONDS || row->type == OPTION_TYPE_RATE)
        return true;
    *value = is_bandwidth ? *value / 8 * reader->tick_seconds : *value / reader->tick_seconds;
    if (reader->tick_seconds <= 0 &&
        !reader->errors->count) /* otherwise the tick itself was refused, and that was said */
        node_error(reader->errors, node, NULL, "found '%s' where no tick is set, expected a number of %s", node->text,
                   is_bandwidth ? "bytes a tick" : "ticks");
    return reader->tick_seconds > 0;
}

static bool read_f64(struct config_reader *reader, const struct option *row, struct json *node, void *field)
{
    double value;
    const struct unit *unit;
    if (!read_quantity(reader, row, node, &value, &unit) || !check_range(reader, row, node, value))
        return false;
    *(double *)field = value;
    return true;
}

static bool read_ticks(struct config_reader *reader, const struct option *row, struct json *node, void *field)
{
    uint64_t *value = field;
    double ticks = 0;
    const struct unit *unit = NULL;
    if (row->type == OPTION_TYPE_TICKS_AUTO && node->type == JSON_TEXT && strcmp(node->text, "auto") == 0) {
        *value = TICKS_AUTO;
        return true;
    }
    if (node->type == JSON_NUMBER)
        return read_whole(reader, row, node, field);
    if (!read_quantity(reader, row, node, &ticks, &unit))
        return false;
    double whole = round(ticks);
    if (fabs(ticks - whole) > 8 * DBL_EPSILON * fabs(ticks)) /* what division of decimals may cost */
        return report_fraction(reader, row, node, ticks, unit);
    if (!check_range(reader, row, node, whole))
        return false;
    if (whole < 0)
        return range_error(reader, row, node, "below", 0);
    if (whole >= 0x1p64)
        return range_error(reader, row, node, "above", 0x1p64);
    *value = (uint64_t)whole;
    return true;
}

static bool read_text(struct config_reader *reader, const struct option *row, struct json *node, void *field)
{
    const char **value = field;
    if (node->type != JSON_TEXT)
        return type_error(reader, row, node);
    const char *file = json_file(node);
    bool is_beside_file = row->type == OPTION_TYPE_FILE && *node->text && file && strcmp(file, COMMAND_LINE) != 0;
    *value = is_beside_file ? path_beside(reader->arena, file, node->text) : node->text;
    if (row->type == OPTION_TYPE_FILE && **value)
        source_note_file(reader->files, reader->arena, *value);
    return true;
}

static bool read_bool(struct config_reader *reader, const struct option *row, struct json *node, void *field)
{
    bool *value = field;
    if (node->type != JSON_BOOL)
        return type_error(reader, row, node);
    *value = node->truth;
    return true;
}

/* As all lists are. */
struct any_list {
    uint32_t count;
    void *items;
};

/* The items of a list are read as single values are, with the list's range, unit and help. */
static bool read_list(struct config_reader *reader, const struct option *row, struct json *node, void *field)
{
    if (node->type != JSON_ARRAY)
        return type_error(reader, row, node);
    const struct option_kind *kind = &option_kinds[row->type];
    struct option item = {.type = kind->item, .min = row->min, .max = row->max, .unit = row->unit, .help = row->help};
    unsigned char *items = arena_take(reader->arena, kind->item_size * node->count);
    memcpy(field, &(struct any_list){node->count, items}, sizeof(struct any_list));
    bool is_good = true;
    for (struct json *child = node->first; child; child = child->next, items += kind->item_size)
        is_good &= option_kinds[item.type].read(reader, &item, child, items);
    return is_good;
}

#define DECIMAL "^[0-9]+(\\.[0-9]*)?([eE][-+]?[0-9]+)? *"
#define TIME DECIMAL "(fs|ps|ns|us|ms|s)$"
#define RATE DECIMAL "(k|[KMGT]i?)?(b/s|bps|B/s)$"

#define KIND_LIST(name, accepted, item, item_type)                                                                     \
    {                                                                                                                  \
        name, accepted, NULL, NULL, OPTION_TYPE_##item, sizeof(item_type), read_list                                   \
    }

const struct option_kind option_kinds[] = {
    [OPTION_TYPE_BOOL] = {"true or false", "true or false", .read = read_bool},
    [OPTION_TYPE_U32] = {"whole number", "a whole number", "integer", .read = read_whole},
    [OPTION_TYPE_U64] = {"whole number", "a whole number", "integer", .read = read_whole},
    [OPTION_TYPE_F64] = {"number", "a number", "number", .read = read_f64},
    [OPTION_TYPE_TEXT] = {"text", "text", .read = read_text},
    [OPTION_TYPE_FILE] = {"file name", "a file name", .read = read_text},
    [OPTION_TYPE_ENUM] = {"", "one of ", .read = read_enum},
    [OPTION_TYPE_U32_LIST] = KIND_LIST("whole numbers", "an array of whole numbers", U32, uint32_t),
    [OPTION_TYPE_U32_LISTS] =
        KIND_LIST("lists of whole numbers", "an array of arrays of whole numbers", U32_LIST, struct u32_list),
    [OPTION_TYPE_F64_LIST] = KIND_LIST("numbers", "an array of numbers", F64, double),
    [OPTION_TYPE_TICKS] = {"ticks or time", "a whole number of ticks or a time like \"10ns\"", "integer", TIME,
                           .read = read_ticks},
    [OPTION_TYPE_TICKS_AUTO] = {"ticks, time or auto", "a whole number of ticks, a time like \"10ns\" or \"auto\"",
                                "integer", "^auto$|" TIME, .read = read_ticks},
    [OPTION_TYPE_TICKS_LIST] = KIND_LIST("list of ticks or times",
                                         "an array of whole numbers of ticks or times like \"10ns\"", TICKS, uint64_t),
    [OPTION_TYPE_TICKS_F64] = {"ticks or time", "a number of ticks or a time like \"4.9ns\"", "number", TIME,
                               .read = read_f64},
    [OPTION_TYPE_SECONDS] = {"time", "a time like \"625ps\"", NULL, TIME, .read = read_f64},
    [OPTION_TYPE_RATE] = {"rate", "a rate like \"100Gb/s\" or a number of bits per second", "number", RATE,
                          .read = read_f64},
    [OPTION_TYPE_BANDWIDTH] = {"bytes/tick or rate", "a rate like \"25GB/s\" or a number of bytes a tick", "number",
                               RATE, .read = read_f64},
    [OPTION_TYPE_BANDWIDTH_LIST] =
        KIND_LIST("list of bytes/tick or rates", "an array of rates like \"25GB/s\" or numbers of bytes a tick",
                  BANDWIDTH, double),
    [OPTION_TYPE_BLOCK] = {"object", "an object", .read = block_read},
    [OPTION_TYPE_BLOCKS] = {"object or list of them", "an object, or an array of them", .read = blocks_read},
    [OPTION_TYPE_CHOICE] = {"", "an object with a 'type', or a name, of kind ", .read = choice_read},
    [OPTION_TYPE_CHOICES] = {"list of ", "an array of objects with a 'type', or names, of kind ", .read = choices_read},
};
