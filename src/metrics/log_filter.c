/* SPDX-License-Identifier: Apache-2.0 */
/* Filters from their text, and what is said when they leave nothing. */
#include "metrics/log.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

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
