/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read by OpenCL too. Dimension order on an express_mesh: a packet that is at an edge and has far to
 * go along it takes an express channel. Either all go along x first, or half of
 * them along y first, drawn at the source, with VCs of their own.
 *   Deadlock is not ruled out: a packet that goes along y first comes back to the
 * edge's channels by way of express ports.
 */
#include "flitwarp/express_mesh.h"
#include "network/routing/routing.h"

enum first { FIRST_X, FIRST_EITHER };

struct express_order_config {
    uint32_t first, from;
};

#define ROUTE_REVERSED 1u

#if FW_HOST
static const char *const first_names[] = {"x", "either", NULL};

static const struct option express_order_options[] = {
    OPTION_ENUM(struct express_order_config, first, "\"x\"", first_names,
                "the dimension that is corrected first: x, or either, drawn at the source, with half of the VCs each"),
    OPTION_U32(struct express_order_config, from, "null", 1, 32768, "routers",
               "how far a packet must have to go in a dimension to take an express channel; null: half a side"),
    OPTION_END,
};

/* Farther than half a side and less than that an express channel leads past the goal, and from there perhaps back. */
static void express_order_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                                  struct errors *errors)
{
    const struct express_order_config *config = self->config;
    const struct grid *grid = topology_express_mesh(routing->topology);
    (void)arena;
    routing->classes = config->first == FIRST_EITHER ? 2 : 1;
    if (!grid)
        routing_misfit(routing, self, "topology \"express_mesh\"", errors);
    else if (config->from && 2 * config->from < grid->width[0])
        choice_error(errors, self, "from", "%u is below half a side, %u: packets would overshoot and never arrive",
                     config->from, grid->width[0] / 2);
}

#endif

static void express_order_inject(struct route *route)
{
    FW_GLOBAL const struct express_order_config *config = route->routing->config;
    route->draws = INJECTION_DRAWS;
    route->packet->route = config->first == FIRST_EITHER && route_pick(route, 2) ? ROUTE_REVERSED : 0;
}

static void express_order_route(struct route *route)
{
    FW_GLOBAL const struct express_order_config *config = route->routing->config;
    FW_GLOBAL const struct grid *grid = routing_facts(route->routing);
    uint32_t here[MAX_DIMENSIONS], there[MAX_DIMENSIONS], last = grid->width[0] - 1;
    bool is_reversed = route->packet->route & ROUTE_REVERSED;
    if (route_ends(route))
        return;
    grid_coordinates(grid, route->router, here);
    grid_coordinates(grid, route->packet->destination_router, there);
    uint32_t d = is_reversed ? here[1] != there[1] : here[0] == there[0], other = 1 - d;
    bool down = there[d] < here[d];
    uint32_t far = down ? here[d] - there[d] : there[d] - here[d];
    bool is_express = far >= (config->from ? config->from : grid->width[0] / 2) && (here[other] % last == 0);
    uint32_t port = is_express ? grid_port(grid, other, here[other] == 0, 0) : grid_port(grid, d, down, 0);
    route_add(route, port, is_reversed);
}

#if FW_HOST
static const struct routing_ops express_order = {
    .name = "express_order",
    .summary = "one coordinate after the other, by express channels along the edges of an express_mesh",
    .options = express_order_options,
    .example = "{\"type\": \"express_order\", \"first\": \"x\"}",
    .needs = "1 VC; 2 with first either",
    .prepare = express_order_prepare,
    .inject = express_order_inject,
    .route = express_order_route,
    DEVICE_FORM_WITH(express_order_route, .inject = "express_order_inject"),
};
REGISTER_ROUTING(express_order);
#endif
