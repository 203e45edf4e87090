/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read by OpenCL too. The candidate that seems to be the shortest wait: congestion times the hops to
 * come, as if all queues on the way were like the first. Biases make ways that
 * are not minimal less attractive:
 *
 *     minimal       congestion * hops
 *     others       (congestion + congestion_bias) * hops + independent_bias
 */
#include "flitwarp/reduction.h"

struct weighted_config {
    struct reduction_config reduction;
    double congestion_bias, independent_bias;
};

static double weighted_weight(FW_GLOBAL const void *config, const struct candidate *candidate)
{
    FW_GLOBAL const struct weighted_config *weighted = config;
    if (candidate->is_minimal)
        return candidate->congestion * candidate->hops;
    return (candidate->congestion + weighted->congestion_bias) * candidate->hops + weighted->independent_bias;
}

#if FW_HOST
static const struct option weighted_options[] = {
    OPTION_F64(struct weighted_config, congestion_bias, "0", -1e9, 1e9, NULL,
               "added to the congestion of candidates that are not minimal"),
    OPTION_F64(struct weighted_config, independent_bias, "0", -1e9, 1e9, NULL,
               "added to the weight of candidates that are not minimal"),
    OPTION_ROWS(struct weighted_config, reduction, struct reduction_config, reduction_options),
    OPTION_END,
};

static const struct reduction_ops weighted = {
    .name = "weighted",
    .summary = "the least congestion times hops to come, minimal or not",
    .options = weighted_options,
    .example = "{\"type\": \"weighted\", \"congestion_bias\": 0.1, \"independent_bias\": 0.5}",
    .weight = weighted_weight,
    DEVICE_FORM(weighted_weight),
};
REGISTER_REDUCTION(weighted);
#endif
/* Copied by `flitwarp new`, with an example: network.routing={"type": "minimal_adaptive", "reduction": $} */
