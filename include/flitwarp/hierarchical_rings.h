/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Read by OpenCL too. Facts of rings of rings, for routing that climbs them: topology_rings(). Routers with terminals
 * come first, those of a ring together; then the bridges that join the rings of level 0 to those of level 1, and so on
 * upwards, in the order of their rings.
 *   A router is in the ring of its own level, at ports 0 and 1; a bridge is there at place 0, and in the ring above at
 * ports 2 and 3.
 */
#include "flitwarp/both.h"

#if FW_HOST
#include "flitwarp/topology.h"
#endif

#define RING_LEVELS 16

enum rings_port { RINGS_UP, RINGS_DOWN, RINGS_ABOVE, RINGS_PORTS = 4 };

struct hierarchical_rings {
    uint32_t levels;
    uint32_t width[RING_LEVELS];            /* routers, or rings of the level below, in a ring */
    uint32_t below[RING_LEVELS];            /* routers with terminals in and below a ring */
    uint32_t first_router[RING_LEVELS + 1]; /* of those whose own ring is of a level + 1: bridges from level 1 on */
};

/* Where a router is: in which ring of a level, and at which place. */
struct ring_place {
    uint32_t level, ring, place;
};

#if FW_HOST
/* NULL: it is none of this family. Who has asked once takes topology->facts. */
extern const char hierarchical_rings_family[];
static inline const struct hierarchical_rings *topology_rings(const struct topology *topology)
{
    return topology->family == hierarchical_rings_family ? topology->facts : NULL;
}
#endif

/* Has a ring of the level a bridge to the one above? It is at place 0 then, before all others. */
static inline uint32_t rings_bridges(FW_GLOBAL const struct hierarchical_rings *rings, uint32_t level)
{
    return level + 1 < rings->levels;
}

/* Routers in a ring of the level, with its bridge. */
static inline uint32_t rings_size(FW_GLOBAL const struct hierarchical_rings *rings, uint32_t level)
{
    return rings->width[level] + rings_bridges(rings, level);
}

/* Where a router is in its own ring. */
static inline struct ring_place rings_place(FW_GLOBAL const struct hierarchical_rings *rings, uint32_t router)
{
    struct ring_place at = {0, router / rings->width[0], router % rings->width[0] + rings_bridges(rings, 0)};
    if (router < rings->first_router[1])
        return at;
    while (router >= rings->first_router[at.level + 2])
        at.level++;
    at.ring = router - rings->first_router[at.level + 1];
    at.place = 0;
    return at;
}

/* Where the bridge of a ring is in the ring above. */
static inline struct ring_place rings_above(FW_GLOBAL const struct hierarchical_rings *rings, struct ring_place at)
{
    uint32_t level = at.level + 1, width = rings->width[level];
    struct ring_place above = {level, at.ring / width, at.ring % width + rings_bridges(rings, level)};
    return above;
}

/* The place in a ring of who leads to a router with terminals below it: the place 0 of its bridge, when it is elsewhere. */
static inline uint32_t rings_towards(FW_GLOBAL const struct hierarchical_rings *rings, struct ring_place at,
                                     uint32_t router)
{
    uint32_t below = at.level ? rings->below[at.level - 1] : 1;
    if (router / rings->below[at.level] != at.ring)
        return 0;
    return router / below % rings->width[at.level] + rings_bridges(rings, at.level);
}
