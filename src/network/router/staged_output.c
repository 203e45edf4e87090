/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The staged output-queued router: packets are stored, routed and put whole into the queue of one output
 * virtual channel, which is drawn from those that routing offers. After SuperSim's output-queued router
 * (McDonald et al., ISPASS 2018, IV-C), to the cycle without contention; output_queued moves flits one by one instead, to whichever
 * of the channels has room.
 *
 *   buffer -> entry -> transfer -> output queue -> arbiter -> channel
 *
 * A flit gives its place in the buffer back when it goes to the entry. Packets wait for a queue in the order in
 * which they were routed, each until there is room for all of it. The flits behind a head whose packet has gone
 * leave the buffer one a cycle, as if they followed.
 *
 * A step, at an edge of the router's clock, does these in order:
 *
 *   end_routing  heads at the entry whose time is over: ask the algorithm, draw a queue, wait for it
 *   transfer     the first of those that wait for a queue, while they fit
 *   advance      every lane: what has gone makes way for the next flit of the buffer
 */
#include "flitwarp/router.h"
#include "flitwarp/shown.h"
#include "flitwarp/arbiter.h"
#include "network/router/buffer_size.h"
#include "network/router/output_stage.h"

struct staged_output_config {
    struct buffer_config buffer;
    uint32_t output_depth, output_hold;
    uint64_t cycle;
    uint32_t routing_latency, transfer_latency; /* cycles */
    uint32_t output_latency;                    /* cycles of the channel */
    struct choice arbiter, congestion;
};

static const struct option staged_output_options[] = {
    OPTION_ROWS(struct staged_output_config, buffer, struct buffer_config, buffer_options),
    OPTION_U32(struct staged_output_config, output_depth, "null", 1, 1e9, "flits",
               "output queue of each virtual channel; null: without an end"),
    OPTION_TICKS(struct staged_output_config, cycle, "1", 1, 1000000, "clock of the router: a step each cycle"),
    OPTION_U32(struct staged_output_config, routing_latency, "1", 1, 10000, "cycles", "to route a packet's head"),
    OPTION_U32(struct staged_output_config, transfer_latency, "1", 1, 100000, "cycles",
               "from an input buffer to an output queue"),
    OPTION_U32(struct staged_output_config, output_latency, "1", 1, 10000, "cycles of the channel",
               "from the choice among output queues to the channel"),
    OPTION_CHOICE(struct staged_output_config, arbiter, "arbiter", "\"round_robin\"",
                  "picks among an output's virtual channels that can send"),
    OUTPUT_HOLD_OPTION(struct staged_output_config),
    CONGESTION_OPTION(struct staged_output_config),
    OPTION_END,
};

enum entry_state {
    ENTRY_EMPTY,
    ENTRY_ROUTED, /* a head is being routed */
    ENTRY_WAITS,  /* it waits for room in the queue that was drawn */
    ENTRY_GONE,   /* its packet has gone */
};

struct staged_input {
    struct flit entry;
    uint8_t state;   /* enum entry_state */
    uint16_t output; /* lane whose queue was drawn */
    uint16_t next;   /* input lane that waits behind it; NOBODY: none */
    struct lane_buffer buffer;
    tick_t routed_at;
};

struct staged_output_router {
    tick_t step_at; /* when it steps next; FW_NEVER: asleep */
    uint32_t number;
    uint64_t *active;  /* input lanes with a flit */
    uint64_t *awaited; /* output lanes that somebody waits for */
    uint64_t *usable;  /* output lanes that lead somewhere */
    struct staged_input *inputs;
    uint16_t *first_waiting, *last_waiting; /* by output lane: input lanes; NOBODY: none */
    struct random random;
};

struct staged_output {
    ROUTERS_HEAD;
    struct staged_output_config config;
    tick_t cycle, routing, transfer; /* ticks */
    uint64_t *offered;               /* scratch: set of output lanes */
    struct staged_output_router *each;
};

static void staged_output_wake(const struct staged_output *q, struct staged_output_router *r, tick_t when)
{
    router_wake(q->engine, r->number, &r->step_at, next_edge(when, q->cycle));
}

/* ---- what arrives ---- */

static void staged_output_receive_flits(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct staged_output *q = routers;
    for (const struct flit_event *event = events, *end = event + count; event < end; event++) {
        struct staged_output_router *r = &q->each[event->to.target];
        lane_buffer_put(&r->inputs[event->to.lane].buffer, event, q->config.buffer.buffer_depth, q->ring_mask, now);
        bits_add(r->active, event->to.lane);
        staged_output_wake(q, r, now);
    }
}

static void staged_output_receive_credits(void *routers, tick_t now, const void *events, uint32_t count)
{
    output_receive_credits(((struct staged_output *)routers)->outputs, now, events, count);
}

/* A step looks what it is good for. */
static void staged_output_receive_room(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct staged_output *q = routers;
    for (const struct credit_event *event = events, *end = event + count; event < end; event++) {
        struct staged_output_router *r = &q->each[event->to.target];
        output_sense_left(q->outputs, event->to, now);
        if (r->first_waiting[event->to.lane] != NOBODY)
            staged_output_wake(q, r, now);
    }
}

/* ---- the stages ---- */

static void wait_for(struct staged_output_router *r, uint32_t number, uint32_t output)
{
    struct staged_input *lane = &r->inputs[number];
    lane->output = (uint16_t)output;
    lane->next = NOBODY;
    lane->state = ENTRY_WAITS;
    if (r->first_waiting[output] == NOBODY)
        r->first_waiting[output] = (uint16_t)number;
    else
        r->inputs[r->last_waiting[output]].next = (uint16_t)number;
    r->last_waiting[output] = (uint16_t)number;
    bits_add(r->awaited, output);
}

static void end_routing(struct staged_output *q, struct staged_output_router *r, tick_t now)
{
    BITS_EACH(number, r->active, q->words) {
        struct staged_input *lane = &r->inputs[number];
        if (lane->state != ENTRY_ROUTED || lane->routed_at > now)
            continue;
        route_packet(q, r->number, lane->entry.packet, (uint32_t)number, q->offered, r->usable, now);
        wait_for(r, (uint32_t)number, bits_draw(q->offered, q->words, &r->random));
    }
}

/* All flits of a packet are in the queue at the same time. */
static void put_packet(struct staged_output *q, struct staged_output_router *r, uint32_t output, uint32_t handle,
                       tick_t now)
{
    const struct packet *packet = network_packet(q->network, handle);
    tick_t cycle = network_link(q->network, r->number, output / q->num_vcs)->cycle;
    tick_t there = next_edge(now + q->transfer, cycle);
    for (uint32_t position = 0; position < packet->size; position++)
        output_put(q->outputs, r->number, output, transfer_unit(packet, handle, position, 1), now, there);
    q->flit_hops += packet->size;
    if (network_is_traced(q->network, handle))
        network_trace(q->network, now, r->number, "transfer", "to port %u vc %u, queued at %llu", output / q->num_vcs,
                      output % q->num_vcs, (unsigned long long)there);
}

static void transfer(struct staged_output *q, struct staged_output_router *r, tick_t now)
{
    BITS_EACH(output, r->awaited, q->words) {
        const struct output_queue *queue = output_queue_at(q->outputs, r->number, (uint32_t)output);
        while (r->first_waiting[output] != NOBODY) {
            struct staged_input *lane = &r->inputs[r->first_waiting[output]];
            if (network_packet(q->network, lane->entry.packet)->size > q->outputs->depth - queue->count)
                break;
            put_packet(q, r, (uint32_t)output, lane->entry.packet, now);
            lane->state = ENTRY_GONE;
            r->first_waiting[output] = lane->next;
        }
        if (r->first_waiting[output] == NOBODY)
            bits_remove(r->awaited, (uint32_t)output);
    }
}

/* True: it will do more with the next cycle. */
static bool advance(struct staged_output *q, struct staged_input *lane, tick_t now)
{
    if (lane->state == ENTRY_GONE)
        lane->state = ENTRY_EMPTY;
    if (lane->state == ENTRY_EMPTY && lane->buffer.count) {
        struct flit flit = lane_buffer_front(&lane->buffer, q->ring_mask);
        bool is_head = flit.place & FLIT_HEAD;
        if (is_head && lane->buffer.count < network_packet(q->network, flit.packet)->size)
            return false;
        lane->entry = lane_buffer_take(&lane->buffer, q->ring_mask, q->network, now);
        lane->state = is_head ? ENTRY_ROUTED : ENTRY_GONE;
        lane->routed_at = now + q->routing;
    }
    return lane->state == ENTRY_ROUTED || lane->state == ENTRY_GONE;
}

static void staged_output_step(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct staged_output *q = routers;
    for (const struct step_event *event = events, *end = event + count; event < end; event++) {
        struct staged_output_router *r = &q->each[event->target];
        if (!router_is_due(q->engine, &r->step_at, now))
            continue;
        bool goes_on = false;
        end_routing(q, r, now);
        transfer(q, r, now);
        BITS_EACH(number, r->active, q->words) {
            struct staged_input *lane = &r->inputs[number];
            goes_on |= advance(q, lane, now);
            if (lane->state == ENTRY_EMPTY && !lane->buffer.count)
                bits_remove(r->active, (uint32_t)number);
        }
        if (goes_on)
            staged_output_wake(q, r, now + q->cycle);
    }
}

/* ---- building, and looking from outside ---- */

static void staged_output_plan(const struct choice *self, uint32_t flit_bytes, struct router_plan *plan,
                               struct errors *errors)
{
    const struct staged_output_config *c = self->config;
    (void)flit_bytes, (void)errors;
    buffer_plan(&c->buffer, plan);
    plan->output_depth = c->output_depth ? c->output_depth : ENDLESS;
    plan->congestion = &c->congestion;
    plan->reserves_packet = true;
    plan->max_packet = buffer_least(&c->buffer);
    if (plan->output_depth < plan->max_packet) {
        plan->max_packet = plan->output_depth;
        plan->max_packet_key = "output_depth";
    }
}

static void staged_output_check(const struct network *network, const struct choice *self, struct errors *errors)
{
    const struct staged_output_config *c = self->config;
    buffer_check(&c->buffer, self, errors);
    if (network->routing.escape_vcs) /* who has drawn an output does not take another */
        choice_error(errors, self, "type",
                     "'staged_output' gives output VCs without regard to their room, which escape VCs need; accepted: "
                     "input_queued, input_output_queued, output_queued");
}

static void init_router(struct staged_output *q, struct staged_output_router *r, uint32_t number)
{
    struct arena *arena = q->network->arena;
    *r = (struct staged_output_router){
        .step_at = FW_NEVER,
        .number = number,
        .active = arena_array(arena, uint64_t, q->words),
        .awaited = arena_array(arena, uint64_t, q->words),
        .usable = router_usable(q->network, number),
        .inputs = arena_array(arena, struct staged_input, q->lanes),
        .first_waiting = arena_array(arena, uint16_t, q->lanes),
        .last_waiting = arena_array(arena, uint16_t, q->lanes),
        .random = random_stream(q->network->seed, number, RANDOM_ARBITER),
    };
    for (uint32_t i = 0; i < q->lanes; i++) {
        r->inputs[i].buffer = lane_buffer_make(q->network, number, i, q->ring_mask);
        r->first_waiting[i] = NOBODY;
    }
}

static void staged_output_build(void *routers, const void *config)
{
    struct staged_output *q = routers;
    q->config = *(const struct staged_output_config *)config;
    const struct staged_output_config *c = &q->config;
    q->outputs = output_stage_build(q->network, &(struct output_stage_config){
                                                    .arbiter = &c->arbiter,
                                                    .congestion = q->congestion,
                                                    .depth = q->network->plan.output_depth,
                                                    .delay_cycles = c->output_latency,
                                                    .reports_all = true,
                                                    .sensed = SENSED_LATER,
                                                    .reserves_packet = true,
                                                    .holds = c->output_hold,
                                                });
    q->ring_mask = ring_mask_for(c->buffer.buffer_depth);
    q->cycle = c->cycle;
    q->routing = c->routing_latency * c->cycle;
    q->transfer = c->transfer_latency * c->cycle;
    q->each = arena_array(q->network->arena, struct staged_output_router, q->network->topology.routers);
    for (uint32_t router = q->network->first_router; router < q->network->end_router; router++)
        init_router(q, &q->each[router], router);
}

static void staged_output_share(void *routers)
{
    struct staged_output *q = routers;
    q->outputs = output_stage_share(q->outputs, q->network);
    q->offered = arena_array(q->network->arena, uint64_t, q->words);
}

/* The place of an input lane among those that wait for the same output lane. */
static uint32_t turn_of(const struct staged_output_router *r, uint32_t number)
{
    uint32_t turn = 1;
    for (uint32_t at = r->first_waiting[r->inputs[number].output]; at != number; at = r->inputs[at].next)
        turn++;
    return turn;
}

static void staged_output_look(const void *routers, uint32_t router, uint32_t number, struct lane_look *seen,
                               struct shown_router *shown)
{
    const struct staged_output *q = routers;
    const struct staged_input *lane = &q->each[router].inputs[number];
    bool has_entry = lane->state != ENTRY_EMPTY;
    seen->flits = lane->buffer.count + has_entry;
    seen->freed = has_entry;
    if (seen->flits)
        seen->packet = has_entry ? lane->entry.packet : lane_buffer_front(&lane->buffer, q->ring_mask).packet;
    seen->output = lane->state == ENTRY_WAITS ? lane->output : seen->flits ? LANE_ROUTED : LANE_IDLE;
    seen->room = lane->state == ENTRY_WAITS ? network_packet(q->network, lane->entry.packet)->size : 0;
    seen->turn = lane->state == ENTRY_WAITS ? turn_of(&q->each[router], number) : 0;
    output_look(q->outputs, router, number, seen, shown);
    if (has_entry)
        shown_add_input(shown, number, lane->entry);
    shown_add_buffer(shown, number, &lane->buffer, q->ring_mask);
}

static const struct router_ops staged_output = {
    .name = "staged_output",
    .summary = "router that puts whole packets into queues at its outputs, as SuperSim's",
    .options = staged_output_options,
    .example = "{\"type\": \"staged_output\", \"num_vcs\": 2, \"buffer_depth\": 16, \"output_depth\": 64}",
    .size = sizeof(struct staged_output),
    .plan = staged_output_plan,
    .check = staged_output_check,
    .build = staged_output_build,
    .share = staged_output_share,
    .receive_flits = staged_output_receive_flits,
    .receive_credits = staged_output_receive_credits,
    .step = staged_output_step,
    .receive_room = staged_output_receive_room,
    .receive_queued = output_receive_queued,
    .step_outputs = output_step,
    .look = staged_output_look,
    .lane_flits = output_lane_flits,
};
REGISTER_ROUTER(staged_output);
