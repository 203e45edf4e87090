/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read by OpenCL too. Dimension order on a torus as BookSim has it (N. Jiang et al., ISPASS 2013): a packet is given one half
 * of the VCs as it enters a ring, and keeps it until it leaves the ring.
 *
 *   by_order  the second half if it enters at a higher coordinate than it leaves. Of the packets that go up those are
 *             the ones that wrap, of those that go down the others.
 *   by_lot    the second half if it wraps, the first if it passes the middle of the ring, else either
 *
 * A shortest way is no longer than half the ring, so one that wraps does not pass the middle: of
 * either half no packet uses the wrap channel, or none the one across the middle, which breaks the cycle.
 *
 * With an adaptive VC a packet may take that in place of its half, which is then a single VC for escape. Who
 * escapes stays there; on the adaptive VC a packet is at every router as if it entered the ring there, and goes down
 * where both ways are equally long.
 */
#include "network/routing/routing.h"

enum halves { HALVES_BY_ORDER, HALVES_BY_LOT };

struct ring_halves_config {
    uint32_t halves, adaptive_vc;
};

struct ring_halves {
    FW_FAR(const uint16_t) coordinates; /* by router * dimensions + dimension */
};

#if FW_HOST
static const char *const halves_names[] = {"by_order", "by_lot", NULL};

static const struct option ring_halves_options[] = {
    OPTION_ENUM(struct ring_halves_config, halves, "\"by_order\"", halves_names,
                "which half of the VCs a packet takes in a ring: by the order of where it enters and leaves, or by lot "
                "where it neither wraps nor passes the middle"),
    OPTION_U32(struct ring_halves_config, adaptive_vc, "null", 2, 63, NULL,
               "VC that packets may take in place of VCs 0 and 1, which are for escape then; null: none"),
    OPTION_END,
};

static void ring_halves_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                                struct errors *errors)
{
    const struct ring_halves_config *config = self->config;
    const struct grid *grid = routing->topology->grid;
    if (!grid || !grid->wraps) {
        routing_misfit(routing, self, "a torus", errors);
        return;
    }
    struct ring_halves *rings = arena_array(arena, struct ring_halves, 1);
    rings->coordinates = grid_bake(routing->topology, arena);
    routing->state = rings;
    routing->classes = 2;
    if (!config->adaptive_vc)
        return;
    routing->classes = routing->vcs > config->adaptive_vc ? routing->vcs : config->adaptive_vc + 1; /* each a class */
    routing->escape_vcs = bits_range(0, 2);
    routing->takes_room_as_it_comes = true;
}

#endif

static bool second_half(struct route *route, uint32_t width, uint32_t at, uint32_t to, bool down)
{
    FW_GLOBAL const struct ring_halves_config *config = route->routing->config;
    uint32_t middle = (width - 1) / 2;
    if (config->halves == HALVES_BY_ORDER)
        return at > to;
    if (down ? at < to : at > to)
        return true;
    bool passes_middle = down ? at > middle && to <= middle : at <= middle && to > middle;
    return !passes_middle && route_pick(route, 2);
}

static void ring_halves_route(struct route *route)
{
    const struct routing *routing = route->routing;
    FW_GLOBAL const struct ring_halves_config *config = routing->config;
    FW_GLOBAL const struct ring_halves *rings = routing->state;
    FW_GLOBAL const struct grid *grid = routing_grid(routing);
    FW_GLOBAL struct packet *packet = route->packet;
    if (route_ends(route))
        return;
    FW_GLOBAL const uint16_t *coordinates = FW_AT(const uint16_t, routing, rings->coordinates);
    FW_GLOBAL const uint16_t *here = coordinates + (size_t)route->router * grid->dimensions;
    FW_GLOBAL const uint16_t *there = coordinates + (size_t)packet->destination_router * grid->dimensions;
    uint32_t d = 0;
    while (here[d] == there[d])
        d++;
    uint32_t width = grid->width[d], up = (there[d] + width - here[d]) % width;
    bool is_escaping = packet->hops > 0 && route_input_vc(route) < 2;
    bool is_adaptive = config->adaptive_vc && !is_escaping, is_tie = 2 * up == width;
    bool down = 2 * up > width || (is_tie && route_pick(route, 2));
    if (is_adaptive || packet->waypoint / 2 != d + 1) /* it enters the ring */
        packet->waypoint = 2 * (d + 1) + second_half(route, width, here[d], there[d], down);
    uint32_t chosen = packet->waypoint % 2;
    for (uint32_t channel = 0; channel < grid->channels[d]; channel++) {
        if (is_adaptive)
            route_add_vcs(route, grid_port(grid, d, down || is_tie, channel), bit(config->adaptive_vc));
        route_add_vcs(route, grid_port(grid, d, down, channel),
                      config->adaptive_vc ? bit(chosen) : routing->class_vcs[chosen]);
    }
}

#if FW_HOST
static const struct routing_ops ring_halves_routing = {
    .name = "ring_halves",
    .summary = "dimension order on a torus with half of the VCs for a packet in each ring, as BookSim's",
    .options = ring_halves_options,
    .example = "{\"type\": \"ring_halves\", \"halves\": \"by_lot\"}",
    .needs = "2 VCs",
    .is_minimal = true,
    .prepare = ring_halves_prepare,
    .route = ring_halves_route,
    DEVICE_FORM(ring_halves_route),
};
REGISTER_ROUTING(ring_halves_routing);
#endif
