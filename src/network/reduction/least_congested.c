/* SPDX-License-Identifier: Apache-2.0 */
/* The least congested of the minimal candidates, by default one drawn among equals. */
#include "flitwarp/reduction.h"

static double least_congested_weight(const void *config, const struct candidate *candidate)
{
    (void)config;
    return candidate->is_minimal ? candidate->congestion : INFINITY;
}

static const struct reduction_ops least_congested = {
    .name = "least_congested",
    .summary = "the least congested of the minimal candidates",
    .options = reduction_options,
    .example = "{\"type\": \"least_congested\", \"max_outputs\": 1}",
    .weight = least_congested_weight,
};
REGISTER_REDUCTION(least_congested);
