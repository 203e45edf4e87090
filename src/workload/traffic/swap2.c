/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terminals with even numbers send half a width further in one dimension, those
 * with odd numbers in another. Adaptive routing that spreads over dimensions gains
 * nothing here. A permutation where half a width holds an even number of terminals.
 */
#include "workload/traffic/coordinates.h"

struct swap2_config {
    struct u32_list widths, dimensions;
};

static const struct option swap2_options[] = {
    COORDINATES_OPTION(struct swap2_config),
    OPTION_U32_LIST(struct swap2_config, dimensions, "[0, 1]", 0, MAX_DIMENSIONS - 1, NULL,
                    "of the even terminals, and of the odd ones"),
    OPTION_END,
};

static void swap(const struct coordinates *coordinates, const void *config, uint32_t terminal, struct spot *spot)
{
    uint32_t d = ((const struct swap2_config *)config)->dimensions.items[terminal % 2];
    spot->at[d] = other_half(spot->at[d], coordinates->width[d]);
}

static void swap2_prepare(struct traffic *traffic, const struct choice *self, const struct traffic_space *space,
                          struct errors *errors)
{
    const struct swap2_config *config = traffic->config;
    struct coordinates coordinates;
    uint64_t set;
    if (coordinates_init(&coordinates, &config->widths, self, space, errors) &&
        coordinates_pick(&coordinates, &config->dimensions, 2, &set, self, errors))
        coordinates_fix(traffic, &coordinates, space, swap);
}

static const struct traffic_ops swap2 = {
    .name = "swap2",
    .summary = "half a width further, in one dimension or the other by the terminal's parity",
    .options = swap2_options,
    .config_size = sizeof(struct swap2_config),
    .example = "{\"type\": \"swap2\", \"dimensions\": [1, 0]}",
    .prepare = swap2_prepare,
    .destination = fixed_destination,
};
REGISTER_TRAFFIC(swap2);
