/* SPDX-License-Identifier: Apache-2.0 */
/* Two coordinates of the router change places; those two widths must be the same. */
#include "workload/traffic/coordinates.h"

struct dim_transpose_config {
    struct u32_list widths, dimensions;
};

static const struct option dim_transpose_options[] = {
    COORDINATES_OPTION(struct dim_transpose_config),
    OPTION_U32_LIST(struct dim_transpose_config, dimensions, "[0, 1]", 0, MAX_DIMENSIONS - 1, NULL,
                    "the two that change places"),
    OPTION_END,
};

static void transpose_spot(const struct coordinates *coordinates, const void *config, uint32_t terminal,
                           struct spot *spot)
{
    (void)coordinates, (void)terminal;
    const uint32_t *swapped = ((const struct dim_transpose_config *)config)->dimensions.items;
    uint32_t first = spot->at[swapped[0]];
    spot->at[swapped[0]] = spot->at[swapped[1]];
    spot->at[swapped[1]] = first;
}

static void dim_transpose_prepare(struct traffic *traffic, const struct choice *self, const struct traffic_space *space,
                                  struct errors *errors)
{
    const struct dim_transpose_config *config = traffic->config;
    struct coordinates coordinates;
    uint64_t set;
    if (!coordinates_init(&coordinates, &config->widths, self, space, errors) ||
        !coordinates_pick(&coordinates, &config->dimensions, 2, &set, self, errors))
        return;
    uint32_t a = coordinates.width[config->dimensions.items[0]], b = coordinates.width[config->dimensions.items[1]];
    if (a == b)
        coordinates_fix(traffic, &coordinates, space, transpose_spot);
    else
        choice_error(errors, self, "dimensions", "their widths differ: %u and %u", a, b);
}

static const struct traffic_ops dim_transpose = {
    .name = "dim_transpose",
    .summary = "to the router with two coordinates exchanged",
    .options = dim_transpose_options,
    .config_size = sizeof(struct dim_transpose_config),
    .example = "{\"type\": \"dim_transpose\", \"widths\": [4, 4, 4], \"dimensions\": [0, 2]}",
    .prepare = dim_transpose_prepare,
    .destination = fixed_destination,
};
REGISTER_TRAFFIC(dim_transpose);
