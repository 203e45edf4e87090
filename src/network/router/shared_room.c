/* SPDX-License-Identifier: Apache-2.0 */
/* Room that VCs share; see shared_room.h. */
#include "network/router/shared_room.h"

/* No VC above its maximum, and nothing of the others' shares used: they are all that the pool is not. */
void shared_room_take(const struct shared_room_rule *rule, struct shared_room *room, uint32_t vc, uint32_t credits)
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

void shared_room_reserve(const struct shared_room_rule *rule, struct shared_room *room, uint32_t vc, uint32_t credits)
{
    shared_room_take(rule, room, vc, credits);
    *shared_room_reserved(rule, room, vc) += (uint16_t)credits;
}

void shared_room_use(const struct shared_room_rule *rule, struct shared_room *room, uint32_t vc)
{
    uint16_t *reserved = shared_room_reserved(rule, room, vc);
    if (*reserved)
        --*reserved;
    else
        shared_room_take(rule, room, vc, 1);
}

bool shared_room_is_empty(const struct shared_room_rule *rule, const struct shared_room *room)
{
    for (uint32_t i = 0; i < 2 * rule->vcs; i++)
        if (room->taken[i])
            return false;
    return room->from_pool == 0;
}
