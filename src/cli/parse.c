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
#include "metrics/log_parse.h"

#include <string.h>

/* ---- arguments ---- */

struct parse_request {
    const char *log;
    const char *of, *interval_text; /* as written; NULL: not given */
    enum log_unit unit;
    uint64_t interval; /* ticks; 1 when there is no series */
    bool as_json;
    bool is_shown; /* the summary, on standard output */
    const char *names[LOG_OUTPUTS];
    struct log_filters filters; /* owned */
};

/* Flags that name files come first, in the order of enum log_output. */
static const struct flag parse_flags[] = {
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

/* A line for each NAME that a filter may have. */
static void parse_add_filters(struct text *text)
{
    for (const struct log_property *property = log_properties; property->column; property++) {
        struct text names = {0}, units = units_of(property, "");
        text_add(&names, property->name);
        if (strcmp(property->name, property->column) != 0)
            text_addf(&names, ", %s", property->column);
        if (property->alias)
            text_addf(&names, ", %s", property->alias);
        bool is_everywhere = property->units == LOG_ALL_UNITS;
        text_addf(text, "  %-28s %s%s%s\n", names.chars, property->help, is_everywhere ? "" : "; of ",
                  is_everywhere ? "" : units.chars);
        text_release(&names);
        text_release(&units);
    }
}

static void parse_take_word(struct parse_request *request, const char *word, struct errors *errors)
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
    return errors_add(errors, "--of: found '%s', accepted: packets, messages, transactions", request->of);
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
    const char *end = text;
    if (!number_read(&end, 9999999999999999999u, &request->interval) || *end || !request->interval)
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

static void parse_request_read(struct parse_request *request, struct call *call)
{
    struct errors *errors = &call->errors;
    for (int i = 1; i < call->argc; i++) {
        enum flag_found found = flag_take(call, &i);
        if (found == FLAG_NONE)
            parse_take_word(request, call->argv[i], errors);
        else if (found == FLAG_LACKS_VALUE)
            errors_add(errors, "'%s' needs a value", call->argv[i]);
    }
    if (read_unit(request, errors))
        check_units(request, errors);
    read_interval(request, errors);
    check_names(request, errors);
    if (!request->log)
        errors_add(errors, "no log is given");
}

/* ---- the pass ---- */

/* A pass over a log, from its first line to its files. */
struct pass {
    const struct parse_request *request;
    struct arena *arena;
    struct errors *errors;
    struct log_reader reader;
    struct log_filters *filters;
    struct log_group group;
    struct log_summary summary;
    struct log_outputs outputs;
};

static bool pass_take_record(struct pass *pass)
{
    const struct log_record *record = &pass->group.result;
    if (!log_filters_keep(pass->filters, record))
        return true;
    log_summary_add(&pass->summary, record);
    return log_outputs_add(&pass->outputs, record, &pass->reader, pass->errors);
}

static bool contradicts(struct pass *pass, const struct log_record *packet)
{
    errors_add(
        pass->errors,
        "%s:%llu: message %llu of source %llu has other packets that do not fit this one's %llu of %llu flits; is "
        "a packet there twice?",
        pass->reader.bytes.name, (unsigned long long)pass->reader.line_number, (unsigned long long)packet->message,
        (unsigned long long)packet->source, (unsigned long long)packet->flits,
        (unsigned long long)packet->message_flits);
    return false;
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
            is_good = contradicts(pass, &packet);
    }
    if (pass->errors->count)
        return false;
    log_group_end(&pass->group);
    while (is_good && log_group_next(&pass->group))
        is_good = pass_take_record(pass);
    pass->summary.read = pass->filters->records;
    pass->summary.incomplete = pass->group.incomplete;
    pass->summary.incomplete_packets = pass->group.incomplete_packets;
    return is_good;
}

/* A filter on a column that this log lacks. */
static bool check_columns(struct pass *pass)
{
    for (uint32_t i = 0; i < pass->filters->count; i++) {
        const struct log_filter *filter = &pass->filters->list[i];
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
    const char *units = log_unit_name(pass->request->unit, 2);
    if (summary->kept)
        return true;
    if (summary->read)
        log_filters_explain(pass->filters, pass->request->unit, pass->errors);
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
    for (uint32_t i = 0; i < pass->filters->count; i++)
        json_append(filters, json_text(pass->arena, pass->filters->list[i].text));
    struct json *document = log_summary_json(&pass->summary, pass->reader.bytes.name, filters, pass->arena);
    struct output_file output;
    if (!output_open(&output, "-", pass->errors))
        return false;
    if (pass->request->as_json) {
        json_write(output.stream, document, 2);
        fputc('\n', output.stream);
    } else {
        log_summary_print(&pass->summary, document, output.stream);
    }
    return output_commit(&output, pass->errors);
}

/* Reads, gathers, writes; returns the exit status. */
static int pass_run(struct pass *pass)
{
    const struct parse_request *request = pass->request;
    if (!log_reader_open(&pass->reader, request->log, pass->errors) || !check_columns(pass))
        return pass->reader.bytes.has_failed ? EXIT_IO : EXIT_USAGE;
    log_group_init(&pass->group, request->unit, log_reader_has_transactions(&pass->reader));
    log_summary_init(&pass->summary, request->unit);
    bool is_open =
        log_outputs_open(&pass->outputs, request->names, request->interval, request->unit, &pass->reader, pass->errors);
    int status = EXIT_IO;
    if (is_open && (!pass_read_all(pass) || !check_kept(pass)))
        status = pass->reader.bytes.has_failed ? EXIT_IO : EXIT_USAGE;
    else if (is_open && log_outputs_commit(&pass->outputs, &pass->summary, pass->errors) &&
             (!request->is_shown || show_summary(pass)))
        status = EXIT_DONE;
    log_outputs_release(&pass->outputs);
    log_summary_release(&pass->summary);
    log_group_release(&pass->group);
    return status;
}

static int cli_parse(struct call *call)
{
    struct parse_request *request = call->request;
    int status = EXIT_USAGE;
    parse_request_read(request, call);
    if (call->errors.count) {
        call_refuse(call);
    } else {
        struct pass pass = {
            .request = request, .arena = &call->arena, .errors = &call->errors, .filters = &request->filters};
        status = pass_run(&pass);
        log_reader_close(&pass.reader);
    }
    log_filters_release(&request->filters);
    return status;
}

static const struct command parse_command = {
    .name = "parse",
    .order = 80,
    .words = "LOG [FILTER ...]",
    .summary = "filter and summarise a packet log",
    .flags = parse_flags,
    .request_size = sizeof(struct parse_request),
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
