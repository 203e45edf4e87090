/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Logs of packets: what a record is, how records are put together and summed up, and the logs that a run writes. */
#include "base/table.h"
#include "metrics/csv_file.h"
#include "config/json.h"
#include "flitwarp/error.h"
#include "metrics/statistics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * A record of a log: a packet, as a run writes it, or the packets of a message or of a
 * transaction put together. All three are one struct, so that filters and outputs do
 * not care. A property is a number of a record under a name of its own.
 */
enum log_unit { LOG_PACKETS, LOG_MESSAGES, LOG_TRANSACTIONS };
#define LOG_ALL_UNITS (1u << LOG_PACKETS | 1u << LOG_MESSAGES | 1u << LOG_TRANSACTIONS)

struct log_record {
    /* Columns of the packet log: (source, packet) names a packet, (source, message) a message. */
    uint64_t application, source, destination; /* of a transaction: its earliest message's */
    uint64_t packet, message;                  /* the source's own counts */
    uint64_t message_flits;
    uint64_t initiator, transaction, transaction_messages; /* (initiator, transaction) names a transaction */
    uint64_t flits;
    uint64_t hops, minimal_hops; /* of several packets: the largest */
    uint64_t created, injected;  /* ticks; the earliest */
    uint64_t head_arrived;       /* of a packet */
    uint64_t arrived;            /* tick of the last tail */
    uint64_t plane, class;       /* where the log has them */
    /* What follows from them. */
    uint64_t packets, messages;
    uint64_t is_nonminimal; /* any packet */
    uint64_t latency, network_latency;
};

/* Which packet logs have a column. */
enum log_need {
    LOG_REQUIRED,
    LOG_OPTIONAL,
    LOG_TOGETHER, /* all of them or none */
    LOG_EXTRA,    /* those of runs that have several */
    LOG_NOT_READ, /* written alone */
};

struct log_property {
    const char *column; /* in a CSV of records, and another name for filters */
    size_t offset;      /* in a record */
    uint32_t units;     /* mask: in which it means something */
    enum log_need need; /* of a packet log's column */
    const char *name, *help;
    const char *alias; /* NULL: none */
    bool is_claim;     /* 0 or 1, takes no values in a filter */
};

/* The column is NULL at the end: what filters know, and the columns of a packet log, which have no other names. */
extern const struct log_property log_properties[], packet_log_columns[];

static inline uint64_t log_value(const struct log_record *record, const struct log_property *property)
{
    return *(const uint64_t *)((const char *)record + property->offset);
}

/* By its name, alias or column; NULL when there is none. */
const struct log_property *log_property_find(const char *name);
/* "packets", or "packet" for one. */
const char *log_unit_name(enum log_unit unit, uint64_t count);

/* Fills in the latencies from the times. */
static inline void log_record_derive(struct log_record *record)
{
    record->latency = record->arrived - record->created;
    record->network_latency = record->arrived - record->injected;
}

/* Fills in all that follows from the columns of a packet. */
static inline void log_record_of_packet(struct log_record *record)
{
    record->packets = 1;
    record->messages = 0;
    record->is_nonminimal = record->hops > record->minimal_hops;
    log_record_derive(record);
}

/* The properties of records that stand in a CSV file, in their order. */
#define LOG_RECORD_COLUMNS 32

struct log_columns {
    const struct log_property *properties[LOG_RECORD_COLUMNS];
    uint32_t count;
};

/* Adds all properties of a list that mean something for a unit. */
void log_columns_add(struct log_columns *columns, const struct log_property *list, enum log_unit unit);
void log_columns_leave_out(struct log_columns *columns, const char *column);
void log_columns_header(const struct log_columns *columns, struct csv_file *file);
void log_columns_line(const struct log_columns *columns, struct csv_file *file, const struct log_record *record);

/*
 * From packets to messages to transactions. The packets of a message share
 * application, source and message number; it is complete when its flits are there.
 * The messages of a transaction share initiator and transaction number; it is
 * complete when as many are there as the log says, and where the log does not say,
 * at its end. Only what is not complete is kept in memory.
 */
struct log_group {
    enum log_unit unit;
    bool has_transactions;     /* in the log; otherwise each message is one */
    struct table messages;     /* struct log_record: those with flits missing */
    struct table transactions; /* struct log_record: those with messages missing or of unknown number */
    struct log_record result;
    /* After the end of the log. */
    uint64_t incomplete;         /* units that lack something */
    uint64_t incomplete_packets; /* packets in them */
    void **left;                 /* owned: transactions, by key */
    uint32_t left_count, left_at;
};

enum log_grouped {
    LOG_OPEN,     /* something is missing yet */
    LOG_COMPLETE, /* the packet completes the unit that is now in `result` */
    LOG_WRONG,    /* the packet contradicts others of its message */
};

void log_group_init(struct log_group *group, enum log_unit unit, bool has_transactions);
void log_group_release(struct log_group *group);
enum log_grouped log_group_add(struct log_group *group, const struct log_record *packet);
/* The log has ended: counts what is incomplete. */
void log_group_end(struct log_group *group);
/* The next transaction that is complete because the log has ended, in `result`; false when there are no more. */
bool log_group_next(struct log_group *group);

/*
 * Records summed up. By pair: who sent how much to whom, and how long it took, a cell for each pair of terminals that
 * occurs. Over time: an interval for each stretch of ticks in which records were created, with a small histogram of
 * their latencies. Memory follows the pairs and the intervals, not the records.
 */

/* By (source, destination). */
void log_matrix_init(struct table *matrix);
void log_matrix_add(struct table *matrix, const struct log_record *record);
/* A line for each cell, sorted by source and destination. */
void log_matrix_write(const struct table *matrix, struct csv_file *file);

#define LOG_SERIES_MAX 10000000 /* lines in a file */

struct log_series {
    uint64_t length;        /* of an interval, in ticks */
    struct table intervals; /* by created / length */
    uint64_t first, last;   /* of the intervals */
};

void log_series_init(struct log_series *series, uint64_t length);
void log_series_release(struct log_series *series);
/* False when the record would make the series longer than LOG_SERIES_MAX. */
bool log_series_add(struct log_series *series, const struct log_record *record);
/* A line for each interval from the first to the last, those without records too: a gap in time is a fact. */
void log_series_write(const struct log_series *series, struct csv_file *file);

/*
 * The logs of a run, as far as they were asked for. What is kept of every sampled packet that arrives goes into the
 * packet log, the log of messages and sums by pair of terminals; rates and channels are written at the end.
 */
enum run_log { RUN_LOG_PACKETS, RUN_LOG_MESSAGES, RUN_LOG_TRAFFIC, RUN_LOG_RATES, RUN_LOG_CHANNELS, RUN_LOG_KINDS };

struct run_logs {
    struct csv_file *files[RUN_LOG_KINDS];     /* owned; NULL: not asked for */
    struct log_columns columns[RUN_LOG_KINDS]; /* of those that have a line for each packet or message */
    struct log_group group;                    /* of packets into messages */
    struct table matrix;                       /* log_matrix_add() */
};

/* Opens those that have a name; false, with a message, when one cannot be written. */
bool run_logs_open(struct run_logs *logs, const char *const names[RUN_LOG_KINDS], bool has_planes, bool has_classes,
                   struct errors *errors);
/* A sampled packet with the columns of the packet log; what follows from them is filled in. */
void run_logs_add(struct run_logs *logs, struct log_record *packet);
/* The last that is done with the files, csv_close or csv_discard or csv_leave; frees everything. */
bool run_logs_end(struct run_logs *logs, csv_act *act, struct errors *errors);

/* ---- what `flitwarp parse` does with a log: read it, choose records, summarise them, write files ---- */

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
