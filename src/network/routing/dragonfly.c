/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read by OpenCL too. Steps on a dragonfly. Between groups all kinds are alike: a router with channels
 * of its own to the wanted group offers these. Any other draws one of the nearest
 * gates, and the packet goes there. Inside a group
 *
 *     all to all   there is one channel
 *     grid         the row and then the column, or the column and then the row; a
 *                  packet notes the gate that was drawn until it is there
 *     bipartite    leaves and spines: up to any spine and down again. Towards
 *                  another group a leaf offers all spines with a channel there; a
 *                  spine without one offers all leaves, by which the packet comes
 *                  to such a spine. Who is free decides, so no gate is noted.
 *
 * A passage through a group is free of deadlock with one VC class: in a grid rows
 * come before columns, or the other way round. Where either may come first, the
 * second channel has a class of its own. In a bipartite group all passages of a
 * class turn from up to down, or all from down to up (detour.c).
 */
#include "network/routing/detour.h"
#include "network/routing/routing.h"

#if FW_HOST
const char *const local_order_names[] = {"row_first", "column_first", "either", NULL};
#endif

/* ---- inside a group ---- */

static void offer_ports(struct route *route, uint32_t first, uint32_t count, uint32_t class)
{
    for (uint32_t i = 0; i < count; i++)
        route_add(route, first + i, class);
}

static void step_in_grid(struct route *route, FW_GLOBAL const struct dragonfly *dragonfly, uint32_t own, uint32_t place,
                         const struct hop_rules *rules)
{
    uint32_t row = dragonfly_row(dragonfly, place), column = place - row * dragonfly->columns;
    uint32_t own_row = dragonfly_row(dragonfly, own), own_column = own - own_row * dragonfly->columns;
    bool is_column_right = own_column == column, is_row_right = own_row == row;
    if (!is_column_right && (rules->order != ORDER_COLUMN_FIRST || is_row_right))
        offer_ports(route, dragonfly_row_port(dragonfly, own, column), dragonfly->row_channels, rules->local_class);
    if (!is_row_right && (rules->order != ORDER_ROW_FIRST || is_column_right))
        offer_ports(route, dragonfly_column_port(dragonfly, own, row), dragonfly->column_channels, rules->local_class);
}

static void step_in_bipartite(struct route *route, FW_GLOBAL const struct dragonfly *dragonfly, uint32_t own,
                              uint32_t place, uint32_t class)
{
    uint32_t leaves = dragonfly->hosts, spines = dragonfly->routers - leaves;
    bool is_leaf = own < leaves;
    if (is_leaf == (place < leaves))
        offer_ports(route, 0, is_leaf ? spines : leaves, class);
    else
        route_add(route, is_leaf ? place - leaves : place, class);
}

static void step_in_group(struct route *route, FW_GLOBAL const struct dragonfly *dragonfly, uint32_t own,
                          uint32_t place, const struct hop_rules *rules)
{
    if (dragonfly->shape == GROUP_GRID)
        step_in_grid(route, dragonfly, own, place, rules);
    else
        step_in_bipartite(route, dragonfly, own, place, rules->local_class);
}

/* ---- between groups: each offers global channels and returns true, or a hop towards some ---- */

/* One of the gates that are the fewest local channels away. */
static FW_GLOBAL const struct dragonfly_gate *
draw_nearest(struct route *route, FW_GLOBAL const struct dragonfly *dragonfly, struct gates gates, uint32_t own)
{
    uint32_t least = FW_NONE, nearest = 0;
    for (uint32_t i = 0; i < gates.count; i++) {
        uint32_t hops = dragonfly_local_hops(dragonfly, own, gates.items[i].place);
        nearest = hops < least ? 1 : nearest + (hops == least);
        least = hops < least ? hops : least;
    }
    uint32_t chosen = nearest > 1 ? route_pick(route, nearest) : 0;
    for (uint32_t i = 0;; i++)
        if (dragonfly_local_hops(dragonfly, own, gates.items[i].place) == least && chosen-- == 0)
            return gates.items + i;
}

static bool leave_grid(struct route *route, FW_GLOBAL const struct dragonfly *dragonfly, struct gates gates,
                       uint32_t own, const struct hop_rules *rules)
{
    uint32_t noted = route->packet->route / ROUTE_GATE;
    if (noted && noted - 1 != own) {
        step_in_grid(route, dragonfly, own, noted - 1, rules);
        return false;
    }
    if ((noted || !rules->any_channel) && offer_own_gates(route, gates, own, rules->global_class))
        return true;
    FW_GLOBAL const struct dragonfly_gate *gate =
        rules->any_channel ? draw_any(route, gates) : draw_nearest(route, dragonfly, gates, own);
    if (gate->place == own) {
        route_add(route, gate->port, rules->global_class);
        return true;
    }
    step_in_grid(route, dragonfly, own, gate->place, rules);
    route->packet->route |= ROUTE_GATE * (gate->place + 1u);
    return false;
}

/* From a leaf all spines with a channel to the group are as near; from a spine, they are behind any leaf. */
static bool leave_bipartite(struct route *route, FW_GLOBAL const struct dragonfly *dragonfly, struct gates gates,
                            uint32_t own, const struct hop_rules *rules)
{
    uint32_t leaves = dragonfly->hosts;
    if (offer_own_gates(route, gates, own, rules->global_class))
        return true;
    if (own >= leaves)
        offer_ports(route, 0, leaves, rules->local_class);
    else
        for (uint32_t i = 0; i < gates.count; i++)
            route_add(route, gates.items[i].place - leaves, rules->local_class);
    return false;
}

void dragonfly_step_apart(struct route *route, FW_GLOBAL const struct dragonfly *dragonfly, uint32_t group,
                          uint32_t place, struct hop_rules rules)
{
    uint32_t own_group = dragonfly_group(dragonfly, route->router), own = dragonfly_place(dragonfly, route->router);
    if (own_group == group) {
        step_in_group(route, dragonfly, own, place, &rules);
        route->packet->route |= ROUTE_LOCAL;
        return;
    }
    struct gates gates = gates_between(dragonfly, own_group, group);
    bool leaves = dragonfly->shape == GROUP_GRID ? leave_grid(route, dragonfly, gates, own, &rules)
                                                 : leave_bipartite(route, dragonfly, gates, own, &rules);
    if (leaves)
        cross_globally(route->packet);
    else
        route->packet->route |= ROUTE_LOCAL;
}

/* ---- minimal routing ---- */

/*
 * To a router of the group that has a channel to the destination's group, over
 * that channel, and to the destination's router. Local channels behind the global
 * one have VCs of their own (Kim, Dally, Scott and Abts 2008). No table is kept.
 * That two global channels may now and then be shorter than local, global, local
 * is not used.
 */
enum channel { CHANNEL_NEAREST, CHANNEL_RANDOM };

struct dragonfly_minimal_config {
    uint32_t channel, local_order;
};

static void dragonfly_minimal_route(struct route *route)
{
    FW_GLOBAL const struct dragonfly *dragonfly = routing_facts(route->routing);
    FW_GLOBAL const struct dragonfly_minimal_config *config = route->routing->config;
    uint32_t target = route->packet->destination_router, passage = globals_crossed(route->packet);
    if (route_ends(route))
        return;
    struct hop_rules rules =
        passage_rules(route->packet, passage, passage, local_classes(dragonfly, (enum local_order)config->local_order),
                      (enum local_order)config->local_order);
    rules.any_channel = config->channel == CHANNEL_RANDOM;
    dragonfly_step(route, dragonfly, dragonfly_group(dragonfly, target), dragonfly_place(dragonfly, target), rules);
}

#if FW_HOST
static const char *const channel_names[] = {"nearest", "random", NULL};

static const struct option dragonfly_minimal_options[] = {
    OPTION_ENUM(
        struct dragonfly_minimal_config, channel, "\"nearest\"", channel_names,
        "where several channels join two groups: the router's own if it has one, else one of the nearest; or any "
        "of them (on a megafly the same)"),
    OPTION_LOCAL_ORDER(struct dragonfly_minimal_config),
    OPTION_END,
};

static void dragonfly_minimal_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                                      struct errors *errors)
{
    const struct dragonfly_minimal_config *config = self->config;
    const struct dragonfly *dragonfly = topology_dragonfly(routing->topology);
    (void)arena;
    if (!dragonfly)
        routing_misfit(routing, self, "topology \"" DRAGONFLIES "\"", errors);
    routing->classes = dragonfly ? 2 * local_classes(dragonfly, config->local_order) : 1;
}

static const struct routing_ops dragonfly_minimal = {
    .name = "dragonfly_minimal",
    .summary = "local, global, local channels on a dragonfly of any kind and size",
    .options = dragonfly_minimal_options,
    .example = "{\"type\": \"dragonfly_minimal\", \"channel\": \"random\"}",
    .needs = "2 VCs; 4 with local_order either on a dragonfly_2d",
    .prepare = dragonfly_minimal_prepare,
    .route = dragonfly_minimal_route,
    DEVICE_FORM(dragonfly_minimal_route),
};
REGISTER_ROUTING(dragonfly_minimal);
#endif
