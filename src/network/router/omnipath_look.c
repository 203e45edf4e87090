/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Omni-Path router from outside: is it idle, what does a lane wait for, and what the
 * viewer sees. It has more buffers than inputs and outputs: what is in a central one is
 * shown behind the output that it goes to, and so is what crosses.
 */
#include "network/router/omnipath.h"

#include "flitwarp/shown.h"

void omnipath_check_idle(const void *routers, uint32_t router)
{
    const struct omnipath *q = routers;
    for (uint32_t buffer = 0; buffer < q->buffers; buffer++) {
        for (uint32_t vl = 0; vl < q->num_vcs; vl++) {
            const struct omnipath_lane *lane = &q->lane_states[lane_number(q, router, buffer, vl)];
            FW_CHECK(!lane->count && !lane->sent && !lane->routed,
                     "router %u buffer %u vl %u: %u packets are left at the end", router, buffer, vl, lane->count);
        }
        FW_CHECK(shared_room_is_empty(&q->rule[is_central(q, buffer)], room_at(q, router, buffer)),
                 "router %u buffer %u: room is taken at the end", router, buffer);
    }
    for (uint32_t port = 0; port < q->all_ports; port++)
        FW_CHECK(shared_room_is_empty(&q->rule[0], room_downstream(q, router, port)),
                 "router %u port %u: not all credits are back at the end", router, port);
    FW_CHECK(!bits_any(q->busy + (size_t)router * q->source_words, q->source_words),
             "router %u: something crosses at the end", router);
}

static uint32_t packet_at(const struct omnipath *q, size_t number, uint32_t place)
{
    uint32_t slot = (q->lane_states[number].first + place) & q->ring_mask;
    return q->rings[number * (q->ring_mask + 1) + slot];
}

/* Some flits of the packet at a place of a lane: of those that came, all that have not gone on. */
static void show_packet(const struct omnipath *q, size_t number, uint32_t place, uint32_t came,
                        struct shown_router *shown, struct shown_queue *queue)
{
    uint32_t gone = place ? 0 : q->lane_states[number].sent;
    if (came > gone)
        shown_add(shown, queue, packet_at(q, number, place), gone, came - gone);
}

static void show_input(const struct omnipath *q, size_t number, struct shown_router *shown, struct shown_queue *queue)
{
    const struct omnipath_lane *lane = &q->lane_states[number];
    for (uint32_t place = 0; place < lane->count; place++) {
        bool is_coming = place + 1u == lane->count && lane->due;
        uint32_t size = network_packet(q->network, packet_at(q, number, place))->size;
        show_packet(q, number, place, is_coming ? lane->due : size, shown, queue);
    }
}

/* Flits of a packet in a sink that have left their source: all, unless it is the one that is being sent there. */
static uint32_t sent_to(const struct omnipath *q, uint32_t router, uint32_t sink, uint32_t packet)
{
    for (uint32_t source = 0; source < q->sources; source++) {
        const struct omnipath_source *from = source_at(q, router, source);
        size_t number = lane_number(q, router, source, from->vl);
        if (from->sink == sink && q->lane_states[number].count && first_packet(q, number) == packet)
            return q->lane_states[number].sent;
    }
    return network_packet(q->network, packet)->size;
}

static void show_output(const struct omnipath *q, uint32_t router, uint32_t output, struct shown_router *shown)
{
    struct shown_queue *queue = &shown->outputs[output].queue;
    uint32_t sink = output_buffer(q, output / q->num_vcs), vl = output % q->num_vcs;
    size_t number = lane_number(q, router, sink, vl);
    for (uint32_t place = 0; place < q->lane_states[number].count; place++)
        show_packet(q, number, place, sent_to(q, router, sink, packet_at(q, number, place)), shown, queue);
    for (uint32_t central = q->all_ports; central < q->sources; central++) {
        number = lane_number(q, router, central, vl);
        const struct omnipath_lane *lane = &q->lane_states[number];
        for (uint32_t place = 0; place < lane->count; place++)
            if (q->targets[central_slot(q, router, central, vl, (uint16_t)(lane->first + place))] == output)
                show_packet(q, number, place, sent_to(q, router, central, packet_at(q, number, place)), shown, queue);
    }
}

/* Does the first packet of an input lane cross? */
static bool crosses(const struct omnipath *q, uint32_t router, uint32_t lane)
{
    const struct omnipath_source *source = source_at(q, router, lane / q->num_vcs);
    return q->lane_states[lane_number(q, router, 0, lane)].count && source->sink != NOBODY &&
           source->vl == lane % q->num_vcs;
}

/* The input lane whose packet crosses to an output lane, or towards it; NOBODY: none does. */
static uint16_t owner_of(const struct omnipath *q, uint32_t router, uint32_t output)
{
    uint16_t owner = NOBODY;
    for (uint32_t lane = 0; lane < q->lanes; lane++)
        if (crosses(q, router, lane) && q->lane_states[lane_number(q, router, 0, lane)].target == output)
            owner = (uint16_t)lane;
    return owner;
}

/* What has begun to cross goes on by itself: packets wait for room alone, at the front of their input lanes. */
void omnipath_look(const void *routers, uint32_t router, uint32_t lane, struct lane_look *seen,
                   struct shown_router *shown)
{
    const struct omnipath *q = routers;
    uint32_t port = lane / q->num_vcs, vl = lane % q->num_vcs;
    size_t number = lane_number(q, router, port, vl);
    const struct omnipath_lane *at = &q->lane_states[number];
    seen->is_full = true;
    seen->left = q->lane_flits[(size_t)router * q->lanes + lane];
    if (at->count) {
        seen->packet = first_packet(q, number);
        seen->output = at->target == LANE_IDLE ? LANE_ROUTED : crosses(q, router, lane) ? at->target : LANE_WAITS;
        seen->wants = wants_of(q, router, port, vl);
    }
    if (!shown)
        return;
    bool at_terminal = network_link(q->network, router, port)->to_terminal;
    seen->owner = owner_of(q, router, lane);
    seen->credits =
        shared_room_left(at_terminal ? &q->terminal_rule : &q->rule[0], room_downstream(q, router, port), vl);
    show_input(q, number, shown, &shown->inputs[lane].queue);
    show_output(q, router, lane, shown);
}
