/* SPDX-License-Identifier: Apache-2.0 */
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
#include "network/routing/grid_adaptive.h"

enum model { MODEL_WEST_FIRST, MODEL_NORTH_LAST, MODEL_NEGATIVE_FIRST, MODEL_ODD_EVEN };
static const char *const model_names[] = {"west_first", "north_last", "negative_first", "odd_even", NULL};

struct turn_model_config {
    uint32_t model;
};

static const struct option turn_model_options[] = {
    OPTION_ENUM(struct turn_model_config, model, "\"west_first\"", model_names,
                "which turns are forbidden; odd_even: two dimensions"),
    OPTION_END,
};

struct turn_model {
    const uint16_t *coordinates;
    uint32_t first[MAX_DIMENSIONS]; /* by dimension: directions that come first */
};

static uint32_t first_ways(enum model model, uint32_t dimension, uint32_t dimensions)
{
    if (model == MODEL_WEST_FIRST)
        return dimension + 1 < dimensions ? WAY_DOWN : 0;
    if (model == MODEL_NORTH_LAST)
        return dimension == 0 ? WAY_UP | WAY_DOWN : WAY_DOWN;
    return WAY_DOWN;
}

static void route_first(struct route *route)
{
    const struct turn_model *turns = route->routing->state;
    const struct grid *grid = route->routing->topology->grid;
    uint32_t target = route->packet->destination_router, ways[MAX_DIMENSIONS], some = 0;
    if (route->router == target) {
        route_eject(route);
        return;
    }
    for (uint32_t d = 0; d < grid->dimensions; d++) {
        ways[d] = grid_ways(grid, turns->coordinates, route->router, target, d);
        some |= ways[d] & turns->first[d];
    }
    for (uint32_t d = 0; d < grid->dimensions; d++)
        grid_offer(route, d, some ? ways[d] & turns->first[d] : ways[d], route->routing->class_vcs[0]);
}

static uint32_t column_of(const struct route *route, uint32_t router)
{
    const struct turn_model *turns = route->routing->state;
    return turns->coordinates[(size_t)router * 2];
}

static void inject_odd_even(struct route *route) { route->packet->waypoint = column_of(route, route->router); }

static void route_odd_even(struct route *route)
{
    const struct turn_model *turns = route->routing->state;
    const struct grid *grid = route->routing->topology->grid;
    uint32_t target = route->packet->destination_router;
    if (route->router == target) {
        route_eject(route);
        return;
    }
    uint32_t x = grid_ways(grid, turns->coordinates, route->router, target, 0);
    uint32_t y = grid_ways(grid, turns->coordinates, route->router, target, 1);
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

static void turn_model_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                               struct errors *errors)
{
    const struct turn_model_config *config = self->config;
    const struct grid *grid = routing->topology->grid;
    if (!grid || grid->wraps) {
        choice_error(errors, self, NULL, "\"turn_model\" needs a grid that does not wrap (mesh, hypercube), not \"%s\"",
                     routing->topology->ops->name);
        return;
    }
    if (config->model == MODEL_ODD_EVEN && grid->dimensions != 2)
        choice_error(errors, self, "model", "\"odd_even\" needs a mesh of 2 dimensions, not %u", grid->dimensions);
    struct turn_model *turns = arena_array(arena, struct turn_model, 1);
    turns->coordinates = grid_bake(routing->topology, arena);
    for (uint32_t d = 0; d < grid->dimensions; d++)
        turns->first[d] = first_ways(config->model, d, grid->dimensions);
    routing->state = turns;
    routing->inject = config->model == MODEL_ODD_EVEN ? inject_odd_even : NULL;
    routing->route = config->model == MODEL_ODD_EVEN ? route_odd_even : route_first;
}

static const struct routing_ops turn_model = {
    .name = "turn_model",
    .summary = "minimal ways on a mesh without some turns: west first, north last, negative first, odd-even",
    .options = turn_model_options,
    .config_size = sizeof(struct turn_model_config),
    .example = "{\"type\": \"turn_model\", \"model\": \"north_last\"}",
    .needs = "1 VC",
    .is_minimal = true,
    .prepare = turn_model_prepare,
    .route = route_first,
};
REGISTER_ROUTING(turn_model);
