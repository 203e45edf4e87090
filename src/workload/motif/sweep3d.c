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

static void sweep3d_prepare(struct motif *motif, struct errors *errors)
{
    const struct sweep3d_config *config = motif->config;
    struct halo_grid *grid = motif->state = arena_array(motif->arena, struct halo_grid, 1);
    *grid = motif_grid(motif, &config->grid, 2, errors);
}

/* From the ranks before to those behind along both dimensions; FW_NONE at the ends. */
static void sweep(const struct sweep3d_config *config, struct script *script, const uint32_t before[2],
                  const uint32_t behind[2])
{
    const uint64_t bytes[2] = {config->x_bytes, config->y_bytes};
    for (uint32_t block = 0; block < config->blocks; block++) {
        for (uint32_t d = 0; d < 2; d++)
            if (before[d] != FW_NONE)
                script_receive(script, before[d], bytes[d], 0);
        script_compute(script, config->compute);
        for (uint32_t d = 0; d < 2; d++)
            if (behind[d] != FW_NONE)
                script_send(script, behind[d], bytes[d], 0);
    }
}

static void sweep3d_program(const struct motif *motif, struct script *script)
{
    const struct sweep3d_config *config = motif->config;
    for (uint32_t i = 0; i < config->iterations; i++)
        for (uint32_t octant = 0; octant < config->octants; octant++) { /* two from a corner, up and down its columns */
            const bool is_down[2] = {octant / 2 % 2, octant / 4};
            uint32_t before[2], behind[2];
            for (uint32_t d = 0; d < 2; d++) {
                before[d] = halo_grid_next(motif->state, script->rank, d, is_down[d]);
                behind[d] = halo_grid_next(motif->state, script->rank, d, !is_down[d]);
            }
            sweep(config, script, before, behind);
        }
}

static const struct motif_ops sweep3d = {
    COMPONENT("sweep3d", "waves through a plane of ranks, from every corner", sweep3d_options,
              "{\"type\": \"sweep3d\", \"grid\": [8, 8], \"blocks\": 4, \"iterations\": 1, \"compute\": \"2us\"}"),
    .prepare = sweep3d_prepare,
    .program = sweep3d_program,
};
REGISTER_MOTIF(sweep3d);
