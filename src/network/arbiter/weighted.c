/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weighted: while some inputs ask without pause, each is served in proportion to its
 * weight, spread evenly (fair_share.h): with weights 3 and 1, a b a a. Input i has
 * the weight weights[i mod its length].
 */
#include "flitwarp/arbiter.h"
#include "network/fair_share.h"

struct weighted_config {
    struct u32_list weights;
};

static const struct option weighted_options[] = {
    OPTION_U32_LIST(struct weighted_config, weights, "[1]", 1, 65535, NULL,
                    "parts of the services of each input; those beyond the list begin it again"),
    OPTION_END,
};

/* Behind the inputs' clocks come their weights. */
static uint32_t *weights_of(const void *state, uint32_t inputs)
{
    return (uint32_t *)(void *)((char *)state + fair_share_bytes(inputs));
}

static size_t weighted_state_size(const void *config, uint32_t inputs)
{
    (void)config;
    return fair_share_bytes(inputs) + inputs * sizeof(uint32_t);
}

static void weighted_init(void *state, const void *config, uint32_t inputs)
{
    const struct u32_list *weights = &((const struct weighted_config *)config)->weights;
    for (uint32_t i = 0; i < inputs; i++)
        weights_of(state, inputs)[i] = weights->count ? weights->items[i % weights->count] : 1;
}

static uint32_t weighted_pick(const void *state, const struct arbitration *arbitration)
{
    return fair_share_next(state, weights_of(state, arbitration->inputs), arbitration->requests, arbitration->words);
}

static void weighted_served(void *state, uint32_t inputs, uint32_t winner)
{
    fair_share_serve(state, weights_of(state, inputs), winner, true);
}

static const struct arbiter_ops weighted = {
    .name = "weighted",
    .summary = "each input in proportion to its weight",
    .options = weighted_options,
    .example = "{\"type\": \"weighted\", \"weights\": [3, 1]}",
    .state_size = weighted_state_size,
    .init = weighted_init,
    .pick = weighted_pick,
    .served = weighted_served,
};
REGISTER_ARBITER(weighted);
