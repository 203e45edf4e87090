/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* What `flitwarp parse` does with a log: read it, choose records, summarise them, write files. */
#include "config/json.h"
#include "flitwarp/error.h"
#include "metrics/statistics.h"
#include "metrics/log.h"

#include <stdio.h>

/*
 * Reads a packet log, record by record, without keeping more of it than a buffer.
 * Columns are found by the names in the header: their order does not matter, and
 * columns that nobody knows are passed over. A line that is not right is an error
 * with its place, never skipped.
 */
/* The text of a log: a file or standard input ("-"), plain or compressed with zstd, which its first bytes tell. */
struct ZSTD_DCtx_s;

struct log_bytes {
    const char *name; /* how messages call it; borrowed */
    int descriptor;
    struct ZSTD_DCtx_s *unpacker; /* owned; NULL: plain text */
    char *raw;                    /* read and not yet passed on */
    size_t raw_at, raw_end;
    bool is_inside; /* a compressed frame that has not ended */
    bool has_ended;
    bool has_failed; /* reading did, as opposed to what was read */
};

struct log_reader {
    struct log_bytes bytes;
    char *buffer;
    const char *at;                      /* the next line */
    const char *end;                     /* of the last whole line in the buffer */
    const char *filled;                  /* of what was read */
    const struct log_property **columns; /* what each field of a line is, of packet_log_columns; NULL: passed over */
    uint32_t column_count;
    uint32_t known;       /* mask of packet_log_columns: those that are there */
    uint64_t line_number; /* of the line read last */
    const char *line;     /* the line read last, without its end; valid until the next */
    size_t line_length;
    char *header; /* the first line */
};

/* Reads the header, with memory of the errors' arena; false, with a message, when this is no packet log. */
bool log_reader_open(struct log_reader *reader, const char *path, struct errors *errors);
/* False at the end of the log, or, with a message, when it cannot be read on. */
bool log_reader_next(struct log_reader *reader, struct log_record *record, struct errors *errors);
/* Whether the log has what a property needs. */
bool log_reader_has(const struct log_reader *reader, const struct log_property *property);
/* Whether packets know their transactions; otherwise each message is one. */
bool log_reader_has_transactions(const struct log_reader *reader);
/* Harmless after a failed open. */
void log_reader_close(struct log_reader *reader);

/*
 * Which records of a log to look at. `+src=3,5-7` keeps the records whose source is
 * in the list, `-src=3,5-7` drops them; a record must pass all filters. While no
 * record has passed, every filter is asked about every record, so that it can be
 * said afterwards which of them let nothing through and what the log has instead.
 */
/* Both ends are included. */
struct log_range {
    uint64_t low, high;
};

struct log_filter {
    const char *text; /* as it was written */
    const struct log_property *property;
    bool keeps;               /* what is in the ranges; else drops it */
    struct log_range *ranges; /* rising, apart from each other */
    uint32_t count;
    /* Of all records, while none has passed all filters. */
    uint64_t passed;
    struct log_range seen;
};

struct log_filters {
    struct log_filter *list; /* in the arena of the errors of those who add them, as their ranges are */
    uint32_t count;
    uint64_t records; /* that were asked about */
    uint64_t kept;
};

/* Adds a filter from the command line; false, with a message, when it is none. The text is borrowed. */
bool log_filters_add(struct log_filters *filters, const char *text, struct errors *errors);
/* Asks about a record before any was kept. */
bool log_filters_keep_first(struct log_filters *filters, const struct log_record *record);
/* Says why nothing was kept. */
void log_filters_explain(const struct log_filters *filters, enum log_unit unit, struct errors *errors);

static inline bool log_filter_passes(const struct log_filter *filter, const struct log_record *record)
{
    uint64_t value = log_value(record, filter->property);
    uint32_t low = 0, high = filter->count; /* the first range that does not end before the value */
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (filter->ranges[middle].high < value)
            low = middle + 1;
        else
            high = middle;
    }
    bool is_in = low < filter->count && filter->ranges[low].low <= value;
    return is_in == filter->keeps;
}

/* Whether the record passes all filters. */
static inline bool log_filters_keep(struct log_filters *filters, const struct log_record *record)
{
    filters->records++;
    if (__builtin_expect(filters->kept == 0, 0))
        return log_filters_keep_first(filters, record);
    for (uint32_t i = 0; i < filters->count; i++)
        if (!log_filter_passes(&filters->list[i], record))
            return false;
    filters->kept++;
    return true;
}

/*
 * What a log comes to: counts, the time that the records span, and the distribution
 * of each property that has one. Mean, minimum and maximum are exact; percentiles
 * are the histogram's, exact below 256 and within 0.4 % above.
 */
/* The distribution of one property. */
struct log_spread {
    struct histogram histogram;
    uint64_t pivot; /* the first value; squares are taken from here, so that large values do not swallow small ones */
    double squares; /* sum of the squares of value - pivot */
};

/* The first is that of latencies. */
enum { LOG_LATENCY, LOG_SPREADS = 7 };

struct log_summary {
    enum log_unit unit;
    uint64_t packets_read;
    uint64_t read; /* complete units */
    uint64_t incomplete, incomplete_packets;
    uint64_t kept;
    uint64_t flits;
    uint64_t nonminimal;
    uint64_t first_created, last_arrived;
    struct log_spread *spreads; /* LOG_SPREADS of them, those of the unit first */
};

void log_summary_init(struct log_summary *summary, enum log_unit unit, struct arena *arena);
/* A record that passed the filters. */
void log_summary_add(struct log_summary *summary, const struct log_record *record);

/* All of it, with the name of the log and the filters as they were written. */
struct json *log_summary_json(const struct log_summary *summary, const char *log, struct json *filters,
                              struct arena *arena);
/* A page for people, from what log_summary_json gave. */
void log_summary_print(const struct log_summary *summary, const struct json *document, FILE *out);

/*
 * The CSV files that `flitwarp parse` writes in one pass over a log: the records
 * that were kept, the distribution of latency, the matrix of pairs, the time series.
 * They appear when all of them are whole.
 */
enum log_output { LOG_RECORDS, LOG_DISTRIBUTION, LOG_MATRIX, LOG_SERIES, LOG_OUTPUTS };

struct log_outputs {
    struct csv_file *files[LOG_OUTPUTS]; /* owned; NULL: not asked for */
    enum log_unit unit;
    struct log_columns columns; /* of messages and transactions */
    struct table matrix;        /* log_matrix_add() */
    struct log_series series;
};

/* Opens the files that have a name; `interval` is the series'. False, with a message, when one cannot be written. */
bool log_outputs_open(struct log_outputs *outputs, const char *const names[LOG_OUTPUTS], uint64_t interval,
                      enum log_unit unit, const struct log_reader *reader, struct errors *errors);
/* A record that passed the filters; a packet is the one that the reader read last. */
bool log_outputs_add(struct log_outputs *outputs, const struct log_record *record, const struct log_reader *reader,
                     struct errors *errors);
/* Writes what was gathered and puts the files in their places; false, with a message, when something failed. */
bool log_outputs_commit(struct log_outputs *outputs, const struct log_summary *summary, struct errors *errors);
/* Drops what is not committed and frees everything. */
void log_outputs_release(struct log_outputs *outputs);
