/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Read by OpenCL too. Facts of a mesh with express channels along its edges, for routing that takes them: topology_express_mesh(). */
#include "flitwarp/grid.h"

#if FW_HOST
#include "flitwarp/topology.h"
#endif

#if FW_HOST
/* NULL: it is none. Ports are those of the grid, of which the ones over the edge lead half a side further along it. */
extern const char express_mesh_family[];
static inline const struct grid *topology_express_mesh(const struct topology *topology)
{
    return topology->family == express_mesh_family ? topology->facts : NULL;
}
#endif
