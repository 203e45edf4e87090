/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uniform random traffic that always crosses the middle of some dimensions: there
 * the message goes to the mirrored coordinate, in all others to any. The slot at
 * the router is mirrored too.
 */
#include "flitwarp/bits.h"
#include "workload/traffic/coordinates.h"

struct uniform_random_bisection_config {
    struct u32_list widths, dimensions;
};

static const struct option uniform_random_bisection_options[] = {
    COORDINATES_OPTION(struct uniform_random_bisection_config),
    OPTION_U32_LIST(struct uniform_random_bisection_config, dimensions, "[0]", 0, MAX_DIMENSIONS - 1, NULL,
                    "whose middle every message crosses"),
    OPTION_END,
};

struct bisection_state {
    struct coordinates coordinates;
    uint64_t mirrored; /* set of dimensions */
};

static void uniform_random_bisection_prepare(struct traffic *traffic, const struct choice *self,
                                             const struct traffic_space *space, struct errors *errors)
{
    const struct uniform_random_bisection_config *config = traffic->config;
    struct bisection_state *state = arena_array(space->arena, struct bisection_state, 1);
    traffic->state = state;
    if (coordinates_init(&state->coordinates, &config->widths, self, space, errors) &&
        coordinates_pick(&state->coordinates, &config->dimensions, 0, &state->mirrored, self, errors))
        coordinates_check_even(&state->coordinates, state->mirrored, self, errors);
}

static uint32_t uniform_random_bisection_destination(const struct traffic *traffic, uint32_t source,
                                                     struct random *random)
{
    const struct bisection_state *state = traffic->state;
    const struct coordinates *coordinates = &state->coordinates;
    struct spot spot = coordinates_spot(coordinates, source);
    spot.slot = coordinates->slots - 1 - spot.slot;
    for (uint32_t d = 0; d < coordinates->dimensions; d++) {
        uint32_t width = coordinates->width[d];
        spot.at[d] = bits_test(&state->mirrored, d) ? width - 1 - spot.at[d] : random_below(random, width);
    }
    return coordinates_terminal(coordinates, &spot);
}

static const struct traffic_ops uniform_random_bisection = {
    .name = "uniform_random_bisection",
    .summary = "to the mirrored coordinate in some dimensions, to any in the others",
    .options = uniform_random_bisection_options,
    .config_size = sizeof(struct uniform_random_bisection_config),
    .example = "{\"type\": \"uniform_random_bisection\", \"dimensions\": [1]}",
    .prepare = uniform_random_bisection_prepare,
    .destination = uniform_random_bisection_destination,
};
REGISTER_TRAFFIC(uniform_random_bisection);
