/* SPDX-License-Identifier: Apache-2.0 */
/* Read by OpenCL too. Minimal candidates alone: the least congested, by default one drawn among equals; or all of them. */
#include "flitwarp/reduction.h"

double least_congested_weight(FW_GLOBAL const void *config, const struct candidate *candidate)
{
    (void)config;
    return weight_if_minimal(candidate);
}

static double all_minimal_weight(FW_GLOBAL const void *config, const struct candidate *candidate)
{
    (void)config;
    return candidate->is_minimal ? 0 : __builtin_inf();
}

#if FW_HOST
static const struct reduction_ops least_congested = {
    .name = "least_congested",
    .summary = "the least congested of the minimal candidates",
    .options = reduction_options,
    .example = "{\"type\": \"least_congested\", \"max_outputs\": 1}",
    .weight = least_congested_weight,
    DEVICE_FORM(least_congested_weight),
};
REGISTER_REDUCTION(least_congested);

static const struct option all_minimal_options[] = {
    OPTION_ROWS_OF(reduction_options, OTHER_DEFAULT("max_outputs", "0")),
    OPTION_END,
};

static const struct reduction_ops all_minimal = {
    .name = "all_minimal",
    .summary = "all minimal candidates: VC allocation takes what is free",
    .options = all_minimal_options,
    .example = "{\"type\": \"all_minimal\", \"max_outputs\": 2}",
    .weight = all_minimal_weight,
    DEVICE_FORM(all_minimal_weight),
};
REGISTER_REDUCTION(all_minimal);
#endif
