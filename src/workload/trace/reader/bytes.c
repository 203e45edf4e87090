/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of a file, see bytes.h. What is compressed goes through a window: as much as
 * fits is undone at a time, so that files of any size take little memory. Several
 * compressed streams may stand one behind the other, as parallel compressors write them.
 */
#include "workload/trace/reader/bytes.h"

#include <stdlib.h>
#include <string.h>

#ifdef FLITWARP_HAVE_BZIP2
#include <bzlib.h>
#endif

#define WINDOW ((size_t)256 << 10)

struct byte_stream {
    const struct trace_source *source;
    const unsigned char *window; /* what has come out; without compression the file */
    size_t size, at;             /* of the window */
    uint64_t before;             /* bytes that came out before the window */
    unsigned char *undone;       /* owned: room for the window; NULL: not compressed */
    const char *fault;           /* NULL: none so far */
#ifdef FLITWARP_HAVE_BZIP2
    bz_stream bzip2;
    size_t taken; /* of the file */
    bool is_in_stream;
#endif
};

bool is_bzip2(const struct trace_source *source)
{
    const unsigned char *head = source->bytes;
    return source->size >= 4 && memcmp(head, "BZh", 3) == 0 && head[3] >= '1' && head[3] <= '9';
}

#ifdef FLITWARP_HAVE_BZIP2
/* Takes of the file what the library can count. */
static int undo_some(struct byte_stream *stream)
{
    size_t left = stream->source->size - stream->taken;
    unsigned given = left < WINDOW ? (unsigned)left : (unsigned)WINDOW;
    stream->bzip2.next_in = (char *)(uintptr_t)stream->source->bytes + stream->taken;
    stream->bzip2.avail_in = given;
    int status = BZ2_bzDecompress(&stream->bzip2);
    stream->taken += given - stream->bzip2.avail_in;
    return status;
}

static void end_stream(struct byte_stream *stream)
{
    if (stream->is_in_stream)
        BZ2_bzDecompressEnd(&stream->bzip2);
    stream->is_in_stream = false;
}

/* Fills the window; it stays empty at the end of the file and at a fault. */
static void refill(struct byte_stream *stream)
{
    stream->before += stream->size;
    stream->size = stream->at = 0;
    while (stream->size < WINDOW && !stream->fault) {
        bool has_more = stream->taken < stream->source->size;
        if (!stream->is_in_stream) {
            if (!has_more)
                break;
            stream->bzip2 = (bz_stream){0};
            FW_CHECK(BZ2_bzDecompressInit(&stream->bzip2, 0, 0) == BZ_OK, "bzip2 refuses to begin");
            stream->is_in_stream = true;
        }
        stream->bzip2.next_out = (char *)stream->undone + stream->size;
        stream->bzip2.avail_out = (unsigned)(WINDOW - stream->size);
        int status = undo_some(stream);
        size_t filled = WINDOW - stream->bzip2.avail_out;
        if (status == BZ_STREAM_END)
            end_stream(stream);
        else if (status != BZ_OK)
            stream->fault = "is damaged";
        else if (!has_more && filled == stream->size)
            stream->fault = "is cut short";
        stream->size = filled;
    }
    trace_source_done(stream->source, stream->taken);
}
#else
static void end_stream(struct byte_stream *stream) { (void)stream; }
static void refill(struct byte_stream *stream) { (void)stream; }
#endif

struct byte_stream *byte_stream_open(const struct trace_source *source, struct errors *errors)
{
    struct byte_stream *stream = memory_take(sizeof *stream);
    *stream = (struct byte_stream){.source = source, .window = source->bytes, .size = source->size};
    if (!is_bzip2(source))
        return stream;
#ifdef FLITWARP_HAVE_BZIP2
    (void)errors;
    stream->window = stream->undone = memory_take(WINDOW);
    stream->size = 0;
    return stream;
#else
    free(stream);
    errors_add(errors,
               "%s: the file is compressed by bzip2, which this program was built without; accepted: the file after "
               "bunzip2, or a program that was built with libbz2-dev installed",
               source->path);
    return NULL;
#endif
}

void byte_stream_close(struct byte_stream *stream)
{
    end_stream(stream);
    free(stream->undone);
    free(stream);
}

uint64_t byte_stream_offset(const struct byte_stream *stream) { return stream->before + stream->at; }

/* Makes sure that something is in the window; false: there is no more, by a fault or because it is the end. */
static bool has_bytes(struct byte_stream *stream)
{
    if (stream->at == stream->size && stream->undone)
        refill(stream);
    return stream->at < stream->size;
}

bool byte_stream_read(struct byte_stream *stream, void *bytes, size_t size, struct errors *errors)
{
    for (size_t filled = 0; filled < size;) {
        if (!has_bytes(stream))
            return errors_add(errors, "%s: offset %llu: the file %s where %zu bytes more are due", stream->source->path,
                              (unsigned long long)byte_stream_offset(stream), stream->fault ? stream->fault : "ends",
                              size - filled);
        size_t here = stream->size - stream->at, part = size - filled < here ? size - filled : here;
        memcpy((unsigned char *)bytes + filled, stream->window + stream->at, part);
        stream->at += part;
        filled += part;
    }
    return true;
}

bool byte_stream_end(struct byte_stream *stream, struct errors *errors)
{
    const char *fault = has_bytes(stream) ? "goes on" : stream->fault;
    return !fault || errors_add(errors, "%s: offset %llu: the file %s where it should end", stream->source->path,
                                (unsigned long long)byte_stream_offset(stream), fault);
}
