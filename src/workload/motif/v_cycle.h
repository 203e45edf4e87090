/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The V-cycle of a multigrid solver on a 3D grid of ranks. Each rank holds a cube of
 * points, half as many along each side from level to level. Once a single point is left,
 * every second rank along each dimension hands its own to a rank that goes on for it, and
 * has nothing to do on the levels below.
 *
 *   level 0  o o o o o o o o     exchange borders some times, compute
 *         1  o o o o o o o o
 *         2  o   o   o   o       a point of two ranks: handed over on the way down,
 *         3  o       o           handed back on the way up
 */
#include "flitwarp/motif.h"

struct v_cycle {
    struct halo_grid grid; /* of all ranks */
    uint32_t points;       /* along each side of a rank's cube on level 0 */
    uint32_t levels, smooths, value_bytes;
    uint32_t dense_from; /* the level from which on edges and corners are neighbours too */
    double compute;      /* seconds of a smoothing on level 0 */
};

/* The settings of solvers. */
struct v_cycle_config {
    uint32_t iterations;
    double compute;
    struct u32_list grid;
    bool wraps;
    uint32_t points, levels, smooths, value_bytes;
    uint64_t allreduce;
};
extern const struct option v_cycle_options[];

/* From the settings, or adds errors. */
struct v_cycle v_cycle_make(const struct motif *motif, struct errors *errors);
/* Levels until one rank with one point is left. */
uint32_t v_cycle_depth(const struct v_cycle *cycle);
/* The ranks along a dimension that take part in a level are so many apart. */
uint32_t v_cycle_stride(const struct v_cycle *cycle, uint32_t level);
/* Borders of a level exchanged with all neighbours, where the rank takes part. */
void v_cycle_exchange(const struct v_cycle *cycle, struct script *script, uint32_t level);
/* One cycle: down to the last level and up again. */
void v_cycle_write(const struct v_cycle *cycle, struct script *script);
