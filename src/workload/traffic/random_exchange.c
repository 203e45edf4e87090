/* SPDX-License-Identifier: Apache-2.0 */
/* Every message goes to the other half of the terminals, to any of them: all of it crosses the middle. */
#include "flitwarp/traffic.h"

static void random_exchange_prepare(struct traffic *traffic, const struct choice *self,
                                    const struct traffic_space *space, struct errors *errors)
{
    (void)traffic;
    if (space->terminals % 2)
        choice_error(errors, self, NULL, "random_exchange needs an even number of terminals: there are %u",
                     space->terminals);
}

static uint32_t random_exchange_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    uint32_t half = traffic->terminals / 2;
    return random_below(random, half) + (source < half ? half : 0);
}

static const struct traffic_ops random_exchange = {
    .name = "random_exchange",
    .summary = "to any terminal of the other half",
    .prepare = random_exchange_prepare,
    .destination = random_exchange_destination,
};
REGISTER_TRAFFIC(random_exchange);
