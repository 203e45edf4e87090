/* SPDX-License-Identifier: Apache-2.0 */
/* Taking a packet out of the buffers of input-queued routers, see network/deadlock/deadlock.h. */
#include "network/router/input_queued_parts.h"

static struct variant variant_of(const struct input_queued *q)
{
    return q->is_plain ? PLAIN : (struct variant){.words = q->words};
}

/* The flits of a lane, from the front; with a place to write to. */
static struct flit *flit_at(const struct input_queued *q, struct router_head *head, uint32_t lane, uint32_t place)
{
    struct input_lane *input = &inputs_of(head, q->words)[lane];
    return place == 0 ? &input->front
                      : &ring_of(q, head, lane, variant_of(q))[(input->first + place - 1) & q->ring_mask];
}

/* A packet that has an output lane is said to be in front until its tail is gone, though its next flit may not be there. */
static bool has_front(const struct input_lane *input) { return input->count || input->output < LANE_WAITS; }

struct piece input_queued_find(void *routers, uint32_t router, uint32_t lane, uint32_t source, uint32_t sequence)
{
    const struct input_queued *q = routers;
    struct router_head *head = block_of(q, router);
    const struct input_lane *input = &inputs_of(head, q->words)[lane];
    struct piece piece = {.packet = NONE};
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

/* The packet in front has gone: what it held and asked for is nobody's, and the next one begins. */
static void begin_next(const struct input_queued *q, struct router_head *head, uint32_t lane, tick_t now)
{
    const struct variant is = variant_of(q);
    struct input_lane *input = &inputs_of(head, q->words)[lane];
    if (input->output < LANE_WAITS) {
        outputs_of(q, head)[input->output].owner = NOBODY;
        add(lanes_in(head, SET_FREE, q->words), input->output, is);
        if (!is.plain && locks_of(q, head)[input->out_port] == lane)
            locks_of(q, head)[input->out_port] = UNLOCKED;
    }
    for (enum lane_set set = SET_FRESH; set <= SET_BUSY; set++)
        drop(lanes_in(head, set, q->words), lane, is);
    input->output = LANE_IDLE;
    if (input->count)
        begin_packet(q, head, lanes_in(head, SET_FRESH, q->words), lanes_in(head, SET_BUSY, q->words), lane, input, now,
                     is);
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
        begin_next(q, head, lane, now);
    wake(q, head, now, variant_of(q));
}
