/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages that all have the same size. It draws no random numbers, so runs
 * that differ in size alone inject at the same times to the same places.
 */
#include "flitwarp/size.h"

struct fixed_config {
    uint32_t flits;
};

static const struct option fixed_options[] = {
    OPTION_U32(struct fixed_config, flits, "1", 1, 1 << 30, "flits", "size of every message"),
    OPTION_END,
};

static double fixed_mean(const struct size *size)
{
    const struct fixed_config *config = size->config;
    return config->flits;
}

static uint32_t fixed_max(const struct size *size)
{
    const struct fixed_config *config = size->config;
    return config->flits;
}

static uint32_t fixed_draw(const struct size *size, struct random *random)
{
    (void)random;
    return fixed_max(size);
}

static const struct size_ops fixed = {
    .name = "fixed",
    .summary = "all messages have the same size",
    .options = fixed_options,
    .config_size = sizeof(struct fixed_config),
    .example = "{\"type\": \"fixed\", \"flits\": 4}",
    .mean = fixed_mean,
    .max = fixed_max,
    .draw = fixed_draw,
};
REGISTER_SIZE(fixed);
