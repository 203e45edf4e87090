/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Which records of a log to look at. `+src=3,5-7` keeps the records whose source is
 * in the list, `-src=3,5-7` drops them; a record must pass all filters. While no
 * record has passed, every filter is asked about every record, so that it can be
 * said afterwards which of them let nothing through and what the log has instead.
 */
#include "flitwarp/error.h"

#include "metrics/log_record.h"

/* Both ends are included. */
struct log_range {
    uint64_t low, high;
};

struct log_filter {
    const char *text; /* as it was written */
    const struct log_property *property;
    bool keeps;               /* what is in the ranges; else drops it */
    struct log_range *ranges; /* rising, apart from each other */
    uint32_t count;
    /* Of all records, while none has passed all filters. */
    uint64_t passed;
    struct log_range seen;
};

struct log_filters {
    struct log_filter *list; /* owned */
    uint32_t count;
    uint64_t records; /* that were asked about */
    uint64_t kept;
};

/* Adds a filter from the command line; false, with a message, when it is none. The text is borrowed. */
bool log_filters_add(struct log_filters *filters, const char *text, struct errors *errors);
/* Asks about a record before any was kept. */
bool log_filters_keep_first(struct log_filters *filters, const struct log_record *record);
/* Says why nothing was kept. */
void log_filters_explain(const struct log_filters *filters, enum log_unit unit, struct errors *errors);
void log_filters_release(struct log_filters *filters);

static inline bool log_filter_passes(const struct log_filter *filter, const struct log_record *record)
{
    uint64_t value = log_value(record, filter->property);
    uint32_t low = 0, high = filter->count; /* the first range that does not end before the value */
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (filter->ranges[middle].high < value)
            low = middle + 1;
        else
            high = middle;
    }
    bool is_in = low < filter->count && filter->ranges[low].low <= value;
    return is_in == filter->keeps;
}

/* Whether the record passes all filters. */
static inline bool log_filters_keep(struct log_filters *filters, const struct log_record *record)
{
    filters->records++;
    if (__builtin_expect(filters->kept == 0, 0))
        return log_filters_keep_first(filters, record);
    for (uint32_t i = 0; i < filters->count; i++)
        if (!log_filter_passes(&filters->list[i], record))
            return false;
    filters->kept++;
    return true;
}
