/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sweeps through a volume (Sweep3D): ranks in a plane hold columns of cells, which are
 * done in blocks from one end to the other. A rank does a block when the ranks before it
 * in both dimensions have done theirs, and tells the ranks behind it. Each of the eight
 * octants begins at another corner.
 *
 *   0 -> 1 -> 2       the wave of an octant that begins at 0: a rank at (x, y) is
 *   v    v    v       x + y blocks behind
 *   3 -> 4 -> 5
 */
#include "flitwarp/motif.h"

struct sweep3d_config {
    uint32_t iterations;
    struct u32_list grid;
    uint32_t blocks, octants;
    double compute;
    uint64_t x_bytes, y_bytes;
};

static const struct option sweep3d_options[] = {
    OPTION_U32(struct sweep3d_config, iterations, "10", 1, 1e9, NULL, "how often all octants are swept"),
    OPTION_U32_LIST(struct sweep3d_config, grid, "[]", 1, 65536, NULL, "ranks along x and y; none: as even as can be"),
    OPTION_U32(struct sweep3d_config, blocks, "10", 1, 1e6, NULL, "of a column, done one after the other"),
    OPTION_U32(struct sweep3d_config, octants, "8", 1, 8, NULL, "sweeps of an iteration, two from each corner"),
    OPTION_SECONDS(struct sweep3d_config, compute, "\"0s\"", 0, 1e6, "time of a rank for one block"),
    OPTION_U64(struct sweep3d_config, x_bytes, "4096", 0, MOTIF_MAX_BYTES, "bytes",
               "to the next rank along x, a block"),
    OPTION_U64(struct sweep3d_config, y_bytes, "4096", 0, MOTIF_MAX_BYTES, "bytes",
               "to the next rank along y, a block"),
    OPTION_END,
};

static void sweep3d_prepare(struct motif *motif, struct trace_builder *builder, struct errors *errors)
{
    const struct sweep3d_config *config = motif->config;
    struct halo_grid *grid = motif->state = arena_array(motif->arena, struct halo_grid, 1);
    (void)builder;
    *grid = motif_grid(motif, &config->grid, 2, errors);
}

/* The ranks before and behind one along a dimension, for a sweep upwards or downwards; FW_NONE at the ends. */
struct ways {
    uint32_t before, behind;
};

static struct ways ways_along(uint32_t rank, uint32_t at, uint32_t width, uint32_t stride, bool is_down)
{
    uint32_t lower = at > 0 ? rank - stride : FW_NONE, upper = at + 1 < width ? rank + stride : FW_NONE;
    return is_down ? (struct ways){upper, lower} : (struct ways){lower, upper};
}

static void sweep(const struct sweep3d_config *config, struct script *script, struct ways x, struct ways y)
{
    for (uint32_t block = 0; block < config->blocks; block++) {
        if (x.before != FW_NONE)
            script_receive(script, x.before, config->x_bytes, 0);
        if (y.before != FW_NONE)
            script_receive(script, y.before, config->y_bytes, 0);
        script_compute(script, config->compute);
        if (x.behind != FW_NONE)
            script_send(script, x.behind, config->x_bytes, 0);
        if (y.behind != FW_NONE)
            script_send(script, y.behind, config->y_bytes, 0);
    }
}

static void sweep3d_program(const struct motif *motif, struct script *script)
{
    const struct sweep3d_config *config = motif->config;
    const struct halo_grid *grid = motif->state;
    uint32_t rank = script->rank, width = grid->width[0];
    for (uint32_t i = 0; i < config->iterations; i++)
        for (uint32_t octant = 0; octant < config->octants; octant++) { /* two from a corner, up and down its columns */
            bool down_x = octant / 2 % 2, down_y = octant / 4;
            sweep(config, script, ways_along(rank, rank % width, width, 1, down_x),
                  ways_along(rank, rank / width, grid->width[1], width, down_y));
        }
}

static const struct motif_ops sweep3d = {
    .name = "sweep3d",
    .summary = "waves through a plane of ranks, from every corner",
    .options = sweep3d_options,
    .example = "{\"type\": \"sweep3d\", \"grid\": [8, 8], \"blocks\": 4, \"iterations\": 1, \"compute\": \"2us\"}",
    .prepare = sweep3d_prepare,
    .program = sweep3d_program,
};
REGISTER_MOTIF(sweep3d);
