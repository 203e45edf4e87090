/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* The properties of records that stand in a CSV file, in their order. */
#include "metrics/csv_file.h"
#include "metrics/log_record.h"

#define LOG_RECORD_COLUMNS 32

struct log_columns {
    const struct log_property *properties[LOG_RECORD_COLUMNS];
    uint32_t count;
};

/* All that mean something for a unit. */
void log_columns_of_unit(struct log_columns *columns, enum log_unit unit);
/* All but the one under a name. */
void log_columns_leave_out(struct log_columns *columns, const char *name);
void log_columns_header(const struct log_columns *columns, struct csv_file *file);
void log_columns_line(const struct log_columns *columns, struct csv_file *file, const struct log_record *record);
