/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BookSim's settings: the table of all of them, and those of its network, routing
 * and router that are no plain numbers. Traffic classes are in
 * booksim_workload.c; docs/booksim.md tells what becomes of what.
 */
#include "import/import.h"

#include <math.h>
#include <string.h>

const struct json *booksim_given(struct import *import, const char *key)
{
    const struct json *node = import_take(import, arena_format(import->arena, "/%s", key));
    return node && node->file ? node : NULL;
}

const char *booksim_value(struct import *import, const char *key)
{
    return import_take(import, arena_format(import->arena, "/%s", key))->text;
}

bool booksim_is(struct import *import, const char *key, const char *value)
{
    return strcmp(booksim_value(import, key), value) == 0;
}

unsigned long long booksim_count(struct import *import, const char *key, uint64_t min, uint64_t max)
{
    return import_count(import, import_take(import, key), min, min, max);
}

void booksim_note(struct import *import, const char *key, enum import_kind kind, const char *why, const char *nearest)
{
    import_note(import, import_take(import, key), kind, why, nearest);
}

struct json *booksim_item(struct import *import, const struct json *value, const char *text)
{
    struct json *item = json_copy(import->arena, value);
    item->text = text;
    item->parent = value->parent;
    return item;
}

struct json *booksim_split(struct import *import, const struct json *value, const char **name)
{
    const char *text = value->text, *start = text + strcspn(text, "{(");
    struct json *list = json_array(import->arena);
    *name = arena_format(import->arena, "%.*s", (int)(start - text), text);
    if (!*start)
        json_append(list, booksim_item(import, value, text))->parent = value->parent;
    uint32_t depth = 0;
    for (const char *at = *start ? ++start : start; *at; at++) {
        bool is_end = depth == 0 && strchr(",})", *at);
        depth += *at == '{' || *at == '(';
        depth -= depth > 0 && (*at == '}' || *at == ')');
        const char *item = arena_format(import->arena, "%.*s", (int)(at - start), start);
        if (is_end && *item)
            json_append(list, booksim_item(import, value, item))->parent = value->parent;
        start = is_end ? at + 1 : start;
    }
    return list;
}

static const char own_buffers[] = "each VC is given a buffer of its own";
static const char own_results[] = "results have a form of their own";
static const char no_priorities[] = "packets have no priorities of their own";

static void booksim_put_seed(struct import *import)
{
    const struct json *seed = import_take(import, "seed");
    if (import_is(seed, "time"))
        import_note(import, seed, DECISIVE, "a run must be repeatable", "simulator.seed");
    else
        import_set(import, "simulator", "seed=%llu", import_count(import, seed, 0, 0, UINT32_MAX));
}

/* ---- topology ---- */

static void booksim_put_cube(struct import *import)
{
    unsigned long long n = booksim_count(import, "n", 1, BOOKSIM_DIMENSIONS);
    import_put(import, "network.topology.widths", import_repeat(import, n, booksim_count(import, "k", 1, 65536)));
}

static void booksim_put_butterfly(struct import *import)
{
    import_set(import, "network.topology", "radix=%llu stages=%llu", booksim_count(import, "k", 1, 65536),
               booksim_count(import, "n", 1, BOOKSIM_DIMENSIONS));
}

static void booksim_put_single(struct import *import)
{
    unsigned long long ports = booksim_count(import, "in_ports", 1, 4096);
    import_set(import, "network.topology", "terminals=%llu", ports);
    if (booksim_count(import, "out_ports", 1, 4096) != ports)
        booksim_note(import, "out_ports", DECISIVE, "a terminal has an input and an output", "in_ports");
}

static const struct topology_row {
    const char *theirs, *ours;
    void (*put)(struct import *import);
    const char *routing; /* when the file names none */
    uint32_t latency;    /* of channels between routers, with use_noc_latency */
    const char *why;     /* it is not quite the same; NULL: it is */
} topologies[] = {
    {"mesh", "mesh", booksim_put_cube, "dim_order", 1, NULL},
    {"torus", "torus", booksim_put_cube, "dim_order", 2, NULL},
    {"cmesh", "mesh", booksim_put_cmesh, "dor", 1, NULL},
    {"fly", "butterfly", booksim_put_butterfly, "dest_tag", 1, NULL},
    {"qtree", "folded_clos", booksim_put_tree, "nca", 1, NULL},
    {"tree4", "folded_clos", booksim_put_tree, "nca", 1, NULL},
    {"fattree", "folded_clos", booksim_put_tree, "nca", 1, NULL},
    {"flatfly", "hyperx", booksim_put_flatfly, "ran_min", 1, NULL},
    {"dragonflynew", "dragonfly", booksim_put_dragonfly, "min", 10, NULL},
    {"anynet", "file", booksim_put_anynet, "min", 1, NULL},
    {"single", "single_router", booksim_put_single, "min", 1, NULL},
    {0},
};

/* ---- routing ---- */

static const char no_ni[] = "VCs are not assigned by destination";

/* The flits behind whole ports, times hops, and a threshold of 2. */
#define FLATFLY_UGAL "mode=port_total intermediate=unaligned straight_vcs=second bias=2"

static const struct routing_row {
    const char *topologies, *functions; /* lists; * stands for any text */
    const char *ours, *options;
    const char *why; /* it is not quite the same; NULL: it is */
} routings[] = {
    /*
     * Of several ways that a function gives the same priority BookSim's router keeps the first, and min_adapt of a torus
     * offers VC 3 alone.
     */
    {"torus", "dim_order dor", "ring_halves", "", NULL},
    {"torus", "dim_order_ni", "ring_halves", "", no_ni},
    {"torus", "dim_order_bal", "ring_halves", "halves=by_lot", NULL},
    {"torus", "valiant", "valiant", "own_router=true dateline=by_wrap", NULL},
    {"torus", "min_adapt", "ring_halves", "adaptive_vc=3", NULL},
    {"mesh", "dor dim_order", "dimension_order", "", NULL},
    {"mesh", "dim_order_ni dim_order_pni", "dimension_order", "", no_ni},
    {"mesh", "xy_yx", "o1turn", "", NULL},
    {"mesh", "adaptive_xy_yx", "o1turn", "choice=adaptive", NULL},
    {"mesh", "romm", "valiant", "intermediate=between", NULL},
    {"mesh", "romm_ni", "valiant", "intermediate=between", no_ni},
    {"mesh", "min_adapt", "one_way_escape", "dimensions=first", NULL},
    {"mesh", "planar_adapt", "planar_adaptive", "dimensions=first", NULL},
    {"mesh", "valiant", "valiant", "own_router=true joins_legs=true", NULL},
    {"cmesh", "dor", "express_order", "first=x", NULL},
    {"cmesh", "dor_no_express", "dimension_order", "", NULL},
    {"cmesh", "xy_yx", "express_order", "first=either from=2", NULL},
    {"cmesh", "xy_yx_no_express", "o1turn", "", NULL},
    {"fly", "dest_tag", "destination_tag", "", NULL},
    {"fattree qtree tree4", "nca", "up_down", "selection=random", NULL},
    {"fattree", "anca", "up_down", "selection=of_two", NULL},
    /* It offers several ports up, but a set of outputs keeps one of each priority: the first. */
    {"tree4", "anca", "up_down", "selection=first", NULL},
    {"flatfly", "ran_min", "dimension_order", "", NULL},
    {"flatfly", "xyyx", "o1turn", "", NULL},
    {"flatfly", "adaptive_xyyx", "o1turn", "choice=adaptive", NULL},
    {"flatfly", "valiant", "valiant", "passes_by=false", NULL},
    {"flatfly", "ugal", "ugal", FLATFLY_UGAL, NULL},
    {"flatfly", "ugal_xyyx", "ugal", FLATFLY_UGAL " order=either", NULL},
    {"flatfly", "ugal_pni", "ugal", FLATFLY_UGAL, no_ni},
    {"dragonflynew", "min", "dragonfly_phases", "", NULL},
    {"dragonflynew", "ugal", "dragonfly_phases", "detours=true factor=2 bias=30", NULL},
    {"anynet", "min", "least_latency", "", NULL},
    {"single", "*", "minimal", "", NULL},
    {0},
};

static void booksim_put_routing(struct import *import, const struct topology_row *topology)
{
    bool is_given = !booksim_is(import, "routing_function", "none");
    const char *function = is_given ? booksim_value(import, "routing_function") : topology->routing;
    const struct routing_row *row = routings;
    while (row->ours && !(import_lists(row->topologies, topology->theirs) && import_lists(row->functions, function)))
        row++;
    import_set(import, "network.routing", "type=%s %s", row->ours ? row->ours : "minimal",
               row->ours ? row->options : "");
    if (!row->ours)
        booksim_note(import, "routing_function", DECISIVE, "not known here for this topology",
                     "network.routing minimal");
    else if (row->why)
        booksim_note(import, "routing_function", DECISIVE, row->why, row->ours);
    if (!is_given)
        import_comment(import, import_ours(import, "network.routing"),
                       "the file names no routing_function; this is the usual one");
    bool has_halves = strcmp(topology->theirs, "torus") == 0 || strcmp(function, "xy_yx") == 0 ||
                      (row->ours && import_lists("o1turn valiant ugal", row->ours));
    if (has_halves && booksim_count(import, "num_vcs", 1, 64) % 2)
        booksim_note(import, "num_vcs", DECISIVE,
                     "of an odd number BookSim's halves for two phases or orders share one VC",
                     "an even network.router.num_vcs");
}

/*
 * Queues are counted in flits. Without a delay of its own routing is done one router ahead: what is decided at the first
 * router is decided at the source, and what is decided at each of them is decided while the head is on its way there.
 */
static void booksim_put_sensing(struct import *import)
{
    const char *type = import_ours(import, "network.routing.type")->text;
    bool is_ahead = booksim_is(import, "routing_delay", "0");
    bool is_adaptive = import_ours(import, "network.routing.choice") ||
                       import_ours(import, "network.routing.detours") || strcmp(type, "ugal") == 0;
    bool is_by_hop = booksim_is(import, "topology", "fattree") && booksim_is(import, "routing_function", "anca");
    if (!is_adaptive && !is_by_hop)
        return;
    import_set(import, "network.router.congestion", "type=buffer_occupancy normalised=false latency=%d",
               is_ahead && is_by_hop ? 3 : 1);
    if (is_ahead && is_adaptive)
        import_set(import, "network.routing", "decides=source");
}

static void booksim_put_network(struct import *import)
{
    const struct topology_row *row = IMPORT_CHOOSE(import, import_take(import, "topology"), topologies);
    if (!row)
        return;
    import_set(import, "network.topology", "type=%s", row->ours);
    row->put(import);
    if (row->why)
        booksim_note(import, "topology", DECISIVE, row->why, row->ours);
    booksim_put_routing(import, row);
    import_put(import, "network.router", json_object(import->arena));
    booksim_put_sensing(import);
    bool is_on_chip = !booksim_is(import, "use_noc_latency", "0");
    if (strcmp(row->ours, "dragonfly") != 0) /* it has its own, whatever is said */
        import_set(import, "network.channel", "latency=%u", is_on_chip ? row->latency : 1);
    if (is_on_chip && strcmp(row->theirs, "torus") == 0)
        import_comment(import, import_ours(import, "network.channel.latency"),
                       "use_noc_latency = 1: a folded torus, channels of two cycles");
    import_set(import, "network.terminal_channel", "latency=1");
    import_set(import, "network.interface", "type=booksim");
}

/* ---- router ---- */

/* private: each VC its own. Others: a part of its own, the rest for all, up to what the policy allows. */
static void booksim_put_buffers(struct import *import)
{
    unsigned long long vcs = booksim_count(import, "num_vcs", 1, 64),
                       each = booksim_count(import, "vc_buf_size", 1, 32768);
    const struct json *whole = import_take(import, "buf_size"), *own = import_take(import, "private_buf_size");
    unsigned long long all = *whole->text == '-' ? 0 : import_count(import, whole, 0, 0, 64 * 32768);
    unsigned long long share = all / vcs ? all / vcs : 1, depth = all ? share : each;
    struct json *last = import_set(import, "network.router", "num_vcs=%llu buffer_depth=%llu", vcs, depth);
    if (all)
        import_comment(import, last, "buf_size %llu, shared out among the VCs", all);
    if (booksim_is(import, "buffer_policy", "private"))
        return;
    bool is_limited = booksim_is(import, "buffer_policy", "limited");
    if (!is_limited && !booksim_is(import, "buffer_policy", "shared")) {
        booksim_note(import, "buffer_policy", DECISIVE, "shares of a buffer do not change with its use",
                     "network.router.buffer_exclusive");
        return;
    }
    import_set(import, "network.router", "buffer_exclusive=%llu",
               *own->text == '-' ? depth : import_count(import, own, 1, 1, depth));
    if (is_limited && !booksim_is(import, "max_held_slots", "-1"))
        import_set(import, "network.router", "buffer_maximum=%llu", booksim_count(import, "max_held_slots", 1, 65535));
    if (all % vcs)
        booksim_note(import, "buf_size", DECISIVE, "not a multiple of num_vcs", "network.router.buffer_depth");
}

/* Yes or no here and there. */
static void booksim_put_flag(struct import *import)
{
    if (!booksim_is(import, import->row->key, "0"))
        import_put(import, import->row->ours, json_bool(import->arena, true));
}

static void booksim_put_crossbar(struct import *import)
{
    unsigned long long cycles =
        booksim_count(import, "st_prepare_delay", 0, 5000) + booksim_count(import, "st_final_delay", 0, 5000);
    if (cycles == 0)
        import_error(import, import_take(import, "st_final_delay"), "no cycle to cross, which BookSim refuses");
    struct json *latency = import_set(import, "network.router", "crossbar_latency=%llu", cycles ? cycles : 1);
    import_comment(import, latency, "st_prepare_delay + st_final_delay");
    import_set(import, "network.router", "steps=%.17g",
               import_number(import, import_take(import, "internal_speedup"), 1, 1, 64));
    if (!booksim_is(import, "wait_for_tail_credit", "0"))
        import_set(import, "network.router", "vc_freed=when_empty");
    if (*booksim_value(import, "output_buffer_size") != '-')
        import_set(import, "network.router", "output_depth=%llu",
                   booksim_count(import, "output_buffer_size", 1, 32768));
}

/* A head asks for the switch with its VC, if that seems to be of use. */
static void booksim_put_speculation(struct import *import)
{
    bool looks_at_vc = !booksim_is(import, "spec_check_elig", "0"),
         looks_at_credit = !booksim_is(import, "spec_check_cred", "0");
    const char *allocator = booksim_value(import, "spec_sw_allocator");
    if (booksim_is(import, "speculative", "0"))
        return;
    import_set(import, "network.router", "speculation=%s",
               !looks_at_vc      ? "always"
               : looks_at_credit ? "on_credit"
                                 : "on_vc");
    if (!looks_at_vc && looks_at_credit)
        booksim_note(import, "spec_check_elig", DECISIVE, "with spec_check_cred alone no head speculates there",
                     "network.router.speculation");
    if (strcmp(allocator, "prio") != 0)
        booksim_note(import, "spec_sw_allocator", DECISIVE, "one allocator serves all, heads that speculate last",
                     "network.router.allocator");
}

static const struct allocator_row {
    const char *theirs, *ours;
    bool iterates, has_arbiters;
} allocators[] = {
    {"islip", "islip", true, false},
    {"pim", "pim draw=place", true, false},
    {"wavefront", "wavefront", false, false},
    {"rr_wavefront", "wavefront first=behind_served", false, false},
    {"max_size", "maximum_size paths=shortest", false, false},
    {"separable_input_first", "separable_input_first", false, true},
    {"separable_output_first", "separable_output_first", false, true},
    {"loa", "lonely_output", false, false},
    {"select", "standing_offers", true, false},
    {0},
};

/*
 * islip(2), separable_input_first(matrix): iterations or arbiters stand behind the name. alloc_iters and arb_type are read by
 * BookSim, but its routers make their allocators without them.
 */
static void booksim_put_allocator(struct import *import)
{
    const char *key = import->row->key, *path = import->row->ours, *name;
    const struct json *value = import_take(import, key), *list = booksim_split(import, value, &name);
    const struct json *argument = strpbrk(value->text, "(") && list->count ? list->first : NULL;
    const struct allocator_row *row = IMPORT_FIND(allocators, name);
    if (!row)
        booksim_note(import, key, DECISIVE, "no such allocator", allocators->ours);
    row = row ? row : allocators;
    import_set(import, path, "type=%s", row->ours);
    if (row->iterates)
        import_set(import, path, "iterations=%llu", argument ? import_count(import, argument, 1, 1, 64) : 1);
    if (!row->has_arbiters)
        return;
    bool is_matrix = argument && import_is(argument, "matrix");
    if (argument && !is_matrix && !import_is(argument, "round_robin"))
        booksim_note(import, key, DECISIVE, "no such arbiter", "round_robin");
    const char *arbiter = is_matrix ? "least_recently_served" : "round_robin";
    import_set(import, path, "input_arbiter=%s output_arbiter=%s", arbiter, arbiter);
}

/* Where a class has a value of its own: {0,1}. */
static void booksim_put_priority(struct import *import)
{
    if (!booksim_is(import, "priority", "class"))
        return;
    struct json *list = import_put(import, "network.router.class_priority", json_array(import->arena));
    for (uint32_t class = 0; class < booksim_count(import, "classes", 1, 256); class ++)
        json_append(
            list, json_number_u64(import->arena, import_count(import, booksim_value_of(import, "class_priority", class),
                                                              0, 0, 1000000)));
}

/* ---- the whole ---- */

#define FLAG(theirs, ours_) .key = (theirs), .fallback = "0", .put = booksim_put_flag, .ours = "network.router." ours_

static const struct import_row booksim_rows[] = {
    {IMPORT_BY(booksim_put_seed, "seed", "0")},
    {IMPORT_BY(booksim_put_network, "topology", "torus")},
    {IMPORT_NEAREST("router", "iq", "network.router.type", "iq=booksim")},
    {IMPORT_BY(booksim_put_buffers, "num_vcs", "16")},
    {IMPORT_COUNT("routing_delay", "1", "network.router.routing_latency", 0, 10000)},
    {IMPORT_COUNT("credit_delay", "0", "network.router.credit_latency", 0, 10000)},
    {IMPORT_COUNT("input_speedup", "1", "network.router.input_speedup", 1, 64)},
    {IMPORT_COUNT("output_speedup", "1", "network.router.output_speedup", 1, 64)},
    {IMPORT_BY(booksim_put_crossbar, "st_prepare_delay", "0")},
    {FLAG("hold_switch_for_packet", "holds_switch")},
    {FLAG("vc_busy_when_full", "vc_needs_credit")},
    {FLAG("vc_prioritize_empty", "empty_vcs_first")},
    {FLAG("vc_shuffle_requests", "shuffled")},
    {FLAG("noq", "vcs_by_next_output")},
    {IMPORT_BY(booksim_put_speculation, "speculative", "0")},
    {IMPORT_NEAREST("priority", "none", "network.router.priority",
                    "none=none class=class age=age network_age=network_age local_age=local_age "
                    "queue_length=queue_length hop_count=hops sequence=sequence")},
    {IMPORT_BY(booksim_put_priority, "class_priority", "0")},
    {.key = "vc_allocator", .fallback = "islip", .put = booksim_put_allocator, .ours = "network.router.vc_allocator"},
    {.key = "sw_allocator", .fallback = "islip", .put = booksim_put_allocator, .ours = "network.router.allocator"},
    {IMPORT_BY(booksim_put_classes, "classes", "1")},
    {IMPORT_BY(booksim_put_tiles, "c", "1")},
    {0},
};

static const struct import_lost booksim_lost[] = {
    /* taken by the rows above, where they need them */
    {"k=8; n=2; c=1; x=8; y=8; xr=1; yr=1; in_ports=5; out_ports=5; routing_function=none; use_noc_latency=1; "
     "network_file=; vc_buf_size=8; buf_size=-1; wait_for_tail_credit=0; internal_speedup=1; spec_check_elig=1; "
     "spec_check_cred=1; spec_sw_allocator=prio; buffer_policy=private; "
     "private_buf_size=1; max_held_slots=-1; "
     "output_buffer_size=-1; st_final_delay=1; "
     "traffic=uniform; injection_rate=0.1; injection_rate_uses_flits=0; "
     "packet_size=1; packet_size_rate=1; const_flits_per_packet=1; injection_process=bernoulli; burst_alpha=0.5; "
     "burst_beta=0.5; burst_r1=-1; use_read_write=0; write_fraction=0.5; read_request_size=1; read_reply_size=1; "
     "write_request_size=1; write_reply_size=1; perm_seed=0; batch_size=1000; batch_count=1; sim_type=latency; "
     "warmup_periods=3; "
     "sample_period=1000; max_samples=10; stopping_thres=0.05",
     HARMLESS, NULL, NULL},
    /* network */
    {"channel_file=", DECISIVE, "this file of lengths is not read",
     "network.channel.cable.plan, or latencies in topology file"},
    {"subnets=1; physical_subnetworks=1", DECISIVE, "one plane is imported", "network.planes.count"},
    {"*_subnet", DECISIVE, "one plane is imported", "network.planes.selection by_class"},
    {"link_failures=0; fail_seed=0", DECISIVE, "channels do not fail", NULL},
    {"express_channels=0", DECISIVE, "a mesh has channels between neighbours only", "network.topology.channels"},
    {"limit=0", DECISIVE, "all terminals take part", "workload.applications[].allocation"},
    /* router */
    {"spec_mask_by_reqs=0", HARMLESS, "belongs to a spec_sw_allocator of its own", NULL},
    {"vc_alloc_delay=1; sw_alloc_delay=1", DECISIVE, "BookSim's own program stops with any other than 1", NULL},
    {"arb_type=round_robin; alloc_iters=1; vc_alloc_arb_type=round_robin; sw_alloc_arb_type=round_robin; "
     "vc_alloc_iters=0; sw_alloc_iters=0",
     HARMLESS, "BookSim's routers make their allocators without it",
     "an argument: islip(2), separable_input_first(matrix)"},
    {"shared_buf_size=0; private_bufs=-1; private_buf_*_vc=-1", DECISIVE, own_buffers,
     "network.router.buffer_exclusive"},
    {"feedback_*", DECISIVE, own_buffers, NULL},
    {"vc_priority_donation=0; replies_inherit_priority=0", DECISIVE, no_priorities, NULL},
    {"output_delay=0", HARMLESS, "BookSim reads it and does nothing by it", NULL},
    {"vct=0", DECISIVE, "belongs to the event-driven router", "network.router.switching virtual_cut_through"},
    /* traffic */
    {"read_request_begin_vc=0; read_request_end_vc=5; write_request_begin_vc=2; write_request_end_vc=7; "
     "read_reply_begin_vc=8; read_reply_end_vc=13; write_reply_begin_vc=10; write_reply_end_vc=15",
     HARMLESS, "belongs to use_read_write", "network.protocol_classes"},
    {"max_outstanding_requests=0", DECISIVE, "belongs to sim_type = batch", "a lower workload.applications[].load"},
    /* run */
    {"latency_thres=500", HARMLESS, "saturation is found by the backlog, not by a bound on latency",
     "\"saturated\" in the results"},
    {"acc_stopping_thres=0.05", HARMLESS, "the window has a fixed length", "sample auto"},
    {"warmup_thres=0.05; acc_warmup_thres=0.05", HARMLESS, "the warm-up has a fixed length", "warmup auto"},
    {"sim_count=1", HARMLESS, "a configuration is one run", "seeds of a sweep (docs/sweeps.md)"},
    {"include_queuing=1", HARMLESS,
     "both are in the results: packet_latency with the source queue, network_latency without it",
     "network_latency in the results"},
    {"measure_stats=1", HARMLESS, "all classes are sampled", "workload.applications[].sample 0"},
    {"pair_stats=0", HARMLESS, own_results, "flitwarp parse LOG --matrix"},
    {"deadlock_warn_timeout=256", HARMLESS, "a deadlock ends the run and is reported", "network.deadlock_interval"},
    {"drain_measured_only=0", HARMLESS, "a run ends when all sampled packets have arrived", NULL},
    {"print_*=0; stats_out=", HARMLESS, own_results, "the results: flitwarp run --results"},
    {"viewer_trace=0; watch_*=", HARMLESS, "flits are not watched in this way", "flitwarp trace --packet"},
    {"flow_out=0; *_out=", HARMLESS, own_results, "workload.series_interval and the packet log"},
    {"sim_power=0; power_output_file; tech_file=; channel_sweep=0", HARMLESS, "power is not modelled", NULL},
    {"channel_width=128", HARMLESS, "without bandwidths the width of a flit means nothing", "network.flit_bytes"},
    {0},
};

bool import_booksim(struct import *import, const char *bytes, size_t size)
{
    import->is_text = true;
    import->root = import_read_booksim(import, bytes, size);
    return import_all(import, booksim_rows, booksim_lost);
}
