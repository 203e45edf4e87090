/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uniform random traffic with the opposite quadrant, the one in the other half of
 * every dimension: each message crosses the middle of all of them. Widths are even.
 */
#include "workload/traffic/coordinates.h"

struct random_exchange_quadrant_config {
    struct u32_list widths;
};

static const struct option random_exchange_quadrant_options[] = {
    COORDINATES_OPTION(struct random_exchange_quadrant_config),
    OPTION_END,
};

static void random_exchange_quadrant_prepare(struct traffic *traffic, const struct choice *self,
                                             const struct traffic_space *space, struct errors *errors)
{
    const struct random_exchange_quadrant_config *config = traffic->config;
    struct coordinates *coordinates = arena_array(space->arena, struct coordinates, 1);
    traffic->state = coordinates;
    if (coordinates_init(coordinates, &config->widths, self, space, errors))
        coordinates_check_even(coordinates, UINT64_MAX, self, errors);
}

static uint32_t random_exchange_quadrant_destination(const struct traffic *traffic, uint32_t source,
                                                     struct random *random)
{
    struct spot spot = coordinates_spot(traffic->state, source);
    return coordinates_draw_quadrant(traffic->state, &spot, true, random);
}

static const struct traffic_ops random_exchange_quadrant = {
    .name = "random_exchange_quadrant",
    .summary = "to any terminal of the opposite quadrant",
    .options = random_exchange_quadrant_options,
    .config_size = sizeof(struct random_exchange_quadrant_config),
    .prepare = random_exchange_quadrant_prepare,
    .destination = random_exchange_quadrant_destination,
};
REGISTER_TRAFFIC(random_exchange_quadrant);
