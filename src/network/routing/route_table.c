/* SPDX-License-Identifier: Apache-2.0 */
/* The table of shortest ways, see flitwarp/route_table.h. */
#include "flitwarp/route_table.h"

#include "network/routing/port_lists.h"

#define MAX_TABLE_ROUTERS 16384

/* What is needed while the table is built. */
struct builder {
    const struct topology *topology;
    struct search search;
    struct port_lists lists;
    uint8_t *injects, *ejects; /* by router: does a terminal? */
    struct route_table *table;
};

/* The ports that lead closer: none where there is no way. */
static uint32_t find_list(struct builder *builder, uint32_t router)
{
    uint32_t ports = builder->topology->ports, count = 0, distance = builder->search.distance[router];
    uint32_t *list = port_lists_room(&builder->lists, ports);
    for (uint32_t port = 0; port < builder->search.ports[router]; port++) {
        uint32_t neighbour = builder->search.neighbours[(size_t)router * ports + port];
        if (neighbour != FW_NONE && builder->search.distance[neighbour] + 1 == distance)
            list[ROUTE_TABLE_PORTS + count++] = port;
    }
    list[ROUTE_TABLE_COUNT] = distance == FW_NONE ? 0 : count;
    list[ROUTE_TABLE_DISTANCE] = distance;
    return port_lists_keep(&builder->lists);
}

static bool fill_lists(struct builder *builder, uint32_t *lists)
{
    uint32_t routers = builder->topology->routers, first = builder->table->first, width = builder->table->width;
    const uint32_t *distance = builder->search.distance;
    for (uint32_t there = 0; there < routers; there++) {
        search_from(&builder->search, there);
        if (builder->search.reached < routers && !builder->topology->islands)
            return false;
        for (uint32_t here = 0; here < routers; here++) {
            if (here - first < width)
                lists[(size_t)there * width + here - first] = find_list(builder, here);
            if (distance[here] == FW_NONE)
                continue;
            if (distance[here] > builder->table->diameter)
                builder->table->diameter = distance[here];
            if (builder->ejects[there] && builder->injects[here] && distance[here] > builder->table->longest)
                builder->table->longest = distance[here];
        }
    }
    return true;
}

static const struct route_table *create(const struct routing *routing, const struct choice *self, uint32_t first,
                                        uint32_t width, struct arena *arena, struct errors *errors)
{
    const struct topology *topology = routing->topology;
    if (topology->routers > MAX_TABLE_ROUTERS) {
        choice_error(errors, self, NULL, "\"%s\" keeps a table of all pairs of at most %u routers; there are %u",
                     self->component->name, MAX_TABLE_ROUTERS, topology->routers);
        return NULL;
    }
    struct arena scratch = {0};
    uint32_t *lists = arena_array(arena, uint32_t, (size_t)topology->routers * width);
    struct builder builder = {
        .topology = topology,
        .injects = arena_array(&scratch, uint8_t, topology->routers),
        .ejects = arena_array(&scratch, uint8_t, topology->routers),
        .table = arena_array(arena, struct route_table, 1),
    };
    *builder.table = (struct route_table){.first = first, .width = width, .self = FW_SELF(builder.table)};
    port_lists_init(&builder.lists);
    search_init(&builder.search, topology, &scratch);
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++) {
        builder.injects[topology_router_of(topology, terminal)] = 1;
        builder.ejects[topology_ejects_at(topology, terminal)] = 1;
    }
    bool is_connected = fill_lists(&builder, lists);
    if (!is_connected)
        choice_error(errors, self, NULL, "some routers of this \"%s\" cannot be reached from others",
                     topology->ops->name);
    builder.table->lists = lists;
    builder.table->pool = port_lists_finish(&builder.lists, arena);
    arena_release(&scratch);
    return is_connected ? builder.table : NULL;
}

const struct route_table *route_table_create(const struct routing *routing, const struct choice *self,
                                             struct arena *arena, struct errors *errors)
{
    return create(routing, self, 0, routing->topology->routers, arena, errors);
}

const struct route_table *route_table_create_here(const struct routing *routing, const struct choice *self,
                                                  struct arena *arena, struct errors *errors)
{
    return create(routing, self, routing->first_asked, routing->end_asked - routing->first_asked, arena, errors);
}
