/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building the Omni-Path routers from their settings (omnipath_settings.c) and the
 * network's links, and looking at them from outside: are they idle, and what does a
 * lane wait for?
 */
#include "network/router/omnipath.h"

static uint32_t whole_mports(uint32_t ports)
{
    uint32_t whole = (ports + MPORT_PORTS - 1) / MPORT_PORTS * MPORT_PORTS;
    return whole < 2 * MPORT_PORTS ? 2 * MPORT_PORTS : whole;
}

static void take_scratch(struct omnipath *q, struct arena *arena)
{
    bool needs_age = q->allocator->needs_age && q->allocator->needs_age(q->config.allocator.config);
    matching_init(&q->matching, arena, q->sources, q->sinks, needs_age, NULL);
    q->offered = arena_array(arena, uint64_t, q->words);
    q->vl_age = arena_array(arena, uint64_t, q->num_vcs);
    q->candidates = arena_array(arena, uint64_t, q->sources);
    q->aims = arena_array(arena, struct aims, (size_t)q->sources * q->num_vcs);
}

static size_t whole_words(size_t bytes) { return (bytes + 7) / 8 * 8; }

static void take_memory(struct omnipath *q, struct arena *arena)
{
    size_t routers = q->network->topology.routers, sources = routers * q->sources, ports = routers * q->ports;
    size_t lanes = routers * q->buffers * q->num_vcs, central = routers * (q->sources - q->ports) * q->num_vcs;
    q->heads = arena_array(arena, struct omnipath_head, routers);
    q->random = arena_array(arena, struct random, routers);
    q->port_random = arena_array(arena, struct random, ports);
    q->same_vl = arena_array(arena, uint64_t, (size_t)q->num_vcs * q->words);
    q->asking = arena_array(arena, uint64_t, routers * q->source_words);
    q->busy = arena_array(arena, uint64_t, routers * q->source_words);
    q->open = arena_array(arena, uint64_t, routers * q->sink_words);
    q->usable = arena_array(arena, uint64_t, routers * q->words);
    q->source_states = arena_array(arena, struct omnipath_source, sources);
    q->port_states = arena_array(arena, struct omnipath_port, ports);
    q->lane_states = arena_array(arena, struct omnipath_lane, lanes);
    q->rings = arena_array(arena, uint32_t, lanes * (q->ring_mask + 1));
    q->targets = arena_array(arena, uint16_t, central * (q->ring_mask + 1));
    q->ready_times = arena_array(arena, tick_t, sources * q->num_vcs);
    q->free_times = arena_array(arena, tick_t, sources * q->network->service.groups);
    q->turns = arena_array(arena, struct omnipath_turn, routers * q->lanes);
    q->wants = arena_array(arena, uint64_t, ports * q->num_vcs * q->words);
    q->rooms = arena_take(arena, routers * q->buffers * q->room_bytes);
    q->downstream = arena_take(arena, ports * q->room_bytes);
    q->lane_flits = arena_array(arena, uint32_t, routers * q->lanes);
    q->storing = arena_array(arena, struct omnipath_timer, routers * (q->storing_mask + 1));
    q->routing_heads = arena_array(arena, struct omnipath_timer, routers * (q->routing_mask + 1));
    q->allocator_states = arena_take(arena, routers * q->allocator_bytes);
    q->source_choices = arena_take(arena, sources * q->source_scheduler.bytes);
    q->choices = arena_take(arena, ports * q->scheduler.bytes);
}

static void init_port(struct omnipath *q, uint32_t router, uint32_t number)
{
    struct omnipath_port *port = port_at(q, router, number);
    lane_scheduler_start(&q->scheduler, choice_at(q, router, number));
    q->port_random[(size_t)router * q->ports + number] =
        random_stream(q->network->seed, (uint64_t)router * q->ports + number, RANDOM_OUTPUT);
    if (number >= q->network->ports || network_link(q->network, router, number)->target == NONE)
        return; /* nothing is behind it */
    const struct link *link = network_link(q->network, router, number);
    *port = (struct omnipath_port){
        .far = link_lane(link, 0),
        .latency = link->latency,
        .cycle = link->cycle,
        .kind = link->to_terminal ? EVENT_TERMINAL_FLIT : EVENT_FLIT,
        .back_kind = link->to_terminal ? EVENT_TERMINAL_CREDIT : EVENT_CREDIT,
    };
    if (link->carries_out)
        bits_add_range(q->usable + (size_t)router * q->words, number * q->num_vcs, q->num_vcs);
}

static void init_router(struct omnipath *q, uint32_t router)
{
    q->heads[router] = (struct omnipath_head){.step_at = NEVER, .stepped_at = NEVER};
    q->random[router] = random_stream(q->network->seed, router, RANDOM_ARBITER);
    bits_add_range(q->open + (size_t)router * q->sink_words, 0, q->sinks);
    if (q->allocator->init)
        q->allocator->init(q->allocator_states + (size_t)router * q->allocator_bytes, q->config.allocator.config,
                           q->sources, q->sinks);
    for (uint32_t port = 0; port < q->ports; port++)
        init_port(q, router, port);
    for (uint32_t source = 0; source < q->sources; source++) {
        *source_at(q, router, source) = (struct omnipath_source){.sink = NOBODY, .last = (uint16_t)(q->lanes - 1)};
        lane_scheduler_start(&q->source_scheduler,
                             q->source_choices + ((size_t)router * q->sources + source) * q->source_scheduler.bytes);
        for (uint32_t vl = 0; vl < q->num_vcs; vl++)
            q->lane_states[lane_number(q, router, source, vl)].target = LANE_IDLE;
    }
    for (uint32_t lane = 0; lane < q->lanes; lane++)
        q->turns[(size_t)router * q->lanes + lane].next = NOBODY;
}

/* Flits, or heads, that the inputs of a router take in while one of them is stored, or stored and routed. */
static uint32_t timers_mask(const struct omnipath *q, tick_t latency, uint32_t most)
{
    uint64_t in_time = latency + q->cycle + 1;
    return ring_mask_for((uint32_t)(q->ports * (in_time < most ? in_time : most)));
}

static void set_sizes(struct omnipath *q, const struct network *network)
{
    const struct omnipath_config *c = &q->config;
    q->ports = c->ports ? c->ports : whole_mports(network->ports);
    q->sources = q->sinks = q->ports + q->ports / MPORT_PORTS * MPORT_LINKS;
    q->buffers = q->sources + q->ports;
    q->lanes = network->ports * c->num_vcs;
    q->words = words_for(q->lanes);
    q->source_words = words_for(q->sources);
    q->sink_words = words_for(q->sinks);
    q->rule[0] = omnipath_rule(c, false);
    q->rule[1] = omnipath_rule(c, true);
    q->terminal_rule = q->rule[0];
    q->terminal_rule.total *= c->flits_per_credit;
    q->terminal_rule.exclusive *= c->flits_per_credit;
    q->terminal_rule.maximum *= c->flits_per_credit;
    q->room_bytes = shared_room_bytes(c->num_vcs);
    q->ring_mask = ring_mask_for(c->max_credits);
    q->storing_mask = timers_mask(q, q->input, q->terminal_rule.total);
    q->routing_mask = timers_mask(q, q->input + q->routing, q->rule[0].total);
    q->allocator_bytes = 0;
    if (q->allocator->state_size)
        q->allocator_bytes = whole_words(q->allocator->state_size(c->allocator.config, q->sources, q->sinks));
}

void *omnipath_build(struct network *network, const struct choice *self, struct errors *errors)
{
    const struct omnipath_config *c = self->config;
    uint32_t before = errors->count;
    check_lanes(network, self, errors);
    if (c->ports && c->ports < network->ports)
        choice_error(errors, self, "ports",
                     "%u, but the routers of this topology have %u; accepted: %u or more, or null", c->ports,
                     network->ports, whole_mports(network->ports));
    struct congestion *congestion =
        network_sense(network, &c->congestion, c->max_credits * c->flits_per_credit, errors);
    if (errors->count > before)
        return NULL;
    struct omnipath *q = arena_take(network->arena, sizeof *q);
    tick_t waits = c->pipelined_arbitration ? 0 : c->cycle, passes = c->cycle - waits;
    *q = (struct omnipath){
        .network = network,
        .engine = network->engine,
        .config = *c,
        .congestion = congestion,
        .cycle = c->cycle,
        .input = c->input_latency * c->cycle,
        .routing = c->routing_latency * c->cycle + c->mport_arbitration_latency * passes,
        .arbitration = {c->mport_arbitration_latency * waits, c->central_arbitration_latency * waits},
        .pipeline = c->central_arbitration_latency * passes,
        .crossbar = {c->mport_crossbar_latency * c->cycle, c->central_crossbar_latency * c->cycle},
        .output = c->output_latency * c->cycle,
        .credit = c->credit_latency * c->cycle,
        .num_vcs = c->num_vcs,
        .flits_per_credit = c->flits_per_credit,
        .allocator = CHOICE_OPS(&c->allocator, struct allocator_ops),
        .question = {.routing = &network->routing, .congestion = congestion},
    };
    lane_scheduler_init(&q->source_scheduler, &network->service, &c->arbiter, c->num_vcs, false);
    lane_scheduler_init(&q->scheduler, &network->service, &c->output_arbiter, c->num_vcs, true);
    set_sizes(q, network);
    take_memory(q, network->arena);
    take_scratch(q, network->arena);
    for (uint32_t lane = 0; lane < q->lanes; lane++)
        bits_add(q->same_vl + (size_t)(lane % q->num_vcs) * q->words, lane);
    for (uint32_t router = 0; router < network->topology.routers; router++)
        init_router(q, router);
    return q;
}

void *omnipath_share(const void *routers, struct network *part)
{
    struct omnipath *q = arena_take(part->arena, sizeof *q);
    *q = *(const struct omnipath *)routers;
    q->network = part;
    q->engine = part->engine;
    q->question.routing = &part->routing;
    q->flit_hops = 0;
    take_scratch(q, part->arena);
    return q;
}

static void check_router(const struct omnipath *q, uint32_t router)
{
    for (uint32_t buffer = 0; buffer < q->buffers; buffer++) {
        for (uint32_t vl = 0; vl < q->num_vcs; vl++) {
            const struct omnipath_lane *lane = &q->lane_states[lane_number(q, router, buffer, vl)];
            CHECK(!lane->count && !lane->sent && !lane->routed,
                  "router %u buffer %u vl %u: %u packets are left at the end", router, buffer, vl, lane->count);
        }
        CHECK(shared_room_is_empty(&q->rule[is_central(q, buffer)], room_at(q, router, buffer)),
              "router %u buffer %u: room is taken at the end", router, buffer);
    }
    for (uint32_t port = 0; port < q->ports; port++)
        CHECK(shared_room_is_empty(&q->rule[0], room_downstream(q, router, port)),
              "router %u port %u: not all credits are back at the end", router, port);
    CHECK(!bits_any(q->busy + (size_t)router * q->source_words, q->source_words),
          "router %u: something crosses at the end", router);
}

void omnipath_check_idle(void *routers)
{
    const struct omnipath *q = routers;
    for (uint32_t router = 0; router < q->network->topology.routers; router++)
        check_router(q, router);
}

/* What has begun to cross goes on by itself: packets wait for room alone, at the front of their input lanes. */
bool omnipath_waits_for(void *routers, uint32_t router, uint32_t lane, struct waiting *waiting)
{
    const struct omnipath *q = routers;
    uint32_t input = lane / q->num_vcs, vl = lane % q->num_vcs;
    size_t number = lane_number(q, router, input, vl);
    const struct omnipath_lane *at = &q->lane_states[number];
    if (!at->count || at->target == LANE_IDLE)
        return false;
    *waiting = (struct waiting){.packet = first_packet(q, number)};
    BITS_EACH(output, wants_of(q, router, input, vl), q->words)
        if (waiting->wanted_count < MAX_WANTED) {
            waiting->holder[waiting->wanted_count] = WITHOUT_ROOM;
            waiting->wanted[waiting->wanted_count++] = (uint16_t)output;
        }
    return true;
}

uint64_t omnipath_flit_hops(const void *routers) { return ((const struct omnipath *)routers)->flit_hops; }

uint32_t omnipath_lane_flits(const void *routers, uint32_t router, uint32_t lane)
{
    const struct omnipath *q = routers;
    return q->lane_flits[(size_t)router * q->lanes + lane];
}
