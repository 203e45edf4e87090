/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp trace-info FILE: what a workload trace holds, of any format that there is a
 * reader for. What only the format knows, its reader adds.
 */
#include "cli/command.h"
#include "traces/matrix.h"
#include "traces/words.h"
#include "workload/report.h"

#include <string.h>

struct request {
    const char *file, *matrix;
    struct trace_format format;
    bool as_json, as_list;
};

static const struct flag trace_info_flags[] = {
    FLAG_COMPONENT(struct request, format.name, "--format", "NAME", "trace_reader",
                   "how to read it; by content if not given"),
    FLAG(struct request, as_json, "--json", "facts as JSON"),
    FLAG_VALUE(struct request, matrix, "--matrix", "FILE.csv|.svg",
               "who sends how much to whom, as numbers or a picture"),
    FLAG(struct request, as_list, "--list", "what is in the file, entry by entry, where its format has a listing"),
    FLAG_END,
};

static void request_read(struct request *request, struct call *call)
{
    struct errors *errors = &call->errors;
    request->format.settings = format_settings(&call->arena);
    int i = 0;
    for (const char *word; (word = words_next(call, &i));) {
        if (format_setting_take(request->format.settings, word, &call->arena, errors))
            continue;
        if (request->file)
            errors_add(errors, "'%s' is not understood", word);
        request->file = word;
    }
    if (!request->file)
        errors_add(errors, "no trace is given");
    if (request->matrix)
        trace_matrix_check(request->matrix, errors);
}

/* ---- facts ---- */

static struct json *number(struct arena *arena, uint64_t value) { return json_number_u64(arena, value); }

static void add_tasks(struct json *facts, const struct trace_survey *survey, struct arena *arena)
{
    struct json *tasks = json_add(facts, "tasks", json_object(arena));
    for (uint32_t kind = 0; kind < TASK_KINDS; kind++)
        if (survey->tasks[kind])
            json_add(tasks, task_kind_name(kind), number(arena, survey->tasks[kind]));
    struct json *collectives = json_add(facts, "collectives", json_object(arena));
    for (uint32_t operation = 0; operation < OPERATIONS; operation++)
        if (survey->operations[operation].tasks) {
            struct json *counts = json_add(collectives, collective_operation_name(operation), json_object(arena));
            json_add(counts, "calls", number(arena, survey->operations[operation].tasks));
            json_add(counts, "bytes", number(arena, survey->operations[operation].bytes));
        }
}

static void add_messages(struct json *facts, const struct trace_survey *survey, struct arena *arena)
{
    struct json *messages = json_add(facts, "messages", json_object(arena));
    json_add(messages, "count", number(arena, survey->messages));
    json_add(messages, "bytes", number(arena, survey->bytes));
    json_add(messages, "largest", number(arena, survey->largest_bytes));
    struct json *sizes = json_add(messages, "sizes", json_array(arena)); /* [from, to, how many] */
    for (uint32_t i = 0; i < SIZE_CLASSES; i++)
        if (survey->sizes[i]) {
            struct json *row = json_append(sizes, json_array(arena));
            json_append(row, number(arena, i ? 1ull << (i - 1) : 0));
            json_append(row, number(arena, i ? (1ull << (i - 1)) + ((1ull << (i - 1)) - 1) : 0));
            json_append(row, number(arena, survey->sizes[i]));
        }
    struct json *peers = json_add(facts, "destinations", json_object(arena)); /* of a rank */
    json_add(peers, "min", number(arena, survey->least_peers));
    json_add(peers, "mean", json_number_f64(arena, (double)survey->peers / survey->trace->rank_count));
    json_add(peers, "max", number(arena, survey->most_peers));
}

static struct json *facts_of(const char *path, const struct trace_reader_ops *reader, const struct trace_survey *survey,
                             struct arena *arena)
{
    struct json *facts = json_object(arena);
    json_add(facts, "file", json_text(arena, path));
    json_add(facts, "format", json_text(arena, reader->name));
    json_add(facts, "ranks", number(arena, survey->trace->rank_count));
    json_add(facts, "communicators", number(arena, survey->trace->communicator_count));
    add_tasks(facts, survey, arena);
    add_messages(facts, survey, arena);
    struct json *compute = json_add(facts, "compute", json_object(arena));
    json_add(compute, "total_seconds", json_number_f64(arena, (double)survey->computed_ps / 1e12));
    json_add(compute, "longest_seconds", json_number_f64(arena, (double)survey->longest_compute_ps / 1e12));
    json_add(compute, "longest_rank", number(arena, survey->longest_compute_rank));
    return facts;
}

/* ---- for people ---- */

static void print_row(const struct json *row)
{
    printf("  %s to %s bytes: %s\n", row->first->text, row->first->next->text, row->last->text);
}

static void print_value(const struct json *value)
{
    if (value->type == JSON_TEXT || value->type == JSON_NUMBER)
        printf("%s", value->text);
    for (const struct json *at = value->type == JSON_OBJECT ? value->first : NULL; at; at = at->next) {
        printf("%s%s ", at == value->first ? "" : ", ", at->key);
        print_value(at);
    }
}

/* Objects of plain values take a line; long ones and those of objects a line a member. */
static void print_facts(const struct json *facts)
{
    for (const struct json *fact = facts->first; fact; fact = fact->next) {
        bool is_short =
            fact->type != JSON_OBJECT || (fact->count <= 4 && fact->first && fact->first->type != JSON_OBJECT);
        printf("%s:", fact->key);
        if (is_short && fact->type != JSON_ARRAY && !json_find(fact, "sizes")) {
            printf(" ");
            print_value(fact);
            printf("\n");
            continue;
        }
        printf("%s\n", fact->count ? "" : " none");
        for (const struct json *at = fact->first; at; at = at->next) {
            if (at->type == JSON_ARRAY) {
                for (const struct json *row = at->first; row; row = row->next)
                    print_row(row);
                continue;
            }
            printf("  %s: ", at->key);
            print_value(at);
            printf("\n");
        }
    }
}

/* ---- the command ---- */

static int show(const struct request *request, const struct trace_source *source, const struct trace_reader_ops *reader,
                const struct trace_survey *survey, struct errors *errors)
{
    struct json *facts = facts_of(request->file, reader, survey, errors->arena);
    if (request->matrix && !trace_matrix_write(request->matrix, request->file, survey, errors))
        return EXIT_IO;
    if (reader->describe)
        reader->describe(source, &(struct report){facts, errors->arena}, errors);
    if (errors->count)
        return EXIT_USAGE;
    if (request->as_json) {
        json_write(stdout, facts, 2);
        printf("\n");
    } else
        print_facts(facts);
    return EXIT_DONE;
}

static int survey_file(const struct request *request, struct trace_source *source, struct errors *errors)
{
    const struct trace_reader_ops *reader = trace_reader_find(source, request->format.name, errors);
    if (!reader || !trace_source_set(source, reader, &request->format, errors))
        return EXIT_USAGE;
    if (request->as_list) {
        if (!reader->list)
            errors_add(errors, "--list: format '%s' has no listing", reader->name);
        else
            reader->list(source, stdout, errors);
        return errors->count ? EXIT_USAGE : EXIT_DONE;
    }
    struct trace *trace =
        trace_read(request->file, &(struct trace_format){.name = reader->name, .config = source->config}, errors);
    if (!trace)
        return EXIT_USAGE;
    struct trace_survey survey;
    trace_survey_init(&survey, trace);
    int status = show(request, source, reader, &survey, errors);
    trace_survey_release(&survey);
    trace_destroy(trace);
    return status;
}

static int cli_trace_info(struct call *call)
{
    struct request *request = call->request;
    struct trace_source source;
    request_read(request, call);
    if (call->errors.count)
        return call_refuse(call);
    if (!trace_source_open(&source, request->file, &call->errors))
        return EXIT_USAGE;
    int status = survey_file(request, &source, &call->errors);
    trace_source_close(&source);
    return status;
}

static const struct command trace_info_command = {
    .name = "trace-info",
    .order = 130,
    .words = "FILE [format.KEY=VALUE ...]",
    .summary = "what a workload trace holds; its communication matrix",
    .flags = trace_info_flags,
    .request_size = sizeof(struct request),
    .notes = "format.KEY=VALUE is a setting of the format: flitwarp explain astrasim, say.",
    .run = cli_trace_info,
};
REGISTER_COMMAND(trace_info_command);
