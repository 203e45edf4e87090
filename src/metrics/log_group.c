/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What records of a log come to. Grouped into messages and transactions, as a merge of records: sums of flits, packets
 * and messages, the earliest of what begins, the latest of what ends, the largest of what is on the way; a message of one
 * packet, the usual case, never touches the table. And summed up, by pair of terminals and over time.
 */
#include "metrics/log.h"

#include "flitwarp/arena.h"
#include "metrics/statistics.h"

#include <stdlib.h>
#include <string.h>

void log_group_init(struct log_group *group, enum log_unit unit, bool has_transactions)
{
    *group = (struct log_group){.unit = unit, .has_transactions = has_transactions};
    table_init(&group->messages, sizeof(struct log_record), NULL);
    table_init(&group->transactions, sizeof(struct log_record), NULL);
}

void log_group_release(struct log_group *group)
{
    table_release(&group->messages);
    table_release(&group->transactions);
    free(group->left);
    *group = (struct log_group){0};
}

static uint64_t smaller_of(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t larger_of(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* Merges into the value of a key, which is all zeros when it is new. */
static struct log_record *record_merge(struct table *table, const struct table_key *key, const struct log_record *from)
{
    struct log_record *into = table_put(table, key);
    if (!into->packets) {
        *into = *from;
        return into;
    }
    if (from->created < into->created) {
        into->application = from->application;
        into->source = from->source;
        into->destination = from->destination;
    }
    into->created = smaller_of(into->created, from->created);
    into->injected = smaller_of(into->injected, from->injected);
    into->arrived = larger_of(into->arrived, from->arrived);
    into->hops = larger_of(into->hops, from->hops);
    into->minimal_hops = larger_of(into->minimal_hops, from->minimal_hops);
    into->transaction_messages = larger_of(into->transaction_messages, from->transaction_messages);
    into->is_nonminimal |= from->is_nonminimal;
    into->flits += from->flits;
    into->packets += from->packets;
    into->messages += from->messages;
    log_record_derive(into);
    return into;
}

static enum log_grouped add_to_message(struct log_group *group, const struct log_record *packet)
{
    if (packet->flits == packet->message_flits) {
        group->result = *packet;
    } else {
        struct table_key key = {{packet->application, packet->source, packet->message}};
        const struct log_record *message = record_merge(&group->messages, &key, packet);
        if (message->message_flits != packet->message_flits || message->flits > message->message_flits)
            return LOG_WRONG;
        if (message->flits < message->message_flits)
            return LOG_OPEN;
        group->result = *message;
        table_remove(&group->messages, &key);
    }
    group->result.messages = 1;
    return LOG_COMPLETE;
}

static struct table_key transaction_key(const struct log_record *record)
{
    return (struct table_key){{record->initiator, record->transaction, 0}};
}

/* The message in `result` is complete: is its transaction? */
static enum log_grouped add_to_transaction(struct log_group *group)
{
    struct log_record *result = &group->result;
    if (!group->has_transactions) {
        result->initiator = result->source;
        result->transaction = result->message;
        return LOG_COMPLETE;
    }
    if (result->transaction_messages == 1)
        return LOG_COMPLETE;
    struct table_key key = transaction_key(result);
    const struct log_record *transaction = record_merge(&group->transactions, &key, result);
    if (!transaction->transaction_messages || transaction->messages < transaction->transaction_messages)
        return LOG_OPEN;
    *result = *transaction;
    table_remove(&group->transactions, &key);
    return LOG_COMPLETE;
}

enum log_grouped log_group_add(struct log_group *group, const struct log_record *packet)
{
    if (group->unit == LOG_PACKETS) {
        group->result = *packet;
        return LOG_COMPLETE;
    }
    enum log_grouped grouped = add_to_message(group, packet);
    return grouped == LOG_COMPLETE && group->unit == LOG_TRANSACTIONS ? add_to_transaction(group) : grouped;
}

/* A message that is not complete makes its transaction incomplete, as if one more message were missing. */
static void add_incomplete_messages(struct log_group *group)
{
    void **messages = table_sorted(&group->messages);
    for (uint32_t i = 0; i < group->messages.count; i++) {
        const struct log_record *message = messages[i];
        struct table_key key = transaction_key(message);
        if (group->unit == LOG_TRANSACTIONS && group->has_transactions) {
            record_merge(&group->transactions, &key, message)->transaction_messages = UINT64_MAX;
            continue;
        }
        group->incomplete++;
        group->incomplete_packets += message->packets;
    }
    free(messages);
}

void log_group_end(struct log_group *group)
{
    add_incomplete_messages(group);
    group->left = table_sorted(&group->transactions);
    group->left_count = group->transactions.count;
    for (uint32_t i = 0; i < group->left_count; i++) {
        const struct log_record *transaction = group->left[i];
        if (!transaction->transaction_messages)
            continue;
        group->incomplete++;
        group->incomplete_packets += transaction->packets;
    }
}

bool log_group_next(struct log_group *group)
{
    while (group->left_at < group->left_count) {
        const struct log_record *transaction = group->left[group->left_at++];
        if (transaction->transaction_messages)
            continue;
        group->result = *transaction;
        return true;
    }
    return false;
}

/*
 * ---- sums ----
 *
 * Hash tables, since records come in the order of arrival and a log may begin at any tick. Latencies of an interval are
 * counted in those buckets of a struct histogram that occur, 8 bytes each, and spread out when the interval is written.
 */

/* ---- by pair ---- */

struct cell {
    unsigned __int128 latency_sum;
    uint64_t latency_min, latency_max;
    uint64_t count, flits;
};

static void cell_add(struct cell *cell, const struct log_record *record)
{
    cell->latency_sum += record->latency;
    if (!cell->count || record->latency < cell->latency_min)
        cell->latency_min = record->latency;
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

struct latency_count {
    uint64_t bucket : 16, count : 48;
};

struct interval {
    struct cell all;
    struct latency_count *latencies; /* owned: of the buckets that occur, by rising bucket */
    uint32_t buckets, room;
};

void log_series_init(struct log_series *series, uint64_t length)
{
    *series = (struct log_series){.length = length};
    table_init(&series->intervals, sizeof(struct interval), NULL);
}

void log_series_release(struct log_series *series)
{
    void **intervals = table_sorted(&series->intervals);
    for (uint32_t i = 0; i < series->intervals.count; i++)
        free(((struct interval *)intervals[i])->latencies);
    free(intervals);
    table_release(&series->intervals);
}

static void interval_count(struct interval *interval, uint32_t bucket)
{
    uint32_t first = 0, end = interval->buckets;
    while (first < end) {
        uint32_t middle = (first + end) / 2;
        if (interval->latencies[middle].bucket < bucket)
            first = middle + 1;
        else
            end = middle;
    }
    if (first == interval->buckets || interval->latencies[first].bucket != bucket) {
        interval->latencies =
            memory_grow(interval->latencies, interval->buckets, &interval->room, sizeof(struct latency_count));
        struct latency_count *at = &interval->latencies[first];
        memmove(at + 1, at, (interval->buckets++ - first) * sizeof(*at));
        *at = (struct latency_count){.bucket = bucket};
    }
    interval->latencies[first].count++;
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
    cell_add(&interval->all, record);
    interval_count(interval, (uint32_t)histogram_index(record->latency));
    return true;
}

/* The histogram is empty before and after. */
static void write_interval(const struct interval *interval, struct histogram *histogram, struct csv_file *file)
{
    const struct cell *all = &interval->all;
    histogram->min = all->latency_min;
    histogram->span = all->latency_max - all->latency_min;
    for (uint32_t i = 0; i < interval->buckets; i++)
        histogram->buckets[interval->latencies[i].bucket] = interval->latencies[i].count;
    csv_number(file, all->count, ',');
    csv_number(file, all->flits, ',');
    csv_ratio(file, all->latency_sum, all->count, ',');
    csv_number(file, histogram_percentile(histogram, 50), ',');
    csv_number(file, histogram_percentile(histogram, 99), ',');
    csv_number(file, all->latency_max, '\n');
    for (uint32_t i = 0; i < interval->buckets; i++)
        histogram->buckets[interval->latencies[i].bucket] = 0;
}

void log_series_write(const struct log_series *series, struct csv_file *file)
{
    csv_text(file, "start,count,flits,latency_mean,latency_p50,latency_p99,latency_max\n");
    struct histogram *scratch = memory_take(sizeof(*scratch));
    void **intervals = table_sorted(&series->intervals);
    uint64_t number = series->first;
    for (uint32_t i = 0; i < series->intervals.count; number++) {
        csv_number(file, number * series->length, ',');
        if (table_key_of(intervals[i])->part[0] == number)
            write_interval(intervals[i++], scratch, file);
        else
            csv_text(file, "0,0,,,,\n");
    }
    free(intervals);
    free(scratch);
}
