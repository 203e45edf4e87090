/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Read by OpenCL too. A dimension-order step, see dimension_order.h. The program compiles it in dimension_order.c alone. */
#include "network/routing/dimension_order.h"

/* What to do at a place in a ring for a target in it. */
enum hop {
    HOP_PAST_PIVOT = ROUTE_PAST_PIVOT, /* the packet's bit after this hop */
    HOP_CLASS_0 = 2,
    HOP_CLASS_1 = 4,
    HOP_DOWN = 8,
    HOP_TIE = 16, /* both ways are equally long */
};

static inline uint8_t ring_hop_towards(FW_GLOBAL const struct dimension_order *order, FW_GLOBAL const struct ring *ring,
                                       uint32_t at, uint32_t to, bool is_past, bool down)
{
    uint8_t direction = down ? HOP_DOWN : 0;
    if (down) { /* count along the way taken, so that `last` leads to 0 */
        at = ring->last - at;
        to = ring->last - to;
    }
    bool will_wrap = to < at;
    if (order->dateline == DATELINE_NONE)
        return direction | HOP_CLASS_0;
    if (order->dateline == DATELINE_FIXED)
        return direction | (will_wrap ? HOP_CLASS_0 : HOP_CLASS_1);
    bool is_last_hop = to == (at == ring->last ? 0 : at + 1);
    if (order->dateline == DATELINE_BY_WRAP) {
        bool wraps = will_wrap || is_past;
        return direction | (wraps ? HOP_CLASS_0 : HOP_CLASS_1) | (wraps && !is_last_hop ? HOP_PAST_PIVOT : 0);
    }
    if (order->dateline == DATELINE_FROM_WRAP) {
        bool crossed = is_past || (will_wrap && at == ring->last);
        return direction | (crossed ? HOP_CLASS_1 : HOP_CLASS_0) | (crossed && !is_last_hop ? HOP_PAST_PIVOT : 0);
    }
    bool is_pivot = will_wrap ? at == ring->last : is_last_hop || 2 * at >= ring->width;
    bool is_behind = is_past || is_pivot;
    return direction | (is_past ? 0 : HOP_CLASS_0) | (is_behind ? HOP_CLASS_1 : 0) |
           (is_behind && !is_last_hop ? HOP_PAST_PIVOT : 0); /* the next dimension starts afresh */
}

static inline uint8_t ring_hop(FW_GLOBAL const struct dimension_order *order, FW_GLOBAL const struct ring *ring,
                               uint32_t at, uint32_t to, bool is_past)
{
    if (order->one_way)
        return ring_hop_towards(order, ring, at, to, is_past, false);
    uint32_t up = to > at ? to - at : to + ring->width - at;
    uint8_t tie = 2 * up == ring->width ? HOP_TIE : 0;
    return tie | ring_hop_towards(order, ring, at, to, is_past, 2 * up > ring->width);
}

/* Offers VCs on all parallel channels of one direction, so that VC allocation balances them. */
FW_SELDOM void offer_each(struct route *route, FW_GLOBAL const struct ring *ring, bool down, uint64_t vcs)
{
    uint32_t first = ring->first_bit[down];
    if (ring->each_channel) {
        bits_add_word(route->vcs, first, vcs * ring->each_channel);
        return;
    }
    for (uint32_t channel = 0; channel < ring->channels; channel++, first += route->routing->num_vcs)
        bits_add_word(route->vcs, first, vcs);
}

static inline void offer(struct route *route, FW_GLOBAL const struct ring *ring, bool down, uint64_t vcs)
{
    if (__builtin_expect(ring->is_simple, 1))
        route->vcs[0] |= vcs << ring->first_bit[down];
    else
        offer_each(route, ring, down, vcs);
}

static inline void take_hop(struct route *route, FW_GLOBAL const struct ring *ring, uint32_t hop, uint32_t class)
{
    FW_GLOBAL struct packet *packet = route->packet;
    FW_GLOBAL const uint64_t *class_vcs = route->routing->class_vcs + class;
    packet->route = (packet->route & ~ROUTE_PAST_PIVOT) | (hop & HOP_PAST_PIVOT);
    /* Empty masks rather than branches: hops are hard to predict. */
    uint64_t vcs = class_vcs[0] & -(uint64_t)(hop / HOP_CLASS_0 & 1);
    vcs |= class_vcs[1] & -(uint64_t)(hop / HOP_CLASS_1 & 1);
    offer(route, ring, hop / HOP_DOWN & 1, vcs);
}

/* A hop that no table answers: a choice between equal ways, or a very wide ring. */
FW_SELDOM void work_out_hop(struct route *route, FW_GLOBAL const struct dimension_order *order,
                            FW_GLOBAL const struct ring *ring, uint32_t at, uint32_t to, uint32_t class)
{
    bool is_past = route->packet->route & ROUTE_PAST_PIVOT;
    uint32_t hop = ring_hop(order, ring, at, to, is_past);
    if (hop & HOP_TIE && order->tie == TIE_RANDOM && route_pick(route, 2))
        hop = ring_hop_towards(order, ring, at, to, is_past, true);
    take_hop(route, ring, hop, class);
}

/* The rare cases are calls at the end, so that the usual one saves no registers; with the table, 25 -> 15 ns a hop. */
FW_SELDOM void ring_step(struct route *route, FW_GLOBAL const struct dimension_order *order,
                         FW_GLOBAL const struct ring *ring, uint32_t at, uint32_t to, uint32_t class)
{
    uint32_t is_past = route->packet->route & ROUTE_PAST_PIVOT;
    uint32_t hop =
        ring->hops ? FW_AT(const uint8_t, route->routing, ring->hops)[(is_past * ring->width + at) * ring->width + to]
                   : HOP_TIE;
    if (hop & HOP_TIE)
        work_out_hop(route, order, ring, at, to, class);
    else
        take_hop(route, ring, hop, class);
}

/* Dimensions are corrected from the first to the last, or the other way when `reversed`. */
FW_INLINE void dimension_step(struct route *route, FW_GLOBAL const struct dimension_order *order, uint32_t target,
                              uint32_t class, bool reversed)
{
    FW_GLOBAL const uint16_t *coordinates = FW_AT(const uint16_t, route->routing, order->coordinates);
    FW_GLOBAL const uint16_t *here = coordinates + (size_t)route->router * order->dimensions;
    FW_GLOBAL const uint16_t *there = coordinates + (size_t)target * order->dimensions;
    uint32_t d = 0;
    if (reversed)
        for (d = order->dimensions - 1; here[d] == there[d]; d--)
            ;
    else
        while (here[d] == there[d])
            d++;
    if (order->wraps)
        ring_step(route, order, &order->rings[d], here[d], there[d], class);
    else
        offer(route, &order->rings[d], there[d] < here[d], route->routing->class_vcs[class]);
}

#if !FW_HOST
static inline
#endif
    void
    dimension_order_step(struct route *route, FW_GLOBAL const struct dimension_order *order, uint32_t target,
                         uint32_t class, bool reversed)
{
    dimension_step(route, order, target, class, reversed);
}
