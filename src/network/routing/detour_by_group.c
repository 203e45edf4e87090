/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detours on a dragonfly of any kind. VC classes keep local and global channels (l
 * and g) from waiting for each other in a circle: a packet takes the class of the
 * number of global channels that it has crossed, and more where one passage
 * through a group follows another in the same group. An l is all channels of one
 * passage:
 *
 *     straight                          l0 g0 l1                 2 classes
 *     by a group                        l0 g0 l1 g1 l2           3
 *     by a router of a group            l0 g0 l1 l2 g2 l3        4
 *     by a group, decided on the way    l0 l1 g1 l2 g2 l3        4
 *     by a router, decided on the way   l0 l1 g1 l2 l3 g3 l4     5
 *
 * In a megafly a packet comes into a group at a spine. In the group of its detour
 * it goes on from there where the spine has a channel to the next group, as Shpiner
 * et al. 2017 have it, and else down to a leaf and up to a spine that has one. So
 * passages in class 0 begin at a leaf, and go up, or up and down; in all others they
 * begin at a spine, and go down, or down and up, or they begin at the leaf that was
 * the waypoint, and go up: within a class channels up and down never wait for each
 * other both ways.
 */
#include "network/routing/detour.h"

static struct hop_rules rules_for(const struct detours *detours, const struct packet *packet)
{
    uint32_t globals = globals_crossed(packet), passage = globals + (packet->route & ROUTE_MIDWAY ? 1 : 0);
    bool is_later = detours->is_progressive && (globals > 0 || packet->route & ROUTE_LEFT);
    return passage_rules(packet, passage + is_later, passage + detours->is_progressive, detours->passage_classes,
                         detours->local_order);
}

/* Notes how far the packet is on its way, before a step. A new passage begins without a local channel or a gate. */
static void update_leg(const struct detours *detours, struct packet *packet, uint32_t router)
{
    bool is_new_passage = false, is_in_first_group = globals_crossed(packet) == 0;
    if (!(packet->route & ROUTE_SECOND_LEG) && detour_here(detours, router) == packet->waypoint) {
        is_new_passage = detours->intermediate == INTERMEDIATE_ROUTER && !is_in_first_group;
        packet->route |= ROUTE_SECOND_LEG | (is_new_passage ? ROUTE_MIDWAY : 0);
    }
    if (detours->is_progressive && is_in_first_group) {
        bool is_straight = packet->route & ROUTE_SECOND_LEG, has_left = !is_straight && packet->route & ROUTE_STRAIGHT;
        packet->route |= is_straight ? ROUTE_STRAIGHT : 0;
        if (has_left)
            packet->route ^= ROUTE_STRAIGHT | ROUTE_LEFT;
        is_new_passage |= has_left;
    }
    if (is_new_passage)
        packet->route &= (ROUTE_GATE - 1) & ~ROUTE_LOCAL;
}

static void step_by_group(struct route *route, const struct detours *detours)
{
    const struct dragonfly *dragonfly = detours->topology->facts;
    struct packet *packet = route->packet;
    update_leg(detours, packet, route->router);
    bool is_second = packet->route & ROUTE_SECOND_LEG;
    if (is_second && route->router == packet->destination_router) {
        route_eject(route);
        return;
    }
    uint32_t target = is_second ? packet->destination_router : packet->waypoint;
    bool is_group = !is_second && detours->intermediate == INTERMEDIATE_GROUP;
    dragonfly_step(route, dragonfly, is_group ? target : dragonfly_group(dragonfly, target),
                   is_group ? FW_NONE : dragonfly_place(dragonfly, target), rules_for(detours, packet));
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

static uint32_t draw_on_dragonfly(struct route *route, const struct detours *detours)
{
    const struct dragonfly *dragonfly = detours->topology->facts;
    uint32_t here = dragonfly_group(dragonfly, route->router), destination = route->packet->destination_router;
    bool is_alone = dragonfly->groups == 2 && dragonfly_group(dragonfly, destination) != here;
    if (destination == route->router || is_alone)
        return detour_here(detours, route->router);
    uint32_t group = draw_group(route, dragonfly);
    return detours->intermediate == INTERMEDIATE_GROUP
               ? group
               : dragonfly_router(dragonfly, group, route_pick(route, dragonfly->hosts));
}

/* Channels to enter a group by the first of the nearest gates; *router is where it ends. */
static inline uint32_t hops_to_group(const struct dragonfly *dragonfly, uint32_t *router, uint32_t group)
{
    uint32_t own_group = dragonfly_group(dragonfly, *router), own = dragonfly_place(dragonfly, *router);
    if (own_group == group)
        return 0;
    const struct dragonfly_gate *gates = dragonfly_gates(dragonfly, own_group, group);
    uint32_t count = dragonfly_channels(dragonfly, own_group, group), chosen = 0;
    uint32_t least = dragonfly_local_hops(dragonfly, own, gates->place);
    for (uint32_t i = 1; i < count && least > 0; i++) {
        uint32_t hops = dragonfly_local_hops(dragonfly, own, gates[i].place);
        chosen = hops < least ? i : chosen;
        least = hops < least ? hops : least;
    }
    *router = dragonfly_router(dragonfly, group, dragonfly_gates(dragonfly, group, own_group)[chosen].place);
    return 1 + least;
}

static uint32_t hops_to_router(const struct dragonfly *dragonfly, uint32_t *router, uint32_t target)
{
    uint32_t hops = hops_to_group(dragonfly, router, dragonfly_group(dragonfly, target));
    hops += dragonfly_local_hops(dragonfly, dragonfly_place(dragonfly, *router), dragonfly_place(dragonfly, target));
    *router = target;
    return hops;
}

static uint32_t hops_on_dragonfly(const struct detours *detours, uint32_t router, const struct packet *packet)
{
    const struct dragonfly *dragonfly = detours->topology->facts;
    uint32_t hops = detours->intermediate == INTERMEDIATE_GROUP ? hops_to_group(dragonfly, &router, packet->waypoint)
                                                                : hops_to_router(dragonfly, &router, packet->waypoint);
    return hops + hops_to_router(dragonfly, &router, packet->destination_router);
}

void dragonfly_detours_init(struct detours *detours, enum local_order order, bool is_progressive)
{
    if (detours->intermediate == INTERMEDIATE_AUTO)
        detours->intermediate = INTERMEDIATE_GROUP;
    detours->local_order = order;
    detours->is_progressive = is_progressive;
    detours->passage_classes = local_classes(detours->topology->facts, order);
    detours->classes = (3 + is_progressive + (detours->intermediate == INTERMEDIATE_ROUTER)) * detours->passage_classes;
    detours->draw = draw_on_dragonfly;
    detours->step = step_by_group;
    detours->hops = hops_on_dragonfly;
}
