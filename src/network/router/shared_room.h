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
#include "flitwarp/error.h"

#include <stddef.h>
#include <stdint.h>

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

/* FW_CHECKs that a VC stays within its maximum and leaves the others their shares. */
void shared_room_take(const struct shared_room_rule *rule, struct shared_room *room, uint32_t vc, uint32_t credits);

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
void shared_room_reserve(const struct shared_room_rule *rule, struct shared_room *room, uint32_t vc, uint32_t credits);
/* Uses a credit that is reserved, or takes one. */
void shared_room_use(const struct shared_room_rule *rule, struct shared_room *room, uint32_t vc);
/* Credits that a VC can use now. */
static inline uint32_t shared_room_usable(const struct shared_room_rule *rule, const struct shared_room *room,
                                          uint32_t vc)
{
    return shared_room_left(rule, room, vc) + room->taken[rule->vcs + vc];
}

/* Is nothing taken? */
bool shared_room_is_empty(const struct shared_room_rule *rule, const struct shared_room *room);

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
