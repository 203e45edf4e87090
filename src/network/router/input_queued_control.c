/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done to input-queued routers from outside, between two ticks: packets are taken out of their buffers, and ports fail
 * and are repaired. See flitwarp/router.h; who does it is in network/deadlock and network/failures.
 */
#include "network/router/input_queued_lanes.h"

/* The flits of a lane, from the front; with a place to write to. */
static struct flit *flit_at(const struct input_queued *q, struct router_head *head, uint32_t lane, uint32_t place)
{
    struct input_lane *input = &inputs_of(head, q->words)[lane];
    return place == 0 ? &input->front : ring_place(q, head, lane, input->first + place - 1, GENERAL(q->words));
}

/* A packet that has an output lane is said to be in front until its tail is gone, though its next flit may not be there. */
static bool has_front(const struct input_lane *input) { return input->count || input->output < LANE_WAITS; }

struct piece input_queued_find(void *routers, uint32_t router, uint32_t lane, uint32_t source, uint32_t sequence)
{
    const struct input_queued *q = routers;
    struct router_head *head = block_of(q, router);
    const struct input_lane *input = &inputs_of(head, q->words)[lane];
    struct piece piece = {.packet = FW_NONE};
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
        input_queued_begin_next(q, head, lane, now);
    input_queued_wake(q, head, now);
}

/* ---- failures at a time ---- */

uint32_t input_queued_holder(const void *routers, uint32_t router, uint32_t lane)
{
    const struct input_queued *q = routers;
    struct router_head *head = block_of(q, router);
    uint16_t owner = outputs_of(q, head)[lane].owner;
    return owner == NOBODY ? FW_NONE : inputs_of(head, q->words)[owner].front.packet;
}

/* Nobody is given what is not free. */
void input_queued_close(void *routers, uint32_t router, uint32_t port, bool is_closed, tick_t now)
{
    const struct input_queued *q = routers;
    struct router_head *head = block_of(q, router);
    uint64_t *free = lanes_in(head, SET_FREE, q->words), *usable = lanes_in(head, SET_USABLE, q->words);
    for (uint32_t lane = port * q->num_vcs; lane < (port + 1) * q->num_vcs; lane++) {
        FW_CHECK(outputs_of(q, head)[lane].owner == NOBODY, "tick %llu router %u output lane %u: it is held as it %s",
                 (unsigned long long)now, router, lane, is_closed ? "closes" : "opens");
        if (is_closed)
            bits_remove(free, lane);
        else if (bits_test(usable, lane))
            bits_add(free, lane);
    }
    input_queued_wake(q, head, now);
}

/* The channel that a head has crossed to this router is counted as it asks: it is to be counted once. */
void input_queued_ask_again(void *routers, uint32_t router, tick_t now)
{
    const struct input_queued *q = routers;
    struct router_head *head = block_of(q, router);
    uint64_t *waiting = lanes_in(head, SET_WAITING, q->words), *fresh = lanes_in(head, SET_FRESH, q->words);
    if (!bits_any(waiting, q->words))
        return;
    BITS_EACH(lane, waiting, q->words) {
        network_packet(q->network, inputs_of(head, q->words)[lane].front.packet)->hops -= q->facts[lane].at_router;
        bits_remove(waiting, (uint32_t)lane);
        bits_add(fresh, (uint32_t)lane);
    }
    input_queued_wake(q, head, now);
}
