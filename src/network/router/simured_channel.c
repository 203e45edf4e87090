/* SPDX-License-Identifier: Apache-2.0 */
/* The channels of the simured router; see simured_channel.h. */
#include "network/router/simured_channel.h"

/* The flit in the last slot leaves. */
static void leave(struct simured *q, uint32_t router, uint32_t number, uint32_t vc, tick_t edge, tick_t now)
{
    struct simured_port *port = port_at(q, router, number);
    uint32_t lane = number * q->num_vcs + vc;
    struct buffer *buffer = output_buffer(q, router, lane);
    struct simured_output *output = output_at(q, router, lane);
    struct flit flit = buffer_front(&q->buffers, buffer);
    struct settled settled;
    port->linked &= ~bit(vc);
    output->flits++;
    output->credits--;
    congestion_change(q->congestion, router, lane, QUEUE_OUTPUT, -1, now);
    if (!port->to_terminal) {
        struct lane_place to = {.target = port->to.target, .lane = port->to.lane + vc};
        congestion_change(q->congestion, router, lane, QUEUE_DOWNSTREAM, 1, now);
        send_flit(q->network, EVENT_FLIT, to, flit, now + port->latency);
    }
    if (network_is_traced(q->network, flit.packet))
        network_trace(q->network, now, router, "leave", "flit %u by port %u vc %u", flit.place & FLIT_POSITION, number,
                      vc);
    buffer_take(&q->buffers, buffer, edge, &settled);
    output_settled(q, router, lane, &settled, edge);
    if (q->needs_empty && lane_is_empty(q, router, lane))
        head_at(q, router)->opened = true;
}

static bool has_credit(const struct simured *q, uint32_t router, uint32_t number, uint32_t vc)
{
    return output_at(q, router, number * q->num_vcs + vc)->credits > 0;
}

static tick_t linked_since(const struct simured *q, uint32_t router, uint32_t number, uint32_t vc)
{
    return output_at(q, router, number * q->num_vcs + vc)->since;
}

/* A channel of its own. A head that finds no room tries again when it has waited for another delay. */
static void serve_own(struct simured *q, uint32_t router, uint32_t number, uint32_t vc, tick_t edge, tick_t now)
{
    const struct simured_port *port = port_at(q, router, number);
    tick_t since = linked_since(q, router, number, vc), ready_at = since + port->delay;
    if (!port->to_terminal && !has_credit(q, router, number, vc))
        return; /* until there is one */
    if (ready_at < edge && port->delay > q->cycle &&
        (buffer_front(&q->buffers, output_buffer(q, router, number * q->num_vcs + vc)).place & FLIT_HEAD))
        ready_at = since + (edge - since + port->delay - 1) / port->delay * port->delay;
    if (ready_at > edge)
        serve_at(q, router, number, ready_at);
    else
        leave(q, router, number, vc, edge, now);
}

/* The next VC after the one in turn, from `vcs`, has the turn. */
static void pass_turn(const struct simured *q, uint32_t router, uint32_t number, uint64_t vcs, tick_t edge)
{
    struct simured_port *port = port_at(q, router, number);
    port->turn = (uint16_t)bits_next_after(&vcs, 1, port->turn);
    port->turn_from = edge;
    serve_at(q, router, number, edge + port->delay);
}

static uint64_t vcs_with_credit(const struct simured *q, uint32_t router, uint32_t number, uint64_t vcs)
{
    for (uint64_t left = vcs; left; left &= left - 1)
        if (!has_credit(q, router, number, (uint32_t)lowest_bit(left)))
            vcs &= ~(left & -left);
    return vcs;
}

/* Of the packet in turn. */
static struct age linked_age(const struct simured *q, uint32_t router, uint32_t number)
{
    uint32_t turn = port_at(q, router, number)->turn;
    return output_at(q, router, number * q->num_vcs + turn)->linked_age;
}

/*
 * The other VCs with a flit, as the packet in turn sees them. SimuRed moves packets one after the other, the oldest first:
 * a flit that a younger one has brought in this cycle is not there yet.
 */
static uint64_t others_in_turn(const struct simured *q, uint32_t router, uint32_t number, tick_t edge)
{
    const struct simured_port *port = port_at(q, router, number);
    uint64_t others = port->linked & ~bit(port->turn);
    struct age age = linked_age(q, router, number);
    for (uint64_t left = others; left; left &= left - 1) {
        const struct simured_output *other = output_at(q, router, number * q->num_vcs + (uint32_t)lowest_bit(left));
        if (other->since == edge && is_older(&age, &other->linked_age))
            others &= ~(left & -left);
    }
    return others;
}

/*
 * The VC in turn has no room. In SimuRed, flits move from the head of a packet to its tail, so that room which is made in
 * this cycle comes before the turn is passed on. Here it has come by the cycle's last tick.
 */
static void pass_on(const struct simured *q, uint32_t router, uint32_t number, uint64_t others, tick_t edge, tick_t now)
{
    tick_t last = edge + q->cycle - 1;
    if (others && now < last)
        serve_at(q, router, number, last);
    else if ((others = vcs_with_credit(q, router, number, others)))
        pass_turn(q, router, number, others, edge);
}

/* A flit has left. The next VC may find that it has no room; if its packet is the younger one, in the same cycle. */
static void hand_over(const struct simured *q, uint32_t router, uint32_t number, uint64_t others,
                      const struct age *leaver, tick_t edge, tick_t now)
{
    struct simured_port *port = port_at(q, router, number);
    pass_turn(q, router, number, others, edge);
    struct age next = linked_age(q, router, number);
    port->looks_at_once = is_older(leaver, &next);
    if (port->looks_at_once && !has_credit(q, router, number, port->turn))
        pass_on(q, router, number, others_in_turn(q, router, number, edge), edge, now);
}

static void serve_turn(struct simured *q, uint32_t router, uint32_t number, tick_t edge, tick_t now)
{
    struct simured_port *port = port_at(q, router, number);
    if (!(port->linked & bit(port->turn))) { /* it has none behind the one that left */
        port->turn = (uint16_t)bits_next_after(&port->linked, 1, port->turn);
        port->turn_from = 0;
    }
    tick_t since = linked_since(q, router, number, port->turn);
    tick_t ready_at = (since > port->turn_from ? since : port->turn_from) + port->delay;
    uint64_t others = others_in_turn(q, router, number, edge);
    if (port->linked & ~bit(port->turn) & ~others)
        serve_at(q, router, number, edge + q->cycle); /* some will be seen then */
    bool looks = ready_at <= edge || (port->turn_from == edge && port->looks_at_once);
    if (looks && !has_credit(q, router, number, port->turn)) {
        pass_on(q, router, number, others, edge, now);
    } else if (ready_at > edge) {
        serve_at(q, router, number, ready_at);
    } else {
        struct age leaver = linked_age(q, router, number);
        leave(q, router, number, port->turn, edge, now);
        if (others)
            hand_over(q, router, number, others, &leaver, edge, now);
    }
}

void serve_channels(struct simured *q, uint32_t router, tick_t edge, tick_t now)
{
    uint64_t *due = due_of(q, router);
    BITS_EACH(number, due, q->port_words) {
        const struct simured_port *port = port_at(q, router, (uint32_t)number);
        bits_remove(due, (uint32_t)number);
        if (!port->is_shared)
            for (uint64_t left = port->linked; left; left &= left - 1)
                serve_own(q, router, (uint32_t)number, (uint32_t)lowest_bit(left), edge, now);
        else if (port->linked)
            serve_turn(q, router, (uint32_t)number, edge, now);
    }
}

/* Flits that rest in the middle of buffers move on. */
void settle_outputs(struct simured *q, uint32_t router, tick_t edge, tick_t now)
{
    (void)now;
    uint64_t *resting = set_of(q, router, SET_RESTING_OUTPUTS);
    BITS_EACH(lane, resting, q->words) {
        struct settled settled = {.next = FW_NEVER};
        bits_remove(resting, (uint32_t)lane);
        buffer_settle(&q->buffers, output_buffer(q, router, (uint32_t)lane), edge, &settled);
        output_settled(q, router, (uint32_t)lane, &settled, edge);
    }
}

void simured_receive_credits(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct simured *q = routers;
    for (const struct credit_event *event = events, *end = event + count; event < end; event++) {
        uint32_t router = event->to.target, lane = event->to.lane, number = q->port_of[lane];
        if (event + FETCH_AHEAD < end) {
            struct lane_place ahead = event[FETCH_AHEAD].to;
            __builtin_prefetch(output_at(q, ahead.target, ahead.lane), 1);
            __builtin_prefetch(port_at(q, ahead.target, q->port_of[ahead.lane]), 1);
            __builtin_prefetch(head_at(q, ahead.target), 1);
        }
        struct simured_output *output = output_at(q, router, lane);
        const struct simured_port *port = port_at(q, router, number);
        output->credits++;
        FW_CHECK(output->credits <= (int32_t)q->network->plan.buffer_depth,
                 "tick %llu router %u lane %u: a credit too many", (unsigned long long)now, router, lane);
        if (port->to_terminal)
            continue;
        congestion_change(q->congestion, router, lane, QUEUE_DOWNSTREAM, -1, now);
        if (port->linked & bit(lane - number * q->num_vcs))
            serve_at(q, router, number, now);
        if (q->needs_empty && head_at(q, router)->waiting && lane_is_empty(q, router, lane)) {
            head_at(q, router)->opened = true;
            simured_wake(q, router, now);
        }
    }
}
