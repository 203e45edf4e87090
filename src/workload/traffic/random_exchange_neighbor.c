/* SPDX-License-Identifier: Apache-2.0 */
/*
 * To a router next door, up or down in one of some dimensions, going round; all as
 * likely. To the same slot there, or to any.
 */
#include "workload/traffic/coordinates.h"

struct random_exchange_neighbor_config {
    struct u32_list widths, dimensions;
    bool all_slots;
};

static const struct option random_exchange_neighbor_options[] = {
    COORDINATES_OPTION(struct random_exchange_neighbor_config),
    OPTION_U32_LIST(struct random_exchange_neighbor_config, dimensions, "[0]", 0, MAX_DIMENSIONS - 1, NULL,
                    "in which there are neighbours"),
    OPTION_BOOL(struct random_exchange_neighbor_config, all_slots, "false",
                "whether it sends to all terminals of those routers; otherwise to the one in its own place"),
    OPTION_END,
};

static void random_exchange_neighbor_prepare(struct traffic *traffic, const struct choice *self,
                                             const struct traffic_space *space, struct errors *errors)
{
    const struct random_exchange_neighbor_config *config = traffic->config;
    struct coordinates *coordinates = arena_array(space->arena, struct coordinates, 1);
    traffic->state = coordinates;
    uint64_t set;
    if (!coordinates_init(coordinates, &config->widths, self, space, errors) ||
        !coordinates_pick(coordinates, &config->dimensions, 0, &set, self, errors))
        return;
    for (uint32_t i = 0; i < config->dimensions.count; i++)
        if (coordinates->width[config->dimensions.items[i]] < 2)
            choice_error(errors, self, "dimensions", "dimension %u has one router and no neighbours",
                         config->dimensions.items[i]);
}

static uint32_t random_exchange_neighbor_destination(const struct traffic *traffic, uint32_t source,
                                                     struct random *random)
{
    const struct random_exchange_neighbor_config *config = traffic->config;
    const struct coordinates *coordinates = traffic->state;
    struct spot spot = coordinates_spot(coordinates, source);
    uint32_t way = random_below(random, 2 * config->dimensions.count);
    uint32_t d = config->dimensions.items[way / 2], width = coordinates->width[d];
    spot.at[d] = (spot.at[d] + (way % 2 ? 1 : width - 1)) % width;
    if (config->all_slots)
        spot.slot = random_below(random, coordinates->slots);
    return coordinates_terminal(coordinates, &spot);
}

static const struct traffic_ops random_exchange_neighbor = {
    .name = "random_exchange_neighbor",
    .summary = "to a router next door",
    .options = random_exchange_neighbor_options,
    .config_size = sizeof(struct random_exchange_neighbor_config),
    .example = "{\"type\": \"random_exchange_neighbor\", \"dimensions\": [0, 1], \"all_slots\": true}",
    .prepare = random_exchange_neighbor_prepare,
    .destination = random_exchange_neighbor_destination,
};
REGISTER_TRAFFIC(random_exchange_neighbor);
