/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The logs of a run, as far as they were asked for. What is kept of every sampled packet that arrives goes into the
 * packet log, the log of messages and sums by pair of terminals; rates and channels are written at the end.
 */
#include "metrics/log_group.h"
#include "metrics/log_tables.h"

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
