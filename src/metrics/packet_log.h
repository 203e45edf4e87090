/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The packet log: a line of CSV for each packet, compressed with zstd as it is
 * written when the name ends in .csv.zst. The same packets in the same order give
 * the same bytes.
 */
#include "metrics/csv_file.h"

/*
 * The columns of every log, in the order of the fields. (source, packet) names a packet,
 * (source, message) a message, (initiator, transaction) a transaction.
 */
#define PACKET_LOG_HEADER                                                                                              \
    "application,source,destination,packet,message,message_flits,packet_flits,hops,minimal_hops,"                      \
    "created,injected,head_arrived,tail_arrived,initiator,transaction,transaction_messages"

struct packet_record {
    uint64_t application;
    uint64_t source;
    uint64_t destination;
    uint64_t packet; /* the source's own count */
    uint64_t message;
    uint64_t message_flits;
    uint64_t packet_flits;
    uint64_t hops;
    uint64_t minimal_hops;
    uint64_t created; /* ticks, as all below */
    uint64_t injected;
    uint64_t head_arrived;
    uint64_t tail_arrived;
    uint64_t initiator; /* terminal that began the transaction */
    uint64_t transaction;
    uint64_t transaction_messages; /* that belong to it */
    /* Columns only where there are several. */
    uint64_t plane;
    uint64_t class;
};

/* Columns that not every log has; a set of these. */
enum packet_log_extra { PACKET_LOG_PLANE = 1, PACKET_LOG_CLASS = 2 };

/* Whether the name ends in .csv or .csv.zst. */
bool packet_log_name_is_valid(const char *name);
/* The first line, with a set of enum packet_log_extra; and one for each packet. */
void packet_log_begin(struct csv_file *file, uint32_t extras);
void packet_log_add(struct csv_file *file, uint32_t extras, const struct packet_record *record);
