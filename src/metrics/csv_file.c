/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numbers -> digits in a buffer of 64 KiB -> zstd (or nothing) -> file. Lines are
 * formatted by hand, two digits at a time, since a long run logs hundreds of
 * millions of numbers. The compressor sees the text in pieces that depend on the
 * text alone and runs in this thread, which makes its output reproducible.
 * Failures to write stay in the stream and come out when the file is closed.
 */
#include "metrics/csv_file.h"

#include "base/need.h"
#include "base/text.h"
#include "flitwarp/arena.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define BUFFER_BYTES (64 * 1024)
#define NUMBER_BYTES 20 /* the digits of 2^64 - 1 */
#define COMPRESSION_LEVEL 3

struct csv_file {
    struct output_file output;
    ZSTD_CCtx *compressor; /* owned; NULL: plain text, or it rests */
    bool is_compressed;
    bool has_frame; /* that is not ended */
    size_t used;    /* of text */
    char text[BUFFER_BYTES];
    char compressed[BUFFER_BYTES];
};

static ZSTD_CCtx *compressor_create(void)
{
    ZSTD_CCtx *compressor = ZSTD_createCCtx();
    NEED(compressor, "out of memory for the compressor");
    ZSTD_CCtx_setParameter(compressor, ZSTD_c_compressionLevel, COMPRESSION_LEVEL);
    ZSTD_CCtx_setParameter(compressor, ZSTD_c_checksumFlag, 1);
    return compressor;
}

/* Passes the text on to the compressor; with ZSTD_e_end also everything that it holds. */
static void compress_text(struct csv_file *file, ZSTD_EndDirective directive)
{
    ZSTD_inBuffer in = {.src = file->text, .size = file->used};
    size_t left;
    do {
        ZSTD_outBuffer out = {.dst = file->compressed, .size = sizeof(file->compressed)};
        left = ZSTD_compressStream2(file->compressor, &out, &in, directive);
        NEED(!ZSTD_isError(left), "zstd: %s", ZSTD_getErrorName(left)); /* of memory */
        output_write(&file->output, file->compressed, out.pos);
    } while (directive == ZSTD_e_end ? left > 0 : in.pos < in.size);
}

static void csv_flush(struct csv_file *file, ZSTD_EndDirective directive)
{
    file->has_frame = directive != ZSTD_e_end;
    if (file->is_compressed)
        compress_text(file, directive);
    else
        output_write(&file->output, file->text, file->used);
    file->used = 0;
}

struct csv_file *csv_open(const char *name, struct errors *errors)
{
    struct output_file output;
    if (!output_open(&output, name, errors))
        return NULL;
    struct csv_file *file = memory_take(sizeof(*file));
    file->output = output;
    file->is_compressed = name_ends_with(name, ".zst");
    file->compressor = file->is_compressed ? compressor_create() : NULL;
    return file;
}

/* Where the next bytes go; there is room for them. */
static char *room_for(struct csv_file *file, size_t bytes)
{
    if (file->used > BUFFER_BYTES - bytes)
        csv_flush(file, ZSTD_e_continue);
    return file->text + file->used;
}

void csv_bytes(struct csv_file *file, const char *bytes, size_t count)
{
    while (count > 0) {
        size_t part = count < BUFFER_BYTES ? count : BUFFER_BYTES;
        memcpy(room_for(file, part), bytes, part);
        file->used += part;
        bytes += part;
        count -= part;
    }
}

void csv_text(struct csv_file *file, const char *text) { csv_bytes(file, text, strlen(text)); }

/* Writes the number and returns the end of it. */
static char *number_write(char *to, uint64_t number)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                                "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                                "8081828384858687888990919293949596979899";
    char digits[NUMBER_BYTES];
    char *first = digits + NUMBER_BYTES;
    for (; number >= 100; number /= 100) {
        first -= 2;
        memcpy(first, &pairs[number % 100 * 2], 2);
    }
    *--first = pairs[number * 2 + 1];
    if (number >= 10)
        *--first = pairs[number * 2];
    size_t length = (size_t)(digits + NUMBER_BYTES - first);
    memcpy(to, first, length);
    return to + length;
}

void csv_line(struct csv_file *file, const uint64_t *numbers, size_t count)
{
    char *at = room_for(file, count * (NUMBER_BYTES + 1));
    for (size_t i = 0; i < count; i++) {
        at = number_write(at, numbers[i]);
        *at++ = i + 1 < count ? ',' : '\n';
    }
    file->used = (size_t)(at - file->text);
}

void csv_number(struct csv_file *file, uint64_t number, char behind)
{
    char *at = number_write(room_for(file, NUMBER_BYTES + 1), number);
    *at++ = behind;
    file->used = (size_t)(at - file->text);
}

void csv_ratio(struct csv_file *file, unsigned __int128 sum, uint64_t count, char behind)
{
    if (count) {
        uint64_t whole = (uint64_t)(sum / count), rest = (uint64_t)(sum % count);
        uint64_t millionths = (uint64_t)(((unsigned __int128)rest * 1000000 + count / 2) / count);
        csv_number(file, whole + millionths / 1000000, '.');
        char digits[8];
        snprintf(digits, sizeof(digits), "%06u", (unsigned)(millionths % 1000000));
        csv_text(file, digits);
    }
    csv_bytes(file, &behind, 1);
}

bool csv_rest(struct csv_file *file, struct errors *errors)
{
    if (file->used || file->has_frame)
        csv_flush(file, ZSTD_e_end);
    output_rest(&file->output);
    ZSTD_freeCCtx(file->compressor);
    file->compressor = NULL;
    return csv_is_whole(file, errors);
}

bool csv_is_whole(struct csv_file *file, struct errors *errors) { return output_is_whole(&file->output, errors); }

bool csv_wake(struct csv_file *file, struct errors *errors)
{
    if (!output_wake(&file->output, errors))
        return false;
    file->compressor = file->is_compressed ? compressor_create() : NULL;
    return true;
}

bool csv_close(struct csv_file *file, struct errors *errors)
{
    csv_flush(file, ZSTD_e_end);
    bool is_good = output_commit(&file->output, errors);
    return csv_leave(file, errors) && is_good;
}

bool csv_discard(struct csv_file *file, struct errors *errors)
{
    output_discard(&file->output);
    return csv_leave(file, errors);
}

bool csv_leave(struct csv_file *file, struct errors *errors)
{
    (void)errors;
    output_leave(&file->output); /* nothing, where it is committed or discarded */
    ZSTD_freeCCtx(file->compressor);
    free(file);
    return true;
}

bool csv_all(struct csv_file *const *files, uint32_t count, csv_act *act, struct errors *errors)
{
    bool is_good = true;
    for (uint32_t i = 0; i < count; i++)
        is_good &= !files[i] || act(files[i], errors);
    return is_good;
}

bool csv_can_rest(const struct csv_file *file) { return file->output.temporary; }

bool csv_name_is_valid(const char *name) { return name_ends_with(name, ".csv") || name_ends_with(name, ".csv.zst"); }
