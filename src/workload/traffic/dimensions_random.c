/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns of coordinates that draw a destination for each message. A quadrant is a
 * half of every dimension.
 *
 *   uniform_random_bisection  over the middle of some dimensions: there to the mirrored coordinate, in all others to
 *                             any; the slot at the router is mirrored too
 *   uniform_random_quadrant   within the own quadrant, so that no message crosses a middle; a terminal that is alone
 *                             there and may not send to itself stays silent
 *   random_exchange_quadrant  to the opposite quadrant, so that each message crosses the middle of all dimensions
 *   random_exchange_neighbor  to a router next door, up or down in one of some dimensions, going round; to the same
 *                             slot there, or to any
 */
#include "flitwarp/bits.h"
#include "workload/traffic/coordinates.h"

struct draw_config {
    struct u32_list widths, dimensions;
    bool self, all_slots;
};

static const struct option bisection_options[] = {
    COORDINATES_OPTION(struct draw_config),
    OPTION_U32_LIST(struct draw_config, dimensions, "[0]", 0, MAX_DIMENSIONS - 1, NULL,
                    "whose middle every message crosses"),
    OPTION_END,
};
static const struct option own_quadrant_options[] = {
    COORDINATES_OPTION(struct draw_config),
    OPTION_BOOL(struct draw_config, self, "false", "whether a terminal also sends to itself"),
    OPTION_END,
};
static const struct option opposite_quadrant_options[] = {
    COORDINATES_OPTION(struct draw_config),
    OPTION_END,
};
static const struct option neighbor_options[] = {
    COORDINATES_OPTION(struct draw_config),
    OPTION_U32_LIST(struct draw_config, dimensions, "[0]", 0, MAX_DIMENSIONS - 1, NULL,
                    "in which there are neighbours"),
    OPTION_BOOL(struct draw_config, all_slots, "false",
                "whether it sends to all terminals of those routers; otherwise to the one in its own place"),
    OPTION_END,
};

struct draw_state {
    struct coordinates coordinates;
    uint64_t picked; /* set of dimensions */
};

static bool init_state(struct traffic *traffic, const struct choice *self, const struct traffic_space *space,
                       struct errors *errors)
{
    const struct draw_config *config = traffic->config;
    struct draw_state *state = arena_array(space->arena, struct draw_state, 1);
    traffic->state = state;
    return coordinates_init(&state->coordinates, &config->widths, self, space, errors);
}

static void bisection_prepare(struct traffic *traffic, const struct choice *self, const struct traffic_space *space,
                              struct errors *errors)
{
    const struct draw_config *config = traffic->config;
    if (!init_state(traffic, self, space, errors))
        return;
    struct draw_state *state = traffic->state;
    if (coordinates_pick(&state->coordinates, &config->dimensions, 0, &state->picked, self, errors))
        coordinates_check_even(&state->coordinates, state->picked, self, errors);
}

static uint32_t bisection_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    const struct draw_state *state = traffic->state;
    const struct coordinates *coordinates = &state->coordinates;
    struct spot spot = coordinates_spot(coordinates, source);
    spot.slot = coordinates->slots - 1 - spot.slot;
    for (uint32_t d = 0; d < coordinates->dimensions; d++) {
        uint32_t width = coordinates->width[d];
        spot.at[d] = bits_test(&state->picked, d) ? width - 1 - spot.at[d] : random_below(random, width);
    }
    return coordinates_terminal(coordinates, &spot);
}

static void quadrant_prepare(struct traffic *traffic, const struct choice *self, const struct traffic_space *space,
                             struct errors *errors)
{
    if (init_state(traffic, self, space, errors))
        coordinates_check_even(&((struct draw_state *)traffic->state)->coordinates, UINT64_MAX, self, errors);
}

/* Any terminal of the source's quadrant, or of the opposite one. */
static uint32_t draw_quadrant(const struct traffic *traffic, uint32_t source, bool is_opposite, struct random *random)
{
    const struct coordinates *coordinates = &((const struct draw_state *)traffic->state)->coordinates;
    struct spot spot = coordinates_spot(coordinates, source);
    struct spot drawn = {.slot = random_below(random, coordinates->slots)};
    for (uint32_t d = 0; d < coordinates->dimensions; d++) {
        uint32_t half = coordinates->width[d] / 2;
        bool is_upper = (spot.at[d] >= half) != is_opposite;
        drawn.at[d] = (is_upper ? half : 0) + random_below(random, half);
    }
    return coordinates_terminal(coordinates, &drawn);
}

static uint32_t own_quadrant_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    const struct draw_config *config = traffic->config;
    const struct draw_state *state = traffic->state;
    if (!config->self && traffic->terminals >> state->coordinates.dimensions == 1)
        return FW_NONE;
    uint32_t destination;
    do
        destination = draw_quadrant(traffic, source, false, random);
    while (destination == source && !config->self);
    return destination;
}

static uint32_t opposite_quadrant_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    return draw_quadrant(traffic, source, true, random);
}

static void neighbor_prepare(struct traffic *traffic, const struct choice *self, const struct traffic_space *space,
                             struct errors *errors)
{
    const struct draw_config *config = traffic->config;
    if (!init_state(traffic, self, space, errors))
        return;
    struct draw_state *state = traffic->state;
    if (!coordinates_pick(&state->coordinates, &config->dimensions, 0, &state->picked, self, errors))
        return;
    for (uint32_t i = 0; i < config->dimensions.count; i++)
        if (state->coordinates.width[config->dimensions.items[i]] < 2)
            choice_error(errors, self, "dimensions", "dimension %u has one router and no neighbours",
                         config->dimensions.items[i]);
}

static uint32_t neighbor_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    const struct draw_config *config = traffic->config;
    const struct coordinates *coordinates = &((const struct draw_state *)traffic->state)->coordinates;
    struct spot spot = coordinates_spot(coordinates, source);
    uint32_t way = random_below(random, 2 * config->dimensions.count);
    uint32_t d = config->dimensions.items[way / 2], width = coordinates->width[d];
    spot.at[d] = (spot.at[d] + (way % 2 ? 1 : width - 1)) % width;
    if (config->all_slots)
        spot.slot = random_below(random, coordinates->slots);
    return coordinates_terminal(coordinates, &spot);
}

static const struct traffic_ops dimensions_random[] = {
    {
        .name = "uniform_random_bisection",
        .summary = "to the mirrored coordinate in some dimensions, to any in the others",
        .options = bisection_options,
        .example = "{\"type\": \"uniform_random_bisection\", \"dimensions\": [1]}",
        .prepare = bisection_prepare,
        .destination = bisection_destination,
    },
    {
        .name = "uniform_random_quadrant",
        .summary = "to any terminal of the own quadrant",
        .options = own_quadrant_options,
        .example = "{\"type\": \"uniform_random_quadrant\", \"self\": true}",
        .prepare = quadrant_prepare,
        .destination = own_quadrant_destination,
    },
    {
        .name = "random_exchange_quadrant",
        .summary = "to any terminal of the opposite quadrant",
        .options = opposite_quadrant_options,
        .prepare = quadrant_prepare,
        .destination = opposite_quadrant_destination,
    },
    {
        .name = "random_exchange_neighbor",
        .summary = "to a router next door",
        .options = neighbor_options,
        .example = "{\"type\": \"random_exchange_neighbor\", \"dimensions\": [0, 1], \"all_slots\": true}",
        .prepare = neighbor_prepare,
        .destination = neighbor_destination,
    },
};
REGISTER_TRAFFIC_FAMILY(dimensions_random);
