/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings of the Omni-Path router (those of OPASim's report, section 2.3 and
 * Table 1, with its defaults, and what it leaves open; docs/omnipath.md has them side by
 * side), building the routers from them and the network's links, and looking at them from
 * outside.
 */
#include "network/router/omnipath.h"

#include "flitwarp/shown.h"

static const char *const queue_unit_names[] = {"credits", "flits", NULL};
static const char *const candidates_names[] = {"one", "all", NULL};

#define LATENCY(field, fallback, least, help)                                                                          \
    OPTION_U32(struct omnipath_config, field, fallback, least, 10000, "cycles", help)

const struct option omnipath_options[] = {
    OPTION_U32(struct omnipath_config, ports, "null", 8, 4096, NULL,
               "ports, a multiple of 4; null: as many as the topology needs, in whole MPorts, at least 8"),
    OPTION_U32(struct omnipath_config, num_vcs, "8", 1, 64, NULL, "virtual lanes of each port"),
    OPTION_U32(struct omnipath_config, queue_size, "256", 1, 65535, NULL,
               "room of each input and output buffer, in the unit of queue_unit"),
    OPTION_ENUM(struct omnipath_config, queue_unit, "\"credits\"", queue_unit_names, "what queue_size counts"),
    OPTION_U32(struct omnipath_config, central_queue_size, "null", 1, 65535, NULL,
               "room of each central buffer, in the same unit; null: queue_size"),
    OPTION_U32(struct omnipath_config, flits_per_credit, "4", 1, 255, "flits", "that a credit stands for"),
    OPTION_U32(struct omnipath_config, exclusive_credits, "16", 1, 65535, "credits",
               "of a buffer that belong to each lane alone"),
    OPTION_U32(struct omnipath_config, max_credits, "48", 1, 65535, "credits", "of a buffer that a lane may have"),
    OPTION_TICKS(struct omnipath_config, cycle, "1", 1, 1000000, "clock of the router"),
    LATENCY(input_latency, "50", 0, "to store a flit in an input buffer"),
    LATENCY(routing_latency, "32", 0, "to route a packet's head"),
    LATENCY(mport_arbitration_latency, "8", 0, "to arbitrate for the crossbar of an MPort"),
    LATENCY(mport_crossbar_latency, "2", 1, "to cross the crossbar of an MPort"),
    LATENCY(central_arbitration_latency, "8", 0, "to arbitrate for the central crossbar"),
    LATENCY(central_crossbar_latency, "2", 1, "to cross the central crossbar"),
    LATENCY(output_latency, "50", 0, "to store a flit in an output buffer"),
    LATENCY(credit_latency, "0", 0, "to process a credit, beyond the channel's latency"),
    OPTION_U32(struct omnipath_config, mport_speedup, "3", 1, 255, "flits",
               "that a crossbar of an MPort moves from an input to a central buffer in a cycle"),
    OPTION_U32(struct omnipath_config, local_speedup, "3", 1, 255, "flits",
               "and to an output buffer of the same MPort"),
    OPTION_U32(struct omnipath_config, central_speedup, "4", 1, 255, "flits",
               "that the central crossbar moves from a central to an output buffer in a cycle"),
    OPTION_BOOL(struct omnipath_config, pipelined_arbitration, "false",
                "a buffer arbitrates for packets behind the one that crosses; else it begins when that is through"),
    OPTION_U32(struct omnipath_config, allocation_interval, "1", 1, 10000, "cycles",
               "from one allocation of a router's crossbars to the next: who asks in between waits"),
    OPTION_ENUM(struct omnipath_config, candidates, "\"one\"", candidates_names,
                "lanes of a buffer that take part in an allocation: the one that its arbiter names, or all"),
    OPTION_CHOICE(struct omnipath_config, allocator, "allocator", "\"round_robin\"",
                  "matches input and central buffers with central and output buffers"),
    OPTION_CHOICE(struct omnipath_config, arbiter, "arbiter", "\"round_robin\"",
                  "picks among a buffer's lanes whose packets can cross"),
    OPTION_CHOICE(struct omnipath_config, output_arbiter, "arbiter", "\"round_robin\"",
                  "picks among an output's lanes that can send"),
    CONGESTION_OPTION(struct omnipath_config),
    OPTION_END,
};

static uint32_t in_credits(const struct omnipath_config *c, uint32_t queue_size)
{
    return c->queue_unit == QUEUE_FLITS ? queue_size / c->flits_per_credit : queue_size;
}

static void check_room(const struct choice *self, const char *key, uint32_t queue_size, struct errors *errors)
{
    const struct omnipath_config *c = self->config;
    uint64_t own = (uint64_t)c->num_vcs * c->exclusive_credits;
    if (own > in_credits(c, queue_size))
        choice_error(errors, self, key,
                     "%u %s hold %u credits of %u flits, but %u lanes have %u each for themselves; accepted: "
                     "%llu credits or more",
                     queue_size, queue_unit_names[c->queue_unit], in_credits(c, queue_size), c->flits_per_credit,
                     c->num_vcs, c->exclusive_credits, (unsigned long long)own);
    else if ((uint64_t)in_credits(c, queue_size) * c->flits_per_credit > UINT16_MAX)
        choice_error(errors, self, key, "%u %s are %llu flits; accepted: at most %u", queue_size,
                     queue_unit_names[c->queue_unit],
                     (unsigned long long)in_credits(c, queue_size) * c->flits_per_credit, UINT16_MAX);
    else if (c->max_credits > in_credits(c, queue_size))
        choice_error(errors, self, "max_credits", "%u, but %s is %u credits; accepted: exclusive_credits (%u) to that",
                     c->max_credits, key, in_credits(c, queue_size), c->exclusive_credits);
}

static void check_settings(const struct choice *self, struct errors *errors)
{
    const struct omnipath_config *c = self->config;
    if (c->ports % MPORT_PORTS)
        choice_error(errors, self, "ports", "%u is no multiple of 4, the ports of an MPort; accepted: %u or %u, say",
                     c->ports, c->ports / MPORT_PORTS * MPORT_PORTS,
                     c->ports / MPORT_PORTS * MPORT_PORTS + MPORT_PORTS);
    if (c->max_credits < c->exclusive_credits)
        choice_error(errors, self, "max_credits", "%u is below exclusive_credits (%u)", c->max_credits,
                     c->exclusive_credits);
    check_room(self, "queue_size", c->queue_size, errors);
    if (c->central_queue_size)
        check_room(self, "central_queue_size", c->central_queue_size, errors);
}

/* What terminals need to know of the buffers that they fill. */
void omnipath_plan(const struct choice *self, uint32_t flit_bytes, struct router_plan *plan, struct errors *errors)
{
    const struct omnipath_config *c = self->config;
    (void)flit_bytes;
    check_settings(self, errors);
    plan->num_vcs = c->num_vcs;
    plan->buffer_depth =
        in_credits(c, c->queue_size) * c->flits_per_credit / c->num_vcs; /* if all lanes had the same */
    plan->reserves_packet = true;
    plan->room_exclusive = c->exclusive_credits * c->flits_per_credit;
    plan->room_maximum = c->max_credits * c->flits_per_credit;
    plan->credit_flits = c->flits_per_credit;
    /* A packet that fits a lane's own share never waits for other lanes' packets to leave a buffer. */
    plan->max_packet = plan->room_exclusive;
    plan->max_packet_key = "exclusive_credits";
    plan->congestion = &c->congestion;
    plan->output_depth = plan->room_maximum;
}

struct shared_room_rule omnipath_rule(const struct omnipath_config *c, bool of_central)
{
    return (struct shared_room_rule){
        .vcs = c->num_vcs,
        .total = in_credits(c, of_central && c->central_queue_size ? c->central_queue_size : c->queue_size),
        .exclusive = c->exclusive_credits,
        .maximum = c->max_credits,
    };
}

static uint32_t whole_mports(uint32_t ports)
{
    uint32_t whole = (ports + MPORT_PORTS - 1) / MPORT_PORTS * MPORT_PORTS;
    return whole < 2 * MPORT_PORTS ? 2 * MPORT_PORTS : whole;
}

void omnipath_share(void *routers)
{
    struct omnipath *q = routers;
    struct arena *arena = q->network->arena;
    allocation_init(&q->allocation, arena, &q->config.allocator, q->sources, q->sinks);
    q->offered = arena_array(arena, uint64_t, q->words);
    q->vl_age = arena_array(arena, uint64_t, q->num_vcs);
    q->candidates = arena_array(arena, uint64_t, q->sources);
    q->aims = arena_array(arena, struct aims, (size_t)q->sources * q->num_vcs);
}

static void init_port(struct omnipath *q, struct omnipath_router *r, uint32_t number)
{
    struct omnipath_port *port = &r->ports[number];
    struct arena *arena = q->network->arena;
    *port = (struct omnipath_port){
        .room = arena_take(arena, shared_room_bytes(q->num_vcs)),
        .rule = &q->rule[0],
        .choice = arena_take(arena, q->scheduler.bytes),
        .random = random_stream(q->network->seed, (uint64_t)r->number * q->all_ports + number, RANDOM_OUTPUT),
    };
    lane_scheduler_start(&q->scheduler, port->choice);
    if (number >= q->ports || network_link(q->network, r->number, number)->target == FW_NONE)
        return; /* nothing is behind it */
    const struct link *link = network_link(q->network, r->number, number);
    port->far = link_lane(link, 0);
    port->latency = link->latency;
    port->cycle = link->cycle;
    port->kind = link->to_terminal ? EVENT_TERMINAL_FLIT : EVENT_FLIT;
    port->back_kind = link->to_terminal ? EVENT_TERMINAL_CREDIT : EVENT_CREDIT;
    port->credit_flits = link->to_terminal ? 1 : q->flits_per_credit;
    port->rule = link->to_terminal ? &q->terminal_rule : &q->rule[0];
}

static void init_buffer(struct omnipath *q, struct omnipath_router *r, uint32_t buffer)
{
    struct arena *arena = q->network->arena;
    size_t places = q->ring_mask + 1;
    uint32_t *packets = arena_array(arena, uint32_t, places * q->num_vcs);
    uint16_t *targets = is_central(q, buffer) ? arena_array(arena, uint16_t, places * q->num_vcs) : NULL;
    uint64_t *wants = buffer < q->all_ports ? arena_array(arena, uint64_t, (size_t)q->words * q->num_vcs) : NULL;
    r->rooms[buffer] = arena_take(arena, shared_room_bytes(q->num_vcs));
    for (uint32_t vl = 0; vl < q->num_vcs; vl++) {
        struct omnipath_lane *lane = lane_at(q, r, buffer, vl);
        *lane = (struct omnipath_lane){.packets = packets + places * vl, .target = LANE_IDLE};
        if (targets)
            lane->targets = targets + places * vl;
        else if (wants)
            lane->wants = wants + (size_t)q->words * vl;
    }
    if (buffer >= q->sources)
        return;
    r->sources[buffer] = (struct omnipath_source){
        .choice = arena_take(arena, q->source_scheduler.bytes),
        .free_at = arena_array(arena, tick_t, q->network->service.groups),
        .sink = NOBODY,
        .last = (uint16_t)(q->lanes - 1),
    };
    lane_scheduler_start(&q->source_scheduler, r->sources[buffer].choice);
}

static struct omnipath_timers make_timers(struct arena *arena, uint32_t mask)
{
    return (struct omnipath_timers){.ring = arena_array(arena, struct omnipath_timer, mask + 1), .mask = mask};
}

static void init_router(struct omnipath *q, struct omnipath_router *r, uint32_t number)
{
    struct arena *arena = q->network->arena;
    *r = (struct omnipath_router){
        .number = number,
        .step_at = FW_NEVER,
        .stepped_at = FW_NEVER,
        .storing = make_timers(arena, q->storing_mask),
        .routing = make_timers(arena, q->routing_mask),
        .random = random_stream(q->network->seed, number, RANDOM_ARBITER),
        .asking = arena_array(arena, uint64_t, q->source_words),
        .busy = arena_array(arena, uint64_t, q->source_words),
        .open = arena_array(arena, uint64_t, words_for(q->sinks)),
        .usable = router_usable(q->network, number),
        .sources = arena_array(arena, struct omnipath_source, q->sources),
        .ports = arena_array(arena, struct omnipath_port, q->all_ports),
        .lanes = arena_array(arena, struct omnipath_lane, q->buffers * q->num_vcs),
        .rooms = arena_array(arena, struct shared_room *, q->buffers),
        .turns = arena_array(arena, struct omnipath_turn, q->lanes),
        .lane_flits = arena_array(arena, uint32_t, q->lanes),
        .allocator = allocator_create(arena, &q->config.allocator, q->sources, q->sinks),
    };
    bits_add_range(r->open, 0, q->sinks);
    for (uint32_t port = 0; port < q->all_ports; port++)
        init_port(q, r, port);
    for (uint32_t buffer = 0; buffer < q->buffers; buffer++)
        init_buffer(q, r, buffer);
    for (uint32_t lane = 0; lane < q->lanes; lane++)
        r->turns[lane].next = NOBODY;
}

/* Flits, or heads, that the inputs of a router take in while one of them is stored, or stored and routed. */
static uint32_t timers_mask(const struct omnipath *q, tick_t latency, uint32_t most)
{
    uint64_t in_time = latency + q->cycle + 1;
    return ring_mask_for((uint32_t)(q->all_ports * (in_time < most ? in_time : most)));
}

static void set_sizes(struct omnipath *q)
{
    const struct omnipath_config *c = &q->config;
    q->all_ports = c->ports ? c->ports : whole_mports(q->ports);
    q->sources = q->sinks = q->all_ports + q->all_ports / MPORT_PORTS * MPORT_LINKS;
    q->buffers = q->sources + q->all_ports;
    q->source_words = words_for(q->sources);
    q->rule[0] = omnipath_rule(c, false);
    q->rule[1] = omnipath_rule(c, true);
    q->terminal_rule = q->rule[0];
    q->terminal_rule.total *= c->flits_per_credit;
    q->terminal_rule.exclusive *= c->flits_per_credit;
    q->terminal_rule.maximum *= c->flits_per_credit;
    q->ring_mask = ring_mask_for(c->max_credits);
    q->storing_mask = timers_mask(q, q->input, q->terminal_rule.total);
    q->routing_mask = timers_mask(q, q->input + q->routing, q->rule[0].total);
}

void omnipath_check(const struct network *network, const struct choice *self, struct errors *errors)
{
    const struct omnipath_config *c = self->config;
    if (c->ports && c->ports < network->ports)
        choice_error(errors, self, "ports",
                     "%u, but the routers of this topology have %u; accepted: %u or more, or null", c->ports,
                     network->ports, whole_mports(network->ports));
}

void omnipath_build(void *routers, const void *config)
{
    struct omnipath *q = routers;
    const struct omnipath_config *c = config;
    tick_t waits = c->pipelined_arbitration ? 0 : c->cycle, passes = c->cycle - waits;
    q->config = *c;
    q->cycle = c->cycle;
    q->input = c->input_latency * c->cycle;
    q->routing = c->routing_latency * c->cycle + c->mport_arbitration_latency * passes;
    q->arbitration[0] = c->mport_arbitration_latency * waits;
    q->arbitration[1] = c->central_arbitration_latency * waits;
    q->interval = c->allocation_interval > 1 ? c->allocation_interval * c->cycle : 0;
    q->pipeline = c->central_arbitration_latency * passes;
    q->crossbar[0] = c->mport_crossbar_latency * c->cycle;
    q->crossbar[1] = c->central_crossbar_latency * c->cycle;
    q->output = c->output_latency * c->cycle;
    q->credit = c->credit_latency * c->cycle;
    q->flits_per_credit = c->flits_per_credit;
    lane_scheduler_init(&q->source_scheduler, &q->network->service, &c->arbiter, c->num_vcs, false);
    lane_scheduler_init(&q->scheduler, &q->network->service, &c->output_arbiter, c->num_vcs, true);
    set_sizes(q);
    q->same_vl = arena_array(q->network->arena, uint64_t, (size_t)q->num_vcs * q->words);
    for (uint32_t lane = 0; lane < q->lanes; lane++)
        bits_add(q->same_vl + (size_t)(lane % q->num_vcs) * q->words, lane);
    q->each = arena_array(q->network->arena, struct omnipath_router, q->network->topology.routers);
    for (uint32_t router = q->network->first_router; router < q->network->end_router; router++)
        init_router(q, &q->each[router], router);
}

/*
 * ---- from outside: it has more buffers than inputs and outputs. What is in a central one is shown behind the output
 * that it goes to, and so is what crosses ----
 */

void omnipath_check_idle(const void *routers, uint32_t router)
{
    const struct omnipath *q = routers;
    const struct omnipath_router *r = &q->each[router];
    for (uint32_t buffer = 0; buffer < q->buffers; buffer++) {
        for (uint32_t vl = 0; vl < q->num_vcs; vl++) {
            const struct omnipath_lane *lane = lane_at(q, r, buffer, vl);
            FW_CHECK(!lane->count && !lane->sent && !lane->routed,
                     "router %u buffer %u vl %u: %u packets are left at the end", router, buffer, vl, lane->count);
        }
        FW_CHECK(shared_room_is_empty(&q->rule[is_central(q, buffer)], r->rooms[buffer]),
                 "router %u buffer %u: room is taken at the end", router, buffer);
    }
    for (uint32_t port = 0; port < q->all_ports; port++)
        FW_CHECK(shared_room_is_empty(r->ports[port].rule, r->ports[port].room),
                 "router %u port %u: not all credits are back at the end", router, port);
    FW_CHECK(!bits_any(r->busy, q->source_words), "router %u: something crosses at the end", router);
}

/* Some flits of the packet at a place of a lane: of those that came, all that have not gone on. */
static void show_packet(const struct omnipath *q, const struct omnipath_lane *lane, uint32_t place, uint32_t came,
                        struct shown_router *shown, struct shown_queue *queue)
{
    uint32_t gone = place ? 0 : lane->sent;
    if (came > gone)
        shown_add(shown, queue, packet_at(q, lane, place), gone, came - gone);
}

static void show_input(const struct omnipath *q, const struct omnipath_lane *lane, struct shown_router *shown,
                       struct shown_queue *queue)
{
    for (uint32_t place = 0; place < lane->count; place++) {
        bool is_coming = place + 1u == lane->count && lane->due;
        uint32_t size = network_packet(q->network, packet_at(q, lane, place))->size;
        show_packet(q, lane, place, is_coming ? lane->due : size, shown, queue);
    }
}

/* Flits of a packet in a sink that have left their source: all, unless it is the one that is being sent there. */
static uint32_t sent_to(const struct omnipath *q, const struct omnipath_router *r, uint32_t sink, uint32_t packet)
{
    for (uint32_t source = 0; source < q->sources; source++) {
        const struct omnipath_lane *lane = lane_at(q, r, source, r->sources[source].vl);
        if (r->sources[source].sink == sink && lane->count && packet_at(q, lane, 0) == packet)
            return lane->sent;
    }
    return network_packet(q->network, packet)->size;
}

/* What is in a buffer's lane and on its way to it, of that what goes to an output. */
static void show_sink(const struct omnipath *q, const struct omnipath_router *r, uint32_t sink, uint32_t output,
                      struct shown_router *shown)
{
    const struct omnipath_lane *lane = lane_at(q, r, sink, output % q->num_vcs);
    for (uint32_t place = 0; place < lane->count; place++)
        if (!lane->targets || lane->targets[(lane->first + place) & q->ring_mask] == output)
            show_packet(q, lane, place, sent_to(q, r, sink, packet_at(q, lane, place)), shown,
                        &shown->outputs[output].queue);
}

/* Does the first packet of an input lane cross? */
static bool crosses(const struct omnipath *q, const struct omnipath_router *r, uint32_t lane)
{
    const struct omnipath_source *source = &r->sources[lane / q->num_vcs];
    return r->lanes[lane].count && source->sink != NOBODY && source->vl == lane % q->num_vcs;
}

/* The input lane whose packet crosses to an output lane, or towards it; NOBODY: none does. */
static uint16_t owner_of(const struct omnipath *q, const struct omnipath_router *r, uint32_t output)
{
    uint16_t owner = NOBODY;
    for (uint32_t lane = 0; lane < q->lanes; lane++)
        if (r->lanes[lane].target == output && crosses(q, r, lane))
            owner = (uint16_t)lane;
    return owner;
}

uint32_t omnipath_lane_flits(const void *routers, uint32_t router, uint32_t lane)
{
    return ((const struct omnipath *)routers)->each[router].lane_flits[lane];
}

/*
 * A lane of the input that has a claim to an output lane, where no other can have a packet's room without its turn; NOBODY:
 * there is none. The claim is the input's: a packet of any of its lanes ends it, one that is yet to come too.
 */
static uint16_t claimer_of(const struct omnipath *q, const struct omnipath_router *r, uint32_t output)
{
    uint32_t input = r->turns[output].next;
    uint32_t left = shared_room_left(&q->rule[0], r->rooms[output_buffer(q, output / q->num_vcs)], output % q->num_vcs);
    if (input == NOBODY || left > q->rule[0].exclusive)
        return NOBODY;
    BITS_EACH(vl, &r->sources[input].ready, 1)
        if (bits_test(lane_at(q, r, input, (uint32_t)vl)->wants, output))
            return (uint16_t)(input * q->num_vcs + vl);
    return NOBODY;
}

/* Flits of the credits that the first packet of a lane takes. */
static uint32_t whole_credits(const struct omnipath *q, const struct omnipath_lane *lane)
{
    return q->flits_per_credit * credits_for(first_size(q, lane), q->flits_per_credit);
}

/* What has begun to cross goes on by itself: packets wait for room alone, at the front of their input lanes. */
void omnipath_look(const void *routers, uint32_t router, uint32_t lane, struct lane_look *seen,
                   struct shown_router *shown)
{
    const struct omnipath *q = routers;
    const struct omnipath_router *r = &q->each[router];
    const struct omnipath_lane *at = &r->lanes[lane];
    const struct omnipath_port *port = &r->ports[lane / q->num_vcs];
    uint32_t vl = lane % q->num_vcs, sink = output_buffer(q, lane / q->num_vcs);
    const struct omnipath_lane *queue = lane_at(q, r, sink, vl);
    bool goes_on = !queue->count || queue->sent; /* or is crossing to it */
    seen->owner = claimer_of(q, r, lane);
    seen->is_full = seen->owner == NOBODY;
    seen->shares_queue = seen->port_holds = true;
    seen->flits = q->flits_per_credit * r->rooms[lane / q->num_vcs]->taken[vl];
    seen->space = goes_on ? UINT32_MAX : q->flits_per_credit * shared_room_left(&q->rule[0], r->rooms[sink], vl);
    seen->ahead = goes_on ? 0 : whole_credits(q, queue);
    if (at->count) {
        seen->room = crosses(q, r, lane) ? 0 : whole_credits(q, at);
        seen->packet = packet_at(q, at, 0);
        seen->output = at->target == LANE_IDLE ? LANE_ROUTED : crosses(q, r, lane) ? at->target : LANE_WAITS;
        seen->wants = at->wants;
    }
    if (!shown)
        return;
    seen->owner = owner_of(q, r, lane);
    seen->credits = shared_room_left(port->rule, port->room, lane % q->num_vcs);
    show_input(q, at, shown, &shown->inputs[lane].queue);
    show_sink(q, r, output_buffer(q, lane / q->num_vcs), lane, shown);
    for (uint32_t central = q->all_ports; central < q->sources; central++)
        show_sink(q, r, central, lane, shown);
}
