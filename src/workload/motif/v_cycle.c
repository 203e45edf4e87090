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
    struct halo_grid grid; /* of all ranks */
    uint32_t levels;
    uint32_t dense_from; /* the level from which on edges and corners are neighbours too */
};

struct position {
    uint32_t at[3];
};

static struct position position_of(const struct v_cycle *cycle, uint32_t rank)
{
    const uint32_t *width = cycle->grid.width;
    return (struct position){{rank % width[0], rank / width[0] % width[1], rank / width[0] / width[1]}};
}

static uint32_t rank_at(const struct v_cycle *cycle, const struct position *position)
{
    const uint32_t *width = cycle->grid.width;
    return (position->at[2] * width[1] + position->at[1]) * width[0] + position->at[0];
}

/* Halvings until one of `count` is left. */
static uint32_t halvings(uint32_t count) { return count > 1 ? 32 - (uint32_t)__builtin_clz(count - 1) : 0; }

static uint32_t side(const struct v_cycle *cycle, uint32_t level)
{
    return cycle->config->points >> level ? cycle->config->points >> level : 1;
}

/* The ranks along a dimension that take part in a level are so many apart. */
static uint32_t v_cycle_stride(const struct v_cycle *cycle, uint32_t level)
{
    uint32_t within = 31 - (uint32_t)__builtin_clz(cycle->config->points); /* the level on which a rank has one point */
    return level > within ? (uint32_t)1 << (level - within) : 1;
}

/* Levels until one rank with one point is left. */
static uint32_t v_cycle_depth(const struct v_cycle *cycle)
{
    const uint32_t *width = cycle->grid.width;
    uint32_t longest = width[0] > width[1] ? width[0] : width[1];
    longest = longest > width[2] ? longest : width[2];
    return 32 - (uint32_t)__builtin_clz(cycle->config->points) + halvings(longest);
}

/* From the settings, or adds errors. */
static void v_cycle_prepare(struct motif *motif, uint32_t dense_from, struct errors *errors)
{
    const struct v_cycle_config *config = motif->config;
    struct v_cycle *cycle = motif->state = arena_array(motif->arena, struct v_cycle, 1);
    cycle->config = config;
    cycle->grid = motif_grid(motif, &config->grid, 3, errors);
    cycle->grid.wraps = config->wraps;
    cycle->dense_from = dense_from;
    uint32_t depth = v_cycle_depth(cycle);
    cycle->levels = config->levels ? config->levels : depth;
    if (config->levels > depth)
        choice_error(errors, motif->choice, "levels", "%u; accepted: up to %u, where one rank with one point is left",
                     config->levels, depth);
}

static bool takes_part(const struct position *position, uint32_t stride)
{
    return position->at[0] % stride == 0 && position->at[1] % stride == 0 && position->at[2] % stride == 0;
}

/* The neighbours of a rank among those that take part in a level, as ranks of the job. */
static uint32_t find_neighbours(const struct v_cycle *cycle, const struct position *position, uint32_t level,
                                struct neighbour found[MAX_NEIGHBOURS])
{
    uint32_t stride = v_cycle_stride(cycle, level);
    struct v_cycle coarse = {.grid = {.wraps = cycle->grid.wraps, .kinds = level >= cycle->dense_from ? 3 : 1}};
    struct position own;
    for (uint32_t d = 0; d < 3; d++) {
        coarse.grid.width[d] = (cycle->grid.width[d] + stride - 1) / stride;
        own.at[d] = position->at[d] / stride;
    }
    uint32_t count = halo_grid_neighbours(&coarse.grid, rank_at(&coarse, &own), found);
    for (uint32_t i = 0; i < count; i++) {
        struct position other = position_of(&coarse, found[i].rank);
        for (uint32_t d = 0; d < 3; d++)
            other.at[d] *= stride;
        found[i].rank = rank_at(cycle, &other);
    }
    return count;
}

/* A face is a plane of points, an edge a line, a corner one. */
static uint64_t border_bytes(const struct v_cycle *cycle, uint32_t level, uint32_t kind)
{
    uint64_t points = 1;
    for (; kind < 3; kind++)
        points *= side(cycle, level);
    return points * cycle->config->value_bytes;
}

/* Borders of a level exchanged with all neighbours, where the rank takes part. */
static void v_cycle_exchange(const struct v_cycle *cycle, struct script *script, uint32_t level)
{
    struct position position = position_of(cycle, script->rank);
    struct neighbour neighbours[MAX_NEIGHBOURS];
    if (!takes_part(&position, v_cycle_stride(cycle, level)))
        return;
    uint32_t count = find_neighbours(cycle, &position, level, neighbours);
    for (uint32_t i = 0; i < count; i++)
        script_start_receive(script, neighbours[i].rank, border_bytes(cycle, level, neighbours[i].kind), level);
    for (uint32_t i = 0; i < count; i++)
        script_start_send(script, neighbours[i].rank, border_bytes(cycle, level, neighbours[i].kind), level);
    script_wait(script);
}

static void v_cycle_smooth(const struct v_cycle *cycle, struct script *script, uint32_t level)
{
    struct position position = position_of(cycle, script->rank);
    double work = cycle->config->compute; /* an eighth of the points on each level */
    for (uint32_t i = 0; i < level; i++)
        work /= 8;
    if (!takes_part(&position, v_cycle_stride(cycle, level)))
        return;
    for (uint32_t i = 0; i < cycle->config->smooths; i++) {
        v_cycle_exchange(cycle, script, level);
        script_compute(script, work);
    }
}

/* Points handed to the ranks of the next level, or back. */
static void v_cycle_hand_over(const struct v_cycle *cycle, struct script *script, uint32_t level, bool is_down)
{
    uint32_t stride = v_cycle_stride(cycle, level), next = v_cycle_stride(cycle, level + 1);
    struct position position = position_of(cycle, script->rank), parent;
    if (next == stride || !takes_part(&position, stride))
        return;
    for (uint32_t d = 0; d < 3; d++)
        parent.at[d] = position.at[d] / next * next;
    if (!takes_part(&position, next)) {
        (is_down ? script_start_send : script_start_receive)(script, rank_at(cycle, &parent),
                                                             cycle->config->value_bytes, level);
    } else {
        for (uint32_t way = 1; way < 8; way++) {
            struct position child = {{position.at[0] + (way & 1 ? stride : 0), position.at[1] + (way & 2 ? stride : 0),
                                      position.at[2] + (way & 4 ? stride : 0)}};
            const uint32_t *width = cycle->grid.width;
            if (child.at[0] < width[0] && child.at[1] < width[1] && child.at[2] < width[2])
                (is_down ? script_start_receive : script_start_send)(script, rank_at(cycle, &child),
                                                                     cycle->config->value_bytes, level);
        }
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

static void multigrid_prepare(struct motif *motif, struct trace_builder *builder, struct errors *errors)
{
    (void)builder;
    v_cycle_prepare(motif, UINT32_MAX, errors);
}

static void multigrid_program(const struct motif *motif, struct script *script)
{
    const struct v_cycle_config *config = motif->config;
    for (uint32_t i = 0; i < config->iterations; i++) {
        v_cycle_write(motif->state, script);
        dot_product(config, script);
    }
}

static void amg_prepare(struct motif *motif, struct trace_builder *builder, struct errors *errors)
{
    (void)builder;
    v_cycle_prepare(motif, 1, errors);
}

static void amg_program(const struct motif *motif, struct script *script)
{
    const struct v_cycle_config *config = motif->config;
    for (uint32_t i = 0; i < config->iterations; i++) {
        v_cycle_exchange(motif->state, script, 0);
        script_compute(script, config->compute);
        dot_product(config, script);
        v_cycle_write(motif->state, script);
        dot_product(config, script);
        dot_product(config, script);
    }
}

static const struct motif_ops v_cycles[] = {
    {
        .name = "amg",
        .summary = "conjugate gradients with algebraic multigrid: V-cycles that grow denser, and dot products",
        .options = v_cycle_options,
        .example = "{\"type\": \"amg\", \"grid\": [4, 4, 4], \"points\": 16, \"iterations\": 1}",
        .prepare = amg_prepare,
        .program = amg_program,
    },
    {
        .name = "multigrid",
        .summary = "V-cycles on a grid of ranks, messages and ranks fewer from level to level",
        .options = v_cycle_options,
        .example = "{\"type\": \"multigrid\", \"grid\": [4, 4, 4], \"points\": 32, \"iterations\": 1}",
        .prepare = multigrid_prepare,
        .program = multigrid_program,
    },
};
REGISTER_COMPONENTS("motif", v_cycles);
