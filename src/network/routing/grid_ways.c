/* SPDX-License-Identifier: Apache-2.0 */
/*
 * More ways through grids, as BookSim (N. Jiang et al., ISPASS 2013) has them:
 *
 *   two_legs           by a router drawn among all, the packet's own included, or on a mesh among those on its minimal
 *                      ways (ROMM; Nesson and Johnsson 1995); both legs by dimension order, with VC classes of their own
 *   planar_adaptive    adaptive in the plane of two dimensions at a time (Chien and Kim 1992), three VC classes
 *   one_way_escape     any minimal way on adaptive VCs; who takes an escape VC, by dimension order, stays on these
 */
#include "network/routing/dimension_order.h"
#include "network/routing/routing.h"

#define ROUTE_BEHIND 2u /* the first leg is over */

/* ---- two legs ---- */

enum drawn { AMONG_ALL, BETWEEN };
static const char *const drawn_names[] = {"all", "between", NULL};

struct two_legs_config {
    uint32_t among;
    struct ring_config ring;
};

static const struct option two_legs_options[] = {
    OPTION_ENUM(struct two_legs_config, among, "\"all\"", drawn_names,
                "where the first leg ends: at any router, or on a mesh at one between source and destination"),
    OPTION_ROWS(struct two_legs_config, ring, struct ring_config, ring_options),
    OPTION_END,
};

static void two_legs_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                             struct errors *errors)
{
    const struct two_legs_config *config = self->config;
    struct dimension_order *order = dimension_order_create(routing, self, &config->ring, arena, errors);
    routing->state = order;
    routing->classes = order ? 2 * order->classes : 1;
    if (order && order->wraps && config->among == BETWEEN)
        choice_error(errors, self, "among", "\"between\" needs a mesh");
}

static uint32_t draw_between(struct route *route, const struct dimension_order *order)
{
    const struct grid *grid = route->routing->topology->grid;
    const uint16_t *here = order->coordinates + (size_t)route->router * order->dimensions;
    const uint16_t *there = order->coordinates + (size_t)route->packet->destination_router * order->dimensions;
    uint32_t router = 0, stride = 1;
    for (uint32_t d = 0; d < order->dimensions; d++) {
        uint32_t low = here[d] < there[d] ? here[d] : there[d], high = here[d] + there[d] - low;
        router += stride * (low + route_pick(route, high - low + 1));
        stride *= grid->width[d];
    }
    return router;
}

static void two_legs_inject(struct route *route)
{
    const struct two_legs_config *config = route->routing->config;
    route->draws = INJECTION_DRAWS;
    route->packet->waypoint = config->among == BETWEEN ? draw_between(route, route->routing->state)
                                                       : route_pick(route, route->routing->topology->routers);
}

static void two_legs_route(struct route *route)
{
    const struct dimension_order *order = route->routing->state;
    struct packet *packet = route->packet;
    if (route->router == packet->waypoint && !(packet->route & ROUTE_BEHIND))
        packet->route = ROUTE_BEHIND;
    bool is_behind = packet->route & ROUTE_BEHIND;
    if (is_behind && route_ends(route))
        return;
    dimension_order_step(route, order, is_behind ? packet->destination_router : packet->waypoint,
                         is_behind ? order->classes : 0);
}

static const struct routing_ops two_legs = {
    .name = "two_legs",
    .summary = "dimension order to a router drawn at random, whatever the destination, and from there on",
    .options = two_legs_options,
    .example = "{\"type\": \"two_legs\", \"among\": \"all\"}",
    .needs = "4 VCs on a torus, elsewhere 2",
    .prepare = two_legs_prepare,
    .inject = two_legs_inject,
    .route = two_legs_route,
};
REGISTER_ROUTING(two_legs);

/* ---- minimal hops of a mesh ---- */

static struct dimension_order *mesh_create(struct routing *routing, const struct choice *self, struct arena *arena,
                                           struct errors *errors)
{
    static const struct ring_config stateless = {.dateline = DATELINE_FIXED, .tie = TIE_UP};
    struct dimension_order *order = dimension_order_create(routing, self, &stateless, arena, errors);
    routing->state = order;
    if (order && order->wraps)
        routing_misfit(routing, self, "a grid without wrap-around", errors);
    return order;
}

/* The port of a dimension that leads closer; FW_NONE: none does. */
static uint32_t closer(const struct route *route, uint32_t dimension)
{
    const struct dimension_order *order = route->routing->state;
    uint32_t at = order->coordinates[(size_t)route->router * order->dimensions + dimension];
    uint32_t to = order->coordinates[(size_t)route->packet->destination_router * order->dimensions + dimension];
    return at == to ? FW_NONE : grid_port(route->routing->topology->grid, dimension, to < at, 0);
}

/* ---- planes ---- */

struct dimensions_config {
    uint32_t dimensions;
};
enum { EVERY_DIMENSION, FIRST_DIMENSION };
static const char *const dimensions_names[] = {"all", "first", NULL};
#define OPTION_DIMENSIONS(config)                                                                                      \
    OPTION_ENUM(config, dimensions, "\"all\"", dimensions_names,                                                       \
                "in which a packet is offered hops on adaptive VCs: all that lead closer, or the first alone")

static const struct option planar_adaptive_options[] = {
    OPTION_DIMENSIONS(struct dimensions_config),
    OPTION_END,
};

static void planar_adaptive_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                                    struct errors *errors)
{
    mesh_create(routing, self, arena, errors);
    routing->classes = 3;
}

/* The first dimension that is not right, and the next one: its class says which way the packet goes in the first. */
static void planar_adaptive_route(struct route *route)
{
    const struct dimension_order *order = route->routing->state;
    const struct grid *grid = route->routing->topology->grid;
    uint32_t d = 0;
    if (route_ends(route))
        return;
    while (closer(route, d) == FW_NONE)
        d++;
    uint32_t first = closer(route, d), second = d + 1 < order->dimensions ? closer(route, d + 1) : FW_NONE;
    route_add(route, first, 2);
    if (second != FW_NONE && ((const struct dimensions_config *)route->routing->config)->dimensions == EVERY_DIMENSION)
        route_add(route, second, first == grid_port(grid, d, true, 0));
}

static const struct routing_ops planar_adaptive = {
    .name = "planar_adaptive",
    .summary = "any minimal way in the plane of two dimensions at a time; meshes",
    .options = planar_adaptive_options,
    .example = "{\"type\": \"planar_adaptive\", \"dimensions\": \"all\"}",
    .needs = "3 VCs",
    .is_minimal = true,
    .prepare = planar_adaptive_prepare,
    .route = planar_adaptive_route,
};
REGISTER_ROUTING(planar_adaptive);

/* ---- escape for good ---- */

struct one_way_escape_config {
    uint32_t dimensions; /* as dimensions_config */
    uint32_t adaptive_vc;
};

static const struct option one_way_escape_options[] = {
    OPTION_DIMENSIONS(struct one_way_escape_config),
    OPTION_U32(struct one_way_escape_config, adaptive_vc, "null", 1, 63, NULL,
               "the one adaptive VC of a port; null: all but those for escape"),
    OPTION_END,
};

static void one_way_escape_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                                   struct errors *errors)
{
    /* Depends on where a packet is alone, not on how it came there. */
    static const struct ring_config stateless = {.dateline = DATELINE_FIXED, .tie = TIE_UP};
    const struct one_way_escape_config *config = self->config;
    struct dimension_order *order = dimension_order_create(routing, self, &stateless, arena, errors);
    routing->state = order;
    if (!order)
        return;
    uint32_t least = config->adaptive_vc ? config->adaptive_vc + 1 : order->classes + 1;
    routing->classes = routing->vcs > least ? routing->vcs : least; /* a VC is a class by itself */
    routing->escape_vcs = bits_range(0, order->classes);
    routing->takes_room_as_it_comes = true;
}

static void one_way_escape_route(struct route *route)
{
    const struct routing *routing = route->routing;
    const struct one_way_escape_config *config = routing->config;
    const struct dimension_order *order = routing->state;
    struct packet *packet = route->packet;
    if (route_ends(route))
        return;
    bool is_escaping = packet->hops > 0 && route_input_vc(route) < order->classes;
    uint64_t adaptive =
        config->adaptive_vc ? bit(config->adaptive_vc) : bits_range(order->classes, routing->vcs - order->classes);
    const uint16_t *here = order->coordinates + (size_t)route->router * order->dimensions;
    const uint16_t *there = order->coordinates + (size_t)packet->destination_router * order->dimensions;
    uint32_t offered = 0;
    for (uint32_t d = 0; d < order->dimensions && !is_escaping; d++) {
        uint32_t width = order->rings[d].width, up = (there[d] + width - here[d]) % width;
        bool down = order->wraps ? 2 * up >= width : there[d] < here[d];
        if (up && (offered++ == 0 || config->dimensions == EVERY_DIMENSION))
            route_add_vcs(route, grid_port(routing->topology->grid, d, down, 0), adaptive);
    }
    dimension_order_step(route, order, packet->destination_router, 0);
}

static const struct routing_ops one_way_escape = {
    .name = "one_way_escape",
    .summary = "any minimal way on a grid; who takes an escape VC stays on these, by dimension order",
    .options = one_way_escape_options,
    .example = "{\"type\": \"one_way_escape\"}",
    .needs = "3 VCs on a torus, elsewhere 2",
    .is_minimal = true,
    .prepare = one_way_escape_prepare,
    .route = one_way_escape_route,
};
REGISTER_ROUTING(one_way_escape);
