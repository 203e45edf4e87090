/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building the input-queued routers from their settings and the network's links,
 * and looking at them from outside: are they idle, and what does a lane wait for?
 */
#include "network/fair_share.h"
#include "network/router/input_queued.h"

#include "flitwarp/shown.h"

#define CACHE_BYTES (1u << 20) /* routers that take more are fetched ahead */

static const char *const switching_names[] = {"wormhole", "virtual_cut_through", "store_and_forward", NULL};
static const char *const crossbar_flow_names[] = {"flit_buffer", "packet_buffer", "winner_take_all", NULL};

const struct option input_queued_options[] = {
    OPTION_U32(struct input_queued_config, num_vcs, "2", 1, 64, NULL, "virtual channels of each port"),
    BUFFER_SIZE_OPTIONS(struct input_queued_config),
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
    OPTION_BOOL(struct input_queued_config, vc_needs_credit, "false",
                "give a packet only virtual channels that have room for a flit at the time"),
    OPTION_CHOICE(struct input_queued_config, vc_allocator, "allocator", "\"round_robin\"",
                  "matches packets with output virtual channels"),
    OPTION_CHOICE(struct input_queued_config, allocator, "allocator", "\"round_robin\"",
                  "matches switch inputs with output ports"),
    OPTION_CHOICE(struct input_queued_config, arbiter, "arbiter", "\"round_robin\"",
                  "picks among an input's virtual channels that want the same output"),
    OPTION_CHOICE(struct input_queued_config, congestion, "congestion", "\"buffer_occupancy\"",
                  "what adaptive routing sees of the outputs"),
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
    uint32_t least = buffer_least(c->buffer_min, c->buffer_depth, c->buffer_per_latency);
    uint32_t crossing = c->crossbar_latency < c->credit_latency ? c->crossbar_latency : c->credit_latency;
    (void)flit_bytes, (void)errors;
    *plan = (struct router_plan){
        .num_vcs = c->num_vcs,
        .buffer_depth = c->buffer_depth,
        .buffer_min = c->buffer_min,
        .buffer_per_latency = c->buffer_per_latency,
        .room_exclusive = c->buffer_exclusive,
        .room_maximum = c->buffer_maximum ? c->buffer_maximum : UINT16_MAX,
        .reserves_packet = reserves_packet(c),
        .max_packet_key = c->buffer_exclusive         ? "buffer_exclusive"
                          : c->buffer_per_latency > 0 ? "buffer_min"
                                                      : "buffer_depth",
        .lead = (c->switch_allocation_latency + crossing) * c->cycle,
    };
    if (plan->reserves_packet) /* such a packet fits what is sure to become free */
        plan->max_packet = c->buffer_exclusive ? c->buffer_exclusive : least;
}

static size_t allocator_bytes(const struct choice *choice, uint32_t rows, uint32_t cols)
{
    const struct allocator_ops *ops = CHOICE_OPS(choice, struct allocator_ops);
    return ops->state_size ? ops->state_size(choice->config, rows, cols) : 0;
}

static bool allocator_needs_age(const struct choice *choice)
{
    const struct allocator_ops *ops = CHOICE_OPS(choice, struct allocator_ops);
    return ops->needs_age && ops->needs_age(choice->config);
}

static void place_allocators(struct input_queued *q, size_t *size)
{
    const struct input_queued_config *c = &q->config;
    q->vc_state_at = block_place(size, allocator_bytes(&c->vc_allocator, q->lanes, q->lanes), 8);
    q->switch_state_at = block_place(size, allocator_bytes(&c->allocator, q->switch_rows, q->switch_cols),
                                     q->switch_allocator == &round_robin_allocator ? 2 : 8);
}

/*
 * The memory of the VC arbiters. A switch input has one of these; but one that remembers no more than whom it served last
 * has a memory for each output port. Otherwise VCs that want one port lose their turn whenever the input serves another,
 * and of three or more some may wait for ever.
 */
static void place_arbiters(struct input_queued *q, size_t *size)
{
    q->arbiters_each = q->arbiter->remembers_last && q->num_vcs > 2 ? q->ports : 1;
    q->arbiter_port_mask = q->arbiters_each > 1 ? UINT32_MAX : 0;
    q->arbiter_state_size =
        (uint32_t)(arbiter_state_size(q->arbiter, q->config.arbiter.config, q->num_vcs) + 3) / 4 * 4;
    q->arbiter_state_at = block_place(size, (size_t)q->arbiter_state_size * q->switch_rows * q->arbiters_each,
                                      q->arbiter->remembers_last ? 4 : 8);
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
    q->credited_at = block_place(&size, q->config.vc_needs_credit ? sizeof(uint64_t) * q->words : 0, 8);
    q->rooms_at = block_place(&size, q->shares_room ? shared_room_bytes(q->num_vcs) * q->ports : 0, 8);
    const struct service *service = &q->network->service;
    bool has_weights = service->arbitration == LEVELS_WEIGHTED;
    q->shares_at = block_place(&size, has_weights ? fair_share_bytes(service->groups) * q->ports : 0, 8);
    q->rings_at = block_place(&size, sizeof(struct flit) * (q->ring_mask + 1) * q->lanes, 64);
    q->blocks.stride = (size + 63) / 64 * 64;
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
            .ring_at = q->rings_at + (uint32_t)sizeof(struct flit) * (q->ring_mask + 1) * lane,
        };
    }
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
    outputs_of(q, head)[lane] = (struct output_lane){
        .credits = is_usable ? (uint16_t)room_of(q, head->number, port) : 0, .owner = NOBODY, .to = far};
    if (!is_usable)
        return;
    bits_add(lanes_in(head, SET_FREE, q->words), lane);
    if (q->config.vc_needs_credit)
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
    if (q->vc_allocator->init)
        q->vc_allocator->init(PART(void, q->vc_state_at), q->config.vc_allocator.config, q->lanes, q->lanes);
    if (q->switch_allocator->init)
        q->switch_allocator->init(PART(void, q->switch_state_at), q->config.allocator.config, q->switch_rows,
                                  q->switch_cols);
    for (uint32_t i = 0; i < q->switch_rows * q->arbiters_each; i++)
        arbiter_init(q->arbiter, PART(void, q->arbiter_state_at + i * q->arbiter_state_size), q->config.arbiter.config,
                     q->num_vcs);
    q->random[number] = random_stream(network->seed, number, RANDOM_ARBITER);
}

void input_queued_check(const struct network *network, const struct choice *self, struct errors *errors)
{
    const struct input_queued_config *c = self->config;
    check_lanes(network, self, errors);
    buffer_check(c->buffer_min, c->buffer_depth, self, errors);
    buffer_check_shares(c->num_vcs, c->buffer_exclusive, c->buffer_maximum,
                        buffer_least(c->buffer_min, c->buffer_depth, c->buffer_per_latency), c->buffer_depth, self,
                        errors);
    if (c->crossbar_flow != FLIT_BUFFER && c->output_speedup > 1)
        choice_error(errors, self, "output_speedup",
                     "%u is above 1, but crossbar_flow '%s' gives an output to one packet", c->output_speedup,
                     crossbar_flow_names[c->crossbar_flow]);
    if (c->input_speedup > c->num_vcs)
        choice_error(errors, self, "input_speedup", "%u is above num_vcs (%u): an input sends from different VCs",
                     c->input_speedup, c->num_vcs);
}

/* Can the stages do without matchings? */
static bool takes_turns(const struct input_queued *q)
{
    const struct input_queued_config *c = &q->config;
    return !c->general && !q->is_extended && c->input_speedup == 1 && c->output_speedup == 1 &&
           q->lanes <= TURNS_MOST && q->ports <= WORD_BITS && q->switch_allocator == &round_robin_allocator &&
           q->vc_allocator == &round_robin_allocator && q->arbiter == &round_robin_arbiter;
}

/* Is this the usual router? See input_queued.c. */
static bool is_usual(const struct input_queued *q)
{
    const struct input_queued_config *c = &q->config;
    const struct network *network = q->network;
    tick_t within = q->to_channel + q->credit;
    return q->takes_turns && !q->outputs && !network->routing.is_adaptive && q->words == 1 && c->cycle == 1 &&
           network->channel_cycle == 1 && network->terminal_cycle == 1 && network->channel_latency &&
           network->terminal_latency && network->channel_latency + within < WHEEL_SLOTS &&
           network->terminal_latency + within < WHEEL_SLOTS && q->ends_in_a_cycle && !q->reserves_packet &&
           c->crossbar_flow == FLIT_BUFFER && !c->vc_needs_credit;
}

void *input_queued_build(struct network *network, const struct choice *self, struct errors *errors)
{
    const struct input_queued_config *c = self->config;
    uint32_t before = errors->count;
    input_queued_check(network, self, errors);
    struct congestion *congestion = network_sense(network, &c->congestion, 0, errors);
    if (errors->count > before)
        return NULL;
    return input_queued_make(network, c, NULL, congestion);
}

/* What a step works with and does not keep, and who is due: each part of the network has its own. */
static void make_scratch(struct input_queued *q, struct arena *arena)
{
    const struct input_queued_config *c = &q->config;
    uint32_t routers = q->network->topology.routers;
    matching_init(&q->vc_matching, arena, q->lanes, q->lanes, allocator_needs_age(&c->vc_allocator), NULL);
    matching_init(&q->switch_matching, arena, q->switch_rows, q->switch_cols, allocator_needs_age(&c->allocator), NULL);
    if (q->switch_matching.age)
        for (uint32_t i = 0; i < q->switch_rows * q->switch_cols; i++)
            q->switch_matching.age[i] = UINT64_MAX;
    q->eligible = arena_array(arena, uint64_t, q->words);
    q->vc_age = arena_array(arena, uint64_t, q->num_vcs);
    q->asking = arena_array(arena, uint64_t, q->words);
    q->used_rows = arena_array(arena, uint64_t, words_for(q->switch_rows));
    q->used_cols = arena_array(arena, uint64_t, words_for(q->switch_cols));
    q->next_group = arena_array(arena, uint64_t, q->ports);
    q->router_words = words_for(routers);
    for (uint32_t parity = 0; parity < 2; parity++) {
        q->due[parity] = arena_array(arena, uint64_t, q->router_words);
        q->woken[parity] = arena_array(arena, uint32_t, q->is_usual ? 0 : routers);
    }
    q->woken_count = arena_array(arena, uint32_t, 2);
    q->due_at = arena_array(arena, tick_t, 2);
    q->due_at[0] = q->due_at[1] = FW_NEVER;
    q->order = arena_array(arena, uint32_t, routers);
}

void *input_queued_share(const void *routers, struct network *part)
{
    struct input_queued *q = arena_take(part->arena, sizeof *q);
    *q = *(const struct input_queued *)routers;
    q->network = part;
    q->engine = part->engine;
    q->question.routing = &part->routing;
    q->facts = q->words == 1 ? q->few_facts : q->facts;
    q->outputs = q->outputs ? output_stage_share(q->outputs, part) : NULL;
    q->flit_hops = 0;
    make_scratch(q, part->arena);
    return q;
}

struct input_queued *input_queued_make(struct network *network, const struct input_queued_config *config,
                                       struct output_stage *outputs, struct congestion *congestion)
{
    struct arena *arena = network->arena;
    struct input_queued *q = arena_take(arena, sizeof *q);
    q->network = network;
    q->engine = network->engine;
    q->question.routing = &network->routing;
    q->question.congestion = congestion;
    q->config = *config;
    q->outputs = outputs;
    q->congestion = outputs ? NULL : congestion;
    q->room = outputs ? outputs->depth : config->buffer_depth;
    q->depth = buffer_most(config->num_vcs, config->buffer_depth, config->buffer_exclusive, config->buffer_maximum);
    q->shares_room = network->plan.room_exclusive && !outputs;
    q->is_extended = q->shares_room || network->service.groups > 1;
    q->needs_room = network->routing.escape_vcs != 0;
    q->config.vc_needs_credit |= q->needs_room;
    const struct input_queued_config *c = &q->config;
    q->cycle = c->cycle;
    q->routing = c->routing_latency * c->cycle;
    q->vc_allocation = c->vc_allocation_latency * c->cycle;
    q->to_channel = (c->switch_allocation_latency + c->crossbar_latency) * c->cycle;
    q->credit = (c->switch_allocation_latency + c->credit_latency) * c->cycle;
    q->next_packet = (c->switch_allocation_latency ? c->switch_allocation_latency : 1) * c->cycle;
    q->ports = network->ports;
    q->num_vcs = c->num_vcs;
    q->lanes = q->ports * q->num_vcs;
    for (uint32_t lane = 0; lane < WORD_BITS; lane++)
        q->port_lanes[lane] = bits_range(0, q->num_vcs) << (lane - lane % q->num_vcs);
    q->busy_after_grant = c->vc_allocation_latency ? ~(uint64_t)0 : 0;
    q->words = words_for(q->lanes);
    q->ring_mask = ring_mask_for(q->depth);
    q->switch_rows = q->ports * c->input_speedup;
    q->switch_cols = q->ports * c->output_speedup;
    q->reserves_packet = reserves_packet(c);
    q->vc_allocator = CHOICE_OPS(&c->vc_allocator, struct allocator_ops);
    q->switch_allocator = CHOICE_OPS(&c->allocator, struct allocator_ops);
    q->arbiter = CHOICE_OPS(&c->arbiter, struct arbiter_ops);
    q->random = arena_array(arena, struct random, network->topology.routers);
    q->ends_in_a_cycle = c->routing_latency == 0 && c->vc_allocation_latency <= 1 && c->switch_allocation_latency <= 1;
    q->credits_wake = q->reserves_packet || q->needs_room;
    q->locks_outputs = c->crossbar_flow != FLIT_BUFFER;
    q->steps_each_tick = c->cycle == 1 && q->ends_in_a_cycle;
    q->queues_to_send = !outputs && (c->output_speedup > 1 || !network->channel_cycle ||
                                     network->channel_cycle > c->cycle || network->terminal_cycle > c->cycle);
    q->takes_turns = takes_turns(q);
    q->is_usual = is_usual(q);
    lay_out(q);
    make_facts(q, arena);
    q->ready_at = arena_array(arena, tick_t, q->is_usual ? 0 : (size_t)network->topology.routers * q->lanes);
    q->routes =
        q->words == 1 ? NULL : arena_array(arena, uint64_t, (size_t)network->topology.routers * q->lanes * q->words);
    q->blocks.first = arena_take(arena, q->blocks.stride * network->topology.routers);
    make_scratch(q, arena);
    q->fetches_ahead = q->blocks.stride * network->topology.routers > CACHE_BYTES;
    for (uint32_t router = 0; router < network->topology.routers; router++)
        init_router(q, router);
    return q;
}

void input_queued_check_idle(void *routers)
{
    const struct input_queued *q = routers;
    if (q->outputs)
        output_check_idle(q->outputs);
    for (uint32_t router = 0; router < q->network->topology.routers; router++) {
        struct router_head *head = block_of(q, router);
        for (uint32_t lane = 0; lane < q->lanes; lane++) {
            FW_CHECK(inputs_of(head, q->words)[lane].count == 0, "router %u lane %u: %u flits are left at the end",
                     router, lane, inputs_of(head, q->words)[lane].count);
            uint32_t room = room_of(q, router, lane / q->num_vcs);
            if (bits_test(lanes_in(head, SET_USABLE, q->words), lane))
                FW_CHECK(outputs_of(q, head)[lane].credits == room && outputs_of(q, head)[lane].owner == NOBODY,
                         "router %u output lane %u: %u of %u credits are back at the end", router, lane,
                         outputs_of(q, head)[lane].credits, room);
        }
    }
}

static uint32_t queue_space(const struct input_queued *q, uint32_t router, uint32_t output)
{
    return q->outputs ? q->outputs->depth - output_queue_at(q->outputs, router, output)->count : 0;
}

bool input_queued_waits_for(void *routers, uint32_t router, uint32_t lane, struct waiting *waiting)
{
    const struct input_queued *q = routers;
    struct router_head *head = block_of(q, router);
    const struct input_lane *input = &inputs_of(head, q->words)[lane];
    if (!input->count)
        return false;
    *waiting = (struct waiting){.packet = input->front.packet, .flits = input->count};
    uint32_t size = network_packet(q->network, input->front.packet)->size;
    if (input->output < LANE_WAITS) {
        uint32_t room = q->reserves_packet && (input->front.place & FLIT_HEAD) ? size : 1;
        waiting->for_credit = true;
        waiting->room = outputs_of(q, head)[input->output].credits < room ? room : 0;
        waiting->space[0] = queue_space(q, router, input->output);
        waiting->wanted[waiting->wanted_count++] = input->output;
        waiting->holder[0] = (uint16_t)lane;
        return true;
    }
    if (input->output == LANE_IDLE || bits_test(lanes_in(head, SET_FRESH, q->words), lane))
        return true;
    waiting->room = q->needs_room ? size : q->config.vc_needs_credit;
    const uint64_t *route = wants_of(q, head, lane, q->words);
    BITS_EACH(output, route, q->words)
        if (waiting->wanted_count < MAX_WANTED) {
            const struct output_lane *out = &outputs_of(q, head)[output];
            bool is_full = q->config.vc_needs_credit && !out->credits;
            waiting->holder[waiting->wanted_count] = out->owner == NOBODY && is_full ? WITHOUT_ROOM : out->owner;
            waiting->space[waiting->wanted_count] = queue_space(q, router, (uint32_t)output);
            waiting->wanted[waiting->wanted_count++] = (uint16_t)output;
        }
    return true;
}

void input_queued_show(const void *routers, uint32_t router, struct shown_router *shown)
{
    const struct input_queued *q = routers;
    struct router_head *head = block_of(q, router);
    const uint64_t *fresh = lanes_in(head, SET_FRESH, q->words);
    for (uint32_t lane = 0; lane < q->lanes; lane++) {
        const struct input_lane *input = &inputs_of(head, q->words)[lane];
        struct shown_input *in = &shown->inputs[lane];
        in->output = input->output;
        in->state = input->output < LANE_WAITS   ? SHOWN_ACTIVE
                    : input->output == LANE_IDLE ? SHOWN_IDLE
                    : bits_test(fresh, lane)     ? SHOWN_ROUTING
                                                 : SHOWN_WAITING;
        const struct flit *ring = PART(const struct flit, q->facts[lane].ring_at);
        for (uint32_t i = 0; i < input->count; i++) {
            struct flit flit = i ? ring[(input->first + i - 1) & q->ring_mask] : input->front;
            shown_add(shown, &in->queue, flit.packet, flit.place & FLIT_POSITION, 1);
        }
        shown->outputs[lane].holder = outputs_of(q, head)[lane].owner;
        shown->outputs[lane].credits = outputs_of(q, head)[lane].credits;
    }
    if (q->outputs)
        output_show(q->outputs, router, shown);
}

uint64_t input_queued_flit_hops(const void *routers) { return ((const struct input_queued *)routers)->flit_hops; }

uint32_t input_queued_lane_flits(const void *routers, uint32_t router, uint32_t lane)
{
    const struct input_queued *q = routers;
    return q->outputs ? output_queue_at(q->outputs, router, lane)->flits
                      : outputs_of(q, block_of(q, router))[lane].flits;
}

/* ---- taking a packet out of the buffers, see network/deadlock/deadlock.h ---- */

/* The flits of a lane, from the front; with a place to write to. */
static struct flit *flit_at(const struct input_queued *q, struct router_head *head, uint32_t lane, uint32_t place)
{
    struct input_lane *input = &inputs_of(head, q->words)[lane];
    return place == 0 ? &input->front : &ring_of(q, head, lane, GENERAL(q))[(input->first + place - 1) & q->ring_mask];
}

/* A packet that has an output lane is said to be in front until its tail is gone, though its next flit may not be there. */
static bool has_front(const struct input_lane *input) { return input->count || input->output < LANE_WAITS; }

struct piece input_queued_find(void *routers, uint32_t router, uint32_t lane, uint32_t source, uint32_t sequence)
{
    const struct input_queued *q = routers;
    struct router_head *head = block_of(q, router);
    const struct input_lane *input = &inputs_of(head, q->words)[lane];
    struct piece piece = {.packet = FW_NONE};
    for (uint32_t i = 0; i < input->count || (i == 0 && has_front(input)); i++) {
        const struct flit *flit = flit_at(q, head, lane, i);
        const struct packet *packet = network_packet(q->network, flit->packet);
        if (packet->source != source || packet->sequence != sequence)
            continue;
        piece.packet = flit->packet;
        if (i < input->count) {
            piece.flits++;
            piece.has_head |= (flit->place & FLIT_HEAD) != 0;
            piece.is_routed |= i == 0 && (flit->place & FLIT_HEAD) && input->output != LANE_IDLE &&
                               !bits_test(lanes_in(head, SET_FRESH, q->words), lane);
        }
    }
    return piece;
}

void input_queued_take_out(void *routers, uint32_t router, uint32_t lane, uint32_t packet, tick_t now)
{
    const struct input_queued *q = routers;
    struct router_head *head = block_of(q, router);
    struct input_lane *input = &inputs_of(head, q->words)[lane];
    bool was_in_front = has_front(input) && input->front.packet == packet;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < input->count; i++) {
        struct flit flit = *flit_at(q, head, lane, i);
        if (flit.packet != packet)
            *flit_at(q, head, lane, kept++) = flit;
    }
    input->count = (uint16_t)kept;
    if (was_in_front)
        input_queued_begin_next(q, head, lane, now);
    input_queued_wake(q, head, now);
}
