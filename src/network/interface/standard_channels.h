/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Read by OpenCL too. Outlets of the standard interface and their channels: how a packet begins, how flits leave and credits
 * come back. What includes this knows before struct network and struct interfaces (standard.h; a device has its own), and says
 *
 *   injector_credits()    where a channel's credits are
 *   source_queue_put()    and _take(): packets that wait at an outlet
 *   outlet_wake()         an outlet steps at a tick
 *   piece_flits()         flits of a packet that move at once from a position on
 *   begin_route()         a head is about to enter the network
 *   send_piece()          flits go to the router
 *
 * It is written once for any number of flits that move at once, and compiled for exactly one too.
 */
#include "flitwarp/link.h"

/* Functions that are compiled for flits and for chunks. */
#define FOR_EITHER FW_INLINE

/* Of the VCs that routing allows, those that are in use. */
static inline uint64_t limit_vcs(const struct interfaces *n, uint64_t vcs)
{
    uint64_t kept = 0;
    if (!n->config.injection_vcs)
        return vcs;
    for (uint32_t count = n->config.injection_vcs; count && vcs; count--, vcs &= vcs - 1)
        kept |= vcs & -vcs;
    return kept;
}

/* The next VC in turn that the packet may take and that has room; FW_NONE: none. */
FOR_EITHER uint32_t pick_vc(const struct interfaces *n, FW_GLOBAL const struct packet *packet,
                            FW_GLOBAL const uint32_t *credits, uint32_t last, bool chunks)
{
    const struct routing *routing = &n->network->routing;
    uint64_t allowed = n->all_vcs << routing_first_vc(routing, packet);
    if (__builtin_expect(has_injection_vcs(n), 0))
        allowed = limit_vcs(n, injection_vcs_of(n, packet)) << routing_first_vc(routing, packet);
    uint32_t room = chunks                             ? piece_flits(n, packet, 0, true)
                    : n->network->plan.reserves_packet ? network_room_for(n->network, packet->size)
                                                       : 1;
    uint64_t behind = allowed & (~(uint64_t)1 << last);
    for (uint64_t left = behind; left; left &= left - 1)
        if (credits[lowest_bit(left)] >= room)
            return (uint32_t)lowest_bit(left);
    for (uint64_t left = allowed ^ behind; left; left &= left - 1)
        if (credits[lowest_bit(left)] >= room)
            return (uint32_t)lowest_bit(left);
    return FW_NONE;
}

FOR_EITHER void inject_flits(struct interfaces *n, FW_GLOBAL struct injector *injector,
                             FW_GLOBAL const struct packet *packet, uint32_t flits, tick_t now)
{
    uint32_t position = injector->position;
    uint32_t ends = (position == 0 ? FLIT_HEAD : 0) | (position + flits == packet->size ? FLIT_TAIL : 0);
    const struct flit unit = {.packet = injector->packet, .place = position | ends};
    injector->position = position + flits;
    send_piece(n, injector, unit, flits, now);
    injector->free_at = now + flits * n->channel_cycle;
    if (unit.place & FLIT_TAIL)
        injector->packet = FW_NONE;
}

/* Takes a packet that is next in turn, if a VC has room for it. */
FOR_EITHER bool take_packet(struct interfaces *n, FW_GLOBAL struct injector *injector, uint32_t handle, tick_t now,
                            bool chunks)
{
    FW_GLOBAL struct packet *packet = network_packet(n->network, handle);
    uint32_t vc = pick_vc(n, packet, injector_credits(n, injector), injector->vc, chunks);
    if (vc == FW_NONE)
        return false;
    injector->packet = handle;
    injector->position = 0;
    injector->vc = (uint16_t)vc;
    begin_route(n, packet, injector->to.target, now);
    return true;
}

/* Sends a flit or chunk of the packet in hand, if there are credits, and comes again while there is more to send. */
FOR_EITHER void send_next(struct interfaces *n, uint32_t number, FW_GLOBAL struct injector *injector, tick_t now,
                          bool chunks)
{
    FW_GLOBAL const struct packet *packet = network_packet(n->network, injector->packet);
    FW_GLOBAL uint32_t *credits = &injector_credits(n, injector)[injector->vc];
    uint32_t flits = piece_flits(n, packet, injector->position, chunks);
    if (*credits < flits)
        return;
    *credits -= flits;
    inject_flits(n, injector, packet, flits, now);
    if (injector->packet != FW_NONE || n->outlets[number].source.first != FW_NONE)
        outlet_wake(n, number, injector->free_at);
}

FOR_EITHER void step_channel(struct interfaces *n, uint32_t number, FW_GLOBAL struct injector *injector, tick_t now,
                             bool chunks)
{
    FW_GLOBAL struct outlet *outlet = &n->outlets[number];
    if (injector->packet == FW_NONE && outlet->source.first == FW_NONE)
        return;
    if (injector->free_at > now) {
        outlet_wake(n, number, injector->free_at);
        return;
    }
    if (injector->packet == FW_NONE) {
        if (!take_packet(n, injector, outlet->source.first, now, chunks))
            return;
        source_queue_take(n, number, &outlet->source);
    }
    send_next(n, number, injector, now, chunks);
}

FOR_EITHER void step_channels(struct interfaces *n, uint32_t number, tick_t now, bool chunks)
{
    FW_GLOBAL struct injector *injector = &n->injectors[(size_t)number * n->channels];
    for (uint32_t left = n->channels; left; left--)
        step_channel(n, number, injector++, now, chunks);
}

/* The packet goes out at once; false: it must wait. Credits of this tick are in already, so what can be sent now need not wait for its end. */
FOR_EITHER bool send_at_once(struct interfaces *n, uint32_t number, uint32_t handle, tick_t now, bool chunks)
{
    FW_GLOBAL struct injector *injector = &n->injectors[(size_t)number * n->channels];
    if (n->outlets[number].source.first != FW_NONE || injector->packet != FW_NONE || injector->free_at > now ||
        !take_packet(n, injector, handle, now, chunks))
        return false;
    send_next(n, number, injector, now, chunks);
    return true;
}

/* A credit of a lane is back at an outlet. */
FOR_EITHER void outlet_receive_credit(struct interfaces *n, struct lane_place to, uint32_t flits, tick_t now)
{
    FW_GLOBAL uint32_t *credits = &n->credits[(size_t)to.target * n->lanes + to.lane];
    FW_CHECK(flits <= n->network->plan.buffer_depth - *credits, "tick %llu outlet %u lane %u: a credit too many",
             (unsigned long long)now, to.target, to.lane);
    *credits += flits;
    uint32_t channel = n->channels == 1 ? 0 : to.lane / n->num_vcs;
    FW_GLOBAL const struct injector *injector = &n->injectors[(size_t)to.target * n->channels + channel];
    if (injector->packet != FW_NONE || n->outlets[to.target].source.first != FW_NONE)
        outlet_wake(n, to.target, now);
}
