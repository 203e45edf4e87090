/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The coordinates of the router move on by one dimension: to the left (x, y, z)
 * sends to (y, z, x), to the right to (z, x, y). All widths must be the same.
 */
#include "workload/traffic/coordinates.h"

enum rotation { ROTATE_LEFT, ROTATE_RIGHT };
static const char *const rotations[] = {"left", "right", NULL};

struct dim_rotate_config {
    struct u32_list widths;
    uint32_t direction;
};

static const struct option dim_rotate_options[] = {
    COORDINATES_OPTION(struct dim_rotate_config),
    OPTION_ENUM(struct dim_rotate_config, direction, "\"left\"", rotations,
                "left: coordinate 1 becomes 0, and so on; right: the other way"),
    OPTION_END,
};

static void rotate(const struct coordinates *coordinates, const void *config, uint32_t terminal, struct spot *spot)
{
    (void)terminal;
    uint32_t step =
        ((const struct dim_rotate_config *)config)->direction == ROTATE_LEFT ? 1 : coordinates->dimensions - 1;
    struct spot old = *spot;
    for (uint32_t d = 0; d < coordinates->dimensions; d++)
        spot->at[d] = old.at[(d + step) % coordinates->dimensions];
}

static void dim_rotate_prepare(struct traffic *traffic, const struct choice *self, const struct traffic_space *space,
                               struct errors *errors)
{
    const struct dim_rotate_config *config = traffic->config;
    struct coordinates coordinates;
    if (!coordinates_init(&coordinates, &config->widths, self, space, errors))
        return;
    for (uint32_t d = 1; d < coordinates.dimensions; d++)
        if (coordinates.width[d] != coordinates.width[0]) {
            choice_error(errors, self, NULL, "dim_rotate needs widths that are all the same");
            return;
        }
    coordinates_fix(traffic, &coordinates, space, rotate);
}

static const struct traffic_ops dim_rotate = {
    .name = "dim_rotate",
    .summary = "to the router whose coordinates are rotated by one dimension",
    .options = dim_rotate_options,
    .config_size = sizeof(struct dim_rotate_config),
    .example = "{\"type\": \"dim_rotate\", \"widths\": [4, 4, 4], \"direction\": \"right\"}",
    .prepare = dim_rotate_prepare,
    .destination = fixed_destination,
};
REGISTER_TRAFFIC(dim_rotate);
