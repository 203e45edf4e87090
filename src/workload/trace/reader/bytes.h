/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* The bytes of a file from beginning to end, as they are or compressed by bzip2. */
#include "workload/trace/trace.h"

struct byte_stream;

/* NULL, with an error, where the file is compressed and this program was built without what would undo it. */
struct byte_stream *byte_stream_open(const struct trace_source *source, struct errors *errors);
void byte_stream_close(struct byte_stream *stream);

/* Of the next byte, counted in what comes out. */
uint64_t byte_stream_offset(const struct byte_stream *stream);
/* So many bytes more; false, with an error, where the file ends before them or what is compressed is damaged. */
bool byte_stream_read(struct byte_stream *stream, void *bytes, size_t size, struct errors *errors);
/* False, with an error, where the file goes on, or where its end is damaged. */
bool byte_stream_end(struct byte_stream *stream, struct errors *errors);

/* Whether a file is compressed by bzip2. */
bool is_bzip2(const struct trace_source *source);
