/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Who sent how much to whom, and how long it took: a cell for each pair of terminals that occurs. */
#include "base/table.h"
#include "metrics/csv_file.h"
#include "metrics/log_record.h"

struct log_matrix {
    struct table cells; /* by (source, destination) */
};

void log_matrix_init(struct log_matrix *matrix);
void log_matrix_release(struct log_matrix *matrix);
void log_matrix_add(struct log_matrix *matrix, const struct log_record *record);
/* A line for each cell, sorted by source and destination. */
void log_matrix_write(const struct log_matrix *matrix, struct csv_file *file);
