/* SPDX-License-Identifier: Apache-2.0 */
/* Records as lines of CSV. */
#include "metrics/log_columns.h"

#include <string.h>

void log_columns_of_unit(struct log_columns *columns, enum log_unit unit)
{
    columns->count = 0;
    for (const struct log_property *property = log_properties; property->name; property++)
        if (property->units >> unit & 1)
            columns->properties[columns->count++] = property;
}

void log_columns_leave_out(struct log_columns *columns, const char *name)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < columns->count; i++)
        if (strcmp(columns->properties[i]->name, name) != 0)
            columns->properties[kept++] = columns->properties[i];
    columns->count = kept;
}

void log_columns_header(const struct log_columns *columns, struct csv_file *file)
{
    for (uint32_t i = 0; i < columns->count; i++) {
        csv_text(file, ",", i > 0);
        csv_text(file, columns->properties[i]->column, strlen(columns->properties[i]->column));
    }
    csv_text(file, "\n", 1);
}

void log_columns_line(const struct log_columns *columns, struct csv_file *file, const struct log_record *record)
{
    uint64_t numbers[LOG_RECORD_COLUMNS];
    for (uint32_t i = 0; i < columns->count; i++)
        numbers[i] = log_value(record, columns->properties[i]);
    csv_line(file, numbers, columns->count);
}
