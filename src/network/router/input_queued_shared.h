/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Buffers downstream that the VCs of an output share, in the input-queued router.
 * The credits of an output lane are then what is left for it, and change for all
 * lanes of a port at once.
 */
#include "network/router/input_queued_parts.h"

/* Counts the credits of a port's lanes anew, and who can send by them. Returns whether a lane has some that had none. */
static bool count_room(const struct input_queued *q, struct router_head *head, uint32_t port,
                       const struct shared_room_rule *rule)
{
    const struct input_lane *inputs = inputs_of(head, q->words);
    uint64_t *sendable = lanes_in(head, SET_SENDABLE, q->words);
    bool has_more = false;
    for (uint32_t vc = 0; vc < q->num_vcs; vc++) {
        uint32_t lane = port * q->num_vcs + vc;
        struct output_lane *out = &outputs_of(q, head)[lane];
        bool had = out->credits;
        out->credits = (uint16_t)shared_room_usable(rule, shared_room_of(q, head, port), vc);
        if (had == (out->credits > 0))
            continue;
        if (q->config.vc_needs_credit)
            (had ? bits_remove : bits_add)(credited_of(q, head), lane);
        if (out->owner != NOBODY && inputs[out->owner].count)
            (had ? bits_remove : bits_add)(sendable, out->owner);
        has_more |= !had;
    }
    return has_more;
}

static void spend_shared(struct view *v, uint32_t output, struct flit flit)
{
    const struct input_queued *q = v->q;
    const struct lane_facts *facts = &q->facts[output];
    struct shared_room_rule rule = room_behind(q->network, network_link(q->network, v->head->number, facts->port));
    room_send(q->network, &rule, shared_room_of(q, v->head, facts->port), facts->vc, flit);
    count_room(q, v->head, facts->port, &rule);
}

/* Room for all of a packet, or nothing of its VC downstream: then its own share lets it pass, whoever has the pool. */
static bool has_shared_room(const struct view *v, uint32_t output, uint32_t flits)
{
    const struct lane_facts *facts = &v->q->facts[output];
    return v->outputs[output].credits >= flits || !shared_room_of(v->q, v->head, facts->port)->taken[facts->vc];
}

/*
 * A packet that must not wait for an adaptive VC alone is about to be given one: takes the room before others do. False
 * when another packet of this step has taken too much of the pool.
 */
static bool reserve_shared(struct view *v, size_t lane, uint32_t output)
{
    const struct input_queued *q = v->q;
    const struct lane_facts *facts = &q->facts[output];
    uint32_t flits = network_packet(q->network, v->inputs[lane].front.packet)->size;
    struct shared_room_rule rule = room_behind(q->network, network_link(q->network, v->head->number, facts->port));
    struct shared_room *room = shared_room_of(q, v->head, facts->port);
    if (!shared_room_can_take(&rule, room, facts->vc, flits))
        return !room->taken[facts->vc];
    shared_room_reserve(&rule, room, facts->vc, flits);
    count_room(q, v->head, facts->port, &rule);
    return true;
}

static bool return_shared(const struct input_queued *q, struct router_head *head, uint32_t output)
{
    const struct lane_facts *facts = &q->facts[output];
    struct shared_room_rule rule = room_behind(q->network, network_link(q->network, head->number, facts->port));
    shared_room_give(&rule, shared_room_of(q, head, facts->port), facts->vc, 1);
    return count_room(q, head, facts->port, &rule);
}
