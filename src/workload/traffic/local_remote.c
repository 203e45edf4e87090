/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A share of the messages stays within the terminal's block, the rest leaves it: to
 * any terminal elsewhere (local_remote_random), or all to one other block
 * (local_random_remote_attack).
 */
#include "workload/traffic/blocks.h"

struct local_remote_config {
    uint32_t block, target, offset;
    double local;
    bool self;
};

#define LOCAL_OPTIONS                                                                                                  \
    OPTION_U32(struct local_remote_config, block, REQUIRED, 1, NONE - 1, NULL, "terminals of a block"),                \
        OPTION_F64(struct local_remote_config, local, "0.5", 0, 1, NULL,                                               \
                   "share of the messages that stay in a block"),                                                      \
        OPTION_BOOL(struct local_remote_config, self, "false", "whether a terminal also sends to itself")

static const struct option random_options[] = {
    LOCAL_OPTIONS,
    OPTION_END,
};

static const struct option attack_options[] = {
    LOCAL_OPTIONS,
    OPTION_ENUM(struct local_remote_config, target, "\"offset\"", block_targets,
                "the attacked block: `offset` blocks further, half way round, or the opposite one"),
    OPTION_U32(struct local_remote_config, offset, "1", 0, NONE - 1, NULL, "with target offset: blocks further"),
    OPTION_END,
};

static void local_prepare(struct traffic *traffic, const struct choice *self, const struct traffic_space *space,
                          struct errors *errors)
{
    const struct local_remote_config *config = traffic->config;
    if (blocks_fit(config->block, "block", self, space, errors) && config->block == 1 && config->local > 0 &&
        !config->self)
        choice_error(errors, self, "local", "a block of one terminal has nobody to send to; accepted: 0, or self");
}

/* Any terminal of the own block. */
static uint32_t draw_local(const struct local_remote_config *config, uint32_t source, struct random *random)
{
    uint32_t first = source / config->block * config->block;
    if (config->self)
        return first + random_below(random, config->block);
    uint32_t other = first + random_below(random, config->block - 1);
    return other + (other >= source);
}

static uint32_t random_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    const struct local_remote_config *config = traffic->config;
    if (random_unit(random) < config->local)
        return draw_local(config, source, random);
    return block_draw_outside(source, config->block, traffic->terminals, random);
}

static uint32_t attack_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    const struct local_remote_config *config = traffic->config;
    if (random_unit(random) < config->local)
        return draw_local(config, source, random);
    uint32_t blocks = traffic->terminals / config->block;
    uint32_t target = block_target_of(source / config->block, blocks, config->target, config->offset);
    return block_draw(target, config->block, random);
}

static const struct traffic_ops local_remote_random = {
    .name = "local_remote_random",
    .summary = "a share within the own block, the rest to any other",
    .options = random_options,
    .config_size = sizeof(struct local_remote_config),
    .example = "{\"type\": \"local_remote_random\", \"block\": 8, \"local\": 0.8}",
    .prepare = local_prepare,
    .destination = random_destination,
};
REGISTER_TRAFFIC(local_remote_random);

static const struct traffic_ops local_random_remote_attack = {
    .name = "local_random_remote_attack",
    .summary = "a share within the own block, the rest all to one other block",
    .options = attack_options,
    .config_size = sizeof(struct local_remote_config),
    .example = "{\"type\": \"local_random_remote_attack\", \"block\": 8, \"local\": 0.8, \"target\": \"half\"}",
    .prepare = local_prepare,
    .destination = attack_destination,
};
REGISTER_TRAFFIC(local_random_remote_attack);
