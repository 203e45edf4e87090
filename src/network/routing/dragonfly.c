/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps on a dragonfly. Between groups all kinds are alike: a router with channels
 * of its own to the wanted group offers these. Any other draws one of the nearest
 * gates, notes it, and the packet goes there. Inside a group
 *
 *     all to all   there is one channel
 *     grid         the row and then the column, or the column and then the row
 *     bipartite    leaves and spines: up to any spine and down again. Towards
 *                  another group a leaf offers all spines with a channel there; a
 *                  spine without one offers all leaves, by which the packet comes
 *                  to such a spine. Who is free decides, so no gate is noted.
 *
 * A passage through a group is free of deadlock with one VC class: in a grid rows
 * come before columns, or the other way round. Where either may come first, the
 * second channel has a class of its own. In a bipartite group no passage goes both
 * up after down and down after up, and those with the same class never do one and
 * the other (detour_by_group.c).
 */
#include "network/routing/dragonfly.h"

const char *const local_order_names[] = {"row_first", "column_first", "either", NULL};

/* ---- inside a group ---- */

static void offer_ports(struct route *route, uint32_t first, uint32_t count, uint32_t class)
{
    for (uint32_t i = 0; i < count; i++)
        route_add(route, first + i, class);
}

static void step_in_grid(struct route *route, const struct dragonfly *dragonfly, uint32_t own, uint32_t place,
                         uint32_t class, enum local_order order)
{
    uint32_t row = dragonfly->row_of[place], column = place - row * dragonfly->columns;
    uint32_t own_row = dragonfly->row_of[own], own_column = own - own_row * dragonfly->columns;
    bool is_column_right = own_column == column, is_row_right = own_row == row;
    if (!is_column_right && (order != ORDER_COLUMN_FIRST || is_row_right))
        offer_ports(route, dragonfly_row_port(dragonfly, own, column), dragonfly->row_channels, class);
    if (!is_row_right && (order != ORDER_ROW_FIRST || is_column_right))
        offer_ports(route, dragonfly_column_port(dragonfly, own, row), dragonfly->column_channels, class);
}

static void step_in_bipartite(struct route *route, const struct dragonfly *dragonfly, uint32_t own, uint32_t place,
                              uint32_t class)
{
    uint32_t leaves = dragonfly->hosts, spines = dragonfly->routers - leaves;
    bool is_leaf = own < leaves;
    if (is_leaf == (place < leaves))
        offer_ports(route, 0, is_leaf ? spines : leaves, class);
    else
        route_add(route, is_leaf ? place - leaves : place, class);
}

/* The class of a local channel: the second of a passage has one of its own where a passage takes two. */
static uint32_t local_class(const struct route *route, const struct dragonfly *dragonfly, const struct hop_rules *rules)
{
    uint32_t classes = local_classes(dragonfly, rules->order);
    return classes * rules->local + (classes > 1 && route->packet->route & ROUTE_LOCAL);
}

static void step_in_group(struct route *route, const struct dragonfly *dragonfly, uint32_t own, uint32_t place,
                          const struct hop_rules *rules)
{
    uint32_t class = local_class(route, dragonfly, rules);
    if (dragonfly->shape == GROUP_ALL_TO_ALL)
        route_add(route, dragonfly_local_port(own, place), class);
    else if (dragonfly->shape == GROUP_GRID)
        step_in_grid(route, dragonfly, own, place, class, rules->order);
    else
        step_in_bipartite(route, dragonfly, own, place, class);
    route->packet->route |= ROUTE_LOCAL;
}

uint32_t dragonfly_local_hops(const struct dragonfly *dragonfly, uint32_t place, uint32_t other)
{
    if (place == other)
        return 0;
    if (dragonfly->shape == GROUP_ALL_TO_ALL)
        return 1;
    if (dragonfly->shape == GROUP_BIPARTITE)
        return (place < dragonfly->hosts) == (other < dragonfly->hosts) ? 2 : 1;
    uint32_t row = dragonfly->row_of[place], other_row = dragonfly->row_of[other];
    return (row != other_row) + (place - row * dragonfly->columns != other - other_row * dragonfly->columns);
}

/* ---- between groups ---- */

struct gates {
    const struct dragonfly_gate *items;
    uint32_t count;
};

static void take_global(struct route *route, const struct dragonfly *dragonfly, uint32_t port,
                        const struct hop_rules *rules)
{
    route_add(route, port, rules->global * local_classes(dragonfly, rules->order));
}

static void leave_group(struct packet *packet)
{
    packet->route = (packet->route & (ROUTE_GATE - 1) & ~ROUTE_LOCAL) + ROUTE_GLOBAL;
}

/* The router's own channels to a group; all of them are offered. False: there are none. */
static bool offer_own_gates(struct route *route, const struct dragonfly *dragonfly, struct gates gates, uint32_t own,
                            const struct hop_rules *rules)
{
    bool is_found = false;
    for (uint32_t i = 0; i < gates.count; i++)
        if (gates.items[i].place == own) {
            take_global(route, dragonfly, gates.items[i].port, rules);
            is_found = true;
        }
    if (is_found)
        leave_group(route->packet);
    return is_found;
}

/* From a leaf all spines with a channel to the group are as near; from a spine, they are behind any leaf. */
static void offer_spines(struct route *route, const struct dragonfly *dragonfly, struct gates gates, uint32_t own,
                         const struct hop_rules *rules)
{
    uint32_t leaves = dragonfly->hosts, class = local_class(route, dragonfly, rules);
    if (own >= leaves)
        offer_ports(route, 0, leaves, class);
    else
        for (uint32_t i = 0; i < gates.count; i++)
            route_add(route, gates.items[i].place - leaves, class);
    route->packet->route |= ROUTE_LOCAL;
}

/* One of the gates that are the fewest local channels away, or any. */
static const struct dragonfly_gate *draw_gate(struct route *route, const struct dragonfly *dragonfly,
                                              struct gates gates, uint32_t own, bool any_channel)
{
    uint32_t least = NONE, nearest = 0, i = 0;
    for (; i < gates.count && !any_channel && dragonfly->shape == GROUP_GRID; i++) {
        uint32_t hops = dragonfly_local_hops(dragonfly, own, gates.items[i].place);
        nearest = hops < least ? 1 : nearest + (hops == least);
        least = hops < least ? hops : least;
    }
    if (least == NONE) /* they are all alike */
        return gates.items + (gates.count > 1 ? route_pick(route, gates.count) : 0);
    uint32_t chosen = nearest > 1 ? route_pick(route, nearest) : 0;
    for (i = 0; chosen || dragonfly_local_hops(dragonfly, own, gates.items[i].place) != least; i++)
        chosen -= dragonfly_local_hops(dragonfly, own, gates.items[i].place) == least;
    return gates.items + i;
}

static void step_to_gate(struct route *route, const struct dragonfly *dragonfly, struct gates gates, uint32_t own,
                         const struct hop_rules *rules)
{
    uint32_t noted = route->packet->route / ROUTE_GATE;
    if (noted && noted - 1 != own) {
        step_in_group(route, dragonfly, own, noted - 1, rules);
        return;
    }
    if ((noted || !rules->any_channel) && offer_own_gates(route, dragonfly, gates, own, rules))
        return;
    const struct dragonfly_gate *gate = draw_gate(route, dragonfly, gates, own, rules->any_channel);
    if (gate->place == own) {
        take_global(route, dragonfly, gate->port, rules);
        leave_group(route->packet);
    } else {
        step_in_group(route, dragonfly, own, gate->place, rules);
        route->packet->route |= ROUTE_GATE * (gate->place + 1u);
    }
}

void dragonfly_step(struct route *route, const struct dragonfly *dragonfly, uint32_t group, uint32_t place,
                    struct hop_rules rules)
{
    uint32_t own_group = dragonfly_group(dragonfly, route->router), own = dragonfly_place(dragonfly, route->router);
    if (own_group == group) {
        step_in_group(route, dragonfly, own, place, &rules);
        return;
    }
    struct gates gates = {dragonfly_gates(dragonfly, own_group, group),
                          dragonfly_channels(dragonfly, own_group, group)};
    if (dragonfly->shape != GROUP_BIPARTITE)
        step_to_gate(route, dragonfly, gates, own, &rules);
    else if (!offer_own_gates(route, dragonfly, gates, own, &rules))
        offer_spines(route, dragonfly, gates, own, &rules);
}
