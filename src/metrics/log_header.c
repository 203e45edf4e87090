/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns by name, and messages about logs. Nothing here is called once a record:
 * the header comes once, and a log that is not right ends the reading.
 */
#include "metrics/log_parse.h"

#include "base/text.h"
#include "flitwarp/arena.h"

#include <stdlib.h>
#include <string.h>

#define HINT "'flitwarp run CONFIG --log FILE' makes one"
#define SHOWN_BYTES 40

/* The beginning of a text for a message; what cannot be printed becomes a dot. */
struct excerpt {
    char text[SHOWN_BYTES + 4];
};

static struct excerpt excerpt_of(const char *text, size_t length)
{
    struct excerpt excerpt = {0};
    size_t shown = length < SHOWN_BYTES ? length : SHOWN_BYTES;
    for (size_t i = 0; i < shown; i++)
        excerpt.text[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '.';
    if (length > shown)
        memcpy(excerpt.text + shown, "...", 3);
    return excerpt;
}

static size_t field_length(const char *field, size_t left)
{
    const char *comma = memchr(field, ',', left);
    return comma ? (size_t)(comma - field) : left;
}

/* Which of packet_log_columns it is; NULL: none that is read. */
static const struct log_property *find_column(const char *field, size_t length)
{
    for (const struct log_property *column = packet_log_columns; column->column; column++)
        if (strlen(column->column) == length && memcmp(field, column->column, length) == 0)
            return column->need == LOG_NOT_READ ? NULL : column;
    return NULL;
}

static uint32_t column_bit(const struct log_property *column) { return 1u << (column - packet_log_columns); }

static void add_column(struct log_reader *reader, const char *field, size_t length, struct errors *errors)
{
    const struct log_property *column = find_column(field, length);
    reader->columns[reader->column_count++] = column;
    if (!column)
        return;
    if (reader->known & column_bit(column))
        errors_add(errors, "%s:1: column '%s' is there twice, expected once", reader->bytes.name, column->column);
    reader->known |= column_bit(column);
}

static void report_missing(const struct log_reader *reader, struct errors *errors)
{
    struct text names = {0}, usual = {0};
    uint32_t count = 0;
    for (const struct log_property *column = packet_log_columns; column->column; column++) {
        bool is_needed =
            column->need == LOG_REQUIRED || (column->need == LOG_TOGETHER && log_reader_has_transactions(reader));
        if (is_needed && !(reader->known & column_bit(column)))
            text_addf(&names, "%s'%s'", count++ ? ", " : "", column->column);
        if (column->need != LOG_EXTRA)
            text_addf(&usual, "%s%s", usual.length ? "," : "", column->column);
    }
    if (count)
        errors_add(errors, "%s:1: column%s %s %s missing; a packet log begins with '%s'", reader->bytes.name,
                   count == 1 ? "" : "s", names.chars, count == 1 ? "is" : "are", usual.chars);
    text_release(&names);
    text_release(&usual);
}

static void report_alien(const struct log_reader *reader, const char *line, size_t length, struct errors *errors)
{
    const char *name = reader->bytes.name, *begins = line + strspn(line, " \t");
    if (length == 0 && reader->at == reader->filled)
        errors_add(errors, "'%s' is empty, no packet log; " HINT, name);
    else if (*begins && strchr("{[/", *begins))
        errors_add(errors, "'%s' is JSON (a configuration, or results), no packet log; " HINT, name);
    else
        errors_add(errors,
                   "'%s' is no packet log: it begins with '%s', expected a line with the names of columns; " HINT, name,
                   excerpt_of(line, length).text);
}

bool log_header_read(struct log_reader *reader, const char *line, size_t length, struct errors *errors)
{
    uint32_t before = errors->count;
    size_t fields = 1;
    for (size_t i = 0; i < length; i++)
        fields += line[i] == ',';
    reader->columns = memory_take(fields * sizeof(*reader->columns));
    for (size_t at = 0; at <= length;) {
        size_t field = field_length(line + at, length - at);
        add_column(reader, line + at, field, errors);
        at += field + 1;
    }
    if (!reader->known || memchr(line, '\0', length)) /* messages take the header as a text */
        report_alien(reader, line, length, errors);
    else
        report_missing(reader, errors);
    return errors->count == before;
}

bool log_reader_has_transactions(const struct log_reader *reader)
{
    for (const struct log_property *column = packet_log_columns; column->column; column++)
        if (column->need == LOG_TOGETHER && reader->known & column_bit(column))
            return true;
    return false;
}

bool log_reader_has(const struct log_reader *reader, const struct log_property *property)
{
    for (const struct log_property *column = packet_log_columns; column->column; column++)
        if (column->offset == property->offset)
            return reader->known & column_bit(column);
    return true;
}

/* ---- lines that are not right ---- */

static bool is_number(const char *field, size_t length)
{
    uint64_t number;
    const char *end = field;
    return number_read(&end, UINT64_MAX, &number) && end == field + length;
}

/* The name of a column as the header has it. */
static struct excerpt column_name(const struct log_reader *reader, size_t index)
{
    const char *at = reader->header;
    for (; index > 0; index--)
        at += field_length(at, strlen(at)) + 1;
    return excerpt_of(at, field_length(at, strlen(at)));
}

void log_line_report(const struct log_reader *reader, const char *at, struct errors *errors)
{
    const char *line = at, *name = reader->bytes.name;
    size_t length = (size_t)((char *)rawmemchr(at, '\n') - at), fields = 0;
    length -= length && line[length - 1] == '\r';
    unsigned long long number = reader->line_number;
    for (size_t from = 0; from <= length; fields++) {
        size_t field = field_length(line + from, length - from);
        bool is_read = fields < reader->column_count && reader->columns[fields];
        if (is_read && length > 0 && !is_number(line + from, field)) {
            errors_add(errors, "%s:%llu: %s: found '%s', expected a whole number from 0 to 2^64 - 1", name, number,
                       column_name(reader, fields).text, excerpt_of(line + from, field).text);
            return;
        }
        from += field + 1;
    }
    if (length == 0)
        errors_add(errors, "%s:%llu: found an empty line, expected %u fields", name, number, reader->column_count);
    else
        errors_add(errors, "%s:%llu: found %zu fields, expected %u: '%s'", name, number, fields, reader->column_count,
                   excerpt_of(line, length).text);
}

void log_record_report(const struct log_reader *reader, const struct log_record *record, struct errors *errors)
{
    const char *name = reader->bytes.name;
    unsigned long long number = reader->line_number;
    if (record->flits < 1 || record->flits > record->message_flits)
        errors_add(errors, "%s:%llu: packet_flits: found %llu, expected 1 to message_flits, which is %llu", name,
                   number, (unsigned long long)record->flits, (unsigned long long)record->message_flits);
    else
        errors_add(errors, "%s:%llu: found created %llu, injected %llu, tail_arrived %llu, expected them to rise", name,
                   number, (unsigned long long)record->created, (unsigned long long)record->injected,
                   (unsigned long long)record->arrived);
}
