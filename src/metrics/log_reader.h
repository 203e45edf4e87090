/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Reads a packet log, record by record, without keeping more of it than a buffer.
 * Columns are found by the names in the header: their order does not matter, and
 * columns that nobody knows are passed over. A line that is not right is an error
 * with its place, never skipped.
 */
#include "flitwarp/error.h"

#include "metrics/log_record.h"

/* The text of a log: a file or standard input ("-"), plain or compressed with zstd, which its first bytes tell. */
struct ZSTD_DCtx_s;

struct log_bytes {
    const char *name; /* how messages call it; borrowed */
    int descriptor;
    struct ZSTD_DCtx_s *unpacker; /* owned; NULL: plain text */
    char *raw;                    /* owned: read and not yet passed on */
    size_t raw_at, raw_end;
    bool is_inside; /* a compressed frame that has not ended */
    bool has_ended;
    bool has_failed; /* reading did, as opposed to what was read */
};

struct log_reader {
    struct log_bytes bytes;
    char *buffer;       /* owned */
    const char *at;     /* the next line */
    const char *end;    /* of the last whole line in the buffer */
    const char *filled; /* of what was read */
    const struct log_property *
        *columns; /* owned: what each field of a line is, of packet_log_columns; NULL: passed over */
    uint32_t column_count;
    uint32_t known;       /* mask of packet_log_columns: those that are there */
    uint64_t line_number; /* of the line read last */
    const char *line;     /* the line read last, without its end; valid until the next */
    size_t line_length;
    char *header; /* owned: the first line */
};

/* Reads the header; false, with a message, when this is no packet log. */
bool log_reader_open(struct log_reader *reader, const char *path, struct errors *errors);
/* False at the end of the log, or, with a message, when it cannot be read on. */
bool log_reader_next(struct log_reader *reader, struct log_record *record, struct errors *errors);
/* Whether the log has what a property needs. */
bool log_reader_has(const struct log_reader *reader, const struct log_property *property);
/* Whether packets know their transactions; otherwise each message is one. */
bool log_reader_has_transactions(const struct log_reader *reader);
/* Harmless after a failed open. */
void log_reader_close(struct log_reader *reader);

/* ---- log_header.c, for log_reader.c ---- */

/* Fills in the columns of the reader from the first line; false, with a message, when it is no header of a log. */
bool log_header_read(struct log_reader *reader, const char *line, size_t length, struct errors *errors);
/* Says what is wrong with the fields of the line that begins at `at` and ends with a newline. */
void log_line_report(const struct log_reader *reader, const char *at, struct errors *errors);
/* Says that the numbers of the line read last do not fit together. */
void log_record_report(const struct log_reader *reader, const struct log_record *record, struct errors *errors);
