/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `flitwarp parse` takes and gives: filters, files and a summary. Packets go to the file of records as they stand in the log, with all
 * columns that it has; messages and transactions get a column for each property they have.
 */
#include "metrics/log.h"

#include "flitwarp/arena.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A line as it stands in the log. */
static void write_line(struct csv_file *file, const char *line, size_t length)
{
    csv_bytes(file, line, length);
    csv_text(file, "\n");
}

static void write_header(struct log_outputs *outputs, const struct log_reader *reader)
{
    struct csv_file *file = outputs->files[LOG_RECORDS];
    if (outputs->unit == LOG_PACKETS) {
        write_line(file, reader->header, strlen(reader->header));
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

bool log_outputs_add(struct log_outputs *outputs, const struct log_record *record, const struct log_reader *reader,
                     struct errors *errors)
{
    struct csv_file *records = outputs->files[LOG_RECORDS];
    if (records && outputs->unit == LOG_PACKETS)
        write_line(records, reader->line, reader->line_length);
    else if (records)
        log_columns_line(&outputs->columns, records, record);
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

/* ---- the summary: sums and histograms, and the two ways of showing them ---- */

/* What has a spread; more of it where records are more than a packet. */
static const struct {
    const char *name;
    size_t offset; /* in a record */
    enum log_unit from;
} spreads[LOG_SPREADS] = {
    {"latency", offsetof(struct log_record, latency), LOG_PACKETS},
    {"network_latency", offsetof(struct log_record, network_latency), LOG_PACKETS},
    {"hops", offsetof(struct log_record, hops), LOG_PACKETS},
    {"minimal_hops", offsetof(struct log_record, minimal_hops), LOG_PACKETS},
    {"size", offsetof(struct log_record, flits), LOG_PACKETS},
    {"packets", offsetof(struct log_record, packets), LOG_MESSAGES},
    {"messages", offsetof(struct log_record, messages), LOG_TRANSACTIONS},
};

static const struct {
    const char *name;
    double percent;
} percentiles[] = {{"p50", 50}, {"p90", 90}, {"p99", 99}, {"p99.9", 99.9}, {"p99.99", 99.99}, {"p99.999", 99.999}};
#define PERCENTILES (sizeof(percentiles) / sizeof(percentiles[0]))

void log_summary_init(struct log_summary *summary, enum log_unit unit, struct arena *arena)
{
    *summary = (struct log_summary){.unit = unit, .first_created = UINT64_MAX};
    summary->spreads = arena_array(arena, struct log_spread, LOG_SPREADS);
}

void log_summary_add(struct log_summary *summary, const struct log_record *record)
{
    for (uint32_t i = 0; i < LOG_SPREADS && spreads[i].from <= summary->unit; i++) {
        uint64_t value = *(const uint64_t *)((const char *)record + spreads[i].offset);
        struct log_spread *spread = &summary->spreads[i];
        if (__builtin_expect(summary->kept == 0, 0))
            spread->pivot = value;
        double distance = (double)(value > spread->pivot ? value - spread->pivot : spread->pivot - value);
        spread->squares += distance * distance;
        histogram_add(&spread->histogram, value);
    }
    summary->kept++;
    summary->flits += record->flits;
    summary->nonminimal += record->is_nonminimal;
    if (record->created < summary->first_created)
        summary->first_created = record->created;
    if (record->arrived > summary->last_arrived)
        summary->last_arrived = record->arrived;
}

/* That of the records themselves, divided by their number: they are all there is. */
static double spread_deviation(const struct log_spread *spread)
{
    uint64_t count = histogram_count(&spread->histogram);
    unsigned __int128 pivots = (unsigned __int128)spread->pivot * count, sum = spread->histogram.sum;
    double shift = (double)(sum > pivots ? sum - pivots : pivots - sum) / (double)count;
    double variance = spread->squares / (double)count - shift * shift;
    return variance > 0 ? sqrt(variance) : 0;
}

static double share(uint64_t part, uint64_t whole) { return whole ? (double)part / (double)whole : NAN; }

/* ---- for programs ---- */

static struct json *spread_json(const struct log_spread *spread, struct arena *arena)
{
    const struct histogram *histogram = &spread->histogram;
    struct json *block = json_object(arena);
    json_add(block, "count", json_number_u64(arena, histogram_count(histogram)));
    json_add(block, "mean", json_number_f64(arena, histogram_mean(histogram)));
    json_add(block, "stddev", json_number_f64(arena, spread_deviation(spread)));
    json_add(block, "min", json_number_u64(arena, histogram_min(histogram)));
    for (size_t i = 0; i < PERCENTILES; i++)
        json_add(block, percentiles[i].name,
                 json_number_u64(arena, histogram_percentile(histogram, percentiles[i].percent)));
    json_add(block, "max", json_number_u64(arena, histogram_max(histogram)));
    return block;
}

struct json *log_summary_json(const struct log_summary *summary, const char *log, struct json *filters,
                              struct arena *arena)
{
    uint64_t span = summary->last_arrived - summary->first_created;
    const struct {
        const char *key;
        uint64_t number;
    } counts[] = {
        {"packets_read", summary->packets_read},
        {"read", summary->read},
        {"incomplete", summary->incomplete},
        {"incomplete_packets", summary->incomplete_packets},
        {"kept", summary->kept},
        {"flits", summary->flits},
        {"nonminimal", summary->nonminimal},
        {"first_created", summary->first_created},
        {"last_arrived", summary->last_arrived},
        {"span", span},
    };
    struct json *block = json_object(arena);
    json_add(block, "log", json_text(arena, log));
    json_add(block, "of", json_text(arena, log_unit_name(summary->unit, 2)));
    json_add(block, "filters", filters);
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        json_add(block, counts[i].key, json_number_u64(arena, counts[i].number));
    json_add(block, "throughput", json_number_f64(arena, share(summary->flits, span)));
    json_add(block, "nonminimal_share", json_number_f64(arena, share(summary->nonminimal, summary->kept)));
    for (uint32_t i = 0; i < LOG_SPREADS && spreads[i].from <= summary->unit; i++)
        json_add(block, spreads[i].name, spread_json(&summary->spreads[i], arena));
    return block;
}

/* ---- for people ---- */

static void print_number(const struct json *node, FILE *out)
{
    if (node->type == JSON_NUMBER && node->number != floor(node->number))
        fprintf(out, " %15.6g", node->number);
    else
        fprintf(out, " %15s", node->type == JSON_NUMBER ? node->text : "-");
}

/* A column for each spread; they have the same members: count, mean, ... */
static void print_spreads(const struct json *document, FILE *out)
{
    const struct json *cells[LOG_SPREADS] = {NULL};
    uint32_t count = 0;
    fprintf(out, "\n%-8s", "");
    for (const struct json *node = document->first; node; node = node->next)
        if (node->type == JSON_OBJECT) {
            fprintf(out, " %15s", node->key);
            cells[count++] = node->first;
        }
    for (fputc('\n', out); cells[0]; fputc('\n', out)) {
        fprintf(out, "%-8s", cells[0]->key);
        for (uint32_t i = 0; i < count; i++) {
            print_number(cells[i], out);
            cells[i] = cells[i]->next;
        }
    }
}

void log_summary_print(const struct log_summary *summary, const struct json *document, FILE *out)
{
    const char *units = log_unit_name(summary->unit, 2);
    const struct json *throughput = json_find(document, "throughput");
    fprintf(out, "log           %s\n", json_find(document, "log")->text);
    fprintf(out, "read          %" PRIu64 " packets", summary->packets_read);
    if (summary->unit != LOG_PACKETS)
        fprintf(out, " in %" PRIu64 " %s", summary->read, log_unit_name(summary->unit, summary->read));
    if (summary->incomplete)
        fprintf(out, "; %" PRIu64 " more %s incomplete, with %" PRIu64 " packets", summary->incomplete,
                summary->incomplete == 1 ? "is" : "are", summary->incomplete_packets);
    fprintf(out, "\nkept          %" PRIu64 " %s (%.4g %%)", summary->kept, units,
            100 * share(summary->kept, summary->read));
    for (const struct json *filter = json_find(document, "filters")->first; filter; filter = filter->next)
        fprintf(out, " %s", filter->text);
    fprintf(out, "\nflits         %" PRIu64 "\n", summary->flits);
    fprintf(out, "ticks         %" PRIu64 " to %" PRIu64 ", from the first created to the last arrived\n",
            summary->first_created, summary->last_arrived);
    if (throughput->type == JSON_NUMBER)
        fprintf(out, "throughput    %.6g flits/tick\n", throughput->number);
    fprintf(out, "nonminimal    %" PRIu64 " (%.4g %%)\n", summary->nonminimal,
            100 * share(summary->nonminimal, summary->kept));
    print_spreads(document, out);
}

/* ---- filters from their text, and what is said when they leave nothing ---- */

#define FORMS "accepted: numbers and ranges with commas between them, such as 3,5-7,100- or -9, the smaller end first"

/* One of "5", "3-7", "500-", "-100", up to a comma or the end. */
static bool read_range(const char **at, struct log_range *range)
{
    *range = (struct log_range){.high = UINT64_MAX};
    bool has_low = **at != '-';
    if (has_low && !number_read(at, UINT64_MAX, &range->low))
        return false;
    if (**at != '-') {
        range->high = range->low;
        return **at == ',' || **at == '\0';
    }
    ++*at;
    bool has_high = **at != ',' && **at != '\0';
    if (has_high && !number_read(at, UINT64_MAX, &range->high))
        return false;
    return (has_low || has_high) && range->low <= range->high && (**at == ',' || **at == '\0');
}

static int compare_ranges(const void *a, const void *b)
{
    const struct log_range *x = a, *y = b;
    return (x->low > y->low) - (x->low < y->low);
}

/* Sorts the ranges and joins those that overlap. */
static void join_ranges(struct log_filter *filter)
{
    qsort(filter->ranges, filter->count, sizeof(*filter->ranges), compare_ranges);
    uint32_t last = 0;
    for (uint32_t i = 1; i < filter->count; i++) {
        if (filter->ranges[i].low > filter->ranges[last].high)
            filter->ranges[++last] = filter->ranges[i];
        else if (filter->ranges[i].high > filter->ranges[last].high)
            filter->ranges[last].high = filter->ranges[i].high;
    }
    filter->count = last + 1;
}

static bool read_ranges(struct log_filter *filter, const char *values, struct errors *errors)
{
    size_t most = 1;
    for (const char *at = values; *at; at++)
        most += *at == ',';
    filter->ranges = arena_array(errors->arena, struct log_range, most);
    for (const char *at = values;; at++) {
        const char *first = at;
        if (!read_range(&at, &filter->ranges[filter->count++]))
            return errors_add(errors, "'%s': found '%.*s', " FORMS, filter->text, (int)strcspn(first, ","), first);
        if (*at == '\0')
            break;
    }
    join_ranges(filter);
    return true;
}

static bool filter_report_unknown(const char *text, const char *name, struct errors *errors)
{
    struct nearest nearest = {.wanted = name};
    const char *all = "";
    for (const struct log_property *property = log_properties; property->column; property++) {
        nearest_try(&nearest, property->name);
        nearest_try(&nearest, property->column);
        all = list_add(errors->arena, all, ", ", property->name);
    }
    return errors_add(errors, "'%s': unknown filter '%s'%s, accepted: %s", text, name,
                      meant_hint(errors->arena, nearest_word(&nearest)), all);
}

static bool read_filter(struct log_filter *filter, struct errors *errors)
{
    const char *name = filter->text + 1, *equals = strchr(name, '=');
    const char *word = arena_format(errors->arena, "%.*s", (int)strcspn(name, "="), name);
    filter->property = log_property_find(word);
    if (!filter->property)
        return filter_report_unknown(filter->text, word, errors);
    if (filter->property->is_claim && equals)
        errors_add(errors, "'%s': %s takes no values, accepted: %c%s", filter->text, filter->property->name,
                   filter->text[0], filter->property->name);
    else if (!filter->property->is_claim && !equals)
        errors_add(errors, "'%s': values are missing, accepted: %s=3,5-7,100- or the like", filter->text, filter->text);
    else
        return read_ranges(filter, equals ? equals + 1 : "1", errors);
    return false;
}

bool log_filters_add(struct log_filters *filters, const char *text, struct errors *errors)
{
    const struct log_filter *before = filters->list;
    filters->list = arena_array(errors->arena, struct log_filter, filters->count + 1);
    if (filters->count)
        memcpy(filters->list, before, filters->count * sizeof *before);
    struct log_filter *filter = &filters->list[filters->count++];
    *filter = (struct log_filter){.text = text, .keeps = text[0] == '+', .seen = {.low = UINT64_MAX}};
    return read_filter(filter, errors);
}

bool log_filters_keep_first(struct log_filters *filters, const struct log_record *record)
{
    bool passes_all = true;
    for (uint32_t i = 0; i < filters->count; i++) {
        struct log_filter *filter = &filters->list[i];
        uint64_t value = log_value(record, filter->property);
        bool passes = log_filter_passes(filter, record);
        filter->passed += passes;
        passes_all &= passes;
        if (value < filter->seen.low)
            filter->seen.low = value;
        if (value > filter->seen.high)
            filter->seen.high = value;
    }
    filters->kept += passes_all;
    return passes_all;
}

static void explain_filter(const struct log_filter *filter, enum log_unit unit, struct errors *errors)
{
    const char *verdict = filter->keeps ? "matches none" : "drops all";
    const char *one = log_unit_name(unit, 1), *name = filter->property->name;
    unsigned long long low = filter->seen.low, high = filter->seen.high;
    if (filter->property->is_claim)
        errors_add(errors, "no %s is left: '%s' %s; the log has %s %s", one, filter->text, verdict,
                   high ? "nothing but nonminimal" : "no nonminimal", log_unit_name(unit, 2));
    else if (low == high)
        errors_add(errors, "no %s is left: '%s' %s; the log has %s %llu", one, filter->text, verdict, name, low);
    else
        errors_add(errors, "no %s is left: '%s' %s; the log has %s %llu-%llu", one, filter->text, verdict, name, low,
                   high);
}

void log_filters_explain(const struct log_filters *filters, enum log_unit unit, struct errors *errors)
{
    struct text all = {0};
    bool is_explained = false;
    for (uint32_t i = 0; i < filters->count; i++) {
        const struct log_filter *filter = &filters->list[i];
        text_addf(&all, "%s'%s' %llu", i ? ", " : "", filter->text, (unsigned long long)filter->passed);
        if (filter->passed == 0) {
            explain_filter(filter, unit, errors);
            is_explained = true;
        }
    }
    if (!is_explained)
        errors_add(errors, "no %s is left: of %llu %s, each filter alone leaves some (%s), all together none",
                   log_unit_name(unit, 1), (unsigned long long)filters->records, log_unit_name(unit, filters->records),
                   all.chars);
    text_release(&all);
}
