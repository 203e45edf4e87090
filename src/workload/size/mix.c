/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A few message sizes with weights: short requests and long replies, say. The
 * weights may be percentages or any other numbers in proportion.
 */
#include "workload/sizes.h"

struct mix_config {
    struct u32_list sizes;
    struct f64_list weights;
};

static const struct option mix_options[] = {
    OPTION_U32_LIST(struct mix_config, sizes, REQUIRED, 1, 1 << 30, "flits", "the sizes to draw from"),
    OPTION_F64_LIST(struct mix_config, weights, "[]", 0, 1e9, NULL, "how often each is drawn; empty: all the same"),
    OPTION_END,
};

static void mix_prepare(struct size *size, const struct choice *self, struct arena *arena, struct errors *errors)
{
    const struct mix_config *config = size->config;
    if (config->sizes.count == 0) {
        choice_error(errors, self, "sizes", "there must be a size to draw");
        return;
    }
    struct weighted_sizes *sizes = arena_array(arena, struct weighted_sizes, 1);
    sizes->flits = config->sizes.items;
    weights_from_option(&sizes->weights, arena, &config->weights, config->sizes.count, self, errors);
    size->state = sizes;
}

static const struct size_ops mix = {
    .name = "mix",
    .summary = "a few sizes with weights",
    .options = mix_options,
    .config_size = sizeof(struct mix_config),
    .example = "{\"type\": \"mix\", \"sizes\": [1, 5], \"weights\": [80, 20]}",
    .prepare = mix_prepare,
    .mean = weighted_sizes_mean,
    .max = weighted_sizes_max,
    .draw = weighted_sizes_draw,
};
REGISTER_SIZE(mix);
