/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arbiters that draw. They have no memory; the numbers come from the stream of the
 * router that asks.
 *
 * random: each of those that ask is as likely to win as any other.
 *
 * random_priority: a place among all inputs is drawn, and the first from there on
 * that asks wins, going round. It takes one draw and no count of requests, as in
 * hardware with a rotating priority from a random source. Who stands behind many
 * inputs that do not ask wins more often: of n inputs, one that has k silent ones
 * before it wins with a chance of (k + 1) / n.
 */
#include "network/arbiter/draw.h"

static uint32_t random_arbiter_pick(const void *state, const struct arbitration *arbitration)
{
    (void)state;
    return bits_draw(arbitration->requests, arbitration->words, arbitration->random);
}

const struct arbiter_ops random_arbiter = {
    .name = "random",
    .summary = "any of those that ask, each as likely as the others",
    .pick = random_arbiter_pick,
};
REGISTER_ARBITER(random_arbiter);

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
