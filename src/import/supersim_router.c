/* SPDX-License-Identifier: Apache-2.0 */
/* SuperSim's routers in our words: queues, pipeline, crossbar and the congestion sensor. */
#include "import/supersim.h"

#include <math.h>
#include <string.h>

#define BUFFER_MAX 32768 /* flits */

static struct json *ours(struct supersim *supersim)
{
    return json_find(json_find(supersim->import->ours, "network"), "router");
}

static struct json *put_u64(struct supersim *supersim, const char *key, uint64_t value)
{
    return import_put_u64(supersim->import, ours(supersim), key, value);
}

/* ---- queues ---- */

/* A packet that moves as a whole must fit every buffer that there is, of which that of the shortest channel is least. */
static uint64_t least_buffer(struct supersim *supersim, double per_latency, uint64_t least, uint64_t most)
{
    const struct json *scheduler = json_find(supersim->router, "crossbar_scheduler");
    const struct json *by_packet = scheduler ? json_find(scheduler, "full_packet") : NULL;
    const struct json *stores = json_find(supersim->router, "store_and_forward");
    double shortest = ceil(per_latency * (double)supersim->shortest);
    bool is_whole = (by_packet && by_packet->truth) || (stores && stores->truth);
    if (!is_whole || shortest <= (double)least)
        return least;
    return shortest < (double)most ? (uint64_t)shortest : most;
}

/* So many times the cycles of the channel that fills a queue, within bounds. */
static void put_tailored_queues(struct supersim *supersim, const struct json *depth)
{
    struct import *import = supersim->import;
    const struct json *min = import_take(supersim->router, "input_queue_min");
    const struct json *max = import_take(supersim->router, "input_queue_max");
    double per_latency = import_number(import, depth, 1, 0, BUFFER_MAX);
    if (per_latency <= 0)
        import_error(import, depth, "found %s, expected a number above 0", depth->text);
    uint64_t most = import_count(import, max, BUFFER_MAX, 1, 1u << 30);
    if (most > BUFFER_MAX) {
        import_note(import, max, "a buffer holds 32768 flits at most", "network.router.buffer_depth 32768");
        most = BUFFER_MAX;
    }
    uint64_t least = import_count(import, min, 1, 0, most);
    put_u64(supersim, "buffer_depth", most);
    import_put_f64(import, ours(supersim), "buffer_per_latency", per_latency);
    least = least ? least : 1;
    uint64_t smallest = least_buffer(supersim, per_latency, least, most);
    struct json *buffer_min = put_u64(supersim, "buffer_min", smallest);
    if (smallest != least)
        import_comment(import, buffer_min, "that of the shortest channel: packets move as a whole, and must fit it");
}

static void put_input_queues(struct supersim *supersim)
{
    struct import *import = supersim->import;
    static const struct import_name modes[] = {{"fixed", "fixed"}, {"tailored", "tailored"}, {0}};
    const char *mode = import_choice(import, import_take(supersim->router, "input_queue_mode"), modes, "fixed");
    const struct json *depth = import_take(supersim->router, "input_queue_depth");
    if (strcmp(mode, "tailored") == 0)
        put_tailored_queues(supersim, depth);
    else
        put_u64(supersim, "buffer_depth", import_count(import, depth, 8, 1, BUFFER_MAX));
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
        put_u64(supersim, "output_depth", import_count(import, depth, 8, 1, may_be_endless ? 1000000000 : BUFFER_MAX));
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

static void put_flow(struct supersim *supersim, const char *flow)
{
    import_put_text(supersim->import, ours(supersim), "crossbar_flow", flow);
}

/* An output for every port. */
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
        put_flow(supersim, flows[i].ours);
        if (flows[i].why)
            import_note(import, lock, flows[i].why, flows[i].ours);
    }
}

/* An output for every VC, that of one packet at a time anyway: a lock on it changes nothing. */
static void put_crossbar_outputs(struct supersim *supersim, struct json *scheduler)
{
    struct import *import = supersim->import;
    const struct json *full = import_take(scheduler, "full_packet"), *lock = import_take(scheduler, "packet_lock");
    bool is_full = import_truth(import, full, false);
    import_truth(import, lock, false); /* wrong ones are refused all the same */
    import_truth(import, import_take(scheduler, "idle_unlock"), false);
    put_flow(supersim, is_full ? "packet_buffer" : "flit_buffer");
    if (is_full && supersim->num_vcs > 1)
        import_note(import, full, "a packet that waits for room has its output port for itself, not one VC of it",
                    "packet_buffer");
    if (is_full)
        return;
    struct json *speedup = put_u64(supersim, "output_speedup", supersim->num_vcs < 64 ? supersim->num_vcs : 64);
    import_comment(import, speedup, "the crossbar has an output for every VC");
}

/* Input-queued, with or without queues at the outputs. */
static void put_pipeline(struct supersim *supersim, bool has_output_queues)
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
    if (has_output_queues)
        put_crossbar_outputs(supersim, scheduler);
    else
        put_crossbar_flow(supersim, scheduler);
    supersim_allocator(supersim, import_block(import, router, "vc_scheduler"), "network.router.vc_allocator");
    supersim_allocator(supersim, scheduler, "network.router.allocator");
    const struct json *chosen = json_find(json_find(ours(supersim), "allocator"), "output_arbiter");
    import_put(import, ours(supersim), "arbiter",
               chosen ? json_copy(import->arena, chosen) : json_text(import->arena, "round_robin"));
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
    import_put(import, ours(supersim), key, supersim_arbiter(supersim, allocator, "resource_arbiter"));
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

/* Queues that are not there cannot be counted. */
static const char *countable(struct supersim *supersim, const struct json *theirs, const char *account)
{
    bool has_outputs = strcmp(json_find(ours(supersim), "type")->text, "input_queued") != 0;
    if (has_outputs || strcmp(account, "output") != 0)
        return account;
    import_note(supersim->import, theirs, "this router has no output queues",
                "network.router.congestion.accounting downstream");
    return "downstream";
}

/* Of what has no end there is no share. */
static bool is_normalised(struct supersim *supersim, const struct json *mode, const char *account)
{
    const struct json *router = ours(supersim);
    bool is_endless =
        strcmp(json_find(router, "type")->text, "output_queued") == 0 && !json_find(router, "output_depth");
    if (strncmp(import_word(supersim->import, mode, ""), "absolute", 8) == 0)
        return false;
    if (!is_endless || strcmp(account, "downstream") == 0)
        return true;
    import_note(supersim->import, mode, "output queues without an end have no share that is full",
                "network.router.congestion.normalised false");
    return false;
}

/* Flits on the channel are taken off the congestion that they seem to be. */
static void put_phantom(struct supersim *supersim, struct json *sensor, struct json *block, const char *account)
{
    struct import *import = supersim->import;
    const struct json *phantom = import_take(sensor, "phantom");
    if (!import_truth(import, phantom, false)) { /* coefficients mean nothing then */
        import_take(sensor, "value_coeff");
        import_take(sensor, "length_coeff");
        return;
    }
    const struct json *value = import_need(import, sensor, "value_coeff");
    const struct json *length = import_need(import, sensor, "length_coeff");
    if (strcmp(account, "output") == 0) {
        import_note(import, phantom, "accounting 'output' does not count flits on the channel",
                    "network.router.congestion.accounting both");
        return;
    }
    import_put_f64(import, block, "phantom_value", import_number(import, value, 1, 0, 1000));
    import_put_f64(import, block, "phantom_length", import_number(import, length, 1, 0, 1000));
}

static void put_sensor(struct supersim *supersim)
{
    static const struct import_name accounts[] = {
        {"output", "output"}, {"downstream", "downstream"}, {"output_and_downstream", "both"}, {0}};
    static const struct import_name modes[] = {
        {"normalized_vc", "vc"},       {"normalized_port", "port"}, {"normalized_min", "lesser"},
        {"normalized_max", "greater"}, {"absolute_vc", "vc"},       {"absolute_port", "port"},
        {"absolute_min", "lesser"},    {"absolute_max", "greater"}, {0}};
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
    const struct json *counted = import_take(supersim->router, "congestion_mode"), *mode = import_take(sensor, "mode");
    const char *account = import_choice(import, counted, accounts, "downstream");
    const char *per = import_choice(import, mode, modes, "vc");
    if (is_none)
        return;
    account = countable(supersim, counted, account);
    import_put_text(import, block, "accounting", account);
    import_put_text(import, block, "per", per);
    import_put(import, block, "normalised", json_bool(import->arena, is_normalised(supersim, mode, account)));
    uint64_t latency = supersim_ticks(supersim, import_take(sensor, "latency"), supersim->router_cycle, 1);
    import_put_u64(import, block, "latency", latency ? latency : 1);
    for (uint32_t i = 0; i < 3; i++)
        import_put_f64(import, block, numbers[i], import_number(import, import_take(sensor, numbers[i]), 0, -1e9, 1e9));
    put_phantom(supersim, sensor, block, account);
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
    bool has_output_queues = strcmp(type, "input_output_queued") == 0;
    if (strcmp(type, "output_queued") == 0)
        put_transfer(supersim);
    else
        put_pipeline(supersim, has_output_queues);
    if (has_output_queues)
        put_output_arbiter(supersim, "output_arbiter");
    put_sensor(supersim);
}
