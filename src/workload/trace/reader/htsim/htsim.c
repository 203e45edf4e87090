/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connection matrices of htsim (.cm): flows between nodes, which start at a time or when a
 * trigger fires.
 *
 *   Nodes 16
 *   Connections 3
 *   Triggers 1
 *   0->3 id 1 start 0 size 2000000 send_done_trigger 1      picoseconds, bytes
 *   0->5 id 2 trigger 1 size 2000000
 *   4->5 start 1000000 size 64 prio 1
 *   trigger id 1 oneshot
 *
 * A flow is a packet (packets.h). Broken links and priorities are the network's own affair
 * here: a file with them is refused unless it may lose them.
 */
#include "workload/trace/reader/htsim/htsim.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define MAX_FLOWS (MAX_PACKETS / 8) /* with those that tell of their ends */

struct htsim_config {
    bool lossy;
};

static const struct option htsim_options[] = {
    OPTION_BOOL(struct htsim_config, lossy, "false",
                "go on without failures of links, priorities that differ, and msg, which a trace cannot have here"),
    OPTION_END,
};

enum header { NODES, CONNECTIONS, TRIGGERS, FAILURES, HEADERS };
static const char *const header_names[] = {"Nodes", "Connections", "Triggers", "Failures"};

struct file {
    struct htsim_matrix matrix;
    const struct htsim_config *config;
    uint64_t said[HEADERS]; /* numbers of the header */
    uint64_t failures;
    uint64_t priority, other_priorities, messages; /* of the first flow; flows that differ from it; flows with msg */
    uint32_t seen;                                 /* bits of enum header */
};

/* ---- header ---- */

static bool find_header(struct word word, uint32_t *header)
{
    for (*header = 0; *header < HEADERS; ++*header)
        if (word_is(word, header_names[*header]))
            return true;
    return false;
}

static bool read_header(struct file *file, uint32_t header)
{
    struct trace_lines *lines = &file->matrix.lines;
    uint64_t most = header == NODES ? MAX_PACKET_RANKS : MAX_FLOWS;
    if (file->seen & 1u << header)
        return lines_error(lines, "%s stands twice", header_names[header]);
    file->seen |= 1u << header;
    if (!lines_number(lines, header_names[header], most, &file->said[header]) || !lines_end(lines))
        return false;
    if (header == NODES && file->said[NODES] == 0)
        return lines_error(lines, "0 nodes; accepted: 1 to %u", MAX_PACKET_RANKS);
    return true;
}

/* ---- flows ---- */

static bool read_ends(struct file *file, struct word word, struct htsim_flow *flow)
{
    const char *arrow = memmem(word.chars, word.length, "->", 2);
    struct word source = {word.chars, (size_t)(arrow - word.chars)};
    struct word destination = {arrow + 2, word.length - source.length - 2};
    uint64_t from, to;
    if (!(file->seen & 1u << NODES))
        return lines_error(&file->matrix.lines,
                           "a flow before it is said how many nodes there are; accepted: a line with Nodes first");
    uint64_t last = file->said[NODES] - 1;
    if (!word_number(source, last, &from) || !word_number(destination, last, &to))
        return lines_refuse(&file->matrix.lines, word, "where source->destination is due, of nodes 0 to %llu",
                            (unsigned long long)last);
    flow->source = (uint32_t)from;
    flow->destination = (uint32_t)to;
    return true;
}

/* What a trace has no place for. */
static bool lose(struct file *file, const char *what)
{
    if (!file->config->lossy)
        lines_error(&file->matrix.lines,
                    "%s cannot be carried over; accepted: a file without, or the setting lossy of format, which goes "
                    "on without",
                    what);
    return file->config->lossy;
}

static bool lose_priority(struct file *file, uint64_t priority)
{
    if (file->matrix.flow_count == 0)
        file->priority = priority;
    if (priority == file->priority)
        return true;
    file->other_priorities++;
    return lose(file, "a priority that differs from the first flow's");
}

enum field { START, TRIGGER, SIZE, ID, SEND_TRIGGER, RECEIVE_TRIGGER, PRIORITY, MESSAGE, FIELDS };
static const struct {
    const char *name, *what;
    uint64_t most;
} fields[] = {
    {"start", "a time in picoseconds", UINT64_MAX},
    {"trigger", "the id of a trigger", NO_TRIGGER - 1},
    {"size", "a size in bytes", INT64_MAX},
    {"id", "the id of a flow", UINT32_MAX},
    {"send_done_trigger", "the id of a trigger", NO_TRIGGER - 1},
    {"recv_done_trigger", "the id of a trigger", NO_TRIGGER - 1},
    {"prio", "a priority", UINT64_MAX},
    {"msg", NULL, 0},
};
#define HTSIM_PRIORITY 2000000 /* of flows that say nothing */

static bool read_field(struct file *file, struct word word, uint32_t *field, uint64_t *value)
{
    struct trace_lines *lines = &file->matrix.lines;
    for (*field = 0; *field < FIELDS && !word_is(word, fields[*field].name);)
        ++*field;
    if (*field < MESSAGE)
        return lines_number(lines, fields[*field].what, fields[*field].most, value);
    if (*field == MESSAGE) {
        file->messages++;
        while (lines_word(lines, &word))
            continue;
        return lose(file, "msg");
    }
    return lines_refuse(
        lines, word, "in a flow; accepted: start, trigger, size, id, send_done_trigger, recv_done_trigger, prio, msg");
}

static bool check_flow(struct trace_lines *lines, const struct htsim_flow *flow, uint32_t seen)
{
    bool has_start = seen & 1u << START, has_trigger = seen & 1u << TRIGGER;
    if (has_start == has_trigger)
        lines_error(lines, "a flow with %s; accepted: one of them",
                    has_start ? "both start and trigger" : "neither start nor trigger");
    else if (flow->bytes == 0)
        lines_error(lines, "a flow %s; accepted: size with 1 byte or more",
                    seen & 1u << SIZE ? "of 0 bytes, which to htsim has no end" : "without a size");
    else if (seen & 1u << ID && flow->id == 0)
        lines_error(lines, "a flow of id %u; accepted: 1 or more", flow->id);
    else
        return true;
    return false;
}

static bool read_flow(struct file *file, struct word word)
{
    struct htsim_matrix *matrix = &file->matrix;
    struct htsim_flow flow = {.line = matrix->lines.line, .trigger = NO_TRIGGER, .fires = {NO_TRIGGER, NO_TRIGGER}};
    uint64_t values[FIELDS] = {[PRIORITY] = HTSIM_PRIORITY};
    uint32_t seen = 0, field;
    if (!read_ends(file, word, &flow))
        return false;
    while (lines_word(&matrix->lines, &word)) {
        uint64_t value = 0;
        if (!read_field(file, word, &field, &value))
            return false;
        if (seen & 1u << field)
            return lines_error(&matrix->lines, "%s stands twice in a flow", fields[field].name);
        seen |= 1u << field;
        values[field] = value;
    }
    flow.start_ps = values[START];
    flow.bytes = values[SIZE];
    flow.id = (uint32_t)values[ID];
    flow.trigger = seen & 1u << TRIGGER ? (uint32_t)values[TRIGGER] : NO_TRIGGER;
    for (enum htsim_end end = 0; end < ENDS; end++)
        if (seen & 1u << (SEND_TRIGGER + end))
            flow.fires[end] = (uint32_t)values[SEND_TRIGGER + end];
    if (!check_flow(&matrix->lines, &flow, seen) || !lose_priority(file, values[PRIORITY]))
        return false;
    matrix->flows = memory_grow(matrix->flows, matrix->flow_count, &matrix->flow_room, sizeof flow);
    matrix->flows[matrix->flow_count++] = flow;
    return true;
}

/* ---- triggers and failures ---- */

static const char *const kind_names[] = {"oneshot", "multishot", "barrier"};

static bool read_trigger_word(struct file *file, struct word word, struct htsim_trigger *trigger)
{
    uint64_t number;
    bool is_id = word_is(word, "id");
    for (uint32_t kind = 0; kind < TRIGGER_KINDS; kind++)
        if (trigger->kind == TRIGGER_KINDS && word_is(word, kind_names[kind])) {
            trigger->kind = kind;
            return true;
        }
    if (!is_id && !word_is(word, "count"))
        return lines_refuse(&file->matrix.lines, word,
                            "in a trigger; accepted: id, one of oneshot, multishot, barrier, and count");
    if (!lines_number(&file->matrix.lines, is_id ? "an id" : "a count", NO_TRIGGER - 1, &number))
        return false;
    *(is_id ? &trigger->id : &trigger->count) = (uint32_t)number;
    return true;
}

static bool read_trigger(struct file *file)
{
    struct htsim_matrix *matrix = &file->matrix;
    struct htsim_trigger trigger = {.line = matrix->lines.line, .kind = TRIGGER_KINDS};
    struct word word;
    while (lines_word(&matrix->lines, &word))
        if (!read_trigger_word(file, word, &trigger))
            return false;
    if (trigger.id == 0 || trigger.kind == TRIGGER_KINDS || (trigger.kind == TRIGGER_BARRIER) != (trigger.count > 0))
        return lines_error(&matrix->lines,
                           "a trigger of id %u%s%s, with count %u; accepted: an id from 1 on, one of oneshot, "
                           "multishot, barrier, and for a barrier a count from 1 on",
                           trigger.id, trigger.kind < TRIGGER_KINDS ? ", " : "",
                           trigger.kind < TRIGGER_KINDS ? kind_names[trigger.kind] : "", trigger.count);
    matrix->triggers = memory_grow(matrix->triggers, matrix->trigger_count, &matrix->trigger_room, sizeof trigger);
    matrix->triggers[matrix->trigger_count++] = trigger;
    return true;
}

static bool read_failure(struct file *file)
{
    struct trace_lines *lines = &file->matrix.lines;
    struct word word, type;
    uint64_t number;
    while (lines_word(lines, &word)) {
        bool is_type = word_is(word, "switch_type");
        if (!is_type && !word_is(word, "switch_id") && !word_is(word, "link_id"))
            return lines_refuse(lines, word, "in a failure; accepted: switch_type, switch_id, link_id");
        if (is_type ? !lines_need(lines, "a type of switch", &type)
                    : !lines_number(lines, "a number", UINT32_MAX, &number))
            return false;
        if (is_type && !word_is(type, "TOR") && !word_is(type, "AGG") && !word_is(type, "CORE"))
            return lines_refuse(lines, type, "where a type of switch is due; accepted: TOR, AGG, CORE");
    }
    file->failures++;
    return lose(file, "a failure of a link");
}

/* ---- the whole ---- */

static bool read_line(struct file *file)
{
    struct word word;
    uint32_t header;
    lines_word(&file->matrix.lines, &word);
    if (find_header(word, &header))
        return read_header(file, header);
    if (memmem(word.chars, word.length, "->", 2))
        return read_flow(file, word);
    if (word_is(word, "trigger"))
        return read_trigger(file);
    if (word_is(word, "failure"))
        return read_failure(file);
    return lines_refuse(
        &file->matrix.lines, word,
        "begins a line; accepted: Nodes, Connections, Triggers, Failures, source->destination, trigger, failure");
}

static bool check_counts(struct file *file)
{
    const struct htsim_matrix *matrix = &file->matrix;
    struct errors *errors = matrix->lines.errors;
    const uint64_t found[HEADERS] = {0, matrix->flow_count, matrix->trigger_count, file->failures};
    uint32_t errors_before = errors->count;
    if (!(file->seen & 1u << NODES))
        errors_add(errors, "%s: nothing says how many nodes there are; accepted: a line with Nodes first",
                   matrix->lines.source->path);
    for (enum header header = CONNECTIONS; header < HEADERS; header++)
        if (found[header] != file->said[header])
            errors_add(errors, "%s: %llu lines where the header says %s %llu", matrix->lines.source->path,
                       (unsigned long long)found[header], header_names[header], (unsigned long long)file->said[header]);
    return errors->count == errors_before;
}

static bool matrix_read(struct file *file, const struct trace_source *source, struct errors *errors)
{
    *file = (struct file){.matrix.lines = {.source = source, .errors = errors}, .config = source->config};
    while (lines_next(&file->matrix.lines))
        if (!read_line(file))
            return false;
    file->matrix.nodes = (uint32_t)file->said[NODES];
    return check_counts(file) && htsim_triggers_connect(&file->matrix);
}

static void matrix_release(struct file *file)
{
    free(file->matrix.flows);
    free(file->matrix.triggers);
}

static bool htsim_read(const struct trace_source *source, struct trace_builder *builder, struct errors *errors)
{
    struct file file;
    bool is_good = matrix_read(&file, source, errors);
    if (is_good)
        htsim_add_tasks(&file.matrix, builder);
    matrix_release(&file);
    return is_good;
}

/* It begins with a line of the header. */
static bool htsim_looks_like(const struct trace_source *source)
{
    struct trace_lines lines = {.source = source};
    struct word word;
    uint32_t header;
    uint64_t number;
    return lines_next(&lines) && lines_word(&lines, &word) && find_header(word, &header) && lines_word(&lines, &word) &&
           word_number(word, UINT64_MAX, &number);
}

/* What is in the file, and what of it is not in the trace. */
static void htsim_describe(const struct trace_source *source, struct report *facts, struct errors *errors)
{
    struct file file;
    if (matrix_read(&file, source, errors)) {
        report_count(facts, "flows", file.matrix.flow_count);
        report_count(facts, "triggers", file.matrix.trigger_count);
        struct report *missing = report_block(facts, "missing");
        if (file.failures)
            report_count(missing, "failures", file.failures);
        if (file.other_priorities)
            report_count(missing, "priorities", file.other_priorities);
        if (file.messages)
            report_count(missing, "msg", file.messages);
    }
    matrix_release(&file);
}

static const struct trace_reader_ops htsim = {
    .name = "htsim",
    .summary = "connection matrices of htsim: flows that start at a time or when a trigger fires",
    .options = htsim_options,
    .config_size = sizeof(struct htsim_config),
    .example = "{\"type\": \"htsim\", \"lossy\": true}",
    .ending = ".cm",
    .looks_like = htsim_looks_like,
    .read = htsim_read,
    .describe = htsim_describe,
};
REGISTER_TRACE_READER(htsim);
