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

static bool return_shared(const struct input_queued *q, struct router_head *head, uint32_t output)
{
    const struct lane_facts *facts = &q->facts[output];
    struct shared_room_rule rule = room_behind(q->network, network_link(q->network, head->number, facts->port));
    shared_room_give(&rule, shared_room_of(q, head, facts->port), facts->vc, 1);
    return count_room(q, head, facts->port, &rule);
}
