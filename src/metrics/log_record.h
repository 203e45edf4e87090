/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * A record of a log: a packet, as a run writes it, or the packets of a message or of a
 * transaction put together. All three are one struct, so that filters and outputs do
 * not care. A property is a number of a record under a name of its own.
 */
#include "metrics/csv_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
