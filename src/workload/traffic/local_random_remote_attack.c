/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A share of the messages stays within the terminal's block, the rest all goes to one
 * other block: jobs that mostly talk to themselves, and what leaves them meets on the
 * channels between two blocks.
 */
#include "workload/traffic/blocks.h"

struct local_random_remote_attack_config {
    uint32_t block;
    double local;
    bool self;
    uint32_t target, offset;
};

static const struct option local_random_remote_attack_options[] = {
    LOCAL_OPTIONS(struct local_random_remote_attack_config),
    OPTION_ENUM(struct local_random_remote_attack_config, target, "\"offset\"", block_targets,
                "the attacked block: `offset` blocks further, half way round, or the opposite one"),
    OPTION_U32(struct local_random_remote_attack_config, offset, "1", 0, NONE - 1, NULL, "blocks further",
               ONLY_WITH("target=offset")),
    OPTION_END,
};

static struct local_traffic local_part(const struct local_random_remote_attack_config *config)
{
    return (struct local_traffic){.block = config->block, .local = config->local, .self = config->self};
}

static void local_random_remote_attack_prepare(struct traffic *traffic, const struct choice *self,
                                               const struct traffic_space *space, struct errors *errors)
{
    struct local_traffic local = local_part(traffic->config);
    local_check(&local, self, space, errors);
}

static uint32_t local_random_remote_attack_destination(const struct traffic *traffic, uint32_t source,
                                                       struct random *random)
{
    const struct local_random_remote_attack_config *config = traffic->config;
    struct local_traffic part = local_part(config);
    uint32_t local = local_draw(&part, source, random);
    if (local != NONE)
        return local;
    uint32_t blocks = traffic->terminals / config->block;
    uint32_t target = block_target_of(source / config->block, blocks, config->target, config->offset);
    return block_draw(target, config->block, random);
}

static const struct traffic_ops local_random_remote_attack = {
    .name = "local_random_remote_attack",
    .summary = "a share within the own block, the rest all to one other block",
    .options = local_random_remote_attack_options,
    .config_size = sizeof(struct local_random_remote_attack_config),
    .example = "{\"type\": \"local_random_remote_attack\", \"block\": 8, \"local\": 0.8, \"target\": \"half\"}",
    .prepare = local_random_remote_attack_prepare,
    .destination = local_random_remote_attack_destination,
};
REGISTER_TRAFFIC(local_random_remote_attack);
