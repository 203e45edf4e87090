/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Read by OpenCL too. The next hop of a way of two legs, where it goes by one output: of a dragonfly with one channel
 * between every two fully connected groups, and of a hyperx, whose channels to a router are next to each other. What a
 * packet is offered and what it would note are worked out, and nothing is changed, so that ways can be compared.
 */
#include "network/routing/detour.h"
#include "network/routing/hyperx.h"

struct next_hop {
    uint32_t port;  /* between routers; FW_NONE: to the destination's terminal */
    uint32_t ports; /* in a row, that lead there */
    uint32_t class; /* of VCs */
    uint32_t note;  /* what packet->route is behind it */
};

/* ---- dragonflies ---- */

FW_INLINE struct next_hop hop_by_group(const struct route *route, FW_GLOBAL const struct detours *detours,
                                       uint32_t waypoint, uint32_t note)
{
    FW_GLOBAL const struct dragonfly *dragonfly = routing_facts(route->routing);
    uint32_t router = route->router, destination = route->packet->destination_router,
             own_group = dragonfly_group(dragonfly, router);
    bool by_group = detours->intermediate == INTERMEDIATE_GROUP;
    if (!(note & ROUTE_SECOND_LEG) && (by_group ? own_group : router) == waypoint) {
        note |= ROUTE_SECOND_LEG;
        if (!by_group && note / ROUTE_GLOBAL % 4 > 0)
            note = (note | ROUTE_MIDWAY) & ~ROUTE_LOCAL;
    }
    uint32_t target = note & ROUTE_SECOND_LEG ? destination : waypoint;
    if ((note & ROUTE_SECOND_LEG) && router == target)
        return (struct next_hop){.port = FW_NONE, .note = note};
    bool is_group = by_group && !(note & ROUTE_SECOND_LEG);
    uint32_t group = is_group ? target : dragonfly_group(dragonfly, target), own = dragonfly_place(dragonfly, router);
    struct next_hop hop = {.ports = 1, .class = note / ROUTE_GLOBAL % 4 + (note & ROUTE_MIDWAY ? 1 : 0)};
    uint32_t towards = 0;
    if (group == own_group) {
        towards = dragonfly_place(dragonfly, target);
    } else {
        FW_GLOBAL const struct dragonfly_gate *gate = dragonfly_gates(dragonfly, own_group, group);
        towards = gate->place;
        if (towards == own) {
            hop.port = gate->port;
            hop.note = (note & ~ROUTE_LOCAL) + ROUTE_GLOBAL;
            return hop;
        }
    }
    hop.port = dragonfly_local_port(own, towards);
    hop.note = note | ROUTE_LOCAL;
    return hop;
}

/* Channels to a group and into it; *place becomes that where the way gets there. */
FW_INLINE uint32_t hops_between_groups(FW_GLOBAL const struct dragonfly *dragonfly, uint32_t from, uint32_t to,
                                       uint32_t *place)
{
    if (from == to)
        return 0;
    uint32_t hops = 1 + (*place != dragonfly_gates(dragonfly, from, to)->place);
    *place = dragonfly_gates(dragonfly, to, from)->place;
    return hops;
}

/* Channels on the way by a waypoint. */
FW_INLINE uint32_t hops_by_group(const struct route *route, FW_GLOBAL const struct detours *detours, uint32_t waypoint)
{
    FW_GLOBAL const struct dragonfly *dragonfly = routing_facts(route->routing);
    uint32_t destination = route->packet->destination_router, group = dragonfly_group(dragonfly, route->router),
             place = dragonfly_place(dragonfly, route->router), midway = waypoint, hops = 0;
    if (detours->intermediate != INTERMEDIATE_GROUP)
        midway = dragonfly_group(dragonfly, waypoint);
    hops += hops_between_groups(dragonfly, group, midway, &place);
    if (detours->intermediate != INTERMEDIATE_GROUP) {
        hops += place != dragonfly_place(dragonfly, waypoint);
        place = dragonfly_place(dragonfly, waypoint);
    }
    hops += hops_between_groups(dragonfly, midway, dragonfly_group(dragonfly, destination), &place);
    return hops + (place != dragonfly_place(dragonfly, destination));
}

/* ---- legs ---- */

/* VC class of the next hop of a leg. The first hop of a straight way is a leg by itself where it may be left after it. */
FW_INLINE uint32_t class_of_leg(FW_GLOBAL const struct detours *detours, FW_GLOBAL const struct packet *packet,
                                uint32_t note)
{
    bool is_second = note & ROUTE_SECOND_LEG, is_first_hop = packet->hops == 0 && is_second;
    is_second &= !(note & ROUTE_TURNED);
    uint32_t leg = detours->is_progressive ? is_first_hop ? 0 : 1 + is_second : is_second;
    bool is_reversed = detours->has_orders && note & ROUTE_LAST_FIRST;
    return leg * detours->leg_classes + (is_reversed ? detours->classes / 2 : 0);
}

/* What a packet notes before a step: that its second leg has begun, where it has. */
FW_INLINE uint32_t note_leg(const struct route *route, FW_GLOBAL const struct detours *detours, uint32_t waypoint,
                            uint32_t note)
{
    FW_GLOBAL const struct packet *packet = route->packet;
    if (route->router != waypoint && (detours->passes_by || route->router != packet->destination_router))
        return note;
    bool turns = detours->keeps_first && packet->hops > 0 && !(note & ROUTE_SECOND_LEG);
    return note | ROUTE_SECOND_LEG | (turns ? ROUTE_TURNED : 0);
}

FW_INLINE struct next_hop hop_on_hyperx(const struct route *route, FW_GLOBAL const struct detours *detours,
                                        uint32_t waypoint, uint32_t note)
{
    FW_GLOBAL const struct hyperx *hyperx = routing_facts(route->routing);
    FW_GLOBAL const struct packet *packet = route->packet;
    note = note_leg(route, detours, waypoint, note);
    uint32_t target = note & ROUTE_SECOND_LEG ? packet->destination_router : waypoint;
    if ((note & ROUTE_SECOND_LEG) && route->router == target)
        return (struct next_hop){.port = FW_NONE, .note = note};
    uint32_t dimension;
    struct next_hop hop = {.class = class_of_leg(detours, packet, note), .note = note};
    hop.port = hyperx_next(hyperx, route->router, target, note & ROUTE_LAST_FIRST, &dimension);
    hop.ports = hyperx->channels[dimension];
    return hop;
}

FW_INLINE uint32_t hops_on_hyperx(const struct route *route, uint32_t waypoint)
{
    FW_GLOBAL const struct hyperx *hyperx = routing_facts(route->routing);
    return hyperx_distance(hyperx, route->router, waypoint) +
           hyperx_distance(hyperx, waypoint, route->packet->destination_router);
}

/* ---- waypoints ---- */

/* A group that is neither the packet's nor its destination's. */
FW_INLINE uint32_t draw_group(struct route *route, FW_GLOBAL const struct dragonfly *dragonfly)
{
    uint32_t here = dragonfly_group(dragonfly, route->router);
    uint32_t there = dragonfly_group(dragonfly, route->packet->destination_router);
    uint32_t low = here < there ? here : there, high = here < there ? there : here, others = low < high ? 2 : 1;
    uint32_t group = route_pick(route, dragonfly->groups - others);
    group += group >= low;
    return group + (low < high && group >= high);
}

FW_INLINE uint32_t draw_on_dragonfly(struct route *route, FW_GLOBAL const struct detours *detours)
{
    FW_GLOBAL const struct dragonfly *dragonfly = routing_facts(route->routing);
    uint32_t here = dragonfly_group(dragonfly, route->router), destination = route->packet->destination_router;
    bool is_alone = dragonfly->groups == 2 && dragonfly_group(dragonfly, destination) != here;
    if (destination == route->router || is_alone)
        return detour_here(route->routing, detours, route->router);
    uint32_t group = draw_group(route, dragonfly);
    return detours->intermediate == INTERMEDIATE_GROUP
               ? group
               : dragonfly_router(dragonfly, group, route_pick(route, dragonfly->hosts));
}

FW_INLINE uint32_t draw_router(struct route *route, FW_GLOBAL const struct detours *detours)
{
    if (route->packet->destination_router == route->router && !detours->takes_own)
        return route->router;
    if (detours->intermediate > INTERMEDIATE_GROUP)
        return detour_draw_by_rule(route, detours);
    return FW_AT(const uint32_t, route->routing, detours->hosts)[route_pick(route, detours->host_count)];
}

/* A waypoint drawn at random. A packet for its own router has no way to be spread: its waypoint is where it is, unless
   takes_own. */
FW_INLINE uint32_t detour_draw(struct route *route, FW_GLOBAL const struct detours *detours)
{
    return detours->kind == DETOUR_ON_DRAGONFLY ? draw_on_dragonfly(route, detours) : draw_router(route, detours);
}

/* ---- of either kind ---- */

FW_INLINE struct next_hop detour_hop(const struct route *route, FW_GLOBAL const struct detours *detours, uint32_t ways,
                                     uint32_t waypoint, uint32_t note)
{
    return ways == WAYS_BY_GROUP ? hop_by_group(route, detours, waypoint, note)
                                 : hop_on_hyperx(route, detours, waypoint, note);
}

/* The packet is offered a hop. */
FW_INLINE void offer_next_hop(struct route *route, struct next_hop hop)
{
    route->packet->route = hop.note;
    if (hop.port == FW_NONE) {
        route_eject(route);
        return;
    }
    for (uint32_t end = hop.port + hop.ports; hop.port < end; hop.port++)
        route_add(route, hop.port, hop.class);
}

/* Offers the next hop, or the destination's terminal. */
FW_INLINE void detour_step(struct route *route, FW_GLOBAL const struct detours *detours)
{
    FW_GLOBAL const struct packet *packet = route->packet;
    if (detours->ways == WAYS_BY_GROUP)
        offer_next_hop(route, hop_by_group(route, detours, packet->waypoint, packet->route));
    else if (detours->ways == WAYS_ON_HYPERX)
        offer_next_hop(route, hop_on_hyperx(route, detours, packet->waypoint, packet->route));
    else
        detour_step_by_any(route, detours);
}

/* Channels on the way from the packet's router by a waypoint to its destination. */
FW_INLINE uint32_t detour_hops(const struct route *route, FW_GLOBAL const struct detours *detours, uint32_t ways,
                               uint32_t waypoint)
{
    return ways == WAYS_BY_GROUP    ? hops_by_group(route, detours, waypoint)
           : ways == WAYS_ON_HYPERX ? hops_on_hyperx(route, waypoint)
                                    : detour_hops_by_any(route, detours, waypoint);
}
