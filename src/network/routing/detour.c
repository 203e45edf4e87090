/* SPDX-License-Identifier: Apache-2.0 */
/* Read by OpenCL too. Detours, and Valiant. */
#include "network/routing/detour_hop.h"

#if !FW_HOST
#include "network/routing/dragonfly.c"
#endif

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

static inline struct hop_rules rules_for(FW_GLOBAL const struct detours *detours, FW_GLOBAL const struct packet *packet)
{
    uint32_t globals = globals_crossed(packet), passage = globals + (packet->route & ROUTE_MIDWAY ? 1 : 0);
    bool is_later = detours->is_progressive && (globals > 0 || packet->route & ROUTE_LEFT);
    return passage_rules(packet, passage + is_later, passage + detours->is_progressive, detours->passage_classes,
                         (enum local_order)detours->local_order);
}

/* Notes how far the packet is on its way, before a step. A new passage begins without a local channel or a gate. */
static inline void update_leg(const struct route *route, FW_GLOBAL const struct detours *detours)
{
    FW_GLOBAL struct packet *packet = route->packet;
    bool is_new_passage = false, is_in_first_group = globals_crossed(packet) == 0;
    if (!(packet->route & ROUTE_SECOND_LEG) &&
        detour_here(route->routing, detours, route->router) == packet->waypoint) {
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

static void step_by_group(struct route *route, FW_GLOBAL const struct detours *detours)
{
    FW_GLOBAL const struct dragonfly *dragonfly = routing_facts(route->routing);
    FW_GLOBAL struct packet *packet = route->packet;
    if (!(packet->route & ROUTE_SECOND_LEG) || detours->is_progressive)
        update_leg(route, detours);
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

/* Somewhere on a way. */
struct stop {
    uint32_t group, place;
};

FW_INLINE struct stop stop_at(FW_GLOBAL const struct dragonfly *dragonfly, uint32_t router)
{
    return (struct stop){dragonfly_group(dragonfly, router), dragonfly_place(dragonfly, router)};
}

/* Channels to enter a group by the first of the nearest gates; *at is where it ends. */
FW_INLINE uint32_t hops_to_group(FW_GLOBAL const struct dragonfly *dragonfly, struct stop *at, uint32_t group)
{
    uint32_t own_group = at->group, own = at->place;
    if (own_group == group)
        return 0;
    FW_GLOBAL const struct dragonfly_gate *gates = dragonfly_gates(dragonfly, own_group, group);
    uint32_t count = dragonfly_channels(dragonfly, own_group, group), chosen = 0;
    uint32_t least = dragonfly_local_hops(dragonfly, own, gates->place);
    for (uint32_t i = 1; i < count && least > 0; i++) {
        uint32_t hops = dragonfly_local_hops(dragonfly, own, gates[i].place);
        chosen = hops < least ? i : chosen;
        least = hops < least ? hops : least;
    }
    *at = (struct stop){group, dragonfly_gates(dragonfly, group, own_group)[chosen].place};
    return 1 + least;
}

FW_INLINE uint32_t hops_to_router(FW_GLOBAL const struct dragonfly *dragonfly, struct stop *at, struct stop target)
{
    uint32_t hops = hops_to_group(dragonfly, at, target.group);
    hops += dragonfly_local_hops(dragonfly, at->place, target.place);
    *at = target;
    return hops;
}

static uint32_t hops_between_stops(const struct route *route, FW_GLOBAL const struct detours *detours,
                                   uint32_t waypoint)
{
    FW_GLOBAL const struct dragonfly *dragonfly = routing_facts(route->routing);
    struct stop at = stop_at(dragonfly, route->router), end = stop_at(dragonfly, route->packet->destination_router);
    uint32_t hops = detours->intermediate == INTERMEDIATE_GROUP
                        ? hops_to_group(dragonfly, &at, waypoint)
                        : hops_to_router(dragonfly, &at, stop_at(dragonfly, waypoint));
    return hops + hops_to_router(dragonfly, &at, end);
}

/*
 * A leg is dimension order on grids
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

/* ---- legs ---- */

static FW_GLOBAL const struct dimension_order *detour_grid(const struct route *route,
                                                           FW_GLOBAL const struct detours *detours)
{
    return FW_AT(const struct dimension_order, route->routing, detours->order);
}

static FW_GLOBAL const struct route_table *detour_table(const struct route *route,
                                                        FW_GLOBAL const struct detours *detours)
{
    return FW_AT(const struct route_table, route->routing, detours->table);
}

static void table_leg(struct route *route, FW_GLOBAL const struct detours *detours, uint32_t target)
{
    FW_GLOBAL const uint32_t *list = route_table_list(detour_table(route, detours), route->router, target);
    uint32_t count = list[ROUTE_TABLE_COUNT], chosen = count > 1 ? route_pick(route, count) : 0;
    route_add(route, list[ROUTE_TABLE_PORTS + chosen], route->packet->hops);
}

/* Offers the next hop of a leg that ends at `target`, with VCs of leg_classes classes from `class` on. */
static void detour_leg(struct route *route, FW_GLOBAL const struct detours *detours, uint32_t target, uint32_t class)
{
    if (detours->kind == DETOUR_ON_GRID)
        dimension_order_step(route, detour_grid(route, detours), target, class, false);
    else
        table_leg(route, detours, target);
}

static uint32_t detour_distance(const struct route *route, FW_GLOBAL const struct detours *detours, uint32_t from,
                                uint32_t to)
{
    if (from == to)
        return 0;
    if (detours->kind == DETOUR_ON_GRID)
        return dimension_order_distance(route->routing, detour_grid(route, detours), from, to);
    return route_table_distance(detour_table(route, detours), from, to);
}

/* ---- ways ---- */

static void step_by_legs(struct route *route, FW_GLOBAL const struct detours *detours)
{
    FW_GLOBAL struct packet *packet = route->packet;
    packet->route = note_leg(route, detours, packet->waypoint, packet->route);
    bool is_second = packet->route & ROUTE_SECOND_LEG;
    if (is_second && route->router == packet->destination_router)
        route_eject(route);
    else
        detour_leg(route, detours, is_second ? packet->destination_router : packet->waypoint,
                   class_of_leg(detours, packet, packet->route));
    if (detours->joins_legs && !is_second && route->router == packet->destination_router)
        detour_leg(route, detours, packet->waypoint, detours->leg_classes);
}

/* A router that agrees with the destination wherever the source does. */
static uint32_t draw_unaligned(struct route *route, FW_GLOBAL const struct hyperx *hyperx)
{
    FW_GLOBAL const uint16_t *here = hyperx_coordinates(hyperx, route->router);
    FW_GLOBAL const uint16_t *there = hyperx_coordinates(hyperx, route->packet->destination_router);
    uint32_t router = route->router;
    for (uint32_t d = 0; d < hyperx->dimensions; d++)
        if (here[d] != there[d])
            router = hyperx_router(hyperx, router, d, route_pick(route, hyperx->width[d]));
    return router;
}

/* A router itself or one that differs from it in one coordinate. */
static uint32_t draw_in_rows(struct route *route, FW_GLOBAL const struct hyperx *hyperx, uint32_t centre)
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

/* On a mesh: any router on a minimal way (Nesson and Johnsson 1995). */
static uint32_t draw_between(struct route *route, FW_GLOBAL const struct detours *detours)
{
    FW_GLOBAL const struct dimension_order *order = detour_grid(route, detours);
    FW_GLOBAL const uint16_t *coordinates = FW_AT(const uint16_t, route->routing, order->coordinates);
    FW_GLOBAL const uint16_t *here = coordinates + (size_t)route->router * order->dimensions;
    FW_GLOBAL const uint16_t *there = coordinates + (size_t)route->packet->destination_router * order->dimensions;
    uint32_t router = 0, stride = 1;
    for (uint32_t d = 0; d < order->dimensions; d++) {
        uint32_t low = here[d] < there[d] ? here[d] : there[d], high = here[d] + there[d] - low;
        router += stride * (low + route_pick(route, high - low + 1));
        stride *= order->rings[d].width;
    }
    return router;
}

static uint32_t draw_on_island(struct route *route, FW_GLOBAL const struct detours *detours)
{
    FW_GLOBAL const uint32_t *island = FW_AT(const uint32_t, route->routing, detours->islands) + 2 * route->router;
    return FW_AT(const uint32_t, route->routing, detours->hosts)[island[0] + route_pick(route, island[1])];
}

uint32_t detour_draw_by_rule(struct route *route, FW_GLOBAL const struct detours *detours)
{
    FW_GLOBAL const struct hyperx *hyperx = routing_facts(route->routing);
    uint32_t destination = route->packet->destination_router;
    switch (detours->intermediate) {
    case INTERMEDIATE_UNALIGNED:
        return draw_unaligned(route, hyperx);
    case INTERMEDIATE_SOURCE:
        return draw_in_rows(route, hyperx, route->router);
    case INTERMEDIATE_DESTINATION:
        return draw_in_rows(route, hyperx, destination);
    case INTERMEDIATE_SOURCE_DESTINATION:
        return draw_in_rows(route, hyperx, route_pick(route, 2) ? destination : route->router);
    case INTERMEDIATE_ISLAND:
        return draw_on_island(route, detours);
    default:
        return draw_between(route, detours);
    }
}

/* ---- of either kind ---- */

uint32_t detour_hops_by_any(const struct route *route, FW_GLOBAL const struct detours *detours, uint32_t waypoint)
{
    return detours->kind == DETOUR_ON_DRAGONFLY
               ? hops_between_stops(route, detours, waypoint)
               : detour_distance(route, detours, route->router, waypoint) +
                     detour_distance(route, detours, waypoint, route->packet->destination_router);
}

void detour_step_by_any(struct route *route, FW_GLOBAL const struct detours *detours)
{
    if (detours->kind == DETOUR_ON_DRAGONFLY)
        step_by_group(route, detours);
    else
        step_by_legs(route, detours);
}

/*
 * Every packet first goes to a router drawn at random and only then to its destination, both by minimal ways. Any
 * traffic then loads the channels like uniform traffic does, at the price of twice the hops (Valiant and Brebner 1981).
 * On dragonflies the detour goes to another group, not to a router of it (Kim, Dally, Scott and Abts 2008).
 */
struct valiant_config {
    struct detour_config detour; /* first */
    fw_bool own_router, joins_legs;
};

static void valiant_inject(struct route *route)
{
    FW_GLOBAL const struct detours *detours = route->routing->state;
    route->draws = INJECTION_DRAWS;
    detour_draw_order(route, detours);
    detour_start(route->packet, detour_draw(route, detours));
}

static void valiant_route(struct route *route)
{
    FW_GLOBAL const struct detours *detours = route->routing->state;
    detour_step(route, detours);
}

#if FW_HOST
static const char *const intermediate_names[] = {
    "auto", "router", "group", "unaligned", "source", "destination", "source_destination", "between", NULL};

enum detour_order { ORDER_FIRST_TO_LAST, ORDER_DRAWN };
static const char *const detour_order_names[] = {"first_to_last", "either", NULL};

const struct option detour_options[] = {
    OPTION_ENUM(struct detour_config, intermediate, "\"auto\"", intermediate_names,
                "where a detour goes: any router; any other group (dragonflies; auto takes it there); on a hyperx a "
                "router that keeps the coordinates that are right (unaligned), or one in a row of the source, the "
                "destination or either; on a mesh any router between source and destination (between: ROMM)"),
    OPTION_LOCAL_ORDER(struct detour_config),
    OPTION_ENUM(
        struct detour_config, order, "\"first_to_last\"", detour_order_names,
        "of dimensions on a hyperx: the first is corrected first, or the last for half of the packets, drawn at "
        "the source, which takes twice the VC classes"),
    OPTION_BOOL(struct detour_config, passes_by, "true",
                "whether a packet that comes by its destination's router on the way to its detour goes on; not on "
                "dragonflies"),
    OPTION_ROWS(struct detour_config, ring, struct ring_config, ring_options),
    OPTION_END,
};

/* ---- what there is ---- */

static void dragonfly_detours_init(struct detours *detours, const struct dragonfly *dragonfly, enum local_order order,
                                   bool is_progressive)
{
    if (detours->intermediate == INTERMEDIATE_AUTO)
        detours->intermediate = INTERMEDIATE_GROUP;
    detours->local_order = order;
    detours->is_progressive = is_progressive;
    detours->passage_classes = local_classes(dragonfly, order);
    detours->classes = (3 + is_progressive + (detours->intermediate == INTERMEDIATE_ROUTER)) * detours->passage_classes;
    if (dragonfly->shape == GROUP_ALL_TO_ALL && dragonfly->channels == 1 && !is_progressive)
        detours->ways = WAYS_BY_GROUP;
}

/* Routers with terminals: on indirect networks a detour by way of a spine would be none. */
static void detour_find_hosts(struct detours *detours, const struct topology *topology, struct arena *arena)
{
    uint32_t *hosts = arena_array(arena, uint32_t, topology->routers);
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++)
        hosts[topology_router_of(topology, terminal)] = 1;
    for (uint32_t router = 0; router < topology->routers; router++)
        if (hosts[router])
            hosts[detours->host_count++] = router;
    detours->hosts = hosts;
}

/* Where failures have cut a network in parts: its hosts part by part. */
static void sort_by_island(struct detours *detours, const struct topology *topology, struct arena *arena)
{
    const uint32_t *islands = topology->islands;
    uint32_t *sorted = arena_array(arena, uint32_t, detours->host_count), count = 0;
    uint32_t *ranges = arena_array(arena, uint32_t, 2 * (size_t)topology->routers);
    for (uint32_t i = 0; i < detours->host_count; i++)
        ranges[2 * islands[detours->hosts[i]] + 1]++;
    for (uint32_t router = 0; router < topology->routers; router++)
        if (islands[router] == router) {
            ranges[2 * router] = count;
            count += ranges[2 * router + 1];
            ranges[2 * router + 1] = 0;
        }
    for (uint32_t i = 0; i < detours->host_count; i++) {
        uint32_t *range = ranges + 2 * (size_t)islands[detours->hosts[i]];
        sorted[range[0] + range[1]++] = detours->hosts[i];
    }
    for (uint32_t router = 0; router < topology->routers; router++) {
        ranges[2 * router] = ranges[2 * islands[router]];
        ranges[2 * router + 1] = ranges[2 * islands[router] + 1];
    }
    detours->hosts = sorted;
    detours->islands = ranges;
    detours->intermediate = INTERMEDIATE_ISLAND;
}

static bool detour_fits(const struct topology *topology, const struct choice *self, struct errors *errors)
{
    const struct detour_config *config = self->config;
    enum intermediate intermediate = config->intermediate;
    bool needs_mesh = intermediate == INTERMEDIATE_BETWEEN,
         needs_hyperx = intermediate > INTERMEDIATE_GROUP && !needs_mesh;
    const char *damage = topology->whole ? " without failures" : "";
    if (config->order == ORDER_DRAWN && !topology_hyperx(topology))
        return choice_error(errors, self, "order", "\"either\" needs topology \"hyperx\"%s, not \"%s\"", damage,
                            topology->ops->name);
    if (!config->passes_by && topology_dragonfly(topology))
        return choice_error(errors, self, "passes_by", "false is not for dragonflies");
    if (needs_mesh     ? topology->grid && !topology->grid->wraps
        : needs_hyperx ? topology_hyperx(topology) != NULL
                       : intermediate != INTERMEDIATE_GROUP || topology_dragonfly(topology))
        return true;
    return choice_error(errors, self, "intermediate", "\"%s\" needs topology \"%s\"%s, not \"%s\"",
                        intermediate_names[intermediate],
                        needs_mesh     ? "mesh"
                        : needs_hyperx ? "hyperx"
                                       : DRAGONFLIES,
                        damage, topology->ops->name);
}

bool detours_init(struct detours *detours, const struct routing *routing, const struct choice *self,
                  bool is_progressive, struct arena *arena, struct errors *errors)
{
    const struct detour_config *config = self->config;
    const struct topology *topology = routing->topology;
    *detours = (struct detours){.intermediate = config->intermediate};
    if (!detour_fits(topology, self, errors))
        return false;
    if (topology_dragonfly(topology)) {
        dragonfly_detours_init(detours, topology->facts, config->local_order, is_progressive);
        return true;
    }
    detours->is_progressive = is_progressive;
    detours->passes_by = config->passes_by;
    detour_find_hosts(detours, topology, arena);
    if (topology->islands)
        sort_by_island(detours, topology, arena);
    if (topology->grid)
        detours->order = dimension_order_create(routing, self, &config->ring, arena, errors);
    else if (!topology_hyperx(topology))
        detours->table = route_table_create(routing, self, arena, errors);
    detours->kind = detours->order ? DETOUR_ON_GRID : detours->table ? DETOUR_BY_TABLE : DETOUR_ON_HYPERX;
    detours->ways = detours->kind == DETOUR_ON_HYPERX ? WAYS_ON_HYPERX : WAYS_OF_ANY;
    detours->leg_classes = detours->order ? detours->order->classes : topology_hyperx(topology) ? 1 : 0;
    detours->has_orders = config->order == ORDER_DRAWN;
    detours->classes = (2 + is_progressive) * detours->leg_classes * (detours->has_orders ? 2 : 1);
    if (detours->table) /* a router alone needs a class too */
        detours->classes = detours->table->diameter ? 2 * detours->table->diameter + is_progressive : 1;
    return detours->order || detours->table || topology_hyperx(topology);
}

static const struct option valiant_options[] = {
    OPTION_ROWS(struct valiant_config, detour, struct detour_config, detour_options),
    OPTION_BOOL(struct valiant_config, own_router, "false",
                "send packets for a terminal of their own router by a detour too"),
    OPTION_BOOL(struct valiant_config, joins_legs, "false",
                "on a mesh, a packet that comes by its destination's router on its first leg may go on in the VCs of "
                "either leg, as in BookSim: deadlock is not ruled out then"),
    OPTION_END,
};

static void valiant_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                            struct errors *errors)
{
    struct detours *detours = arena_array(arena, struct detours, 1);
    routing->state = detours;
    if (detours_init(detours, routing, self, false, arena, errors))
        routing->classes = detours->classes;
    const struct valiant_config *config = self->config;
    detours->takes_own = config->own_router;
    detours->joins_legs = config->joins_legs;
    const char *why = topology_dragonfly(routing->topology) ? "on dragonflies, where a detour goes to another group"
                      : !config->detour.passes_by           ? "with passes_by false"
                      : config->detour.intermediate == INTERMEDIATE_BETWEEN ? "with intermediate 'between'"
                                                                            : NULL;
    if (detours->takes_own && why)
        choice_error(errors, self, "own_router", "true has no effect %s; accepted: false", why);
    const struct grid *grid = routing->topology->grid;
    if (detours->joins_legs && (why || !grid || grid->wraps))
        choice_error(errors, self, "joins_legs", "true has no effect %s; accepted: false", why ? why : "but on a mesh");
}

static const struct routing_ops valiant = {
    .name = "valiant",
    .summary = "by way of a router or group drawn at random: the same throughput for any traffic",
    .options = valiant_options,
    .example = "{\"type\": \"valiant\", \"intermediate\": \"router\"}",
    .needs = DETOUR_NEEDS,
    .fits_level = FITS_LEVELS | FITS_BY_HOPS,
    .prepare = valiant_prepare,
    .inject = valiant_inject,
    .route = valiant_route,
    DEVICE_FORM_WITH(valiant_route, .inject = "valiant_inject"),
};
REGISTER_ROUTING(valiant);
#endif
