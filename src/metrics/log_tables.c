/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash tables, since records come in the order of arrival and a log may begin at any tick. Latencies of an interval are
 * counted in those buckets of a struct histogram that occur, and are put together to one when the interval is written.
 */
#include "metrics/log.h"

#include "flitwarp/arena.h"
#include "metrics/statistics.h"

#include <stdlib.h>

/* ---- by pair ---- */

struct cell {
    unsigned __int128 latency_sum;
    uint64_t latency_max;
    uint64_t count;
    uint64_t flits;
};

static void cell_add(struct cell *cell, const struct log_record *record)
{
    cell->latency_sum += record->latency;
    if (record->latency > cell->latency_max)
        cell->latency_max = record->latency;
    cell->count++;
    cell->flits += record->flits;
}

void log_matrix_init(struct table *matrix) { table_init(matrix, sizeof(struct cell), NULL); }

void log_matrix_add(struct table *matrix, const struct log_record *record)
{
    cell_add(table_put(matrix, &(struct table_key){{record->source, record->destination, 0}}), record);
}

void log_matrix_write(const struct table *matrix, struct csv_file *file)
{
    csv_text(file, "source,destination,count,flits,latency_mean,latency_max\n");
    void **cells = table_sorted(matrix);
    for (uint32_t i = 0; i < matrix->count; i++) {
        const struct cell *cell = cells[i];
        const uint64_t *pair = table_key_of(cell)->part, numbers[] = {pair[0], pair[1], cell->count, cell->flits};
        for (uint32_t column = 0; column < 4; column++)
            csv_number(file, numbers[column], ',');
        csv_ratio(file, cell->latency_sum, cell->count, ',');
        csv_number(file, cell->latency_max, '\n');
    }
    free(cells);
}

/* ---- over time ---- */

struct interval {
    struct cell all;
    uint64_t latency_min;
    uint32_t buckets; /* that occur */
};

void log_series_init(struct log_series *series, uint64_t length)
{
    *series = (struct log_series){.length = length};
    table_init(&series->intervals, sizeof(struct interval), NULL);
    table_init(&series->buckets, sizeof(uint64_t), NULL);
}

void log_series_release(struct log_series *series)
{
    table_release(&series->intervals);
    table_release(&series->buckets);
}

bool log_series_add(struct log_series *series, const struct log_record *record)
{
    uint64_t number = record->created / series->length;
    if (!series->intervals.count)
        series->first = series->last = number;
    uint64_t first = number < series->first ? number : series->first;
    uint64_t last = number > series->last ? number : series->last;
    if (last - first >= LOG_SERIES_MAX)
        return false;
    series->first = first;
    series->last = last;
    struct interval *interval = table_put(&series->intervals, &(struct table_key){{number, 0, 0}});
    struct table_key key = {{number, histogram_index(record->latency), 0}};
    interval->buckets += (*(uint64_t *)table_put(&series->buckets, &key))++ == 0;
    if (!interval->all.count || record->latency < interval->latency_min)
        interval->latency_min = record->latency;
    cell_add(&interval->all, record);
    return true;
}

/* Its buckets are the next of all; the histogram is empty before and after. */
static void write_latencies(const struct interval *interval, void **buckets, struct histogram *histogram,
                            struct csv_file *file)
{
    histogram->min = interval->latency_min;
    histogram->span = interval->all.latency_max - interval->latency_min;
    for (uint32_t i = 0; i < interval->buckets; i++)
        histogram->buckets[table_key_of(buckets[i])->part[1]] = *(uint64_t *)buckets[i];
    csv_ratio(file, interval->all.latency_sum, interval->all.count, ',');
    csv_number(file, histogram_percentile(histogram, 50), ',');
    csv_number(file, histogram_percentile(histogram, 99), ',');
    csv_number(file, interval->all.latency_max, '\n');
    for (uint32_t i = 0; i < interval->buckets; i++)
        histogram->buckets[table_key_of(buckets[i])->part[1]] = 0;
}

static void write_beginning(const struct log_series *series, uint64_t number, uint64_t count, uint64_t flits,
                            struct csv_file *file)
{
    csv_number(file, number * series->length, ',');
    csv_number(file, count, ',');
    csv_number(file, flits, ',');
}

void log_series_write(const struct log_series *series, struct csv_file *file)
{
    csv_text(file, "start,count,flits,latency_mean,latency_p50,latency_p99,latency_max\n");
    struct histogram *scratch = memory_take(sizeof(*scratch));
    void **intervals = table_sorted(&series->intervals), **buckets = table_sorted(&series->buckets), **next = buckets;
    uint64_t number = series->first;
    for (uint32_t i = 0; i < series->intervals.count; i++, number++) {
        const struct interval *interval = intervals[i];
        for (; number < table_key_of(interval)->part[0]; number++) {
            write_beginning(series, number, 0, 0, file);
            csv_text(file, ",,,\n");
        }
        write_beginning(series, number, interval->all.count, interval->all.flits, file);
        write_latencies(interval, next, scratch, file);
        next += interval->buckets;
    }
    free(intervals);
    free(buckets);
    free(scratch);
}
