/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Level by level through a network of networks (flitwarp/hierarchy.h): each level is routed by an
 * algorithm of its own, which is asked with the numbers that routers and terminals have in its topology and knows of no
 * other. From the router of its source a packet goes
 *
 *     up        inside its sub-network to a gateway             VC classes of the sub-network, first half
 *     across    on the outside network to another gateway       VC classes of the outside network
 *     down      inside that sub-network to its destination      VC classes of the sub-network, second half
 *
 * and inside one sub-network it goes up alone. No stage waits for an earlier one, so there is no deadlock where the levels'
 * algorithms have none. Where sub-networks are joined directly a packet crosses several, by a shortest way
 * from one to the next; stages are the sub-networks that it has left, and each has VC classes of its own.
 */
#include "network/routing/hierarchical.h"

static const char *const gateway_rule_names[] = {"nearest", "destination", "source", "hash", "random", NULL};

static const struct option hierarchical_options[] = {
    OPTION_CHOICES(struct hierarchical_config, inside, "routing", "[]", 0, 64,
                   "of each kind of sub-networks, or of all; none: dimension_order on grids, up_down on trees, minimal "
                   "elsewhere"),
    OPTION_CHOICE(struct hierarchical_config, outside, "routing", "null", "of the outside network; null: the same"),
    OPTION_ENUM(struct hierarchical_config, gateways, "\"nearest\"", gateway_rule_names,
                "by which a packet goes up and comes down: nearest to its source and to its destination; that of its "
                "destination, and its own of the same place (PXN); its own nearest, and the destination's of the same "
                "place; by flow or at random"),
    OPTION_U32_LIST(struct hierarchical_config, inside_vcs, "null", 1, 64, "VCs",
                    "that packets use of a channel inside: of each kind, or of all; null: all that there are"),
    OPTION_U32(struct hierarchical_config, outside_vcs, "null", 1, 64, "VCs",
               "that they use of one outside; null: all"),
    OPTION_END,
};

/* Asks a level with all that there is: where its algorithm goes by terminals, counts hops or looks at sensors. */
FW_SELDOM void ask_level_in_full(struct route *route, const struct site *here, uint32_t goal, uint32_t terminal,
                                 void (*answer)(struct route *))
{
    struct packet *packet = route->packet;
    uint32_t own = packet->destination;
    uint16_t hops = packet->hops;
    packet->destination = terminal;
    packet->hops = (hops - (packet->route >> HOPS_SHIFT)) & HOPS_MASK;
    route->first_router += here->first_router;
    ask_level(route, here, goal, answer);
    route->first_router -= here->first_router;
    packet->destination = own;
    packet->hops = hops;
}

/* ---- joined by routers ---- */

/* The router where a packet's level ends, as the level counts. */
static inline uint32_t goal_router(const struct hierarchical *state, const struct packet *packet,
                                   const struct site *here, const struct site *there)
{
    if (here == there)
        return packet->destination_router - here->first_router;
    return here->is_outside ? state->hung_router[there->first_gateway + target_of(packet)]
                            : here->gateway[target_of(packet)];
}

/* A terminal there. */
static uint32_t goal_terminal(const struct hierarchical *state, const struct packet *packet, const struct site *here,
                              const struct site *there)
{
    uint32_t terminal = packet->destination - here->first_terminal;
    if (here == there)
        return here->is_outside ? state->hierarchy->spare_at[terminal] : terminal;
    return here->is_outside ? state->hung_terminal[there->first_gateway + target_of(packet)]
                            : here->level->terminal_at[target_of(packet)];
}

static inline void ask(struct route *route, const struct hierarchical *state, const struct site *here,
                       const struct site *there, uint32_t goal, void (*answer)(struct route *))
{
    if (__builtin_expect(here->level->is_plain, 1))
        ask_level(route, here, goal, answer);
    else
        ask_level_in_full(route, here, goal, goal_terminal(state, route->packet, here, there), answer);
}

/* A packet enters a level: it is given a gateway to head for. Returns the router where the level ends. */
FW_SELDOM uint32_t enter_level(struct route *route, const struct hierarchical *state, const struct site *here,
                               const struct site *there)
{
    struct packet *packet = route->packet;
    uint32_t target = target_of(packet), stage = stage_of(packet);
    if (here->is_outside && stage == STAGE_UP) { /* its source is there */
        stage = STAGE_ACROSS;
        target = here == there ? 0 : hierarchical_entry(route, state, FW_NONE);
    } else if (here != there && !here->is_outside) {
        target = state->is_nearest ? nearest_gateway(state, route->router, 0) : hierarchical_exit(route, state);
    }
    begin_level(packet, stage, target);
    uint32_t goal = goal_router(state, packet, here, there);
    if (here->level->routing.inject)
        ask(route, state, here, there, goal, here->level->routing.inject);
    return goal;
}

/* The channels between a gateway and its outside router, where they do not fit a word. */
FW_SELDOM void offer_channels(struct route *route, const struct hierarchical *state, const struct site *inside,
                              uint32_t gateway, bool is_up)
{
    const struct hierarchy *hierarchy = state->hierarchy;
    uint32_t port = is_up ? inside->level->kind->way_port[gateway * hierarchy->channels]
                          : hierarchy_port_to(hierarchy, state->hung_terminal[inside->first_gateway + gateway]);
    for (uint32_t channel = 0; channel < hierarchy->channels; channel++)
        route_add_vcs(route, port + channel, state->all_vcs);
}

/* A packet is at the end of its level: it is offered the channels to the next one. */
FW_SELDOM void leave_level(struct route *route, const struct hierarchical *state, const struct site *here,
                           const struct site *there)
{
    struct packet *packet = route->packet;
    uint32_t target = target_of(packet), entry = 0;
    const struct site *inside = here->is_outside ? there : here;
    if (!here->is_outside && !there->is_outside)
        entry = state->is_nearest ? nearest_gateway(state, packet->destination_router, 0)
                                  : hierarchical_entry(route, state, target);
    packet->route = (here->is_outside ? STAGE_DOWN : STAGE_ACROSS) << STAGE_SHIFT | entry << TARGET_SHIFT;
    if (!state->between) {
        offer_channels(route, state, inside, target, !here->is_outside);
        return;
    }
    const struct between *between = &state->between[inside->first_gateway + target];
    route->vcs[0] |= here->is_outside ? between->down : between->up;
}

static void route_by_routers(struct route *route)
{
    const struct hierarchical *state = route->routing->state;
    struct packet *packet = route->packet;
    if (route_ends(route))
        return;
    const struct site *here = state->site_of[route->router], *there = state->site_of[packet->destination_router];
    uint32_t goal =
        packet->route & ROUTE_BEGUN ? goal_router(state, packet, here, there) : enter_level(route, state, here, there);
    if (goal == route->router - here->first_router) {
        leave_level(route, state, here, there);
        return;
    }
    ask(route, state, here, there, goal, here->level->routing.route);
    if (stage_of(packet) == STAGE_DOWN)
        move_to_stage(route, here->level->share);
}

/* ---- joined directly ---- */

static uint32_t direct_gateway(const struct packet *packet, const struct site *here)
{
    return target_of(packet) % here->level->kind->gateways;
}

static void ask_directly(struct route *route, const struct site *here, const struct site *there,
                         void (*answer)(struct route *))
{
    const struct packet *packet = route->packet;
    if (here == there)
        ask_level_in_full(route, here, packet->destination_router - here->first_router,
                          packet->destination - here->first_terminal, answer);
    else
        ask_level_in_full(route, here, here->gateway[direct_gateway(packet, here)],
                          here->level->terminal_at[direct_gateway(packet, here)], answer);
}

static void route_directly(struct route *route)
{
    const struct hierarchical *state = route->routing->state;
    struct packet *packet = route->packet;
    if (route_ends(route))
        return;
    const struct site *here = state->site_of[route->router], *there = state->site_of[packet->destination_router];
    uint32_t stage = stage_of(packet);
    if (!(packet->route & ROUTE_BEGUN)) {
        begin_level(packet, stage, here == there ? 0 : hierarchical_way(route, state));
        if (here->level->routing.inject)
            ask_directly(route, here, there, here->level->routing.inject);
    }
    if (here != there && here->gateway[direct_gateway(packet, here)] == route->router - here->first_router) {
        route_add_vcs(route, here->level->kind->way_port[target_of(packet)], state->stage_vcs[stage]);
        packet->route = (stage + 1) << STAGE_SHIFT;
        return;
    }
    ask_directly(route, here, there, here->level->routing.route);
    move_to_stage(route, stage * here->level->share);
}

/* ---- the algorithm ---- */

static void hierarchical_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                                 struct errors *errors)
{
    struct hierarchical *state = arena_array(arena, struct hierarchical, 1);
    routing->state = state;
    if (!topology_hierarchy(routing->topology))
        routing_misfit(routing, self, "topology \"hierarchy\" or \"cluster\"", errors);
    else if (hierarchical_make(state, routing, self, arena, errors) && state->table)
        routing->route = route_directly;
}

static const struct routing_ops hierarchical = {
    .name = "hierarchical",
    .summary = "level by level through a network of networks, each by an algorithm of its own",
    .options = hierarchical_options,
    .example = "{\"type\": \"hierarchical\", \"outside\": \"minimal\", \"gateways\": \"destination\"}",
    .needs = "twice the VCs that a sub-network's algorithm needs, or those of the outside network's if they are more; "
             "where sub-networks are joined directly, as many times as a way may have of them",
    .is_adaptive = true,
    .prepare = hierarchical_prepare,
    .route = route_by_routers,
};
REGISTER_ROUTING(hierarchical);
