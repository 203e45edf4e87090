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
#include "network/router/output_queued.h"

#define STAGE static inline __attribute__((always_inline)) /* for each number of words apart */

/* The router steps at `when`, or at its clock's next edge. */
static inline void output_queued_wake(const struct output_queued *q, uint32_t router, tick_t when)
{
    if (q->cycle > 1)
        when = (when + q->cycle - 1) / q->cycle * q->cycle;
    router_wake(q->engine, router, &q->heads[router].step_at, when);
}

/* A packet has come to the front of its lane: its routing begins at the clock's next edge, or at this one. */
static void begin_packet(struct output_queued *q, uint32_t router, uint32_t lane, tick_t when)
{
    struct input_lane *input = &q->inputs[number_of(q, router, lane)];
    FW_CHECK(input->front.place & FLIT_HEAD, "router %u lane %u: packet %u begins with flit %u", router, lane,
             input->front.packet, input->front.place & FLIT_POSITION);
    input->output = LANE_WAITS;
    if (!q->routing) {
        bits_add(set_of(q->fresh, q, router), lane);
        output_queued_wake(q, router, when);
        return;
    }
    struct router_head *head = &q->heads[router];
    tick_t ready_at = (when + q->cycle - 1) / q->cycle * q->cycle + q->routing;
    uint32_t at = head->first_routing + head->routing++;
    q->route_order[number_of(q, router, at < q->lanes ? at : at - q->lanes)] = (uint16_t)lane;
    q->ready_at[number_of(q, router, lane)] = ready_at;
    output_queued_wake(q, router, ready_at);
}

#define FETCH_AHEAD 8 /* events, in networks that do not fit the cache */

static void output_queued_receive_flits(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct output_queued *q = routers;
    for (const struct flit_event *event = events, *end = event + count; event < end; event++) {
        uint32_t router = event->to.target, lane = event->to.lane;
        size_t number = number_of(q, router, lane);
        struct input_lane *input = &q->inputs[number];
        if (event + FETCH_AHEAD < end) {
            const struct flit_event *ahead = event + FETCH_AHEAD;
            __builtin_prefetch(&q->inputs[number_of(q, ahead->to.target, ahead->to.lane)], 1);
        }
        if (input->count) {
            FW_CHECK(input->count < q->config.buffer_depth,
                     "tick %llu router %u lane %u: packet %u overruns the buffer", (unsigned long long)now, router,
                     lane, event->flit.packet);
            q->rings[number * (q->ring_mask + 1) + ((input->first + input->count++ - 1) & q->ring_mask)] = event->flit;
            continue;
        }
        __builtin_prefetch(network_packet(q->network, event->flit.packet), 1); /* the step will look at it */
        input->count = 1;
        input->front = event->flit;
        if (input->output == LANE_IDLE) {
            begin_packet(q, router, lane, now);
        } else if (output_queue_at(q->outputs, router, input->output)->count < q->outputs->depth) {
            bits_add(set_of(q->bodies, q, router), lane);
            output_queued_wake(q, router, now);
        }
    }
}

/* A lane can be taken: by those that wait for it. */
static void open_lane(struct output_queued *q, uint32_t router, uint32_t output)
{
    bits_add(set_of(q->open, q, router), output);
    q->heads[router].opened = true;
}

/* A lane that is free has more room than before. */
static void widen_lane(struct output_queued *q, uint32_t router, uint32_t output, tick_t now)
{
    open_lane(q, router, output);
    if (q->heads[router].waiting)
        output_queued_wake(q, router, now);
}

static void output_queued_receive_credits(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct output_queued *q = routers;
    output_receive_credits(q->outputs, now, events, count);
    const struct credit_event *event = events;
    for (uint32_t i = 0; q->needs_room && i < count; i++, event++)
        if (bits_test(set_of(q->open, q, event->to.target), event->to.lane))
            widen_lane(q, event->to.target, event->to.lane, now);
}

static void output_queued_receive_queued(void *routers, tick_t now, const void *events, uint32_t count)
{
    output_receive_queued(((struct output_queued *)routers)->outputs, now, events, count);
}

static void output_queued_step_outputs(void *routers, tick_t now, const void *events, uint32_t count)
{
    output_step(((struct output_queued *)routers)->outputs, now, events, count);
}

static void output_queued_receive_room(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct output_queued *q = routers;
    for (const struct credit_event *event = events, *end = event + count; event < end; event++) {
        uint32_t router = event->to.target, owner = q->owner[number_of(q, router, event->to.lane)];
        if (owner == NOBODY) {
            widen_lane(q, router, event->to.lane, now);
        } else if (q->inputs[number_of(q, router, owner)].count) {
            bits_add(set_of(q->bodies, q, router), owner);
            output_queued_wake(q, router, now);
        }
    }
}

static void leave_buffer(struct output_queued *q, size_t number, struct input_lane *input, tick_t now)
{
    send_credit(q->network, input->back_kind, input->back, now + q->credit + input->back_latency);
    if (--input->count) {
        input->front = q->rings[number * (q->ring_mask + 1) + (input->first++ & q->ring_mask)];
        __builtin_prefetch(network_packet(q->network, input->front.packet), 1);
    }
    q->flit_hops++;
}

/* The flit at the front of a lane begins its way to the queue of an output lane, which has room. */
static void transfer(struct output_queued *q, uint32_t router, uint32_t lane, uint32_t output, tick_t now)
{
    size_t number = number_of(q, router, lane);
    struct input_lane *input = &q->inputs[number];
    struct flit flit = input->front;
    output_put(q->outputs, router, output, flit, now, now + q->transfer);
    bool has_room = output_queue_at(q->outputs, router, output)->count < q->outputs->depth;
    leave_buffer(q, number, input, now);
    if (flit.place & FLIT_TAIL) {
        q->owner[number_of(q, router, output)] = NOBODY;
        if (!has_room)
            bits_remove(set_of(q->open, q, router), output);
        else if (!(flit.place & FLIT_HEAD))
            open_lane(q, router, output);
        input->output = LANE_IDLE;
        input->last_output = (uint16_t)output;
        if (input->count)
            begin_packet(q, router, lane, now + q->cycle);
    } else {
        if (flit.place & FLIT_HEAD) {
            bits_remove(set_of(q->open, q, router), output);
            q->owner[number_of(q, router, output)] = (uint16_t)lane;
            input->output = (uint16_t)output;
        }
        if (has_room && input->count) {
            bits_add(set_of(q->bodies, q, router), lane);
            output_queued_wake(q, router, now + q->cycle);
        }
    }
    if (network_is_traced(q->network, flit.packet))
        network_trace(q->network, now, router, "transfer", "flit %u to port %u vc %u, queued at %llu",
                      flit.place & FLIT_POSITION, output / q->num_vcs, output % q->num_vcs,
                      (unsigned long long)(now + q->transfer));
}

/* Of the lanes on offer, those that can take all of a packet; 0: none. */
static __attribute__((noinline)) uint64_t keep_roomy(struct output_queued *q, uint32_t router,
                                                     const struct packet *packet)
{
    uint64_t some = 0;
    for (uint32_t w = 0; w < q->words; w++) {
        for (uint64_t left = q->offered[w]; left; left &= left - 1)
            if (!output_has_room(q->outputs, router, (uint32_t)(w * WORD_BITS + lowest_bit(left)), packet->size))
                q->offered[w] &= ~(left & -left);
        some |= q->offered[w];
    }
    return some;
}

/* A packet without a lane takes one and its head goes; false: none that it may have is open. */
STAGE bool take_lane(struct output_queued *q, uint32_t router, uint32_t lane, tick_t now, uint32_t words)
{
    const uint64_t *wants = wants_of(q, router, lane), *open = set_of(q->open, q, router);
    uint64_t some = 0;
    for (uint32_t w = 0; w < words; w++)
        some |= q->offered[w] = wants[w] & open[w];
    if (some && q->needs_room)
        some = keep_roomy(q, router, network_packet(q->network, q->inputs[number_of(q, router, lane)].front.packet));
    if (some)
        transfer(q, router, lane, bits_next_after(q->offered, words, q->inputs[number_of(q, router, lane)].last_output),
                 now);
    return some;
}

/* Lanes whose packet is routed from now on join those that are ready. */
static void end_routing(struct output_queued *q, uint32_t router, tick_t now)
{
    struct router_head *head = &q->heads[router];
    for (; head->routing; head->routing--) {
        uint32_t lane = q->route_order[number_of(q, router, head->first_routing)];
        if (q->ready_at[number_of(q, router, lane)] > now) {
            output_queued_wake(q, router, q->ready_at[number_of(q, router, lane)]);
            return;
        }
        bits_add(q->ready, lane);
        head->first_routing = head->first_routing + 1u < q->lanes ? head->first_routing + 1 : 0;
    }
}

STAGE void move_bodies(struct output_queued *q, uint32_t router, tick_t now, uint32_t words)
{
    uint64_t *bodies = set_of(q->bodies, q, router);
    for (uint32_t w = 0; w < words; w++) {
        uint64_t left = bodies[w]; /* a lane that goes on puts itself into the set again, for the next cycle */
        for (bodies[w] = 0; left; left &= left - 1) {
            uint32_t lane = (uint32_t)(w * WORD_BITS + lowest_bit(left));
            transfer(q, router, lane, q->inputs[number_of(q, router, lane)].output, now);
        }
    }
}

STAGE void retry(struct output_queued *q, uint32_t router, tick_t now, uint32_t words)
{
    struct router_head *head = &q->heads[router];
    uint16_t *order = q->wait_order + number_of(q, router, 0);
    uint32_t left = 0;
    for (uint32_t i = 0; i < head->waiting; i++)
        if (!take_lane(q, router, order[i], now, words))
            order[left++] = order[i];
    head->waiting = (uint16_t)left;
    head->opened = false;
}

STAGE void route(struct output_queued *q, uint32_t router, uint32_t lane, tick_t now, uint32_t words)
{
    const struct input_lane *input = &q->inputs[number_of(q, router, lane)];
    ask_route(q->network, &q->question, input->front.packet, input->back_kind == EVENT_CREDIT,
              wants_of(q, router, lane), set_of(q->usable, q, router), words, now);
    if (network_is_traced(q->network, input->front.packet))
        trace_route(q->network, &q->question, lane, now);
}

STAGE void take_fresh(struct output_queued *q, uint32_t router, tick_t now, uint32_t words)
{
    struct router_head *head = &q->heads[router];
    q->question.router = router;
    q->question.now = now;
    BITS_EACH(lane, q->ready, words)
        __builtin_prefetch(network_packet(q->network, q->inputs[number_of(q, router, lane)].front.packet), 1);
    BITS_EACH(lane, q->ready, words) {
        route(q, router, (uint32_t)lane, now, words);
        if (!take_lane(q, router, (uint32_t)lane, now, words))
            q->wait_order[number_of(q, router, head->waiting++)] = (uint16_t)lane;
    }
}

STAGE void step_router(struct output_queued *q, uint32_t router, tick_t now, uint32_t words)
{
    struct router_head *head = &q->heads[router];
    uint64_t *fresh = set_of(q->fresh, q, router);
    for (uint32_t w = 0; w < words; w++) {
        q->ready[w] = fresh[w];
        fresh[w] = 0;
    }
    if (head->routing)
        end_routing(q, router, now);
    move_bodies(q, router, now, words);
    if (head->opened)
        retry(q, router, now, words);
    take_fresh(q, router, now, words);
}

STAGE void step_due(struct output_queued *q, tick_t now, const struct step_event *event, uint32_t count, uint32_t words)
{
    for (const struct step_event *end = event + count; event < end; event++) {
        struct router_head *head = &q->heads[event->target];
        if (head->step_at != now)
            continue; /* it was woken earlier than this step was posted for */
        head->step_at = FW_NEVER;
        step_router(q, event->target, now, words);
    }
}

/* Few words of lanes are made constants. */
static void output_queued_step(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct output_queued *q = routers;
    if (q->words == 1)
        step_due(q, now, events, count, 1);
    else if (q->words == 2)
        step_due(q, now, events, count, 2);
    else
        step_due(q, now, events, count, q->words);
}

static const struct router_ops output_queued = {
    .name = "output_queued",
    .summary = "ideal router with queues at its outputs: no conflicts on the way to them",
    .options = output_queued_options,
    .example = "{\"type\": \"output_queued\", \"num_vcs\": 2, \"buffer_depth\": 16, \"output_depth\": 64}",
    .serves_levels = true,
    .inspect = &output_queued_inspect,
    .plan = output_queued_plan,
    .build = output_queued_build,
    .share = output_queued_share,
    .receive_flits = output_queued_receive_flits,
    .receive_credits = output_queued_receive_credits,
    .step = output_queued_step,
    .receive_room = output_queued_receive_room,
    .receive_queued = output_queued_receive_queued,
    .step_outputs = output_queued_step_outputs,
};
REGISTER_ROUTER(output_queued);
