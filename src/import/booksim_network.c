/* SPDX-License-Identifier: Apache-2.0 */
/* BookSim's network, routing and router in our words. The pairs of topology and routing function are one table. */
#include "import/booksim.h"

#include <fnmatch.h>
#include <string.h>

#define DIMENSIONS_MAX 16

struct topology_row {
    const char *theirs, *ours;
    void (*settings)(struct booksim *booksim, struct json *topology);
    const char *routing; /* when the file names none */
    uint32_t latency;    /* of channels between routers, with use_noc_latency */
    const char *why;     /* it is not quite the same; NULL: it is */
};

static void put(struct booksim *booksim, struct json *block, const char *key, uint64_t value)
{
    import_put_u64(booksim->import, block, key, value);
}

static void cube(struct booksim *booksim, struct json *topology)
{
    import_put_row(booksim->import, topology, "widths", booksim_count(booksim, "n", 1, DIMENSIONS_MAX),
                   booksim_count(booksim, "k", 1, 65536));
}

/* Routers of several nodes: x, y, xr and yr say again how they are laid out. */
static void concentrated(struct booksim *booksim, struct json *topology)
{
    uint64_t k = booksim_count(booksim, "k", 1, 65536), c = booksim_count(booksim, "c", 1, 65536);
    cube(booksim, topology);
    put(booksim, topology, "concentration", c);
    import_comment(booksim->import, topology,
                   "BookSim numbers the nodes of a router by rows of the chip, we one by one");
    if (booksim_count(booksim, "x", 1, 65536) != k && booksim_given(booksim, "x"))
        booksim_note(booksim, "x", "routers along the first dimension are k", "network.topology.widths");
    if (booksim_count(booksim, "y", 1, 65536) != k && booksim_given(booksim, "y"))
        booksim_note(booksim, "y", "routers along the second dimension are k", "network.topology.widths");
    booksim_given(booksim, "xr");
    booksim_given(booksim, "yr");
}

static void butterfly(struct booksim *booksim, struct json *topology)
{
    put(booksim, topology, "radix", booksim_count(booksim, "k", 1, 65536));
    put(booksim, topology, "stages", booksim_count(booksim, "n", 1, DIMENSIONS_MAX));
}

/* k-ary n-tree: k ports down at each of n levels; `ups` up at all but the top. */
static void tree(struct booksim *booksim, struct json *topology, uint64_t ups)
{
    uint64_t n = booksim_count(booksim, "n", 1, DIMENSIONS_MAX);
    import_put_row(booksim->import, topology, "down", n, booksim_count(booksim, "k", 1, 65535));
    import_put_row(booksim->import, topology, "up", n - 1, ups);
}

static void fat_tree(struct booksim *booksim, struct json *topology)
{
    tree(booksim, topology, booksim_count(booksim, "k", 1, 65535));
}

static void thin_tree(struct booksim *booksim, struct json *topology) { tree(booksim, topology, 1); }

/* p terminals and h = p global channels at a router, a = 2p routers in a group, as many groups as that joins. */
static void dragonfly(struct booksim *booksim, struct json *topology)
{
    uint64_t p = booksim_count(booksim, "k", 1, 1024);
    put(booksim, topology, "terminals", p);
    put(booksim, topology, "routers", 2 * p);
    put(booksim, topology, "global", p);
    put(booksim, topology, "groups", 2 * p * p + 1);
    if (booksim_count(booksim, "n", 1, DIMENSIONS_MAX) != 1 && booksim_given(booksim, "n"))
        booksim_note(booksim, "n", "groups are fully connected, as BookSim's are with n = 1", NULL);
}

static void from_file(struct booksim *booksim, struct json *topology)
{
    struct import *import = booksim->import;
    const struct json *file = booksim_given(booksim, "network_file");
    if (file)
        import_put_text(import, topology, "file", import_path(import, file));
    else
        import_error(import, booksim_given(booksim, "topology"), "anynet needs a network_file");
}

static void single(struct booksim *booksim, struct json *topology)
{
    put(booksim, topology, "terminals", booksim_count(booksim, "in_ports", 1, 4096));
    if (booksim_count(booksim, "out_ports", 1, 4096) != booksim_count(booksim, "in_ports", 1, 4096))
        booksim_note(booksim, "out_ports", "a terminal has an input and an output", "in_ports");
}

static const struct topology_row topologies[] = {
    {"mesh", "mesh", cube, "dim_order", 1, NULL},
    {"torus", "torus", cube, "dim_order", 2, NULL},
    {"cmesh", "mesh", concentrated, "dor", 1, NULL},
    {"fly", "butterfly", butterfly, "dest_tag", 1, NULL},
    {"qtree", "folded_clos", thin_tree, "nca", 1, NULL},
    {"tree4", "folded_clos", thin_tree, "nca", 1, "its upper levels have more channels"},
    {"fattree", "folded_clos", fat_tree, "nca", 1, NULL},
    {"flatfly", "hyperx", concentrated, "ran_min", 1, NULL},
    {"dragonflynew", "dragonfly", dragonfly, "min", 10, NULL},
    {"anynet", "file", from_file, "min", 1, NULL},
    {"single", "single_router", single, "min", 1, NULL},
    {0},
};

struct routing_row {
    const char *topology, *function; /* * stands for any */
    const char *ours, *option, *value;
    const char *why; /* it is not quite the same; NULL: it is */
};

static const char no_romm[] = "the intermediate router is not drawn between source and destination";
static const char no_planar[] = "ways are not confined to planes";
static const char no_choice[] = "the order of dimensions is drawn, not chosen by load";

static const struct routing_row routings[] = {
    /* On a torus BookSim gives a packet its half of the VCs as it enters a ring: by_wrap. */
    {"torus", "dim_order", "dimension_order", "dateline", "by_wrap", NULL},
    {"torus", "dim_order_ni", "dimension_order", "dateline", "by_wrap", "VCs are not assigned by destination"},
    {"torus", "dim_order_bal", "dimension_order", "dateline", "balanced", NULL},
    {"torus", "dor", "dimension_order", "dateline", "by_wrap", NULL},
    {"torus", "valiant", "valiant", "dateline", "by_wrap", NULL},
    {"torus", "min_adapt", "torus_adaptive", NULL, NULL, NULL},
    {"mesh", "dor", "dimension_order", NULL, NULL, NULL},
    {"mesh", "dim_order", "dimension_order", NULL, NULL, NULL},
    {"mesh", "dim_order_ni", "dimension_order", NULL, NULL, "VCs are not assigned by destination"},
    {"mesh", "dim_order_pni", "dimension_order", NULL, NULL, "VCs are not assigned by destination"},
    {"mesh", "xy_yx", "o1turn", NULL, NULL, NULL},
    {"mesh", "adaptive_xy_yx", "o1turn", NULL, NULL, no_choice},
    {"mesh", "romm", "valiant", NULL, NULL, no_romm},
    {"mesh", "romm_ni", "valiant", NULL, NULL, no_romm},
    {"mesh", "min_adapt", "minimal_adaptive", NULL, NULL, NULL},
    {"mesh", "planar_adapt", "minimal_adaptive", NULL, NULL, no_planar},
    {"mesh", "valiant", "valiant", NULL, NULL, NULL},
    {"cmesh", "dor", "dimension_order", NULL, NULL, NULL},
    {"cmesh", "dor_no_express", "dimension_order", NULL, NULL, NULL},
    {"cmesh", "xy_yx", "o1turn", NULL, NULL, NULL},
    {"cmesh", "xy_yx_no_express", "o1turn", NULL, NULL, NULL},
    {"fly", "dest_tag", "destination_tag", NULL, NULL, NULL},
    {"fattree", "nca", "up_down", "selection", "random", NULL},
    {"fattree", "anca", "up_down", "selection", "adaptive", NULL},
    {"qtree", "nca", "up_down", "selection", "random", NULL},
    {"tree4", "nca", "up_down", "selection", "random", NULL},
    {"tree4", "anca", "up_down", "selection", "adaptive", NULL},
    {"flatfly", "ran_min", "minimal", NULL, NULL, NULL},
    {"flatfly", "xyyx", "dimension_order", NULL, NULL, "the order of dimensions is always the same"},
    {"flatfly", "adaptive_xyyx", "minimal_adaptive", NULL, NULL, NULL},
    {"flatfly", "valiant", "valiant", NULL, NULL, NULL},
    {"flatfly", "ugal*", "ugal", NULL, NULL, NULL},
    {"dragonflynew", "min", "dragonfly_minimal", NULL, NULL, NULL},
    {"dragonflynew", "ugal", "ugal", NULL, NULL, NULL},
    {"anynet", "min", "minimal", NULL, NULL, NULL},
    {"single", "*", "minimal", NULL, NULL, NULL},
};

static void put_routing(struct booksim *booksim, const struct topology_row *topology)
{
    struct import *import = booksim->import;
    bool is_given = !booksim_is(booksim, "routing_function", "none");
    const char *function = is_given ? booksim_value(booksim, "routing_function") : topology->routing;
    const struct routing_row *row = NULL;
    for (size_t i = 0; i < sizeof routings / sizeof *routings && !row; i++)
        if (strcmp(routings[i].topology, topology->theirs) == 0 && fnmatch(routings[i].function, function, 0) == 0)
            row = &routings[i];
    struct json *type = import_put_text(import, import->ours, "network.routing.type", row ? row->ours : "minimal");
    if (row && row->option)
        import_put_text(import, type->parent, row->option, row->value);
    if (!row)
        booksim_note(booksim, "routing_function", "not known here for this topology", "network.routing minimal");
    else if (row->why)
        booksim_note(booksim, "routing_function", row->why, row->ours);
    if (!is_given)
        import_comment(import, type->parent, "the file names no routing_function; this is the usual one");
}

void booksim_network(struct booksim *booksim)
{
    struct import *import = booksim->import;
    const char *name = booksim_value(booksim, "topology");
    const struct topology_row *row = IMPORT_FIND(topologies, name);
    if (!row) {
        IMPORT_REFUSE(import, booksim_given(booksim, "topology"), topologies);
        return;
    }
    struct json *topology = import_put_text(import, import->ours, "network.topology.type", row->ours)->parent;
    row->settings(booksim, topology);
    if (row->why)
        booksim_note(booksim, "topology", row->why, row->ours);
    put_routing(booksim, row);
    import_put(import, import->ours, "network.router", json_object(import->arena));
    bool is_on_chip = !booksim_is(booksim, "use_noc_latency", "0");
    if (is_on_chip && strcmp(row->ours, "dragonfly") == 0) {
        struct json *latencies =
            import_put(import, import->ours, "network.channel.latencies", json_array(import->arena));
        json_append(latencies, json_number_u64(import->arena, row->latency));
        json_append(latencies, json_number_u64(import->arena, 10 * row->latency));
    } else {
        struct json *latency =
            import_put_u64(import, import->ours, "network.channel.latency", is_on_chip ? row->latency : 1);
        if (is_on_chip && strcmp(name, "torus") == 0)
            import_comment(import, latency, "use_noc_latency = 1: a folded torus, channels of two cycles");
    }
    import_put_u64(import, import->ours, "network.terminal_channel.latency", 1);
}

/* ---- router ---- */

struct allocator_row {
    const char *theirs, *ours;
    bool iterates, has_arbiters;
    const char *why;
};

static const struct allocator_row allocators[] = {
    {"islip", "islip", true, false, NULL},
    {"pim", "pim", true, false, NULL},
    {"wavefront", "wavefront", false, false, NULL},
    {"rr_wavefront", "wavefront", false, false, "the first diagonal is not moved on in turn"},
    {"max_size", "maximum_size", false, false, NULL},
    {"separable_input_first", "separable_input_first", true, true, NULL},
    {"separable_output_first", "separable_output_first", true, true, NULL},
    {"loa", "separable_input_first", true, true, "inputs do not prefer outputs that few ask for"},
    {"select", "islip", true, false, "matching by rounds of offers"},
    {0},
};

/* round_robin, matrix, tree(...): one for all, or one for each allocator in older files. */
static const char *arbiter_for(struct booksim *booksim, const char *own_key)
{
    if (booksim_is(booksim, "priority", "age"))
        return "age";
    const char *key = booksim_given(booksim, own_key) ? own_key : "arb_type";
    if (booksim_is(booksim, key, "matrix"))
        return "least_recently_served";
    if (!booksim_is(booksim, key, "round_robin"))
        booksim_note(booksim, key, "no such arbiter", "round_robin");
    return "round_robin";
}

static void put_allocator(struct booksim *booksim, const char *key, const char *path, const char *arbiter_key,
                          const char *iterations_key)
{
    struct import *import = booksim->import;
    const char *name;
    booksim_split(import->arena, booksim_value(booksim, key), &name);
    const struct allocator_row *row = IMPORT_FIND(allocators, name);
    row = row ? row : allocators;
    if (strcmp(row->theirs, booksim_value(booksim, key)) != 0)
        booksim_note(booksim, key, "no such allocator", row->ours);
    else if (row->why)
        booksim_note(booksim, key, row->why, row->ours);
    struct json *block = import_put(import, import->ours, path, json_object(import->arena));
    import_put_text(import, block, "type", row->ours);
    const char *rounds = booksim_is(booksim, iterations_key, "0") ? "alloc_iters" : iterations_key;
    uint64_t iterations = booksim_count(booksim, rounds, 1, 64);
    if (row->iterates)
        put(booksim, block, "iterations", iterations);
    const char *arbiter = arbiter_for(booksim, arbiter_key);
    if (!row->has_arbiters)
        return;
    import_put_text(import, block, "input_arbiter", arbiter);
    import_put_text(import, block, "output_arbiter", arbiter);
}

static void put_buffers(struct booksim *booksim, struct json *router)
{
    struct import *import = booksim->import;
    uint64_t vcs = booksim_count(booksim, "num_vcs", 1, 64);
    put(booksim, router, "num_vcs", vcs);
    uint64_t each = booksim_count(booksim, "vc_buf_size", 1, 32768);
    uint64_t all = booksim_is(booksim, "buf_size", "-1") ? 0 : booksim_count(booksim, "buf_size", 0, 64 * 32768);
    if (all == 0) {
        put(booksim, router, "buffer_depth", each);
        return;
    }
    struct json *depth = import_put_u64(import, router, "buffer_depth", all / vcs ? all / vcs : 1);
    import_comment(import, depth, "buf_size %llu, shared out among the VCs", (unsigned long long)all);
}

static void put_priority(struct booksim *booksim, struct json *router)
{
    import_put_text(booksim->import, router, "arbiter", arbiter_for(booksim, "arb_type"));
    if (booksim_is(booksim, "priority", "none"))
        return;
    if (!booksim_is(booksim, "priority", "age"))
        booksim_note(booksim, "priority", "packets have no priorities", "network.router.arbiter age");
    else if (strncmp(booksim_value(booksim, "sw_allocator"), "separable", 9) != 0)
        booksim_note(booksim, "priority", "only arbiters know the age of packets, not this allocator",
                     "network.router.allocator separable_input_first with arbiters age");
}

void booksim_router(struct booksim *booksim)
{
    static const struct {
        const char *theirs, *ours;
        uint32_t min, max;
    } counts[] = {{"routing_delay", "routing_latency", 0, 10000},
                  {"vc_alloc_delay", "vc_allocation_latency", 0, 10000},
                  {"sw_alloc_delay", "switch_allocation_latency", 0, 10000},
                  {"credit_delay", "credit_latency", 0, 10000},
                  {"input_speedup", "input_speedup", 1, 64},
                  {"output_speedup", "output_speedup", 1, 64}};
    struct import *import = booksim->import;
    struct json *router = import_put_text(import, import->ours, "network.router.type", "input_queued")->parent;
    if (!booksim_is(booksim, "router", "iq"))
        booksim_note(booksim, "router", "no such router", "input_queued");
    put_buffers(booksim, router);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        put(booksim, router, counts[i].ours, booksim_count(booksim, counts[i].theirs, counts[i].min, counts[i].max));
    struct json *crossbar = import_put_u64(import, router, "crossbar_latency",
                                           booksim_count(booksim, "st_prepare_delay", 0, 5000) +
                                               booksim_count(booksim, "st_final_delay", 0, 5000));
    import_comment(import, crossbar, "st_prepare_delay + st_final_delay");
    if (booksim_is(booksim, "hold_switch_for_packet", "1"))
        import_comment(import, import_put_text(import, router, "crossbar_flow", "winner_take_all"),
                       "hold_switch_for_packet: until the tail, or until it stalls");
    if (booksim_is(booksim, "vc_busy_when_full", "1"))
        import_put(import, router, "vc_needs_credit", json_bool(import->arena, true));
    put_allocator(booksim, "vc_allocator", "network.router.vc_allocator", "vc_alloc_arb_type", "vc_alloc_iters");
    put_allocator(booksim, "sw_allocator", "network.router.allocator", "sw_alloc_arb_type", "sw_alloc_iters");
    put_priority(booksim, router);
}
