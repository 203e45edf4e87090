/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uniform random traffic within quadrants, the halves of all dimensions: no message
 * crosses a middle. Widths are even. Without `self` the source is left out, and a
 * terminal that is alone in its quadrant stays silent.
 */
#include "workload/traffic/coordinates.h"

struct uniform_random_quadrant_config {
    struct u32_list widths;
    bool self;
};

static const struct option uniform_random_quadrant_options[] = {
    COORDINATES_OPTION(struct uniform_random_quadrant_config),
    OPTION_BOOL(struct uniform_random_quadrant_config, self, "false", "whether a terminal also sends to itself"),
    OPTION_END,
};

static void uniform_random_quadrant_prepare(struct traffic *traffic, const struct choice *self,
                                            const struct traffic_space *space, struct errors *errors)
{
    const struct uniform_random_quadrant_config *config = traffic->config;
    struct coordinates *coordinates = arena_array(space->arena, struct coordinates, 1);
    traffic->state = coordinates;
    if (coordinates_init(coordinates, &config->widths, self, space, errors))
        coordinates_check_even(coordinates, UINT64_MAX, self, errors);
}

static uint32_t uniform_random_quadrant_destination(const struct traffic *traffic, uint32_t source,
                                                    struct random *random)
{
    const struct uniform_random_quadrant_config *config = traffic->config;
    const struct coordinates *coordinates = traffic->state;
    struct spot spot = coordinates_spot(coordinates, source);
    if (!config->self && traffic->terminals >> coordinates->dimensions == 1)
        return NONE;
    uint32_t destination;
    do
        destination = coordinates_draw_quadrant(coordinates, &spot, false, random);
    while (destination == source && !config->self);
    return destination;
}

static const struct traffic_ops uniform_random_quadrant = {
    .name = "uniform_random_quadrant",
    .summary = "to any terminal of the own quadrant",
    .options = uniform_random_quadrant_options,
    .config_size = sizeof(struct uniform_random_quadrant_config),
    .example = "{\"type\": \"uniform_random_quadrant\", \"self\": true}",
    .prepare = uniform_random_quadrant_prepare,
    .destination = uniform_random_quadrant_destination,
};
REGISTER_TRAFFIC(uniform_random_quadrant);
