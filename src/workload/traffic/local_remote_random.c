/* SPDX-License-Identifier: Apache-2.0 */
/* A share of the messages stays within the terminal's block, the rest goes to any terminal outside. */
#include "workload/traffic/blocks.h"

static const struct option local_remote_random_options[] = {
    LOCAL_OPTIONS(struct local_traffic),
    OPTION_END,
};

static void local_remote_random_prepare(struct traffic *traffic, const struct choice *self,
                                        const struct traffic_space *space, struct errors *errors)
{
    local_check(traffic->config, self, space, errors);
}

static uint32_t local_remote_random_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    const struct local_traffic *config = traffic->config;
    uint32_t local = local_draw(config, source, random);
    return local != NONE ? local : block_draw_outside(source, config->block, traffic->terminals, random);
}

static const struct traffic_ops local_remote_random = {
    .name = "local_remote_random",
    .summary = "a share within the own block, the rest to any other",
    .options = local_remote_random_options,
    .config_size = sizeof(struct local_traffic),
    .example = "{\"type\": \"local_remote_random\", \"block\": 8, \"local\": 0.8}",
    .prepare = local_remote_random_prepare,
    .destination = local_remote_random_destination,
};
REGISTER_TRAFFIC(local_remote_random);
