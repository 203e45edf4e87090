/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The complements of the router's coordinates in reverse order: of widths X, Y, X
 * (x, y, z) sends to (X-1-z, Y-1-y, X-1-x). The widths must read the same from both
 * ends. In two dimensions it is a transposition about the other diagonal.
 */
#include "workload/traffic/coordinates.h"

struct dim_complement_reverse_config {
    struct u32_list widths;
};

static const struct option dim_complement_reverse_options[] = {
    COORDINATES_OPTION(struct dim_complement_reverse_config),
    OPTION_END,
};

static void move(const struct coordinates *coordinates, const void *config, uint32_t terminal, struct spot *spot)
{
    (void)config, (void)terminal;
    spot_reverse(coordinates, spot);
    for (uint32_t d = 0; d < coordinates->dimensions; d++)
        spot->at[d] = coordinates->width[d] - 1 - spot->at[d];
}

static void dim_complement_reverse_prepare(struct traffic *traffic, const struct choice *self,
                                           const struct traffic_space *space, struct errors *errors)
{
    const struct dim_complement_reverse_config *config = traffic->config;
    struct coordinates coordinates;
    if (coordinates_init(&coordinates, &config->widths, self, space, errors) &&
        coordinates_check_symmetric(&coordinates, self, errors))
        coordinates_fix(traffic, &coordinates, space, move);
}

static const struct traffic_ops dim_complement_reverse = {
    .name = "dim_complement_reverse",
    .summary = "to the router whose coordinates are the complements in reverse order",
    .options = dim_complement_reverse_options,
    .config_size = sizeof(struct dim_complement_reverse_config),
    .example = "{\"type\": \"dim_complement_reverse\", \"widths\": [8, 8]}",
    .prepare = dim_complement_reverse_prepare,
    .destination = fixed_destination,
};
REGISTER_TRAFFIC(dim_complement_reverse);
