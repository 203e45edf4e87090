/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The buffer behind a channel where the VCs share it: as large as their buffers would be
 * together. Who sends counts what it may send on each VC, and all of them anew whenever
 * one has taken something or a credit is back, since the pool is everybody's.
 */
#include "flitwarp/network.h"
#include "network/router/shared_room.h"

static inline struct shared_room_rule room_behind(const struct network *network, const struct link *link)
{
    uint32_t total = network->num_vcs * link->depth;
    uint32_t most = total - (network->num_vcs - 1) * network->plan.room_exclusive;
    return (struct shared_room_rule){
        .vcs = network->num_vcs,
        .total = total,
        .exclusive = network->plan.room_exclusive,
        .maximum = network->plan.room_maximum < most ? network->plan.room_maximum : most,
    };
}

/* Flits that a VC has room for when nothing is taken, whether buffers are shared or not; 0 behind an unused port. */
static inline uint32_t room_at_most(const struct network *network, const struct link *link)
{
    return network->plan.room_exclusive && link->depth ? room_behind(network, link).maximum : link->depth;
}

/* A flit goes: with a head all of the packet's room is taken, where it enters only as a whole and has none yet. */
static inline void room_send(const struct network *network, const struct shared_room_rule *rule,
                             struct shared_room *room, uint32_t vc, struct flit flit)
{
    if (network->plan.reserves_packet && (flit.place & FLIT_HEAD) && !*shared_room_reserved(rule, room, vc))
        shared_room_reserve(rule, room, vc, network_room_for(network, network_packet(network, flit.packet)->size));
    shared_room_use(rule, room, vc);
    if (network->plan.credit_flits && (flit.place & FLIT_TAIL))
        *shared_room_reserved(rule, room, vc) = 0; /* its last credit may be part empty */
}
