/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mix of patterns: for every message one of them is drawn by its weight and
 * says where the message goes. When the drawn pattern has nothing for a source,
 * another is drawn; a source that none has anything for stays silent.
 */
#include "flitwarp/bits.h"
#include "flitwarp/traffic.h"
#include "workload/numbers.h"

struct mix_config {
    struct choice_list patterns;
    struct f64_list weights;
};

static const struct option mix_options[] = {
    OPTION_CHOICES(struct mix_config, patterns, "traffic", REQUIRED, 1, WORD_BITS, "the patterns to draw from"),
    OPTION_F64_LIST(struct mix_config, weights, "[]", 0, 1e9, NULL, "how often each is drawn; empty: all the same"),
    OPTION_END,
};

struct mix_state {
    struct weights weights;
    uint64_t drawn; /* set of the patterns whose weight is above 0 */
    struct traffic *patterns;
};

static void mix_prepare(struct traffic *traffic, const struct choice *self, const struct traffic_space *space,
                        struct errors *errors)
{
    const struct mix_config *config = traffic->config;
    uint32_t count = config->patterns.count;
    struct mix_state *state = traffic->state = arena_array(space->arena, struct mix_state, 1);
    state->patterns = arena_array(space->arena, struct traffic, count);
    for (uint32_t i = 0; i < count; i++)
        traffic_init(&state->patterns[i], &config->patterns.items[i], space, errors);
    if (!weights_from_option(&state->weights, space->arena, &config->weights, count, self, errors))
        return;
    for (uint32_t i = 0; i < count; i++)
        if (weights_share(&state->weights, i) > 0)
            bits_add(&state->drawn, i);
}

static uint32_t mix_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    const struct mix_state *state = traffic->state;
    uint64_t left = state->drawn; /* not known to be silent */
    while (left) {
        uint32_t index = weights_draw(&state->weights, random);
        if (!bits_test(&left, index))
            continue;
        const struct traffic *pattern = &state->patterns[index];
        uint32_t destination = pattern->ops->destination(pattern, source, random);
        if (destination != FW_NONE)
            return destination;
        bits_remove(&left, index);
    }
    return FW_NONE;
}

static const struct traffic_ops mix = {
    .name = "mix",
    .summary = "several patterns, drawn by weight for every message",
    .options = mix_options,
    .example = "{\"type\": \"mix\", \"patterns\": [\"uniform_random\", \"neighbor\"], \"weights\": [1, 3]}",
    .prepare = mix_prepare,
    .destination = mix_destination,
};
REGISTER_TRAFFIC(mix);
