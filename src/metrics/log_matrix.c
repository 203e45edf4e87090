/* SPDX-License-Identifier: Apache-2.0 */
/* Sums by pair of terminals in a hash table: memory follows the pairs that talk, not the square of the terminals. */
#include "metrics/log_matrix.h"

#include <stdlib.h>
#include <string.h>

static const char header[] = "source,destination,count,flits,latency_mean,latency_max\n";

struct cell {
    unsigned __int128 latency_sum;
    uint64_t latency_max;
    uint64_t count;
    uint64_t flits;
};

void log_matrix_init(struct log_matrix *matrix) { table_init(&matrix->cells, sizeof(struct cell), NULL); }

void log_matrix_release(struct log_matrix *matrix) { table_release(&matrix->cells); }

void log_matrix_add(struct log_matrix *matrix, const struct log_record *record)
{
    struct table_key key = {{record->source, record->destination, 0}};
    struct cell *cell = table_put(&matrix->cells, &key);
    cell->latency_sum += record->latency;
    if (record->latency > cell->latency_max)
        cell->latency_max = record->latency;
    cell->count++;
    cell->flits += record->flits;
}

void log_matrix_write(const struct log_matrix *matrix, struct csv_file *file)
{
    csv_text(file, header, strlen(header));
    void **cells = table_sorted(&matrix->cells);
    for (uint32_t i = 0; i < matrix->cells.count; i++) {
        const struct cell *cell = cells[i];
        csv_number(file, table_key_of(cell)->part[0], ',');
        csv_number(file, table_key_of(cell)->part[1], ',');
        csv_number(file, cell->count, ',');
        csv_number(file, cell->flits, ',');
        csv_ratio(file, cell->latency_sum, cell->count, ',');
        csv_number(file, cell->latency_max, '\n');
    }
    free(cells);
}
