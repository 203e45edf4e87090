/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets go to the file of records as they stand in the log, with all columns that
 * it has; messages and transactions get a column for each property they have.
 */
#include "metrics/log_parse.h"

static void write_header(struct log_outputs *outputs, const struct log_reader *reader)
{
    struct csv_file *file = outputs->files[LOG_RECORDS];
    if (outputs->unit == LOG_PACKETS) {
        csv_text(file, reader->header);
        csv_text(file, "\n");
        return;
    }
    /* A property that the log lacks has no column. */
    bool is_made_up = outputs->unit == LOG_TRANSACTIONS && !log_reader_has_transactions(reader);
    log_columns_add(&outputs->columns, log_properties, outputs->unit);
    for (const struct log_property *property = log_properties; property->column; property++)
        if (!log_reader_has(reader, property) && !is_made_up)
            log_columns_leave_out(&outputs->columns, property->column);
    log_columns_header(&outputs->columns, file);
}

bool log_outputs_open(struct log_outputs *outputs, const char *const names[LOG_OUTPUTS], uint64_t interval,
                      enum log_unit unit, const struct log_reader *reader, struct errors *errors)
{
    *outputs = (struct log_outputs){.unit = unit};
    log_matrix_init(&outputs->matrix);
    log_series_init(&outputs->series, interval);
    for (uint32_t i = 0; i < LOG_OUTPUTS; i++)
        if (names[i] && !(outputs->files[i] = csv_open(names[i], errors)))
            return false;
    if (outputs->files[LOG_RECORDS])
        write_header(outputs, reader);
    return true;
}

static void add_record(struct log_outputs *outputs, const struct log_record *record, const struct log_reader *reader)
{
    struct csv_file *file = outputs->files[LOG_RECORDS];
    if (outputs->unit == LOG_PACKETS) {
        csv_bytes(file, reader->line, reader->line_length);
        csv_text(file, "\n");
        return;
    }
    log_columns_line(&outputs->columns, file, record);
}

bool log_outputs_add(struct log_outputs *outputs, const struct log_record *record, const struct log_reader *reader,
                     struct errors *errors)
{
    if (outputs->files[LOG_RECORDS])
        add_record(outputs, record, reader);
    if (outputs->files[LOG_MATRIX])
        log_matrix_add(&outputs->matrix, record);
    if (outputs->files[LOG_SERIES] && !log_series_add(&outputs->series, record))
        return errors_add(
            errors, "--interval: %llu makes more than %u intervals of this log, accepted: a larger number of ticks",
            (unsigned long long)outputs->series.length, LOG_SERIES_MAX);
    return true;
}

static void write_distribution(const struct histogram *histogram, struct csv_file *file)
{
    csv_text(file, "low,high,count,cumulative_share\n");
    uint64_t count = histogram_count(histogram), seen = 0;
    struct histogram_bucket bucket;
    for (uint32_t cursor = 0; histogram_next(histogram, &cursor, &bucket);) {
        seen += bucket.count;
        csv_number(file, bucket.low, ',');
        csv_number(file, bucket.high, ',');
        csv_number(file, bucket.count, ',');
        csv_ratio(file, seen, count, '\n');
    }
}

bool log_outputs_commit(struct log_outputs *outputs, const struct log_summary *summary, struct errors *errors)
{
    if (outputs->files[LOG_DISTRIBUTION])
        write_distribution(&summary->spreads[LOG_LATENCY].histogram, outputs->files[LOG_DISTRIBUTION]);
    if (outputs->files[LOG_MATRIX])
        log_matrix_write(&outputs->matrix, outputs->files[LOG_MATRIX]);
    if (outputs->files[LOG_SERIES])
        log_series_write(&outputs->series, outputs->files[LOG_SERIES]);
    bool is_good = true;
    for (uint32_t i = 0; i < LOG_OUTPUTS && is_good; i++) {
        if (outputs->files[i])
            is_good = csv_close(outputs->files[i], errors);
        outputs->files[i] = NULL;
    }
    return is_good;
}

void log_outputs_release(struct log_outputs *outputs)
{
    csv_all(outputs->files, LOG_OUTPUTS, csv_discard, NULL);
    table_release(&outputs->matrix);
    log_series_release(&outputs->series);
    *outputs = (struct log_outputs){0};
}
