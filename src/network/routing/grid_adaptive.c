/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read by OpenCL too. Minimal adaptive routing on grids: whatever hop leads closer, kept free of
 * deadlock by a layer of VCs on which dimension order is always offered (Duato
 * 1993), by turns that are forbidden, or not at all. One VC of a mesh or hypercube
 * is for escape, and two of a torus: the first of them is taken while the wrap
 * channel lies ahead.
 */
#include "flitwarp/reduction.h"
#include "network/routing/dimension_order.h"
#include "network/routing/routing.h"
#if !FW_HOST
#include "network/routing/dimension_order_steps.h"
#endif

/* The directions of a dimension that lead closer to a target; both of a torus where both ways round are equally long. */
enum { WAY_UP = 1, WAY_DOWN = 2 };

static uint32_t grid_ways(FW_GLOBAL const struct grid *grid, FW_GLOBAL const uint16_t *coordinates, uint32_t router,
                          uint32_t target, uint32_t dimension)
{
    uint32_t at = coordinates[(size_t)router * grid->dimensions + dimension];
    uint32_t to = coordinates[(size_t)target * grid->dimensions + dimension];
    if (at == to)
        return 0;
    if (!grid->wraps)
        return to > at ? WAY_UP : WAY_DOWN;
    uint32_t up = to > at ? to - at : to + grid->width[dimension] - at, down = grid->width[dimension] - up;
    return (up <= down ? WAY_UP : 0) | (down <= up ? WAY_DOWN : 0);
}

/* Offers some VCs of all channels that lead in some directions of a dimension. */
static void grid_offer(struct route *route, uint32_t dimension, uint32_t ways, uint64_t vcs)
{
    FW_GLOBAL const struct grid *grid = routing_grid(route->routing);
    for (uint32_t down = 0; down < 2; down++)
        for (uint32_t channel = 0; ways >> down & 1 && channel < grid->channels[dimension]; channel++)
            route_add_vcs(route, grid_port(grid, dimension, down, channel), vcs);
}

/* ---- escape VCs ---- */

struct escape_layer {
    FW_FAR(const struct dimension_order) order; /* a VC is a class by itself, and the first ones are its */
    uint64_t adaptive_vcs;                      /* the others */
};

#if FW_HOST
/* Adds an error where there is no grid. Names the escape VCs, if there are others beside them. */
static void escape_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                           struct errors *errors)
{
    /* A fixed dateline and ties that go up depend on where a packet is alone, not on how it came there. */
    static const struct ring_config stateless = {.dateline = DATELINE_FIXED, .tie = TIE_UP};
    struct escape_layer *layer = arena_array(arena, struct escape_layer, 1);
    routing->state = layer;
    layer->order = dimension_order_create(routing, self, &stateless, arena, errors);
    if (!layer->order)
        return;
    uint32_t escapes = layer->order->classes, num_vcs = routing->vcs;
    routing->classes = num_vcs > escapes ? num_vcs : escapes;
    layer->adaptive_vcs = num_vcs > escapes ? bits_range(escapes, num_vcs - escapes) : 0;
    routing->escape_vcs = layer->adaptive_vcs ? bits_range(0, escapes) : 0;
}
#endif

static FW_GLOBAL const struct dimension_order *escape_order(const struct route *route,
                                                            FW_GLOBAL const struct escape_layer *layer)
{
    return FW_AT(const struct dimension_order, route->routing, layer->order);
}
static FW_GLOBAL const uint16_t *order_coordinates(const struct route *route,
                                                   FW_GLOBAL const struct escape_layer *layer)
{
    return FW_AT(const uint16_t, route->routing, escape_order(route, layer)->coordinates);
}

/*
 * Duato's protocol (1993) on a grid, without a look at congestion: a packet is
 * offered every hop that leads closer on any adaptive VC, and beside them the hop
 * of dimension order on its escape VC, one as good as the other. VC allocation
 * takes what is free. Adaptive VCs may wait for each other in a circle; packets
 * in it leave by the escape VCs, which do not. Without adaptive VCs what is left
 * is dimension order.
 */
static void duato_route(struct route *route)
{
    FW_GLOBAL const struct escape_layer *layer = route->routing->state;
    FW_GLOBAL const struct grid *grid = routing_grid(route->routing);
    uint32_t target = route->packet->destination_router;
    if (route_ends(route))
        return;
    for (uint32_t d = 0; d < grid->dimensions; d++)
        grid_offer(route, d, grid_ways(grid, order_coordinates(route, layer), route->router, target, d),
                   layer->adaptive_vcs);
    dimension_order_step(route, escape_order(route, layer), target, 0, false);
}

#if FW_HOST
static const struct routing_ops duato = {
    .name = "duato",
    .summary = "any minimal way on a grid, with dimension order on escape VCs",
    .needs = "2 VCs on a torus, elsewhere 1: for escape; it is adaptive on those beyond them",
    .is_minimal = true,
    .prepare = escape_prepare,
    .route = duato_route,
    DEVICE_FORM(duato_route),
};
REGISTER_ROUTING(duato);

/* The same with the least congested of the adaptive hops, or what else the reduction chooses among them. */
static void torus_adaptive_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                                   struct errors *errors)
{
    const struct adaptive_config *config = self->config;
    escape_prepare(routing, self, arena, errors);
    const struct escape_layer *layer = routing->state;
    if (!layer->order)
        return;
    uint32_t escapes = layer->order->classes, num_vcs = routing->vcs;
    if (!layer->adaptive_vcs)
        routing->classes = escapes + 1; /* a choice to make is what it is for */
    bool is_each = config->mode == CONGESTION_VC && layer->adaptive_vcs;
    adaptive_check(routing, self, routing->topology->ports * (is_each ? num_vcs - escapes : 1), errors);
}
#endif

static void torus_adaptive_route(struct route *route)
{
    FW_GLOBAL const struct escape_layer *layer = route->routing->state;
    FW_GLOBAL const struct grid *grid = routing_grid(route->routing);
    uint32_t target = route->packet->destination_router;
    if (route_ends(route))
        return;
    struct candidates candidates;
    candidates.count = 0;
    struct candidate like = {.vcs = layer->adaptive_vcs, .hops = 1, .is_minimal = true}; /* all are equally long */
    for (uint32_t d = 0; d < grid->dimensions; d++) {
        uint32_t ways = grid_ways(grid, order_coordinates(route, layer), route->router, target, d);
        for (uint32_t down = 0; down < 2; down++) {
            like.port = grid_port(grid, d, down, 0);
            candidates_add_ports(&candidates, route, route->routing->config, &like,
                                 ways >> down & 1 ? grid->channels[d] : 0);
        }
    }
    candidates_offer(&candidates, route, route->routing->config);
    dimension_order_step(route, escape_order(route, layer), target, 0, false);
}

#if FW_HOST
static const struct routing_ops torus_adaptive = {
    .name = "torus_adaptive",
    .summary = "the least congested minimal way on a grid, with dimension order on escape VCs",
    .options = adaptive_options,
    .example = "{\"type\": \"torus_adaptive\", \"mode\": \"port_average\"}",
    .needs = "3 VCs on a torus, elsewhere 2",
    .is_adaptive = true,
    .is_minimal = true,
    .prepare = torus_adaptive_prepare,
    .route = torus_adaptive_route,
    DEVICE_FORM(torus_adaptive_route),
};
REGISTER_ROUTING(torus_adaptive);
#endif

/* ---- as BookSim has them ---- */

/* N. Jiang et al., ISPASS 2013. Of several ways that are equally good BookSim's own router keeps the first. */
enum { EVERY_DIMENSION, FIRST_DIMENSION };
#if FW_HOST
static const char *const dimensions_names[] = {"all", "first", NULL};
#define OPTION_DIMENSIONS(config)                                                                                      \
    OPTION_ENUM(config, dimensions, "\"all\"", dimensions_names,                                                       \
                "in which a packet is offered hops on adaptive VCs: all that lead closer, or the first alone, as "     \
                "BookSim's router takes it")
#endif

/*
 * The same as duato, but who takes an escape VC stays on these, and adaptive VCs are taken without room for a whole packet. As
 * there, that can deadlock beyond saturation.
 */
struct one_way_escape_config {
    uint32_t dimensions;
    uint32_t adaptive_vc;
};

#if FW_HOST
static const struct option one_way_escape_options[] = {
    OPTION_DIMENSIONS(struct one_way_escape_config),
    OPTION_U32(struct one_way_escape_config, adaptive_vc, "null", 1, 63, NULL,
               "the one adaptive VC of a port; null: all but those for escape"),
    OPTION_END,
};

static void one_way_escape_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                                   struct errors *errors)
{
    const struct one_way_escape_config *config = self->config;
    escape_prepare(routing, self, arena, errors);
    struct escape_layer *layer = routing->state;
    if (!layer->order)
        return;
    uint32_t escapes = layer->order->classes, least = (config->adaptive_vc ? config->adaptive_vc : escapes) + 1;
    if (least <= escapes)
        choice_error(errors, self, "adaptive_vc", "%u is a VC for escape; accepted: %u and above", config->adaptive_vc,
                     escapes);
    routing->classes = routing->classes > least ? routing->classes : least;
    if (config->adaptive_vc)
        layer->adaptive_vcs = bit(config->adaptive_vc);
    routing->takes_room_as_it_comes = true;
}
#endif

static void one_way_escape_route(struct route *route)
{
    FW_GLOBAL const struct one_way_escape_config *config = route->routing->config;
    FW_GLOBAL const struct escape_layer *layer = route->routing->state;
    FW_GLOBAL const struct grid *grid = routing_grid(route->routing);
    uint32_t target = route->packet->destination_router, offered = 0;
    if (route_ends(route))
        return;
    bool is_escaping = route->packet->hops > 0 && route_input_vc(route) < escape_order(route, layer)->classes;
    for (uint32_t d = 0; d < grid->dimensions && !is_escaping; d++) {
        uint32_t ways = grid_ways(grid, order_coordinates(route, layer), route->router, target, d);
        if (ways && (offered++ == 0 || config->dimensions == EVERY_DIMENSION)) /* BookSim goes down where both do */
            grid_offer(route, d, ways & WAY_DOWN ? WAY_DOWN : WAY_UP, layer->adaptive_vcs);
    }
    dimension_order_step(route, escape_order(route, layer), target, 0, false);
}

#if FW_HOST
static const struct routing_ops one_way_escape = {
    .name = "one_way_escape",
    .summary = "any minimal way on a grid; who takes an escape VC stays on these, by dimension order",
    .options = one_way_escape_options,
    .example = "{\"type\": \"one_way_escape\"}",
    .needs = "3 VCs on a torus, elsewhere 2; can deadlock beyond saturation, as BookSim's, where duato cannot",
    .is_minimal = true,
    .prepare = one_way_escape_prepare,
    .route = one_way_escape_route,
    DEVICE_FORM(one_way_escape_route),
};
REGISTER_ROUTING(one_way_escape);
#endif

/* ---- without escape ---- */

/*
 * Turn models on a mesh: some turns are forbidden, so that packets cannot wait
 * for each other in a circle, and among the minimal ways that need none of them a
 * packet may choose. One VC is enough. West is down in dimension 0, north is up
 * in dimension 1.
 *   Glass and Ni (1992): some directions come first; a packet takes others only
 * when it needs none of those any more.
 *
 *                      come first                   in more than two dimensions
 *     west_first       west                         down in all but the last
 *     north_last       all but north                all but up in all but dimension 0
 *     negative_first   west and south               down in all
 *
 *   odd_even (Chiu 2000) forbids by column, so that packets are free in all four
 * quadrants alike: in even columns no turn from east to north or south, in odd
 * ones none from north or south to west. A packet to the east may leave its
 * source's row in odd columns only and in that of its source, which it takes
 * along; a packet to the west in even ones.
 */
enum model { MODEL_WEST_FIRST, MODEL_NORTH_LAST, MODEL_NEGATIVE_FIRST, MODEL_ODD_EVEN, MODEL_ANY_TURN };

struct turn_model {
    FW_FAR(const uint16_t) coordinates;
    uint32_t first[MAX_DIMENSIONS]; /* by dimension: directions that come first */
    fw_bool is_odd_even;
};

#if FW_HOST
#define MESHES "a grid that does not wrap (mesh, hypercube)"

static const char *const model_names[] = {"west_first", "north_last", "negative_first", "odd_even", NULL};

struct turn_model_config {
    uint32_t model;
};

static const struct option turn_model_options[] = {
    OPTION_ENUM(struct turn_model_config, model, "\"west_first\"", model_names,
                "which turns are forbidden; odd_even: two dimensions"),
    OPTION_END,
};

static uint32_t first_ways(enum model model, uint32_t dimension, uint32_t dimensions)
{
    if (model == MODEL_WEST_FIRST)
        return dimension + 1 < dimensions ? WAY_DOWN : 0;
    if (model == MODEL_NORTH_LAST)
        return dimension == 0 ? WAY_UP | WAY_DOWN : WAY_DOWN;
    return model == MODEL_ANY_TURN ? 0 : WAY_DOWN;
}
#endif

static FW_GLOBAL const uint16_t *turn_model_coordinates(const struct route *route,
                                                        FW_GLOBAL const struct turn_model *turns)
{
    return FW_AT(const uint16_t, route->routing, turns->coordinates);
}

static void route_first(struct route *route)
{
    FW_GLOBAL const struct turn_model *turns = route->routing->state;
    FW_GLOBAL const struct grid *grid = routing_grid(route->routing);
    uint32_t target = route->packet->destination_router, ways[MAX_DIMENSIONS], some = 0;
    if (route_ends(route))
        return;
    for (uint32_t d = 0; d < grid->dimensions; d++) {
        ways[d] = grid_ways(grid, turn_model_coordinates(route, turns), route->router, target, d);
        some |= ways[d] & turns->first[d];
    }
    for (uint32_t d = 0; d < grid->dimensions; d++)
        grid_offer(route, d, some ? ways[d] & turns->first[d] : ways[d], route->routing->class_vcs[0]);
}

static uint32_t column_of(const struct route *route, uint32_t router)
{
    FW_GLOBAL const struct turn_model *turns = route->routing->state;
    return turn_model_coordinates(route, turns)[(size_t)router * 2];
}

static void turn_model_inject(struct route *route)
{
    FW_GLOBAL const struct turn_model *turns = route->routing->state;
    if (turns->is_odd_even)
        route->packet->waypoint = column_of(route, route->router);
}

static void route_odd_even(struct route *route)
{
    FW_GLOBAL const struct turn_model *turns = route->routing->state;
    FW_GLOBAL const struct grid *grid = routing_grid(route->routing);
    uint32_t target = route->packet->destination_router;
    if (route_ends(route))
        return;
    uint32_t x = grid_ways(grid, turn_model_coordinates(route, turns), route->router, target, 0);
    uint32_t y = grid_ways(grid, turn_model_coordinates(route, turns), route->router, target, 1);
    uint32_t here = column_of(route, route->router), there = column_of(route, target);
    bool is_odd = here % 2;
    if (x && y) {
        bool may_turn = x == WAY_UP ? is_odd || here == route->packet->waypoint : !is_odd;
        /* an even column cannot be entered from the west by who has to turn in it */
        bool may_go_on = x == WAY_DOWN || there % 2 || there - here > 1;
        y = may_turn ? y : 0;
        x = may_go_on ? x : 0;
    }
    grid_offer(route, 0, x, route->routing->class_vcs[0]);
    grid_offer(route, 1, y, route->routing->class_vcs[0]);
}

static void turn_model_route(struct route *route)
{
    FW_GLOBAL const struct turn_model *turns = route->routing->state;
    if (turns->is_odd_even)
        route_odd_even(route);
    else
        route_first(route);
}

#if FW_HOST
static void forbid_turns(struct routing *routing, enum model model, struct arena *arena)
{
    const struct grid *grid = routing->topology->grid;
    struct turn_model *turns = arena_array(arena, struct turn_model, 1);
    turns->coordinates = grid_bake(routing->topology, arena);
    for (uint32_t d = 0; d < grid->dimensions; d++)
        turns->first[d] = first_ways(model, d, grid->dimensions);
    turns->is_odd_even = model == MODEL_ODD_EVEN;
    routing->state = turns;
}

static void turn_model_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                               struct errors *errors)
{
    const struct turn_model_config *config = self->config;
    const struct grid *grid = routing->topology->grid;
    if (!grid || grid->wraps) {
        routing_misfit(routing, self, MESHES, errors);
        return;
    }
    forbid_turns(routing, config->model, arena);
    if (config->model == MODEL_ODD_EVEN && grid->dimensions != 2)
        choice_error(errors, self, "model", "\"odd_even\" needs a mesh of 2 dimensions, not %u", grid->dimensions);
}

static const struct routing_ops turn_model = {
    .name = "turn_model",
    .summary = "minimal ways on a mesh without some turns: west first, north last, negative first, odd-even",
    .options = turn_model_options,
    .example = "{\"type\": \"turn_model\", \"model\": \"north_last\"}",
    .needs = "1 VC",
    .is_minimal = true,
    .prepare = turn_model_prepare,
    .inject = turn_model_inject,
    .route = turn_model_route,
    DEVICE_FORM_WITH(turn_model_route, .inject = "turn_model_inject"),
};
REGISTER_ROUTING(turn_model);

/*
 * Any minimal way on a grid, on any VC, with nothing done against deadlock: to
 * see it happen. Four packets that each turn the same corner of a square are
 * enough, and `flitwarp check` shows them.
 */
static void fully_adaptive_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                                   struct errors *errors)
{
    if (routing->topology->grid)
        forbid_turns(routing, MODEL_ANY_TURN, arena);
    else
        routing_misfit(routing, self, GRIDS, errors);
}

static const struct routing_ops fully_adaptive = {
    .name = "fully_adaptive",
    .summary = "any minimal way on a grid, on any VC: can deadlock, for those who study it",
    .needs = "1 VC",
    .is_minimal = true,
    .prepare = fully_adaptive_prepare,
    .route = route_first,
    DEVICE_FORM(route_first),
};
REGISTER_ROUTING(fully_adaptive);
#endif

/*
 * Adaptive in the plane of two dimensions at a time (Chien and Kim 1992): the first dimension that is not right, in a class
 * of its own, and the next one, in a class that says which way the packet goes in the first.
 */
struct planar_adaptive_config {
    uint32_t dimensions;
};

#if FW_HOST
static const struct option planar_adaptive_options[] = {
    OPTION_DIMENSIONS(struct planar_adaptive_config),
    OPTION_END,
};

static void planar_adaptive_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                                    struct errors *errors)
{
    const struct grid *grid = routing->topology->grid;
    routing->classes = 3;
    if (!grid || grid->wraps)
        routing_misfit(routing, self, MESHES, errors);
    else
        forbid_turns(routing, MODEL_ANY_TURN, arena); /* classes do that */
}
#endif

static void planar_adaptive_route(struct route *route)
{
    FW_GLOBAL const struct planar_adaptive_config *config = route->routing->config;
    FW_GLOBAL const struct grid *grid = routing_grid(route->routing);
    FW_GLOBAL const uint16_t *coordinates = turn_model_coordinates(route, route->routing->state);
    FW_GLOBAL const uint64_t *class_vcs = route->routing->class_vcs;
    uint32_t d = 0, target = route->packet->destination_router, ways;
    if (route_ends(route))
        return;
    while (!(ways = grid_ways(grid, coordinates, route->router, target, d)))
        d++;
    grid_offer(route, d, ways, class_vcs[2]);
    if (d + 1 < grid->dimensions && config->dimensions == EVERY_DIMENSION)
        grid_offer(route, d + 1, grid_ways(grid, coordinates, route->router, target, d + 1),
                   class_vcs[ways == WAY_DOWN]);
}

#if FW_HOST
static const struct routing_ops planar_adaptive = {
    .name = "planar_adaptive",
    .summary = "any minimal way in the plane of two dimensions at a time; meshes",
    .options = planar_adaptive_options,
    .example = "{\"type\": \"planar_adaptive\", \"dimensions\": \"all\"}",
    .needs = "3 VCs",
    .is_minimal = true,
    .prepare = planar_adaptive_prepare,
    .route = planar_adaptive_route,
    DEVICE_FORM(planar_adaptive_route),
};
REGISTER_ROUTING(planar_adaptive);
#endif
