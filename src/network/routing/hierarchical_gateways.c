/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which gateways a packet takes, see hierarchical.h. Where the outside network has several copies (rails without a
 * spine, say), it comes in on the copy on which it went out.
 */
#include "flitwarp/reduction.h"
#include "network/routing/hierarchical.h"

/* Gateways of a sub-network on a copy. */
struct offered {
    const uint32_t *gateways;
    uint32_t count;
};

static struct offered gateways_on(const struct hierarchical *state, uint32_t subnetwork, uint32_t copy)
{
    const uint32_t *first = state->first_on + (size_t)subnetwork * state->copies + copy;
    return (struct offered){state->gateways_on + first[0], first[1] - first[0]};
}

/* One of so many: the same for a flow, or drawn. */
static uint32_t pick_by_flow(struct route *route, const struct hierarchical *state, uint32_t count, uint32_t salt)
{
    const struct packet *packet = route->packet;
    if (count <= 1)
        return 0;
    if (state->rule == GATEWAYS_RANDOM)
        return route_pick(route, count);
    if (route_is_checked(route)) /* a check knows no sources */
        return decisions_take_of_flow(route->decisions, count);
    uint64_t flow = random_mix(((uint64_t)packet->source << 32 | packet->destination) ^ route->routing->seed);
    return (uint32_t)((random_mix(flow + salt) >> 32) * count >> 32);
}

/* The gateway of another sub-network in the same place among those on a copy; several may share one where it has fewer. */
static uint32_t counterpart(const struct hierarchical *state, uint32_t gateway, uint32_t from, uint32_t to,
                            uint32_t copy)
{
    struct offered own = gateways_on(state, from, copy), other = gateways_on(state, to, copy);
    uint32_t place = 0;
    while (place < own.count && own.gateways[place] != gateway)
        place++;
    return other.gateways[place % other.count];
}

/* By routers: the copy on which a gateway hangs. */
static uint32_t copy_of(const struct hierarchical *state, uint32_t subnetwork, uint32_t gateway)
{
    return state->hung_copy[state->sites[subnetwork].first_gateway + gateway];
}

/* Of the ways that lead to a sub-network next to this one on a shortest way. */
uint32_t hierarchical_way(struct route *route, const struct hierarchical *state)
{
    const struct site *here = state->site_of[route->router], *there = state->site_of[route->packet->destination_router];
    const struct level *level = here->level;
    const uint32_t *list = route_table_list(state->table, here->number, there->number),
                   *ways = list + ROUTE_TABLE_PORTS;
    uint32_t count = list[ROUTE_TABLE_COUNT], best = 0, gateways = level->kind->gateways;
    const uint16_t *hops = level->gateway_hops + (size_t)(route->router - here->first_router) * gateways;
    if (state->rule == GATEWAYS_DESTINATION)
        return ways[route->packet->destination % count];
    if (state->rule != GATEWAYS_NEAREST)
        return ways[pick_by_flow(route, state, count, here->number)];
    for (uint32_t i = 1; i < count; i++)
        best = hops[ways[i] % gateways] < hops[ways[best] % gateways] ? i : best;
    return ways[best];
}

uint32_t hierarchical_exit(struct route *route, const struct hierarchical *state)
{
    uint32_t destination = route->packet->destination_router, any = state->copies, entry;
    const struct site *here = state->site_of[route->router], *there = state->site_of[destination];
    switch (state->rule) {
    case GATEWAYS_HASH:
    case GATEWAYS_RANDOM:
        return pick_by_flow(route, state, here->level->kind->gateways, 0);
    case GATEWAYS_DESTINATION:
        if (!there->is_outside) {
            entry = nearest_gateway(state, destination, any);
            return counterpart(state, entry, there->number, here->number, copy_of(state, there->number, entry));
        }
        return nearest_gateway(state, route->router, any);
    default:
        return nearest_gateway(state, route->router, any);
    }
}

uint32_t hierarchical_entry(struct route *route, const struct hierarchical *state, uint32_t exit)
{
    uint32_t destination = route->packet->destination_router, own = state->site_of[route->router]->number;
    uint32_t goal = state->site_of[destination]->number, copy = exit == FW_NONE ? 0 : copy_of(state, own, exit);
    if (state->rule == GATEWAYS_SOURCE && exit != FW_NONE)
        return counterpart(state, exit, own, goal, copy);
    if (state->rule == GATEWAYS_HASH || state->rule == GATEWAYS_RANDOM) {
        struct offered offered = gateways_on(state, goal, copy);
        return offered.gateways[pick_by_flow(route, state, offered.count, 1)];
    }
    return nearest_gateway(state, destination, copy);
}
