/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SuperSim's traffic patterns, distributions of message sizes and applications in our words. Patterns repeat widths and
 * concentration of the network, which ours know. An application has a block of its own and one for its terminals, with
 * settings in either. Rates are flits a terminal cycle there, flits a channel cycle here.
 */
#include "import/import.h"

#include <math.h>
#include <string.h>

/* ---- patterns ---- */

/* Theirs and ours where they differ. */
static const char patterns[] =
    "BitReverse=bit_reverse bit_rotate=bit_rotation bit_transpose=transpose uniform_random bit_complement bit_reverse "
    "tornado neighbor loopback matrix scan swap2 dim_bisection_stress "
    "dim_complement_reverse dim_reverse dim_rotate dim_transpose group_attack local_random_remote_attack "
    "local_remote_random random_block_out random_exchange random_exchange_neighbor random_exchange_quadrant "
    "uniform_random_bisection uniform_random_quadrant";
/* Those that lay a grid of their own over the terminals. */
static const char gridded[] = "swap2 dim_* random_exchange_neighbor random_exchange_quadrant uniform_random_*";

/* Whether patterns find the coordinates of terminals in the network. */
static bool has_grid(struct import *import)
{
    return import_lists("torus mesh parking_lot", import_word(import, import_look(import, "/network.topology"), ""));
}

static void supersim_put_self(struct import *import)
{
    const struct json *self = import_take(import, "send_to_self");
    if (self && import_lists("uniform_random scan local_* uniform_random_quadrant", import->kind))
        import_set(import, "", "self=%s", truth_word(import_truth(import, self, false)));
    else if (import_lists("local_*", import->kind))
        import_set(import, "", "self=true");
}

static void put_matrix_file(struct import *import)
{
    const struct json *file = import_need(import, "file");
    if (file)
        import_put(import, "file", json_text(import->arena, import_path(import, file)));
}

/* group_size counts routers there, terminals here. */
static void put_group(struct import *import)
{
    const struct json *routers = import_take(import, "group_size");
    const struct json *concentration = import_look(import, "concentration");
    unsigned long long terminals = import_count(import, concentration, 1, 1, 1u << 20) / supersim_ports(import);
    if (routers)
        import_set(import, "", "group=%llu",
                   import_count(import, routers, 1, 1, 1u << 20) * (terminals ? terminals : 1));
}

/* [true, false]: the dimensions that take part; the first alone, or the first two, when it is absent. */
static void put_dimensions(struct import *import)
{
    const struct json *mask = import_take(import, "enabled_dimensions");
    struct json *list = json_array(import->arena);
    uint32_t d = 0;
    for (const struct json *item = mask && mask->type == JSON_ARRAY ? mask->first : NULL; item; item = item->next, d++)
        if (import_truth(import, item, false))
            json_append(list, json_number_u64(import->arena, d));
    bool is_first = !mask || (list->count == 1 && list->first->number == 0);
    if (strcmp(import->kind, "tornado") == 0)
        import_set(import, "", "dimensions=%s", is_first ? "first" : "all");
    else if (mask && mask->type == JSON_ARRAY)
        import_put(import, "dimensions", list);
    if (strcmp(import->kind, "tornado") == 0 && !is_first && list->count < d)
        import_note(import, mask, DECISIVE, "the first dimension or all of them", "dimensions all");
}

/* Widths and concentration say again what the network is; they are taken where they say the same. */
static void take_repetition(struct import *import)
{
    const struct json *widths = import_ours(import, "/network.topology.widths"),
                      *own = import_look(import, "dimensions");
    bool is_same = own && widths && json_is_equal(own, widths), has_widths = import_lists(gridded, import->kind);
    if (own && has_widths && (!is_same || !has_grid(import)))
        import_put(import, "widths", import_numbers(import, own, 1, 65536));
    if (is_same || has_widths)
        import_take(import, "dimensions");
    const struct json *ports = import_look(import, "interface_ports");
    if (ports && ports->number == (double)supersim_ports(import))
        import_take(import, "interface_ports");
    const struct json *terminals = import_ours(import, "/network.topology.concentration");
    terminals = terminals ? terminals : import_ours(import, "/network.topology.terminals");
    const struct json *concentration = import_look(import, "concentration");
    if (concentration && terminals && concentration->number == terminals->number * (double)supersim_ports(import))
        import_take(import, "concentration");
}

static const struct import_row pattern_rows[] = {
    {IMPORT_BY(supersim_put_self, "send_to_self", NULL)},
    {.of = "scan", IMPORT_WORDS(import_put_same, "direction", "direction", "ascend=up descend=down random")},
    {.of = "scan", IMPORT_WORDS(import_put_same, "initial", "start", "random")},
    {.of = "scan", IMPORT_SAME(import_put_same, "initial", "first")},
    {.of = "dim_rotate", IMPORT_WORDS(import_put_same, "direction", "direction", "left right")},
    {.of = "dim_bisection_stress", IMPORT_WORDS(import_put_same, "mode", "groups", "parity half quadrant")},
    {.of = "random_exchange_neighbor", IMPORT_SAME(import_put_same, "all_interfaces", "all_slots")},
    {.of = "random_block_out local_*", IMPORT_SAME(import_put_same, "block_size", "block")},
    {.of = "local_*", IMPORT_SAME(import_put_same, "local_probability", "local")},
    {.of = "local_random_remote_attack", IMPORT_WORDS(import_put_same, "remote_mode", "target", "half opposite")},
    {.of = "local_random_remote_attack", IMPORT_SAME(import_put_same, "remote_mode", "offset")},
    {.of = "group_attack", IMPORT_WORDS(import_put_same, "group_mode", "target", "half opposite")},
    {.of = "group_attack", IMPORT_SAME(import_put_same, "group_mode", "offset")},
    {.of = "group_attack",
     IMPORT_WORDS(import_put_same, "destination_mode", "place", "random self=same complement=mirrored")},
    {.of = "matrix", IMPORT_BY(put_matrix_file, "file", NULL)},
    {.of = "group_attack", IMPORT_BY(put_group, "group_size", NULL)},
    {.of = "tornado swap2 dim_transpose random_exchange_neighbor uniform_random_bisection",
     IMPORT_BY(put_dimensions, "enabled_dimensions", NULL)},
    {IMPORT_BY(take_repetition, "dimensions", NULL)},
    {0},
};

static void put_traffic(struct import *import, struct json *pattern)
{
    struct import inner = import_within(import, pattern, NULL);
    const struct json *type = import_take(&inner, "type");
    const char *name = import_word(import, type, "uniform_random"), *ours = import_ours_for(import, patterns, name);
    if (!ours)
        import_note(import, type, DECISIVE, "no such pattern", ours = name = "uniform_random");
    inner.kind = name;
    if (strcmp(name, "tornado") == 0 && !has_grid(import)) {
        inner.kind = ours = "random_permutation";
        import_note(import, type, DECISIVE, "goes along the dimensions of a mesh or torus", ours);
    }
    struct json *block = import_set(import, "traffic", "type=%s", ours)->parent;
    if (strcmp(name, "neighbor") == 0)
        import_note(import, type, DECISIVE, "goes along a dimension there, to the next number here", "neighbor");
    if (pattern)
        import_carry(&inner, pattern_rows, pattern, block);
}

/* ---- sizes ---- */

static unsigned long long flits(struct import *import, const char *prefix, const char *key, uint64_t fallback,
                                uint64_t min)
{
    return import_count_at(import, arena_format(import->arena, "%s%s", prefix, key), fallback, min, 1u << 30);
}

/* One distribution at a path, from keys with a prefix; returns its mean. */
static double put_distribution(struct import *import, const char *type, const char *path, const char *prefix,
                               double fallback)
{
    if (strcmp(type, "fixed") == 0) {
        unsigned long long size = flits(import, prefix, "message_size", (uint64_t)fallback, 1);
        import_set(import, path, "type=fixed flits=%llu", size);
        return (double)size;
    }
    if (strcmp(type, "uniform") == 0) {
        unsigned long long min = flits(import, prefix, "min_message_size", 1, 1);
        unsigned long long unsaid = fallback > (double)min ? (uint64_t)fallback : min;
        unsigned long long max = flits(import, prefix, "max_message_size", unsaid, min);
        import_set(import, path, "type=uniform min=%llu max=%llu", min, max);
        return (double)(min + max) / 2;
    }
    const struct json *sizes = import_take(import, arena_format(import->arena, "%smessage_sizes", prefix));
    const struct json *chances = import_take(import, arena_format(import->arena, "%ssize_probabilities", prefix));
    struct json *list = import_numbers(import, sizes, 1, 1u << 30), *weights = json_array(import->arena);
    bool is_array = chances && chances->type == JSON_ARRAY;
    for (const struct json *item = is_array ? chances->first : NULL; item; item = item->next)
        json_append(weights, json_number_f64(import->arena, import_number(import, item, 0, 0, 1e9)));
    if (list->count == 0 || list->count != weights->count)
        import_error(import, chances ? chances : import->theirs,
                     "found %u probabilities for %u sizes, expected one for each", weights->count, list->count);
    return import_put_mix(import, path, list, weights, fallback);
}

/* Requests alone are a mix of two sizes. */
static double put_read_write(struct import *import, bool has_replies)
{
    static const char *const keys[] = {"read_request_size", "write_request_size", "read_response_size",
                                       "write_response_size"};
    double reads = import_number_at(import, "read_probability", 0.5, 0, 1), sizes[4];
    for (uint32_t i = 0; i < 4; i++)
        sizes[i] = (double)flits(import, "", keys[i], 1, 1);
    if (has_replies)
        import_put_read_write(import, reads, sizes);
    else
        import_set(import, "size", "type=mix sizes=[%.0f,%.0f] weights=[%.17g,%.17g]", sizes[0], sizes[1], reads,
                   1 - reads);
    return reads * sizes[0] + (1 - reads) * sizes[1];
}

/* Keys that say that replies have sizes of their own. */
static const char own_replies[] =
    "fixed=dependent_message_size uniform=dependent_max_message_size mix=dependent_message_sizes";

/* Puts `size`, and `reply` where there are responses; returns the mean size of a message. */
static double put_size(struct import *import, bool has_replies)
{
    const char *type =
        import_nearest(import, import_take(import, "type"), "single=fixed random=uniform probability=mix read_write",
                       "distribution", "fixed");
    if (strcmp(type, "read_write") == 0)
        return put_read_write(import, has_replies);
    double mean = put_distribution(import, type, "size", "", 1);
    if (has_replies && import_look(import, import_ours_for(import, own_replies, type)))
        put_distribution(import, type, "reply", "dependent_", mean);
    else if (has_replies)
        import_put(import, "reply", json_copy(import->arena, import_ours(import, "size")));
    return mean;
}

/* ---- settings ---- */

static void put_rate(struct import *import)
{
    const struct json *node = import_take(import, import->row->key);
    double ratio = (double)supersim_cycle(import, "channel") / (double)supersim_cycle(import, "terminal");
    if (node)
        import_put_load(import, import_number(import, node, 0.1, 0, 1e6) * ratio, supersim_ports(import), node);
}

static struct json *as_ticks(struct import *import, const struct json *node)
{
    (void)node;
    return json_number_u64(import->arena, supersim_ticks(import, import->row->key, "terminal", 0));
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
        import_note(import, node, DECISIVE, "terminals are named, not drawn", is_source ? "terminal 0" : "terminal 1");
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
        import_note(import, node, DECISIVE, "packets of all protocol classes share the VCs", "network.router.num_vcs");
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
    unsigned long long transactions =
        import_count_at(import, "num_transactions", 0, 0, 1u << 30) * messages_per_transaction(import);
    if (transactions == 0 || !load || load->number <= 0) {
        import_comment(import, import_set(import, "", "sample=0"), "traffic for others: not sampled");
        return;
    }
    double cycle = (double)supersim_cycle(import, "channel");
    double ticks = ceil((double)transactions * mean / load->number * cycle);
    struct json *sample = import_set(import, "", "sample=%.17g", ticks < 1e15 ? ticks : 1e15);
    import_comment(import, sample, "what %llu messages of %g flits take at this load", transactions, mean);
    import_set(import, "", "wait_when_saturated=true");
}

/* Destinations are drawn anew each time there. */
static void put_order(struct import *import)
{
    bool goes_to_self = import_truth_at(import, "traffic_pattern.send_to_self", false);
    const struct json *type = import_take(import, "traffic_pattern.type");
    if (strcmp(import_word(import, type, "random"), "random") != 0)
        import_note(import, type, DECISIVE, "no such order", "order random");
    import_set(import, "", "order=random self=%s", truth_word(goes_to_self));
}

/* Every other terminal is a memory; a processor has one access under way. Blocks and headers count bytes. */
static void put_memory(struct import *import)
{
    unsigned long long block = import_count_at(import, "block_size", 64, 1, 1u << 20),
                       header = import_count_at(import, "header_overhead", 0, 0, 1u << 20),
                       flit = import_count_at(import, "bytes_per_flit", 1, 1, 1u << 20);
    unsigned long long small = header ? (header + flit - 1) / flit : 1, large = (header + block + flit - 1) / flit;
    import_set(import, "", "latency=%llu", supersim_ticks(import, "memory_terminal.latency", "terminal", 0));
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
        import_note(import, collective, DECISIVE, "all messages of an application have one protocol class",
                    arena_format(import->arena, "%llu, that of the exchange", class));
}

/* Sizes of messages and their replies, and what depends on them. */
static void put_sizes(struct import *import, bool has_traffic)
{
    const struct json *responses = import_take(import, "enable_responses");
    bool has_replies = import_truth(import, responses, false);
    if (has_replies && !has_traffic)
        import_note(import, responses, DECISIVE, "this application has no replies", NULL);
    has_replies &= has_traffic;
    if (import_ours(import, "load") && has_traffic)
        import_comment(
            import,
            import_set(import, "", "gap_by_size=true injection.type=periodic injection.rounding=random")->parent,
            "a message every size / rate cycles, as SuperSim does");
    struct import inner = import_within(import, import_block(import, "message_size_distribution"), import->ours);
    double mean = put_size(&inner, has_replies);
    if (has_replies) {
        import_set(import, "", "reply_delay=%llu", supersim_ticks(import, "request_processing_latency", "terminal", 0));
        put_class(import, "response_protocol_class", "reply_protocol_class");
    }
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
    struct import outer = import_within(import, theirs, NULL);
    const struct application_kind *kind = IMPORT_CHOOSE(&outer, import_need(&outer, "type"), kinds);
    if (!kind)
        return;
    struct json *terminals = import_block(&outer, kind->terminals);
    if (!import_look(&outer, kind->terminals))
        import_error(import, theirs, "has no '%s', which is needed", kind->terminals);
    outer.ours = json_append(import_ours(import, "/workload.applications"), json_object(import->arena));
    struct import inner = import_within(import, terminals, outer.ours);
    inner.kind = kind->theirs;
    import_set(&inner, "", "type=%s", kind->ours);
    if (kind->class_key)
        put_class(&inner, kind->class_key, "protocol_class");
    inner.beside = theirs;
    import_carry(&inner, application_rows, terminals, inner.ours);
    inner.beside = NULL;
    if (strcmp(kind->theirs, "simple_mem") == 0)
        put_memory(&outer);
    if (strcmp(kind->theirs, "stencil") == 0)
        put_stencil(&inner);
    if (kind->has_traffic)
        put_traffic(&inner, import_block(&inner, "traffic_pattern"));
    if (kind->has_sizes && terminals)
        put_sizes(&inner, kind->has_traffic);
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
