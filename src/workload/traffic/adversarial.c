/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The usual worst case of minimal routing: every terminal sends to any terminal of the
 * next group. Of a dragonfly, give the terminals of a group; of a HyperX those of a
 * router, which is the default, or of a row. group_attack has more ways of it.
 */
#include "workload/traffic/blocks.h"

struct adversarial_config {
    uint32_t group, offset;
};

static const struct option adversarial_options[] = {
    OPTION_U32(struct adversarial_config, group, "0", 0, NONE - 1, NULL, "terminals of a group; 0: those of a router"),
    OPTION_U32(struct adversarial_config, offset, "1", 0, NONE - 1, NULL, "how many groups further messages go"),
    OPTION_END,
};

/* state: the size of a group. */
static void adversarial_prepare(struct traffic *traffic, const struct choice *self, const struct traffic_space *space,
                                struct errors *errors)
{
    const struct adversarial_config *config = traffic->config;
    uint32_t *size = arena_array(space->arena, uint32_t, 1);
    *size = config->group ? config->group : space->concentration;
    traffic->state = size;
    if (*size)
        blocks_fit(*size, "group", self, space, errors);
    else
        choice_error(errors, self, "group", "routers have different numbers of terminals: give the size of a group");
}

static uint32_t adversarial_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    const struct adversarial_config *config = traffic->config;
    uint32_t size = *(const uint32_t *)traffic->state;
    uint32_t target = block_target_of(source / size, traffic->terminals / size, TARGET_OFFSET, config->offset);
    return block_draw(target, size, random);
}

static const struct traffic_ops adversarial = {
    .name = "adversarial",
    .summary = "all terminals of a group to any of the next group",
    .options = adversarial_options,
    .config_size = sizeof(struct adversarial_config),
    .example = "{\"type\": \"adversarial\", \"group\": 8}",
    .prepare = adversarial_prepare,
    .destination = adversarial_destination,
};
REGISTER_TRAFFIC(adversarial);
