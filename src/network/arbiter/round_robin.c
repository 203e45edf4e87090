/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Round robin: the input after the last served one has the highest priority,
 * then the others in rising order, going round. With n inputs that ask without
 * pause each is served once in n services.
 */
#include "network/allocator/round_robin.h"

static uint32_t round_robin_pick(const void *state, const struct arbitration *arbitration)
{
    return turn_after(arbitration->requests, arbitration->words, *(const uint32_t *)state);
}

const struct arbiter_ops round_robin_arbiter = {
    .name = "round_robin",
    .summary = "the next input after the last served one",
    .remembers_last = true,
    .pick = round_robin_pick,
};
REGISTER_ARBITER(round_robin_arbiter);
