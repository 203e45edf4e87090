/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Minimal adaptive routing on any topology, also one of which links have failed, with escape (Duato 1993; Silla and Duato
 * 2000). A packet is offered the least congested of the ports that lead closer, on all VCs of a port but the first; and
 * beside it, on the first, a port up towards a root or down from it (legal_ways.h). Who takes one of these stays on them,
 * so that they wait for each other alone, and that never in a circle. Two VCs are enough, whatever the graph.
 */
#include "flitwarp/reduction.h"
#include "network/routing/legal_ways.h"
#include "network/routing/routing.h"

struct escape_adaptive_config {
    struct adaptive_config adaptive;
    struct u32_list roots;
};

static const struct option escape_adaptive_options[] = {
    OPTION_ROOTS(struct escape_adaptive_config),
    OPTION_ROWS(struct escape_adaptive_config, adaptive, struct adaptive_config, adaptive_options,
                OTHER_DEFAULT("mode", "\"port_average\"")),
    OPTION_END,
};

#define ESCAPE_VC 0

struct escape_adaptive {
    const struct route_table *table;
    const struct legal_ways *ways;
    uint64_t adaptive_vcs;
};

static void escape_adaptive_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                                    struct errors *errors)
{
    const struct escape_adaptive_config *config = self->config;
    struct escape_adaptive *state = arena_array(arena, struct escape_adaptive, 1);
    routing->state = state;
    routing->classes = 2;
    state->table = route_table_create_here(routing, self, arena, errors);
    state->ways = state->table ? legal_ways_from_roots(routing, &config->roots, self, arena, errors) : NULL;
    if (!state->ways || routing->vcs < 2)
        return;
    state->adaptive_vcs = bits_range(ESCAPE_VC + 1, routing->vcs - 1);
    routing->escape_vcs = bit(ESCAPE_VC);
    uint32_t each = config->adaptive.mode == CONGESTION_VC ? routing->vcs - 1 : 1;
    adaptive_check(routing, self, routing->topology->ports * each, errors);
}

static void offer_closer(struct route *route, const struct escape_adaptive *state)
{
    const struct escape_adaptive_config *config = route->routing->config;
    const uint32_t *list = route_table_list(state->table, route->router, route->packet->destination_router);
    struct candidates candidates;
    candidates.count = 0;
    candidates_add_list(&candidates, route, &config->adaptive, list, state->adaptive_vcs);
    candidates_offer(&candidates, route, &config->adaptive);
}

static void escape_adaptive_route(struct route *route)
{
    const struct escape_adaptive *state = route->routing->state;
    struct packet *packet = route->packet;
    if (route_ends(route))
        return;
    bool has_escaped = packet->hops > 0 && route_input_vc(route) == ESCAPE_VC;
    enum way_phase phase = has_escaped ? legal_ways_phase(state->ways, route) : MAY_GO_UP;
    const uint32_t *list = legal_ways_list(state->ways, route->router, packet->destination_router, phase);
    if (!has_escaped)
        offer_closer(route, state);
    for (uint32_t i = 0; i < list[ROUTE_TABLE_COUNT]; i++)
        route_add_vcs(route, list[ROUTE_TABLE_PORTS + i], bit(ESCAPE_VC));
    packet->waypoint = route->router;
}

static const struct routing_ops escape_adaptive = {
    .name = "escape_adaptive",
    .summary = "the least congested of the ports that lead closer, on any topology; up and down a tree to escape",
    .options = escape_adaptive_options,
    .example = "{\"type\": \"escape_adaptive\", \"roots\": [0]}",
    .needs = "2 VCs: one for escape; it is adaptive on those beyond it",
    .is_adaptive = true,
    .prepare = escape_adaptive_prepare,
    .route = escape_adaptive_route,
};
REGISTER_ROUTING(escape_adaptive);
