/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read by OpenCL too. Dimension order on a HammingMesh: a packet goes along its row and then along its column. In each, where it
 * has to leave the board, or is sooner there, it goes to the nearer end of the board, by the switches to the end that is nearer
 * to its destination, and from there on along the board. All ways are shortest ones.
 *   Two classes of VCs are enough: class 0 on a board on the way to the switches, class 1 on the way from them and on ways
 * that stay on the board; channels of switches are taken up before down, in either class. With first either half of the packets
 * go along the column first, drawn at the source, with classes of their own.
 */
#include "flitwarp/hamming_mesh.h"
#include "network/routing/routing.h"

enum hamming_mesh_first { HAMMING_MESH_FIRST_ROW, HAMMING_MESH_FIRST_EITHER };
enum { ON_BOARD_OUT, ON_BOARD_IN, PHASES };

struct hamming_mesh_order_config {
    uint32_t first;
};

#if FW_HOST
static const char *const mesh_first_names[] = {"row", "either", NULL};

static const struct option hamming_mesh_order_options[] = {
    OPTION_ENUM(struct hamming_mesh_order_config, first, "\"row\"", mesh_first_names,
                "what a packet goes along first: its row, or either, drawn at the source, with half of the VCs each"),
    OPTION_END,
};

static void hamming_mesh_order_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                                       struct errors *errors)
{
    const struct hamming_mesh_order_config *config = self->config;
    (void)arena;
    routing->classes = config->first == HAMMING_MESH_FIRST_EITHER ? 2 * PHASES : PHASES;
    if (!topology_hamming_mesh(routing->topology))
        routing_misfit(routing, self, "topology \"hamming_mesh\"", errors);
}
#endif

/* packet->route is 1 where the column comes first. */
static void hamming_mesh_order_inject(struct route *route)
{
    FW_GLOBAL const struct hamming_mesh_order_config *config = route->routing->config;
    route->draws = INJECTION_DRAWS;
    route->packet->route = config->first == HAMMING_MESH_FIRST_EITHER && route_pick(route, 2);
}

/* Is the end up along the line the one to take from or to a place? Where both are as near, either. */
static bool draw_up_end(struct route *route, FW_GLOBAL const struct hamming_mesh_line *line, uint32_t place)
{
    uint32_t down = place % line->side, up = line->side - 1 - down;
    return up < down || (up == down && route_pick(route, 2));
}

static void route_at_accelerator(struct route *route, FW_GLOBAL const struct hamming_mesh *mesh, uint32_t first_class)
{
    uint32_t is_reversed = route->packet->route, there = route->packet->destination_router, d = is_reversed;
    if (hamming_mesh_place(mesh, route->router, d) == hamming_mesh_place(mesh, there, d))
        d = 1 - d;
    FW_GLOBAL const struct hamming_mesh_line *line = &mesh->line[d];
    uint32_t at = hamming_mesh_place(mesh, route->router, d), to = hamming_mesh_place(mesh, there, d);
    bool leaves = hamming_mesh_leaves_board(line, at, to);
    bool is_up = leaves ? draw_up_end(route, line, at) : to > at;
    uint32_t class = first_class + (leaves ? ON_BOARD_OUT : ON_BOARD_IN);
    route_add(route, 2 * d + 1 - is_up, class);
}

static void route_at_switch(struct route *route, FW_GLOBAL const struct hamming_mesh *mesh, uint32_t first_class)
{
    uint32_t d = route->router >= mesh->line[1].first;
    FW_GLOBAL const struct hamming_mesh_line *line = &mesh->line[d];
    uint32_t own = (route->router - line->first) % (line->leaves + line->spines), port;
    uint32_t to = hamming_mesh_place(mesh, route->packet->destination_router, d), leaf = hamming_mesh_leaf(line, to);
    if (own == leaf)
        port = to / line->side * 2 % line->down + draw_up_end(route, line, to);
    else if (own < line->leaves)
        port = line->down + route_pick(route, line->up);
    else
        port = leaf * line->trunk + (line->trunk > 1 ? route_pick(route, line->trunk) : 0);
    for (uint32_t phase = 0; phase < PHASES; phase++)
        route_add(route, port, first_class + phase);
}

static void hamming_mesh_order_route(struct route *route)
{
    FW_GLOBAL const struct hamming_mesh *mesh = routing_facts(route->routing);
    uint32_t first_class = route->packet->route * PHASES;
    if (route_ends(route))
        return;
    if (route->router < mesh->accelerators)
        route_at_accelerator(route, mesh, first_class);
    else
        route_at_switch(route, mesh, first_class);
}

#if FW_HOST
static const struct routing_ops hamming_mesh_order = {
    .name = "hamming_mesh_order",
    .summary = "along the row, then along the column, each by boards and switches, on a hamming_mesh",
    .options = hamming_mesh_order_options,
    .example = "{\"type\": \"hamming_mesh_order\", \"first\": \"either\"}",
    .needs = "2 VCs; 4 with first either",
    .is_minimal = true,
    .prepare = hamming_mesh_order_prepare,
    .inject = hamming_mesh_order_inject,
    .route = hamming_mesh_order_route,
    DEVICE_FORM_WITH(hamming_mesh_order_route, .inject = "hamming_mesh_order_inject"),
};
REGISTER_ROUTING(hamming_mesh_order);
#endif
