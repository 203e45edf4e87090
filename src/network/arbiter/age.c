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

static uint32_t age_pick(const void *state, const struct arbitration *arbitration)
{
    uint32_t last = *(const uint32_t *)state;
    const uint64_t *age = arbitration->age;
    uint32_t winner = bits_next_after(arbitration->requests, arbitration->words, last);
    uint32_t winner_turn = winner <= last;
    BITS_EACH(input, arbitration->requests, arbitration->words) {
        uint32_t turn = input <= last; /* 1: comes after the end was passed */
        if (age[input] < age[winner] || (age[input] == age[winner] && turn < winner_turn)) {
            winner = (uint32_t)input;
            winner_turn = turn;
        }
    }
    return winner;
}

static const struct arbiter_ops age = {
    .name = "age",
    .summary = "the oldest packet first",
    .needs_age = true,
    .remembers_last = true,
    .pick = age_pick,
};
REGISTER_ARBITER(age);
