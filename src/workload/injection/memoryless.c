/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Injection without memory.
 *
 *   bernoulli  in every cycle a terminal makes a message with the same probability, whatever happened before. The gap
 *              from one message to the next is geometric, so a single draw replaces the walk over the cycles between
 *   poisson    exponential times between messages, in continuous time; a message is made in the cycle that its moment
 *              falls into. Several may fall into one cycle, so the rate has no limit. The moment within the cycle is
 *              kept, so that nothing is lost by rounding
 */
#include "flitwarp/injection.h"

#define SHORT_GAPS 16 /* found by comparison, which is cheaper than a logarithm where gaps are short */

/* limits[k] is the chance that the gap is longer than k + 1, as a share of 2^64. */
static void bernoulli_prepare(struct injection *injection, const struct choice *self, struct errors *errors)
{
    (void)self, (void)errors;
    injection->a = exact_log(1 - injection->rate);
    double longer = 1;
    for (uint32_t k = 0; k < SHORT_GAPS && injection->rate * SHORT_GAPS >= 1; k++) {
        longer *= 1 - injection->rate;
        injection->limits[k] = (uint64_t)(longer * 0x1p64);
    }
}

/* A gap longer than the table starts afresh behind it: the process has no memory. */
static uint64_t bernoulli_gap(const struct injection *injection, void *state, bool first, struct random *random)
{
    (void)state;
    uint64_t passed = 0;
    if (injection->limits[0]) {
        uint64_t draw = random_u64(random);
        for (uint32_t k = 0; k < SHORT_GAPS; k++)
            if (draw >= injection->limits[k])
                return k + 1 - first; /* the first message may come in cycle 0 */
        passed = SHORT_GAPS;
    }
    return passed + random_geometric(random, injection->a) - first;
}

struct poisson_state {
    double moment; /* of the last message, within its cycle */
};

static uint64_t poisson_gap(const struct injection *injection, void *state, bool first, struct random *random)
{
    (void)first; /* the process has no memory: its start is like any other moment */
    struct poisson_state *last = state;
    double next = last->moment + random_exponential(random) / injection->rate;
    return injection_cycles(&last->moment, next);
}

static const struct injection_ops memoryless[] = {
    {COMPONENT("bernoulli", "a message in every cycle with the same probability", NULL, NULL), .max_rate = 1,
     .prepare = bernoulli_prepare, .gap = bernoulli_gap},
    {COMPONENT("poisson", "exponential times between messages; several in a cycle are possible", NULL, NULL),
     .is_by_rate = true, .state_size = sizeof(struct poisson_state), .gap = poisson_gap},
};
REGISTER_COMPONENTS("injection", memoryless);
