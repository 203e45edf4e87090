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

static void fixed_prepare(struct size *size, const struct choice *self, struct arena *arena, struct errors *errors)
{
    (void)self, (void)arena, (void)errors;
    size->mean = size->max = ((const struct fixed_config *)size->config)->flits;
}

static uint32_t fixed_draw(const struct size *size, struct random *random)
{
    (void)random;
    return size->max;
}

static const struct size_ops fixed = {
    .name = "fixed",
    .summary = "all messages have the same size",
    .options = fixed_options,
    .example = "{\"type\": \"fixed\", \"flits\": 4}",
    .prepare = fixed_prepare,
    .draw = fixed_draw,
};
REGISTER_SIZE(fixed);
