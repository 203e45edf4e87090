/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read by OpenCL too. Dimension-order routing: a packet corrects its coordinates one dimension after
 * the other, each by the shorter way. On a mesh or hypercube that is free of
 * deadlock by itself, and on a HyperX, where one hop corrects a dimension. The rings of a torus need two classes of VCs (Dally and
 * Seitz 1987), shared out by a dateline:
 *
 *     +-> 0 --> 1 --> 2 --> 3 --> 4 --> 5 --+     channel i leads from i to i+1,
 *     +---------------- wrap ---------------+     the wrap channel is number 5
 *
 * fixed: class 0 while the wrap channel lies ahead, class 1 from behind it on.
 * Packets that never wrap, most of them, share class 1: simple and unbalanced.
 *
 * by_wrap: class 0 all the way through a ring for packets that wrap in it, class
 * 1 for the others (BookSim's way). A shortest way that wraps is at most half a
 * ring long, so it begins in the upper half and ends in the lower: it never uses
 * the channel that joins the halves, which breaks the cycle of class 0.
 *
 * from_wrap: class 0 until the wrap channel, class 1 on it and behind it (SuperSim's
 * way): class 0 never wraps, and class 1 is left before it comes round.
 *
 * balanced: every packet has one pivot on its way through a ring. It takes class
 * 0 before, either class on the pivot and class 1 behind it. The pivot is the
 * wrap channel for packets that cross it. Others use class 0 in the lower half
 * of the ring, where those behind the wrap take class 1, and class 1 in the
 * upper half: their pivot is their first channel in the upper half, or else
 * their last one.
 *   There is no deadlock: number channel i of class 0 with i, the wrap channel of
 * either class with k-1, channel i of class 1 with k+i (k routers, i < k-1). A
 * packet that does not wrap goes from i to i+1 within a class or from class 0 to
 * 1. A packet that wraps goes up in class 0, to k-1 and on to class 1, and less
 * than once round it never meets the wrap channel again. So every packet waits
 * for a higher number than it holds. The two directions share no channels, and
 * a later dimension never waits for an earlier one.
 */
#include "network/routing/dimension_order_steps.h"
#include "network/routing/hyperx.h"

static void dimension_order_route(struct route *route)
{
    FW_GLOBAL const struct dimension_order *order = route->routing->state;
    if (route_ends(route))
        return;
    if (order)
        dimension_step(route, order, route->packet->destination_router, 0, false);
    else
        hyperx_step(route, routing_facts(route->routing), route->packet->destination_router, 0, false);
}

#if FW_HOST
#include "network/routing/routing.h"

#define MAX_BAKED_WIDTH 64

static const char *const dateline_names[] = {"balanced", "fixed", "by_wrap", "none", "from_wrap", NULL};
static const char *const tie_names[] = {"random", "up", NULL};

const struct option ring_options[] = {
    OPTION_ENUM(struct ring_config, dateline, "\"balanced\"", dateline_names,
                "how the rings of a torus are kept free of deadlock (none: not at all, to see what happens)"),
    OPTION_ENUM(struct ring_config, tie, "\"random\"", tie_names,
                "which way round a torus when both ways are equally long"),
    OPTION_END,
};

static const uint64_t *pack_coordinates(const uint16_t *coordinates, uint32_t dimensions, uint32_t routers,
                                        struct arena *arena)
{
    if (dimensions > 4)
        return NULL;
    uint64_t *packed = arena_array(arena, uint64_t, routers);
    for (uint32_t router = 0; router < routers; router++)
        for (uint32_t d = 0; d < dimensions; d++)
            packed[router] |= (uint64_t)coordinates[(size_t)router * dimensions + d] << 16 * d;
    return packed;
}

/* The first of two coordinates above the second: where routers differ first decides which of them is the larger. */
static const uint32_t *turn_coordinates(const uint64_t *packed, uint32_t routers, struct arena *arena)
{
    uint32_t *flat = arena_array(arena, uint32_t, routers);
    for (uint32_t router = 0; router < routers; router++)
        flat[router] = (uint32_t)(packed[router] << 16 | packed[router] >> 16);
    return flat;
}

/* All answers of a ring in a table, unless it is so wide that looking up costs more than working out. */
static const uint8_t *bake_hops(const struct dimension_order *order, const struct ring *ring, struct arena *arena)
{
    if (ring->width > MAX_BAKED_WIDTH)
        return NULL;
    uint8_t *hops = arena_array(arena, uint8_t, 2 * (size_t)ring->width * ring->width), *next = hops;
    for (uint32_t is_past = 0; is_past < 2; is_past++)
        for (uint32_t at = 0; at < ring->width; at++)
            for (uint32_t to = 0; to < ring->width; to++)
                *next++ = ring_hop(order, ring, at, to, is_past);
    return hops;
}

/* For algorithms that make one pass over the dimensions. */
static void bake_offers(const struct dimension_order *order, struct ring *ring, uint32_t num_vcs)
{
    for (uint32_t i = 0; i < 8 && ring->is_simple; i++)
        for (uint32_t class = 0; class < order->classes; class ++)
            if (i & 1u << class)
                ring->offers[i] |= class_vcs(num_vcs, order->classes, class) << ring->first_bit[i / 4];
}

struct dimension_order *dimension_order_create(const struct routing *routing, const struct choice *self,
                                               const struct ring_config *config, struct arena *arena,
                                               struct errors *errors)
{
    const struct grid *grid = routing->topology->grid;
    if (!grid)
        return routing_misfit(routing, self, GRIDS, errors), NULL;
    struct dimension_order *order = arena_array(arena, struct dimension_order, 1);
    order->coordinates = grid_bake(routing->topology, arena);
    order->packed = pack_coordinates(order->coordinates, grid->dimensions, routing->topology->routers, arena);
    if (!grid->wraps && grid->dimensions <= 2)
        order->flat = turn_coordinates(order->packed, routing->topology->routers, arena);
    order->dimensions = grid->dimensions;
    order->wraps = grid->wraps;
    order->dateline = config->dateline;
    order->tie = config->tie;
    order->one_way = config->one_way;
    order->classes = grid->wraps && config->dateline != DATELINE_NONE ? 2 : 1;
    for (uint32_t d = 0; d < grid->dimensions; d++) {
        struct ring *ring = &order->rings[d];
        *ring = (struct ring){
            .width = grid->width[d],
            .last = grid->width[d] - 1,
            .channels = grid->channels[d],
            .is_simple = grid->channels[d] == 1 && routing->words == 1,
            .first_bit = {(routing->local_ports + grid_port(grid, d, false, 0)) * routing->num_vcs,
                          (routing->local_ports + grid_port(grid, d, true, 0)) * routing->num_vcs},
        };
        for (uint32_t channel = 0; channel < ring->channels && ring->channels * routing->num_vcs <= WORD_BITS;
             channel++)
            ring->each_channel |= bit(channel * routing->num_vcs);
        ring->hops = grid->wraps ? bake_hops(order, ring, arena) : NULL;
        bake_offers(order, ring, routing->vcs);
    }
    return order;
}

/*
 * The same where coordinates are packed and all rings are simple: the first
 * coordinate that differs is found without a loop, and what to offer is looked up.
 */
static void route_packed_mesh(struct route *route)
{
    const struct dimension_order *order = route->routing->state;
    uint64_t here = order->packed[route->router], there = order->packed[route->packet->destination_router];
    if (here == there) {
        route_eject(route);
        return;
    }
    uint32_t shift = lowest_bit(here ^ there) & 48; /* 16 times the dimension */
    bool down = (there >> shift & 0xffff) < (here >> shift & 0xffff);
    route->vcs[0] |= order->mesh_offers[shift / 8 + down];
}

/*
 * In two dimensions the packet takes its destination's coordinates along: looked
 * up in a table at every hop they took a tenth of all time on a 256x256 mesh. Not
 * on a level of a network of networks, where packets make few hops at a time.
 */
static void inject_flat_mesh(struct route *route)
{
    const struct dimension_order *order = route->routing->state;
    route->packet->waypoint = order->flat[route->packet->destination_router];
}

static void route_flat_mesh(struct route *route)
{
    const struct dimension_order *order = route->routing->state;
    uint32_t here = order->flat[route->router], there = route->packet->waypoint;
    if (here == there) {
        route_eject(route);
        return;
    }
    bool is_second = (here ^ there) < 1u << 16;
    route->vcs[0] |= order->mesh_offers[2 * is_second + (there < here)];
}

static void route_packed_torus(struct route *route)
{
    const struct dimension_order *order = route->routing->state;
    struct packet *packet = route->packet;
    uint64_t here = order->packed[route->router], there = order->packed[packet->destination_router];
    if (here == there) {
        route_eject(route);
        return;
    }
    uint32_t d = lowest_bit(here ^ there) / 16;
    uint32_t at = here >> 16 * d & 0xffff, to = there >> 16 * d & 0xffff;
    const struct ring *ring = &order->rings[d];
    uint32_t is_past = packet->route & ROUTE_PAST_PIVOT;
    uint32_t hop = ring->hops[(is_past * ring->width + at) * ring->width + to];
    if (__builtin_expect(hop & HOP_TIE, 0)) {
        work_out_hop(route, order, ring, at, to, 0);
        return;
    }
    packet->route = hop & HOP_PAST_PIVOT;
    route->vcs[0] |= ring->offers[hop / HOP_CLASS_0 & 7];
}

/* The fastest way that the grid allows. */
static void pick_route(struct routing *routing, struct dimension_order *order)
{
    bool is_simple = order->packed;
    for (uint32_t d = 0; d < order->dimensions; d++)
        is_simple &= order->rings[d].is_simple && (!order->wraps || order->rings[d].hops);
    if (!is_simple)
        return;
    for (uint32_t d = 0; d < order->dimensions; d++)
        for (uint32_t down = 0; down < 2; down++)
            order->mesh_offers[2 * d + down] = order->rings[d].offers[4 * down + 1];
    routing->route = order->wraps ? route_packed_torus : route_packed_mesh;
    if (order->flat && !routing->is_level) {
        routing->inject = inject_flat_mesh;
        routing->route = route_flat_mesh;
    }
}

static void dimension_order_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                                    struct errors *errors)
{
    if (topology_hyperx(routing->topology))
        return;
    struct dimension_order *order = dimension_order_create(routing, self, self->config, arena, errors);
    routing->state = order;
    if (!order)
        return;
    routing->classes = order->classes;
    pick_route(routing, order);
}

static const struct routing_ops dimension_order = {
    .name = "dimension_order",
    .summary = "corrects one coordinate after the other, each by the shorter way",
    .options = ring_options,
    .example = "{\"type\": \"dimension_order\", \"dateline\": \"balanced\", \"tie\": \"random\"}",
    .needs = "2 VCs on a torus, elsewhere 1",
    .is_minimal = true,
    .fits_level = FITS_LEVELS,
    .prepare = dimension_order_prepare,
    .route = dimension_order_route,
    DEVICE_FORM(dimension_order_route),
};
REGISTER_ROUTING(dimension_order);

/* ---- one way ---- */

/*
 * Dimension order on a torus whose channels are used in one direction only: every packet goes up, round the ring where
 * it must. What a torus of unidirectional channels does; those that lead down carry nothing.
 */
static const struct option one_way_options[] = {
    OPTION_ENUM(struct ring_config, dateline, "\"balanced\"", dateline_names,
                "how the rings are kept free of deadlock (none: not at all, to see what happens)"),
    OPTION_END,
};

static void one_way_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                            struct errors *errors)
{
    struct ring_config config = *(const struct ring_config *)self->config;
    config.one_way = true;
    if (!routing->topology->grid || !routing->topology->grid->wraps) {
        routing_misfit(routing, self, "a torus", errors);
        return;
    }
    struct dimension_order *order = dimension_order_create(routing, self, &config, arena, errors);
    routing->state = order;
    routing->classes = order->classes;
}

static const struct routing_ops one_way = {
    .name = "one_way",
    .summary = "corrects one coordinate after the other, always upwards round a torus",
    .options = one_way_options,
    .example = "{\"type\": \"one_way\", \"dateline\": \"balanced\"}",
    .needs = "2 VCs",
    .prepare = one_way_prepare,
    .route = dimension_order_route,
    DEVICE_FORM(dimension_order_route),
};
REGISTER_ROUTING(one_way);
#endif
