/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every message crosses the middle of every dimension, near for some and far for
 * others, so that no choice of dimension helps: one group of terminals sends to the
 * mirrored coordinates (as the complement does), the other half a width further.
 * The groups are even and odd slots at a router, lower and upper half of the last
 * dimension, or quadrants in the manner of a chess board. All widths are even.
 */
#include "workload/traffic/coordinates.h"

enum stress_groups { GROUPS_PARITY, GROUPS_HALF, GROUPS_QUADRANT };
static const char *const stress_groups[] = {"parity", "half", "quadrant", NULL};

struct dim_bisection_stress_config {
    struct u32_list widths;
    uint32_t groups;
};

static const struct option dim_bisection_stress_options[] = {
    COORDINATES_OPTION(struct dim_bisection_stress_config),
    OPTION_ENUM(struct dim_bisection_stress_config, groups, "\"half\"", stress_groups,
                "parity of the slot at the router, half of the last dimension, or parity of the quadrant"),
    OPTION_END,
};

static bool sends_by_half(const struct coordinates *coordinates, uint32_t groups, const struct spot *spot)
{
    uint32_t last = coordinates->dimensions - 1, upper = 0;
    if (groups == GROUPS_PARITY)
        return spot->slot % 2;
    if (groups == GROUPS_HALF)
        return spot->at[last] >= coordinates->width[last] / 2;
    for (uint32_t d = 0; d < coordinates->dimensions; d++)
        upper += spot->at[d] >= coordinates->width[d] / 2;
    return upper % 2;
}

static void stress(const struct coordinates *coordinates, const void *config, uint32_t terminal, struct spot *spot)
{
    (void)terminal;
    const struct dim_bisection_stress_config *settings = config;
    bool by_half = sends_by_half(coordinates, settings->groups, spot);
    for (uint32_t d = 0; d < coordinates->dimensions; d++) {
        uint32_t width = coordinates->width[d];
        spot->at[d] = by_half ? other_half(spot->at[d], width) : width - 1 - spot->at[d];
    }
}

static void dim_bisection_stress_prepare(struct traffic *traffic, const struct choice *self,
                                         const struct traffic_space *space, struct errors *errors)
{
    const struct dim_bisection_stress_config *config = traffic->config;
    struct coordinates coordinates;
    if (!coordinates_init(&coordinates, &config->widths, self, space, errors) ||
        !coordinates_check_even(&coordinates, UINT64_MAX, self, errors))
        return;
    if (config->groups == GROUPS_PARITY && coordinates.slots % 2) {
        choice_error(errors, self, "groups", "parity needs an even number of terminals at a router: there are %u",
                     coordinates.slots);
        return;
    }
    coordinates_fix(traffic, &coordinates, space, stress);
}

static const struct traffic_ops dim_bisection_stress = {
    .name = "dim_bisection_stress",
    .summary = "over the middle of every dimension, by mirror or by half a width",
    .options = dim_bisection_stress_options,
    .config_size = sizeof(struct dim_bisection_stress_config),
    .example = "{\"type\": \"dim_bisection_stress\", \"groups\": \"quadrant\"}",
    .prepare = dim_bisection_stress_prepare,
    .destination = fixed_destination,
};
REGISTER_TRAFFIC(dim_bisection_stress);
