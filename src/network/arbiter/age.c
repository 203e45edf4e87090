/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Age: the oldest of those that ask wins (D. Abts and D. Weisser, "Age-based
 * packet arbitration in large-radix k-ary n-cubes", SC 2007). It evens out the
 * bandwidth of near and far sources, which arbiters that only see ports do not.
 * Of several that are equally old the first after the last served input wins,
 * going round. An input whose age never falls may starve: that younger packets
 * wait for older ones is what it is for.
 */
#include "flitwarp/arbiter.h"

struct age_state {
    uint32_t first; /* wins among equals */
};

static size_t age_state_size(const void *config, uint32_t inputs)
{
    (void)config, (void)inputs;
    return sizeof(struct age_state);
}

static uint32_t age_pick(const void *state, const struct arbitration *arbitration)
{
    const struct age_state *memory = state;
    const uint64_t *age = arbitration->age;
    uint32_t winner = bits_next_cyclic(arbitration->requests, arbitration->words, memory->first);
    uint32_t winner_turn = winner < memory->first;
    BITS_EACH(input, arbitration->requests, arbitration->words) {
        uint32_t turn = input < memory->first; /* 1: comes after the end was passed */
        if (age[input] < age[winner] || (age[input] == age[winner] && turn < winner_turn)) {
            winner = (uint32_t)input;
            winner_turn = turn;
        }
    }
    return winner;
}

static void age_served(void *state, uint32_t inputs, uint32_t winner)
{
    struct age_state *memory = state;
    memory->first = winner + 1 < inputs ? winner + 1 : 0;
}

static const struct arbiter_ops age = {
    .name = "age",
    .summary = "the oldest packet first",
    .needs_age = true,
    .state_size = age_state_size,
    .pick = age_pick,
    .served = age_served,
};
REGISTER_ARBITER(age);
