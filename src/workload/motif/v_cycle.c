/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multigrid solvers on a 3D grid of ranks: V-cycles. Each rank holds a cube of points,
 * half as many along each side from level to level. Once a single point is left, every
 * second rank along each dimension hands its own to a rank that goes on for it, and has
 * nothing to do on the levels below.
 *
 *   level 0  o o o o o o o o     exchange borders some times, compute
 *         1  o o o o o o o o
 *         2  o   o   o   o       a point of two ranks: handed over on the way down,
 *         3  o       o           handed back on the way up
 *
 *   multigrid  geometric: cycles over faces alone, each followed by a sum over all ranks
 *   amg        conjugate gradients with an algebraic multigrid preconditioner: an iteration
 *              is a product with the matrix (borders of level 0), a dot product, a cycle, and
 *              two dot products more. Coarse matrices are denser than the one that they come
 *              from: below level 0 a rank exchanges over edges and corners too, many small
 *              messages where the work is least.
 */
#include "flitwarp/motif.h"

struct v_cycle_config {
    uint32_t iterations;
    double compute; /* seconds of a smoothing on level 0 */
    struct u32_list grid;
    bool wraps;
    uint32_t points; /* along each side of a rank's cube on level 0 */
    uint32_t levels, smooths, value_bytes;
    uint64_t allreduce;
};

static const struct option v_cycle_options[] = {
    OPTION_U32(struct v_cycle_config, iterations, "10", 1, 1e9, NULL, "V-cycles"),
    OPTION_SECONDS(struct v_cycle_config, compute, "\"0s\"", 0, 1e6,
                   "time of a rank after each exchange of borders on level 0; on the next an eighth of it ..."),
    OPTION_U32_LIST(struct v_cycle_config, grid, "[]", 1, 65536, NULL,
                    "ranks along 1 to 3 dimensions; none: three, as even as can be"),
    OPTION_BOOL(struct v_cycle_config, wraps, "false",
                "whether the first and the last along a dimension are neighbours"),
    OPTION_U32(struct v_cycle_config, points, "32", 1, 65536, NULL, "along each side of the cube of a rank"),
    OPTION_U32(struct v_cycle_config, levels, "0", 0, 32, NULL, "0: until one rank with one point is left"),
    OPTION_U32(struct v_cycle_config, smooths, "1", 1, 1000, NULL,
               "exchanges of borders on each level, on the way down and on the way up"),
    OPTION_U32(struct v_cycle_config, value_bytes, "8", 1, 1 << 20, "bytes", "of a point"),
    OPTION_U64(struct v_cycle_config, allreduce, "8", 0, MOTIF_MAX_BYTES, "bytes", "of a sum over all ranks; 0: none"),
    OPTION_END,
};

struct v_cycle {
    const struct v_cycle_config *config;
    bool is_algebraic;
    struct halo_grid grid; /* of all ranks */
    uint32_t levels;
};

struct v_cycle_motif {
    struct motif_ops ops;
    bool is_algebraic;
};

/* The level on which a rank has one point. */
static uint32_t last_level_within(const struct v_cycle_config *config)
{
    return 31 - (uint32_t)__builtin_clz(config->points);
}

/* The ranks that take part in a level, see halo_grid. */
static uint32_t v_cycle_grid_level(const struct v_cycle *cycle, uint32_t level)
{
    uint32_t within = last_level_within(cycle->config);
    return level > within ? level - within : 0;
}

static void v_cycle_prepare(struct motif *motif, struct errors *errors)
{
    const struct v_cycle_config *config = motif->config;
    struct v_cycle *cycle = motif->state = arena_array(motif->arena, struct v_cycle, 1);
    cycle->config = config;
    cycle->is_algebraic = CHOICE_OPS(motif->choice, struct v_cycle_motif)->is_algebraic;
    cycle->grid = motif_grid(motif, &config->grid, 3, errors);
    cycle->grid.wraps = config->wraps;
    uint32_t depth = last_level_within(config) + 1; /* levels until one rank with one point is left */
    for (uint32_t d = 0, longest = 1; d < 3; d++)
        for (; longest < cycle->grid.width[d]; longest *= 2)
            depth++;
    cycle->levels = config->levels ? config->levels : depth;
    if (config->levels > depth)
        choice_error(errors, motif->choice, "levels", "%u; accepted: up to %u, where one rank with one point is left",
                     config->levels, depth);
}

static bool takes_part(const struct v_cycle *cycle, uint32_t rank, uint32_t level)
{
    struct halo_place place = halo_grid_place(&cycle->grid, rank);
    return ((place.at[0] | place.at[1] | place.at[2]) & ((1u << v_cycle_grid_level(cycle, level)) - 1)) == 0;
}

/* A face is a plane of points, an edge a line, a corner one. */
static uint64_t border_bytes(const struct v_cycle *cycle, uint32_t level, uint32_t kind)
{
    uint64_t points = 1, side = cycle->config->points >> level ? cycle->config->points >> level : 1;
    for (; kind < 3; kind++)
        points *= side;
    return points * cycle->config->value_bytes;
}

/* Borders of a level exchanged with all neighbours, where the rank takes part. */
static void v_cycle_exchange(const struct v_cycle *cycle, struct script *script, uint32_t level)
{
    struct halo_grid grid = cycle->grid;
    struct neighbour neighbours[MAX_NEIGHBOURS];
    grid.level = v_cycle_grid_level(cycle, level);
    grid.kinds = cycle->is_algebraic && level > 0 ? 3 : 1;
    uint32_t count = halo_grid_neighbours(&grid, script->rank, neighbours);
    for (uint32_t i = 0; i < count; i++)
        script_start_receive(script, neighbours[i].rank, border_bytes(cycle, level, neighbours[i].kind), level);
    for (uint32_t i = 0; i < count; i++)
        script_start_send(script, neighbours[i].rank, border_bytes(cycle, level, neighbours[i].kind), level);
    script_wait(script);
}

static void v_cycle_smooth(const struct v_cycle *cycle, struct script *script, uint32_t level)
{
    double work = cycle->config->compute; /* an eighth of the points on each level */
    for (uint32_t i = 0; i < level; i++)
        work /= 8;
    for (uint32_t i = 0; i < cycle->config->smooths && takes_part(cycle, script->rank, level); i++) {
        v_cycle_exchange(cycle, script, level);
        script_compute(script, work);
    }
}

/* Points handed to the ranks of the next level, or back. */
static void v_cycle_hand_over(const struct v_cycle *cycle, struct script *script, uint32_t level, bool is_down)
{
    uint32_t own = v_cycle_grid_level(cycle, level), next = v_cycle_grid_level(cycle, level + 1);
    const uint32_t *width = cycle->grid.width;
    struct halo_place place = halo_grid_place(&cycle->grid, script->rank);
    if (next == own || !takes_part(cycle, script->rank, level))
        return;
    if (takes_part(cycle, script->rank, level + 1)) {
        for (uint32_t way = 1; way < 8; way++) {
            struct halo_place child = {{place.at[0] + ((way & 1) << own), place.at[1] + ((way >> 1 & 1) << own),
                                        place.at[2] + ((way >> 2) << own)}};
            if (child.at[0] < width[0] && child.at[1] < width[1] && child.at[2] < width[2])
                (is_down ? script_start_receive : script_start_send)(script, halo_grid_rank(&cycle->grid, &child),
                                                                     cycle->config->value_bytes, level);
        }
    } else {
        for (uint32_t d = 0; d < 3; d++)
            place.at[d] = place.at[d] >> next << next;
        (is_down ? script_start_send : script_start_receive)(script, halo_grid_rank(&cycle->grid, &place),
                                                             cycle->config->value_bytes, level);
    }
    script_wait(script);
}

/* One cycle: down to the last level and up again. */
static void v_cycle_write(const struct v_cycle *cycle, struct script *script)
{
    for (uint32_t level = 0; level < cycle->levels; level++) {
        v_cycle_smooth(cycle, script, level);
        if (level + 1 < cycle->levels)
            v_cycle_hand_over(cycle, script, level, true);
    }
    for (uint32_t level = cycle->levels - 1; level-- > 0;) {
        v_cycle_hand_over(cycle, script, level, false);
        v_cycle_smooth(cycle, script, level);
    }
}

static void dot_product(const struct v_cycle_config *config, struct script *script)
{
    if (config->allreduce)
        script_collective(script, OPERATION_ALLREDUCE, FW_WORLD, config->allreduce);
}

static void v_cycle_program(const struct motif *motif, struct script *script)
{
    const struct v_cycle *cycle = motif->state;
    for (uint32_t i = 0; i < cycle->config->iterations; i++) {
        if (cycle->is_algebraic) {
            v_cycle_exchange(cycle, script, 0);
            script_compute(script, cycle->config->compute);
            dot_product(cycle->config, script);
        }
        v_cycle_write(cycle, script);
        dot_product(cycle->config, script);
        if (cycle->is_algebraic)
            dot_product(cycle->config, script);
    }
}

#define V_CYCLE_OPS .prepare = v_cycle_prepare, .program = v_cycle_program
static const struct v_cycle_motif v_cycles[] = {
    {.ops = {COMPONENT("amg",
                       "conjugate gradients with algebraic multigrid: V-cycles that grow denser, and dot products",
                       v_cycle_options, "{\"type\": \"amg\", \"grid\": [4, 4, 4], \"points\": 16, \"iterations\": 1}"),
             V_CYCLE_OPS},
     .is_algebraic = true},
    {.ops = {COMPONENT("multigrid", "V-cycles on a grid of ranks, messages and ranks fewer from level to level",
                       v_cycle_options,
                       "{\"type\": \"multigrid\", \"grid\": [4, 4, 4], \"points\": 32, \"iterations\": 1}"),
             V_CYCLE_OPS}},
};
REGISTER_COMPONENTS("motif", v_cycles);
