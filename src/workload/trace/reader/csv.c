/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages with their times, one a line, separated by commas:
 *
 *     time_us,source,destination,bytes
 *     0.5,0,3,4096            # leaves rank 0 half a microsecond after the start
 *     0.75,3,0,64
 *
 * The header is optional. It may put the columns in another order, name others, which
 * are skipped, and give the unit of time: time_ps, time_ns, time_us, time_ms, time_s.
 * Without one the columns are as above, and times in ns. Lines need not be in the order
 * of their times.
 */
#include "flitwarp/trace_lines.h"
#include "flitwarp/trace_packets.h"

#include <strings.h>

#define MAX_COLUMNS 64

enum csv_column { COLUMN_TIME, COLUMN_SOURCE, COLUMN_DESTINATION, COLUMN_BYTES, COLUMN_OTHER };
#define COLUMNS_NEEDED COLUMN_OTHER

struct csv_layout {
    uint8_t columns[MAX_COLUMNS]; /* enum csv_column */
    uint32_t count;
    int exponent; /* a time of 1 is 10^exponent ps */
};

/* What is needed of a message, by column; times are in ps. */
static const struct {
    const char *name, *what;
    uint64_t most;
} csv_needed[COLUMNS_NEEDED] = {
    {"time", "a time", UINT64_MAX},
    {"source", "a source", MAX_PACKET_RANKS - 1},
    {"destination", "a destination", MAX_PACKET_RANKS - 1},
    {"bytes", "a number of bytes", INT64_MAX},
};

static const struct {
    const char *name;
    enum csv_column column;
    int exponent;
} csv_names[] = {
    {"time", COLUMN_TIME, 3},       {"time_ps", COLUMN_TIME, 0}, {"time_ns", COLUMN_TIME, 3},
    {"time_us", COLUMN_TIME, 6},    {"time_ms", COLUMN_TIME, 9}, {"time_s", COLUMN_TIME, 12},
    {"source", COLUMN_SOURCE, 0},   {"src", COLUMN_SOURCE, 0},   {"destination", COLUMN_DESTINATION, 0},
    {"dst", COLUMN_DESTINATION, 0}, {"bytes", COLUMN_BYTES, 0},  {"size", COLUMN_BYTES, 0},
};

/* ---- times ---- */

/* Digits with at most one point among them; `exponent` goes down by one for each behind it. */
static bool csv_digits(struct word *word, uint64_t *digits, int *exponent)
{
    bool has_point = false, has_digit = false;
    *digits = 0;
    for (; word->length; word->chars++, word->length--) {
        unsigned digit = (unsigned)*word->chars - '0';
        if (*word->chars == '.' && !has_point) {
            has_point = true;
        } else if (digit <= 9) {
            if (__builtin_mul_overflow(*digits, 10u, digits) || __builtin_add_overflow(*digits, digit, digits))
                return false;
            *exponent -= has_point;
            has_digit = true;
        } else {
            break;
        }
    }
    return has_digit;
}

/* 5, 0.25, 1.5e-06; rounded to whole picoseconds. */
static bool csv_time(struct word word, int exponent, uint64_t *time_ps)
{
    uint64_t value, power = 0;
    if (!csv_digits(&word, &value, &exponent))
        return false;
    if (word.length && (*word.chars == 'e' || *word.chars == 'E')) {
        bool is_negative = word.length > 1 && word.chars[1] == '-';
        size_t sign = is_negative || (word.length > 1 && word.chars[1] == '+');
        if (!word_number((struct word){word.chars + 1 + sign, word.length - 1 - sign}, 99, &power))
            return false;
        exponent += is_negative ? -(int)power : (int)power;
    } else if (word.length) {
        return false;
    }
    for (; exponent > 0 && value; exponent--)
        if (__builtin_mul_overflow(value, 10u, &value))
            return false;
    for (; exponent < -1 && value; exponent++)
        value /= 10;
    *time_ps = exponent == -1 ? value / 10 + (value % 10 >= 5) : value;
    return true;
}

/* ---- lines ---- */

static bool csv_read_header(struct trace_lines *lines, struct csv_layout *layout)
{
    struct word word;
    uint32_t times[COLUMNS_NEEDED + 1] = {0};
    *layout = (struct csv_layout){0};
    while (lines_word(lines, &word)) {
        if (layout->count == MAX_COLUMNS)
            return lines_error(lines, "more than %d columns", MAX_COLUMNS);
        enum csv_column column = COLUMN_OTHER;
        for (size_t i = 0; i < sizeof csv_names / sizeof *csv_names && column == COLUMN_OTHER; i++)
            if (word.length == strlen(csv_names[i].name) &&
                strncasecmp(word.chars, csv_names[i].name, word.length) == 0) {
                column = csv_names[i].column;
                layout->exponent = column == COLUMN_TIME ? csv_names[i].exponent : layout->exponent;
            }
        layout->columns[layout->count++] = (uint8_t)column;
        times[column]++;
    }
    for (uint32_t column = 0; column < COLUMNS_NEEDED; column++)
        if (times[column] != 1)
            return lines_error(lines, "the header has %u columns of the %s; accepted: one, of the name \"%s\"",
                               times[column], csv_needed[column].name, csv_needed[column].name);
    return true;
}

/* Finds the layout, and goes back to the beginning where the first line does not begin with a letter: it is no header. */
static bool csv_begin(struct trace_lines *lines, struct csv_layout *layout)
{
    lines_rewind(lines);
    *layout = (struct csv_layout){{COLUMN_TIME, COLUMN_SOURCE, COLUMN_DESTINATION, COLUMN_BYTES}, COLUMNS_NEEDED, 3};
    if (!lines_next(lines))
        return true;
    if ((*lines->at | 0x20) >= 'a' && (*lines->at | 0x20) <= 'z')
        return csv_read_header(lines, layout);
    lines_rewind(lines);
    return true;
}

/* The values of what is needed. */
static bool csv_read_message(struct trace_lines *lines, const struct csv_layout *layout, uint64_t *values)
{
    struct word word;
    for (uint32_t i = 0; i < layout->count; i++) {
        enum csv_column column = layout->columns[i];
        if (column == COLUMN_OTHER)
            lines_word(lines, &word);
        else if (column != COLUMN_TIME
                     ? !lines_number(lines, csv_needed[column].what, csv_needed[column].most, &values[column])
                     : !lines_need(lines, csv_needed[column].what, &word))
            return false;
        if (column == COLUMN_TIME && !csv_time(word, layout->exponent, &values[column]))
            return lines_refuse(lines, word, "where a time is due; accepted: a number of 0 or more, up to %llu ps",
                                (unsigned long long)UINT64_MAX);
    }
    return lines_end(lines);
}

/* ---- the whole ---- */

/* The first pass: whether all is well, and how many ranks there are. */
static bool csv_count_ranks(struct trace_lines *lines, uint32_t *ranks)
{
    struct csv_layout layout;
    uint64_t values[COLUMNS_NEEDED], count = 0, last = 0;
    if (!csv_begin(lines, &layout))
        return false;
    for (; lines_next(lines); count++) {
        if (!csv_read_message(lines, &layout, values))
            return false;
        last = values[COLUMN_SOURCE] > last ? values[COLUMN_SOURCE] : last;
        last = values[COLUMN_DESTINATION] > last ? values[COLUMN_DESTINATION] : last;
    }
    *ranks = (uint32_t)last + 1;
    return (count && count <= MAX_PACKETS) || errors_add(lines->errors, "%s: %llu messages; accepted: from 1 to %u",
                                                         lines->source->path, (unsigned long long)count, MAX_PACKETS);
}

static bool csv_read(const struct trace_source *source, struct trace_builder *builder, struct errors *errors)
{
    struct trace_lines lines = {.source = source, .errors = errors, .separator = ','};
    struct csv_layout layout;
    uint64_t values[COLUMNS_NEEDED];
    struct packets packets;
    uint32_t ranks;
    if (!csv_count_ranks(&lines, &ranks))
        return false;
    packets_init(&packets, builder, ranks);
    csv_begin(&lines, &layout);
    while (lines_next(&lines) && csv_read_message(&lines, &layout, values)) {
        uint32_t from = (uint32_t)values[COLUMN_SOURCE], to = (uint32_t)values[COLUMN_DESTINATION];
        struct packet_tasks tasks = packets_add(&packets, from, to, values[COLUMN_BYTES]);
        packets_wait_until(&packets, from, tasks.send, values[COLUMN_TIME]);
    }
    packets_release(&packets);
    return true;
}

/* A header with all that is needed, or a first line of four numbers. */
static bool csv_looks_like(const struct trace_source *source)
{
    struct trace_lines lines = {.source = source, .separator = ','};
    struct csv_layout layout;
    uint64_t values[COLUMNS_NEEDED];
    return csv_begin(&lines, &layout) &&
           (lines.line > 0 || (lines_next(&lines) && csv_read_message(&lines, &layout, values)));
}

static const struct trace_reader_ops csv = {
    .name = "csv",
    .summary = "time, source, destination and bytes of messages, separated by commas",
    .ending = ".csv",
    .looks_like = csv_looks_like,
    .read = csv_read,
};
REGISTER_TRACE_READER(csv);
/*
 * Copied by `flitwarp new`, with an example: workload.applications.0={"type": "trace", "file": "@", "format": $}
 * 100,0,9,4096
 * 100,9,0,4096
 * 250.5,3,60,65536
 */
