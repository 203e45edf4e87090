/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bernoulli injection: in every cycle a terminal makes a message with the same
 * probability, whatever happened before. The gap from one message to the next
 * is geometric, so a single draw replaces the walk over the cycles between.
 */
#include "flitwarp/injection.h"

static void bernoulli_prepare(struct injection *injection, const struct choice *self, struct errors *errors)
{
    (void)self, (void)errors;
    injection->a = exact_log(1 - injection->rate);
}

static uint64_t bernoulli_gap(const struct injection *injection, void *state, bool first, struct random *random)
{
    (void)state;
    return random_geometric(random, injection->a) - first; /* the first message may come in cycle 0 */
}

static const struct injection_ops bernoulli = {
    .name = "bernoulli",
    .summary = "a message in every cycle with the same probability",
    .max_rate = 1,
    .prepare = bernoulli_prepare,
    .gap = bernoulli_gap,
};
REGISTER_INJECTION(bernoulli);
