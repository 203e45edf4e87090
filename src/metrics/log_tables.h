/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Records summed up. By pair: who sent how much to whom, and how long it took, a cell for each pair of terminals that
 * occurs. Over time: an interval for each stretch of ticks in which records were created, with a small histogram of
 * their latencies. Memory follows the pairs and the intervals, not the records.
 */
#include "base/table.h"
#include "metrics/log_record.h"

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
