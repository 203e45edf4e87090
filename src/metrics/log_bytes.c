/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plain text goes from the file into the reader's buffer at once, but for the first
 * piece, which was read to see what it is. Compressed text takes the way through
 * `raw`; several frames in a row, as `cat a.zst b.zst` or pzstd make, are one text.
 */
#include "metrics/log_bytes.h"

#include "base/need.h"
#include "flitwarp/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#define RAW_BYTES ((size_t)128 * 1024)
#define MAGIC_BYTES 4

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

bool log_bytes_open(struct log_bytes *bytes, const char *path, struct errors *errors)
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

static bool read_plain(struct log_bytes *bytes, char *to, size_t room, size_t *count, struct errors *errors)
{
    size_t held = bytes->raw_end - bytes->raw_at;
    size_t filled = held < room ? held : room;
    memcpy(to, bytes->raw + bytes->raw_at, filled);
    bytes->raw_at += filled;
    while (filled < room && !bytes->has_ended) {
        size_t more;
        if (!read_raw(bytes, to + filled, room - filled, &more, errors))
            return false;
        filled += more;
    }
    *count = filled;
    return true;
}

/* Unpacks until the room is full or more must be read. */
static bool unpack(struct log_bytes *bytes, ZSTD_outBuffer *out, struct errors *errors)
{
    ZSTD_inBuffer in = {.src = bytes->raw, .size = bytes->raw_end, .pos = bytes->raw_at};
    do {
        size_t left = ZSTD_decompressStream(bytes->unpacker, out, &in);
        if (ZSTD_isError(left)) {
            bytes->has_failed = true;
            errors_add(errors, "cannot unpack '%s': zstd says '%s'", bytes->name, ZSTD_getErrorName(left));
            return false;
        }
        bytes->is_inside = left > 0;
    } while (in.pos < in.size && out->pos < out->size);
    bytes->raw_at = in.pos;
    return true;
}

/* The unpacker may hold text after the last of the file: it is asked until it gives nothing more. */
static bool read_packed(struct log_bytes *bytes, char *to, size_t room, size_t *count, struct errors *errors)
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
        if (!unpack(bytes, &out, errors))
            return false;
        if (is_dry && out.pos == before)
            return failed(bytes, errors, "its compressed data end too early, the file is cut off");
    }
    *count = out.pos;
    return true;
}

bool log_bytes_read(struct log_bytes *bytes, char *to, size_t room, size_t *count, struct errors *errors)
{
    return bytes->unpacker ? read_packed(bytes, to, room, count, errors) : read_plain(bytes, to, room, count, errors);
}

void log_bytes_close(struct log_bytes *bytes)
{
    if (bytes->descriptor > STDERR_FILENO)
        close(bytes->descriptor);
    ZSTD_freeDCtx(bytes->unpacker);
    free(bytes->raw);
    *bytes = (struct log_bytes){.descriptor = -1};
}
