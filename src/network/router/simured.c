/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SimuRed's router (Pardo and Boluda, Simulation Modelling Practice and Theory 2009):
 * buffers on both sides of a crossbar that never has conflicts, and channels that
 * virtual channels share by turns.
 *
 *   input buffer [last slot: crossbar] -> output buffer [last slot: channel] -> ...
 *
 * A step does these in order, from the front of packets to their ends, so that a
 * flit moves into the slot that the one before it has left in the same cycle:
 *
 *   serve_channels  flits in the last slots of output buffers go to the next router
 *   cross           flits of packets that hold an output lane go to its buffer
 *   route           packets that are new at a crossbar: ask the algorithm
 *   grant           packets without an output lane, the oldest first: one that is free
 *
 * What becomes free is told to the router before by a credit, over its channel. In
 * SimuRed that takes no time. Here a cycle may be several ticks: then the credit is
 * there within the same cycle, and as many routers in a row as a cycle has ticks
 * move together; docs/simured.md says what difference it makes.
 *
 * A flit that enters a buffer in a cycle can move in the next one at the earliest, so
 * that it is in time when it arrives by the next edge.
 */
#include "network/router/simured_channel.h"
#include "network/router/simured_walk.h"

/* A flit has come to the last slot of an input buffer: it crosses, or its packet asks for a way. */
static void reach_crossbar(struct simured *q, struct simured_router *r, uint32_t lane, tick_t edge)
{
    struct simured_input *input = input_at(q, r, lane);
    if (input->output == LANE_IDLE) {
        struct flit front = buffer_front(&q->buffers, input_buffer(q, r, lane));
        FW_CHECK(front.place & FLIT_HEAD, "router %u lane %u: packet %u begins with flit %u", r->number, lane,
                 front.packet, front.place & FLIT_POSITION);
        bits_add(r->fresh, lane);
        input->leave_at = edge + q->cycle;
    } else {
        bits_add(r->crossing, lane);
        input->leave_at = edge + q->crossbar;
    }
    simured_wake(q, r, input->leave_at);
}

/* Flits of an input buffer have moved. */
static inline void input_settled(struct simured *q, struct simured_router *r, uint32_t lane,
                                 const struct settled *settled, tick_t edge, tick_t now)
{
    const struct simured_input *input = input_at(q, r, lane);
    for (uint32_t left = settled->left; left; left--)
        send_credit(q->network, input->back_kind, input->back, now + input->back_latency);
    if (settled->reached)
        reach_crossbar(q, r, lane, edge);
    rest(q, r, r->resting_inputs, lane, settled->next);
}

static void simured_receive_flits(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct simured *q = routers;
    tick_t edge = edge_of(q, now - 1);
    for (const struct flit_event *event = events, *end = event + count; event < end; event++) {
        struct simured_router *r = &q->each[event->to.target];
        uint32_t lane = event->to.lane;
        struct buffer *buffer = input_buffer(q, r, lane);
        struct settled settled;
        if (event + FETCH_AHEAD < end) {
            const struct lane_place *ahead = &event[FETCH_AHEAD].to;
            __builtin_prefetch(input_at(q, &q->each[ahead->target], ahead->lane), 1);
        }
        FW_CHECK(buffer->count < q->buffers.capacity, "tick %llu router %u lane %u: packet %u overruns the buffer",
                 (unsigned long long)now, r->number, lane, event->flit.packet);
        buffer_put(&q->buffers, buffer, event->flit, edge, &settled);
        input_settled(q, r, lane, &settled, edge, now);
    }
}

/* The flit in the last slot of an input buffer crosses to the output lane that its packet holds. */
static void cross_flit(struct simured *q, struct simured_router *r, uint32_t lane, tick_t edge, tick_t now)
{
    struct simured_input *input = input_at(q, r, lane);
    struct buffer *buffer = input_buffer(q, r, lane);
    struct flit flit = buffer_front(&q->buffers, buffer);
    uint32_t output = input->output;
    struct settled settled;
    q->flit_hops++;
    if (network_is_traced(q->network, flit.packet))
        network_trace(q->network, now, r->number, "cross", "flit %u to port %u vc %u", flit.place & FLIT_POSITION,
                      output / q->num_vcs, output % q->num_vcs);
    if (flit.place & FLIT_TAIL) {
        output_at(q, r, output)->owner = NOBODY;
        r->releases[output].age = input->age;
        input->output = LANE_IDLE;
    }
    bits_remove(r->crossing, lane);
    enter_output(q, r, output, flit, edge, now);
    buffer_take(&q->buffers, buffer, edge, &settled);
    input_settled(q, r, lane, &settled, edge, now);
}

static void cross(struct simured *q, struct simured_router *r, tick_t edge, tick_t now)
{
    BITS_EACH(lane, r->crossing, q->words) {
        const struct simured_input *input = input_at(q, r, (uint32_t)lane);
        if (!buffer_is_ready(&q->buffers, input_buffer(q, r, (uint32_t)lane)) ||
            !buffer_has_room(&q->buffers, output_buffer(q, r, input->output)))
            bits_remove(r->crossing, (uint32_t)lane); /* until a flit comes, or room */
        else if (input->leave_at > edge)
            simured_wake(q, r, input->leave_at);
        else
            cross_flit(q, r, (uint32_t)lane, edge, now);
    }
}

static void join_waiting(struct simured *q, struct simured_router *r, uint32_t lane)
{
    const struct age *age = &input_at(q, r, lane)->age;
    uint32_t at = r->waiting++;
    for (; at && is_older(age, &input_at(q, r, r->order[at - 1])->age); at--)
        r->order[at] = r->order[at - 1];
    r->order[at] = (uint16_t)lane;
}

/* An ejection channel has one buffer: of the lanes on offer, one of each. */
static void keep_ejection_lanes(const struct simured *q, uint64_t *wants)
{
    for (uint32_t port = 0; port < q->first_link; port++) {
        uint64_t vcs = bits_word(wants, port * q->num_vcs, q->num_vcs);
        for (vcs &= vcs - 1; vcs; vcs &= vcs - 1)
            bits_remove(wants, port * q->num_vcs + (uint32_t)lowest_bit(vcs));
    }
}

static void route(struct simured *q, struct simured_router *r, tick_t edge, tick_t now)
{
    BITS_EACH(number, r->fresh, q->words) {
        uint32_t lane = (uint32_t)number;
        struct simured_input *input = input_at(q, r, lane);
        uint32_t packet = buffer_front(&q->buffers, input_buffer(q, r, lane)).packet;
        if (input->leave_at > edge) {
            simured_wake(q, r, input->leave_at);
            continue;
        }
        bits_remove(r->fresh, lane);
        input->output = LANE_WAITS;
        route_packet(q, r->number, packet, lane, wants_of(q, r, lane), r->usable, now);
        if (r->number == q->question.packet->destination_router)
            keep_ejection_lanes(q, wants_of(q, r, lane));
        input->age = age_of(q, packet);
        join_waiting(q, r, lane);
        r->opened = true;
    }
}

/*
 * Leaves in `offered` the lanes that a packet may take now. SimuRed moves packets one after the other, the oldest first:
 * one that waits sees what an older one leaves free in the same cycle, and what a younger one does in the next.
 */
static bool find_free(struct simured *q, struct simured_router *r, uint32_t lane, tick_t edge)
{
    const uint64_t *wants = wants_of(q, r, lane), *open = r->open;
    const struct age *age = &input_at(q, r, lane)->age;
    uint64_t some = 0;
    for (uint32_t w = 0; w < q->words; w++) {
        q->offered[w] = wants[w] & open[w];
        for (uint64_t left = q->offered[w]; left; left &= left - 1) {
            uint32_t wanted = (uint32_t)(w * WORD_BITS + lowest_bit(left));
            const struct simured_release *release = &r->releases[wanted];
            bool is_early = release->edge == edge && is_older(age, &release->age);
            r->opened |= is_early; /* for the next cycle */
            if (is_early || (q->needs_empty && !lane_is_empty(q, r, wanted)))
                q->offered[w] &= ~(left & -left);
        }
        some |= q->offered[w];
    }
    return some;
}

/*
 * A free lane of those on offer: the ports that the packet may take from one of them on, going round, and of the first
 * that has a free lane the VCs from one of them on. Both begin anywhere.
 */
static uint32_t choose_lane(struct simured *q, struct simured_router *r, const uint64_t *wants)
{
    struct random *random = &r->random;
    uint32_t ports = 0, skipped, first = 0, last = NOBODY;
    BITS_EACH(lane, wants, q->words) {
        ports += q->port_of[lane] != last;
        last = q->port_of[lane];
    }
    skipped = ports > 1 ? random_below(random, ports) : 0;
    for (; skipped; skipped--) /* to the first lane behind a port */
        first = (q->port_of[bits_next_cyclic(wants, q->words, first)] + 1) * q->num_vcs;
    uint32_t port = q->port_of[bits_next_cyclic(q->offered, q->words, first)];
    uint64_t vcs = bits_word(q->offered, port * q->num_vcs, q->num_vcs);
    return port * q->num_vcs + bits_next_cyclic(&vcs, 1, q->num_vcs > 1 ? random_below(random, q->num_vcs) : 0);
}

/* A packet takes an output lane; its head crosses when the switch is set. */
static void take_lane(struct simured *q, struct simured_router *r, uint32_t lane, uint32_t output, tick_t edge,
                      tick_t now)
{
    struct simured_input *input = input_at(q, r, lane);
    bits_remove(r->open, output);
    output_at(q, r, output)->owner = (uint16_t)lane;
    input->output = (uint16_t)output;
    input->leave_at = edge + q->head_crossbar;
    if (network_is_traced(q->network, buffer_front(&q->buffers, input_buffer(q, r, lane)).packet))
        network_trace(q->network, now, r->number, "grant", "port %u vc %u, crosses at %llu", output / q->num_vcs,
                      output % q->num_vcs, (unsigned long long)input->leave_at);
    if (input->leave_at <= edge) {
        cross_flit(q, r, lane, edge, now);
    } else {
        bits_add(r->crossing, lane);
        simured_wake(q, r, input->leave_at);
    }
}

static void grant(struct simured *q, struct simured_router *r, tick_t edge, tick_t now)
{
    uint32_t left = 0;
    r->opened = false;
    for (uint32_t i = 0; i < r->waiting; i++) {
        uint32_t lane = r->order[i];
        if (find_free(q, r, lane, edge))
            take_lane(q, r, lane, choose_lane(q, r, wants_of(q, r, lane)), edge, now);
        else
            r->order[left++] = (uint16_t)lane;
    }
    r->waiting = left;
    if (left && r->opened)
        simured_wake(q, r, edge + q->cycle);
}

/* Flits that rest in the middle of buffers move on. */
static void settle_inputs(struct simured *q, struct simured_router *r, tick_t edge, tick_t now)
{
    BITS_EACH(lane, r->resting_inputs, q->words) {
        struct settled settled = {.next = FW_NEVER};
        bits_remove(r->resting_inputs, (uint32_t)lane);
        buffer_settle(&q->buffers, input_buffer(q, r, (uint32_t)lane), edge, &settled);
        input_settled(q, r, (uint32_t)lane, &settled, edge, now);
    }
}

static void step_router(struct simured *q, struct simured_router *r, tick_t edge, tick_t now)
{
    serve_channels(q, r, edge, now);
    if (!q->buffers.is_plain)
        settle_outputs(q, r, edge);
    cross(q, r, edge, now);
    if (!q->buffers.is_plain)
        settle_inputs(q, r, edge, now);
    route(q, r, edge, now);
    if (r->opened && r->waiting)
        grant(q, r, edge, now);
}

/* A network that does not fit the cache: what the steps to come will touch is fetched ahead, the router before. */
static inline __attribute__((always_inline)) void fetch_lanes(const struct simured *q, const struct simured_router *r)
{
    BITS_EACH(port, r->due, 1) {
        __builtin_prefetch(&r->ports[port], 1);
        __builtin_prefetch(output_at(q, r, (uint32_t)port * q->num_vcs), 1);
    }
    BITS_EACH(lane, r->crossing, 1)
        __builtin_prefetch(input_at(q, r, (uint32_t)lane), 1);
}

static void simured_step(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct simured *q = routers;
    if (q->walk) {
        walk_hear(q, events, count, now);
        return;
    }
    tick_t edge = edge_of(q, now);
    for (const struct step_event *event = events, *end = event + count; event < end; event++) {
        struct simured_router *r = &q->each[event->target];
        if (event + 2 * FETCH_AHEAD < end)
            __builtin_prefetch(&q->each[event[2 * FETCH_AHEAD].target], 1);
        if (event + FETCH_AHEAD < end)
            fetch_lanes(q, &q->each[event[FETCH_AHEAD].target]);
        if (router_is_due(q->engine, &r->step_at, now))
            step_router(q, r, edge, now);
    }
}

static const struct router_ops simured = {
    .name = "simured",
    .summary = "SimuRed's router: buffers on both sides, forwarding, channels shared by turns",
    .options = simured_options,
    .example = "{\"type\": \"simured\", \"num_vcs\": 2, \"buffer_depth\": 2}",
    .size = sizeof(struct simured),
    .plan = simured_plan,
    .check = simured_check,
    .build = simured_build,
    .share = simured_share,
    .receive_flits = simured_receive_flits,
    .receive_credits = simured_receive_credits,
    .step = simured_step,
    .step_outputs = simured_walk,
    .look = simured_look,
    .lane_flits = simured_lane_flits,
};
REGISTER_ROUTER(simured);
