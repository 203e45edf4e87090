/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read by OpenCL too. A dragonfly whose packets have one VC for each phase of their way, as BookSim has
 * it (dragonflynew); also on the channel to their terminal:
 *
 *     minimal    VC 0 up to the global channel, 1 on it and behind it
 *     ugal       VC 0 on a detour to a router of another group, 1 from there, or
 *                from the source of one that goes straight, up to the global
 *                channel to the destination's group, 2 on it, behind it, and
 *                within a group that need not be left
 *
 * UGAL decides at the first router by the flits behind two outputs: towards the
 * destination, and towards a router drawn among all; one of the own group means
 * going straight. The channels of a detour out and in share VC 0, so that deadlock
 * is not ruled out. Where several channels join two groups, the first is taken.
 */
#include "flitwarp/dragonfly.h"
#include "flitwarp/reduction.h"
#include "network/routing/routing.h"

enum phase { PHASE_DETOUR, PHASE_APPROACH, PHASE_ARRIVED }; /* in packet->route */

struct dragonfly_phases_config {
    fw_bool detours, shared_vcs;
    double factor, bias;
    uint32_t decides;
};

#if FW_HOST
static const struct option dragonfly_phases_options[] = {
    OPTION_BOOL(struct dragonfly_phases_config, detours, "false", "UGAL; false: all packets go straight"),
    OPTION_F64(struct dragonfly_phases_config, factor, "2", 0, 1e9, NULL,
               "what the congestion of a detour's first output is multiplied with", ONLY_WITH("detours")),
    OPTION_F64(struct dragonfly_phases_config, bias, "0", -1e9, 1e9, NULL, "added to the weight of a detour",
               ONLY_WITH("detours")),
    OPTION_BOOL(struct dragonfly_phases_config, shared_vcs, "false",
                "protocol classes share the VCs, so that answers can wait for requests; false: each has its own"),
    OPTION_DECIDES(struct dragonfly_phases_config, ONLY_WITH("detours")),
    OPTION_END,
};

static void dragonfly_phases_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                                     struct errors *errors)
{
    const struct dragonfly_phases_config *config = self->config;
    const struct dragonfly *dragonfly = topology_dragonfly(routing->topology);
    uint32_t phases = config->detours ? 3 : 2;
    (void)arena;
    if (!dragonfly || dragonfly->shape != GROUP_ALL_TO_ALL)
        routing_misfit(routing, self, "topology \"dragonfly\"", errors);
    routing->is_adaptive = config->detours;
    routing->looks_afar_key = config->detours && config->decides == DECIDES_AT_SOURCE ? "decides" : NULL;
    if (config->shared_vcs && routing->vcs == routing->num_vcs)
        choice_error(errors, self, "shared_vcs", "true has no effect with one protocol class; accepted: false");
    if (config->shared_vcs)
        routing->vcs = routing->num_vcs, routing->protocol_vcs = 0;
    routing->classes =
        routing->vcs > phases ? routing->vcs : phases; /* a VC each; those beyond serve injection alone */
}

#endif

/* The port towards another router, by a global channel or towards one. */
static uint32_t port_towards(FW_GLOBAL const struct dragonfly *dragonfly, uint32_t router, uint32_t target,
                             bool *is_global)
{
    uint32_t group = dragonfly_group(dragonfly, router), other = dragonfly_group(dragonfly, target);
    uint32_t place = dragonfly_place(dragonfly, router);
    *is_global = false;
    if (group == other)
        return dragonfly_local_port(place, dragonfly_place(dragonfly, target));
    FW_GLOBAL const struct dragonfly_gate *gate = dragonfly_gates(dragonfly, group, other);
    *is_global = gate->place == place;
    return *is_global ? gate->port : dragonfly_local_port(place, gate->place);
}

static double flits_towards(const struct route *route, FW_GLOBAL const struct dragonfly *dragonfly, uint32_t target)
{
    bool is_global;
    return route_congestion(route, CONGESTION_PORT_TOTAL, route->router,
                            port_towards(dragonfly, route->router, target, &is_global), 0);
}

static enum phase first_phase(struct route *route, FW_GLOBAL const struct dragonfly *dragonfly)
{
    FW_GLOBAL const struct dragonfly_phases_config *config = route->routing->config;
    FW_GLOBAL struct packet *packet = route->packet;
    uint32_t group = dragonfly_group(dragonfly, route->router);
    if (!config->detours)
        return PHASE_APPROACH;
    if (group == dragonfly_group(dragonfly, packet->destination_router))
        return PHASE_ARRIVED;
    packet->waypoint = route_pick(route, routing_routers(route->routing));
    if (group == dragonfly_group(dragonfly, packet->waypoint))
        return PHASE_APPROACH;
    if (route_is_checked(route))
        return route_pick(route, 2) ? PHASE_APPROACH : PHASE_DETOUR;
    return flits_towards(route, dragonfly, packet->destination_router) <=
                   config->factor * flits_towards(route, dragonfly, packet->waypoint) + config->bias
               ? PHASE_APPROACH
               : PHASE_DETOUR;
}

static void dragonfly_phases_inject(struct route *route)
{
    FW_GLOBAL const struct dragonfly_phases_config *config = route->routing->config;
    if (config->decides == DECIDES_AT_SOURCE)
        route->packet->route = first_phase(route, routing_facts(route->routing));
}

static void dragonfly_phases_route(struct route *route)
{
    const struct routing *routing = route->routing;
    FW_GLOBAL const struct dragonfly_phases_config *config = routing->config;
    FW_GLOBAL const struct dragonfly *dragonfly = routing_facts(routing);
    FW_GLOBAL struct packet *packet = route->packet;
    uint32_t lowest = config->detours ? PHASE_DETOUR : PHASE_APPROACH; /* has VC 0 */
    bool is_global;
    if (packet->hops == 0 && config->decides == DECIDES_AT_ROUTER)
        packet->route = first_phase(route, dragonfly);
    if (packet->route == PHASE_DETOUR && route->router == packet->waypoint)
        packet->route = PHASE_APPROACH;
    if (packet->route != PHASE_DETOUR && route->router == packet->destination_router) {
        route_eject_in(route, packet->route - lowest);
        return;
    }
    uint32_t target = packet->route == PHASE_DETOUR ? packet->waypoint : packet->destination_router;
    uint32_t port = port_towards(dragonfly, route->router, target, &is_global);
    if (is_global && packet->route == PHASE_APPROACH)
        packet->route = PHASE_ARRIVED;
    route_add(route, port, packet->route - lowest);
}

#if FW_HOST
static const struct routing_ops dragonfly_phases = {
    .name = "dragonfly_phases",
    .summary = "straight, or UGAL, on a dragonfly with one VC for each phase of the way",
    .options = dragonfly_phases_options,
    .example = "{\"type\": \"dragonfly_phases\", \"detours\": true, \"bias\": 30}",
    .needs = "2 VCs; 3 with detours",
    .is_adaptive = true,
    .prepare = dragonfly_phases_prepare,
    .inject = dragonfly_phases_inject,
    .route = dragonfly_phases_route,
    DEVICE_FORM_WITH(dragonfly_phases_route, .inject = "dragonfly_phases_inject"),
};
REGISTER_ROUTING(dragonfly_phases);
#endif
