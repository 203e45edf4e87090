/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SuperSim's applications in our words. An application has a block of its own and
 * one for its terminals; rows say where a setting stands and what becomes of it.
 * Rates are flits a terminal cycle there, flits a channel cycle here.
 */
#include "import/supersim.h"

#include <math.h>
#include <string.h>

enum unit { NUMBER, RATE, TICKS, TRUTH, PATH, EACH, TERMINAL };

struct application_row {
    const char *key, *ours;
    enum unit unit;
};

#define STEADY_ROWS                                                                                                    \
    {"request_injection_rate", "load", RATE}, {"relative_injection", "relative", PATH},                                \
        {"transaction_size", "messages_per_transaction", NUMBER},                                                      \
        {"multi_destination_transactions", "transaction_destinations", EACH},                                          \
    {                                                                                                                  \
        "max_packet_size", "max_packet", NUMBER                                                                        \
    }

static const struct application_row blast_rows[] = {STEADY_ROWS, {0}};
static const struct application_row pulse_rows[] = {
    STEADY_ROWS, {"num_transactions", "messages", NUMBER}, {"delay", "delay", TICKS}, {0}};
static const struct application_row stream_rows[] = {
    {"injection_rate", "load", RATE},          {"num_messages", "messages", NUMBER},
    {"source_terminal", "sources", TERMINAL},  {"destination_terminal", "destinations", TERMINAL},
    {"max_packet_size", "max_packet", NUMBER}, {0}};
static const struct application_row alltoall_rows[] = {
    {"request_injection_rate", "load", RATE}, {"num_iterations", "iterations", NUMBER},  {"delay", "delay", TICKS},
    {"perform_barriers", "wait", TRUTH},      {"max_packet_size", "max_packet", NUMBER}, {0}};
static const struct application_row stencil_rows[] = {{"num_iterations", "iterations", NUMBER},
                                                      {"compute_delay", "compute", TICKS},
                                                      {"collective_size", "collective_flits", NUMBER},
                                                      {"max_packet_size", "max_packet", NUMBER},
                                                      {0}};
static const struct application_row memory_rows[] = {
    {"latency", "think", TICKS}, {"max_packet_size", "max_packet", NUMBER}, {0}};

static const struct application_kind {
    const char *theirs, *ours;
    const char *terminals; /* the block of its terminals */
    const struct application_row *rows;
    bool has_sizes, has_traffic;
    const char *class_key; /* of its messages; NULL: there are several */
} kinds[] = {
    {"blast", "blast", "blast_terminal", blast_rows, true, true, "request_protocol_class"},
    {"pulse", "pulse", "pulse_terminal", pulse_rows, true, true, "request_protocol_class"},
    {"stream", "stream", "stream_terminal", stream_rows, true, false, "protocol_class"},
    {"alltoall", "alltoall", "alltoall_terminal", alltoall_rows, true, false, "request_protocol_class"},
    {"stencil", "stencil", "stencil_terminal", stencil_rows, false, false, NULL},
    {"simple_mem", "memory", "processor_terminal", memory_rows, false, false, "protocol_class"},
    {0},
};

/* An application on its way: their two blocks, our one. */
struct move {
    struct supersim *supersim;
    const struct application_kind *kind;
    struct json *application, *terminals, *ours;
};

/* A list of one. Below 0 it is drawn at random there. */
static struct json *terminal_list(const struct move *move, const struct application_row *row, const struct json *node)
{
    struct import *import = move->supersim->import;
    bool is_drawn = node->type == JSON_NUMBER && node->number < 0, is_source = strcmp(row->ours, "sources") == 0;
    if (is_drawn)
        import_note(import, node, "terminals are named, not drawn", is_source ? "terminal 0" : "terminal 1");
    uint64_t terminal = is_drawn ? !is_source : import_count(import, node, 0, 0, 1u << 30);
    struct json *list = json_array(import->arena);
    json_append(list, json_number_u64(import->arena, terminal));
    return list;
}

static struct json *convert(const struct move *move, const struct application_row *row, const struct json *node)
{
    struct supersim *supersim = move->supersim;
    struct import *import = supersim->import;
    struct arena *arena = import->arena;
    switch (row->unit) {
    case NUMBER:
        return json_number_u64(arena, import_count(import, node, 0, 0, 1u << 30));
    case TICKS:
        return json_number_u64(arena, supersim_ticks(supersim, node, supersim->terminal_cycle, 0));
    case TRUTH:
        return json_bool(arena, import_truth(import, node, false));
    case PATH:
        return json_text(arena, import_path(import, node));
    case EACH:
        return json_text(arena, import_truth(import, node, false) ? "each" : "same");
    case TERMINAL:
        return terminal_list(move, row, node);
    case RATE:
        break; /* put_rate */
    }
    return NULL;
}

static void put_rate(const struct move *move, const struct json *node)
{
    struct supersim *supersim = move->supersim;
    double ratio = (double)supersim->channel_cycle / (double)supersim->terminal_cycle;
    import_put_load(supersim->import, move->ours, import_number(supersim->import, node, 0.1, 0, 1e6) * ratio,
                    supersim->ports, node);
}

static void put_rows(const struct move *move)
{
    for (const struct application_row *row = move->kind->rows; row->key; row++) {
        struct json *block =
            move->terminals && json_find(move->terminals, row->key) ? move->terminals : move->application;
        const struct json *node = import_take(block, row->key);
        if (node && row->unit == RATE)
            put_rate(move, node);
        else if (node)
            import_put(move->supersim->import, move->ours, row->ours, convert(move, row, node));
    }
}

static uint64_t messages_per_transaction(const struct move *move)
{
    const struct json *ours = json_find(move->ours, "messages_per_transaction");
    return ours && ours->number > 0 ? (uint64_t)ours->number : 1;
}

/* As long as the terminals take for their transactions at the given load. */
static void put_windows(const struct move *move, double mean)
{
    struct supersim *supersim = move->supersim;
    struct import *import = supersim->import;
    const struct json *interval = json_find(move->terminals, "warmup_interval");
    if (interval && interval->type == JSON_NUMBER && interval->number == 0)
        import_put_u64(import, move->ours, "warmup", 0);
    else
        import_put_text(import, move->ours, "warmup", "auto");
    const struct json *node = import_take(move->terminals, "num_transactions");
    uint64_t transactions = import_count(import, node, 0, 0, 1u << 30) * messages_per_transaction(move);
    const struct json *load = json_find(move->ours, "load");
    if (transactions == 0 || !load || load->number <= 0) {
        import_comment(import, import_put_u64(import, move->ours, "sample", 0), "traffic for others: not sampled");
        return;
    }
    double ticks = ceil((double)transactions * mean / load->number * (double)supersim->channel_cycle);
    struct json *sample = import_put_f64(import, move->ours, "sample", ticks < 1e15 ? ticks : 1e15);
    import_comment(import, sample, "what %llu messages of %g flits take at this load", (unsigned long long)transactions,
                   mean);
}

/* The fallback too where the class is none that the network has. */
static uint64_t class_of(const struct move *move, const struct json *node, uint64_t fallback)
{
    uint32_t classes = move->supersim->classes;
    return import_count(move->supersim->import, node, fallback, 0, classes ? classes - 1 : 0);
}

static uint64_t put_class(const struct move *move, struct json *block, const char *key, const char *our_key)
{
    struct supersim *supersim = move->supersim;
    const struct json *node = import_take(block, key);
    uint64_t class = class_of(move, node, 0);
    if (supersim->classes > 1 && supersim->keeps_classes)
        import_put_u64(supersim->import, move->ours, our_key, class);
    else if (class)
        import_note(supersim->import, node, "packets of all protocol classes share the VCs", "network.router.num_vcs");
    return class;
}

/* Halos and the collective of a stencil are messages of one application. */
static void put_stencil_class(const struct move *move)
{
    struct import *import = move->supersim->import;
    const struct json *collective = import_take(move->terminals, "collective_protocol_class");
    uint64_t class = put_class(move, move->terminals, "exchange_protocol_class", "protocol_class");
    if (class_of(move, collective, class) != class)
        import_note(import, collective, "all messages of an application have one protocol class",
                    arena_format(import->arena, "%llu, that of the exchange", (unsigned long long)class));
}

static void put_replies(const struct move *move)
{
    struct supersim *supersim = move->supersim;
    const struct json *latency = import_take(move->terminals, "request_processing_latency");
    import_put_u64(supersim->import, move->ours, "reply_delay",
                   supersim_ticks(supersim, latency, supersim->terminal_cycle, 0));
    put_class(move, move->terminals, "response_protocol_class", "reply_protocol_class");
}

/* Destinations are drawn anew each time there. */
static void put_order(const struct move *move)
{
    struct import *import = move->supersim->import;
    struct json *pattern = import_block(import, move->terminals, "traffic_pattern");
    const struct json *self = import_take(pattern, "send_to_self"), *type = import_take(pattern, "type");
    if (strcmp(import_word(import, type, "random"), "random") != 0)
        import_note(import, type, "no such order", "order random");
    import_put_text(import, move->ours, "order", "random");
    import_put(import, move->ours, "self", json_bool(import->arena, import_truth(import, self, false)));
}

/* Every other terminal is a memory; a processor has one access under way. Blocks and headers count bytes. */
static void put_memory(const struct move *move)
{
    struct supersim *supersim = move->supersim;
    struct import *import = supersim->import;
    uint64_t block = import_count(import, import_take(move->application, "block_size"), 64, 1, 1u << 20);
    uint64_t header = import_count(import, import_take(move->application, "header_overhead"), 0, 0, 1u << 20);
    uint64_t flit = import_count(import, import_take(move->application, "bytes_per_flit"), 1, 1, 1u << 20);
    uint64_t small = (header + flit - 1) / flit, large = (header + block + flit - 1) / flit;
    const struct json *latency = import_take(import_block(import, move->application, "memory_terminal"), "latency");
    import_put_u64(import, move->ours, "latency", supersim_ticks(supersim, latency, supersim->terminal_cycle, 0));
    put_class(move, import_block(import, move->application, "memory_terminal"), "protocol_class",
              "reply_protocol_class");
    import_put_u64(import, move->ours, "outstanding", 1);
    struct json *size = import_put_text(import, move->ours, "size.type", "read_write")->parent;
    import_comment(import, size, "blocks of %llu bytes, headers of %llu, flits of %llu", (unsigned long long)block,
                   (unsigned long long)header, (unsigned long long)flit);
    import_put_u64(import, size, "read_request", small ? small : 1);
    import_put_u64(import, size, "read_reply", large);
    import_put_u64(import, size, "write_request", large);
    import_put_u64(import, size, "write_reply", small ? small : 1);
}

/* 1 when the topology was refused. */
static double terminals_of(const struct json *topology)
{
    static const char *const counts[] = {"widths",  "down",   "concentration", "terminals",
                                         "routers", "groups", "stops",         "radix"};
    double terminals = 1;
    for (uint32_t i = 0; i < 8; i++) {
        const struct json *count = topology ? json_find(topology, counts[i]) : NULL;
        terminals *= count && count->type == JSON_NUMBER ? count->number : 1;
        for (const struct json *item = count ? count->first : NULL; item; item = item->next)
            terminals *= item->number;
    }
    const struct json *stages = topology ? json_find(topology, "stages") : NULL;
    return stages ? pow(terminals, stages->number) : terminals;
}

/* Its neighbours stand in a table that is not read; its collective is a barrier with messages of a size. */
static void put_stencil(const struct move *move)
{
    struct import *import = move->supersim->import;
    double terminals = terminals_of(json_find(json_find(import->ours, "network"), "topology"));
    struct json *ranks =
        import_put_row(import, move->ours, "ranks", 1, terminals < 1e9 ? (uint64_t)terminals : 1000000000);
    import_comment(import, ranks,
                   "a ring of all terminals: SuperSim reads neighbours and sizes from exchange_messages");
    import_put_text(import, move->ours, "collective", "barrier");
    put_stencil_class(move);
}

static void put_parts(const struct move *move)
{
    struct supersim *supersim = move->supersim;
    struct import *import = supersim->import;
    put_rows(move);
    if (strcmp(move->kind->theirs, "simple_mem") == 0)
        put_memory(move);
    if (strcmp(move->kind->theirs, "stencil") == 0)
        put_stencil(move);
    if (move->kind->has_traffic)
        supersim_traffic(supersim, import_block(import, move->terminals, "traffic_pattern"), move->ours);
    if (!move->kind->has_sizes || !move->terminals)
        return;
    const struct json *responses = import_take(move->terminals, "enable_responses");
    bool has_replies = import_truth(import, responses, false);
    if (has_replies && !move->kind->has_traffic)
        import_note(import, responses, "this application has no replies", NULL);
    has_replies &= move->kind->has_traffic;
    if (json_find(move->ours, "load") && move->kind->has_traffic) {
        struct json *injection = import_put_text(import, move->ours, "injection", "periodic");
        import_comment(import, injection, "a message every size / rate cycles, as SuperSim does");
    }
    double mean = supersim_sizes(supersim, import_block(import, move->terminals, "message_size_distribution"),
                                 move->ours, has_replies);
    if (has_replies)
        put_replies(move);
    struct json *messages = json_find(move->ours, "messages");
    if (messages && messages_per_transaction(move) > 1)
        json_replace(messages,
                     json_number_u64(import->arena, (uint64_t)messages->number * messages_per_transaction(move)));
    if (strcmp(move->kind->theirs, "blast") == 0)
        put_windows(move, mean);
    if (strcmp(move->kind->theirs, "alltoall") == 0)
        put_order(move);
}

static void put_application(struct supersim *supersim, struct json *theirs, struct json *applications)
{
    struct import *import = supersim->import;
    const struct json *type = import_need(import, theirs, "type");
    const char *name = import_word(import, type, "");
    struct move move = {.supersim = supersim, .application = theirs, .kind = IMPORT_FIND(kinds, name)};
    if (!move.kind) {
        IMPORT_REFUSE(import, type, kinds);
        return;
    }
    move.terminals = import_block(import, theirs, move.kind->terminals);
    if (!json_find(theirs, move.kind->terminals))
        import_error(import, theirs, "has no '%s', which is needed", move.kind->terminals);
    move.ours = json_append(applications, json_object(import->arena));
    import_put_text(import, move.ours, "type", move.kind->ours);
    if (move.kind->class_key)
        put_class(&move, move.terminals, move.kind->class_key, "protocol_class");
    put_parts(&move);
}

void supersim_applications(struct supersim *supersim)
{
    struct import *import = supersim->import;
    struct json *theirs = json_find(supersim->workload, "applications");
    if (!theirs || theirs->type != JSON_ARRAY || theirs->count == 0) {
        import_error(import, theirs ? theirs : supersim->workload, "expected an array 'applications', one at least");
        return;
    }
    struct json *applications = import_put(import, import->ours, "workload.applications", json_array(import->arena));
    for (struct json *one = theirs->first; one; one = one->next)
        if (one->type == JSON_OBJECT)
            put_application(supersim, one, applications);
        else
            import_expected(import, one, "an object");
}
