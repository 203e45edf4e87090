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
 * A flow is a packet (flitwarp/trace_packets.h). Broken links and priorities are the network's own affair
 * here: a file with them is refused unless it may lose them, or says that network.failures.file has its broken links.
 */
#include "workload/trace/reader/htsim/htsim.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define MAX_FLOWS (MAX_PACKETS / 8) /* with those that tell of their ends */

struct htsim_config {
    bool lossy, failures_apart;
};

static const struct option htsim_options[] = {
    OPTION_BOOL(struct htsim_config, lossy, "false",
                "go on without failures of links, priorities that differ, and msg, which a trace cannot have here"),
    OPTION_BOOL(struct htsim_config, failures_apart, "false",
                "go on without failures of links, which network.failures.file reads from the same file"),
    OPTION_END,
};

static const char *const header_names[] = {"Nodes", "Connections", "Triggers", "Failures", NULL};

/* ---- header ---- */

static bool htsim_read_header(struct htsim *htsim, uint32_t header)
{
    struct trace_lines *lines = &htsim->lines;
    uint64_t most = header == NODES ? MAX_PACKET_RANKS : MAX_FLOWS;
    if (htsim->seen & 1u << header)
        return lines_error(lines, "%s stands twice", header_names[header]);
    htsim->seen |= 1u << header;
    if (!lines_number(lines, header_names[header], most, &htsim->said[header]) || !lines_end(lines))
        return false;
    if (header == NODES && htsim->said[NODES] == 0)
        return lines_error(lines, "0 nodes; accepted: 1 to %u", MAX_PACKET_RANKS);
    return true;
}

/* ---- flows ---- */

static bool read_ends(struct htsim *htsim, struct word word, struct htsim_flow *flow)
{
    const char *arrow = memmem(word.chars, word.length, "->", 2);
    struct word source = {word.chars, (size_t)(arrow - word.chars)};
    struct word destination = {arrow + 2, word.length - source.length - 2};
    uint64_t from, to;
    if (!(htsim->seen & 1u << NODES))
        return lines_error(&htsim->lines,
                           "a flow before it is said how many nodes there are; accepted: a line with Nodes first");
    uint64_t last = htsim->said[NODES] - 1;
    if (!word_number(source, last, &from) || !word_number(destination, last, &to))
        return lines_refuse(&htsim->lines, word, "where source->destination is due, of nodes 0 to %llu",
                            (unsigned long long)last);
    flow->source = (uint32_t)from;
    flow->destination = (uint32_t)to;
    return true;
}

/* What a trace has no place for. */
static bool lose(struct htsim *htsim, const char *what)
{
    const struct htsim_config *config = htsim->lines.source->config;
    return config->lossy || lines_error(&htsim->lines,
                                        "%s cannot be carried over; accepted: a file without, or the setting lossy of "
                                        "format, which goes on without",
                                        what);
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

static bool read_field(struct htsim *htsim, struct word word, uint32_t *field, uint64_t *value)
{
    struct trace_lines *lines = &htsim->lines;
    for (*field = 0; *field < FIELDS && !word_is(word, fields[*field].name);)
        ++*field;
    if (*field < MESSAGE)
        return lines_number(lines, fields[*field].what, fields[*field].most, value);
    if (*field == MESSAGE) {
        htsim->messages++;
        while (lines_word(lines, &word))
            continue;
        return lose(htsim, "msg");
    }
    return lines_refuse(
        lines, word, "in a flow; accepted: start, trigger, size, id, send_done_trigger, recv_done_trigger, prio, msg");
}

static bool check_flow(struct trace_lines *lines, const uint64_t *values, uint32_t seen)
{
    bool has_start = seen & 1u << START, has_trigger = seen & 1u << TRIGGER;
    if (has_start == has_trigger)
        return lines_error(lines, "a flow with %s; accepted: one of them",
                           has_start ? "both start and trigger" : "neither start nor trigger");
    if (values[SIZE] == 0)
        return lines_error(lines, "a flow %s; accepted: size with 1 byte or more",
                           seen & 1u << SIZE ? "of 0 bytes, which to htsim has no end" : "without a size");
    return !(seen & 1u << ID) || values[ID] || lines_error(lines, "a flow of id 0; accepted: 1 or more");
}

static bool read_flow(struct htsim *htsim, struct word word)
{
    struct htsim_flow flow = {.line = htsim->lines.line};
    uint64_t values[FIELDS] = {[TRIGGER] = NO_TRIGGER,
                               [SEND_TRIGGER] = NO_TRIGGER,
                               [RECEIVE_TRIGGER] = NO_TRIGGER,
                               [PRIORITY] = HTSIM_PRIORITY};
    uint32_t seen = 0, field;
    if (!read_ends(htsim, word, &flow))
        return false;
    while (lines_word(&htsim->lines, &word)) {
        uint64_t value = 0;
        if (!read_field(htsim, word, &field, &value))
            return false;
        if (seen & 1u << field)
            return lines_error(&htsim->lines, "%s stands twice in a flow", fields[field].name);
        seen |= 1u << field;
        values[field] = value;
    }
    flow.start_ps = values[START];
    flow.bytes = values[SIZE];
    flow.id = (uint32_t)values[ID];
    flow.trigger = (uint32_t)values[TRIGGER];
    flow.fires[SEND_DONE] = (uint32_t)values[SEND_TRIGGER];
    flow.fires[RECEIVE_DONE] = (uint32_t)values[RECEIVE_TRIGGER];
    if (!check_flow(&htsim->lines, values, seen))
        return false;
    htsim->priority = htsim->flow_count ? htsim->priority : values[PRIORITY];
    htsim->other_priorities += values[PRIORITY] != htsim->priority;
    if (values[PRIORITY] != htsim->priority && !lose(htsim, "a priority that differs from the first flow's"))
        return false;
    htsim->flows = memory_grow(htsim->flows, htsim->flow_count, &htsim->flow_room, sizeof flow);
    htsim->flows[htsim->flow_count++] = flow;
    return true;
}

/* ---- triggers and failures ---- */

static const char *const kind_names[] = {"oneshot", "multishot", "barrier", NULL};

static bool read_trigger(struct htsim *htsim)
{
    struct trace_lines *lines = &htsim->lines;
    struct htsim_trigger trigger = {.line = lines->line, .kind = TRIGGER_KINDS};
    struct word word;
    while (lines_word(lines, &word)) {
        uint64_t number;
        bool is_id = word_is(word, "id");
        uint32_t kind = word_find(word, kind_names);
        if (trigger.kind == TRIGGER_KINDS && kind < TRIGGER_KINDS) {
            trigger.kind = kind;
            continue;
        }
        if (!is_id && !word_is(word, "count"))
            return lines_refuse(lines, word,
                                "in a trigger; accepted: id, one of oneshot, multishot, barrier, and count");
        if (!lines_number(lines, is_id ? "an id" : "a count", NO_TRIGGER - 1, &number))
            return false;
        *(is_id ? &trigger.id : &trigger.count) = (uint32_t)number;
    }
    if (trigger.id == 0 || trigger.kind == TRIGGER_KINDS || (trigger.kind == TRIGGER_BARRIER) != (trigger.count > 0))
        return lines_error(lines,
                           "a trigger of id %u%s%s, with count %u; accepted: an id from 1 on, one of oneshot, "
                           "multishot, barrier, and for a barrier a count from 1 on",
                           trigger.id, trigger.kind < TRIGGER_KINDS ? ", " : "",
                           trigger.kind < TRIGGER_KINDS ? kind_names[trigger.kind] : "", trigger.count);
    htsim->triggers = memory_grow(htsim->triggers, htsim->trigger_count, &htsim->trigger_room, sizeof trigger);
    htsim->triggers[htsim->trigger_count++] = trigger;
    return true;
}

static bool read_failure(struct htsim *htsim)
{
    struct trace_lines *lines = &htsim->lines;
    static const char *const types[] = {"TOR", "AGG", "CORE", NULL};
    struct word word, type;
    uint64_t number;
    while (lines_word(lines, &word)) {
        bool is_type = word_is(word, "switch_type");
        if (!is_type && !word_is(word, "switch_id") && !word_is(word, "link_id"))
            return lines_refuse(lines, word, "in a failure; accepted: switch_type, switch_id, link_id");
        if (is_type ? !lines_need(lines, "a type of switch", &type)
                    : !lines_number(lines, "a number", UINT32_MAX, &number))
            return false;
        if (is_type && !types[word_find(type, types)])
            return lines_refuse(lines, type, "where a type of switch is due; accepted: TOR, AGG, CORE");
    }
    htsim->failures++;
    const struct htsim_config *config = lines->source->config;
    return config->failures_apart || config->lossy ||
           lines_error(lines, "a failure of a link is the network's; accepted: a file without, or the setting "
                              "failures_apart of format with network.failures.file, or lossy, which goes on without");
}

/* ---- the whole ---- */

static bool htsim_read_line(struct htsim *htsim)
{
    struct word word;
    lines_word(&htsim->lines, &word);
    uint32_t header = word_find(word, header_names);
    if (header < HEADERS)
        return htsim_read_header(htsim, header);
    if (memmem(word.chars, word.length, "->", 2))
        return read_flow(htsim, word);
    if (word_is(word, "trigger"))
        return read_trigger(htsim);
    if (word_is(word, "failure"))
        return read_failure(htsim);
    return lines_refuse(
        &htsim->lines, word,
        "begins a line; accepted: Nodes, Connections, Triggers, Failures, source->destination, trigger, failure");
}

static bool check_counts(struct htsim *htsim)
{
    struct errors *errors = htsim->lines.errors;
    const uint64_t found[HEADERS] = {0, htsim->flow_count, htsim->trigger_count, htsim->failures};
    uint32_t errors_before = errors->count;
    if (!(htsim->seen & 1u << NODES))
        errors_add(errors, "%s: nothing says how many nodes there are; accepted: a line with Nodes first",
                   htsim->lines.source->path);
    for (enum htsim_header header = CONNECTIONS; header < HEADERS; header++)
        if (found[header] != htsim->said[header])
            errors_add(errors, "%s: %llu lines where the header says %s %llu", htsim->lines.source->path,
                       (unsigned long long)found[header], header_names[header],
                       (unsigned long long)htsim->said[header]);
    return errors->count == errors_before;
}

static bool htsim_read_all(struct htsim *htsim)
{
    while (lines_next(&htsim->lines))
        if (!htsim_read_line(htsim))
            return false;
    return check_counts(htsim) && htsim_triggers_connect(htsim);
}

static bool htsim_read(const struct trace_source *source, struct trace_builder *builder, struct errors *errors)
{
    struct htsim htsim = {.lines = {.source = source, .errors = errors}};
    bool is_good = htsim_read_all(&htsim);
    if (is_good)
        htsim_add_tasks(&htsim, builder);
    free(htsim.flows);
    free(htsim.triggers);
    return is_good;
}

/* It begins with a line of the header. */
static bool htsim_looks_like(const struct trace_source *source)
{
    struct trace_lines lines = {.source = source};
    struct word word;
    uint64_t number;
    return lines_next(&lines) && lines_word(&lines, &word) && word_find(word, header_names) < HEADERS &&
           lines_word(&lines, &word) && word_number(word, UINT64_MAX, &number);
}

/* What is in the file, and what of it is not in the trace. */
static void htsim_describe(const struct trace_source *source, struct report *facts, struct errors *errors)
{
    struct htsim htsim = {.lines = {.source = source, .errors = errors}};
    if (htsim_read_all(&htsim)) {
        report_count(facts, "flows", htsim.flow_count);
        report_count(facts, "triggers", htsim.trigger_count);
        struct report *missing = report_block(facts, "missing");
        static const char *const names[] = {"failures", "priorities", "msg"};
        const uint64_t counts[] = {htsim.failures, htsim.other_priorities, htsim.messages};
        for (uint32_t i = 0; i < 3; i++)
            if (counts[i])
                report_count(missing, names[i], counts[i]);
    }
    free(htsim.flows);
    free(htsim.triggers);
}

static const struct trace_reader_ops htsim_reader = {
    COMPONENT("htsim", "connection matrices of htsim: flows that start at a time or when a trigger fires",
              htsim_options, "{\"type\": \"htsim\", \"lossy\": true}"),
    .ending = ".cm",
    .looks_like = htsim_looks_like,
    .read = htsim_read,
    .describe = htsim_describe,
};
REGISTER_TRACE_READER(htsim_reader);
