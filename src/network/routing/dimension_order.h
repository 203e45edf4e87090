/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Read by OpenCL too. Dimension-order steps for every algorithm that is made of them. A ring is one
 * dimension of the grid with what a step needs to know of it.
 */
#include "flitwarp/routing.h"

enum dateline { DATELINE_BALANCED, DATELINE_FIXED, DATELINE_BY_WRAP, DATELINE_NONE, DATELINE_FROM_WRAP };
enum tie { TIE_RANDOM, TIE_UP };

/* The settings that every algorithm made of dimension-order steps has. */
struct ring_config {
    uint32_t dateline;
    uint32_t tie;
    fw_bool one_way; /* always up; no setting of dimension order itself */
};

#if FW_HOST
extern const struct option ring_options[];
#endif

struct ring {
    FW_FAR(const uint8_t) hops; /* by past pivot, at, to: enum hop; NULL: too wide for a table */
    uint32_t last;              /* coordinate */
    uint32_t width;
    uint32_t channels;
    fw_bool is_simple;     /* no parallel channels, and all VCs of a router in one word */
    uint64_t each_channel; /* bit 0 of each parallel channel, where a word holds the VCs of all; else 0 */
    uint32_t first_bit[2]; /* up and down: of the direction's first port, in a set of output VCs */
    uint64_t offers[8];    /* by direction * 4 + classes (bits): the answer, where the ring is simple */
};

struct dimension_order {
    FW_FAR(const uint16_t) coordinates; /* by router * dimensions + dimension */
    FW_FAR(const uint64_t) packed;      /* by router: coordinates in 16 bits each; NULL where that is not enough */
    FW_FAR(const uint32_t) flat;        /* by router, on a mesh of up to two dimensions: both coordinates; else NULL */
    uint32_t dimensions;
    fw_bool wraps;
    uint32_t dateline; /* enum dateline */
    uint32_t tie;
    fw_bool one_way;
    uint32_t classes; /* of VCs that one pass over the dimensions needs */
    struct ring rings[MAX_DIMENSIONS];
    uint64_t mesh_offers[8]; /* by 2 * dimension + down, for up to four dimensions */
};

/* The only bit of packet->route that steps use: the packet has passed its pivot (by_wrap: is to wrap, or has wrapped) in
   the current dimension. */
#define ROUTE_PAST_PIVOT 1u

/* Channels on a shortest way between two routers. */
static inline uint32_t dimension_order_distance(const struct routing *routing,
                                                FW_GLOBAL const struct dimension_order *order, uint32_t from,
                                                uint32_t to)
{
    FW_GLOBAL const uint16_t *coordinates = FW_AT(const uint16_t, routing, order->coordinates);
    FW_GLOBAL const uint16_t *a = coordinates + (size_t)from * order->dimensions;
    FW_GLOBAL const uint16_t *b = coordinates + (size_t)to * order->dimensions;
    uint32_t hops = 0;
    for (uint32_t d = 0; d < order->dimensions; d++) {
        uint32_t apart = a[d] > b[d] ? a[d] - b[d] : b[d] - a[d], around = order->rings[d].width - apart;
        hops += order->wraps && around < apart ? around : apart;
    }
    return hops;
}

#if FW_HOST
/* For messages: the topologies that are one. */
#define GRIDS "a grid of routers (torus, mesh, hypercube)"

/* Bakes the grid into flat arrays; adds an error and returns NULL where there is no grid. */
struct dimension_order *dimension_order_create(const struct routing *routing, const struct choice *self,
                                               const struct ring_config *config, struct arena *arena,
                                               struct errors *errors);

/*
 * Offers the next hop from route->router to another router, with VCs from classes [class, class + order->classes), the
 * first dimension first or, reversed, the last.
 */
void dimension_order_step(struct route *route, const struct dimension_order *order, uint32_t target, uint32_t class,
                          bool reversed);
#else
#include "network/routing/dimension_order_steps.h"
#endif
