/* SPDX-License-Identifier: Apache-2.0 */
/* To any terminal outside the own block. */
#include "workload/traffic/blocks.h"

struct random_block_out_config {
    uint32_t block;
};

static const struct option random_block_out_options[] = {
    OPTION_U32(struct random_block_out_config, block, REQUIRED, 1, NONE - 1, NULL, "terminals of a block"),
    OPTION_END,
};

static void random_block_out_prepare(struct traffic *traffic, const struct choice *self,
                                     const struct traffic_space *space, struct errors *errors)
{
    const struct random_block_out_config *config = traffic->config;
    blocks_fit(config->block, "block", self, space, errors);
}

static uint32_t random_block_out_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    const struct random_block_out_config *config = traffic->config;
    return block_draw_outside(source, config->block, traffic->terminals, random);
}

static const struct traffic_ops random_block_out = {
    .name = "random_block_out",
    .summary = "to any terminal outside the own block",
    .options = random_block_out_options,
    .config_size = sizeof(struct random_block_out_config),
    .example = "{\"type\": \"random_block_out\", \"block\": 4}",
    .prepare = random_block_out_prepare,
    .destination = random_block_out_destination,
};
REGISTER_TRAFFIC(random_block_out);
