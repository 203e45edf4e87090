/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp parse LOG [FILTER ...]: one pass over a packet log. Words that begin with two
 * dashes are options, those with + or one dash are filters, the one that is left is the
 * log; they are looked at together at the end, since a filter may come before --of. The
 * reader gives packets, they are grouped into what is asked for, filters decide what
 * counts, and summary and files take their share of each record.
 */
#include "cli/command.h"

#include "base/text.h"
#include "metrics/log.h"

#include <string.h>

/* ---- arguments ---- */

/* A pass over a log, from its arguments to its files. */
struct pass {
    const char *log;
    enum log_unit unit;
    uint64_t interval; /* ticks; 1 when there is no series */
    bool as_json;
    bool is_shown; /* the summary, on standard output */
    struct arena *arena;
    struct errors *errors;
    struct log_filters filters;
    struct log_reader reader;
    struct log_group group;
    struct log_summary summary;
    struct log_outputs outputs;
};

/* The units in which a property means something: "messages or transactions". */
static const char *units_of(struct arena *arena, const struct log_property *property, const char *before_each)
{
    const char *units = "";
    for (enum log_unit unit = LOG_PACKETS; unit <= LOG_TRANSACTIONS; unit++)
        if (property->units >> unit & 1)
            units = list_add(arena, units, " or ", arena_format(arena, "%s%s", before_each, log_unit_name(unit, 2)));
    return units;
}

/* A line for each NAME that a filter may have. */
static void parse_add_filters(struct text *text)
{
    struct arena arena = {0};
    for (const struct log_property *property = log_properties; property->column; property++) {
        const char *names = property->name;
        if (strcmp(property->name, property->column) != 0)
            names = list_add(&arena, names, ", ", property->column);
        if (property->alias)
            names = list_add(&arena, names, ", ", property->alias);
        bool is_everywhere = property->units == LOG_ALL_UNITS;
        text_addf(text, "  %-28s %s%s%s\n", names, property->help, is_everywhere ? "" : "; of ",
                  is_everywhere ? "" : units_of(&arena, property, ""));
    }
    arena_release(&arena);
}

static void parse_take_word(struct pass *pass, const char *word)
{
    bool is_filter = (word[0] == '+' || word[0] == '-') && word[1];
    if (is_filter && word[1] == '-')
        errors_add(pass->errors, "'%s' is not understood", word);
    else if (is_filter)
        log_filters_add(&pass->filters, word, pass->errors);
    else if (!pass->log)
        pass->log = word;
    else
        errors_add(pass->errors, "'%s' comes after the log and is no filter, which begins with + or -", word);
}

/* The unit, and whether all filters have a meaning in it. */
static void parse_read_unit(struct pass *pass, const char *of)
{
    while (of && pass->unit <= LOG_TRANSACTIONS && strcmp(of, log_unit_name(pass->unit, 2)) != 0)
        pass->unit++;
    if (pass->unit > LOG_TRANSACTIONS) {
        errors_add(pass->errors, "--of: found '%s', accepted: packets, messages, transactions", of);
        return;
    }
    for (uint32_t i = 0; i < pass->filters.count; i++) {
        const struct log_filter *filter = &pass->filters.list[i];
        if (filter->property && !(filter->property->units >> pass->unit & 1))
            errors_add(pass->errors, "'%s': %s have no '%s', accepted with %s", filter->text,
                       log_unit_name(pass->unit, 2), filter->property->name,
                       units_of(pass->arena, filter->property, "--of "));
    }
}

static void parse_read_interval(struct pass *pass, const char *text, const char *series)
{
    const char *end = text;
    if (!text != !series)
        errors_add(pass->errors, "%s needs %s beside it", text ? "--interval" : "--series",
                   text ? "--series FILE" : "--interval TICKS");
    pass->interval = 1;
    if (text && (!number_read(&end, 9999999999999999999u, &pass->interval) || *end || !pass->interval))
        errors_add(pass->errors, "--interval: found '%s', accepted: a number of ticks from 1 to 10^19 - 1", text);
}

/* Each output goes to a place of its own. Flags that name files come first, in the order of enum log_output. */
static void parse_check_names(struct pass *pass, struct call *call)
{
    const struct flag *flags = call->command->flags;
    const char *written[LOG_OUTPUTS + 1] = {NULL};
    const char *shown = pass->as_json ? "--json" : NULL;
    for (uint32_t i = 0; i < LOG_OUTPUTS; i++) {
        const char *name = call->values[i], *flag = flags[i].name;
        bool is_standard = name && strcmp(name, "-") == 0;
        written[i] = flag;
        if (is_standard && shown)
            errors_add(pass->errors, "%s and %s cannot both go to standard output", shown, flag);
        if (is_standard)
            shown = flag;
    }
    if (pass->log)
        call_spare_file(call, written, pass->log);
    pass->is_shown = pass->as_json || !shown;
}

static void parse_read_arguments(struct pass *pass, struct call *call)
{
    for (int i = 1; i < call->argc; i++) {
        enum flag_found found = flag_take(call, &i);
        if (found == FLAG_NONE)
            parse_take_word(pass, call->argv[i]);
        else if (found == FLAG_LACKS_VALUE)
            errors_add(pass->errors, "'%s' needs a value", call->argv[i]);
    }
    pass->as_json = flag_value(call, "--json");
    parse_read_unit(pass, flag_value(call, "--of"));
    parse_read_interval(pass, flag_value(call, "--interval"), flag_value(call, "--series"));
    parse_check_names(pass, call);
    if (!pass->log)
        errors_add(pass->errors, "no log is given");
}

/* ---- the pass ---- */

static bool pass_take_record(struct pass *pass)
{
    const struct log_record *record = &pass->group.result;
    if (!log_filters_keep(&pass->filters, record))
        return true;
    log_summary_add(&pass->summary, record);
    return log_outputs_add(&pass->outputs, record, &pass->reader, pass->errors);
}

static bool pass_read_all(struct pass *pass)
{
    struct log_record packet = {0};
    bool is_good = true;
    while (is_good && log_reader_next(&pass->reader, &packet, pass->errors)) {
        enum log_grouped grouped = log_group_add(&pass->group, &packet);
        pass->summary.packets_read++;
        if (grouped == LOG_COMPLETE)
            is_good = pass_take_record(pass);
        else if (grouped == LOG_WRONG)
            errors_add(pass->errors,
                       "%s:%llu: message %llu of source %llu has other packets that do not fit this one's %llu of "
                       "%llu flits; is a packet there twice?",
                       pass->reader.bytes.name, (unsigned long long)pass->reader.line_number,
                       (unsigned long long)packet.message, (unsigned long long)packet.source,
                       (unsigned long long)packet.flits, (unsigned long long)packet.message_flits);
        is_good &= grouped != LOG_WRONG;
    }
    if (pass->errors->count)
        return false;
    log_group_end(&pass->group);
    while (is_good && log_group_next(&pass->group))
        is_good = pass_take_record(pass);
    pass->summary.read = pass->filters.records;
    pass->summary.incomplete = pass->group.incomplete;
    pass->summary.incomplete_packets = pass->group.incomplete_packets;
    return is_good;
}

/* A filter on a column that this log lacks. */
static bool check_columns(struct pass *pass)
{
    for (uint32_t i = 0; i < pass->filters.count; i++) {
        const struct log_filter *filter = &pass->filters.list[i];
        if (!log_reader_has(&pass->reader, filter->property))
            errors_add(pass->errors, "'%s': %s has no column '%s'", filter->text, pass->reader.bytes.name,
                       filter->property->column);
    }
    return pass->errors->count == 0;
}

/* Something must be left to look at. */
static bool check_kept(struct pass *pass)
{
    const struct log_summary *summary = &pass->summary;
    const char *units = log_unit_name(pass->unit, 2);
    if (summary->kept)
        return true;
    if (summary->read)
        log_filters_explain(&pass->filters, pass->unit, pass->errors);
    else if (summary->packets_read)
        errors_add(pass->errors, "'%s' has no complete %s, of %llu packets in %llu incomplete ones",
                   pass->reader.bytes.name, units, (unsigned long long)summary->incomplete_packets,
                   (unsigned long long)summary->incomplete);
    else
        errors_add(pass->errors, "'%s' is a packet log without packets", pass->reader.bytes.name);
    return false;
}

static bool show_summary(struct pass *pass)
{
    struct json *filters = json_array(pass->arena);
    for (uint32_t i = 0; i < pass->filters.count; i++)
        json_append(filters, json_text(pass->arena, pass->filters.list[i].text));
    struct json *document = log_summary_json(&pass->summary, pass->reader.bytes.name, filters, pass->arena);
    struct output_file output;
    if (!output_open(&output, "-", pass->errors))
        return false;
    if (pass->as_json) {
        json_write(output.stream, document, 2);
        fputc('\n', output.stream);
    } else {
        log_summary_print(&pass->summary, document, output.stream);
    }
    return output_commit(&output, pass->errors);
}

/* Reads, gathers, writes; returns the exit status. */
static int pass_run(struct pass *pass, const char *const *names)
{
    if (!log_reader_open(&pass->reader, pass->log, pass->errors) || !check_columns(pass))
        return pass->reader.bytes.has_failed ? EXIT_IO : EXIT_USAGE;
    log_group_init(&pass->group, pass->unit, log_reader_has_transactions(&pass->reader));
    log_summary_init(&pass->summary, pass->unit, pass->arena);
    int status = EXIT_IO;
    if (log_outputs_open(&pass->outputs, names, pass->interval, pass->unit, &pass->reader, pass->errors)) {
        if (!pass_read_all(pass) || !check_kept(pass))
            status = pass->reader.bytes.has_failed ? EXIT_IO : EXIT_USAGE;
        else if (log_outputs_commit(&pass->outputs, &pass->summary, pass->errors) &&
                 (!pass->is_shown || show_summary(pass)))
            status = EXIT_DONE;
    }
    log_outputs_release(&pass->outputs);
    log_group_release(&pass->group);
    return status;
}

static int cli_parse(struct call *call)
{
    struct pass pass = {.arena = &call->arena, .errors = &call->errors};
    parse_read_arguments(&pass, call);
    int status = call->errors.count ? call_refuse(call) : pass_run(&pass, call->values);
    log_reader_close(&pass.reader);
    return status;
}

static const struct command parse_command = {
    .name = "parse",
    .order = 80,
    .words = "LOG [FILTER ...]",
    .summary = "filter and summarise a packet log",
    .flags = {[LOG_RECORDS] = {"--csv", "FILE", "the records that passed", NULL},
              [LOG_DISTRIBUTION] = {"--distribution", "FILE", "latencies: low,high,count,cumulative_share", NULL},
              [LOG_MATRIX] = {"--matrix", "FILE", "pairs: source,destination,count,flits,latency_mean,latency_max",
                              NULL},
              [LOG_SERIES] = {"--series", "FILE",
                              "by time of creation: "
                              "start,count,flits,latency_mean,latency_p50,latency_p99,latency_max",
                              NULL},
              {"--interval", "TICKS", "length of an interval of the series", NULL},
              {"--of", "packets|messages|transactions", "what a record is; packets if not given", NULL},
              {"--json", NULL, "the summary as JSON", NULL}},
    .notes =
        "LOG is a packet log, plain or compressed with zstd; - is standard input. A summary goes to standard output.\n"
        "Files are CSV, compressed when the name ends in .zst; - is standard output, in place of the summary.\n"
        "\n"
        "filters; a record counts when it passes all of them:\n"
        "  +NAME=VALUES          keeps what has one of the values\n"
        "  -NAME=VALUES          drops what has one of the values\n"
        "VALUES are numbers and ranges: 3,5-7 or 500- or -100. NAME is one of",
    .more = parse_add_filters,
    .run = cli_parse,
};
REGISTER_COMMAND(parse_command);
