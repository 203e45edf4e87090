/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transpose: the element at (x, y) of a matrix spread over the terminals goes to
 * (y, x). On a grid whose first half of the dimensions has the widths of the
 * second half, the halves of the router's coordinates change places and the
 * terminal keeps its slot at the router. Elsewhere the halves of the terminal's
 * number do, which needs 4, 16, 64, ... terminals. Terminals on the diagonal send
 * to themselves.
 */
#include "flitwarp/traffic.h"

struct transpose_state {
    uint32_t slots; /* terminals that move together */
    uint32_t side;  /* of the square */
};

/* The number of routers in half the dimensions; 0: the halves differ. */
static uint32_t grid_side(const struct grid *grid)
{
    uint32_t half = grid->dimensions / 2, side = 1;
    if (grid->dimensions % 2)
        return 0;
    for (uint32_t d = 0; d < half; d++) {
        if (grid->width[d] != grid->width[half + d])
            return 0;
        side *= grid->width[d];
    }
    return side;
}

/* 2^b of 2^(2b); 0: it is not a power of four. */
static uint32_t power_side(uint32_t terminals)
{
    uint32_t side = 1;
    while (side < 1u << 15 && side * side < terminals)
        side *= 2;
    return side * side == terminals ? side : 0;
}

static void transpose_prepare(struct traffic *traffic, const struct choice *self, const struct traffic_space *space,
                              struct errors *errors)
{
    struct transpose_state *state = arena_array(space->arena, struct transpose_state, 1);
    traffic->state = state;
    *state = (struct transpose_state){space->concentration, space->grid ? grid_side(space->grid) : 0};
    if (!state->side)
        *state = (struct transpose_state){1, power_side(space->terminals)};
    if (!state->side)
        choice_error(errors, self, NULL, "transpose needs a square grid or a power of four of terminals: there are %u",
                     space->terminals);
}

static uint32_t transpose_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    (void)random;
    const struct transpose_state *state = traffic->state;
    uint32_t slot = source % state->slots, place = source / state->slots;
    uint32_t x = place % state->side, y = place / state->side;
    return (x * state->side + y) * state->slots + slot;
}

static const struct traffic_ops transpose = {
    .name = "transpose",
    .summary = "from (x, y) to (y, x)",
    .prepare = transpose_prepare,
    .destination = transpose_destination,
};
REGISTER_TRAFFIC(transpose);
