/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uniform to root: to any terminal that is not below the same port of the roots of a
 * tree, so that every message goes by one of them. A block is what lies below a port.
 */
#include "workload/traffic/blocks.h"

struct to_root_config {
    uint32_t block;
};

static const struct option to_root_options[] = {
    OPTION_U32(struct to_root_config, block, REQUIRED, 1, NONE - 1, NULL, "terminals of a subtree below the roots"),
    OPTION_END,
};

static void to_root_prepare(struct traffic *traffic, const struct choice *self, const struct traffic_space *space,
                            struct errors *errors)
{
    const struct to_root_config *config = traffic->config;
    blocks_fit(config->block, "block", self, space, errors);
}

static uint32_t to_root_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    const struct to_root_config *config = traffic->config;
    return block_draw_outside(source, config->block, traffic->terminals, random);
}

static const struct traffic_ops to_root = {
    .name = "to_root",
    .summary = "to any terminal that a message reaches by a root of the tree",
    .options = to_root_options,
    .config_size = sizeof(struct to_root_config),
    .example = "{\"type\": \"to_root\", \"block\": 16}",
    .prepare = to_root_prepare,
    .destination = to_root_destination,
};
REGISTER_TRAFFIC(to_root);
