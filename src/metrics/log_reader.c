/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes -> whole lines in a buffer -> numbers in a record. Every line in [at, end)
 * ends with a newline, which is no digit: so numbers are read without looking for
 * the end of the buffer. A line that is not right is looked at again, slowly, for
 * the message (log_header.c).
 */
#include "metrics/log_reader.h"

#include "flitwarp/arena.h"
#include "metrics/log_header.h"

#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES ((size_t)1 << 20)
#define SAFE_DIGITS 19 /* no number of so many exceeds 64 bits */

/* Moves the beginning of a line to the front and fills the rest; false, with a message, when that fails. */
static bool fill_buffer(struct log_reader *reader, struct errors *errors)
{
    size_t kept = (size_t)(reader->filled - reader->at), count = 0;
    memmove(reader->buffer, reader->at, kept);
    reader->at = reader->end = reader->buffer;
    if (!log_bytes_read(&reader->bytes, reader->buffer + kept, BUFFER_BYTES - kept, &count, errors))
        return false;
    reader->filled = reader->buffer + kept + count;
    const char *last = memrchr(reader->buffer, '\n', kept + count);
    if (last)
        reader->end = last + 1;
    return true;
}

/* The buffer holds no whole line: either the log has ended, or with a message. */
static bool end_log(struct log_reader *reader, struct errors *errors)
{
    unsigned long long line = reader->line_number + 1;
    if ((size_t)(reader->filled - reader->at) == BUFFER_BYTES) {
        errors_add(errors, "%s:%llu: found a line of over %zu bytes, expected one of a packet log", reader->bytes.name,
                   line, BUFFER_BYTES);
    } else if (reader->filled > reader->at) {
        errors_add(errors, "%s:%llu: the last line has no end, the log is cut off", reader->bytes.name, line);
        reader->bytes.has_failed = true;
    }
    return false;
}

bool log_reader_open(struct log_reader *reader, const char *path, struct errors *errors)
{
    *reader = (struct log_reader){0};
    if (!log_bytes_open(&reader->bytes, path, errors))
        return false;
    reader->buffer = memory_take(BUFFER_BYTES);
    reader->at = reader->end = reader->filled = reader->buffer;
    if (!fill_buffer(reader, errors))
        return false;
    const char *newline = memchr(reader->at, '\n', (size_t)(reader->filled - reader->at));
    size_t length = (size_t)((newline ? newline : reader->filled) - reader->at);
    bool has_return = length > 0 && reader->at[length - 1] == '\r';
    reader->header = memory_take(length + 1);
    memcpy(reader->header, reader->at, length);
    reader->header[length - has_return] = '\0';
    if (!log_header_read(reader, reader->header, length - has_return, errors))
        return false;
    if (!newline)
        return end_log(reader, errors);
    reader->at = newline + 1;
    reader->line_number = 1;
    return true;
}

/* Reads digits and returns what stands behind them; NULL: there are none, or too many. */
static inline const char *number_read(const char *at, uint64_t *number)
{
    const char *first = at;
    uint64_t value = 0;
    for (uint32_t digit; (digit = (uint32_t)(unsigned char)*at - '0') < 10; at++)
        value = value * 10 + digit;
    *number = value;
    size_t digits = (size_t)(at - first);
    if (__builtin_expect(digits - 1 >= SAFE_DIGITS, 0)) /* none, too */
        return digits && log_digits_fit(first, digits) ? at : NULL;
    return at;
}

static inline const char *field_skip(const char *at)
{
    while (*at != ',' && *at != '\n')
        at++;
    return at;
}

/* Reads the fields of a line into the record; the end of the last one, or NULL. */
static inline const char *fields_read(const struct log_reader *reader, struct log_record *record)
{
    const struct log_column *column = reader->columns, *last = column + reader->column_count - 1;
    const char *at = reader->at;
    for (;; column++, at++) {
        at = column->is_known ? number_read(at, (uint64_t *)((char *)record + column->offset)) : field_skip(at);
        if (__builtin_expect(!at, 0))
            return NULL;
        if (column == last)
            return *at == '\n' || (at[0] == '\r' && at[1] == '\n') ? at : NULL;
        if (__builtin_expect(*at != ',', 0))
            return NULL;
    }
}

static inline bool is_possible(const struct log_record *record)
{
    return record->created <= record->injected && record->injected <= record->arrived && record->flits >= 1 &&
           record->flits <= record->message_flits;
}

bool log_reader_next(struct log_reader *reader, struct log_record *record, struct errors *errors)
{
    if (__builtin_expect(reader->at == reader->end, 0)) {
        if (!fill_buffer(reader, errors))
            return false;
        if (reader->at == reader->end)
            return end_log(reader, errors);
    }
    reader->line_number++;
    const char *end = fields_read(reader, record);
    if (__builtin_expect(!end, 0)) {
        log_line_report(reader, reader->at, errors);
        return false;
    }
    if (__builtin_expect(!is_possible(record), 0)) {
        log_record_report(reader, record, errors);
        return false;
    }
    reader->line = reader->at;
    reader->line_length = (size_t)(end - reader->at);
    reader->line_length -= reader->line_length && end[-1] == '\r'; /* a column passed over ends behind it */
    reader->at = end + 1 + (*end == '\r');
    log_record_of_packet(record);
    return true;
}

void log_reader_close(struct log_reader *reader)
{
    log_bytes_close(&reader->bytes);
    free(reader->buffer);
    free(reader->columns);
    free(reader->header);
    *reader = (struct log_reader){.bytes.descriptor = -1};
}
