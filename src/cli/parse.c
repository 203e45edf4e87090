/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp parse LOG [FILTER ...]: one pass over a packet log. The reader gives
 * packets, they are grouped into what is asked for, filters decide what counts, and
 * summary and files take their share of each record.
 */
#include "cli/cli.h"
#include "cli/parse_request.h"

#include "base/text.h"
#include "metrics/log_group.h"

/* A pass over a log, from its first line to its files. */
struct pass {
    const struct parse_request *request;
    struct arena arena;
    struct errors *errors;
    struct log_reader reader;
    struct log_filters *filters;
    struct log_group group;
    struct log_summary summary;
    struct log_outputs outputs;
};

static bool take_record(struct pass *pass)
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

static bool read_all(struct pass *pass)
{
    struct log_record packet = {0};
    bool is_good = true;
    while (is_good && log_reader_next(&pass->reader, &packet, pass->errors)) {
        enum log_grouped grouped = log_group_add(&pass->group, &packet);
        pass->summary.packets_read++;
        if (grouped == LOG_COMPLETE)
            is_good = take_record(pass);
        else if (grouped == LOG_WRONG)
            is_good = contradicts(pass, &packet);
    }
    if (pass->errors->count)
        return false;
    log_group_end(&pass->group);
    while (is_good && log_group_next(&pass->group))
        is_good = take_record(pass);
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
    struct json *filters = json_array(&pass->arena);
    for (uint32_t i = 0; i < pass->filters->count; i++)
        json_append(filters, json_text(&pass->arena, pass->filters->list[i].text));
    struct json *document = log_summary_json(&pass->summary, pass->reader.bytes.name, filters, &pass->arena);
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
static int run_pass(struct pass *pass)
{
    const struct parse_request *request = pass->request;
    if (!log_reader_open(&pass->reader, request->log, pass->errors) || !check_columns(pass))
        return pass->reader.bytes.has_failed ? EXIT_IO : EXIT_USAGE;
    log_group_init(&pass->group, request->unit, log_reader_has_transactions(&pass->reader));
    log_summary_init(&pass->summary, request->unit);
    bool is_open =
        log_outputs_open(&pass->outputs, request->names, request->interval, request->unit, &pass->reader, pass->errors);
    int status = EXIT_IO;
    if (is_open && (!read_all(pass) || !check_kept(pass)))
        status = pass->reader.bytes.has_failed ? EXIT_IO : EXIT_USAGE;
    else if (is_open && log_outputs_commit(&pass->outputs, &pass->summary, pass->errors) &&
             (!request->is_shown || show_summary(pass)))
        status = EXIT_DONE;
    log_outputs_release(&pass->outputs);
    log_summary_release(&pass->summary);
    log_group_release(&pass->group);
    return status;
}

static int cli_parse(int argc, char **argv)
{
    struct pass pass = {0};
    struct errors errors = {.arena = &pass.arena};
    struct parse_request request = {0};
    parse_request_read(&request, argc, argv, &errors);
    pass.errors = &errors;
    pass.request = &request;
    pass.filters = &request.filters;
    int status = EXIT_DONE;
    if (errors.count) {
        status = EXIT_USAGE;
        errors_add_usage(&errors, &parse_command);
    } else {
        status = run_pass(&pass);
        log_reader_close(&pass.reader);
    }
    if (status != EXIT_DONE)
        errors_print(&errors, stderr);
    log_filters_release(&request.filters);
    arena_release(&pass.arena);
    return status;
}

const struct command parse_command = {
    .name = "parse",
    .words = "LOG [FILTER ...]",
    .summary = "filter and summarise a packet log",
    .flags = parse_flags,
    .notes =
        "LOG is a packet log, plain or compressed with zstd; - is standard input. A summary goes to standard output.\n"
        "Files are CSV, compressed when the name ends in .zst; - is standard output, in place of the summary.\n"
        "\n"
        "filters; a record counts when it passes all of them:\n"
        "  +NAME=VALUES          keeps what has one of the values\n"
        "  -NAME=VALUES          drops what has one of the values\n"
        "VALUES are numbers and ranges: 3,5-7 or 500- or -100. NAME is one of",
    .more = parse_filters,
    .call = cli_parse,
};
