/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The coordinates of the router in reverse order, and their complements in reverse
 * order: (x, y, z) sends to (z, y, x), or to (Z-1-z, Y-1-y, X-1-x). The widths must
 * read the same from both ends. In two dimensions the first is a transposition and
 * the second one about the other diagonal, where every message crosses the middle.
 */
#include "workload/traffic/coordinates.h"

struct dim_reverse_config {
    struct u32_list widths;
};

static const struct option dim_reverse_options[] = {
    COORDINATES_OPTION(struct dim_reverse_config),
    OPTION_END,
};

static void reverse(const struct coordinates *coordinates, const void *config, uint32_t terminal, struct spot *spot)
{
    (void)config, (void)terminal;
    struct spot old = *spot;
    for (uint32_t d = 0; d < coordinates->dimensions; d++)
        spot->at[d] = old.at[coordinates->dimensions - 1 - d];
}

static void complement_reverse(const struct coordinates *coordinates, const void *config, uint32_t terminal,
                               struct spot *spot)
{
    reverse(coordinates, config, terminal, spot);
    for (uint32_t d = 0; d < coordinates->dimensions; d++)
        spot->at[d] = coordinates->width[d] - 1 - spot->at[d];
}

static bool is_symmetric(const struct coordinates *coordinates, const struct choice *self, struct errors *errors)
{
    for (uint32_t d = 0; d < coordinates->dimensions / 2; d++)
        if (coordinates->width[d] != coordinates->width[coordinates->dimensions - 1 - d]) {
            choice_error(errors, self, NULL, "%s needs widths that read the same from both ends",
                         self->component->name);
            return false;
        }
    return true;
}

static void prepare(struct traffic *traffic, const struct choice *self, const struct traffic_space *space,
                    spot_mover *move, struct errors *errors)
{
    const struct dim_reverse_config *config = traffic->config;
    struct coordinates coordinates;
    if (coordinates_init(&coordinates, &config->widths, self, space, errors) &&
        is_symmetric(&coordinates, self, errors))
        coordinates_fix(traffic, &coordinates, space, move);
}

static void dim_reverse_prepare(struct traffic *traffic, const struct choice *self, const struct traffic_space *space,
                                struct errors *errors)
{
    prepare(traffic, self, space, reverse, errors);
}

static void dim_complement_reverse_prepare(struct traffic *traffic, const struct choice *self,
                                           const struct traffic_space *space, struct errors *errors)
{
    prepare(traffic, self, space, complement_reverse, errors);
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

static const struct traffic_ops dim_complement_reverse = {
    .name = "dim_complement_reverse",
    .summary = "to the router whose coordinates are the complements in reverse order",
    .options = dim_reverse_options,
    .config_size = sizeof(struct dim_reverse_config),
    .example = "{\"type\": \"dim_complement_reverse\", \"widths\": [8, 8]}",
    .prepare = dim_complement_reverse_prepare,
    .destination = fixed_destination,
};
REGISTER_TRAFFIC(dim_complement_reverse);
