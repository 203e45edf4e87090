/* SPDX-License-Identifier: Apache-2.0 */
/* Where routers stand, see analysis.h: as if nothing had failed. */
#include "network/graph/analysis.h"

#include "flitwarp/butterfly.h"
#include "flitwarp/hierarchy.h"
#include "flitwarp/hyperx.h"
#include "flitwarp/tree.h"

#include <stdio.h>
#include <string.h>

uint32_t topology_dimensions(const struct topology *given)
{
    const struct topology *topology = topology_whole(given);
    return topology->grid              ? topology->grid->dimensions
           : topology_hyperx(topology) ? topology_hyperx(topology)->dimensions
                                       : 0;
}

uint32_t topology_coordinate(const struct topology *given, uint32_t router, uint32_t dimension)
{
    const struct topology *topology = topology_whole(given);
    if (topology_hyperx(topology))
        return hyperx_coordinate(topology_hyperx(topology), router, dimension);
    uint32_t coordinates[MAX_DIMENSIONS];
    grid_coordinates(topology->grid, router, coordinates);
    return coordinates[dimension];
}

const char *topology_router_name(const struct topology *given, uint32_t router, char *buffer, size_t size)
{
    const struct topology *topology = topology_whole(given);
    size_t used = 0;
    if (!topology->grid)
        snprintf(buffer, size, "%u", router);
    for (uint32_t d = 0; topology->grid && d < topology->grid->dimensions && used < size; d++)
        used +=
            (size_t)snprintf(buffer + used, size - used, "%s%u%s", d ? "," : "(",
                             topology_coordinate(topology, router, d), d + 1 < topology->grid->dimensions ? "" : ")");
    return buffer;
}

uint32_t topology_level(const struct topology *given, uint32_t router)
{
    const struct topology *topology = topology_whole(given);
    if (topology_tree(topology))
        return tree_level(topology_tree(topology), router);
    return topology_butterfly(topology) ? router / topology_butterfly(topology)->rows : FW_NONE;
}

/* Gives a number to everything that can be reached without a link of one class. */
static void flood(const struct topology *topology, uint32_t avoided, uint32_t router, uint32_t group, uint32_t *groups,
                  uint32_t *stack)
{
    uint32_t depth = 1;
    stack[0] = router;
    groups[router] = group;
    while (depth > 0) {
        uint32_t from = stack[--depth];
        for (uint32_t port = 0; port < topology->ports; port++) {
            struct router_port to;
            if (!topology->ops->peer(topology, from, port, &to) || groups[to.router] != FW_NONE ||
                topology->ops->channel_class(topology, from, port) == avoided)
                continue;
            groups[to.router] = group;
            stack[depth++] = to.router;
        }
    }
}

const uint32_t *topology_groups(const struct topology *given, struct arena *arena)
{
    const struct topology *topology = topology_whole(given);
    uint32_t routers = topology->routers, classes = topology->channel_classes, global = 0, count = 0;
    if (topology_hierarchy(topology))
        return topology_hierarchy(topology)->router_subnetwork;
    while (global < classes && strcmp(topology->channel_class_names[global], "global") != 0)
        global++;
    if (global == classes)
        return NULL;
    uint32_t *groups = arena_array(arena, uint32_t, routers), *stack = arena_array(arena, uint32_t, routers);
    memset(groups, 0xff, sizeof *groups * routers);
    for (uint32_t router = 0; router < routers; router++)
        if (groups[router] == FW_NONE)
            flood(topology, global, router, count++, groups, stack);
    return groups;
}
