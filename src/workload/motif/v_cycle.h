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
#define V_CYCLE_OPTIONS                                                                                                \
    OPTION_U32(struct v_cycle_config, iterations, "10", 1, 1e9, NULL, "V-cycles"),                                     \
        OPTION_SECONDS(struct v_cycle_config, compute, "\"0s\"", 0, 1e6,                                               \
                       "time of a rank after each exchange of borders on level 0; on the next an eighth of it ..."),   \
        OPTION_U32_LIST(struct v_cycle_config, grid, "[]", 1, 65536, NULL,                                             \
                        "ranks along 1 to 3 dimensions; none: three, as even as can be"),                              \
        OPTION_BOOL(struct v_cycle_config, wraps, "false",                                                             \
                    "whether the first and the last along a dimension are neighbours"),                                \
        OPTION_U32(struct v_cycle_config, points, "32", 1, 65536, NULL, "along each side of the cube of a rank"),      \
        OPTION_U32(struct v_cycle_config, levels, "0", 0, 32, NULL, "0: until one rank with one point is left"),       \
        OPTION_U32(struct v_cycle_config, smooths, "1", 1, 1000, NULL,                                                 \
                   "exchanges of borders on each level, on the way down and on the way up"),                           \
        OPTION_U32(struct v_cycle_config, value_bytes, "8", 1, 1 << 20, "bytes", "of a point"),                        \
        OPTION_U64(struct v_cycle_config, allreduce, "8", 0, MOTIF_MAX_BYTES, "bytes",                                 \
                   "of a sum over all ranks; 0: none")

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
