/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hotspot: a share of all messages goes to a few hot terminals, the rest to all
 * terminals alike. Without `self` a source that draws itself draws again, so a
 * hot terminal sends to the other hot ones and the rest; where there is nothing
 * else to draw it stays silent.
 */
#include "flitwarp/traffic.h"
#include "workload/numbers.h"

struct hotspot_config {
    struct u32_list terminals;
    struct f64_list weights;
    double share;
    bool self;
};

static const struct option hotspot_options[] = {
    OPTION_U32_LIST(struct hotspot_config, terminals, "[0]", 0, FW_NONE - 1, NULL, "the hot terminals"),
    OPTION_F64_LIST(struct hotspot_config, weights, "[]", 0, 1e9, NULL, "how hot each is; empty: all the same"),
    OPTION_F64(struct hotspot_config, share, "1", 0, 1, NULL, "fraction of the messages that go to the hot terminals"),
    OPTION_BOOL(struct hotspot_config, self, "false", "whether a terminal also sends to itself"),
    OPTION_END,
};

struct hotspot_state {
    struct weights hot;
    uint32_t only; /* the terminal that all messages would go to; FW_NONE: there are several */
};

static uint32_t only_target(const struct hotspot_config *config, const struct weights *hot, uint32_t terminals)
{
    uint32_t only = FW_NONE;
    if (terminals == 1)
        return 0;
    if (config->share < 1)
        return FW_NONE;
    for (uint32_t i = 0; i < hot->count; i++) {
        if (weights_share(hot, i) <= 0 || config->terminals.items[i] == only)
            continue;
        if (only != FW_NONE)
            return FW_NONE;
        only = config->terminals.items[i];
    }
    return only;
}

static void hotspot_prepare(struct traffic *traffic, const struct choice *self, const struct traffic_space *space,
                            struct errors *errors)
{
    const struct hotspot_config *config = traffic->config;
    struct hotspot_state *state = traffic->state = arena_array(space->arena, struct hotspot_state, 1);
    uint32_t before = errors->count;
    if (config->terminals.count == 0)
        choice_error(errors, self, "terminals", "there must be a hot terminal");
    for (uint32_t i = 0; i < config->terminals.count; i++)
        if (config->terminals.items[i] >= space->terminals)
            choice_error(errors, self, "terminals", "there is no terminal %u: the last one is %u",
                         config->terminals.items[i], space->terminals - 1);
    if (errors->count == before &&
        weights_from_option(&state->hot, space->arena, &config->weights, config->terminals.count, self, errors))
        state->only = only_target(config, &state->hot, space->terminals);
}

static uint32_t hotspot_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    const struct hotspot_config *config = traffic->config;
    const struct hotspot_state *state = traffic->state;
    if (state->only == source && !config->self)
        return FW_NONE;
    uint32_t destination;
    do
        destination = random_unit(random) < config->share ? config->terminals.items[weights_draw(&state->hot, random)]
                                                          : random_below(random, traffic->terminals);
    while (destination == source && !config->self);
    return destination;
}

static const struct traffic_ops hotspot = {
    .name = "hotspot",
    .summary = "a share of the messages to a few hot terminals, the rest uniform",
    .options = hotspot_options,
    .example = "{\"type\": \"hotspot\", \"terminals\": [0, 7], \"weights\": [3, 1], \"share\": 0.2}",
    .prepare = hotspot_prepare,
    .destination = hotspot_destination,
};
REGISTER_TRAFFIC(hotspot);
