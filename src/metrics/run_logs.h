/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The logs of a run, as far as they were asked for. What is kept of every sampled packet that arrives goes into the
 * packet log, the log of messages and sums by pair of terminals; rates and channels are written at the end.
 */
#include "metrics/log_group.h"
#include "metrics/log_tables.h"
#include "metrics/packet_log.h"

enum run_log { RUN_LOG_PACKETS, RUN_LOG_MESSAGES, RUN_LOG_TRAFFIC, RUN_LOG_RATES, RUN_LOG_CHANNELS, RUN_LOG_KINDS };

struct run_logs {
    struct csv_file *files[RUN_LOG_KINDS]; /* owned; NULL: not asked for */
    uint32_t extras;                       /* columns of the packet log */
    struct log_group group;                /* of packets into messages */
    struct log_columns columns;            /* of messages */
    struct log_matrix matrix;
};

/* Opens those that have a name, with the extra columns of the packet log; false, with a message, when one cannot be written. */
bool run_logs_open(struct run_logs *logs, const char *const names[RUN_LOG_KINDS], uint32_t extras,
                   struct errors *errors);
void run_logs_add(struct run_logs *logs, const struct packet_record *record);
/* Puts the files in their places; false, with messages, when something could not be written. */
bool run_logs_commit(struct run_logs *logs, struct errors *errors);
/* Drops what was not committed and frees everything. */
void run_logs_release(struct run_logs *logs);
