/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes -> whole lines in a buffer -> numbers in a record. Bytes are read in pieces, and compressed ones unpacked;
 * several frames in a row, as `cat a.zst b.zst` or pzstd make, are one text. Every line in [at, end) ends with a
 * newline, which is no digit: so numbers are read without looking for the end of the buffer. A line that is not right
 * is looked at again, slowly, for the message.
 */
#include "metrics/log.h"

#include "base/need.h"
#include "base/text.h"
#include "flitwarp/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#define RAW_BYTES ((size_t)128 * 1024)
#define MAGIC_BYTES 4
#define BUFFER_BYTES ((size_t)1 << 20)
#define SAFE_DIGITS 19 /* no number of so many exceeds 64 bits */

/* ---- columns by name, and messages about logs: nothing here is called once a record ---- */

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

static uint32_t column_bit(const struct log_property *column) { return 1u << (column - packet_log_columns); }

static void add_column(struct log_reader *reader, const char *field, size_t length, struct errors *errors)
{
    const struct log_property *column = packet_log_columns;
    while (column->column && (strlen(column->column) != length || memcmp(field, column->column, length) != 0))
        column++;
    bool is_read = column->column && column->need != LOG_NOT_READ;
    reader->columns[reader->column_count++] = is_read ? column : NULL;
    if (!is_read)
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

static bool log_header_read(struct log_reader *reader, const char *line, size_t length, struct errors *errors)
{
    uint32_t before = errors->count;
    size_t fields = 1;
    for (size_t i = 0; i < length; i++)
        fields += line[i] == ',';
    reader->columns = arena_take(errors->arena, fields * sizeof(*reader->columns));
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

static void log_line_report(const struct log_reader *reader, const char *at, struct errors *errors)
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

static void log_record_report(const struct log_reader *reader, const struct log_record *record, struct errors *errors)
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

/* ---- bytes ---- */

static bool failed(struct log_bytes *bytes, struct errors *errors, const char *reason)
{
    errors_add(errors, "cannot read '%s': %s", bytes->name, reason);
    bytes->has_failed = true;
    return false;
}

/* As much as there is, up to the room. */
static bool read_raw(struct log_bytes *bytes, char *to, size_t room, size_t *count, struct errors *errors)
{
    ssize_t got;
    do
        got = read(bytes->descriptor, to, room);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return failed(bytes, errors, strerror(errno));
    *count = (size_t)got;
    bytes->has_ended = got == 0;
    return true;
}

/* A frame of zstd, or one of those that its readers skip. */
static bool is_zstd(const char *raw, size_t size)
{
    return size >= MAGIC_BYTES && (memcmp(raw, "\x28\xb5\x2f\xfd", 4) == 0 ||
                                   (((unsigned char)raw[0] & 0xf0) == 0x50 && memcmp(raw + 1, "\x2a\x4d\x18", 3) == 0));
}

static bool log_bytes_open(struct log_bytes *bytes, const char *path, struct errors *errors)
{
    bool is_standard = strcmp(path, "-") == 0;
    *bytes = (struct log_bytes){.name = is_standard ? "standard input" : path};
    bytes->descriptor = is_standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (bytes->descriptor < 0)
        return failed(bytes, errors, strerror(errno));
    bytes->raw = arena_take(errors->arena, RAW_BYTES);
    while (bytes->raw_end < MAGIC_BYTES && !bytes->has_ended) {
        size_t count;
        if (!read_raw(bytes, bytes->raw + bytes->raw_end, RAW_BYTES - bytes->raw_end, &count, errors))
            return false;
        bytes->raw_end += count;
    }
    if (is_zstd(bytes->raw, bytes->raw_end)) {
        bytes->unpacker = ZSTD_createDCtx();
        NEED(bytes->unpacker, "out of memory for unpacking");
    }
    return true;
}

/* Passes on what was read, unpacked where it is compressed, until the room is full or more must be read. */
static bool log_bytes_pass_on(struct log_bytes *bytes, ZSTD_outBuffer *out, struct errors *errors)
{
    ZSTD_inBuffer in = {.src = bytes->raw, .size = bytes->raw_end, .pos = bytes->raw_at};
    if (!bytes->unpacker) {
        size_t held = in.size - in.pos, room = out->size - out->pos, part = held < room ? held : room;
        memcpy((char *)out->dst + out->pos, bytes->raw + in.pos, part);
        out->pos += part;
        bytes->raw_at += part;
        return true;
    }
    do {
        size_t left = ZSTD_decompressStream(bytes->unpacker, out, &in);
        if (ZSTD_isError(left)) {
            bytes->has_failed = true;
            return errors_add(errors, "cannot unpack '%s': zstd says '%s'", bytes->name, ZSTD_getErrorName(left));
        }
        bytes->is_inside = left > 0;
    } while (in.pos < in.size && out->pos < out->size);
    bytes->raw_at = in.pos;
    return true;
}

/* The unpacker may hold text after the last of the file: it is asked until it gives nothing more. */
static bool log_bytes_read(struct log_bytes *bytes, char *to, size_t room, size_t *count, struct errors *errors)
{
    ZSTD_outBuffer out = {.dst = to, .size = room};
    while (out.pos < room) {
        if (bytes->raw_at == bytes->raw_end && !bytes->has_ended) {
            bytes->raw_at = 0;
            if (!read_raw(bytes, bytes->raw, RAW_BYTES, &bytes->raw_end, errors))
                return false;
        }
        size_t before = out.pos;
        bool is_dry = bytes->raw_at == bytes->raw_end;
        if (is_dry && !bytes->is_inside)
            break;
        if (!log_bytes_pass_on(bytes, &out, errors))
            return false;
        if (is_dry && out.pos == before)
            return failed(bytes, errors, "its compressed data end too early, the file is cut off");
    }
    *count = out.pos;
    return true;
}

/* ---- lines ---- */

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
    reader->buffer = arena_take(errors->arena, BUFFER_BYTES);
    reader->at = reader->end = reader->filled = reader->buffer;
    if (!fill_buffer(reader, errors))
        return false;
    const char *newline = memchr(reader->at, '\n', (size_t)(reader->filled - reader->at));
    size_t length = (size_t)((newline ? newline : reader->filled) - reader->at);
    bool has_return = length > 0 && reader->at[length - 1] == '\r';
    reader->header = arena_take(errors->arena, length + 1);
    memcpy(reader->header, reader->at, length - has_return);
    if (!log_header_read(reader, reader->header, length - has_return, errors))
        return false;
    if (!newline)
        return end_log(reader, errors);
    reader->at = newline + 1;
    reader->line_number = 1;
    return true;
}

/* Reads digits and returns what stands behind them; NULL: there are none, or too many. */
static inline const char *digits_read(const char *at, uint64_t *number)
{
    const char *first = at;
    uint64_t value = 0;
    for (uint32_t digit; (digit = (uint32_t)(unsigned char)*at - '0') < 10; at++)
        value = value * 10 + digit;
    *number = value;
    if (__builtin_expect((size_t)(at - first) - 1 >= SAFE_DIGITS, 0)) /* none, too */
        return number_read(&first, UINT64_MAX, number) ? first : NULL;
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
    const struct log_property *const *column = reader->columns, *const *last = column + reader->column_count - 1;
    const char *at = reader->at;
    for (;; column++, at++) {
        at = *column ? digits_read(at, (uint64_t *)((char *)record + (*column)->offset)) : field_skip(at);
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
    if (reader->bytes.descriptor > STDERR_FILENO)
        close(reader->bytes.descriptor);
    ZSTD_freeDCtx(reader->bytes.unpacker);
    *reader = (struct log_reader){.bytes.descriptor = -1};
}
