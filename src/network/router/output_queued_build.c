/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building the output-queued routers from their settings and the network's links,
 * and looking at them from outside: are they idle, and what does a lane wait for?
 */
#include "network/router/output_queued.h"

#include "flitwarp/shown.h"

const struct option output_queued_options[] = {
    OPTION_U32(struct output_queued_config, num_vcs, "2", 1, 64, NULL, "virtual channels of each port"),
    BUFFER_SIZE_OPTIONS(struct output_queued_config),
    OPTION_U32(struct output_queued_config, output_depth, "null", 1, 1e9, "flits",
               "output queue of each virtual channel; null: without an end"),
    OPTION_TICKS(struct output_queued_config, cycle, "1", 1, 1000000, "clock of the router: a step each cycle"),
    OPTION_U32(struct output_queued_config, routing_latency, "0", 0, 10000, "cycles", "to route a packet's head"),
    OPTION_U32(struct output_queued_config, transfer_latency, "1", 0, 100000, "cycles",
               "from an input buffer to an output queue"),
    OPTION_U32(struct output_queued_config, credit_latency, "1", 0, 10000, "cycles",
               "to process a credit, beyond the channel's latency"),
    OPTION_CHOICE(struct output_queued_config, arbiter, "arbiter", "\"round_robin\"",
                  "picks among an output's virtual channels that can send"),
    OUTPUT_HOLD_OPTION(struct output_queued_config),
    OPTION_CHOICE(struct output_queued_config, congestion, "congestion", "\"buffer_occupancy\"",
                  "what adaptive routing sees of the outputs"),
    OPTION_END,
};

void output_queued_plan(const struct choice *self, uint32_t flit_bytes, struct router_plan *plan, struct errors *errors)
{
    const struct output_queued_config *c = self->config;
    (void)flit_bytes, (void)errors;
    plan->num_vcs = c->num_vcs;
    plan->buffer_depth = c->buffer_depth;
    plan->buffer_min = c->buffer_min;
    plan->buffer_per_latency = c->buffer_per_latency;
}

static void init_lane(struct output_queued *q, uint32_t router, uint32_t lane)
{
    const struct link *link = network_link(q->network, router, lane / q->num_vcs);
    size_t number = number_of(q, router, lane);
    q->inputs[number] = (struct input_lane){
        .output = LANE_IDLE,
        .last_output = (uint16_t)(q->lanes - 1),
        .back = link_lane(link, lane % q->num_vcs),
        .back_latency = link->latency,
        .back_kind = link->to_terminal ? EVENT_TERMINAL_CREDIT : EVENT_CREDIT,
    };
    q->owner[number] = NOBODY;
    if (link->target != FW_NONE && link->carries_out) {
        bits_add(set_of(q->open, q, router), lane);
        bits_add(set_of(q->usable, q, router), lane);
    }
}

static void take_memory(struct output_queued *q, struct arena *arena)
{
    uint32_t routers = q->network->topology.routers;
    size_t lanes = (size_t)routers * q->lanes, words = (size_t)routers * q->words;
    q->ready = arena_array(arena, uint64_t, q->words);
    q->offered = arena_array(arena, uint64_t, q->words);
    q->heads = arena_array(arena, struct router_head, routers);
    q->fresh = arena_array(arena, uint64_t, words);
    q->bodies = arena_array(arena, uint64_t, words);
    q->open = arena_array(arena, uint64_t, words);
    q->usable = arena_array(arena, uint64_t, words);
    q->inputs = arena_array(arena, struct input_lane, lanes);
    q->rings = arena_array(arena, struct flit, lanes * (q->ring_mask + 1));
    q->wants = arena_array(arena, uint64_t, lanes * q->words);
    q->owner = arena_array(arena, uint16_t, lanes);
    q->wait_order = arena_array(arena, uint16_t, lanes);
    q->route_order = arena_array(arena, uint16_t, q->routing ? lanes : 0);
    q->ready_at = arena_array(arena, tick_t, q->routing ? lanes : 0);
}

void *output_queued_build(struct network *network, const struct choice *self, struct errors *errors)
{
    const struct output_queued_config *c = self->config;
    uint32_t before = errors->count, lanes = network->ports * c->num_vcs;
    check_lanes(network, self, errors);
    buffer_check(c->buffer_min, c->buffer_depth, self, errors);
    struct output_stage_config outputs = {
        .arbiter = &c->arbiter,
        .congestion = network_sense(network, &c->congestion, c->output_depth ? c->output_depth : ENDLESS, errors),
        .depth = c->output_depth ? c->output_depth : ENDLESS,
        .reports_all = network->routing.escape_vcs && c->output_depth,
        .holds = c->output_hold,
    };
    if (errors->count > before)
        return NULL;
    struct output_queued *q = arena_take(network->arena, sizeof *q);
    *q = (struct output_queued){
        .network = network,
        .engine = network->engine,
        .outputs = output_stage_build(network, &outputs),
        .config = *c,
        .cycle = c->cycle,
        .routing = c->routing_latency * c->cycle,
        .transfer = c->transfer_latency * c->cycle,
        .credit = c->credit_latency * c->cycle,
        .num_vcs = c->num_vcs,
        .lanes = lanes,
        .words = words_for(lanes),
        .ring_mask = ring_mask_for(c->buffer_depth),
        .needs_room = outputs.reports_all, /* a queue without an end has room for any packet */
        .question = {.routing = &network->routing, .congestion = outputs.congestion},
    };
    take_memory(q, network->arena);
    for (uint32_t router = 0; router < network->topology.routers; router++) {
        q->heads[router].step_at = FW_NEVER;
        for (uint32_t lane = 0; lane < lanes; lane++)
            init_lane(q, router, lane);
    }
    return q;
}

void *output_queued_share(const void *routers, struct network *part)
{
    struct output_queued *q = arena_take(part->arena, sizeof *q);
    *q = *(const struct output_queued *)routers;
    q->network = part;
    q->engine = part->engine;
    q->outputs = output_stage_share(q->outputs, part);
    q->question.routing = &part->routing;
    q->ready = arena_array(part->arena, uint64_t, q->words);
    q->offered = arena_array(part->arena, uint64_t, q->words);
    q->flit_hops = 0;
    return q;
}

static void output_queued_check_idle(void *routers)
{
    const struct output_queued *q = routers;
    output_check_idle(q->outputs);
    for (uint32_t router = 0; router < q->network->topology.routers; router++)
        for (uint32_t lane = 0; lane < q->lanes; lane++) {
            size_t number = number_of(q, router, lane);
            lane_check_idle(router, lane, q->inputs[number].count, q->owner[number], 0, 0);
        }
}

static uint32_t queue_space(const struct output_queued *q, uint32_t router, uint32_t output)
{
    return q->outputs->depth - output_queue_at(q->outputs, router, output)->count;
}

/* Has its packet been routed, and tried what it may take? */
static bool is_waiting(const struct output_queued *q, uint32_t router, uint32_t lane)
{
    const uint16_t *order = q->wait_order + number_of(q, router, 0);
    uint32_t place = 0;
    while (place < q->heads[router].waiting && order[place] != lane)
        place++;
    return place < q->heads[router].waiting;
}

static bool output_queued_waits_for(void *routers, uint32_t router, uint32_t lane, struct waiting *waiting)
{
    const struct output_queued *q = routers;
    const struct input_lane *input = &q->inputs[number_of(q, router, lane)];
    if (!input->count)
        return false;
    *waiting = (struct waiting){.packet = input->front.packet, .flits = input->count, .room = 1};
    if (input->output < LANE_WAITS) {
        waiting->for_credit = true;
        waiting_add(waiting, input->output, 0, queue_space(q, router, input->output));
        return true;
    }
    if (!is_waiting(q, router, lane))
        return true;
    if (q->needs_room)
        waiting->room = network_packet(q->network, input->front.packet)->size;
    BITS_EACH(output, wants_of(q, router, lane), q->words) {
        uint16_t owner = q->owner[number_of(q, router, (uint32_t)output)];
        waiting_add(waiting, output, owner == NOBODY ? WITHOUT_ROOM : owner, queue_space(q, router, (uint32_t)output));
    }
    return true;
}

static void output_queued_show(const void *routers, uint32_t router, struct shown_router *shown)
{
    const struct output_queued *q = routers;
    for (uint32_t lane = 0; lane < q->lanes; lane++) {
        size_t number = number_of(q, router, lane);
        const struct input_lane *input = &q->inputs[number];
        const struct flit *ring = q->rings + number * (q->ring_mask + 1);
        struct shown_input *in = &shown->inputs[lane];
        in->output = input->output;
        in->state = shown_state(input->output, input->count);
        for (uint32_t i = 0; i < input->count; i++) {
            struct flit flit = i ? ring[(input->first + i - 1) & q->ring_mask] : input->front;
            shown_add(shown, &in->queue, flit.packet, flit.place & FLIT_POSITION, 1);
        }
        shown->outputs[lane].holder = q->owner[number];
    }
    output_show(q->outputs, router, shown);
}

static uint64_t output_queued_flit_hops(const void *routers)
{
    return ((const struct output_queued *)routers)->flit_hops;
}

static uint32_t output_queued_lane_flits(const void *routers, uint32_t router, uint32_t lane)
{
    return output_queue_at(((const struct output_queued *)routers)->outputs, router, lane)->flits;
}

const struct router_inspect_ops output_queued_inspect = {
    .check_idle = output_queued_check_idle,
    .waits_for = output_queued_waits_for,
    .flit_hops = output_queued_flit_hops,
    .lane_flits = output_queued_lane_flits,
    .show = output_queued_show,
};
