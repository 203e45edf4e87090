/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * What a router or a terminal of BookSim knows of the buffers behind one of its channels: which virtual
 * channels a packet has, and the flits that each holds. The VCs have buffers of their own, or a part of
 * one and a share in the rest, which may be limited.
 *
 * A VC that a packet has and that is empty keeps the place of a flit that has left it: otherwise others could take the
 * pool, and the packet would wait for them.
 */
#include "flitwarp/bits.h"
#include "flitwarp/error.h"

struct booksim_rule {
    uint32_t vcs;
    uint32_t depth;     /* of each VC, without shares */
    uint32_t total;     /* with them: of all together */
    uint32_t exclusive; /* of that, each one's own; 0: there are no shares */
    uint32_t maximum;   /* that a VC may hold */
    bool when_empty;    /* a VC is given to the next packet when all that was sent has left it, not behind the tail */
};

struct booksim_room {
    uint64_t taken;     /* set of VCs that a packet has */
    uint64_t tail_sent; /* of those, the ones whose tail has gone, and that are not empty yet */
    uint32_t pool;      /* flits beyond the VCs' own parts */
    uint16_t held[];    /* by VC: flits in it; then by VC: with places that are kept for it; then these places */
};

static inline size_t booksim_room_bytes(uint32_t vcs)
{
    return (sizeof(struct booksim_room) + 3 * vcs * sizeof(uint16_t) + 7) / 8 * 8;
}

static inline bool room_is_free(const struct booksim_room *room, uint32_t vc) { return !(room->taken & bit(vc)); }

static inline bool room_is_full(const struct booksim_rule *rule, const struct booksim_room *room, uint32_t vc)
{
    if (!rule->exclusive)
        return room->held[vc] >= rule->depth;
    uint32_t counted = room->held[rule->vcs + vc], kept = room->held[2 * rule->vcs + vc];
    bool has_none = !kept && counted >= rule->exclusive && room->pool >= rule->total - rule->vcs * rule->exclusive;
    return has_none || room->held[vc] >= rule->maximum;
}

/* A packet is given a VC. */
static inline void room_take(struct booksim_room *room, uint32_t vc)
{
    room->taken |= bit(vc);
    room->tail_sent &= ~bit(vc);
}

static inline void room_free_place(const struct booksim_rule *rule, struct booksim_room *room, uint32_t vc)
{
    uint16_t *counted = &room->held[rule->vcs + vc];
    --*counted;
    room->pool -= *counted >= rule->exclusive;
}

static inline void room_count_flit(const struct booksim_rule *rule, struct booksim_room *room, uint32_t vc,
                                   bool is_tail)
{
    uint16_t *counted = &room->held[rule->vcs + vc], *kept = &room->held[2 * rule->vcs + vc];
    if (*kept)
        --*kept;
    else
        room->pool += ++*counted > rule->exclusive;
    for (; is_tail && *kept; --*kept)
        room_free_place(rule, room, vc);
}

/* A flit sets out for a VC. */
static inline void room_send(const struct booksim_rule *rule, struct booksim_room *room, uint32_t vc, bool is_tail)
{
    room->held[vc]++;
    if (rule->exclusive)
        room_count_flit(rule, room, vc, is_tail);
    if (!is_tail)
        return;
    if (rule->when_empty)
        room->tail_sent |= bit(vc);
    else
        room->taken &= ~bit(vc);
}

/* One has left it again. */
static inline void room_receive_credit(const struct booksim_rule *rule, struct booksim_room *room, uint32_t vc)
{
    FW_CHECK(room->held[vc] > 0, "vc %u: a credit too many", vc);
    room->held[vc]--;
    if (rule->when_empty && !room->held[vc] && (room->tail_sent & bit(vc)))
        room->taken &= ~bit(vc);
    if (!rule->exclusive)
        return;
    if ((room->taken & bit(vc)) && !room->held[vc])
        room->held[2 * rule->vcs + vc]++;
    else
        room_free_place(rule, room, vc);
}
