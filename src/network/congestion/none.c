/* SPDX-License-Identifier: Apache-2.0 */
/* Read by OpenCL too. No sensor: every output seems free. What adaptive routing does without knowing anything. */
#include "flitwarp/congestion.h"

#if FW_HOST
#include "flitwarp/arena.h"

static const struct option none_options[] = {OPTION_END};

static struct congestion *none_build(const struct choice *self, const struct congestion *shape, struct arena *arena,
                                     struct errors *errors)
{
    (void)self;
    (void)errors;
    struct congestion *congestion = arena_array(arena, struct congestion, 1);
    *congestion = *shape;
    return congestion;
}

#endif

static void none_change(struct congestion *congestion, uint32_t router, uint32_t lane, enum queue queue, int32_t change,
                        tick_t now)
{
    (void)congestion, (void)router, (void)lane, (void)queue, (void)change, (void)now;
}

#if !FW_HOST
static void none_catch_up(struct congestion *congestion, uint32_t router, tick_t now) {}
#endif

static void none_values(struct congestion *congestion, uint32_t router, uint32_t lane, uint32_t count, tick_t now,
                        double *values)
{
    (void)congestion, (void)router, (void)lane, (void)now;
    for (uint32_t i = 0; i < count; i++)
        values[i] = 0;
}

#if FW_HOST
static double none_value(struct congestion *congestion, uint32_t router, uint32_t lane, tick_t now)
{
    (void)congestion, (void)router, (void)lane, (void)now;
    return 0;
}

static const struct congestion_ops none = {
    .name = "none",
    .summary = "no sensor: every output seems free",
    .options = none_options,
    .example = "{\"type\": \"none\"}",
    .build = none_build,
    .change = none_change,
    .value = none_value,
    .values = none_values,
    DEVICE_FORM_WITH(none_values, .change = "none_change", .catch_up = "none_catch_up"),
};
REGISTER_CONGESTION(none);
#endif
/* Copied by `flitwarp new`, with an example: network.router.congestion=$ */
