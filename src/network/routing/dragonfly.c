/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps and detours on a dragonfly. VC classes keep local and global channels (l
 * and g) from waiting for each other in a circle: a packet takes the class of the
 * number of global channels that it has crossed, and more where two local
 * channels follow each other:
 *
 *     straight                          l0 g0 l1                 2 classes
 *     by a group                        l0 g0 l1 g1 l2           3
 *     by a router of a group            l0 g0 l1 l2 g2 l3        4
 *     by a group, decided on the way    l0 l1 g1 l2 g2 l3        4
 *     by a router, decided on the way   l0 l1 g1 l2 l3 g3 l4     5
 */
#include "network/routing/dragonfly.h"

#include "network/routing/detour.h"

static void take_local(struct route *route, uint32_t own_place, uint32_t place, uint32_t class)
{
    route_add(route, dragonfly_local_port(own_place, place), class);
    route->packet->route |= ROUTE_LOCAL;
}

/* The router's own channels to a group; all of them are offered. False: there are none. */
static bool offer_own_gates(struct route *route, const struct dragonfly *dragonfly, const struct dragonfly_gate *gates,
                            uint32_t own_place, uint32_t class)
{
    bool is_found = false;
    for (uint32_t i = 0; i < dragonfly->channels; i++)
        if (gates[i].place == own_place) {
            route_add(route, gates[i].port, class);
            is_found = true;
        }
    return is_found;
}

static void take_global(struct packet *packet) { packet->route = (packet->route & ~ROUTE_LOCAL) + ROUTE_GLOBAL; }

void dragonfly_step(struct route *route, const struct dragonfly *dragonfly, uint32_t group, uint32_t place,
                    struct hop_classes classes, bool any_channel)
{
    uint32_t own_group = dragonfly_group(dragonfly, route->router);
    uint32_t own_place = dragonfly_place(dragonfly, route->router);
    if (own_group == group) {
        take_local(route, own_place, place, classes.local);
        return;
    }
    const struct dragonfly_gate *gates = dragonfly_gates(dragonfly, own_group, group);
    bool may_draw = any_channel && !(route->packet->route & ROUTE_LOCAL);
    if (!may_draw && offer_own_gates(route, dragonfly, gates, own_place, classes.global)) {
        take_global(route->packet);
        return;
    }
    const struct dragonfly_gate *gate = gates + (dragonfly->channels > 1 ? route_pick(route, dragonfly->channels) : 0);
    if (gate->place == own_place) {
        route_add(route, gate->port, classes.global);
        take_global(route->packet);
    } else
        take_local(route, own_place, gate->place, classes.local);
}

/* ---- detours ---- */

static struct hop_classes classes_for(const struct detours *detours, const struct packet *packet)
{
    uint32_t globals = globals_crossed(packet), class = globals + (packet->route & ROUTE_MIDWAY ? 1 : 0);
    if (!detours->is_progressive)
        return (struct hop_classes){class, class};
    bool is_first = globals == 0 && !(packet->route & ROUTE_LOCAL);
    return (struct hop_classes){class + !is_first, class + 1};
}

static bool is_at_waypoint(const struct detours *detours, uint32_t router, uint32_t waypoint)
{
    return (detours->intermediate == INTERMEDIATE_GROUP ? dragonfly_group(detours->topology->dragonfly, router)
                                                        : router) == waypoint;
}

static void step_by_group(struct route *route, const struct detours *detours)
{
    const struct dragonfly *dragonfly = detours->topology->dragonfly;
    struct packet *packet = route->packet;
    if (!(packet->route & ROUTE_SECOND_LEG) && is_at_waypoint(detours, route->router, packet->waypoint)) {
        bool is_router = detours->intermediate == INTERMEDIATE_ROUTER && globals_crossed(packet) > 0;
        packet->route |= ROUTE_SECOND_LEG | (is_router ? ROUTE_MIDWAY : 0);
    }
    bool is_second = packet->route & ROUTE_SECOND_LEG;
    if (is_second && route->router == packet->destination_router) {
        route_eject(route);
        return;
    }
    uint32_t target = is_second ? packet->destination_router : packet->waypoint;
    bool is_group = !is_second && detours->intermediate == INTERMEDIATE_GROUP;
    dragonfly_step(route, dragonfly, is_group ? target : dragonfly_group(dragonfly, target),
                   is_group ? NONE : dragonfly_place(dragonfly, target), classes_for(detours, packet), false);
}

/* A group that is neither the packet's nor its destination's. */
static uint32_t draw_group(struct route *route, const struct dragonfly *dragonfly)
{
    uint32_t here = dragonfly_group(dragonfly, route->router);
    uint32_t there = dragonfly_group(dragonfly, route->packet->destination_router);
    uint32_t low = here < there ? here : there, high = here < there ? there : here, others = low < high ? 2 : 1;
    uint32_t group = route_pick(route, dragonfly->groups - others);
    group += group >= low;
    return group + (low < high && group >= high);
}

static uint32_t here_on_dragonfly(const struct detours *detours, uint32_t router)
{
    return detours->intermediate == INTERMEDIATE_GROUP ? dragonfly_group(detours->topology->dragonfly, router) : router;
}

static uint32_t draw_on_dragonfly(struct route *route, const struct detours *detours)
{
    const struct dragonfly *dragonfly = detours->topology->dragonfly;
    uint32_t here = dragonfly_group(dragonfly, route->router), destination = route->packet->destination_router;
    bool is_alone = dragonfly->groups == 2 && dragonfly_group(dragonfly, destination) != here;
    if (destination == route->router || is_alone)
        return here_on_dragonfly(detours, route->router);
    uint32_t group = draw_group(route, dragonfly);
    return detours->intermediate == INTERMEDIATE_GROUP
               ? group
               : dragonfly_router(dragonfly, group, route_pick(route, dragonfly->routers));
}

/* Channels to enter a group, by a channel of the router's own where it has one; *router is where it ends. */
static uint32_t hops_to_group(const struct dragonfly *dragonfly, uint32_t *router, uint32_t group)
{
    uint32_t own_group = dragonfly_group(dragonfly, *router), place = dragonfly_place(dragonfly, *router), chosen = 0;
    if (own_group == group)
        return 0;
    const struct dragonfly_gate *gates = dragonfly_gates(dragonfly, own_group, group);
    for (uint32_t i = dragonfly->channels; i-- > 0;)
        if (gates[i].place == place)
            chosen = i;
    *router = dragonfly_router(dragonfly, group, dragonfly_gates(dragonfly, group, own_group)[chosen].place);
    return 1 + (gates[chosen].place != place);
}

static uint32_t hops_to_router(const struct dragonfly *dragonfly, uint32_t *router, uint32_t target)
{
    uint32_t hops = hops_to_group(dragonfly, router, dragonfly_group(dragonfly, target)) + (*router != target);
    *router = target;
    return hops;
}

static uint32_t hops_on_dragonfly(const struct detours *detours, uint32_t router, const struct packet *packet)
{
    const struct dragonfly *dragonfly = detours->topology->dragonfly;
    uint32_t hops = detours->intermediate == INTERMEDIATE_GROUP ? hops_to_group(dragonfly, &router, packet->waypoint)
                                                                : hops_to_router(dragonfly, &router, packet->waypoint);
    return hops + hops_to_router(dragonfly, &router, packet->destination_router);
}

void dragonfly_detours_init(struct detours *detours, bool is_progressive)
{
    if (detours->intermediate == INTERMEDIATE_AUTO)
        detours->intermediate = INTERMEDIATE_GROUP;
    detours->is_progressive = is_progressive;
    detours->classes = 3 + is_progressive + (detours->intermediate == INTERMEDIATE_ROUTER);
    detours->draw = draw_on_dragonfly;
    detours->here = here_on_dragonfly;
    detours->step = step_by_group;
    detours->hops = hops_on_dragonfly;
}
