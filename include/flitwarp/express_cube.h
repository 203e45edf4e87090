/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Read by OpenCL too. Facts of an express cube, for routing that takes its express channels: topology_express_cube(). Each
 * dimension has four ports: to the next router up and down, and by express channel up and down.
 */
#include "flitwarp/grid.h"

#if FW_HOST
#include "flitwarp/topology.h"
#endif

enum express_port { EXPRESS = 2, EXPRESS_PORTS = 4 }; /* plus 1: down */

struct express_cube {
    struct grid grid; /* of which the ports are not those of this network */
    uint32_t interval[MAX_DIMENSIONS];
};

#if FW_HOST
/* NULL: it is none of this family. Who has asked once takes topology->facts. */
extern const char express_cube_family[];
static inline const struct express_cube *topology_express_cube(const struct topology *topology)
{
    return topology->family == express_cube_family ? topology->facts : NULL;
}
#endif
