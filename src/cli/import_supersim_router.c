/* SPDX-License-Identifier: Apache-2.0 */
/* SuperSim's routers in our words: queues, pipeline, schedulers and the congestion sensor. */
#include "cli/import_supersim.h"

#include <string.h>

static struct json *ours(struct supersim *supersim)
{
    return json_find(json_find(supersim->import->ours, "network"), "router");
}

static struct json *put_u64(struct supersim *supersim, const char *key, uint64_t value)
{
    return import_put_u64(supersim->import, ours(supersim), key, value);
}

/* ---- queues ---- */

/* Tailored: so many times the cycles of the channel, within bounds. */
static void put_input_queues(struct supersim *supersim)
{
    struct import *import = supersim->import;
    static const struct import_name modes[] = {{"fixed", "fixed"}, {"tailored", "tailored"}, {0}};
    const char *mode = import_choice(import, import_take(supersim->router, "input_queue_mode"), modes, "fixed");
    const struct json *depth = import_take(supersim->router, "input_queue_depth");
    if (strcmp(mode, "tailored") != 0) {
        put_u64(supersim, "buffer_depth", import_count(import, depth, 8, 1, 32768));
        return;
    }
    uint64_t min = import_count(import, import_take(supersim->router, "input_queue_min"), 1, 1, 1u << 30);
    uint64_t max = import_count(import, import_take(supersim->router, "input_queue_max"), 1u << 30, 1, 1u << 30);
    double flits = import_number(import, depth, 1, 0, 1e9) * (double)supersim->internal;
    flits = flits < (double)min ? (double)min : flits > (double)max ? (double)max : flits;
    struct json *buffers = put_u64(supersim, "buffer_depth", (uint64_t)flits);
    import_comment(import, buffers, "tailored to channels between routers; those of terminals get the same");
}

/* Those of an output-queued router are endless where nothing is said, on both sides. */
static void put_output_queues(struct supersim *supersim, const char *architecture)
{
    struct import *import = supersim->import;
    if (strcmp(architecture, "input_queued") == 0)
        return;
    const struct json *depth = import_take(supersim->router, "output_queue_depth");
    bool may_be_endless = strcmp(architecture, "output_queued") == 0;
    if (may_be_endless && (!depth || (depth->type == JSON_TEXT && strcmp(depth->text, "infinite") == 0)))
        return;
    if (may_be_endless && depth->type != JSON_NUMBER)
        import_expected(import, depth, "a number of flits or \"infinite\"");
    else
        put_u64(supersim, "output_depth", import_count(import, depth, 8, 1, may_be_endless ? 1000000000 : 32768));
}

/* ---- arbiters and allocators ---- */

static const char *arbiter(struct supersim *supersim, struct json *allocator, const char *key)
{
    static const struct import_name names[] = {
        {"lslp", "round_robin"}, {"lru", "least_recently_served"}, {"random", "random"}, {0}};
    struct import *import = supersim->import;
    struct json *block = import_block(import, allocator, key);
    const struct json *type = import_take(block, "type");
    const char *name = import_word(import, type, "lslp");
    const struct import_name *row = IMPORT_FIND(names, name);
    if (row)
        return row->ours;
    if (strcmp(name, "comparing") != 0) {
        bool is_random = strcmp(name, "random_priority") == 0;
        import_note(import, type, "no such arbiter", is_random ? "random" : "round_robin");
        return is_random ? "random" : "round_robin";
    }
    const struct json *greater = import_take(block, "greater");
    if (supersim->comparing_why)
        import_note(import, type, supersim->comparing_why, supersim->comparing);
    else if (import_truth(import, greater, false))
        import_note(import, greater, "the oldest packet goes first, not the youngest", supersim->comparing);
    return supersim->comparing;
}

/* Resources first are outputs first here; clients are inputs. With pointers that move on success it is iSLIP. */
static void put_allocator(struct supersim *supersim, struct json *scheduler, const char *path)
{
    struct import *import = supersim->import;
    struct json *theirs = import_block(import, scheduler, "allocator");
    struct json *block = import_put(import, import->ours, path, json_object(import->arena));
    const struct json *type = import_take(theirs, "type");
    const char *name = import_word(import, type, "rc_separable");
    if (strcmp(name, "wavefront") == 0) {
        import_put_text(import, block, "type", "wavefront");
        return;
    }
    bool is_first = strcmp(name, "cr_separable") == 0, is_one_sided = strcmp(name, "r_separable") == 0;
    if (!is_first && !is_one_sided && strcmp(name, "rc_separable") != 0)
        import_note(import, type, "no such allocator", "separable_output_first");
    const char *resource = arbiter(supersim, theirs, "resource_arbiter");
    const char *client = is_one_sided ? resource : arbiter(supersim, theirs, "client_arbiter");
    bool is_latched = import_truth(import, import_take(theirs, "slip_latch"), true);
    bool is_islip = is_latched && !is_first && !is_one_sided && strcmp(resource, "round_robin") == 0 &&
                    strcmp(client, "round_robin") == 0;
    import_put_text(import, block, "type",
                    is_islip   ? "islip"
                    : is_first ? "separable_input_first"
                               : "separable_output_first");
    const struct json *iterations = is_one_sided ? NULL : import_take(theirs, "iterations");
    import_put_u64(import, block, "iterations", import_count(import, iterations, 1, 1, 64));
    if (is_islip)
        return;
    import_put_text(import, block, "input_arbiter", client);
    import_put_text(import, block, "output_arbiter", resource);
}

/* ---- crossbar ---- */

static const struct {
    bool full_packet, packet_lock, idle_unlock;
    const char *ours, *why;
} flows[] = {
    {false, false, false, "flit_buffer", NULL},
    {false, false, true, "flit_buffer", NULL},
    {true, true, false, "packet_buffer", NULL},
    {true, true, true, "packet_buffer", NULL},
    {false, true, true, "winner_take_all", NULL},
    {false, true, false, "winner_take_all", "a packet that stalls lets others pass: locked, they could deadlock"},
    {true, false, false, "packet_buffer", "a packet that fits has its output for itself"},
    {true, false, true, "packet_buffer", "a packet that fits has its output for itself"},
};

static void put_crossbar_flow(struct supersim *supersim, struct json *scheduler)
{
    struct import *import = supersim->import;
    bool full = import_truth(import, import_take(scheduler, "full_packet"), false);
    const struct json *lock = import_take(scheduler, "packet_lock");
    bool is_locked = import_truth(import, lock, false);
    bool unlocks = import_truth(import, import_take(scheduler, "idle_unlock"), false);
    for (size_t i = 0; i < sizeof flows / sizeof *flows; i++) {
        if (flows[i].full_packet != full || flows[i].packet_lock != is_locked || flows[i].idle_unlock != unlocks)
            continue;
        import_put_text(import, import->ours, "network.router.crossbar_flow", flows[i].ours);
        if (flows[i].why)
            import_note(import, lock, flows[i].why, flows[i].ours);
    }
}

/* Input-queued, with or without queues at the outputs. */
static void put_pipeline(struct supersim *supersim)
{
    struct import *import = supersim->import;
    struct json *router = supersim->router, *scheduler = import_block(import, router, "crossbar_scheduler");
    bool waits = import_truth(import, import_take(router, "vca_swa_wait"), true);
    struct json *vc_allocation = put_u64(supersim, "vc_allocation_latency", waits ? 1 : 0);
    if (!waits)
        import_comment(import, vc_allocation, "vca_swa_wait false: both allocations in one cycle");
    put_u64(supersim, "switch_allocation_latency", 1);
    put_u64(supersim, "crossbar_latency",
            import_count(import, import_take(import_block(import, router, "crossbar"), "latency"), 1, 0, 10000));
    put_u64(supersim, "credit_latency", 0);
    struct json *speedup = put_u64(supersim, "input_speedup", supersim->num_vcs < 64 ? supersim->num_vcs : 64);
    import_comment(import, speedup, "the crossbar has an input for every VC");
    put_crossbar_flow(supersim, scheduler);
    put_allocator(supersim, import_block(import, router, "vc_scheduler"), "network.router.vc_allocator");
    put_allocator(supersim, scheduler, "network.router.allocator");
    const struct json *chosen = json_find(json_find(ours(supersim), "allocator"), "output_arbiter");
    import_put_text(import, import->ours, "network.router.arbiter", chosen ? chosen->text : "round_robin");
    if (import_truth(import, import_take(router, "store_and_forward"), false))
        import_put_text(import, import->ours, "network.router.switching", "store_and_forward");
}

/* What picks among the queues of an output: one arbiter here, an allocator of one resource there. */
static void put_output_arbiter(struct supersim *supersim, const char *key)
{
    struct import *import = supersim->import;
    struct json *scheduler = import_block(import, supersim->router, "output_crossbar_scheduler");
    struct json *allocator = import_block(import, scheduler, "allocator");
    import_take(scheduler, "idle_unlock"); /* says more about packet_lock, which is listed */
    import_take(allocator, "type");
    import_take(allocator, "slip_latch");
    import_take(allocator, "iterations");
    import_put_text(import, ours(supersim), key, arbiter(supersim, allocator, "resource_arbiter"));
}

static void put_transfer(struct supersim *supersim)
{
    static const char *const absent[] = {"crossbar", "crossbar_scheduler", "vc_scheduler", "vca_swa_wait"};
    struct import *import = supersim->import;
    for (uint32_t i = 0; i < 4; i++)
        import_note(import, import_take(supersim->router, absent[i]), "an output-queued router has none",
                    "network.router.transfer_latency");
    put_u64(supersim, "transfer_latency",
            import_count(import, import_take(supersim->router, "transfer_latency"), 1, 0, 100000));
    put_u64(supersim, "credit_latency", 0);
    put_output_arbiter(supersim, "arbiter");
    const struct json *whole = import_take(supersim->router, "store_and_forward");
    if (import_truth(import, whole, false))
        import_note(import, whole, "this router moves flits as they come", "network.router.type input_queued");
}

/* ---- congestion sensor ---- */

static void put_sensor(struct supersim *supersim)
{
    static const struct import_name accounts[] = {
        {"output", "output"}, {"downstream", "downstream"}, {"output_and_downstream", "both"}, {0}};
    static const struct import_name modes[] = {
        {"normalized_vc", "vc"},        {"normalized_port", "port"},  {"normalized_min", "port_min"},
        {"normalized_max", "port_max"}, {"absolute_vc", "vc"},        {"absolute_port", "port"},
        {"absolute_min", "port_min"},   {"absolute_max", "port_max"}, {0}};
    static const char *const numbers[] = {"granularity", "minimum", "offset"};
    struct import *import = supersim->import;
    struct json *sensor = import_block(import, supersim->router, "congestion_sensor");
    if (!sensor)
        return;
    const struct json *algorithm = import_take(sensor, "algorithm");
    const char *name = import_word(import, algorithm, "buffer_occupancy");
    bool is_none = strcmp(name, "null_sensor") == 0;
    if (!is_none && strcmp(name, "buffer_occupancy") != 0)
        import_note(import, algorithm, "no such sensor", "buffer_occupancy");
    struct json *block =
        import_put_text(import, ours(supersim), "congestion.type", is_none ? "none" : "buffer_occupancy")->parent;
    const char *account =
        import_choice(import, import_take(supersim->router, "congestion_mode"), accounts, "downstream");
    const struct json *mode = import_take(sensor, "mode");
    const char *per = import_choice(import, mode, modes, "vc");
    if (is_none)
        return;
    import_put_text(import, block, "accounting", account);
    import_put_text(import, block, "per", per);
    bool is_absolute = strncmp(import_word(import, mode, ""), "absolute", 8) == 0;
    import_put(import, block, "normalised", json_bool(import->arena, !is_absolute));
    uint64_t latency = supersim_ticks(supersim, import_take(sensor, "latency"), supersim->router_cycle, 1);
    import_put_u64(import, block, "latency", latency ? latency : 1);
    for (uint32_t i = 0; i < 3; i++)
        import_put_f64(import, block, numbers[i], import_number(import, import_take(sensor, numbers[i]), 0, -1e9, 1e9));
}

void supersim_router(struct supersim *supersim)
{
    static const struct import_name architectures[] = {{"input_queued", "input_queued"},
                                                       {"output_queued", "output_queued"},
                                                       {"input_output_queued", "input_output_queued"},
                                                       {0}};
    struct import *import = supersim->import;
    const struct json *node = supersim->router ? import_need(import, supersim->router, "architecture") : NULL;
    const char *type = import_choice(import, node, architectures, "input_queued");
    import_put_text(import, ours(supersim), "type", type);
    put_u64(supersim, "num_vcs", supersim->num_vcs);
    put_input_queues(supersim);
    put_output_queues(supersim, type);
    put_u64(supersim, "cycle", supersim->router_cycle);
    if (strcmp(type, "output_queued") == 0)
        put_transfer(supersim);
    else
        put_pipeline(supersim);
    if (strcmp(type, "input_output_queued") == 0)
        put_output_arbiter(supersim, "output_arbiter");
    put_sensor(supersim);
}
