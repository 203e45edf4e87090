/* SPDX-License-Identifier: Apache-2.0 */
/* Message sizes between two bounds, both included, each as likely as any other. Read by OpenCL too. */
#include "flitwarp/size.h"

struct uniform_size_config {
    uint32_t min, max;
};

static uint32_t uniform_size_draw(const struct size *size, struct random *random)
{
    FW_GLOBAL const struct uniform_size_config *config = size->config;
    return config->min + random_below(random, config->max - config->min + 1);
}

#if FW_HOST
static const struct option uniform_options[] = {
    OPTION_U32(struct uniform_size_config, min, "1", 1, 1 << 30, "flits", "smallest size of a message"),
    OPTION_U32(struct uniform_size_config, max, REQUIRED, 1, 1 << 30, "flits", "largest size of a message"),
    OPTION_END,
};

static void uniform_prepare(struct size *size, const struct choice *self, struct arena *arena, struct errors *errors)
{
    (void)arena;
    const struct uniform_size_config *config = size->config;
    if (config->max < config->min)
        choice_error(errors, self, "max", "%u is below min, %u", config->max, config->min);
    size->mean = ((double)config->min + config->max) / 2;
    size->max = config->max;
}

static const struct size_ops uniform = {
    .name = "uniform",
    .summary = "any size between two bounds, each as likely as the others",
    .options = uniform_options,
    .example = "{\"type\": \"uniform\", \"min\": 1, \"max\": 16}",
    .prepare = uniform_prepare,
    .draw = uniform_size_draw,
    DEVICE_FORM(uniform_size_draw),
};
REGISTER_SIZE(uniform);
#endif
/* Copied by `flitwarp new`, with an example: workload.applications.0.size=$ */
