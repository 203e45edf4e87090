/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Poisson injection: exponential times between messages, in continuous time; a
 * message is made in the cycle that its moment falls into. Several may fall into
 * one cycle, so the rate has no limit. The moment within the cycle is kept, so
 * that nothing is lost by rounding.
 */
#include "flitwarp/injection.h"

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

static const struct injection_ops poisson = {
    .name = "poisson",
    .summary = "exponential times between messages; several in a cycle are possible",
    .state_size = sizeof(struct poisson_state),
    .gap = poisson_gap,
};
REGISTER_INJECTION(poisson);
