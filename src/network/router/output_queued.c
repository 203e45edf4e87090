/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output-queued router, an ideal: any number of flits go from any inputs to
 * one output in the same cycle, so that nothing waits but for room in the queue
 * that it is meant for. After SuperSim's (McDonald et al., ISPASS 2018, IV-C).
 *
 *   input buffers -> route -> transfer -> output queues -> arbiter -> channel
 *
 * A step, at an edge of the router's clock, does these in order:
 *
 *   move_bodies   packets that hold an output lane: their next flits
 *   retry         packets that wait for a lane, the longest wait first
 *   take_fresh    packets that are new at the front: ask the algorithm, take a lane
 *
 * A head takes the first lane that it may have, after the one that its input lane
 * had last, going round; it must be free and have room, for the whole packet where
 * routing has escape VCs. A packet keeps it until
 * its tail is through, so that packets do not mix in a queue. transfer() takes the
 * place in the queue at its beginning. What comes after is the output stage's. A
 * lane moves one flit a cycle. Whoever cannot move waits until a lane opens.
 */
#include "flitwarp/router.h"
#include "flitwarp/shown.h"
#include "network/router/buffer_size.h"
#include "network/router/output_stage.h"

struct output_queued_config {
    struct buffer_config buffer;
    uint32_t output_depth, output_hold;
    uint64_t cycle;
    uint32_t routing_latency, transfer_latency, credit_latency; /* cycles */
    struct choice arbiter, congestion;
};

static const struct option output_queued_options[] = {
    OPTION_ROWS(struct output_queued_config, buffer, struct buffer_config, buffer_options),
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
    CONGESTION_OPTION(struct output_queued_config),
    OPTION_END,
};

/* An input lane: a queue of flits, and how far its front packet has come. */
struct input_lane {
    struct flit front;      /* the first flit, while count > 0; those behind it are in the ring */
    struct flit *ring;      /* of ring_mask + 1 */
    uint64_t *wants;        /* the answer of routing: a set of output lanes */
    uint16_t first, count;  /* of the ring, free-running; all flits */
    uint16_t output;        /* lane held, LANE_IDLE, LANE_ROUTED until it has tried to take one, or LANE_WAITS */
    uint16_t last_output;   /* lane that its last packet took */
    struct lane_place back; /* where its credits go */
    uint32_t back_latency;  /* of the channel there */
    uint32_t back_kind;
    tick_t ready_at; /* when its packet is routed */
};

struct output_queued_router {
    tick_t step_at; /* when it steps next; FW_NEVER: asleep */
    uint32_t number;
    uint16_t waiting;                /* how many lanes wait for an output lane */
    uint16_t first_routing, routing; /* of the ring of lanes that are being routed */
    bool opened;                     /* an output lane has become free, or has room again, since the last retry */
    uint64_t *fresh;  /* input lanes whose front packet has been routed long enough and has no answer yet */
    uint64_t *bodies; /* input lanes that hold an output lane with room, and have a flit */
    uint64_t *open;   /* output lanes that nobody holds and that have room */
    uint64_t *usable; /* output lanes that lead somewhere */
    struct input_lane *inputs;
    uint16_t *owner;       /* by output lane: the input lane that holds it, or NOBODY */
    uint16_t *wait_order;  /* input lanes that wait, in the order in which they began to */
    uint16_t *route_order; /* a ring: input lanes that are being routed, in the order of ready_at */
};

struct output_queued {
    ROUTERS_HEAD;
    tick_t cycle, routing, transfer, credit; /* ticks */
    uint32_t depth;                          /* of input buffers */
    bool needs_room; /* routing has escape VCs: a lane is given with room for the whole packet; see output_has_room */
    uint64_t *ready, *offered;   /* scratch: sets of input and of output lanes, */
    struct event_list *crossing; /* and where flits go that begin to cross now; see output_crossing() */
    struct output_queued_router *each;
};

#define STAGE static inline __attribute__((always_inline)) /* for each number of words apart */

/* The router steps at `when`, or at its clock's next edge. */
static inline void output_queued_wake(const struct output_queued *q, struct output_queued_router *r, tick_t when)
{
    router_wake(q->engine, r->number, &r->step_at, next_edge(when, q->cycle));
}

/* A packet has come to the front of its lane: its routing begins at the clock's next edge, or at this one. */
STAGE void begin_packet(struct output_queued *q, struct output_queued_router *r, uint32_t lane, tick_t when)
{
    struct input_lane *input = &r->inputs[lane];
    FW_CHECK(input->front.place & FLIT_HEAD, "router %u lane %u: packet %u begins with flit %u", r->number, lane,
             input->front.packet, input->front.place & FLIT_POSITION);
    input->output = LANE_ROUTED;
    if (!q->routing) {
        bits_add(r->fresh, lane);
        output_queued_wake(q, r, when);
        return;
    }
    tick_t ready_at = next_edge(when, q->cycle) + q->routing;
    uint32_t at = r->first_routing + r->routing++;
    r->route_order[at < q->lanes ? at : at - q->lanes] = (uint16_t)lane;
    input->ready_at = ready_at;
    output_queued_wake(q, r, ready_at);
}

#define FETCH_AHEAD 8 /* events, in networks that do not fit the cache */

static void output_queued_receive_flits(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct output_queued *q = routers;
    for (const struct flit_event *event = events, *end = event + count; event < end; event++) {
        struct output_queued_router *r = &q->each[event->to.target];
        uint32_t lane = event->to.lane;
        struct input_lane *input = &r->inputs[lane];
        if (event + FETCH_AHEAD < end) {
            const struct flit_event *ahead = event + FETCH_AHEAD;
            __builtin_prefetch(&q->each[ahead->to.target].inputs[ahead->to.lane], 1);
        }
        if (input->count) {
            FW_CHECK(input->count < q->depth, "tick %llu router %u lane %u: packet %u overruns the buffer",
                     (unsigned long long)now, r->number, lane, event->flit.packet);
            input->ring[(input->first + input->count++ - 1) & q->ring_mask] = event->flit;
            continue;
        }
        __builtin_prefetch(network_packet(q->network, event->flit.packet), 1); /* the step will look at it */
        input->count = 1;
        input->front = event->flit;
        if (input->output == LANE_IDLE) {
            begin_packet(q, r, lane, now);
        } else if (output_queue_at(q->outputs, r->number, input->output)->count < q->outputs->depth) {
            bits_add(r->bodies, lane);
            output_queued_wake(q, r, now);
        }
    }
}

/* A lane can be taken: by those that wait for it. */
static void open_lane(struct output_queued_router *r, uint32_t output)
{
    bits_add(r->open, output);
    r->opened = true;
}

/* A lane that is free has more room than before. */
static void widen_lane(struct output_queued *q, struct output_queued_router *r, uint32_t output, tick_t now)
{
    open_lane(r, output);
    if (r->waiting)
        output_queued_wake(q, r, now);
}

static void output_queued_receive_credits(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct output_queued *q = routers;
    output_receive_credits(q->outputs, now, events, count);
    const struct credit_event *event = events;
    for (uint32_t i = 0; q->needs_room && i < count; i++, event++)
        if (bits_test(q->each[event->to.target].open, event->to.lane))
            widen_lane(q, &q->each[event->to.target], event->to.lane, now);
}

static void output_queued_receive_room(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct output_queued *q = routers;
    for (const struct credit_event *event = events, *end = event + count; event < end; event++) {
        struct output_queued_router *r = &q->each[event->to.target];
        uint32_t owner = r->owner[event->to.lane];
        if (owner == NOBODY) {
            widen_lane(q, r, event->to.lane, now);
        } else if (r->inputs[owner].count) {
            bits_add(r->bodies, owner);
            output_queued_wake(q, r, now);
        }
    }
}

STAGE void leave_buffer(struct output_queued *q, struct input_lane *input, tick_t now)
{
    send_credit(q->network, input->back_kind, input->back, now + q->credit + input->back_latency);
    if (--input->count) {
        input->front = input->ring[input->first++ & q->ring_mask];
        __builtin_prefetch(network_packet(q->network, input->front.packet), 1);
    }
    q->flit_hops++;
}

/* The flit at the front of a lane begins its way to the queue of an output lane, which has room. */
STAGE void transfer(struct output_queued *q, struct output_queued_router *r, uint32_t lane, uint32_t output, tick_t now)
{
    struct input_lane *input = &r->inputs[lane];
    struct flit flit = input->front;
    const struct output_queue *queue =
        put_flit(q->outputs, r->number, output, flit, now, now + q->transfer, q->crossing);
    bool has_room = queue->count < q->outputs->depth;
    leave_buffer(q, input, now);
    if (flit.place & FLIT_TAIL) {
        r->owner[output] = NOBODY;
        if (!has_room)
            bits_remove(r->open, output);
        else if (!(flit.place & FLIT_HEAD))
            open_lane(r, output);
        input->output = LANE_IDLE;
        input->last_output = (uint16_t)output;
        if (input->count)
            begin_packet(q, r, lane, now + q->cycle);
    } else {
        if (flit.place & FLIT_HEAD) {
            bits_remove(r->open, output);
            r->owner[output] = (uint16_t)lane;
            input->output = (uint16_t)output;
        }
        if (has_room && input->count) {
            bits_add(r->bodies, lane);
            output_queued_wake(q, r, now + q->cycle);
        }
    }
    if (network_is_traced(q->network, flit.packet))
        network_trace(q->network, now, r->number, "transfer", "flit %u to port %u vc %u, queued at %llu",
                      flit.place & FLIT_POSITION, output / q->num_vcs, output % q->num_vcs,
                      (unsigned long long)(now + q->transfer));
}

/* The same for those who do so less often than packets that are new. */
static __attribute__((noinline)) void transfer_later(struct output_queued *q, struct output_queued_router *r,
                                                     uint32_t lane, uint32_t output, tick_t now)
{
    transfer(q, r, lane, output, now);
}

/* Of the lanes on offer, those that can take all of a packet; 0: none. */
static __attribute__((noinline)) uint64_t keep_roomy(struct output_queued *q, struct output_queued_router *r,
                                                     const struct packet *packet)
{
    uint64_t some = 0;
    for (uint32_t w = 0; w < q->words; w++) {
        for (uint64_t left = q->offered[w]; left; left &= left - 1)
            if (!output_has_room(q->outputs, r->number, (uint32_t)(w * WORD_BITS + lowest_bit(left)), packet->size))
                q->offered[w] &= ~(left & -left);
        some |= q->offered[w];
    }
    return some;
}

/* A packet without a lane is given one, and its head is to go; FW_NONE: none that it may have is open. */
STAGE uint32_t take_lane(struct output_queued *q, struct output_queued_router *r, uint32_t lane, uint32_t words)
{
    const uint64_t *wants = r->inputs[lane].wants, *open = r->open;
    uint64_t some = 0;
    for (uint32_t w = 0; w < words; w++)
        some |= q->offered[w] = wants[w] & open[w];
    if (some && q->needs_room)
        some = keep_roomy(q, r, network_packet(q->network, r->inputs[lane].front.packet));
    return some ? bits_next_after(q->offered, words, r->inputs[lane].last_output) : FW_NONE;
}

/* Lanes whose packet is routed from now on join those that are ready. */
static void end_routing(struct output_queued *q, struct output_queued_router *r, tick_t now)
{
    for (; r->routing; r->routing--) {
        uint32_t lane = r->route_order[r->first_routing];
        if (r->inputs[lane].ready_at > now) {
            output_queued_wake(q, r, r->inputs[lane].ready_at);
            return;
        }
        bits_add(q->ready, lane);
        r->first_routing = r->first_routing + 1u < q->lanes ? r->first_routing + 1 : 0;
    }
}

STAGE void move_bodies(struct output_queued *q, struct output_queued_router *r, tick_t now, uint32_t words)
{
    uint64_t *bodies = r->bodies;
    for (uint32_t w = 0; w < words; w++) {
        uint64_t left = bodies[w]; /* a lane that goes on puts itself into the set again, for the next cycle */
        for (bodies[w] = 0; left; left &= left - 1) {
            uint32_t lane = (uint32_t)(w * WORD_BITS + lowest_bit(left));
            transfer_later(q, r, lane, r->inputs[lane].output, now);
        }
    }
}

STAGE void retry(struct output_queued *q, struct output_queued_router *r, tick_t now, uint32_t words)
{
    uint16_t *order = r->wait_order;
    uint32_t left = 0;
    for (uint32_t i = 0; i < r->waiting; i++) {
        uint32_t output = take_lane(q, r, order[i], words);
        if (output == FW_NONE)
            order[left++] = order[i];
        else
            transfer_later(q, r, order[i], output, now);
    }
    r->waiting = (uint16_t)left;
    r->opened = false;
}

STAGE void take_fresh(struct output_queued *q, struct output_queued_router *r, tick_t now, uint32_t words)
{
    q->question.router = r->number;
    q->question.now = now;
    BITS_EACH(lane, q->ready, words)
        __builtin_prefetch(network_packet(q->network, r->inputs[lane].front.packet), 1);
    BITS_EACH(lane, q->ready, words) {
        const struct input_lane *input = &r->inputs[lane];
        ask_route(q->network, &q->question, input->front.packet, (uint32_t)lane, input->back_kind == EVENT_CREDIT,
                  input->wants, r->usable, words, now);
        if (network_is_traced(q->network, input->front.packet))
            trace_route(q->network, &q->question, (uint32_t)lane, now);
        uint32_t output = take_lane(q, r, (uint32_t)lane, words);
        if (output != FW_NONE) {
            transfer(q, r, (uint32_t)lane, output, now);
            continue;
        }
        r->inputs[lane].output = LANE_WAITS;
        r->wait_order[r->waiting++] = (uint16_t)lane;
    }
}

STAGE void step_due(struct output_queued *q, tick_t now, const struct step_event *event, uint32_t count, uint32_t words)
{
    for (const struct step_event *end = event + count; event < end; event++) {
        struct output_queued_router *r = &q->each[event->target];
        if (!router_is_due(q->engine, &r->step_at, now))
            continue;
        for (uint32_t w = 0; w < words; w++) {
            q->ready[w] = r->fresh[w];
            r->fresh[w] = 0;
        }
        if (r->routing)
            end_routing(q, r, now);
        move_bodies(q, r, now, words);
        if (r->opened)
            retry(q, r, now, words);
        take_fresh(q, r, now, words);
    }
}

/* Few words of lanes are made constants. */
static void output_queued_step(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct output_queued *q = routers;
    q->crossing = output_crossing(q->outputs, now + q->transfer);
    if (q->words == 1)
        step_due(q, now, events, count, 1);
    else if (q->words == 2)
        step_due(q, now, events, count, 2);
    else
        step_due(q, now, events, count, q->words);
}

/* ---- building, and looking from outside ---- */

static void output_queued_plan(const struct choice *self, uint32_t flit_bytes, struct router_plan *plan,
                               struct errors *errors)
{
    const struct output_queued_config *c = self->config;
    (void)flit_bytes, (void)errors;
    buffer_plan(&c->buffer, plan);
    plan->congestion = &c->congestion;
    plan->output_depth = c->output_depth ? c->output_depth : ENDLESS;
}

static void init_lane(struct output_queued *q, struct output_queued_router *r, uint32_t lane, struct flit *rings,
                      uint64_t *wants)
{
    const struct link *link = network_link(q->network, r->number, lane / q->num_vcs);
    r->inputs[lane] = (struct input_lane){
        .ring = rings + (size_t)(q->ring_mask + 1) * lane,
        .wants = wants + (size_t)q->words * lane,
        .output = LANE_IDLE,
        .last_output = (uint16_t)(q->lanes - 1),
        .back = link_lane(link, lane % q->num_vcs),
        .back_latency = link->latency,
        .back_kind = link->to_terminal ? EVENT_TERMINAL_CREDIT : EVENT_CREDIT,
    };
    r->owner[lane] = NOBODY;
}

static void init_router(struct output_queued *q, struct output_queued_router *r, uint32_t number)
{
    struct arena *arena = q->network->arena;
    *r = (struct output_queued_router){
        .step_at = FW_NEVER,
        .number = number,
        .fresh = arena_array(arena, uint64_t, q->words),
        .bodies = arena_array(arena, uint64_t, q->words),
        .open = router_usable(q->network, number),
        .usable = router_usable(q->network, number),
        .inputs = arena_array(arena, struct input_lane, q->lanes),
        .owner = arena_array(arena, uint16_t, q->lanes),
        .wait_order = arena_array(arena, uint16_t, q->lanes),
        .route_order = arena_array(arena, uint16_t, q->routing ? q->lanes : 0),
    };
    struct flit *rings = arena_array(arena, struct flit, (size_t)(q->ring_mask + 1) * q->lanes);
    uint64_t *wants = arena_array(arena, uint64_t, (size_t)q->words * q->lanes);
    for (uint32_t lane = 0; lane < q->lanes; lane++)
        init_lane(q, r, lane, rings, wants);
}

static void output_queued_check(const struct network *network, const struct choice *self, struct errors *errors)
{
    const struct output_queued_config *c = self->config;
    (void)network;
    buffer_check(&c->buffer, self, errors);
}

static void output_queued_build(void *routers, const void *config)
{
    struct output_queued *q = routers;
    const struct output_queued_config *c = config;
    /* A queue without an end has room for any packet. */
    q->needs_room = routing_needs_room(&q->network->routing) && c->output_depth;
    q->outputs = output_stage_build(q->network, &(struct output_stage_config){
                                                    .arbiter = &c->arbiter,
                                                    .congestion = q->congestion,
                                                    .depth = q->network->plan.output_depth,
                                                    .reports_all = q->needs_room,
                                                    .holds = c->output_hold,
                                                });
    q->cycle = c->cycle;
    q->routing = c->routing_latency * c->cycle;
    q->transfer = c->transfer_latency * c->cycle;
    q->credit = c->credit_latency * c->cycle;
    q->depth = c->buffer.buffer_depth;
    q->ring_mask = ring_mask_for(q->depth);
    q->each = arena_array(q->network->arena, struct output_queued_router, q->network->topology.routers);
    for (uint32_t router = q->network->first_router; router < q->network->end_router; router++)
        init_router(q, &q->each[router], router);
}

static void output_queued_share(void *routers)
{
    struct output_queued *q = routers;
    q->outputs = output_stage_share(q->outputs, q->network);
    q->ready = arena_array(q->network->arena, uint64_t, q->words);
    q->offered = arena_array(q->network->arena, uint64_t, q->words);
}

static void output_queued_look(const void *routers, uint32_t router, uint32_t lane, struct lane_look *seen,
                               struct shown_router *shown)
{
    const struct output_queued *q = routers;
    const struct output_queued_router *r = &q->each[router];
    const struct input_lane *input = &r->inputs[lane];
    seen->packet = input->count ? input->front.packet : FW_NONE;
    seen->flits = input->count;
    seen->room = input->output == LANE_WAITS && q->needs_room ? network_packet(q->network, seen->packet)->size : 1;
    seen->output = input->output;
    seen->wants = input->wants;
    seen->owner = r->owner[lane];
    seen->is_full = seen->owner == NOBODY;
    output_look(q->outputs, router, lane, seen, shown);
    if (shown && input->count) {
        shown_add_input(shown, lane, input->front);
        shown_add_ring(shown, &shown->inputs[lane].queue, input->ring, q->ring_mask, input->first, input->count - 1);
    }
}

static const struct router_ops output_queued = {
    .name = "output_queued",
    .summary = "ideal router with queues at its outputs: no conflicts on the way to them",
    .options = output_queued_options,
    .example = "{\"type\": \"output_queued\", \"num_vcs\": 2, \"buffer_depth\": 16, \"output_depth\": 64}",
    .serves_levels = true,
    .size = sizeof(struct output_queued),
    .plan = output_queued_plan,
    .check = output_queued_check,
    .build = output_queued_build,
    .share = output_queued_share,
    .receive_flits = output_queued_receive_flits,
    .receive_credits = output_queued_receive_credits,
    .step = output_queued_step,
    .receive_room = output_queued_receive_room,
    .receive_queued = output_receive_queued,
    .step_outputs = output_step,
    .look = output_queued_look,
    .lane_flits = output_lane_flits,
};
REGISTER_ROUTER(output_queued);
