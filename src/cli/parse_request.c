/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arguments of `flitwarp parse`: words that begin with two dashes are options,
 * those with + or one dash are filters, the one that is left is the log. They are
 * looked at together at the end, since a filter may come before --of.
 */
#include "cli/parse_request.h"

#include "base/text.h"
#include "cli/arguments.h"
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

/* Those that name files come first, in the order of enum log_output. */
const struct flag parse_flags[] = {
    [LOG_RECORDS] = FLAG_VALUE(struct parse_request, names[LOG_RECORDS], "--csv", "FILE", "the records that passed"),
    [LOG_DISTRIBUTION] = FLAG_VALUE(struct parse_request, names[LOG_DISTRIBUTION], "--distribution", "FILE",
                                    "latencies: low,high,count,cumulative_share"),
    [LOG_MATRIX] = FLAG_VALUE(struct parse_request, names[LOG_MATRIX], "--matrix", "FILE",
                              "pairs: source,destination,count,flits,latency_mean,latency_max"),
    [LOG_SERIES] = FLAG_VALUE(struct parse_request, names[LOG_SERIES], "--series", "FILE",
                              "by time of creation: "
                              "start,count,flits,latency_mean,latency_p50,latency_p99,latency_max"),
    FLAG_VALUE(struct parse_request, interval_text, "--interval", "TICKS", "length of an interval of the series"),
    FLAG_VALUE(struct parse_request, of, "--of", "packets|messages|transactions",
               "what a record is; packets if not given"),
    FLAG(struct parse_request, as_json, "--json", "the summary as JSON"),
    FLAG_END,
};

/* The units in which a property means something: "messages or transactions". */
static struct text units_of(const struct log_property *property, const char *before_each)
{
    struct text units = {0};
    for (enum log_unit unit = LOG_PACKETS; unit <= LOG_TRANSACTIONS; unit++)
        if (property->units >> unit & 1)
            text_addf(&units, "%s%s%s", units.length ? " or " : "", before_each, log_unit_name(unit, 2));
    return units;
}

void parse_filters(FILE *out)
{
    for (const struct log_property *property = log_properties; property->name; property++) {
        struct text names = {0}, units = units_of(property, "");
        text_add(&names, property->name);
        if (strcmp(property->name, property->column) != 0)
            text_addf(&names, ", %s", property->column);
        if (property->alias)
            text_addf(&names, ", %s", property->alias);
        bool is_everywhere = property->units == LOG_ALL_UNITS;
        fprintf(out, "  %-28s %s%s%s\n", names.chars, property->help, is_everywhere ? "" : "; of ",
                is_everywhere ? "" : units.chars);
        text_release(&names);
        text_release(&units);
    }
}

static void take_word(struct parse_request *request, const char *word, struct errors *errors)
{
    bool is_filter = (word[0] == '+' || word[0] == '-') && word[1];
    if (is_filter && word[1] == '-')
        errors_add(errors, "'%s' is not understood", word);
    else if (is_filter)
        log_filters_add(&request->filters, word, errors);
    else if (!request->log)
        request->log = word;
    else
        errors_add(errors, "'%s' comes after the log and is no filter, which begins with + or -", word);
}

/* True when the unit is known. */
static bool read_unit(struct parse_request *request, struct errors *errors)
{
    for (enum log_unit unit = LOG_PACKETS; unit <= LOG_TRANSACTIONS; unit++)
        if (!request->of || strcmp(request->of, log_unit_name(unit, 2)) == 0) {
            request->unit = unit;
            return true;
        }
    errors_add(errors, "--of: found '%s', accepted: packets, messages, transactions", request->of);
    return false;
}

static void check_units(const struct parse_request *request, struct errors *errors)
{
    for (uint32_t i = 0; i < request->filters.count; i++) {
        const struct log_filter *filter = &request->filters.list[i];
        if (!filter->property || filter->property->units >> request->unit & 1)
            continue;
        struct text units = units_of(filter->property, "--of ");
        errors_add(errors, "'%s': %s have no '%s', accepted with %s", filter->text, log_unit_name(request->unit, 2),
                   filter->property->name, units.chars);
        text_release(&units);
    }
}

static void read_interval(struct parse_request *request, struct errors *errors)
{
    const char *text = request->interval_text;
    if (!text != !request->names[LOG_SERIES])
        errors_add(errors, "%s needs %s beside it", text ? "--interval" : "--series",
                   text ? "--series FILE" : "--interval TICKS");
    request->interval = 1;
    if (!text)
        return;
    size_t digits = strspn(text, "0123456789");
    request->interval = digits < 20 ? strtoull(text, NULL, 10) : 0;
    if (text[digits] || !request->interval)
        errors_add(errors, "--interval: found '%s', accepted: a number of ticks from 1 to 10^19 - 1", text);
}

/* Standard output and each file are for one output only, and the log itself for none. */
static void check_names(struct parse_request *request, struct errors *errors)
{
    const char *shown = request->as_json ? "--json" : NULL;
    for (uint32_t i = 0; i < LOG_OUTPUTS; i++) {
        const char *name = request->names[i];
        if (!name)
            continue;
        bool is_standard = strcmp(name, "-") == 0;
        if (is_standard && shown)
            errors_add(errors, "%s and %s cannot both go to standard output", shown, parse_flags[i].name);
        if (is_standard)
            shown = parse_flags[i].name;
        if (!is_standard && request->log && strcmp(name, request->log) == 0)
            errors_add(errors, "%s: '%s' is the log that is read, accepted: another file", parse_flags[i].name, name);
        for (uint32_t j = 0; j < i && !is_standard; j++)
            if (request->names[j] && strcmp(name, request->names[j]) == 0)
                errors_add(errors, "%s and %s both name '%s'", parse_flags[j].name, parse_flags[i].name, name);
    }
    request->is_shown = request->as_json || !shown;
}

void parse_request_read(struct parse_request *request, int argc, char **argv, struct errors *errors)
{
    for (int i = 1; i < argc; i++) {
        enum flag_found found = flag_take(&parse_command, request, argc, argv, &i);
        if (found == FLAG_NONE)
            take_word(request, argv[i], errors);
        else if (found == FLAG_LACKS_VALUE)
            errors_add(errors, "'%s' needs a value", argv[i]);
    }
    if (read_unit(request, errors))
        check_units(request, errors);
    read_interval(request, errors);
    check_names(request, errors);
    if (!request->log)
        errors_add(errors, "no log is given");
}
