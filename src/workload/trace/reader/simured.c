/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SimuRed's traces of packets, one a line:
 *
 *     # when  source  destination  [flits]  [name]
 *     100     0       3            16       p1      # leaves node 0 in cycle 100
 *     p1      3       0                             # leaves node 3 when p1 has arrived there
 *
 * A packet that waits for another one may come before it, several may wait for one. In
 * SimuRed one that leaves from elsewhere than where the other arrives knows of that at once,
 * which is nothing that a network could do, nor a parallel run of one: here it is told.
 */
#include "base/table.h"
#include "flitwarp/trace_lines.h"
#include "flitwarp/trace_packets.h"

#include <stdlib.h>

#define MAX_FLITS 100000000

struct simured_config {
    struct cycle_config cycles;
    uint32_t flit_bytes, default_flits;
    bool compatible;
};

static const struct option simured_options[] = {
    OPTION_ROWS(struct simured_config, cycles, struct cycle_config, cycle_options),
    OPTION_U32(struct simured_config, flit_bytes, "32", 1, 65536, "bytes",
               "of a flit of the trace; the default is that of network.flit_bytes"),
    OPTION_U32(struct simured_config, default_flits, "64", 1, MAX_FLITS, "flits", "of packets without a length"),
    OPTION_BOOL(struct simured_config, compatible, "false",
                "take the default length for packets that have a name, whatever theirs is, as SimuRed does"),
    OPTION_END,
};

struct simured_packet {
    uint64_t when; /* cycle, or the name of the packet it waits for */
    uint64_t name;
    uint64_t line;
    uint32_t source, destination, flits;
    uint32_t parent; /* FW_ANY: none */
    uint32_t walk;   /* of those that looked for a circle, the first that came by; 0: none yet */
    bool is_dependent, has_name;
    struct packet_tasks tasks;
    uint32_t told_node,
        told_task; /* the latest that was told of its arrival, and what waits there wait for; FW_ANY: none */
};

struct simured_trace {
    struct trace_lines lines;
    const struct simured_config *config;
    struct simured_packet *packets; /* owned */
    struct table named;             /* packets by name */
    uint32_t count, room;
    uint32_t ranks;
};

/* ---- lines ---- */

static bool read_when(struct trace_lines *lines, const struct simured_config *config, struct simured_packet *packet)
{
    struct word word;
    uint64_t last_cycle = UINT64_MAX / cycle_ps(config);
    if (!lines_need(lines, "a cycle or the packet to wait for", &word))
        return false;
    packet->is_dependent = word_numbered(word, 'p', UINT64_MAX, &packet->when);
    return packet->is_dependent || word_number(word, last_cycle, &packet->when) ||
           lines_refuse(lines, word,
                        "where a cycle or the packet to wait for is due; accepted: a whole number from 0 to %llu, or p "
                        "with a number",
                        (unsigned long long)last_cycle);
}

/* Both are optional, and told apart by the letter of the name. */
static bool read_flits_and_name(struct trace_lines *lines, const struct simured_config *config,
                                struct simured_packet *packet)
{
    struct word word;
    uint64_t flits = config->default_flits;
    bool has_word = lines_word(lines, &word);
    if (has_word && word_number(word, MAX_FLITS, &flits))
        has_word = lines_word(lines, &word);
    packet->has_name = has_word && word_numbered(word, 'p', UINT64_MAX, &packet->name);
    packet->flits = config->compatible && packet->has_name ? config->default_flits : (uint32_t)flits;
    if (flits == 0)
        return lines_error(lines, "a packet of 0 flits; accepted: 1 or more");
    if (has_word == packet->has_name)
        return lines_end(lines);
    return lines_refuse(
        lines, word,
        "where the line should end; accepted: flits from 1 to %d, then p with a number as the packet's name",
        MAX_FLITS);
}

static bool simured_read_packet(struct trace_lines *lines, const struct simured_config *config,
                                struct simured_packet *packet)
{
    uint64_t source, destination;
    *packet = (struct simured_packet){.line = lines->line, .parent = FW_ANY, .told_node = FW_ANY};
    if (!read_when(lines, config, packet) || !lines_number(lines, "a source", MAX_PACKET_RANKS - 1, &source) ||
        !lines_number(lines, "a destination", MAX_PACKET_RANKS - 1, &destination))
        return false;
    packet->source = (uint32_t)source;
    packet->destination = (uint32_t)destination;
    return read_flits_and_name(lines, config, packet);
}

static bool simured_read_packets(struct simured_trace *trace)
{
    struct trace_lines *lines = &trace->lines;
    struct simured_packet packet;
    while (lines_next(lines)) {
        if (!simured_read_packet(lines, trace->config, &packet))
            return false;
        trace->packets = memory_grow(trace->packets, trace->count, &trace->room, sizeof packet);
        uint32_t last = packet.source > packet.destination ? packet.source : packet.destination;
        trace->ranks = last >= trace->ranks ? last + 1 : trace->ranks;
        trace->packets[trace->count++] = packet;
        if (trace->count == MAX_PACKETS)
            return lines_error(lines, "the trace has more than %u packets", MAX_PACKETS - 1);
    }
    return trace->count || errors_add(lines->errors, "%s: there are no packets", lines->source->path);
}

/* ---- who waits for whom ---- */

/* The first packet of a name, and another one, as index + 1; 0: there is none. */
struct simured_named {
    uint32_t first, second;
};

static bool find_parent(struct simured_trace *trace, struct simured_packet *packet)
{
    unsigned long long name = packet->when;
    const struct simured_named *named = table_put(&trace->named, &(struct table_key){{packet->when}});
    if (!named->first)
        return lines_error_at(&trace->lines, packet->line,
                              "the packet waits for p%llu, and no line has a packet of that name", name);
    packet->parent = named->first - 1;
    return !named->second ||
           lines_error_at(&trace->lines, packet->line,
                          "the packet waits for p%llu, which is the name of packets in lines %llu and %llu", name,
                          (unsigned long long)trace->packets[named->first - 1].line,
                          (unsigned long long)trace->packets[named->second - 1].line);
}

/* Each waits for one at most: from any packet up to one that waits for nobody, or that was met before. */
static bool is_free_of_circles(struct simured_trace *trace)
{
    for (uint32_t i = 0; i < trace->count; i++) {
        uint32_t at = i;
        for (; at != FW_ANY && !trace->packets[at].walk; at = trace->packets[at].parent)
            trace->packets[at].walk = i + 1;
        if (at != FW_ANY && trace->packets[at].walk == i + 1)
            return lines_error_at(
                &trace->lines, trace->packets[at].line,
                "the packet waits for p%llu, which waits for this one in turn, so that neither ever leaves",
                (unsigned long long)trace->packets[at].when);
    }
    return true;
}

static bool find_parents(struct simured_trace *trace)
{
    for (uint32_t i = 0; i < trace->count; i++) {
        const struct table_key key = {{trace->packets[i].name}};
        struct simured_named *named = trace->packets[i].has_name ? table_put(&trace->named, &key) : NULL;
        if (named && !named->second)
            *(named->first ? &named->second : &named->first) = i + 1;
    }
    for (uint32_t i = 0; i < trace->count; i++)
        if (trace->packets[i].is_dependent && !find_parent(trace, &trace->packets[i]))
            return false;
    return is_free_of_circles(trace);
}

/* ---- tasks ---- */

static void simured_add_tasks(struct simured_trace *trace, struct trace_builder *builder)
{
    struct packets packets;
    packets_init(&packets, builder, trace->ranks);
    for (uint32_t i = 0; i < trace->count; i++) {
        struct simured_packet *packet = &trace->packets[i];
        packet->tasks = packets_add(&packets, packet->source, packet->destination,
                                    (uint64_t)packet->flits * trace->config->flit_bytes);
        if (!packet->is_dependent)
            packets_wait_until(&packets, packet->source, packet->tasks.send, packet->when * cycle_ps(trace->config));
    }
    for (uint32_t i = 0; i < trace->count; i++) {
        const struct simured_packet *packet = &trace->packets[i];
        if (!packet->is_dependent)
            continue;
        struct simured_packet *parent = &trace->packets[packet->parent];
        if (parent->told_node != packet->source) /* it hears once of an arrival, however many wait there in a row */
            parent->told_task = packets_tell(&packets, parent->destination, parent->tasks.receive, packet->source);
        parent->told_node = packet->source;
        builder_wait(builder, packet->source, packet->tasks.send, parent->told_task, false);
    }
    packets_release(&packets);
}

static bool simured_read(const struct trace_source *source, struct trace_builder *builder, struct errors *errors)
{
    struct simured_trace trace = {.lines = {.source = source, .errors = errors}, .config = source->config};
    table_init(&trace.named, sizeof(struct simured_named), NULL);
    bool is_good = simured_read_packets(&trace) && find_parents(&trace);
    if (is_good)
        simured_add_tasks(&trace, builder);
    free(trace.packets);
    table_release(&trace.named);
    return is_good;
}

/* The first line is a packet. */
static bool simured_looks_like(const struct trace_source *source)
{
    struct trace_lines lines = {.source = source};
    struct simured_packet packet;
    const struct simured_config usual = {.cycles.cycle = 1e-9, .default_flits = 1};
    return lines_next(&lines) && simured_read_packet(&lines, &usual, &packet);
}

static const struct trace_reader_ops simured = {
    COMPONENT("simured", "SimuRed's packets, which leave in a cycle or when another one has arrived", simured_options,
              "{\"type\": \"simured\", \"cycle\": \"2ns\", \"flit_bytes\": 8}"),
    .ending = ".trc",
    .looks_like = simured_looks_like,
    .read = simured_read,
};
REGISTER_TRACE_READER(simured);
