/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns of quadrants, the halves of all dimensions: uniform random traffic within
 * a terminal's own quadrant, or with the one opposite in every dimension. All widths
 * are even.
 */
#include "workload/traffic/coordinates.h"

struct quadrant_config {
    struct u32_list widths;
    bool self;
};

static const struct option exchange_options[] = {
    COORDINATES_OPTION(struct quadrant_config),
    OPTION_END,
};

static const struct option uniform_options[] = {
    COORDINATES_OPTION(struct quadrant_config),
    OPTION_BOOL(struct quadrant_config, self, "false", "whether a terminal also sends to itself"),
    OPTION_END,
};

static void quadrant_prepare(struct traffic *traffic, const struct choice *self, const struct traffic_space *space,
                             struct errors *errors)
{
    const struct quadrant_config *config = traffic->config;
    struct coordinates *coordinates = arena_array(space->arena, struct coordinates, 1);
    traffic->state = coordinates;
    if (coordinates_init(coordinates, &config->widths, self, space, errors))
        coordinates_check_even(coordinates, UINT64_MAX, self, errors);
}

/* Any terminal of the spot's quadrant. */
static uint32_t draw(const struct coordinates *coordinates, const struct spot *spot, bool opposite,
                     struct random *random)
{
    struct spot drawn = {.slot = random_below(random, coordinates->slots)};
    for (uint32_t d = 0; d < coordinates->dimensions; d++) {
        uint32_t half = coordinates->width[d] / 2;
        bool is_upper = (spot->at[d] >= half) != opposite;
        drawn.at[d] = (is_upper ? half : 0) + random_below(random, half);
    }
    return coordinates_terminal(coordinates, &drawn);
}

static uint32_t exchange_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    const struct coordinates *coordinates = traffic->state;
    struct spot spot = coordinates_spot(coordinates, source);
    return draw(coordinates, &spot, true, random);
}

static uint32_t uniform_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    const struct quadrant_config *config = traffic->config;
    const struct coordinates *coordinates = traffic->state;
    struct spot spot = coordinates_spot(coordinates, source);
    if (!config->self && traffic->terminals >> coordinates->dimensions == 1)
        return NONE; /* it is alone in its quadrant */
    uint32_t destination;
    do
        destination = draw(coordinates, &spot, false, random);
    while (destination == source && !config->self);
    return destination;
}

static const struct traffic_ops random_exchange_quadrant = {
    .name = "random_exchange_quadrant",
    .summary = "to any terminal of the opposite quadrant",
    .options = exchange_options,
    .config_size = sizeof(struct quadrant_config),
    .prepare = quadrant_prepare,
    .destination = exchange_destination,
};
REGISTER_TRAFFIC(random_exchange_quadrant);

static const struct traffic_ops uniform_random_quadrant = {
    .name = "uniform_random_quadrant",
    .summary = "to any terminal of the own quadrant",
    .options = uniform_options,
    .config_size = sizeof(struct quadrant_config),
    .example = "{\"type\": \"uniform_random_quadrant\", \"self\": true}",
    .prepare = quadrant_prepare,
    .destination = uniform_destination,
};
REGISTER_TRAFFIC(uniform_random_quadrant);
