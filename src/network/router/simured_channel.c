/* SPDX-License-Identifier: Apache-2.0 */
/* The channels of the simured router; see simured_channel.h. */
#include "network/router/simured_channel.h"

static struct simured_output *output_of(const struct simured *q, const struct simured_router *r,
                                        const struct simured_port *port, uint32_t vc)
{
    return output_at(q, r, port->number * q->num_vcs + vc);
}

/* The flit in the last slot leaves. */
static void leave(struct simured *q, struct simured_router *r, struct simured_port *port, uint32_t vc, tick_t edge,
                  tick_t now)
{
    uint32_t lane = port->number * q->num_vcs + vc;
    struct buffer *buffer = output_buffer(q, r, lane);
    struct simured_output *output = output_at(q, r, lane);
    struct flit flit = buffer_front(&q->buffers, buffer);
    struct settled settled;
    port->linked &= ~bit(vc);
    output->flits++;
    output->credits--;
    congestion_change(q->congestion, r->number, lane, QUEUE_OUTPUT, -1, now);
    if (!port->to_terminal) {
        struct lane_place to = {.target = port->to.target, .lane = port->to.lane + vc};
        congestion_change(q->congestion, r->number, lane, QUEUE_DOWNSTREAM, 1, now);
        send_flit(q->network, EVENT_FLIT, to, flit, now + port->latency);
    }
    trace_leaving(q->network, r->number, flit, lane, now);
    buffer_take(&q->buffers, buffer, edge, &settled);
    output_settled(q, r, lane, &settled, edge);
    if (q->needs_empty && lane_is_empty(q, r, lane))
        r->opened = true;
}

/* A channel of its own. A head that finds no room tries again when it has waited for another delay. */
static void serve_own(struct simured *q, struct simured_router *r, struct simured_port *port, uint32_t vc, tick_t edge,
                      tick_t now)
{
    const struct simured_output *output = output_of(q, r, port, vc);
    tick_t since = output->since, ready_at = since + port->delay;
    if (!port->to_terminal && output->credits <= 0)
        return; /* until there is one */
    if (ready_at < edge && port->delay > q->cycle &&
        (buffer_front(&q->buffers, output_buffer(q, r, port->number * q->num_vcs + vc)).place & FLIT_HEAD))
        ready_at = since + (edge - since + port->delay - 1) / port->delay * port->delay;
    if (ready_at > edge)
        serve_at(q, r, port->number, ready_at);
    else
        leave(q, r, port, vc, edge, now);
}

/* The next VC after the one in turn, from `vcs`, has the turn. */
static void pass_turn(const struct simured *q, struct simured_router *r, struct simured_port *port, uint64_t vcs,
                      tick_t edge)
{
    port->turn = (uint16_t)bits_next_after(&vcs, 1, port->turn);
    port->turn_from = edge;
    serve_at(q, r, port->number, edge + port->delay);
}

/*
 * The other VCs with a flit, as the packet in turn sees them. SimuRed moves packets one after the other, the oldest first:
 * a flit that a younger one has brought in this cycle is not there yet.
 */
static uint64_t others_in_turn(const struct simured *q, const struct simured_router *r, const struct simured_port *port,
                               tick_t edge)
{
    uint64_t others = port->linked & ~bit(port->turn);
    const struct age *age = &output_of(q, r, port, port->turn)->linked_age;
    for (uint64_t left = others; left; left &= left - 1) {
        const struct simured_output *other = output_of(q, r, port, (uint32_t)lowest_bit(left));
        if (other->since == edge && is_older(age, &other->linked_age))
            others &= ~(left & -left);
    }
    return others;
}

/*
 * The VC in turn has no room. In SimuRed, flits move from the head of a packet to its tail, so that room which is made in
 * this cycle comes before the turn is passed on. Here it has come by the cycle's last tick.
 */
static void pass_on(const struct simured *q, struct simured_router *r, struct simured_port *port, uint64_t others,
                    tick_t edge, tick_t now)
{
    tick_t last = edge + q->cycle - 1;
    if (others && now < last) {
        serve_at(q, r, port->number, last);
        return;
    }
    for (uint64_t left = others; left; left &= left - 1)
        if (output_of(q, r, port, (uint32_t)lowest_bit(left))->credits <= 0)
            others &= ~(left & -left);
    if (others)
        pass_turn(q, r, port, others, edge);
}

/* A flit has left. The next VC may find that it has no room; if its packet is the younger one, in the same cycle. */
static void hand_over(const struct simured *q, struct simured_router *r, struct simured_port *port, uint64_t others,
                      const struct age *leaver, tick_t edge, tick_t now)
{
    pass_turn(q, r, port, others, edge);
    const struct simured_output *next = output_of(q, r, port, port->turn);
    port->looks_at_once = is_older(leaver, &next->linked_age);
    if (port->looks_at_once && next->credits <= 0)
        pass_on(q, r, port, others_in_turn(q, r, port, edge), edge, now);
}

static void serve_turn(struct simured *q, struct simured_router *r, struct simured_port *port, tick_t edge, tick_t now)
{
    if (!(port->linked & bit(port->turn))) { /* it has none behind the one that left */
        port->turn = (uint16_t)bits_next_after(&port->linked, 1, port->turn);
        port->turn_from = 0;
    }
    const struct simured_output *output = output_of(q, r, port, port->turn);
    tick_t ready_at = (output->since > port->turn_from ? output->since : port->turn_from) + port->delay;
    uint64_t others = others_in_turn(q, r, port, edge);
    if (port->linked & ~bit(port->turn) & ~others)
        serve_at(q, r, port->number, edge + q->cycle); /* some will be seen then */
    bool looks = ready_at <= edge || (port->turn_from == edge && port->looks_at_once);
    if (looks && output->credits <= 0) {
        pass_on(q, r, port, others, edge, now);
    } else if (ready_at > edge) {
        serve_at(q, r, port->number, ready_at);
    } else {
        struct age leaver = output->linked_age;
        leave(q, r, port, port->turn, edge, now);
        if (others)
            hand_over(q, r, port, others, &leaver, edge, now);
    }
}

void serve_channels(struct simured *q, struct simured_router *r, tick_t edge, tick_t now)
{
    BITS_EACH(number, r->due, q->port_words) {
        struct simured_port *port = &r->ports[number];
        bits_remove(r->due, (uint32_t)number);
        if (!port->is_shared)
            for (uint64_t left = port->linked; left; left &= left - 1)
                serve_own(q, r, port, (uint32_t)lowest_bit(left), edge, now);
        else if (port->linked)
            serve_turn(q, r, port, edge, now);
    }
}

/* Flits that rest in the middle of buffers move on. */
void settle_outputs(struct simured *q, struct simured_router *r, tick_t edge)
{
    BITS_EACH(lane, r->resting_outputs, q->words) {
        struct settled settled = {.next = FW_NEVER};
        bits_remove(r->resting_outputs, (uint32_t)lane);
        buffer_settle(&q->buffers, output_buffer(q, r, (uint32_t)lane), edge, &settled);
        output_settled(q, r, (uint32_t)lane, &settled, edge);
    }
}

void simured_receive_credits(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct simured *q = routers;
    if (q->walk) /* terminals alone send any: nobody counts them */
        return;
    for (const struct credit_event *event = events, *end = event + count; event < end; event++) {
        struct simured_router *r = &q->each[event->to.target];
        uint32_t lane = event->to.lane;
        if (event + FETCH_AHEAD < end) {
            const struct lane_place *ahead = &event[FETCH_AHEAD].to;
            __builtin_prefetch(output_at(q, &q->each[ahead->target], ahead->lane), 1);
            __builtin_prefetch(&q->each[ahead->target].ports[q->port_of[ahead->lane]], 1);
        }
        struct simured_output *output = output_at(q, r, lane);
        const struct simured_port *port = &r->ports[q->port_of[lane]];
        output->credits++;
        FW_CHECK(output->credits <= (int32_t)q->network->plan.buffer_depth,
                 "tick %llu router %u lane %u: a credit too many", (unsigned long long)now, r->number, lane);
        if (port->to_terminal)
            continue;
        congestion_change(q->congestion, r->number, lane, QUEUE_DOWNSTREAM, -1, now);
        if (port->linked & bit(lane - port->number * q->num_vcs))
            serve_at(q, r, port->number, now);
        if (q->needs_empty && r->waiting && lane_is_empty(q, r, lane)) {
            r->opened = true;
            simured_wake(q, r, now);
        }
    }
}
