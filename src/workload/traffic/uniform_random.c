/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uniform random traffic: every message goes to a terminal drawn from all, each
 * as likely as any other. Without `self` the source is left out, and a terminal
 * that is alone stays silent. Read by OpenCL too.
 */
#include "flitwarp/traffic.h"

struct uniform_random_config {
    fw_bool self;
};

static uint32_t uniform_random_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    FW_GLOBAL const struct uniform_random_config *config = traffic->config;
    if (config->self)
        return random_below(random, traffic->terminals);
    if (traffic->terminals < 2)
        return FW_NONE;
    uint32_t other = random_below(random, traffic->terminals - 1);
    return other + (other >= source);
}

#if FW_HOST
static const struct option uniform_random_options[] = {
    OPTION_BOOL(struct uniform_random_config, self, "false", "whether a terminal also sends to itself"),
    OPTION_END,
};

static const struct traffic_ops uniform_random = {
    .name = "uniform_random",
    .summary = "every terminal is as likely a destination as any other",
    .options = uniform_random_options,
    .example = "{\"type\": \"uniform_random\", \"self\": true}",
    .destination = uniform_random_destination,
    DEVICE_FORM(uniform_random_destination),
};
REGISTER_TRAFFIC(uniform_random);
#endif
/* Copied by `flitwarp new`, with an example: workload.applications.0.traffic=$ */
