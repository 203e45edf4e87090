/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building the input-queued routers from their settings and the network's links,
 * their rings where these grow, and looking at them from outside: are they idle, and what does a lane wait for?
 */
#include "network/failures/retries.h"
#include "network/fair_share.h"
#include "network/router/input_queued_lanes.h"

#include "flitwarp/shown.h"

#include <string.h>

#define CACHE_BYTES (1u << 20) /* routers that take more are fetched ahead */
#define SHALLOW 16             /* flits: rings of lanes that hold more grow as they fill, but for the usual router's */

static const char *const switching_names[] = {"wormhole", "virtual_cut_through", "store_and_forward", NULL};
static const char *const input_picks_names[] = {"output", "vc", NULL};
static const char *const crossbar_flow_names[] = {"flit_buffer", "packet_buffer", "winner_take_all", NULL};

const struct option input_queued_options[] = {
    OPTION_ROWS(struct input_queued_config, buffer, struct buffer_config, buffer_options),
    BUFFER_SHARE_OPTIONS(struct input_queued_config),
    OPTION_TICKS(struct input_queued_config, cycle, "1", 1, 1000000, "clock of the router: a step each cycle"),
    OPTION_U32(struct input_queued_config, routing_latency, "0", 0, 10000, "cycles", "to route a packet's head"),
    OPTION_U32(struct input_queued_config, vc_allocation_latency, "1", 0, 10000, "cycles",
               "to allocate an output virtual channel to a packet"),
    OPTION_U32(struct input_queued_config, switch_allocation_latency, "1", 0, 10000, "cycles",
               "to allocate the crossbar to a flit, which then leaves its buffer"),
    OPTION_U32(struct input_queued_config, crossbar_latency, "1", 0, 10000, "cycles", "to cross the router"),
    OPTION_U32(struct input_queued_config, credit_latency, "1", 0, 10000, "cycles",
               "to process a credit, beyond the channel's latency"),
    OPTION_U32(struct input_queued_config, input_speedup, "1", 1, 64, NULL,
               "flits that an input port can send in a cycle, from different virtual channels"),
    OPTION_U32(struct input_queued_config, output_speedup, "1", 1, 64, NULL,
               "flits that an output port can take in a cycle; they queue for its channel"),
    OPTION_ENUM(struct input_queued_config, switching, "\"wormhole\"", switching_names,
                "what must be there before a packet moves on: a flit and its room, room for the packet, or the packet"),
    OPTION_ENUM(struct input_queued_config, crossbar_flow, "\"flit_buffer\"", crossbar_flow_names,
                "who may use an output while a packet passes: any flit, that packet only, or others when it stalls"),
    OPTION_ENUM(struct input_queued_config, input_picks, "\"output\"", input_picks_names,
                "what an input decides on first when several virtual channels can send: an output, or one of them"),
    OPTION_BOOL(struct input_queued_config, vc_needs_credit, "false",
                "give a packet only virtual channels that have room for a flit at the time"),
    OPTION_CHOICE(struct input_queued_config, vc_allocator, "allocator", "\"round_robin\"",
                  "matches packets with output virtual channels"),
    OPTION_CHOICE(struct input_queued_config, allocator, "allocator", "\"round_robin\"",
                  "matches switch inputs with output ports"),
    OPTION_CHOICE(struct input_queued_config, arbiter, "arbiter", "\"round_robin\"",
                  "picks among an input's virtual channels: those that want the same output, or all (input_picks)"),
    CONGESTION_OPTION(struct input_queued_config),
    OPTION_BOOL(struct input_queued_config, general, "false", "use the stages of the general router", HIDDEN),
    OPTION_END,
};

static bool reserves_packet(const struct input_queued_config *config)
{
    return config->switching != WORMHOLE || config->crossbar_flow == PACKET_BUFFER;
}

void input_queued_plan(const struct choice *self, uint32_t flit_bytes, struct router_plan *plan, struct errors *errors)
{
    const struct input_queued_config *c = self->config;
    uint32_t crossing = c->crossbar_latency < c->credit_latency ? c->crossbar_latency : c->credit_latency;
    (void)flit_bytes, (void)errors;
    buffer_plan(&c->buffer, plan);
    plan->room_exclusive = c->buffer_exclusive;
    plan->room_maximum = c->buffer_maximum ? c->buffer_maximum : UINT16_MAX;
    plan->reserves_packet = reserves_packet(c);
    plan->lead = (c->switch_allocation_latency + crossing) * c->cycle;
    plan->congestion = &c->congestion;
    if (c->buffer_exclusive)
        plan->max_packet_key = "buffer_exclusive";
    if (plan->reserves_packet) /* such a packet fits what is sure to become free */
        plan->max_packet = c->buffer_exclusive ? c->buffer_exclusive : buffer_least(&c->buffer);
}

static bool is_round_robin(const struct choice *allocator)
{
    return CHOICE_OPS(allocator, struct allocator_ops) == &round_robin_allocator;
}

static void place_allocators(struct input_queued *q, size_t *size)
{
    const struct input_queued_config *c = &q->config;
    q->vc_state_at = block_place(size, allocator_bytes(&c->vc_allocator, q->lanes, q->lanes), 8);
    q->switch_state_at = block_place(size, allocator_bytes(&c->allocator, q->switch_rows, q->switch_cols),
                                     is_round_robin(&c->allocator) ? 2 : 8);
}

/*
 * The memory of the VC arbiters. A switch input has one of these; but one that remembers no more than whom it served last
 * has a memory for each output port. Otherwise VCs that want one port lose their turn whenever the input serves another,
 * and of three or more some may wait for ever.
 */
static void place_arbiters(struct input_queued *q, size_t *size)
{
    bool is_by_output = q->config.input_picks == PICKS_OUTPUT && q->num_vcs > 2;
    q->arbiters_each = q->arbiter->remembers_last && is_by_output ? q->ports : 1;
    q->arbiter_port_mask = q->arbiters_each > 1 ? UINT32_MAX : 0;
    q->arbiter_state_size =
        (uint32_t)(arbiter_state_size(q->arbiter, q->config.arbiter.config, q->num_vcs) + 3) / 4 * 4;
    q->arbiter_state_at = block_place(size, (size_t)q->arbiter_state_size * q->switch_rows * q->arbiters_each,
                                      q->arbiter->remembers_last ? 4 : 8);
}

/* Of a lane's ring, in the block. */
static size_t ring_bytes(const struct input_queued *q)
{
    return q->rings_grow ? sizeof(struct lane_ring) : sizeof(struct flit) * (q->ring_mask + 1);
}

/* Into the gap where it fits that. */
static void place_small(struct input_queued *q, size_t *gap_end, size_t *size,
                        void (*place_part)(struct input_queued *q, size_t *size))
{
    size_t end = *gap_end;
    place_part(q, &end);
    if (end <= INPUTS_AT(q->words))
        *gap_end = end;
    else
        place_part(q, size);
}

static void lay_out(struct input_queued *q)
{
    size_t gap_end = SETS_END(q->words), size = INPUTS_AT(q->words) + sizeof(struct input_lane) * q->lanes;
    q->outputs_at = block_place(&size, sizeof(struct output_lane) * q->lanes, 8);
    place_small(q, &gap_end, &size, place_allocators);
    place_small(q, &gap_end, &size, place_arbiters);
    q->free_at_at = block_place(&size, q->is_usual ? 0 : sizeof(tick_t) * q->ports, 8);
    q->locks_at = block_place(&size, q->is_usual ? 0 : sizeof(uint16_t) * q->ports, 8);
    q->credited_at = block_place(&size, q->vc_needs_credit ? sizeof(uint64_t) * q->words : 0, 8);
    q->rooms_at = block_place(&size, q->shares_room ? shared_room_bytes(q->num_vcs) * q->ports : 0, 8);
    const struct service *service = &q->network->service;
    bool has_weights = service->arbitration == LEVELS_WEIGHTED;
    q->shares_at = block_place(&size, has_weights ? fair_share_bytes(service->groups) * q->ports : 0, 8);
    q->rings_at = block_place(&size, ring_bytes(q) * q->lanes, 64);
    q->blocks.stride = (size + 63) / 64 * 64;
}

/* A device has rings that are as deep as they can be, in its copies of the blocks. They do not count as the network's memory. */
static void fix_rings(struct input_queued *q)
{
    size_t stride = q->blocks.stride;
    q->rings_grow = false;
    lay_out(q);
    q->network->device_bytes = (q->blocks.stride - stride) * q->network->topology.routers;
}

static void make_facts(struct input_queued *q, struct arena *arena)
{
    q->facts = q->words == 1 ? q->few_facts : arena_array(arena, struct lane_facts, q->lanes);
    for (uint32_t lane = 0; lane < q->lanes; lane++) {
        uint32_t port = lane / q->num_vcs;
        q->facts[lane] = (struct lane_facts){
            .port = (uint16_t)port,
            .vc = (uint8_t)(lane % q->num_vcs),
            .at_router = port >= q->network->routing.local_ports,
            .ring_at = q->rings_at + (uint32_t)ring_bytes(q) * lane,
        };
    }
}

/* The class of a router's channels of a latency: one of those that there are, a new one, or that of all others. */
static uint8_t class_of_latency(struct input_queued *q, tick_t latency)
{
    for (uint8_t class = CHANNELS_OF_ROUTERS + 1; class < CHANNEL_CLASSES; class ++) {
        if (!q->channel_latencies[class])
            q->channel_latencies[class] = latency;
        if (q->channel_latencies[class] == latency)
            return class;
    }
    return CHANNELS_OF_ROUTERS;
}

static void class_channels(struct input_queued *q, struct arena *arena)
{
    const struct network *network = q->network;
    uint8_t *channels = arena_array(arena, uint8_t, (size_t)network->topology.routers * q->ports);
    q->channel_latencies[CHANNELS_OF_TERMINALS] = network->terminal_latency;
    q->channel_latencies[CHANNELS_OF_ROUTERS] = network->channel_latency;
    for (uint32_t router = network->first_router; router < network->end_router; router++)
        for (uint32_t port = 0; port < q->ports; port++)
            channels[(size_t)router * q->ports + port] =
                port < network->routing.local_ports ? CHANNELS_OF_TERMINALS
                : network->channel_latency          ? CHANNELS_OF_ROUTERS
                                                    : class_of_latency(q, network_link(network, router, port)->latency);
    q->channels = channels;
}

static void init_lane(const struct input_queued *q, struct router_head *head, uint32_t lane)
{
    uint32_t port = lane / q->num_vcs, vc = lane % q->num_vcs;
    const struct link *link = network_link(q->network, head->number, port);
    bool is_usable = link->target != FW_NONE && link->carries_out;
    struct lane_place far = link_lane(link, vc);
    if (network_crosses(q->network, head->number, link))
        far.lane |= ELSEWHERE;
    inputs_of(head, q->words)[lane] = (struct input_lane){.output = LANE_IDLE, .back = far};
    if (network_has_errors(q->network, link))
        far.lane |= ELSEWHERE;
    outputs_of(q, head)[lane] = (struct output_lane){
        .credits = is_usable ? (uint16_t)room_of(q, head->number, port) : 0, .owner = NOBODY, .to = far};
    if (!is_usable)
        return;
    bits_add(lanes_in(head, SET_FREE, q->words), lane);
    if (q->vc_needs_credit)
        bits_add(credited_of(q, head), lane);
    bits_add(lanes_in(head, SET_USABLE, q->words), lane);
}

static void init_router(struct input_queued *q, uint32_t number)
{
    struct router_head *head = block_of(q, number);
    struct network *network = q->network;
    head->number = number;
    head->step_at = FW_NEVER;
    for (uint32_t port = 0; port < q->ports && !q->is_usual; port++)
        locks_of(q, head)[port] = UNLOCKED;
    for (uint32_t lane = 0; lane < q->lanes; lane++)
        init_lane(q, head, lane);
    allocator_init(PART(void, q->vc_state_at), &q->config.vc_allocator, q->lanes, q->lanes);
    allocator_init(PART(void, q->switch_state_at), &q->config.allocator, q->switch_rows, q->switch_cols);
    for (uint32_t i = 0; i < q->switch_rows * q->arbiters_each; i++)
        arbiter_init(q->arbiter, PART(void, q->arbiter_state_at + i * q->arbiter_state_size), q->config.arbiter.config,
                     q->num_vcs);
    q->random[number] = random_stream(network->seed, number, RANDOM_ARBITER);
}

void input_queued_check(const struct network *network, const struct choice *self, struct errors *errors)
{
    const struct input_queued_config *c = self->config;
    buffer_check(&c->buffer, self, errors);
    buffer_check_shares(network->num_vcs, c->buffer_exclusive, c->buffer_maximum, buffer_least(&c->buffer),
                        c->buffer.buffer_depth, self, errors);
    if (c->crossbar_flow != FLIT_BUFFER && c->output_speedup > 1)
        choice_error(errors, self, "output_speedup",
                     "%u is above 1, but crossbar_flow '%s' gives an output to one packet", c->output_speedup,
                     crossbar_flow_names[c->crossbar_flow]);
    if (c->input_speedup > network->num_vcs)
        choice_error(errors, self, "input_speedup", "%u is above num_vcs (%u): an input sends from different VCs",
                     c->input_speedup, network->num_vcs);
}

/* Can the stages do without matchings, as far as allocators do not matter? */
static bool is_plain(const struct input_queued *q)
{
    const struct input_queued_config *c = &q->config;
    return !c->general && !q->is_extended && c->input_picks == PICKS_OUTPUT && c->input_speedup == 1 &&
           c->output_speedup == 1;
}

static bool takes_turns(const struct input_queued *q)
{
    const struct input_queued_config *c = &q->config;
    return is_plain(q) && q->lanes <= TURNS_MOST && q->ports <= WORD_BITS && is_round_robin(&c->allocator) &&
           is_round_robin(&c->vc_allocator) && q->arbiter == &round_robin_arbiter;
}

static bool takes_words(const struct input_queued *q)
{
    const struct input_queued_config *c = &q->config;
    return is_plain(q) && allocator_takes_words(&c->vc_allocator, q->lanes, q->lanes) &&
           allocator_takes_words(&c->allocator, q->switch_rows, q->switch_cols);
}

/* Is this the usual router? See input_queued.c. */
static bool is_usual(const struct input_queued *q)
{
    const struct input_queued_config *c = &q->config;
    const struct network *network = q->network;
    tick_t within = q->to_channel + q->credit;
    return (q->takes_turns || q->takes_words) && !q->outputs && !network->routing.is_adaptive && q->words == 1 &&
           c->cycle == 1 && network->channel_cycle == 1 && network->terminal_cycle == 1 && network->channel_latency &&
           network->terminal_latency && network->channel_latency + within < WHEEL_SLOTS &&
           network->terminal_latency + within < WHEEL_SLOTS && q->ends_in_a_cycle && !q->reserves_packet &&
           c->crossbar_flow == FLIT_BUFFER && !q->vc_needs_credit;
}

/* Is it as usual in how flits go, with two words of lanes? */
static bool is_wide(const struct input_queued *q)
{
    const struct input_queued_config *c = &q->config;
    return q->takes_turns && q->words == WIDE_WORDS && q->steps_each_tick && c->switching == WORMHOLE &&
           c->crossbar_flow == FLIT_BUFFER && !q->vc_needs_credit && !q->reserves_packet && !q->queues_to_send;
}

/* What a step works with and does not keep, and who is due: each part of the network has its own. */
void input_queued_share(void *routers)
{
    struct input_queued *q = routers;
    const struct input_queued_config *c = &q->config;
    struct arena *arena = q->network->arena;
    uint32_t count = q->network->topology.routers;
    q->facts = q->words == 1 ? q->few_facts : q->facts;
    q->outputs = q->outputs ? output_stage_share(q->outputs, q->network) : NULL;
    allocation_init(&q->vcs, arena, &c->vc_allocator, q->lanes, q->lanes);
    allocation_init(&q->ways, arena, &c->allocator, q->switch_rows, q->switch_cols);
    q->ways.runs_idle = true; /* a wavefront turns on */
    if (q->ways.matching.age)
        memset(q->ways.matching.age, 0xff, sizeof(uint64_t) * q->switch_rows * q->switch_cols);
    q->eligible = arena_array(arena, uint64_t, q->words);
    q->vc_age = arena_array(arena, uint64_t, q->num_vcs);
    q->asking = arena_array(arena, uint64_t, q->words);
    q->used_rows = arena_array(arena, uint64_t, words_for(q->switch_rows));
    q->used_cols = arena_array(arena, uint64_t, words_for(q->switch_cols));
    q->next_group = arena_array(arena, uint64_t, q->ports);
    q->spare_rings = arena_array(arena, void *, WORD_BITS);
    q->router_words = words_for(count);
    for (uint32_t parity = 0; parity < 2; parity++) {
        q->due[parity] = arena_array(arena, uint64_t, q->router_words);
        q->woken[parity] = arena_array(arena, uint32_t, q->is_usual ? 0 : count);
    }
    q->woken_count = arena_array(arena, uint32_t, 2);
    q->due_at = arena_array(arena, tick_t, 2);
    q->due_at[0] = q->due_at[1] = FW_NEVER;
    q->order = arena_array(arena, uint32_t, count);
}

void input_queued_build(void *routers, const void *config)
{
    struct input_queued *q = routers;
    struct network *network = q->network;
    struct arena *arena = network->arena;
    const struct output_stage *outputs = q->outputs;
    q->config = *(const struct input_queued_config *)config;
    q->congestion = outputs ? NULL : q->congestion;
    struct input_queued_config *c = &q->config;
    q->room = outputs ? outputs->depth : c->buffer.buffer_depth;
    q->depth = buffer_most(q->num_vcs, c->buffer.buffer_depth, c->buffer_exclusive, c->buffer_maximum);
    q->shares_room = network->plan.room_exclusive && !outputs;
    q->is_extended = q->shares_room || network->service.groups > 1;
    q->needs_room = routing_needs_room(&network->routing);
    q->vc_needs_credit = c->vc_needs_credit || q->needs_room;
    q->stores_packet = c->switching == STORE_AND_FORWARD;
    q->keeps_outputs = c->crossbar_flow == PACKET_BUFFER;
    q->routing = c->routing_latency * c->cycle;
    q->cycle = c->cycle;
    q->vc_allocation = c->vc_allocation_latency * c->cycle;
    q->to_channel = (c->switch_allocation_latency + c->crossbar_latency) * c->cycle;
    q->credit = (c->switch_allocation_latency + c->credit_latency) * c->cycle;
    q->next_packet = (c->switch_allocation_latency ? c->switch_allocation_latency : 1) * c->cycle;
    for (uint32_t lane = 0; lane < WORD_BITS; lane++)
        q->port_lanes[lane] = bits_range(0, q->num_vcs) << (lane - lane % q->num_vcs);
    q->busy_after_grant = c->vc_allocation_latency ? ~(uint64_t)0 : 0;
    q->ring_mask = ring_mask_for(q->depth);
    q->switch_rows = q->ports * c->input_speedup;
    q->switch_cols = q->ports * c->output_speedup;
    q->reserves_packet = reserves_packet(c);
    q->arbiter = CHOICE_OPS(&c->arbiter, struct arbiter_ops);
    q->random = arena_array(arena, struct random, network->topology.routers);
    q->ends_in_a_cycle = c->routing_latency == 0 && c->vc_allocation_latency <= 1 && c->switch_allocation_latency <= 1;
    q->credits_wake = q->reserves_packet || q->needs_room;
    q->locks_outputs = c->crossbar_flow != FLIT_BUFFER;
    q->steps_each_tick = c->cycle == 1 && q->ends_in_a_cycle;
    q->queues_to_send = !outputs && (c->output_speedup > 1 || !network->channel_cycle ||
                                     network->channel_cycle > c->cycle || network->terminal_cycle > c->cycle);
    q->takes_turns = takes_turns(q);
    q->takes_words = !q->takes_turns && takes_words(q);
    q->vc_turns = separable_turns(&c->vc_allocator);
    q->switch_turns = separable_turns(&c->allocator);
    q->is_usual = is_usual(q);
    q->is_wide = is_wide(q);
    q->rings_grow = q->depth > SHALLOW && !q->is_usual;
    lay_out(q);
    if (network->is_for_device && q->rings_grow)
        fix_rings(q);
    make_facts(q, arena);
    class_channels(q, arena);
    q->ready_at = arena_array(arena, tick_t, q->is_usual ? 0 : (size_t)network->topology.routers * q->lanes);
    q->routes =
        q->words == 1 ? NULL : arena_array(arena, uint64_t, (size_t)network->topology.routers * q->lanes * q->words);
    q->blocks.first = arena_take(arena, q->blocks.stride * network->topology.routers);
    memory_is_walked(block_of(q, network->first_router),
                     q->blocks.stride * (network->end_router - network->first_router));
    q->fetches_ahead = q->blocks.stride * network->topology.routers > CACHE_BYTES;
    for (uint32_t router = network->first_router; router < network->end_router; router++)
        init_router(q, router);
}

/* Flits that must fit behind an output lane for the packet at the front of an input lane; 0: it can go on by that. */
static uint32_t room_needed(const struct input_queued *q, struct router_head *head, const struct input_lane *input)
{
    uint32_t size = network_packet(q->network, input->front.packet)->size;
    if (input->output >= LANE_WAITS)
        return q->needs_room ? size : q->vc_needs_credit;
    uint32_t room = q->reserves_packet && (input->front.place & FLIT_HEAD) ? size : 1;
    return outputs_of(q, head)[input->output].credits < room ? room : 0;
}

uint32_t input_queued_lane_flits(const void *routers, uint32_t router, uint32_t lane)
{
    const struct input_queued *q = routers;
    return outputs_of(q, block_of(q, router))[lane].flits;
}

void input_queued_look(const void *routers, uint32_t router, uint32_t lane, struct lane_look *seen,
                       struct shown_router *shown)
{
    const struct input_queued *q = routers;
    struct router_head *head = block_of(q, router);
    const struct input_lane *input = &inputs_of(head, q->words)[lane];
    const struct output_lane *out = &outputs_of(q, head)[lane];
    bool is_usable = bits_test(lanes_in(head, SET_USABLE, q->words), lane);
    if (input->count) {
        seen->packet = input->front.packet;
        seen->room = room_needed(q, head, input);
    }
    seen->flits = input->count;
    seen->output = bits_test(lanes_in(head, SET_FRESH, q->words), lane) ? LANE_ROUTED : input->output;
    seen->wants = wants_of(q, head, lane, q->words);
    seen->owner = out->owner;
    seen->is_full = out->owner == NOBODY && q->vc_needs_credit && !out->credits;
    seen->credits = out->credits;
    seen->depth = is_usable ? room_of(q, router, lane / q->num_vcs) : 0;
    if (q->outputs) {
        uint32_t taken = seen->depth - seen->credits; /* until the crossbar hears of the room, too */
        output_look(q->outputs, router, lane, seen, shown);
        seen->queued = taken > seen->queued ? taken : seen->queued;
    }
    if (shown && input->count) {
        struct shown_queue *queue = &shown->inputs[lane].queue;
        shown_add(shown, queue, input->front.packet, input->front.place & FLIT_POSITION, 1);
        for (uint32_t i = 1; i < input->count; i++) {
            const struct flit *flit = ring_place(q, head, lane, input->first + i - 1, GENERAL(q->words));
            shown_add(shown, queue, flit->packet, flit->place & FLIT_POSITION, 1);
        }
    }
}

/* ---- rings that grow ---- */

static struct flit *take_ring(const struct input_queued *q, uint32_t size)
{
    void **spare = &q->spare_rings[lowest_bit(size)], *ring = *spare;
    if (!ring)
        return arena_array(q->network->arena, struct flit, size);
    memcpy(spare, ring, sizeof *spare);
    return ring;
}

static void give_ring(const struct input_queued *q, void *ring, uint32_t size)
{
    void **spare = &q->spare_rings[lowest_bit(size)];
    memcpy(ring, spare, sizeof *spare);
    *spare = ring;
}

#define FIRST_RING 4 /* flits */

void input_queued_widen(const struct input_queued *q, struct lane_ring *ring, uint32_t first)
{
    struct lane_ring wider = {.size = ring->size ? 2 * ring->size : FIRST_RING};
    wider.flits = take_ring(q, wider.size);
    for (uint32_t i = first; i < first + ring->size; i++)
        wider.flits[i & (wider.size - 1)] = ring->flits[i & (ring->size - 1)];
    if (ring->size)
        give_ring(q, ring->flits, ring->size);
    *ring = wider;
}
