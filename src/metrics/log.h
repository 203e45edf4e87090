/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Logs of packets: what a record is, how records are put together and summed up, and the logs that a run writes. */
#include "base/table.h"
#include "metrics/csv_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    struct table buckets;   /* of their latencies: by interval and bucket, how often */
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
