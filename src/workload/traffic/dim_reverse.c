/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The coordinates of the router in reverse order: (x, y, z) sends to (z, y, x). The
 * widths must read the same from both ends. In two dimensions it is a transposition.
 */
#include "workload/traffic/coordinates.h"

struct dim_reverse_config {
    struct u32_list widths;
};

static const struct option dim_reverse_options[] = {
    COORDINATES_OPTION(struct dim_reverse_config),
    OPTION_END,
};

static void move(const struct coordinates *coordinates, const void *config, uint32_t terminal, struct spot *spot)
{
    (void)config, (void)terminal;
    spot_reverse(coordinates, spot);
}

static void dim_reverse_prepare(struct traffic *traffic, const struct choice *self, const struct traffic_space *space,
                                struct errors *errors)
{
    const struct dim_reverse_config *config = traffic->config;
    struct coordinates coordinates;
    if (coordinates_init(&coordinates, &config->widths, self, space, errors) &&
        coordinates_check_symmetric(&coordinates, self, errors))
        coordinates_fix(traffic, &coordinates, space, move);
}

static const struct traffic_ops dim_reverse = {
    .name = "dim_reverse",
    .summary = "to the router whose coordinates stand in reverse order",
    .options = dim_reverse_options,
    .config_size = sizeof(struct dim_reverse_config),
    .prepare = dim_reverse_prepare,
    .destination = fixed_destination,
};
REGISTER_TRAFFIC(dim_reverse);
