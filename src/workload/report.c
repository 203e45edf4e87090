/* SPDX-License-Identifier: Apache-2.0 */
/* What a component adds to its block of the results. */
#include "workload/report.h"

#include "flitwarp/report.h"
#include "metrics/summary.h"

void report_number(struct report *report, const char *key, double value)
{
    json_add(report->block, key, json_number_f64(report->arena, value));
}

void report_count(struct report *report, const char *key, uint64_t value)
{
    json_add(report->block, key, json_number_u64(report->arena, value));
}

void report_counts(struct report *report, const char *key, const uint64_t *values, uint32_t count)
{
    struct json *list = json_array(report->arena);
    for (uint32_t i = 0; i < count; i++)
        json_append(list, json_number_u64(report->arena, values[i]));
    json_add(report->block, key, list);
}

void report_text(struct report *report, const char *key, const char *text)
{
    json_add(report->block, key, json_text(report->arena, text));
}

struct report *report_block(struct report *report, const char *key)
{
    struct report *block = arena_take(report->arena, sizeof *block);
    *block = (struct report){json_add(report->block, key, json_object(report->arena)), report->arena};
    return block;
}

void report_summary(struct report *report, const char *key, const struct histogram *histogram)
{
    json_add(report->block, key, summary_json(report->arena, histogram, NULL));
}
