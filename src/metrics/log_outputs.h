/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The CSV files that `flitwarp parse` writes in one pass over a log: the records
 * that were kept, the distribution of latency, the matrix of pairs, the time series.
 * They appear when all of them are whole.
 */
#include "flitwarp/error.h"

#include "metrics/log_reader.h"
#include "metrics/log_summary.h"
#include "metrics/log_tables.h"

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
