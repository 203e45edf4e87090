/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Round robin: the input after the last served one has the highest priority,
 * then the others in rising order, going round. With n inputs that ask without
 * pause each is served once in n services.
 */
#include "flitwarp/arbiter.h"

struct round_robin_state {
    uint32_t first; /* the input with the highest priority */
};

static size_t round_robin_state_size(const void *config, uint32_t inputs)
{
    (void)config, (void)inputs;
    return sizeof(struct round_robin_state);
}

static uint32_t round_robin_pick(const void *state, const struct arbitration *arbitration)
{
    const struct round_robin_state *robin = state;
    return bits_next_cyclic(arbitration->requests, arbitration->words, robin->first);
}

static void round_robin_served(void *state, uint32_t inputs, uint32_t winner)
{
    struct round_robin_state *robin = state;
    robin->first = winner + 1 < inputs ? winner + 1 : 0;
}

static const struct arbiter_ops round_robin = {
    .name = "round_robin",
    .summary = "the next input after the last served one",
    .state_size = round_robin_state_size,
    .pick = round_robin_pick,
    .served = round_robin_served,
};
REGISTER_ARBITER(round_robin);
