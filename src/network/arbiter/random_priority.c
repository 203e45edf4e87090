/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random priority: a place among all inputs is drawn, and the first from there on
 * that asks wins, going round. It takes one draw and no count of requests, as in
 * hardware with a rotating priority from a random source. Who stands behind many
 * inputs that do not ask wins more often: of n inputs, one that has k silent ones
 * before it wins with a chance of (k + 1) / n.
 */
#include "flitwarp/arbiter.h"

static uint32_t random_priority_pick(const void *state, const struct arbitration *arbitration)
{
    (void)state;
    uint32_t first = random_below(arbitration->random, arbitration->inputs);
    return bits_next_cyclic(arbitration->requests, arbitration->words, first);
}

static const struct arbiter_ops random_priority = {
    .name = "random_priority",
    .summary = "the first that asks from a random place on",
    .pick = random_priority_pick,
};
REGISTER_ARBITER(random_priority);
