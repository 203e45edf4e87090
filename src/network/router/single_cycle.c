/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A router to read and to copy: `flitwarp new` starts from it. Virtual channels,
 * wormhole and credits as in the input-queued router, in one file and without a
 * pipeline: one step does all that a flit needs, in this order.
 *
 *   route     a packet that has come to the front of its lane asks the algorithm, once
 *   take      a packet without an output lane takes one that is free, input lanes in turn
 *   nominate  every input port names one lane that can send, its VCs in turn
 *   grant     every output port picks one of the inputs that want it, in turn
 *   send      the winner's flit leaves and a credit goes back; a tail frees the output lane
 *
 * After a step in which nothing left, the router sleeps until a flit or a credit comes.
 */
#include "flitwarp/congestion.h"
#include "flitwarp/router.h"
#include "flitwarp/shown.h"

struct single_cycle_config {
    uint32_t num_vcs, buffer_depth;
    uint64_t latency;
    struct choice congestion;
};

static const struct option single_cycle_options[] = {
    OPTION_U32(struct single_cycle_config, num_vcs, "2", 1, 64, NULL, "virtual channels of each port"),
    OPTION_U32(struct single_cycle_config, buffer_depth, "8", 1, 4096, "flits", "input buffer of each virtual channel"),
    OPTION_TICKS(struct single_cycle_config, latency, "1", 0, 100000, "of a flit that waits for nothing"),
    CONGESTION_OPTION(struct single_cycle_config),
    OPTION_END,
};

/* One VC of one port, both ways. */
struct lane {
    const struct link *link;
    /* Input: its buffer, and how far the packet at the front of that has come. */
    struct lane_buffer buffer;
    uint64_t *wants;      /* the answer of routing: a set of output lanes */
    uint16_t output;      /* lane held, LANE_IDLE (not routed yet) or LANE_WAITS */
    uint16_t last_output; /* that was held before */
    /* Output: who holds it, and room for flits at the far end. */
    uint16_t owner; /* input lane, or NOBODY */
    uint32_t credits;
    uint32_t flits; /* that have left, modulo 2^32 */
};

struct port {
    tick_t free_at;      /* when its channel takes the next flit */
    uint32_t last_lane;  /* as an input: what it sent last */
    uint32_t last_input; /* as an output: the input port that it served last */
};

struct router {
    tick_t step_at; /* when it steps next; FW_NEVER: asleep */
    uint32_t number;
    uint32_t turn;      /* input lane that is asked first */
    struct lane *lanes; /* by port * num_vcs + vc */
    struct port *ports;
    uint64_t *usable; /* output lanes that lead somewhere */
};

/* All routers of the network, or of the part of it that a thread steps. */
struct single_cycle {
    ROUTERS_HEAD;
    const struct single_cycle_config *config;
    struct router *each;
    uint32_t *nominee, *winner; /* scratch, by port: an input lane, or FW_NONE */
};

/* Places from the one that was served last to another, going round: the smallest is next. */
static uint32_t turns(uint32_t last, uint32_t other, uint32_t count) { return (other + count - last - 1) % count; }

static void single_cycle_wake(const struct single_cycle *q, struct router *router, tick_t when)
{
    router_wake(q->network->engine, router->number, &router->step_at, when);
}

/* ---- what arrives is only stored, since the order of what arrives in a tick may not matter ---- */

static void single_cycle_receive_flits(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct single_cycle *q = routers;
    for (const struct flit_event *event = events, *end = event + count; event < end; event++) {
        struct router *router = &q->each[event->to.target];
        lane_buffer_put(&router->lanes[event->to.lane].buffer, event, q->config->buffer_depth, q->ring_mask, now);
        single_cycle_wake(q, router, now);
    }
}

static void single_cycle_receive_credits(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct single_cycle *q = routers;
    for (const struct credit_event *event = events, *end = event + count; event < end; event++) {
        struct router *router = &q->each[event->to.target];
        struct lane *lane = &router->lanes[event->to.lane];
        FW_CHECK(lane->credits++ < lane->link->depth, "tick %llu router %u lane %u: a credit too many",
                 (unsigned long long)now, router->number, event->to.lane);
        congestion_change(q->congestion, router->number, event->to.lane, QUEUE_DOWNSTREAM, -1, now);
        single_cycle_wake(q, router, now);
    }
}

/* ---- the stages of a step ---- */

static void route(struct single_cycle *q, const struct router *router, uint32_t number, tick_t now)
{
    struct lane *lane = &router->lanes[number];
    struct flit front = lane_buffer_front(&lane->buffer, q->ring_mask);
    FW_CHECK(front.place & FLIT_HEAD, "router %u lane %u: packet %u begins with flit %u", router->number, number,
             front.packet, front.place & FLIT_POSITION);
    route_packet(q, router->number, front.packet, number, lane->wants, router->usable, now);
    lane->output = LANE_WAITS;
}

/* Escape VCs need room for the whole packet, or an empty buffer: nobody may wait behind another in theirs. */
static bool has_room(const struct single_cycle *q, const struct lane *output, const struct packet *packet)
{
    uint32_t depth = output->link->depth;
    return !routing_needs_room(&q->network->routing) ||
           output->credits >= (packet->size < depth ? packet->size : depth);
}

/* The first that is free after the one it had last. */
static void take(const struct single_cycle *q, struct router *router, uint32_t number)
{
    struct lane *lane = &router->lanes[number];
    const struct packet *packet = network_packet(q->network, lane_buffer_front(&lane->buffer, q->ring_mask).packet);
    uint32_t best = FW_NONE;
    BITS_EACH(output, lane->wants, q->words)
        if (router->lanes[output].owner == NOBODY && has_room(q, &router->lanes[output], packet) &&
            (best == FW_NONE ||
             turns(lane->last_output, (uint32_t)output, q->lanes) < turns(lane->last_output, best, q->lanes)))
            best = (uint32_t)output;
    if (best == FW_NONE)
        return;
    lane->output = (uint16_t)best;
    router->lanes[best].owner = (uint16_t)number;
    router->turn = (number + 1) % q->lanes;
}

/* A lane that can send, or could as soon as its channel is free, at a time that goes into `soonest`. */
static void nominate(const struct single_cycle *q, const struct router *router, uint32_t number, tick_t now,
                     tick_t *soonest)
{
    const struct lane *lane = &router->lanes[number];
    if (lane->output == LANE_WAITS || !router->lanes[lane->output].credits)
        return;
    tick_t free_at = router->ports[lane->output / q->num_vcs].free_at;
    uint32_t port = number / q->num_vcs, last = router->ports[port].last_lane;
    if (free_at > now)
        *soonest = free_at < *soonest ? free_at : *soonest;
    else if (q->nominee[port] == FW_NONE || turns(last, number, q->lanes) < turns(last, q->nominee[port], q->lanes))
        q->nominee[port] = number;
}

/* Is an input port to be served before another? */
static bool is_before(const struct single_cycle *q, const struct router *router, uint32_t output, uint32_t one,
                      uint32_t other)
{
    uint32_t last = router->ports[output].last_input, ports = q->ports;
    return turns(last, one, ports) < turns(last, other, ports);
}

static void grant(const struct single_cycle *q, const struct router *router, uint32_t input)
{
    uint32_t output = router->lanes[q->nominee[input]].output / q->num_vcs, *winner = &q->winner[output];
    if (*winner == FW_NONE || is_before(q, router, output, input, *winner / q->num_vcs))
        *winner = q->nominee[input];
}

static void send(struct single_cycle *q, struct router *router, uint32_t number, tick_t now)
{
    struct lane *lane = &router->lanes[number], *output = &router->lanes[lane->output];
    struct port *from = &router->ports[number / q->num_vcs], *to = &router->ports[lane->output / q->num_vcs];
    struct lane_place ahead = link_lane(output->link, lane->output % q->num_vcs);
    struct flit flit = lane_buffer_take(&lane->buffer, q->ring_mask, q->network, now);
    output->credits--;
    output->flits++;
    q->flit_hops++;
    from->last_lane = number;
    to->last_input = number / q->num_vcs;
    to->free_at = now + output->link->cycle;
    congestion_change(q->congestion, router->number, lane->output, QUEUE_DOWNSTREAM, 1, now);
    send_flit(q->network, output->link->to_terminal ? EVENT_TERMINAL_FLIT : EVENT_FLIT, ahead, flit,
              now + q->config->latency + output->link->latency);
    if (network_is_traced(q->network, flit.packet))
        network_trace(q->network, now, router->number, "send", "flit %u to port %u vc %u", flit.place & FLIT_POSITION,
                      lane->output / q->num_vcs, lane->output % q->num_vcs);
    if (flit.place & FLIT_TAIL) {
        output->owner = NOBODY;
        lane->last_output = lane->output;
        lane->output = LANE_IDLE;
    }
}

static void step_router(struct single_cycle *q, struct router *router, tick_t now)
{
    uint32_t ports = q->ports, begin = router->turn;
    tick_t soonest = FW_NEVER;
    for (uint32_t port = 0; port < ports; port++)
        q->nominee[port] = q->winner[port] = FW_NONE;
    for (uint32_t i = 0; i < q->lanes; i++) {
        uint32_t number = (begin + i) % q->lanes;
        const struct lane *lane = &router->lanes[number];
        if (!lane->buffer.count)
            continue;
        if (lane->output == LANE_IDLE)
            route(q, router, number, now);
        if (lane->output == LANE_WAITS)
            take(q, router, number);
        nominate(q, router, number, now, &soonest);
    }
    for (uint32_t port = 0; port < ports; port++)
        if (q->nominee[port] != FW_NONE)
            grant(q, router, port);
    for (uint32_t port = 0; port < ports; port++)
        if (q->winner[port] != FW_NONE) {
            send(q, router, q->winner[port], now);
            soonest = now + 1;
        }
    single_cycle_wake(q, router, soonest);
}

static void single_cycle_step(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct single_cycle *q = routers;
    for (const struct step_event *event = events, *end = event + count; event < end; event++) {
        struct router *router = &q->each[event->target];
        if (router->step_at != now)
            continue; /* it was woken earlier than this step was posted for */
        router->step_at = FW_NEVER;
        step_router(q, router, now);
    }
}

/* ---- building ---- */

static void single_cycle_plan(const struct choice *self, uint32_t flit_bytes, struct router_plan *plan,
                              struct errors *errors)
{
    const struct single_cycle_config *config = self->config;
    (void)flit_bytes, (void)errors;
    plan->num_vcs = config->num_vcs;
    plan->buffer_depth = config->buffer_depth;
    plan->congestion = &config->congestion;
}

static void build_router(const struct single_cycle *q, struct router *router, uint32_t number)
{
    struct arena *arena = q->network->arena;
    *router = (struct router){
        .step_at = FW_NEVER,
        .number = number,
        .lanes = arena_array(arena, struct lane, q->lanes),
        .ports = arena_array(arena, struct port, q->ports),
        .usable = router_usable(q->network, number),
    };
    uint64_t *wants = arena_array(arena, uint64_t, (size_t)q->words * q->lanes);
    for (uint32_t lane = 0; lane < q->lanes; lane++) {
        const struct link *link = network_link(q->network, number, lane / q->num_vcs);
        router->lanes[lane] = (struct lane){
            .link = link,
            .buffer = lane_buffer_make(q->network, number, lane, q->ring_mask),
            .wants = wants + (size_t)q->words * lane,
            .output = LANE_IDLE,
            .owner = NOBODY,
            .credits = bits_test(router->usable, lane) ? link->depth : 0,
        };
    }
}

static void single_cycle_build(void *routers, const void *config)
{
    struct single_cycle *q = routers;
    q->config = config;
    q->ring_mask = ring_mask_for(q->config->buffer_depth);
    q->each = arena_array(q->network->arena, struct router, q->network->topology.routers);
    for (uint32_t router = q->network->first_router; router < q->network->end_router; router++)
        build_router(q, &q->each[router], router);
}

/* Every thread has these for itself. */
static void single_cycle_share(void *routers)
{
    struct single_cycle *q = routers;
    q->nominee = arena_array(q->network->arena, uint32_t, q->ports);
    q->winner = arena_array(q->network->arena, uint32_t, q->ports);
}

static uint32_t single_cycle_lane_flits(const void *routers, uint32_t router, uint32_t lane)
{
    return ((const struct single_cycle *)routers)->each[router].lanes[lane].flits;
}

/* For those who look from outside: the viewer, deadlock reports, the counts of channels. */
static void single_cycle_look(const void *routers, uint32_t router, uint32_t number, struct lane_look *seen,
                              struct shown_router *shown)
{
    const struct single_cycle *q = routers;
    const struct lane *lanes = q->each[router].lanes, *lane = &lanes[number];
    bool needs_room = routing_needs_room(&q->network->routing);
    if (lane->buffer.count) {
        seen->packet = lane_buffer_front(&lane->buffer, q->ring_mask).packet;
        seen->room = lane->output < LANE_WAITS ? !lanes[lane->output].credits
                     : needs_room              ? network_packet(q->network, seen->packet)->size
                                               : 0;
    }
    seen->flits = lane->buffer.count;
    seen->output = lane->output == LANE_IDLE && seen->flits ? LANE_ROUTED : lane->output;
    seen->wants = lane->wants;
    seen->owner = lane->owner;
    seen->is_full = lane->owner == NOBODY && needs_room;
    seen->credits = lane->credits;
    seen->depth = bits_test(q->each[router].usable, number) ? lane->link->depth : 0;
    shown_add_buffer(shown, number, &lane->buffer, q->ring_mask);
}

static const struct router_ops single_cycle = {
    .name = "single_cycle",
    .summary = "input-queued router without a pipeline, in one file: the one to copy",
    .options = single_cycle_options,
    .example = "{\"type\": \"single_cycle\", \"num_vcs\": 8, \"buffer_depth\": 8}",
    .size = sizeof(struct single_cycle),
    .plan = single_cycle_plan,
    .build = single_cycle_build,
    .share = single_cycle_share,
    .receive_flits = single_cycle_receive_flits,
    .receive_credits = single_cycle_receive_credits,
    .step = single_cycle_step,
    .look = single_cycle_look,
    .lane_flits = single_cycle_lane_flits,
};
REGISTER_ROUTER(single_cycle);
/* Copied by `flitwarp new`, with an example: network.router=$ */
