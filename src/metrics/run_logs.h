/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * What a run keeps of every sampled packet that arrives, as far as it was asked for:
 * the packet log, the log of messages, and sums by pair of terminals.
 */
#include "metrics/log_columns.h"
#include "metrics/log_group.h"
#include "metrics/log_matrix.h"
#include "metrics/packet_log.h"

struct run_logs {
    struct packet_log *packets; /* owned; NULL: not asked for, as all below */
    struct csv_file *messages;  /* owned */
    struct csv_file *traffic;   /* owned */
    struct log_group group;     /* of packets into messages */
    struct log_columns columns; /* of messages */
    struct log_matrix matrix;
};

/* Opens those that have a name, with the extra columns of the packet log; false, with a message, when one cannot be written. */
bool run_logs_open(struct run_logs *logs, const char *packets, uint32_t extras, const char *messages,
                   const char *traffic, struct errors *errors);
void run_logs_add(struct run_logs *logs, const struct packet_record *record);
/* Puts the files in their places; false, with messages, when something could not be written. */
bool run_logs_commit(struct run_logs *logs, struct errors *errors);
/* Drops what was not committed and frees everything. */
void run_logs_release(struct run_logs *logs);
