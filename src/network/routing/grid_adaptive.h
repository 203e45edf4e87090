/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * What minimal adaptive routing on a grid is made of: the hops that lead closer,
 * and a layer of VCs on which dimension order is always offered (Duato 1993).
 */
#include "network/routing/dimension_order.h"

/* The directions of a dimension that lead closer to a target; both of a torus where both ways round are equally long. */
enum { WAY_UP = 1, WAY_DOWN = 2 };

static inline uint32_t grid_ways(const struct grid *grid, const uint16_t *coordinates, uint32_t router, uint32_t target,
                                 uint32_t dimension)
{
    uint32_t at = coordinates[(size_t)router * grid->dimensions + dimension];
    uint32_t to = coordinates[(size_t)target * grid->dimensions + dimension];
    if (at == to)
        return 0;
    if (!grid->wraps)
        return to > at ? WAY_UP : WAY_DOWN;
    uint32_t up = to > at ? to - at : to + grid->width[dimension] - at, down = grid->width[dimension] - up;
    return (up <= down ? WAY_UP : 0) | (down <= up ? WAY_DOWN : 0);
}

/* Offers some VCs of all channels that lead in some directions of a dimension. */
void grid_offer(struct route *route, uint32_t dimension, uint32_t ways, uint64_t vcs);
/* Offers them wherever a hop leads closer. */
void grid_offer_all(struct route *route, const uint16_t *coordinates, uint64_t vcs);

struct escape_layer {
    const struct dimension_order *order; /* a VC is a class by itself, and the first ones are its */
    uint64_t adaptive_vcs;               /* the others */
};

/* Adds an error and returns NULL where there is no grid. Names the escape VCs, if there are others beside them. */
const struct escape_layer *escape_layer_create(struct routing *routing, const struct choice *self, struct arena *arena,
                                               struct errors *errors);
