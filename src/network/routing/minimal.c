/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read by OpenCL too. Minimal routing by table, on any topology. With a VC class for every hop (the
 * default) a packet always waits for a higher class than it holds, and there is
 * no deadlock whatever the topology.
 */
#include "flitwarp/route_table.h"

enum select { SELECT_RANDOM, SELECT_ALL, SELECT_FIRST };
enum vcs { VCS_HOPS, VCS_ALL };

struct minimal_config {
    uint32_t select;
    uint32_t vcs;
};

#if FW_HOST
static const char *const select_names[] = {"random", "all", "first", NULL};
static const char *const vcs_names[] = {"hops", "all", NULL};

static const struct option minimal_options[] = {
    OPTION_ENUM(struct minimal_config, select, "\"random\"", select_names,
                "among minimal ports: one at random, all of them (VC allocation picks), or the first"),
    OPTION_ENUM(struct minimal_config, vcs, "\"hops\"", vcs_names,
                "hops: a VC class for each hop, free of deadlock; all: any VC, no guarantee"),
    OPTION_END,
};
#endif

struct minimal {
    FW_FAR(const struct route_table) table;
    uint32_t select; /* enum select */
    fw_bool counts_hops;
};

static void minimal_route(struct route *route)
{
    FW_GLOBAL const struct minimal *minimal = route->routing->state;
    FW_GLOBAL const struct packet *packet = route->packet;
    if (route_ends(route))
        return;
    /* cppcheck-suppress AssignmentIntegerToAddress -- a list is a pointer to whoever compiles it */
    FW_GLOBAL const uint32_t *list = route_table_list(FW_AT(const struct route_table, route->routing, minimal->table),
                                                      route->router, packet->destination_router);
    FW_GLOBAL const uint32_t *ports = list + ROUTE_TABLE_PORTS;
    uint32_t count = list[ROUTE_TABLE_COUNT], class = minimal->counts_hops ? packet->hops : 0;
    if (minimal->select == SELECT_ALL)
        for (uint32_t i = 0; i < count; i++)
            route_add(route, ports[i], class);
    else
        route_add(route, ports[minimal->select == SELECT_RANDOM && count > 1 ? route_pick(route, count) : 0], class);
}

#if FW_HOST
static void minimal_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                            struct errors *errors)
{
    const struct minimal_config *config = self->config;
    const struct route_table *table = route_table_create_here(routing, self, arena, errors);
    if (!table)
        return;
    struct minimal *minimal = arena_array(arena, struct minimal, 1);
    *minimal = (struct minimal){table, config->select, config->vcs == VCS_HOPS};
    routing->state = minimal;
    routing->classes = minimal->counts_hops && table->longest > 1 ? table->longest : 1;
}

/* Classes rise with hops, so that none waits for another in a circle, whichever tables gave them their ways. */
static bool minimal_goes_on(const struct routing *routing, const struct packet *packet, uint32_t router, uint32_t hops)
{
    const struct minimal *minimal = routing->state;
    const uint32_t *list = route_table_list(minimal->table, router, packet->destination_router);
    if (router == packet->destination_router)
        return true;
    return list[ROUTE_TABLE_COUNT] && (!minimal->counts_hops || hops + list[ROUTE_TABLE_DISTANCE] <= routing->classes);
}

static const struct routing_ops minimal = {
    .name = "minimal",
    .summary = "a shortest way by table, on any topology",
    .options = minimal_options,
    .example = "{\"type\": \"minimal\", \"select\": \"all\", \"vcs\": \"hops\"}",
    .needs = "a VC for each hop of the longest way; 1 with vcs all",
    .is_minimal = true,
    .fits_level = FITS_LEVELS | FITS_BY_HOPS,
    .prepare = minimal_prepare,
    .route = minimal_route,
    .goes_on = minimal_goes_on,
    DEVICE_FORM(minimal_route),
};
REGISTER_ROUTING(minimal);
#endif
/* Copied by `flitwarp new`, with an example: network.routing=$ */
