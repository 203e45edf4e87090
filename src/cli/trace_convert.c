/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp trace-convert FILE -o OUT: a workload trace in another format. What that
 * cannot express is refused, and left out only when that is asked for.
 */
#include "cli/command.h"
#include "traces/traces.h"

#include "base/text.h"
#include "config/options.h"

#include <string.h>

struct convert_request {
    const char *file, *out, *to;
    struct trace_format format;
    bool is_lossy;
    struct json *algorithms; /* KEY=VALUE words, as a block of settings */
};

static const struct flag trace_convert_flags[] = {
    FLAG_VALUE(struct convert_request, out, "-o", "OUT.goal|.bin|.csv",
               "the file to write; its ending says in which format"),
    FLAG_COMPONENT(struct convert_request, format.name, "--format", "NAME", "trace_reader",
                   "how to read it; by content if not given"),
    FLAG_VALUE(struct convert_request, to, "--to", "goal|goal_binary|csv",
               "format to write, where the ending does not say it"),
    FLAG(struct convert_request, is_lossy, "--lossy", "leave out what that format cannot express"),
    FLAG_END,
};

static void convert_take_word(struct convert_request *request, const char *word, struct arena *arena,
                              struct errors *errors)
{
    if (format_setting_take(request->format.settings, word, arena, errors))
        return;
    if (!request->file)
        request->file = word;
    else if (!strchr(word, '='))
        errors_add(errors, "'%s' is not understood; one trace is converted at a time", word);
    else
        setting_take(request->algorithms, word, arena, errors);
}

/* The format that a name stands for. */
static const char *format_by_ending(const char *out)
{
    return name_ends_with(out, ".goal")                                     ? "goal"
           : name_ends_with(out, ".bin")                                    ? "goal_binary"
           : name_ends_with(out, ".csv") || name_ends_with(out, ".csv.zst") ? "csv"
                                                                            : NULL;
}

static void convert_request_read(struct convert_request *request, struct call *call)
{
    struct errors *errors = &call->errors;
    request->format.settings = format_settings(&call->arena);
    request->algorithms = json_object(&call->arena);
    int i = 0;
    for (const char *word; (word = words_next(call, &i));)
        convert_take_word(request, word, &call->arena, errors);
    if (!request->file)
        errors_add(errors, "no trace is given");
    if (!request->out)
        errors_add(errors, "no file to write is given: -o OUT");
    else if (!request->to && !(request->to = format_by_ending(request->out)))
        errors_add(errors, "-o: found '%s', accepted: a name that ends with .goal, .bin (binary GOAL) or .csv, or --to",
                   request->out);
    if (request->to && strcmp(request->to, "goal") != 0 && strcmp(request->to, "goal_binary") != 0 &&
        strcmp(request->to, "csv") != 0)
        errors_add(errors, "--to: found '%s', accepted: goal, goal_binary, csv", request->to);
}

static int write_goal(const struct convert_request *request, const struct trace *trace,
                      const struct collective_settings *settings, struct errors *errors)
{
    struct goal_schedule schedule;
    bool is_text = strcmp(request->to, "goal") == 0;
    int status = EXIT_USAGE;
    if (goal_schedule_init(&schedule, trace, settings, request->is_lossy, errors))
        status = (is_text ? goal_write_text : goal_write_binary)(&schedule, request->out, errors) ? EXIT_DONE : EXIT_IO;
    goal_schedule_release(&schedule);
    return status;
}

static int convert(const struct convert_request *request, struct arena *arena, struct errors *errors)
{
    struct collective_settings settings = {0};
    struct config_reader reader = {.arena = arena, .errors = errors};
    if (!config_read(&reader, collective_options, &settings, request->algorithms))
        return EXIT_USAGE;
    struct trace *trace = trace_read(request->file, &request->format, errors);
    if (!trace)
        return EXIT_USAGE;
    int status = strcmp(request->to, "csv") == 0 ? messages_write(trace, request->out, request->is_lossy, errors)
                                                 : write_goal(request, trace, &settings, errors);
    trace_destroy(trace);
    return status;
}

static int cli_trace_convert(struct call *call)
{
    struct convert_request *request = call->request;
    convert_request_read(request, call);
    return call->errors.count ? call_refuse(call) : convert(request, &call->arena, &call->errors);
}

static const struct command trace_convert_command = {
    .name = "trace-convert",
    .order = 140,
    .words = "FILE -o OUT.goal|.bin|.csv [ALGORITHM=NAME ...] [format.KEY=VALUE ...]",
    .summary = "a workload trace in another format",
    .flags = trace_convert_flags,
    .request_size = sizeof(struct convert_request),
    .notes =
        "ALGORITHM=NAME says how collectives become messages: allreduce=ring, say. format.KEY=VALUE is a setting of\n"
        "the format that is read: flitwarp explain astrasim, say.",
    .run = cli_trace_convert,
};
REGISTER_COMMAND(trace_convert_command);
