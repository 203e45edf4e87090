/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp trace-info FILE: what a workload trace holds, of any format that there is a
 * reader for. What only the format knows, its reader adds.
 *
 * flitwarp trace-convert FILE -o OUT: a workload trace in another format. What that
 * cannot express is refused, and left out only when that is asked for.
 */
#include "cli/command.h"

#include "base/text.h"
#include "config/options.h"
#include "metrics/report.h"
#include "traces/traces.h"

#include <string.h>

/* What both take: a file, settings of its format and, where there is a block for them, of algorithms. */
struct trace_words {
    const char *file;
    struct trace_format format;
    struct json *algorithms; /* NULL: the command takes none */
};

/* Adds a word KEY=VALUE to the object; an error where its key is there already. */
static void setting_take(struct call *call, struct json *object, const char *word)
{
    const char *equals = strchr(word, '=');
    char *key = arena_format(&call->arena, "%.*s", (int)(equals - word), word);
    if (json_find(object, key))
        errors_add(&call->errors, "'%s' is given twice", key);
    else
        json_add(object, key, json_from_word(&call->arena, equals + 1));
}

static void trace_words_read(struct trace_words *words, struct call *call)
{
    static const char reader[] = "format."; /* what its settings begin with, and messages call them */
    words->format.settings = json_add(json_object(&call->arena), "format", json_object(&call->arena));
    int i = 0;
    for (const char *word; (word = words_next(call, &i));) {
        if (strncmp(word, reader, strlen(reader)) == 0 && strchr(word, '='))
            setting_take(call, words->format.settings, word + strlen(reader));
        else if (!words->file)
            words->file = word;
        else if (words->algorithms && strchr(word, '='))
            setting_take(call, words->algorithms, word);
        else
            errors_add(&call->errors, "'%s' is not understood%s", word,
                       words->algorithms ? "; one trace is converted at a time" : "");
    }
    words->format.name = flag_value(call, "--format");
    if (!words->file)
        errors_add(&call->errors, "no trace is given");
}

/* ---- trace-info ---- */

/* ---- facts ---- */

static void report_tasks(struct report *facts, const struct trace_survey *survey)
{
    struct report *tasks = report_block(facts, "tasks");
    for (uint32_t kind = 0; kind < TASK_KINDS; kind++)
        if (survey->tasks[kind])
            report_count(tasks, task_kind_name(kind), survey->tasks[kind]);
    struct report *collectives = report_block(facts, "collectives");
    for (uint32_t operation = 0; operation < OPERATIONS; operation++)
        if (survey->operations[operation].tasks) {
            struct report *counts = report_block(collectives, collective_operation_name(operation));
            report_count(counts, "calls", survey->operations[operation].tasks);
            report_count(counts, "bytes", survey->operations[operation].bytes);
        }
}

static void report_messages(struct report *facts, const struct trace_survey *survey)
{
    struct report *messages = report_block(facts, "messages");
    report_count(messages, "count", survey->messages);
    report_count(messages, "bytes", survey->bytes);
    report_count(messages, "largest", survey->largest_bytes);
    struct json *sizes = json_add(messages->block, "sizes", json_array(facts->arena)); /* [from, to, how many] */
    for (uint32_t i = 0; i < SIZE_CLASSES; i++)
        if (survey->sizes[i]) {
            uint64_t from = i ? 1ull << (i - 1) : 0, row[] = {from, i ? from + (from - 1) : 0, survey->sizes[i]};
            struct json *numbers = json_append(sizes, json_array(facts->arena));
            for (uint32_t j = 0; j < 3; j++)
                json_append(numbers, json_number_u64(facts->arena, row[j]));
        }
    struct report *peers = report_block(facts, "destinations"); /* of a rank */
    report_count(peers, "min", survey->least_peers);
    report_number(peers, "mean", (double)survey->peers / survey->trace->rank_count);
    report_count(peers, "max", survey->most_peers);
}

static struct json *trace_facts(const char *path, const struct trace_reader_ops *reader,
                                const struct trace_survey *survey, struct arena *arena)
{
    struct report facts = {.block = json_object(arena), .arena = arena};
    report_text(&facts, "file", path);
    report_text(&facts, "format", reader->name);
    report_count(&facts, "ranks", survey->trace->rank_count);
    report_count(&facts, "communicators", survey->trace->communicator_count);
    report_tasks(&facts, survey);
    report_messages(&facts, survey);
    struct report *compute = report_block(&facts, "compute");
    report_number(compute, "total_seconds", (double)survey->computed_ps / 1e12);
    report_number(compute, "longest_seconds", (double)survey->longest_compute_ps / 1e12);
    report_count(compute, "longest_rank", survey->longest_compute_rank);
    return facts.block;
}

/* ---- for people ---- */

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
                    printf("  %s to %s bytes: %s\n", row->first->text, row->first->next->text, row->last->text);
                continue;
            }
            printf("  %s: ", at->key);
            print_value(at);
            printf("\n");
        }
    }
}

/* ---- the command ---- */

static int trace_show(struct call *call, const char *file, const struct trace_source *source,
                      const struct trace_reader_ops *reader, const struct trace_survey *survey)
{
    struct errors *errors = &call->errors;
    const char *matrix = flag_value(call, "--matrix");
    struct json *facts = trace_facts(file, reader, survey, &call->arena);
    if (matrix && !trace_matrix_write(matrix, file, survey, errors))
        return EXIT_IO;
    if (reader->describe)
        reader->describe(source, &(struct report){.block = facts, .arena = &call->arena}, errors);
    if (errors->count)
        return EXIT_USAGE;
    if (!flag_value(call, "--json")) {
        print_facts(facts);
        return EXIT_DONE;
    }
    json_write(stdout, facts, 2);
    printf("\n");
    return EXIT_DONE;
}

static int trace_survey_file(struct call *call, const struct trace_words *words, struct trace_source *source)
{
    struct errors *errors = &call->errors;
    const struct trace_reader_ops *reader = trace_reader_find(source, words->format.name, errors);
    if (!reader || !trace_source_set(source, reader, &words->format, errors))
        return EXIT_USAGE;
    if (flag_value(call, "--list")) {
        if (!reader->list)
            errors_add(errors, "--list: format '%s' has no listing", reader->name);
        else
            reader->list(source, stdout, errors);
        return errors->count ? EXIT_USAGE : EXIT_DONE;
    }
    struct trace *trace =
        trace_read(words->file, &(struct trace_format){.name = reader->name, .config = source->config}, errors);
    if (!trace)
        return EXIT_USAGE;
    struct trace_survey survey;
    trace_survey_init(&survey, trace);
    int status = trace_show(call, words->file, source, reader, &survey);
    trace_survey_release(&survey);
    trace_destroy(trace);
    return status;
}

static int cli_trace_info(struct call *call)
{
    struct trace_words words = {0};
    struct trace_source source;
    trace_words_read(&words, call);
    const char *matrix = flag_value(call, "--matrix");
    if (matrix)
        trace_matrix_check(matrix, &call->errors);
    static const char *const written[] = {"--matrix", NULL};
    if (words.file)
        call_spare_file(call, written, words.file);
    if (call->errors.count)
        return call_refuse(call);
    if (!trace_source_open(&source, words.file, &call->errors))
        return EXIT_USAGE;
    int status = trace_survey_file(call, &words, &source);
    trace_source_close(&source);
    return status;
}

static const struct command trace_info_command = {
    .name = "trace-info",
    .order = 130,
    .words = "FILE [format.KEY=VALUE ...]",
    .summary = "what a workload trace contains; its communication matrix",
    .flags = {{"--format", "NAME", "how to read it; by content if not given", "trace_reader"},
              {"--json", NULL, "facts as JSON", NULL},
              {"--matrix", "FILE.csv|.svg", "who sends how much to whom, as numbers or a picture", NULL},
              {"--list", NULL, "the file entry by entry, if its format has a listing", NULL}},
    .notes = "format.KEY=VALUE is a setting of the format; see for example flitwarp explain astrasim.",
    .run = cli_trace_info,
};
REGISTER_COMMAND(trace_info_command);

/* ---- trace-convert ---- */

/* The format to write, by the ending of the name where none is given; with errors when there is no such. */
static const char *convert_format(const char *out, const char *to, struct errors *errors)
{
    static const char *const endings[][2] = {
        {".goal", "goal"}, {".bin", "goal_binary"}, {".csv", "csv"}, {".csv.zst", "csv"}};
    for (uint32_t i = 0; i < 4 && out && !to; i++)
        to = name_ends_with(out, endings[i][0]) ? endings[i][1] : NULL;
    if (!out)
        errors_add(errors, "no file to write is given: -o OUT");
    else if (!to)
        errors_add(errors, "-o: found '%s', accepted: a name that ends with .goal, .bin (binary GOAL) or .csv, or --to",
                   out);
    if (to && strcmp(to, "goal") != 0 && strcmp(to, "goal_binary") != 0 && strcmp(to, "csv") != 0)
        errors_add(errors, "--to: found '%s', accepted: goal, goal_binary, csv", to);
    return to;
}

/* False, with errors, where they are no such numbers, or the format cannot grow. */
static bool read_growth(struct goal_form *form, struct call *call, const char *to)
{
    form->copies = form->repeats = 1;
    bool is_read = flag_number(call, "--copies", 1, 1 << 24, &form->copies) &&
                   flag_number(call, "--repeats", 1, 1 << 24, &form->repeats);
    if (is_read && strcmp(to, "csv") == 0 && form->copies * form->repeats > 1)
        return errors_add(&call->errors, "--copies and --repeats are for GOAL: messages in CSV wait for nothing");
    return is_read;
}

static int cli_trace_convert(struct call *call)
{
    struct errors *errors = &call->errors;
    struct trace_words words = {.algorithms = json_object(&call->arena)};
    trace_words_read(&words, call);
    const char *out = flag_value(call, "-o"), *to = convert_format(out, flag_value(call, "--to"), errors);
    static const char *const written[] = {"-o", NULL};
    if (words.file)
        call_spare_file(call, written, words.file);
    if (errors->count)
        return call_refuse(call);
    struct collective_settings settings = {0};
    struct goal_form form = {
        .collectives = &settings, .is_binary = strcmp(to, "goal_binary") == 0, .is_lossy = flag_value(call, "--lossy")};
    struct config_reader reader = {.arena = &call->arena, .errors = errors};
    if (!read_growth(&form, call, to))
        return EXIT_USAGE;
    if (!config_read(&reader, collective_options, &settings, words.algorithms))
        return EXIT_USAGE;
    struct trace *trace = trace_read(words.file, &words.format, errors);
    if (!trace)
        return EXIT_USAGE;
    int status = strcmp(to, "csv") == 0 ? messages_write(trace, out, form.is_lossy, errors)
                                        : goal_write(trace, &form, out, errors);
    trace_destroy(trace);
    return status;
}

static const struct command trace_convert_command = {
    .name = "trace-convert",
    .order = 140,
    .words = "FILE -o OUT.goal|.bin|.csv [ALGORITHM=NAME ...] [format.KEY=VALUE ...]",
    .summary = "a workload trace in another format",
    .flags = {{"-o", "OUT.goal|.bin|.csv", "the file to write; its ending chooses the format", NULL},
              {"--format", "NAME", "how to read it; by content if not given", "trace_reader"},
              {"--to", "goal|goal_binary|csv", "format to write, if the ending does not tell", NULL},
              {"--lossy", NULL, "leave out what that format cannot express", NULL},
              {"--copies", "N", "this many times the ranks, each copy separate; GOAL only", NULL},
              {"--repeats", "N", "each rank does everything this many times; GOAL only", NULL}},
    .notes =
        "ALGORITHM=NAME chooses how collectives become messages, for example allreduce=ring. format.KEY=VALUE is a\n"
        "setting of the format that is read; see for example flitwarp explain astrasim.",
    .run = cli_trace_convert,
};
REGISTER_COMMAND(trace_convert_command);
