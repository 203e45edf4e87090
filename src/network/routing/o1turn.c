/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read by OpenCL too. O1TURN, on grids of two dimensions: half of the packets go first along x and
 * then along y, the other half first along y, drawn at the source. Each order has
 * VC classes of its own and is free of deadlock by itself; together they come close
 * to the best worst case of any minimal routing (Seo, Ali, Lim, Rafique and
 * Thottethodi 2005). On a HyperX of any number of dimensions the one order begins
 * with the first, the other with the last. Instead of being drawn, the order may be
 * that whose first output has fewer flits before it.
 */
#include "flitwarp/reduction.h"
#include "network/routing/dimension_order.h"
#include "network/routing/hyperx.h"
#include "network/routing/routing.h"

enum choice_of_order { CHOICE_RANDOM, CHOICE_ADAPTIVE };

struct o1turn_config {
    struct ring_config ring;
    uint32_t choice, decides;
};

#define ROUTE_REVERSED 2u

#if FW_HOST
static const char *const choice_names[] = {"random", "adaptive", NULL};

static const struct option o1turn_options[] = {
    OPTION_ENUM(struct o1turn_config, choice, "\"random\"", choice_names,
                "of the order: any, or at the first router that with the less congested port; not adaptive on a torus"),
    OPTION_DECIDES(struct o1turn_config, ONLY_WITH("choice=adaptive")),
    OPTION_ROWS(struct o1turn_config, ring, struct ring_config, ring_options),
    OPTION_END,
};

static void o1turn_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                           struct errors *errors)
{
    const struct o1turn_config *config = self->config;
    bool is_hyperx = topology_hyperx(routing->topology);
    struct dimension_order *order =
        is_hyperx ? NULL : dimension_order_create(routing, self, &config->ring, arena, errors);
    if (order && order->dimensions != 2)
        choice_error(errors, self, NULL, "\"o1turn\" needs 2 dimensions, but this \"%s\" has %u",
                     routing->topology->ops->name, order->dimensions);
    if (order && order->wraps && config->choice == CHOICE_ADAPTIVE)
        choice_error(errors, self, "choice", "\"adaptive\" is for meshes and hyperx");
    routing->state = order;
    routing->is_adaptive = config->choice == CHOICE_ADAPTIVE;
    routing->looks_afar_key = routing->is_adaptive && config->decides == DECIDES_AT_SOURCE ? "decides" : NULL;
    routing->classes = order ? 2 * order->classes : is_hyperx ? 2 : 1;
}

#endif

static void o1turn_step(struct route *route, bool is_reversed)
{
    FW_GLOBAL const struct dimension_order *order = route->routing->state;
    uint32_t target = route->packet->destination_router;
    if (order)
        dimension_order_step(route, order, target, is_reversed ? order->classes : 0, is_reversed);
    else
        hyperx_step(route, routing_facts(route->routing), target, is_reversed, is_reversed);
}

/* The port that an order begins with: all lanes of an answer belong to it, or to those parallel to it. */
static double congestion_of(const struct route *route, bool is_reversed)
{
    const struct routing *routing = route->routing;
    uint64_t vcs[MAX_ROUTER_WORDS];
    bits_clear(vcs, routing->words);
    struct route question = *route;
    question.vcs = vcs;
    o1turn_step(&question, is_reversed);
    uint32_t lane = bits_next_cyclic(vcs, routing->words, 0);
    return route_congestion(route, CONGESTION_PORT_AVERAGE, route->router,
                            lane / routing->num_vcs - routing->local_ports, 0);
}

static void choose_order(struct route *route)
{
    if (route_is_checked(route) || route->router == route->packet->destination_router)
        return;
    if (!route_sees(route))
        return;
    double ahead = congestion_of(route, false), back = congestion_of(route, true);
    if (ahead != back)
        route->packet->route = ahead > back ? ROUTE_REVERSED : 0;
}

/* Drawn in any case: that is what decides between equals. */
static void o1turn_inject(struct route *route)
{
    FW_GLOBAL const struct o1turn_config *config = route->routing->config;
    route->draws = INJECTION_DRAWS;
    route->packet->route = route_pick(route, 2) ? ROUTE_REVERSED : 0;
    if (config->choice == CHOICE_ADAPTIVE && config->decides == DECIDES_AT_SOURCE)
        choose_order(route);
}

static void o1turn_route(struct route *route)
{
    FW_GLOBAL const struct o1turn_config *config = route->routing->config;
    if (config->choice == CHOICE_ADAPTIVE && config->decides == DECIDES_AT_ROUTER && route->packet->hops == 0)
        choose_order(route);
    if (!route_ends(route))
        o1turn_step(route, route->packet->route & ROUTE_REVERSED);
}

#if FW_HOST
static const struct routing_ops o1turn = {
    .name = "o1turn",
    .summary = "x before y for half of the packets, y before x for the others; 2 dimensions, or a hyperx",
    .options = o1turn_options,
    .example = "{\"type\": \"o1turn\"}",
    .needs = "4 VCs on a torus, elsewhere 2",
    .is_adaptive = true,
    .is_minimal = true,
    .fits_level = FITS_LEVELS | FITS_BY_HOPS,
    .prepare = o1turn_prepare,
    .inject = o1turn_inject,
    .route = o1turn_route,
    DEVICE_FORM_WITH(o1turn_route, .inject = "o1turn_inject"),
};
REGISTER_ROUTING(o1turn);
#endif
