/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detours on every topology but the dragonflies, and Valiant. A leg is dimension order on grids
 * and HyperX, and the second leg's classes lie above those of the first, so no
 * packet in it waits for one in the first. Elsewhere a leg goes by table, and the
 * VC class is the number of the hop, which rises whatever the ways are. What a
 * packet that decides again after a hop has behind it lies below all that:
 *
 *                            by legs of k classes               by table
 *     straight               second leg                         0, 1, ...
 *     by a router            first leg, second leg: 2k          0 to 2 diameter - 1
 *     decided on the way     first hop, both legs: 3k           0 to 2 diameter
 */
#include "network/routing/detour.h"

#include "network/routing/hyperx.h"

static const char *const intermediate_names[] = {
    "auto", "router", "group", "unaligned", "source", "destination", "source_destination", NULL};

const struct option detour_options[] = {
    OPTION_ENUM(struct detour_config, intermediate, "\"auto\"", intermediate_names,
                "where a detour goes: any router; any other group (dragonflies; auto takes it there); on a hyperx a "
                "router that keeps the coordinates that are right (unaligned), or one in a row of the source, the "
                "destination or either"),
    OPTION_LOCAL_ORDER(struct detour_config),
    OPTION_ROWS(struct detour_config, ring, struct ring_config, ring_options),
    OPTION_END,
};

/* ---- legs ---- */

static void grid_leg(struct route *route, const struct detours *detours, uint32_t target, uint32_t class)
{
    dimension_order_step(route, detours->order, target, class, false);
}

static void hyperx_leg(struct route *route, const struct detours *detours, uint32_t target, uint32_t class)
{
    hyperx_step(route, detours->topology->facts, target, class);
}

static void table_leg(struct route *route, const struct detours *detours, uint32_t target, uint32_t class)
{
    (void)class;
    const uint32_t *list = route_table_list(detours->table, route->router, target);
    uint32_t count = list[ROUTE_TABLE_COUNT], chosen = count > 1 ? route_pick(route, count) : 0;
    route_add(route, list[ROUTE_TABLE_PORTS + chosen], route->packet->hops);
}

static uint32_t detour_distance(const struct detours *detours, uint32_t from, uint32_t to)
{
    if (detours->table)
        return route_table_distance(detours->table, from, to);
    return detours->topology->ops->distance(detours->topology, from, to);
}

/* ---- ways ---- */

/* Of the next hop of a leg. The first hop of a straight way is a leg by itself where it may be left after it. */
static uint32_t first_class(const struct detours *detours, const struct packet *packet)
{
    bool is_second = packet->route & ROUTE_SECOND_LEG, is_first_hop = packet->hops == 0 && is_second;
    return (detours->is_progressive ? is_first_hop ? 0 : 1 + is_second : is_second) * detours->leg_classes;
}

static void step_by_legs(struct route *route, const struct detours *detours)
{
    struct packet *packet = route->packet;
    if (route->router == packet->waypoint)
        packet->route |= ROUTE_SECOND_LEG;
    bool is_second = packet->route & ROUTE_SECOND_LEG;
    if (is_second && route->router == packet->destination_router)
        route_eject(route);
    else
        detours->leg(route, detours, is_second ? packet->destination_router : packet->waypoint,
                     first_class(detours, packet));
}

static uint32_t hops_by_legs(const struct detours *detours, uint32_t router, const struct packet *packet)
{
    return detour_distance(detours, router, packet->waypoint) +
           detour_distance(detours, packet->waypoint, packet->destination_router);
}

/* A router that agrees with the destination wherever the source does. */
static uint32_t draw_unaligned(struct route *route, const struct hyperx *hyperx)
{
    const uint16_t *here = hyperx_coordinates(hyperx, route->router);
    const uint16_t *there = hyperx_coordinates(hyperx, route->packet->destination_router);
    uint32_t router = route->router;
    for (uint32_t d = 0; d < hyperx->dimensions; d++)
        if (here[d] != there[d])
            router = hyperx_router(hyperx, router, d, route_pick(route, hyperx->width[d]));
    return router;
}

/* A router itself or one that differs from it in one coordinate. */
static uint32_t draw_in_rows(struct route *route, const struct hyperx *hyperx, uint32_t centre)
{
    uint32_t choices = 1;
    for (uint32_t d = 0; d < hyperx->dimensions; d++)
        choices += hyperx->width[d] - 1;
    uint32_t chosen = route_pick(route, choices), d = 0;
    if (chosen == 0)
        return centre;
    for (chosen--; chosen >= hyperx->width[d] - 1; d++)
        chosen -= hyperx->width[d] - 1;
    uint32_t coordinate = (hyperx_coordinate(hyperx, centre, d) + 1 + chosen) % hyperx->width[d];
    return hyperx_router(hyperx, centre, d, coordinate);
}

static uint32_t draw_router(struct route *route, const struct detours *detours)
{
    const struct hyperx *hyperx = detours->topology->facts;
    uint32_t destination = route->packet->destination_router;
    if (destination == route->router)
        return route->router;
    switch (detours->intermediate) {
    case INTERMEDIATE_UNALIGNED:
        return draw_unaligned(route, hyperx);
    case INTERMEDIATE_SOURCE:
        return draw_in_rows(route, hyperx, route->router);
    case INTERMEDIATE_DESTINATION:
        return draw_in_rows(route, hyperx, destination);
    case INTERMEDIATE_SOURCE_DESTINATION:
        return draw_in_rows(route, hyperx, route_pick(route, 2) ? destination : route->router);
    default:
        return detours->hosts[route_pick(route, detours->host_count)];
    }
}

/* ---- what there is ---- */

/* Routers with terminals: on indirect networks a detour by way of a spine would be none. */
static void detour_find_hosts(struct detours *detours, struct arena *arena)
{
    const struct topology *topology = detours->topology;
    uint32_t *hosts = arena_array(arena, uint32_t, topology->routers);
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++)
        hosts[topology_router_of(topology, terminal)] = 1;
    for (uint32_t router = 0; router < topology->routers; router++)
        if (hosts[router])
            hosts[detours->host_count++] = router;
    detours->hosts = hosts;
}

static bool detour_fits(const struct detours *detours, const struct choice *self, struct errors *errors)
{
    const struct topology *topology = detours->topology;
    enum intermediate intermediate = detours->intermediate;
    bool needs_hyperx = intermediate > INTERMEDIATE_GROUP;
    bool is_wrong = (needs_hyperx && !topology_hyperx(topology)) ||
                    (intermediate == INTERMEDIATE_GROUP && !topology_dragonfly(topology));
    if (is_wrong)
        choice_error(errors, self, "intermediate", "\"%s\" needs topology \"%s\", not \"%s\"",
                     intermediate_names[intermediate], needs_hyperx ? "hyperx" : DRAGONFLIES, topology->ops->name);
    return !is_wrong;
}

bool detours_init(struct detours *detours, const struct routing *routing, const struct choice *self,
                  bool is_progressive, struct arena *arena, struct errors *errors)
{
    const struct detour_config *config = self->config;
    const struct topology *topology = routing->topology;
    *detours = (struct detours){.topology = topology, .intermediate = config->intermediate};
    if (!detour_fits(detours, self, errors))
        return false;
    if (topology_dragonfly(topology)) {
        dragonfly_detours_init(detours, config->local_order, is_progressive);
        return true;
    }
    detours->is_progressive = is_progressive;
    detours->draw = draw_router;
    detours->step = step_by_legs;
    detours->hops = hops_by_legs;
    detour_find_hosts(detours, arena);
    if (topology->grid)
        detours->order = dimension_order_create(routing, self, &config->ring, arena, errors);
    else if (!topology_hyperx(topology))
        detours->table = route_table_create(routing, self, arena, errors);
    detours->leg = detours->order ? grid_leg : detours->table ? table_leg : hyperx_leg;
    detours->leg_classes = detours->order ? detours->order->classes : topology_hyperx(topology) ? 1 : 0;
    detours->classes = (2 + is_progressive) * detours->leg_classes;
    if (detours->table) /* a router alone needs a class too */
        detours->classes = detours->table->diameter ? 2 * detours->table->diameter + is_progressive : 1;
    return detours->order || detours->table || topology_hyperx(topology);
}

/* ---- Valiant ---- */

/*
 * Every packet first goes to a router drawn at random and only then to its destination, both by minimal ways. Any
 * traffic then loads the channels like uniform traffic does, at the price of twice the hops (Valiant and Brebner 1981).
 * On dragonflies the detour goes to another group, not to a router of it (Kim, Dally, Scott and Abts 2008).
 */
static void valiant_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                            struct errors *errors)
{
    struct detours *detours = arena_array(arena, struct detours, 1);
    routing->state = detours;
    if (detours_init(detours, routing, self, false, arena, errors))
        routing->classes = detours->classes;
}

static void valiant_inject(struct route *route)
{
    const struct detours *detours = route->routing->state;
    route->draws = INJECTION_DRAWS;
    detour_start(route->packet, detours->draw(route, detours));
}

static void valiant_route(struct route *route)
{
    const struct detours *detours = route->routing->state;
    detours->step(route, detours);
}

static const struct routing_ops valiant = {
    .name = "valiant",
    .summary = "by way of a router or group drawn at random: the same throughput for any traffic",
    .options = detour_options,
    .example = "{\"type\": \"valiant\", \"intermediate\": \"router\"}",
    .needs = DETOUR_NEEDS,
    .prepare = valiant_prepare,
    .inject = valiant_inject,
    .route = valiant_route,
};
REGISTER_ROUTING(valiant);
