/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SuperSim's applications in our words. An application has a block of its own and
 * one for its terminals, with settings in either. Rates are flits a terminal
 * cycle there, flits a channel cycle here.
 */
#include "import/supersim.h"

#include <math.h>
#include <string.h>

static const char terminal_clock[] = "/simulator.terminal_cycle_time";

/* ---- settings ---- */

static void put_rate(struct import *import)
{
    const struct json *node = import_take(import, import->row->key);
    double ratio = (double)supersim_cycle(import, "/simulator.channel_cycle_time") /
                   (double)supersim_cycle(import, terminal_clock);
    if (node)
        import_put_load(import, import_number(import, node, 0.1, 0, 1e6) * ratio, supersim_ports(import), node);
}

static struct json *as_ticks(struct import *import, const struct json *node)
{
    return json_number_u64(import->arena, supersim_ticks(import, node, terminal_clock, 0));
}

static struct json *as_truth(struct import *import, const struct json *node)
{
    return json_bool(import->arena, import_truth(import, node, false));
}

static struct json *as_destinations(struct import *import, const struct json *node)
{
    return json_text(import->arena, import_truth(import, node, false) ? "each" : "same");
}

/* A list of one. Below 0 it is drawn at random there. */
static struct json *as_terminal(struct import *import, const struct json *node)
{
    bool is_drawn = node->type == JSON_NUMBER && node->number < 0;
    bool is_source = strcmp(import->row->ours, "sources") == 0;
    if (is_drawn)
        import_note(import, node, "terminals are named, not drawn", is_source ? "terminal 0" : "terminal 1");
    return import_repeat(import, 1, is_drawn ? !is_source : import_count(import, node, 0, 0, 1u << 30));
}

static const struct import_row application_rows[] = {
    {.of = "blast pulse alltoall", IMPORT_BY(put_rate, "request_injection_rate", NULL)},
    {.of = "stream", IMPORT_BY(put_rate, "injection_rate", NULL)},
    {.of = "blast pulse", IMPORT_AS(import_as_path, "relative_injection", NULL, "relative")},
    {.of = "blast pulse", IMPORT_COUNT("transaction_size", NULL, "messages_per_transaction", 0, 1u << 30)},
    {.of = "blast pulse",
     IMPORT_AS(as_destinations, "multi_destination_transactions", NULL, "transaction_destinations")},
    {.of = "blast pulse", IMPORT_COUNT("max_packet_size", NULL, "max_packet", 0, 1u << 30)},
    {.of = "pulse", IMPORT_COUNT("num_transactions", NULL, "messages", 0, 1u << 30)},
    {.of = "alltoall stencil", IMPORT_COUNT("num_iterations", NULL, "iterations", 0, 1u << 30)},
    {.of = "pulse alltoall", IMPORT_AS(as_ticks, "delay", NULL, "delay")},
    {.of = "alltoall", IMPORT_AS(as_truth, "perform_barriers", NULL, "wait")},
    {.of = "stream", IMPORT_COUNT("num_messages", NULL, "messages", 0, 1u << 30)},
    {.of = "stream", IMPORT_AS(as_terminal, "source_terminal", NULL, "sources")},
    {.of = "stream", IMPORT_AS(as_terminal, "destination_terminal", NULL, "destinations")},
    {.of = "stencil", IMPORT_AS(as_ticks, "compute_delay", NULL, "compute")},
    {.of = "stencil", IMPORT_COUNT("collective_size", NULL, "collective_flits", 0, 1u << 30)},
    {.of = "simple_mem", IMPORT_AS(as_ticks, "latency", NULL, "think")},
    {.of = "stream alltoall stencil simple_mem", IMPORT_COUNT("max_packet_size", NULL, "max_packet", 0, 1u << 30)},
    {0},
};

/* ---- protocol classes ---- */

/* The fallback too where the class is none that the network has. */
static unsigned long long protocol_class_of(struct import *import, const struct json *node, uint64_t fallback)
{
    const struct json *classes = import_look(import, "/network.protocol_classes");
    uint32_t count = classes && classes->type == JSON_ARRAY && classes->count <= 64 ? classes->count : 0;
    return import_count(import, node, fallback, 0, count ? count - 1 : 0);
}

static unsigned long long put_class(struct import *import, const char *path, const char *our_key)
{
    const struct json *node = import_take(import, path);
    unsigned long long class = protocol_class_of(import, node, 0);
    if (import_ours(import, "/network.protocol_classes"))
        import_set(import, "", "%s=%llu", our_key, class);
    else if (class)
        import_note(import, node, "packets of all protocol classes share the VCs", "network.router.num_vcs");
    return class;
}

/* ---- single applications ---- */

static unsigned long long messages_per_transaction(struct import *import)
{
    const struct json *ours = import_ours(import, "messages_per_transaction");
    return ours && ours->number > 0 ? (unsigned long long)ours->number : 1;
}

/* As long as the terminals take for their transactions at the given load. */
static void put_windows(struct import *import, double mean)
{
    const struct json *interval = import_look(import, "warmup_interval"), *load = import_ours(import, "load");
    bool has_none = interval && interval->type == JSON_NUMBER && interval->number == 0;
    import_set(import, "", "warmup=%s", has_none ? "0" : "auto");
    const struct json *node = import_take(import, "num_transactions");
    unsigned long long transactions = import_count(import, node, 0, 0, 1u << 30) * messages_per_transaction(import);
    if (transactions == 0 || !load || load->number <= 0) {
        import_comment(import, import_set(import, "", "sample=0"), "traffic for others: not sampled");
        return;
    }
    double cycle = (double)supersim_cycle(import, "/simulator.channel_cycle_time");
    double ticks = ceil((double)transactions * mean / load->number * cycle);
    struct json *sample = import_set(import, "", "sample=%.17g", ticks < 1e15 ? ticks : 1e15);
    import_comment(import, sample, "what %llu messages of %g flits take at this load", transactions, mean);
}

static void put_replies(struct import *import)
{
    const struct json *latency = import_take(import, "request_processing_latency");
    import_set(import, "", "reply_delay=%llu", supersim_ticks(import, latency, terminal_clock, 0));
    put_class(import, "response_protocol_class", "reply_protocol_class");
}

/* Destinations are drawn anew each time there. */
static void put_order(struct import *import)
{
    const struct json *self = import_take(import, "traffic_pattern.send_to_self");
    const struct json *type = import_take(import, "traffic_pattern.type");
    if (strcmp(import_word(import, type, "random"), "random") != 0)
        import_note(import, type, "no such order", "order random");
    import_set(import, "", "order=random self=%s", import_truth(import, self, false) ? "true" : "false");
}

/* Every other terminal is a memory; a processor has one access under way. Blocks and headers count bytes. */
static void put_memory(struct import *import)
{
    unsigned long long block = import_count(import, import_take(import, "block_size"), 64, 1, 1u << 20);
    unsigned long long header = import_count(import, import_take(import, "header_overhead"), 0, 0, 1u << 20);
    unsigned long long flit = import_count(import, import_take(import, "bytes_per_flit"), 1, 1, 1u << 20);
    unsigned long long small = header ? (header + flit - 1) / flit : 1, large = (header + block + flit - 1) / flit;
    const struct json *latency = import_take(import, "memory_terminal.latency");
    import_set(import, "", "latency=%llu", supersim_ticks(import, latency, terminal_clock, 0));
    put_class(import, "memory_terminal.protocol_class", "reply_protocol_class");
    import_set(import, "", "outstanding=1");
    struct json *last = import_set(
        import, "size", "type=read_write read_request=%llu read_reply=%llu write_request=%llu write_reply=%llu", small,
        large, large, small);
    import_comment(import, last->parent, "blocks of %llu bytes, headers of %llu, flits of %llu", block, header, flit);
}

/* 1 when the topology was refused. */
static double terminals_of(const struct json *topology)
{
    double terminals = 1;
    for (const struct json *count = topology ? topology->first : NULL; count; count = count->next) {
        if (!import_lists("widths down concentration terminals routers groups stops radix", count->key))
            continue;
        terminals *= count->type == JSON_NUMBER ? count->number : 1;
        for (const struct json *item = count->first; item; item = item->next)
            terminals *= item->number;
    }
    const struct json *stages = topology ? json_find(topology, "stages") : NULL;
    return stages ? pow(terminals, stages->number) : terminals;
}

/* Its neighbours stand in a table that is not read; its collective is a barrier with messages of a size. */
static void put_stencil(struct import *import)
{
    double terminals = terminals_of(import_ours(import, "/network.topology"));
    struct json *ranks = import_set(import, "", "ranks=[%.0f]", terminals < 1e9 ? floor(terminals) : 1e9);
    import_comment(import, ranks,
                   "a ring of all terminals: SuperSim reads neighbours and sizes from exchange_messages");
    import_set(import, "", "collective=barrier");
    const struct json *collective = import_take(import, "collective_protocol_class");
    unsigned long long class = put_class(import, "exchange_protocol_class", "protocol_class");
    if (protocol_class_of(import, collective, class) != class)
        import_note(import, collective, "all messages of an application have one protocol class",
                    arena_format(import->arena, "%llu, that of the exchange", class));
}

/* Sizes of messages and their replies, and what depends on them. */
static void put_sizes(struct import *import, bool has_traffic)
{
    const struct json *responses = import_take(import, "enable_responses");
    bool has_replies = import_truth(import, responses, false);
    if (has_replies && !has_traffic)
        import_note(import, responses, "this application has no replies", NULL);
    has_replies &= has_traffic;
    if (import_ours(import, "load") && has_traffic)
        import_comment(import, import_set(import, "", "injection=periodic"),
                       "a message every size / rate cycles, as SuperSim does");
    struct json *terminals = import->theirs;
    import->theirs = import_block(import, "message_size_distribution");
    double mean = supersim_sizes(import, has_replies);
    import->theirs = terminals;
    if (has_replies)
        put_replies(import);
    const struct json *messages = import_ours(import, "messages");
    if (messages)
        import_set(import, "", "messages=%.0f", messages->number * (double)messages_per_transaction(import));
    if (strcmp(import->kind, "blast") == 0)
        put_windows(import, mean);
    if (strcmp(import->kind, "alltoall") == 0)
        put_order(import);
}

/* ---- the whole ---- */

static const struct application_kind {
    const char *theirs, *ours;
    const char *terminals; /* the block of its terminals */
    bool has_sizes, has_traffic;
    const char *class_key; /* of its messages; NULL: there are several */
} kinds[] = {
    {"blast", "blast", "blast_terminal", true, true, "request_protocol_class"},
    {"pulse", "pulse", "pulse_terminal", true, true, "request_protocol_class"},
    {"stream", "stream", "stream_terminal", true, false, "protocol_class"},
    {"alltoall", "alltoall", "alltoall_terminal", true, false, "request_protocol_class"},
    {"stencil", "stencil", "stencil_terminal", false, false, NULL},
    {"simple_mem", "memory", "processor_terminal", false, false, "protocol_class"},
    {0},
};

static void put_application(struct import *import, struct json *theirs)
{
    import->theirs = theirs;
    const struct json *type = import_need(import, "type");
    const struct application_kind *kind = IMPORT_FIND(kinds, import_word(import, type, ""));
    if (!kind) {
        IMPORT_REFUSE(import, type, kinds);
        return;
    }
    struct json *terminals = import_block(import, kind->terminals);
    if (!import_look(import, kind->terminals))
        import_error(import, theirs, "has no '%s', which is needed", kind->terminals);
    import->ours = json_append(import_ours(import, "/workload.applications"), json_object(import->arena));
    import->kind = kind->theirs;
    import->theirs = terminals;
    import_set(import, "", "type=%s", kind->ours);
    if (kind->class_key)
        put_class(import, kind->class_key, "protocol_class");
    import->beside = theirs;
    import_carry(import, application_rows, terminals, import->ours);
    import->beside = NULL;
    if (strcmp(kind->theirs, "simple_mem") == 0) {
        import->theirs = theirs;
        put_memory(import);
        import->theirs = terminals;
    }
    if (strcmp(kind->theirs, "stencil") == 0)
        put_stencil(import);
    if (kind->has_traffic)
        supersim_traffic(import, import_block(import, "traffic_pattern"));
    import->kind = kind->theirs;
    if (kind->has_sizes && terminals)
        put_sizes(import, kind->has_traffic);
}

void supersim_applications(struct import *import)
{
    struct json *theirs = import_look(import, "/workload.applications");
    if (!theirs || theirs->type != JSON_ARRAY || theirs->count == 0) {
        import_error(import, theirs ? theirs : json_find(import->root, "workload"),
                     "expected an array 'applications', one at least");
        return;
    }
    import_put(import, "/workload.applications", json_array(import->arena));
    for (struct json *one = theirs->first; one; one = one->next)
        if (one->type == JSON_OBJECT)
            put_application(import, one);
        else
            import_expected(import, one, "an object");
}
