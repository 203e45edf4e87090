/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each group attacks another: all its terminals send to terminals of one other group,
 * so that minimal ways share the few channels between the two.
 */
#include "workload/traffic/blocks.h"

enum group_place { PLACE_RANDOM, PLACE_SAME, PLACE_MIRRORED };
static const char *const group_places[] = {"random", "same", "mirrored", NULL};

struct group_attack_config {
    uint32_t group, target, offset, place;
};

static const struct option group_attack_options[] = {
    OPTION_U32(struct group_attack_config, group, REQUIRED, 1, NONE - 1, NULL, "terminals of a group"),
    OPTION_ENUM(struct group_attack_config, target, "\"offset\"", block_targets,
                "the attacked group: `offset` groups further, half way round, or the opposite one"),
    OPTION_U32(struct group_attack_config, offset, "1", 0, NONE - 1, NULL, "groups further",
               ONLY_WITH("target=offset")),
    OPTION_ENUM(struct group_attack_config, place, "\"random\"", group_places,
                "any terminal of that group, the one in the same place, or in the mirrored one"),
    OPTION_END,
};

static void group_attack_prepare(struct traffic *traffic, const struct choice *self, const struct traffic_space *space,
                                 struct errors *errors)
{
    const struct group_attack_config *config = traffic->config;
    blocks_fit(config->group, "group", self, space, errors);
}

static uint32_t group_attack_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    const struct group_attack_config *config = traffic->config;
    uint32_t size = config->group, group = source / size, place = source % size;
    uint32_t target = block_target_of(group, traffic->terminals / size, config->target, config->offset);
    if (config->place == PLACE_RANDOM)
        return block_draw(target, size, random);
    return target * size + (config->place == PLACE_SAME ? place : size - 1 - place);
}

static const struct traffic_ops group_attack = {
    .name = "group_attack",
    .summary = "all terminals of a group to one other group",
    .options = group_attack_options,
    .config_size = sizeof(struct group_attack_config),
    .example = "{\"type\": \"group_attack\", \"group\": 8, \"target\": \"half\", \"place\": \"same\"}",
    .prepare = group_attack_prepare,
    .destination = group_attack_destination,
};
REGISTER_TRAFFIC(group_attack);
