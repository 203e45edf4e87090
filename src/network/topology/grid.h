/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * What the grid-shaped topologies share besides the questions answered in
 * flitwarp/topology.h: judging their settings and filling their shape.
 */
#include "flitwarp/topology.h"

#define MAX_TERMINALS ((uint64_t)INT32_MAX)
#define MAX_CHANNELS ((uint64_t)INT32_MAX) /* of networks that keep a table of their routers */

/* Settings of a grid of any widths. */
struct grid_config {
    struct u32_list widths;
    struct u32_list channels;
    uint32_t concentration;
};
extern const struct option grid_options[];

/* Adds an error for each setting that the rows let pass but no network can have; a topology's check(). */
void grid_check(const struct choice *self, struct errors *errors);
/* The shape of a grid with these settings; for a topology's shape(). */
void grid_shape_of(const struct grid_config *config, bool wraps, struct arena *arena, struct topology *topology);
/* Fills the shape from a grid that lives as long as the topology. */
void grid_shape(struct topology *topology, const struct grid *grid, uint32_t concentration);
