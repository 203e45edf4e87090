/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SuperSim's topology, channels and interfaces, its protocol classes and routing algorithms in our words. The pairs of
 * topology and algorithm are one table.
 */
#include "import/import.h"

#include "config/options.h"
#include "config/registry.h"

#include <string.h>

/* ---- topology ---- */

/* SuperSim counts ports at a router, of which an interface may have several; we count terminals. */
static void put_concentration(struct import *import)
{
    const char *key = import_lists("dragonfly single_router", import->kind) ? "terminals" : "concentration";
    const struct json *node = import_take(import, "concentration");
    unsigned long long concentration = import_count(import, node, 1, 1, 1u << 30), ports = supersim_ports(import);
    if (concentration % ports)
        import_error(import, node ? node : import->theirs,
                     "found a concentration of %llu, expected a multiple of interface_ports (%llu)", concentration,
                     ports);
    struct json *ours = import_set(import, "network.topology", "%s=%llu", key, concentration / ports);
    if (ports > 1)
        import_comment(import, ours, "%llu ports at a router, %llu of each interface", concentration, ports);
}

static bool are_equal(const struct json *numbers)
{
    const struct json *item = numbers->first;
    while (item && item->number == numbers->first->number)
        item = item->next;
    return !item;
}

static void put_grid(struct import *import)
{
    const struct json *widths = import_need(import, "dimension_widths");
    struct json *ours = import_put(import, "network.topology.widths", import_numbers(import, widths, 2, 65536));
    if (widths && widths->type == JSON_ARRAY && ours->count == 0)
        import_error(import, widths, "found none, expected a number of routers for each dimension");
    put_concentration(import);
    struct json *weights = import_numbers(import, import_take(import, "dimension_weights"), 1, 65536);
    if (weights->count && (!are_equal(weights) || weights->first->number != 1))
        import_put(import, "network.topology.channels", weights);
}

/* [[down, up], [down, up], [down]] from the leaves to the roots. */
static void put_fat_tree(struct import *import)
{
    const struct json *levels = import_need(import, "down_up");
    struct json *down = import_put(import, "network.topology.down", json_array(import->arena));
    struct json *up = import_put(import, "network.topology.up", json_array(import->arena));
    const struct json *level = import_items(import, levels, "an array of [down, up]");
    for (; level; level = level->next) {
        const struct json *pair = import_numbers(import, level, 1, 65536);
        if (pair->count != (level->next ? 2 : 1))
            import_error(import, level, "found %u numbers, expected %s", pair->count,
                         level->next ? "[down, up]" : "[down] for the roots");
        else
            json_append(down, json_number_f64(import->arena, pair->first->number));
        if (pair->count == 2 && level->next)
            json_append(up, json_number_f64(import->arena, pair->last->number));
    }
}

static void put_dragonfly(struct import *import)
{
    const struct json *local_weight = import_take(import, "local_weight");
    const struct json *global_weight = import_take(import, "global_weight");
    unsigned long long groups = import_count_at(import, "global_width", 1, 1, 1u << 30),
                       routers = import_count_at(import, "local_width", 1, 1, 1u << 30);
    unsigned long long channels = (groups - 1) * import_count(import, global_weight, 1, 1, 65536);
    put_concentration(import);
    struct json *global =
        import_set(import, "network.topology", "routers=%llu global=%llu", routers, (channels + routers - 1) / routers);
    import_comment(import, global, "%llu channels out of a group of %llu routers", channels, routers);
    import_set(import, "network.topology", "groups=%llu arrangement=relative", groups);
    if (import_count(import, local_weight, 1, 1, 65536) > 1)
        import_note(import, local_weight, DECISIVE, "there is one channel between two routers of a group", NULL);
    if (channels % routers)
        import_note(import, global_weight, DECISIVE, "all routers have the same number of global channels",
                    "network.topology.global");
}

static const char topologies[] = "torus mesh hyperx fat_tree=folded_clos dragonfly butterfly parking_lot single_router "
                                 "interface_only=single_router";
static const struct import_row topology_rows[] = {
    {.of = "torus mesh hyperx", IMPORT_BY(put_grid, "dimension_widths", NULL)},
    {.of = "fat_tree", IMPORT_BY(put_fat_tree, "down_up", NULL)},
    {.of = "dragonfly", IMPORT_BY(put_dragonfly, "global_width", NULL)},
    {.of = "butterfly", IMPORT_COUNT("radix", "2", "network.topology.radix", 1, 1u << 30)},
    {.of = "butterfly", IMPORT_COUNT("stages", "1", "network.topology.stages", 1, 1u << 30)},
    {.of = "parking_lot",
     IMPORT_COUNT("routers", "2", "network.topology.stops", 1, 1u << 30),
     .comment = "the exit is terminal 0 here, and a terminal of its own behind the last router there"},
    {.of = "parking_lot single_router", IMPORT_BY(put_concentration, "concentration", NULL)},
    {.of = "interface_only",
     IMPORT_COUNT("num_interfaces", "2", "network.topology.terminals", 1, 4096),
     .why = "interfaces are joined by a router at least",
     .nearest = "single_router"},
    {0},
};

/* ---- channels and interfaces ---- */

static unsigned long long channel_cycles(struct import *import, struct json *block)
{
    if (block && block->type != JSON_OBJECT)
        import_expected(import, block, "an object with a latency");
    struct import inner = import_within(import, block, NULL);
    return import_count_at(&inner, "latency", 1, 1, 1000000000);
}

/* Latencies of all kinds of channels between routers, in the order of our topologies' classes. */
static struct json *internal_latencies(struct import *import, uint64_t cycle)
{
    static const char *const keys[] = {"internal_channel", "local_channel", "global_channel", "internal_channels"};
    struct json *latencies = json_array(import->arena);
    for (uint32_t i = 0; i < 4; i++) {
        struct json *block = import_look(import, keys[i]);
        bool is_list = block && block->type == JSON_ARRAY;
        for (struct json *one = is_list ? block->first : block; one; one = is_list ? one->next : NULL)
            json_append(latencies, json_number_u64(import->arena, channel_cycles(import, one) * cycle));
    }
    return latencies;
}

static struct json *put_channel(struct import *import, const char *path, uint64_t ticks, unsigned long long cycle)
{
    unsigned long long cycles = ticks / cycle;
    struct json *latency = import_set(import, path, "latency=%llu", cycles * cycle);
    if (cycle > 1)
        import_comment(import, latency, "%llu times channel_cycle_time", cycles);
    return import_set(import, path, "cycle=%llu", cycle)->parent;
}

static void put_channels(struct import *import)
{
    unsigned long long cycle = supersim_cycle(import, "channel");
    if (import_is(import_look(import, "channel_mode"), "fixed")) { /* scalars mean nothing then */
        import_take(import, "channel_scalars");
        import_take(import, "local_scalar");
        import_take(import, "global_scalar");
    }
    struct json *latencies = internal_latencies(import, cycle);
    struct json *channel =
        put_channel(import, "network.channel", latencies->count ? (uint64_t)latencies->first->number : cycle, cycle);
    if (!are_equal(latencies)) { /* one or the other */
        json_remove(channel, json_find(channel, "latency"));
        json_add(channel, "latencies", latencies);
    }
    struct json *external = import_look(import, "external_channel");
    put_channel(import, "network.terminal_channel", channel_cycles(import, external) * cycle, cycle);
}

static void put_interface(struct import *import)
{
    /* Credits of an interface are its router's buffers: nothing of its own to carry over. */
    static const char *const credits[][2] = {{"interface.init_credits_mode", "router.input_queue_mode"},
                                             {"interface.init_credits", "router.input_queue_depth"},
                                             {"interface.credits_min", "router.input_queue_min"},
                                             {"interface.credits_max", "router.input_queue_max"}};
    unsigned long long ports = supersim_ports(import);
    import_set(import, "network.interface", "type=queue_per_vc");
    if (ports > 1)
        import_set(import, "network.interface", "injection_channels=%llu ejection_channels=%llu", ports, ports);
    struct json *latency = import_set(import, "network.interface", "latency=%llu",
                                      1 + import_count_at(import, "interface.crossbar.latency", 1, 1, 9999));
    import_comment(import, latency, "its crossbar, and a cycle to be given it");
    struct import inner =
        import_within(import, import_block(import, "interface"), import_ours(import, "network.interface"));
    supersim_put_flow(&inner, "crossbar_scheduler");
    supersim_put_arbiter(&inner, "crossbar_scheduler.allocator", "arbiter");
    for (uint32_t i = 0; i < 4; i++) {
        const struct json *own = import_look(import, credits[i][0]), *routers = import_look(import, credits[i][1]);
        if (own && routers && json_is_equal(own, routers))
            import_take(import, credits[i][0]);
    }
}

void supersim_network(struct import *import)
{
    import->theirs = json_find(import->root, "network");
    const struct json *topology = import_need(import, "topology");
    import_word(import, topology, "");
    supersim_ports(import);
    const char *ours = import_choice(import, topology, topologies, NULL);
    if (ours) {
        import_set(import, "network.topology", "type=%s", ours);
        import->kind = topology->text;
        import_carry(import, topology_rows, import->theirs, import->ours);
    }
    import_set(import, "network", "routing.type= router.type=");
    put_channels(import);
    put_interface(import);
}

/* ---- routing ---- */

static const struct routing_row {
    const char *topology, *theirs; /* topology *: any */
    const char *key, *value;       /* one of its settings that tells two of ours apart; NULL: none */
    const char *ours, *selection;  /* of ways up a tree; NULL: others choose by themselves */
} routings[] = {
    {"butterfly", "dest_tag", NULL, NULL, "destination_tag", NULL},
    {"dragonfly", "minimal", NULL, NULL, "dragonfly_minimal", NULL},
    {"dragonfly", "adaptive", NULL, NULL, "dragonfly_adaptive", NULL},
    {"fat_tree", "common_ancestor", "selection", "flow_hash", "up_down", "hash"},
    {"fat_tree", "common_ancestor", "selection", "flow_cache", "up_down", "hash"},
    {"fat_tree", "common_ancestor", NULL, NULL, "up_down", "adaptive"},
    {"hyperx", "minimal", NULL, NULL, "minimal_adaptive", NULL},
    {"hyperx", "ugal", NULL, NULL, "ugal", NULL},
    {"hyperx", "dal", "adaptivity_type", "variable", "omniwar", NULL},
    {"hyperx", "dal", NULL, NULL, "dal", NULL},
    {"hyperx", "least_congested_queue", NULL, NULL, "least_congested_queue", NULL},
    {"hyperx", "skipping_dimensions", NULL, NULL, "skipping_dimensions", NULL},
    {"*", "dimension_order", NULL, NULL, "dimension_order", NULL},
    {"*", "valiants", NULL, NULL, "valiant", NULL},
    {"parking_lot", "exit_lot", NULL, NULL, "dimension_order", NULL},
    {"single_router interface_only", "direct", NULL, NULL, "minimal", NULL},
    {0},
};

static bool has_value(struct import *import, const char *key, const char *value)
{
    const struct json *node = key ? import_look(import, key) : NULL;
    return !key || import_is(node, value) ||
           (node && node->type == JSON_BOOL && node->truth == (strcmp(value, "true") == 0));
}

/* Whether a routing of ours has such a setting: what is left is listed. */
static bool has_option(struct import *import, const char *key)
{
    struct option row;
    return option_find(component_find("routing", import_ours(import, "type")->text)->options, key, strlen(key), &row);
}

static void put_option(struct import *import)
{
    if (has_option(import, import->row->ours) && !import_ours(import, import->row->ours))
        import_put_same(import);
}

/* Ours does it without being told. */
static void take_given(struct import *import)
{
    if (has_value(import, import->row->key, import->row->fallback))
        import_take(import, import->row->key);
}

/* Where none is asked for, nothing is left out, and how does not matter. */
static void take_outputs(struct import *import)
{
    const struct json *most = import_look(import, "max_outputs");
    if (most && (most->type != JSON_NUMBER || most->number != 0))
        return;
    import_take(import, "max_outputs");
    import_take(import, "output_algorithm");
    if (!has_option(import, "mode"))
        import_take(import, "output_type");
}

static void take_zero(struct import *import)
{
    const struct json *node = import_look(import, import->row->key);
    if (node && node->type == JSON_NUMBER && node->number == 0)
        import_take(import, import->row->key);
}

/* Rounds that skip and the one that finishes may differ in SuperSim. */
static void put_rounds(struct import *import)
{
    static const char words[] = "dimension_order=false dimension_adaptive=true";
    const struct json *skipping = import_take(import, "skipping_algorithm");
    const struct json *finishing = import_take(import, "finishing_algorithm");
    const char *deroutes = import_choice(import, skipping, words, "false");
    if (strcmp(import_choice(import, finishing, words, deroutes), deroutes) != 0)
        import_note(import, finishing, DECISIVE, "all rounds deroute or none",
                    import_word(import, skipping, "dimension_order"));
    import_set(import, "", "deroutes=%s", deroutes);
}

/* What a reduction does not look at; and all of one that leaves everything as it is. */
static void take_idle_reduction(struct import *import, bool is_ours)
{
    bool is_plain = has_value(import, "reduction.algorithm", "all_minimal");
    const struct json *outputs = import_look(import, "reduction.max_outputs");
    if (!has_value(import, "reduction.algorithm", "weighted")) {
        import_take(import, "reduction.congestion_bias");
        import_take(import, "reduction.independent_bias");
        import_take(import, "reduction.non_minimal_weight_func");
    } else if (has_value(import, "reduction.non_minimal_weight_func", "regular")) {
        import_take(import, "reduction.non_minimal_weight_func");
    }
    if (!is_plain || is_ours || (outputs && outputs->number != 0))
        return;
    import_take(import, "reduction.algorithm");
    import_take(import, "reduction.max_outputs");
    import_take(import, "mode");
}

/* A block of its own on most topologies, keys of the algorithm on a HyperX. */
static void put_reduction(struct import *import)
{
    static const struct import_row rows[] = {
        {.of = "weighted", IMPORT_NUMBER("congestion_bias", NULL, "congestion_bias", -1e9, 1e9)},
        {.of = "weighted", IMPORT_NUMBER("independent_bias", NULL, "independent_bias", -1e9, 1e9)},
        {IMPORT_COUNT("max_outputs", NULL, "max_outputs", 0, 1u << 20)},
        {0}};
    struct json *block = import_look(import, "reduction");
    bool has_own = block && block->type == JSON_OBJECT;
    if (has_own)
        take_idle_reduction(import, has_option(import, "reduction"));
    const char *unsaid = has_own ? "weighted" : import_look(import, "congestion_bias") ? "weighted" : NULL;
    if (!has_own && import_lists("least_congested_queue minimal_adaptive", import_ours(import, "type")->text))
        unsaid = "least_congested";
    const struct json *selection = import_ours(import, "selection");
    if (!has_option(import, "reduction") || !unsaid || (selection && !import_is(selection, "adaptive")))
        return;
    if (has_own && import_is(import_ours(import, "type"), "up_down"))
        import_set(import, "", "reduced=always");
    struct import inner = *import;
    inner.kind = import_nearest(import, has_own ? import_take(import, "reduction.algorithm") : NULL,
                                "all_minimal least_congested_minimal=least_congested weighted", "reduction", unsaid);
    const struct json *outputs = has_own ? json_find(block, "max_outputs") : NULL;
    import_carry(&inner, rows, has_own ? block : import->theirs,
                 import_set(import, "reduction", "type=%s", inner.kind)->parent);
    if (outputs && outputs->number != 1 && import_is(import_ours(import, "type"), "dragonfly_adaptive")) {
        import_note(import, outputs, DECISIVE, "one output is offered", "1");
        import_set(import, "reduction", "max_outputs=1");
    }
}

/* Settings of algorithms: words that mean the same, or the value itself where there are none. */
static const struct import_row algorithm_rows[] = {
    {IMPORT_BY(put_reduction, "reduction", NULL)},
    {.of = "skipping_dimensions", IMPORT_COUNT("num_rounds", NULL, "rounds", 1, 32)},
    {.of = "skipping_dimensions", IMPORT_NUMBER("step", NULL, "step", 0, 1e9)},
    {.of = "skipping_dimensions", IMPORT_BY(put_rounds, "skipping_algorithm", NULL)},
    {.of = "least_congested_queue", IMPORT_BY(take_given, "short_cut", "true")},
    {.of = "valiant ugal", IMPORT_BY(take_given, "short_cut", "false")},
    {.of = "valiant ugal", IMPORT_BY(take_given, "minimal", "dimension_order")},
    {.of = "minimal_adaptive", IMPORT_BY(take_given, "minimal", "adaptive")},
    {.of = "minimal_adaptive", IMPORT_BY(take_given, "output_algorithm", "random")},
    {.of = "minimal", IMPORT_BY(take_given, "adaptive", "false")},
    {.of = "dimension_order valiant ugal", IMPORT_BY(take_outputs, "max_outputs", NULL)},
    {.of = "ugal", IMPORT_BY(take_given, "non_minimal", "valiants")},
    {.of = "ugal", IMPORT_BY(take_given, "decision_scheme", "monolithic_weighted")},
    {.of = "ugal", IMPORT_BY(take_given, "bias_mode", "regular")},
    {.of = "ugal", IMPORT_BY(take_zero, "congestion_bias", NULL)},
    {.of = "least_congested_queue skipping_dimensions", IMPORT_BY(take_given, "output_algorithm", "random")},
    {.of = "skipping_dimensions", IMPORT_BY(take_given, "decision_scheme", "monolithic_weighted")},
    {.of = "skipping_dimensions", IMPORT_BY(take_given, "bias_mode", "regular")},
    {.of = "skipping_dimensions", IMPORT_BY(take_given, "hop_count_mode", "absolute")},
    {IMPORT_WORDS(put_option, "mode", "mode", "vc port_ave=port_average port_min=port_minimum port_max=port_maximum")},
    {IMPORT_WORDS(put_option, "output_type", "mode", "vc port=offered_sum")},
    {IMPORT_WORDS(put_option, "hop_count_mode", "hop_count", "absolute normalized")},
    {IMPORT_WORDS(put_option, "intermediate_node", "intermediate",
                  "regular=router source dest=destination source_dest=source_destination unaligned")},
    {IMPORT_WORDS(put_option, "least_common_ancestor", "common_ancestor", "true=least false=top")},
    {IMPORT_WORDS(put_option, "randomized_global", "channel", "true=random false=nearest")},
    {IMPORT_SAME(put_option, "valiant_node", "by_router")},
    {IMPORT_SAME(put_option, "progressive_adaptive", "progressive")},
    {IMPORT_WORDS(put_option, "smart_intermediate_node", "intermediate", "true=auto")},
    {IMPORT_WORDS(put_option, "min_all_vc_sets", "straight_vcs", "true=together false=second")},
    {IMPORT_WORDS(put_option, "minimal", "finish", "adaptive dimension_order")},
    {IMPORT_SAME(put_option, "threshold", "threshold")},
    {IMPORT_SAME(put_option, "max_deroutes", "deroutes")},
    {IMPORT_SAME(put_option, "independent_bias", "bias")},
    {IMPORT_SAME(put_option, "reduction.independent_bias", "bias")},
    {IMPORT_COUNT("latency", "0", "/network.router.routing_latency", 0, 10000)},
    {0},
};

static void put_algorithm(struct import *import)
{
    const struct json *algorithm = import_need(import, "algorithm");
    const char *name = import_word(import, algorithm, "");
    const char *topology = import_word(import, import_look(import, "/network.topology"), "");
    const struct routing_row *row = routings;
    while (row->ours && !(import_lists(row->topology, topology) && strcmp(row->theirs, name) == 0 &&
                          has_value(import, row->key, row->value)))
        row++;
    import->kind = row->ours ? row->ours : "minimal";
    import_set(import, "", "type=%s", import->kind);
    if (strcmp(topology, "torus") == 0 && import_lists("dimension_order valiant", import->kind))
        import_set(import, "", "dateline=from_wrap");
    if (strcmp(import->kind, "ugal") == 0 && strcmp(topology, "hyperx") == 0) {
        /* A detour by way of the destination is none there. By port, second legs stay in the VCs of the first. */
        bool is_by_port = has_value(import, "output_type", "port");
        struct json *detours =
            import_set(import, "", "by_destination=false detour_vcs=%s", is_by_port ? "first" : "by_leg");
        if (is_by_port)
            import_comment(import, detours, "as SuperSim with output_type port; deadlock is not ruled out");
    }
    if (strcmp(import->kind, "valiant") == 0 && strcmp(topology, "dragonfly") != 0)
        import_set(import, "", "own_router=true");
    if (!row->ours)
        import_note(import, algorithm, DECISIVE, "no such routing for this topology", "minimal");
    else if (row->key)
        import_take(import, row->key);
    if (row->ours && row->selection) {
        import_take(import, "selection");
        import_set(import, "", "selection=%s", row->selection);
    }
    import_carry(import, algorithm_rows, import->theirs, import->ours);
}

/* ---- protocol classes ---- */

/* Ours has one routing: lists what another class has otherwise than the first. */
static void note_differences(struct import *import, const struct json *first, const struct json *other, uint32_t number)
{
    for (const struct json *setting = other->first; setting; setting = setting->next) {
        const struct json *leading = json_find(first, setting->key);
        if (leading && leading->type == JSON_OBJECT && setting->type == JSON_OBJECT)
            note_differences(import, leading, setting, number);
        else if (!leading || !json_is_equal(leading, setting))
            import_note(import, setting, DECISIVE, "all protocol classes are routed as the first",
                        leading && leading->text ? leading->text : NULL);
    }
    for (const struct json *setting = first->first; setting; setting = setting->next)
        if (!json_find(other, setting->key))
            import_note(import, setting, DECISIVE,
                        arena_format(import->arena, "protocol class %u has no such setting, but is routed as the first",
                                     number),
                        NULL);
}

/* Ours have equal shares of the VCs. Others become one class of all VCs. */
static void put_classes(struct import *import, const struct json *classes)
{
    unsigned long long all = supersim_vcs(import);
    unsigned long long share = import_count(import, json_find(classes->first, "num_vcs"), 1, 1, 64);
    bool is_equal = true;
    for (struct json *class = classes->first; class; class = class->next) {
        import->theirs = class;
        const struct json *vcs = import_need(import, "num_vcs");
        is_equal &= import_count(import, vcs, 1, 1, 64) == share;
        if (vcs && vcs->number != (double)share)
            import_note(import, vcs, DECISIVE,
                        arena_format(import->arena,
                                     "protocol classes have equal shares of the VCs, and the first has %llu", share),
                        arena_format(import->arena, "one class of all %llu VCs", all));
    }
    if (all > 64)
        import_error(import, classes, "found %llu VCs in all classes, expected 1 to 64", all);
    if (classes->count > 1 && is_equal)
        import_set(import, "/network", "protocol_classes=%u", classes->count);
}

/* How packets get their VC at the source; all classes as the first. */
static void put_injection(struct import *import, const struct json *classes)
{
    const struct json *first = json_find(classes->first, "injection");
    uint32_t number = 0;
    for (struct json *class = classes->first; class; class = class->next, number++) {
        import->theirs = class;
        struct json *block = import_block(import, "injection");
        if (number && first && block)
            note_differences(import, first, block, number);
        struct import inner = import_within(import, block, import_ours(import, "/network.interface"));
        bool is_adaptive = import_truth_at(&inner, "adaptive", false);
        bool is_fixed = import_truth_at(&inner, "fixed_msg_vc", false);
        if (!number)
            import_set(&inner, "", "choice=%s per_message=%s", is_adaptive ? "shortest" : "random",
                       truth_word(is_fixed));
    }
}

void supersim_routing(struct import *import)
{
    struct json *classes = import_look(import, "/network.protocol_classes"), *first = NULL;
    if (!classes || classes->type != JSON_ARRAY || classes->count == 0 || classes->count > 64) {
        import_error(import, classes ? classes : import->theirs, "expected an array 'protocol_classes' of 1 to 64");
        return;
    }
    uint32_t number = 0;
    for (struct json *class = classes->first; class; class = class->next, number++) {
        import->theirs = class;
        struct json *routing = import_block(import, "routing");
        if (!routing) {
            import_error(import, class, "expected an object with num_vcs and a block routing");
            return;
        }
        if (first)
            note_differences(import, first, import_take(import, "routing"), number);
        first = first ? first : routing;
    }
    import->theirs = first;
    import->ours = import_ours(import, "/network.routing");
    put_algorithm(import);
    put_injection(import, classes);
    put_classes(import, classes);
}
