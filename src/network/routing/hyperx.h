/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Read by OpenCL too. Steps on a HyperX that several algorithms take. */
#include "flitwarp/hyperx.h"
#include "flitwarp/routing.h"

struct adaptive_config;
struct candidates;

/* The first of the parallel channels that correct the first coordinate that differs, or the last; and its dimension. */
static inline uint32_t hyperx_next(FW_GLOBAL const struct hyperx *hyperx, uint32_t router, uint32_t target,
                                   bool is_reversed, uint32_t *dimension)
{
    FW_GLOBAL const uint16_t *here = hyperx_coordinates(hyperx, router), *there = hyperx_coordinates(hyperx, target);
    uint32_t d = is_reversed ? hyperx->dimensions - 1 : 0;
    while (here[d] == there[d])
        d = is_reversed ? d - 1 : d + 1;
    *dimension = d;
    return hyperx_port_from(hyperx, here[d], d, there[d]);
}

/* Offers that hop, on all parallel channels. */
static inline void hyperx_step(struct route *route, FW_GLOBAL const struct hyperx *hyperx, uint32_t target,
                               uint32_t class, bool is_reversed)
{
    uint32_t d, port = hyperx_next(hyperx, route->router, target, is_reversed, &d);
    for (uint32_t channel = 0; channel < hyperx->channels[d]; channel++)
        route_add(route, port + channel, class);
}

/*
 * Gathers the hops that correct a coordinate and, in the dimensions of the set `deroutes` (a bit each) that are not yet
 * right, those that move to any other coordinate, all with VCs of one class.
 */
void hyperx_gather(struct candidates *candidates, const struct route *route,
                   FW_GLOBAL const struct adaptive_config *config, uint32_t class, uint32_t deroutes);
