/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building the simured routers from their settings and the network's links, and
 * looking at them from outside: are they idle, and what does a lane wait for?
 */
#include "network/router/simured_walk.h"

#include "flitwarp/shown.h"

static const char *const lane_free_names[] = {"auto", "behind_tail", "when_empty", NULL};
static const char *const order_names[] = {"per_router", "original", NULL};

const struct option simured_options[] = {
    OPTION_U32(struct simured_config, num_vcs, "2", 1, 64, NULL, "virtual channels of each port"),
    OPTION_U32(struct simured_config, buffer_depth, "2", 1, 32767, "flits",
               "slots of the input buffer and of the output buffer of each virtual channel"),
    OPTION_U32(struct simured_config, buffer_delay, "1", 0, 10000, "cycles",
               "that a flit rests in a slot of a buffer; 0 is as 1"),
    OPTION_U32(struct simured_config, crossbar_delay, "1", 0, 10000, "cycles", "to cross the router"),
    OPTION_U32(struct simured_config, switching_delay, "1", 0, 10000, "cycles",
               "to route a packet and set the crossbar, for its head"),
    OPTION_U32(struct simured_config, channel_delay, "1", 0, 10000, "cycles", "to cross a channel; 0 is as 1"),
    OPTION_BOOL(struct simured_config, buffer_forwarding, "true",
                "flits jump over free slots of a buffer; false: they rest in every slot"),
    OPTION_BOOL(struct simured_config, physical_channels, "false",
                "every virtual channel has a channel of its own; false: those of a port share one by turns"),
    OPTION_ENUM(
        struct simured_config, lane_free, "\"auto\"", lane_free_names,
        "when a packet may take a virtual channel: behind the tail of the last one, as in SimuRed, or when both its "
        "buffers are empty, as escape VCs need it; auto: where there are some"),
    OPTION_ENUM(
        struct simured_config, order, "\"per_router\"", order_names,
        "of packets within a cycle: each router serves its own, the oldest first; or as SimuRed's program moves "
        "them, one after the other over the whole network, with its draws for `seed`: to the tick, on 1 thread"),
    OPTION_TICKS(struct simured_config, cycle, "1", 1, 1000000,
                 "clock of the router; with several ticks, routers in a row learn within a cycle what is free"),
    CONGESTION_OPTION_WITH(struct simured_config, "order=per_router"),
    OPTION_END,
};

static uint32_t at_least_1(uint32_t delay) { return delay ? delay : 1; }

/* Are buffers plain queues? See simured_buffer.h. */
static bool is_plain(const struct simured_config *c) { return c->buffer_forwarding && c->buffer_delay <= 1; }

/*
 * The flits that may be on their way to a buffer or in the slots that they come in by. In a cycle of one tick a credit
 * comes a cycle late, which one place more makes up for where the slots do not.
 */
static uint32_t simured_depth(const struct simured_config *c)
{
    uint32_t entrance = is_plain(c) ? c->buffer_depth : 1;
    return entrance == 1 && c->cycle == 1 ? 2 : entrance;
}

static uint32_t capacity_of(const struct simured_config *c)
{
    return is_plain(c) ? simured_depth(c) : c->buffer_depth + simured_depth(c) - 1;
}

void simured_plan(const struct choice *self, uint32_t flit_bytes, struct router_plan *plan, struct errors *errors)
{
    const struct simured_config *c = self->config;
    (void)flit_bytes, (void)errors;
    plan->num_vcs = c->num_vcs;
    plan->buffer_depth = simured_depth(c);
    plan->congestion = &c->congestion;
    plan->output_depth = c->buffer_depth;
    if (c->order == ORDER_ORIGINAL) {
        plan->buffer_depth = c->buffer_depth;
        plan->takes_packets = true;
        plan->one_part_key = "order";
    }
}

void simured_check(const struct network *network, const struct choice *self, struct errors *errors)
{
    if (((const struct simured_config *)self->config)->order == ORDER_ORIGINAL)
        walk_check(network, self, errors);
}

static void init_lane(struct simured *q, struct simured_router *r, uint32_t lane)
{
    const struct link *link = network_link(q->network, r->number, q->port_of[lane]);
    *input_at(q, r, lane) = (struct simured_input){
        .output = LANE_IDLE,
        .back = link_lane(link, lane % q->num_vcs),
        .back_latency = link->latency,
        .back_kind = link->to_terminal ? EVENT_TERMINAL_CREDIT : EVENT_CREDIT,
    };
    *output_at(q, r, lane) = (struct simured_output){.owner = NOBODY, .credits = (int32_t)link->depth};
    r->releases[lane].edge = FW_NEVER;
}

/* Ticks that a flit keeps the last slot: whole cycles, and no fewer than the channel needs. */
static tick_t port_delay(const struct simured *q, const struct simured_config *c, const struct link *link)
{
    tick_t delay = at_least_1(link->to_terminal ? c->buffer_delay : c->channel_delay) * q->cycle;
    return delay >= link->cycle ? delay : next_edge(link->cycle, q->cycle);
}

static void init_port(struct simured *q, const struct simured_config *c, struct simured_router *r, uint32_t port)
{
    const struct link *link = network_link(q->network, r->number, port);
    r->ports[port].number = (uint16_t)port;
    if (link->target == FW_NONE)
        return;
    r->ports[port] = (struct simured_port){
        .delay = port_delay(q, c, link),
        .to = link_lane(link, 0),
        .latency = link->latency,
        .number = (uint16_t)port,
        .is_shared = !link->to_terminal && c->num_vcs > 1 && !c->physical_channels,
        .to_terminal = link->to_terminal,
    };
}

static void lay_out_buffer(struct buffers *b)
{
    size_t places = b->ring_mask + 1, size = sizeof(struct buffer) + sizeof(struct flit) * places;
    if (!b->is_plain) {
        b->since_at = block_place(&size, sizeof(tick_t) * places, sizeof(tick_t));
        b->slots_at = block_place(&size, sizeof(uint16_t) * places, sizeof(uint16_t));
    }
    b->bytes = (uint32_t)(size + 7) / 8 * 8;
}

/* A lane and its buffer; in one cache line where they fit. */
static uint32_t lane_stride(size_t bytes, const struct buffers *b)
{
    size_t all = bytes + b->bytes;
    return (uint32_t)(all <= 64 ? 64 : (all + 7) / 8 * 8);
}

static void init_router(struct simured *q, const struct simured_config *c, struct simured_router *r, uint32_t number)
{
    struct arena *arena = q->network->arena;
    *r = (struct simured_router){
        .step_at = FW_NEVER,
        .random = random_stream(q->network->seed, number, RANDOM_OUTPUT),
        .number = number,
        .due = arena_array(arena, uint64_t, q->port_words),
        .fresh = arena_array(arena, uint64_t, q->words),
        .crossing = arena_array(arena, uint64_t, q->words),
        .open = router_usable(q->network, number),
        .usable = router_usable(q->network, number),
        .resting_inputs = arena_array(arena, uint64_t, q->words),
        .resting_outputs = arena_array(arena, uint64_t, q->words),
        .inputs = arena_take(arena, (size_t)q->input_stride * q->lanes),
        .outputs = arena_take(arena, (size_t)q->output_stride * q->lanes),
        .ports = arena_array(arena, struct simured_port, q->ports),
        .releases = arena_array(arena, struct simured_release, q->lanes),
        .wants = arena_array(arena, uint64_t, q->words * q->lanes),
        .order = arena_array(arena, uint16_t, q->lanes),
    };
    for (uint32_t lane = 0; lane < q->lanes; lane++)
        init_lane(q, r, lane);
    for (uint32_t port = 0; port < q->ports; port++)
        init_port(q, c, r, port);
}

void simured_build(void *routers, const void *config)
{
    struct simured *q = routers;
    const struct simured_config *c = config;
    const struct network *network = q->network;
    q->first_link = network->routing.local_ports;
    if (c->order == ORDER_ORIGINAL) {
        walk_build(q, c);
        return;
    }
    q->buffers = (struct buffers){
        .length = c->buffer_depth,
        .capacity = capacity_of(c),
        .ring_mask = ring_mask_for(capacity_of(c)),
        .delay = at_least_1(c->buffer_delay) * c->cycle,
        .forwards = c->buffer_forwarding,
        .is_plain = is_plain(c),
    };
    q->needs_empty =
        c->lane_free == FREE_WHEN_EMPTY || (c->lane_free == FREE_AUTO && routing_needs_room(&network->routing));
    q->cycle = c->cycle;
    q->crossbar = at_least_1(c->crossbar_delay) * c->cycle;
    q->head_crossbar = (at_least_1(c->crossbar_delay + c->switching_delay) - 1) * c->cycle;
    q->port_words = words_for(q->ports);
    lay_out_buffer(&q->buffers);
    q->input_stride = lane_stride(sizeof(struct simured_input), &q->buffers);
    q->output_stride = lane_stride(sizeof(struct simured_output), &q->buffers);
    q->port_of = arena_array(network->arena, uint16_t, q->lanes);
    for (uint32_t lane = 0; lane < q->lanes; lane++)
        q->port_of[lane] = (uint16_t)(lane / q->num_vcs);
    q->each = arena_array(network->arena, struct simured_router, network->topology.routers);
    for (uint32_t router = network->first_router; router < network->end_router; router++)
        init_router(q, c, &q->each[router], router);
}

void simured_share(void *routers)
{
    struct simured *q = routers;
    q->offered = arena_array(q->network->arena, uint64_t, q->words);
}

uint32_t simured_lane_flits(const void *routers, uint32_t router, uint32_t lane)
{
    const struct simured *q = routers;
    if (q->walk)
        return q->walk->flits[router * q->lanes + lane];
    return output_at(q, &q->each[router], lane)->flits;
}

/* Flits whose credits have not gone back. */
static uint32_t places_taken(const struct buffers *b, struct buffer *buffer)
{
    uint32_t taken = buffer->count;
    for (uint32_t place = 0; !b->is_plain && place < buffer->count; place++)
        taken -= slots_of(b, buffer)[place_in_ring(b, buffer, place)] > 1;
    return taken;
}

void simured_look(const void *routers, uint32_t router, uint32_t lane, struct lane_look *seen,
                  struct shown_router *shown)
{
    const struct simured *q = routers;
    if (q->walk) {
        walk_look(q, router, lane, seen, shown);
        return;
    }
    const struct simured_router *r = &q->each[router];
    const struct simured_input *input = input_at(q, r, lane);
    const struct simured_output *output = output_at(q, r, lane);
    const struct simured_port *port = &r->ports[q->port_of[lane]];
    struct buffer *in = input_buffer(q, r, lane), *out = output_buffer(q, r, lane);
    seen->packet = in->count ? buffer_front(&q->buffers, in).packet : FW_NONE;
    seen->flits = in->count;
    seen->freed = in->count - places_taken(&q->buffers, in);
    seen->room = 1;
    seen->beyond = input->output == LANE_WAITS && q->needs_empty ? UINT32_MAX : 0;
    seen->output = input->output == LANE_IDLE && in->count ? LANE_ROUTED : input->output;
    seen->wants = wants_of(q, r, lane);
    seen->owner = output->owner;
    seen->is_full = output->owner == NOBODY;
    seen->credits = port->to_terminal ? q->buffers.length : (uint32_t)output->credits;
    seen->depth =
        seen->credits + network_link(q->network, r->number, q->port_of[lane])->depth - (uint32_t)output->credits;
    seen->queued = out->count;
    seen->space = q->buffers.length - out->count; /* when those that are there have moved up */
    seen->ahead = out->count ? 1 : 0;
    if (!shown)
        return;
    bool is_announced = port->to_terminal && (port->linked & bit(lane % q->num_vcs)); /* it is an event already */
    shown_add_ring(shown, &shown->inputs[lane].queue, in->flits, q->buffers.ring_mask, in->first, in->count);
    shown_add_ring(shown, &shown->outputs[lane].queue, out->flits, q->buffers.ring_mask, out->first + is_announced,
                   out->count - is_announced);
}
