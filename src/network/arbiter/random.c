/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random: each of those that ask is as likely to win as any other, whatever
 * happened before. It has no memory; the numbers come from the stream of the
 * router that asks.
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
