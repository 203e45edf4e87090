/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read by OpenCL too. Dimension order on an express cube (Dally 1991): a packet corrects one coordinate after the
 * other, by an express channel wherever one leads no farther than it has to go. It never turns back, which can be a hop or
 * more longer than the shortest way, and so one class of VCs is enough: along a row it waits for channels farther on alone.
 */
#include "flitwarp/express_cube.h"
#include "network/routing/routing.h"

static void express_cube_order_route(struct route *route)
{
    FW_GLOBAL const struct express_cube *cube = routing_facts(route->routing);
    uint32_t here[MAX_DIMENSIONS], there[MAX_DIMENSIONS], d = 0;
    if (route_ends(route))
        return;
    grid_coordinates(&cube->grid, route->router, here);
    grid_coordinates(&cube->grid, route->packet->destination_router, there);
    while (here[d] == there[d])
        d++;
    bool is_down = there[d] < here[d];
    uint32_t far = is_down ? here[d] - there[d] : there[d] - here[d], interval = cube->interval[d];
    bool is_express = here[d] % interval == 0 && far >= interval;
    route_add(route, EXPRESS_PORTS * d + (is_express ? EXPRESS : 0) + is_down, 0);
}

#if FW_HOST
static void express_cube_order_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                                       struct errors *errors)
{
    (void)arena;
    if (!topology_express_cube(routing->topology))
        routing_misfit(routing, self, "topology \"express_cube\"", errors);
}

static const struct routing_ops express_cube_order = {
    .name = "express_cube_order",
    .summary = "one coordinate after the other, by express channels that do not lead too far, on an express_cube",
    .needs = "1 VC",
    .prepare = express_cube_order_prepare,
    .route = express_cube_order_route,
    DEVICE_FORM(express_cube_order_route),
};
REGISTER_ROUTING(express_cube_order);
#endif
