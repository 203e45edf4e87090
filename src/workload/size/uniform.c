/* SPDX-License-Identifier: Apache-2.0 */
/* Message sizes between two bounds, both included, each as likely as any other. */
#include "flitwarp/size.h"

struct uniform_config {
    uint32_t min, max;
};

static const struct option uniform_options[] = {
    OPTION_U32(struct uniform_config, min, "1", 1, 1 << 30, "flits", "smallest size of a message"),
    OPTION_U32(struct uniform_config, max, REQUIRED, 1, 1 << 30, "flits", "largest size of a message"),
    OPTION_END,
};

static void uniform_prepare(struct size *size, const struct choice *self, struct arena *arena, struct errors *errors)
{
    (void)arena;
    const struct uniform_config *config = size->config;
    if (config->max < config->min)
        choice_error(errors, self, "max", "%u is below min, %u", config->max, config->min);
    size->mean = ((double)config->min + config->max) / 2;
    size->max = config->max;
}

static uint32_t uniform_draw(const struct size *size, struct random *random)
{
    const struct uniform_config *config = size->config;
    return config->min + random_below(random, config->max - config->min + 1);
}

static const struct size_ops uniform = {
    .name = "uniform",
    .summary = "any size between two bounds, each as likely as the others",
    .options = uniform_options,
    .example = "{\"type\": \"uniform\", \"min\": 1, \"max\": 16}",
    .prepare = uniform_prepare,
    .draw = uniform_draw,
};
REGISTER_SIZE(uniform);
/* Copied by `flitwarp new`, with an example: workload.applications.0.size=$ */
