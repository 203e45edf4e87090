/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Up/down on any topology, also one of which links have failed: a packet goes up towards a root and then down, by the
 * shortest of such ways (legal_ways.h). One VC, no deadlock, whatever the graph; the price is that ways are longer than
 * shortest ones and crowd round the root.
 *   Who has come by a channel down may not go up again, so a packet notes at each router where it has been.
 */
#include "flitwarp/reduction.h"
#include "network/routing/legal_ways.h"
#include "network/routing/routing.h"

enum selection { SELECTION_ADAPTIVE, SELECTION_RANDOM, SELECTION_FIRST };

struct tree_up_down_config {
    struct adaptive_config adaptive;
    struct u32_list roots;
    uint32_t selection;
};

static const char *const selection_names[] = {"adaptive", "random", "first", NULL};

static const struct option tree_up_down_options[] = {
    OPTION_ROOTS(struct tree_up_down_config),
    OPTION_ENUM(struct tree_up_down_config, selection, "\"adaptive\"", selection_names,
                "which of the ports that begin a shortest such way: the least congested, any, or the first"),
    OPTION_ROWS(struct tree_up_down_config, adaptive, struct adaptive_config, adaptive_options,
                ONLY_WITH("selection=adaptive")),
    OPTION_END,
};

static void tree_up_down_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                                 struct errors *errors)
{
    const struct tree_up_down_config *config = self->config;
    const struct legal_ways *ways = legal_ways_from_roots(routing, &config->roots, self, arena, errors);
    routing->state = (void *)ways; /* only ever read */
    routing->is_adaptive = config->selection == SELECTION_ADAPTIVE;
    if (ways)
        adaptive_check(routing, self, config->selection == SELECTION_ADAPTIVE ? routing->topology->ports : 1, errors);
}

static void tree_up_down_route(struct route *route)
{
    const struct tree_up_down_config *config = route->routing->config;
    const struct legal_ways *ways = route->routing->state;
    struct packet *packet = route->packet;
    if (route_ends(route))
        return;
    const uint32_t *list =
        legal_ways_list(ways, route->router, packet->destination_router, legal_ways_phase(ways, route));
    const uint32_t *ports = list + ROUTE_TABLE_PORTS;
    uint32_t count = list[ROUTE_TABLE_COUNT];
    packet->waypoint = route->router;
    if (config->selection == SELECTION_ADAPTIVE) {
        struct candidates candidates;
        candidates.count = 0;
        candidates_add_list(&candidates, route, &config->adaptive, list, route->routing->class_vcs[0]);
        candidates_offer(&candidates, route, &config->adaptive);
        return;
    }
    route_add(route, ports[config->selection == SELECTION_RANDOM && count > 1 ? route_pick(route, count) : 0], 0);
}

static const struct routing_ops tree_up_down = {
    .name = "tree_up_down",
    .summary = "up towards a root and then down, on any topology, also one with failures",
    .options = tree_up_down_options,
    .example = "{\"type\": \"tree_up_down\", \"selection\": \"random\"}",
    .needs = "1 VC",
    .is_adaptive = true,
    .fits_level = FITS_LEVELS | FITS_BY_HOPS,
    .prepare = tree_up_down_prepare,
    .route = tree_up_down_route,
};
REGISTER_ROUTING(tree_up_down);
