/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes -> whole lines in a buffer -> numbers in a record. Bytes are read in pieces, and compressed ones unpacked;
 * several frames in a row, as `cat a.zst b.zst` or pzstd make, are one text. Every line in [at, end) ends with a
 * newline, which is no digit: so numbers are read without looking for the end of the buffer. A line that is not right
 * is looked at again, slowly, for the message (log_header.c).
 */
#include "metrics/log_parse.h"

#include "base/need.h"
#include "base/text.h"
#include "flitwarp/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#define RAW_BYTES ((size_t)128 * 1024)
#define MAGIC_BYTES 4
#define BUFFER_BYTES ((size_t)1 << 20)
#define SAFE_DIGITS 19 /* no number of so many exceeds 64 bits */

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
    bytes->raw = memory_take(RAW_BYTES);
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
    free(reader->bytes.raw);
    free(reader->buffer);
    free(reader->columns);
    free(reader->header);
    *reader = (struct log_reader){.bytes.descriptor = -1};
}
