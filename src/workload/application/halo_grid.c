/* SPDX-License-Identifier: Apache-2.0 */
/* Neighbours in a grid of ranks, see flitwarp/halo_grid.h. */
#include "flitwarp/halo_grid.h"

enum step { STEP_NONE, STEP_UP, STEP_DOWN };

/* The coordinate after a step; NONE: there is nothing, or the same place. */
static uint32_t halo_step_to(const struct halo_grid *grid, uint32_t dimension, uint32_t at, uint32_t step)
{
    uint32_t width = grid->width[dimension];
    if (step == STEP_NONE)
        return at;
    bool leaves = step == STEP_UP ? at + 1 == width : at == 0;
    if (width == 1 || (leaves && !grid->wraps))
        return NONE;
    return (at + (step == STEP_UP ? 1 : width - 1)) % width;
}

uint32_t halo_grid_neighbours(const struct halo_grid *grid, uint32_t rank, struct neighbour found[MAX_NEIGHBOURS])
{
    const uint32_t *width = grid->width;
    const uint32_t at[3] = {rank % width[0], rank / width[0] % width[1], rank / width[0] / width[1]};
    uint32_t count = 0;
    for (uint32_t way = 1; way < 27; way++) {
        const uint32_t steps[3] = {way % 3, way / 3 % 3, way / 9};
        uint32_t kind = (steps[0] > 0) + (steps[1] > 0) + (steps[2] > 0);
        uint32_t x = halo_step_to(grid, 0, at[0], steps[0]), y = halo_step_to(grid, 1, at[1], steps[1]),
                 z = halo_step_to(grid, 2, at[2], steps[2]);
        if (kind <= grid->kinds && x != NONE && y != NONE && z != NONE)
            found[count++] = (struct neighbour){.rank = (z * width[1] + y) * width[0] + x, .kind = kind};
    }
    return count;
}
