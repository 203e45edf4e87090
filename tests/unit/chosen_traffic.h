/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* A traffic pattern from JSON text, on so many terminals. */
#include "chosen.h"
#include "flitwarp/traffic.h"

static const struct grid grid_8x8 = {.dimensions = 2, .width = {8, 8}};

static inline struct traffic make(struct chosen *chosen, const char *json, uint32_t terminals, const struct grid *grid,
                                  uint32_t concentration)
{
    struct traffic_space space = {terminals, concentration, grid, 42, &chosen->arena};
    struct choice *choice = arena_array(&chosen->arena, struct choice, 1);
    *choice = choose(chosen, "traffic", json);
    struct traffic traffic;
    traffic_init(&traffic, choice, &space, &chosen->errors);
    return traffic;
}
