/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * A buffer that the virtual channels of a port share. Some of it belongs to each VC
 * alone; the rest is a pool from which a VC takes when its own share is full, up to a
 * maximum (Tamir and Frazier, "Dynamically-allocated multi-queue buffers for VLSI
 * communication switches", IEEE Trans. Computers 41(6), 1992).
 *
 *   | VC 0's share | VC 1's share | ... | pool                  |
 *
 * Since nobody else can take it, a VC's share is always free or full of its own: VCs
 * that must not wait for each other do not, as long as the share holds what they need
 * to move on. Room is counted in credits of one or several flits. It is whoever
 * fills the buffer that counts; only the numbers are here, not what is stored.
 *
 * The rule is the same for many buffers and never changes. A buffer's state is
 * shared_room_bytes() of zeroed memory, without padding: nothing is taken then.
 */
#include "flitwarp/network.h"

struct shared_room_rule {
    uint32_t vcs;
    uint32_t total;     /* credits in all, at most 65535 */
    uint32_t exclusive; /* of those, each VC's own: all of them are no more than the total */
    uint32_t maximum;   /* that a VC may have of all, at least its own */
};

/* Credits taken. */
struct shared_room {
    uint16_t from_pool; /* by all together */
    uint16_t taken[];   /* by VC, its own share included; then by VC what of that is reserved and not used yet */
};

static inline size_t shared_room_bytes(uint32_t vcs) { return (1 + 2 * (size_t)vcs) * sizeof(uint16_t); }

/* What was taken beyond a VC's own share. */
static inline uint32_t shared_room_borrowed(const struct shared_room_rule *rule, uint32_t taken)
{
    return taken > rule->exclusive ? taken - rule->exclusive : 0;
}

static inline uint32_t shared_room_pool(const struct shared_room_rule *rule)
{
    return rule->total - rule->vcs * rule->exclusive;
}

/* Credits that a VC can take now. */
static inline uint32_t shared_room_left(const struct shared_room_rule *rule, const struct shared_room *room,
                                        uint32_t vc)
{
    uint32_t taken = room->taken[vc], own = taken < rule->exclusive ? rule->exclusive - taken : 0;
    uint32_t left = own + shared_room_pool(rule) - room->from_pool, most = rule->maximum - taken;
    return left < most ? left : most;
}

static inline bool shared_room_can_take(const struct shared_room_rule *rule, const struct shared_room *room,
                                        uint32_t vc, uint32_t credits)
{
    return credits <= shared_room_left(rule, room, vc);
}

/* No VC goes above its maximum, and nothing of the others' shares is used: they are all that the pool is not. */
static inline void shared_room_take(const struct shared_room_rule *rule, struct shared_room *room, uint32_t vc,
                                    uint32_t credits)
{
    uint32_t taken = room->taken[vc] + credits;
    uint32_t from_pool =
        room->from_pool + shared_room_borrowed(rule, taken) - shared_room_borrowed(rule, room->taken[vc]);
    FW_CHECK(taken <= rule->maximum, "vc %u takes %u credits of a shared buffer, its maximum is %u", vc, taken,
             rule->maximum);
    FW_CHECK(from_pool <= shared_room_pool(rule), "vc %u takes the %u. credit of a pool of %u: others' room", vc,
             from_pool, shared_room_pool(rule));
    room->taken[vc] = (uint16_t)taken;
    room->from_pool = (uint16_t)from_pool;
}

static inline void shared_room_give(const struct shared_room_rule *rule, struct shared_room *room, uint32_t vc,
                                    uint32_t credits)
{
    uint32_t taken = room->taken[vc];
    FW_CHECK(credits <= taken, "vc %u gives %u credits of a shared buffer back and has %u", vc, credits, taken);
    room->from_pool -= (uint16_t)(shared_room_borrowed(rule, taken) - shared_room_borrowed(rule, taken - credits));
    room->taken[vc] = (uint16_t)(taken - credits);
}

/* Taken for a packet that enters only as a whole: its flits use it one by one. */
static inline uint16_t *shared_room_reserved(const struct shared_room_rule *rule, struct shared_room *room, uint32_t vc)
{
    return &room->taken[rule->vcs + vc];
}
static inline void shared_room_reserve(const struct shared_room_rule *rule, struct shared_room *room, uint32_t vc,
                                       uint32_t credits)
{
    shared_room_take(rule, room, vc, credits);
    *shared_room_reserved(rule, room, vc) += (uint16_t)credits;
}
/* Uses a credit that is reserved, or takes one. */
static inline void shared_room_use(const struct shared_room_rule *rule, struct shared_room *room, uint32_t vc)
{
    uint16_t *reserved = shared_room_reserved(rule, room, vc);
    if (*reserved)
        --*reserved;
    else
        shared_room_take(rule, room, vc, 1);
}
/* Credits that a VC can use now. */
static inline uint32_t shared_room_usable(const struct shared_room_rule *rule, const struct shared_room *room,
                                          uint32_t vc)
{
    return shared_room_left(rule, room, vc) + room->taken[rule->vcs + vc];
}

static inline bool shared_room_is_empty(const struct shared_room_rule *rule, const struct shared_room *room)
{
    for (uint32_t i = 0; i < 2 * rule->vcs; i++)
        if (room->taken[i])
            return false;
    return room->from_pool == 0;
}

/*
 * Where a credit is worth several flits, a packet uses whole ones: its last may be part empty. The credit is taken with
 * its first flit and given back when its last one has left.
 */
static inline uint32_t credits_for(uint32_t flits, uint32_t flits_per_credit)
{
    return (flits + flits_per_credit - 1) / flits_per_credit;
}
static inline bool credit_ends_at(uint32_t position, bool is_tail, uint32_t flits_per_credit)
{
    return is_tail || position % flits_per_credit == flits_per_credit - 1;
}

/* ---- behind a channel ---- */

/*
 * The buffer behind a channel where the VCs share it: as large as their buffers would be together. Who sends counts what
 * it may send on each VC, and all of them anew whenever one has taken something or a credit is back, since the pool is
 * everybody's.
 */
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
