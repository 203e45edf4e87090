/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record -> digits in a buffer of 64 KiB -> zstd (or nothing) -> file. Lines are
 * formatted by hand, two digits at a time, since a long run logs hundreds of
 * millions of numbers. The compressor sees the text in pieces that depend on the
 * text alone and runs in this thread, which makes its output reproducible.
 * Failures to write stay in the stream and come out when the log is closed.
 */
#include "metrics/packet_log.h"

#include "base/text.h"
#include "flitwarp/arena.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define BUFFER_BYTES (64 * 1024)
#define NUMBER_BYTES 20 /* the digits of 2^64 - 1 */
#define FIELDS (sizeof(struct packet_record) / sizeof(uint64_t))
#define LINE_BYTES (FIELDS * (NUMBER_BYTES + 1))
#define COMPRESSION_LEVEL 3

struct packet_log {
    struct output_file output;
    ZSTD_CCtx *compressor; /* owned; NULL: plain text */
    size_t used;           /* of text */
    char text[BUFFER_BYTES];
    char compressed[BUFFER_BYTES];
};

static bool ends_with(const char *name, const char *ending)
{
    size_t length = strlen(name), tail = strlen(ending);
    return length > tail && memcmp(name + length - tail, ending, tail) == 0;
}

bool packet_log_name_is_valid(const char *name) { return ends_with(name, ".csv") || ends_with(name, ".csv.zst"); }

static ZSTD_CCtx *compressor_create(void)
{
    ZSTD_CCtx *compressor = ZSTD_createCCtx();
    CHECK(compressor, "no memory for the compressor");
    ZSTD_CCtx_setParameter(compressor, ZSTD_c_compressionLevel, COMPRESSION_LEVEL);
    ZSTD_CCtx_setParameter(compressor, ZSTD_c_checksumFlag, 1);
    return compressor;
}

/* Passes the text on to the compressor; with ZSTD_e_end also everything that it holds. */
static void compress_text(struct packet_log *log, ZSTD_EndDirective directive)
{
    ZSTD_inBuffer in = {.src = log->text, .size = log->used};
    size_t left;
    do {
        ZSTD_outBuffer out = {.dst = log->compressed, .size = sizeof(log->compressed)};
        left = ZSTD_compressStream2(log->compressor, &out, &in, directive);
        CHECK(!ZSTD_isError(left), "zstd: %s", ZSTD_getErrorName(left));
        fwrite(log->compressed, 1, out.pos, log->output.stream);
    } while (directive == ZSTD_e_end ? left > 0 : in.pos < in.size);
}

static void write_text(struct packet_log *log, ZSTD_EndDirective directive)
{
    if (log->compressor)
        compress_text(log, directive);
    else
        fwrite(log->text, 1, log->used, log->output.stream);
    log->used = 0;
}

struct packet_log *packet_log_open(const char *name, struct errors *errors)
{
    struct output_file output;
    if (!output_open(&output, name, errors))
        return NULL;
    struct packet_log *log = memory_take(sizeof(*log));
    log->output = output;
    log->compressor = ends_with(name, ".zst") ? compressor_create() : NULL;
    log->used = strlen(PACKET_LOG_HEADER);
    memcpy(log->text, PACKET_LOG_HEADER, log->used);
    return log;
}

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

void packet_log_add(struct packet_log *log, const struct packet_record *record)
{
    uint64_t fields[FIELDS];
    memcpy(fields, record, sizeof(fields));
    char *at = log->text + log->used;
    for (size_t i = 0; i < FIELDS; i++) {
        at = number_write(at, fields[i]);
        *at++ = i + 1 < FIELDS ? ',' : '\n';
    }
    log->used = (size_t)(at - log->text);
    if (log->used > BUFFER_BYTES - LINE_BYTES)
        write_text(log, ZSTD_e_continue);
}

static void release(struct packet_log *log)
{
    ZSTD_freeCCtx(log->compressor);
    free(log);
}

bool packet_log_close(struct packet_log *log, struct errors *errors)
{
    write_text(log, ZSTD_e_end);
    bool is_good = output_commit(&log->output, errors);
    release(log);
    return is_good;
}

void packet_log_discard(struct packet_log *log)
{
    output_discard(&log->output);
    release(log);
}
