/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The packet log: a line of CSV for each packet, compressed with zstd as it is
 * written when the name ends in .csv.zst. The same packets in the same order give
 * the same bytes. The file appears under its name when the log is closed, whole.
 */
#include "flitwarp/error.h"

#include <stdbool.h>
#include <stdint.h>

struct packet_log;

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
/* NULL, with a message, when the file cannot be written. The name is valid. */
struct packet_log *packet_log_open(const char *name, uint32_t extras, struct errors *errors);
void packet_log_add(struct packet_log *log, const struct packet_record *record);
/* Puts the finished file in its place; false, with a message, when something could not be written. Frees the log. */
bool packet_log_close(struct packet_log *log, struct errors *errors);
/* The file that it writes, borrowed. */
struct csv_file *packet_log_file(struct packet_log *log);
/* Leaves what was written beside its place, for another process to go on with, and frees the log. */
void packet_log_leave(struct packet_log *log);
/* Drops what was written and frees the log. */
void packet_log_discard(struct packet_log *log);
