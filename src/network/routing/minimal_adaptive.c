/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read by OpenCL too. Minimal adaptive routing on any topology: every port that leads closer is a
 * candidate, and the reduction takes the least congested. With a VC class for
 * every hop (the default) there is no deadlock whatever the topology. A HyperX
 * needs no table: any coordinate that is wrong may be corrected next.
 */
#include "flitwarp/reduction.h"
#include "flitwarp/route_table.h"
#include "network/routing/hyperx.h"
#if !FW_HOST
#include "network/routing/hyperx.c"
#endif

enum vcs { VCS_HOPS, VCS_ALL };

struct minimal_adaptive_config {
    struct adaptive_config adaptive;
    uint32_t vcs;
};

#if FW_HOST
static const char *const vcs_names[] = {"hops", "all", NULL};

static const struct option minimal_adaptive_options[] = {
    OPTION_ROWS(struct minimal_adaptive_config, adaptive, struct adaptive_config, adaptive_options),
    OPTION_ENUM(struct minimal_adaptive_config, vcs, "\"hops\"", vcs_names,
                "hops: a VC class for each hop, free of deadlock; all: any VC, no guarantee"),
    OPTION_END,
};

static void minimal_adaptive_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                                     struct errors *errors)
{
    const struct topology *topology = routing->topology;
    const struct minimal_adaptive_config *config = self->config;
    const struct route_table *table =
        topology_hyperx(topology) ? NULL : route_table_create_here(routing, self, arena, errors);
    uint32_t longest = topology_hyperx(topology) ? topology_hyperx(topology)->dimensions : table ? table->longest : 0;
    routing->state = (void *)table; /* only ever read */
    routing->classes = config->vcs == VCS_HOPS && longest > 1 ? longest : 1;
    adaptive_check(routing, self, topology->ports, errors);
}

#endif

static void minimal_adaptive_route(struct route *route)
{
    FW_GLOBAL const struct minimal_adaptive_config *config = route->routing->config;
    if (route_ends(route))
        return;
    struct candidates candidates;
    candidates.count = 0;
    uint32_t class = config->vcs == VCS_HOPS ? route->packet->hops : 0;
    if (ROUTING_IS_ON(route->routing, hyperx))
        hyperx_gather(&candidates, route, &config->adaptive, class, 0);
    else
        candidates_add_list(&candidates, route, &config->adaptive,
                            route_table_list(route->routing->state, route->router, route->packet->destination_router),
                            route->routing->class_vcs[class]);
    candidates_offer(&candidates, route, &config->adaptive);
}

#if FW_HOST
static const struct routing_ops minimal_adaptive = {
    .name = "minimal_adaptive",
    .summary = "the least congested of the ports that lead closer, on any topology",
    .options = minimal_adaptive_options,
    .example = "{\"type\": \"minimal_adaptive\", \"mode\": \"port_average\", \"reduction\": \"least_congested\"}",
    .needs = "a VC for each hop of the longest way; 1 with vcs all",
    .is_adaptive = true,
    .is_minimal = true,
    .fits_level = FITS_LEVELS | FITS_BY_HOPS,
    .prepare = minimal_adaptive_prepare,
    .route = minimal_adaptive_route,
    DEVICE_FORM(minimal_adaptive_route),
};
REGISTER_ROUTING(minimal_adaptive);
#endif
