/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read by OpenCL too. Up and down a folded Clos: a packet climbs to a router that has its destination
 * below it and descends by the only way there is. Which port up is the choice:
 *
 *     adaptive        the least congested (or what the reduction says)
 *     random          any
 *     of_two          the less congested of two that are drawn, which may be the same
 *     first           always the first
 *     deterministic   by destination, so that each has one tree (d-mod-k)
 *     hash            by source and destination: a flow keeps its way
 *
 * Up never follows down, so one VC class is enough.
 *   Where links have failed, a packet climbs only to routers that still have a way down to its destination, by a table
 * (legal_ways.h): the choice is among the ports that begin a shortest of the ways that are left.
 */
#include "flitwarp/reduction.h"
#include "flitwarp/tree.h"
#include "network/routing/routing.h"
#if FW_HOST
#include "network/routing/legal_ways.h"
#endif

enum selection {
    SELECTION_ADAPTIVE,
    SELECTION_RANDOM,
    SELECTION_DETERMINISTIC,
    SELECTION_HASH,
    SELECTION_OF_TWO,
    SELECTION_FIRST,
};
enum ancestor { ANCESTOR_LEAST, ANCESTOR_TOP };
enum reduced { REDUCED_UP, REDUCED_ALWAYS };

#define ROUTE_DOWN 1u /* the packet has been at the top */

struct up_down_config {
    struct adaptive_config adaptive;
    uint32_t selection, common_ancestor, reduced;
};

#if FW_HOST
static const char *const selection_names[] = {"adaptive", "random", "deterministic", "hash", "of_two", "first", NULL};
static const char *const ancestor_names[] = {"least", "top", NULL};
static const char *const reduced_names[] = {"up", "always", NULL};

static const struct option up_down_options[] = {
    OPTION_ENUM(struct up_down_config, selection, "\"adaptive\"", selection_names,
                "which port up: the least congested, any, always the same for a destination or a flow, the less "
                "congested of two drawn, or the first"),
    OPTION_ENUM(struct up_down_config, common_ancestor, "\"least\"", ancestor_names,
                "where to turn: as soon as the destination is below, or at the top"),
    OPTION_ENUM(struct up_down_config, reduced, "\"up\"", reduced_names,
                "where the reduction chooses: among ports up, or also among VCs on the way down and to the terminal, "
                "which are all offered else",
                ONLY_WITH("selection=adaptive")),
    OPTION_ROWS(struct up_down_config, adaptive, struct adaptive_config, adaptive_options,
                ONLY_WITH("selection=adaptive")),
    OPTION_END,
};

static void left_prepare(struct routing *routing, const struct tree *tree, const struct choice *self,
                         struct arena *arena, struct errors *errors);

static void up_down_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                            struct errors *errors)
{
    const struct up_down_config *config = self->config;
    const struct tree *tree = topology_tree(topology_whole(routing->topology));
    if (tree && routing->topology->whole) {
        left_prepare(routing, tree, self, arena, errors);
        return;
    }
    if (!tree) {
        routing_misfit(routing, self, "topology \"folded_clos\"", errors);
        return;
    }
    uint32_t ways = 0;
    routing->is_adaptive = config->selection == SELECTION_ADAPTIVE || config->selection == SELECTION_OF_TWO;
    for (uint32_t level = 0; level < tree->levels && config->selection == SELECTION_ADAPTIVE; level++)
        ways = tree->up[level] > ways ? tree->up[level] : ways;
    adaptive_check(routing, self, ways, errors);
}

#endif

static bool turns_here(const struct route *route, FW_GLOBAL const struct tree *tree)
{
    FW_GLOBAL const struct up_down_config *config = route->routing->config;
    FW_GLOBAL struct packet *packet = route->packet;
    if (config->common_ancestor == ANCESTOR_LEAST)
        return tree_is_below(tree, route->router, packet->destination);
    if (tree_up_ports(tree, route->router) == 0)
        packet->route |= ROUTE_DOWN;
    return packet->route & ROUTE_DOWN;
}

static void climb_adaptively(struct route *route, FW_GLOBAL const struct tree *tree, uint32_t ports)
{
    FW_GLOBAL const struct up_down_config *config = route->routing->config;
    uint32_t left = 2 * (tree->levels - 1 - tree_level(tree, route->router)); /* the same by every port up */
    struct candidate first = {route->routing->class_vcs[0], 0, tree_first_up(tree, route->router), (uint16_t)left,
                              .is_minimal = true};
    candidates_offer_ports(route, &config->adaptive, &first, ports);
}

/* The destination's number, without the part that levels below have used. */
static uint32_t port_of_destination(const struct route *route, FW_GLOBAL const struct tree *tree, uint32_t ports)
{
    uint32_t number = route->packet->destination;
    for (uint32_t level = 0; level < tree_level(tree, route->router); level++)
        number /= tree->up[level];
    return number % ports;
}

static uint32_t port_of_flow(struct route *route, FW_GLOBAL const struct tree *tree, uint32_t ports)
{
    FW_GLOBAL const struct packet *packet = route->packet;
#if FW_HOST
    if (route_is_checked(route)) /* a check knows no sources */
        return decisions_take_of_flow(route->decisions, ports);
#endif
    uint64_t flow = random_mix(((uint64_t)packet->source << 32 | packet->destination) ^ route->routing->seed);
    return (uint32_t)((random_mix(flow + tree_level(tree, route->router)) >> 32) * ports >> 32);
}

/* By what a port as a whole holds; of equals the one that was drawn first. */
static uint32_t lesser_of_two(struct route *route, FW_GLOBAL const struct tree *tree, uint32_t ports)
{
    uint32_t first = tree_first_up(tree, route->router), one = route_pick(route, ports);
    if (route_is_checked(route))
        return one;
    uint32_t two = route_pick(route, ports);
    return route_congestion(route, CONGESTION_PORT_AVERAGE, route->router, first + one, 0) >
                   route_congestion(route, CONGESTION_PORT_AVERAGE, route->router, first + two, 0)
               ? two
               : one;
}

/* Of the ports down that lead there, or of those to its terminal, as the reduction says. */
static void descend_adaptively(struct route *route, FW_GLOBAL const struct tree *tree)
{
    FW_GLOBAL const struct up_down_config *config = route->routing->config;
    uint32_t level = tree_level(tree, route->router);
    struct candidates candidates;
    candidates.count = 0;
    if (route->router == route->packet->destination_router) {
        candidates_add_terminal(&candidates, route, &config->adaptive);
    } else {
        struct candidate first = {.vcs = route->routing->class_vcs[0],
                                  .port = tree_down_port(tree, route->router, route->packet->destination),
                                  .hops = (uint16_t)(level + 1),
                                  .is_minimal = true};
        candidates_add_ports(&candidates, route, &config->adaptive, &first, tree_down_ports(tree, level));
    }
    candidates_offer(&candidates, route, &config->adaptive);
}

/* The only way, but for the joined channels of a root: of these any, also for `first`, as in BookSim's tree4; or a flow's. */
static void descend(struct route *route, FW_GLOBAL const struct tree *tree)
{
    FW_GLOBAL const struct up_down_config *config = route->routing->config;
    uint32_t port = tree_down_port(tree, route->router, route->packet->destination);
    uint32_t ports = tree_down_ports(tree, tree_level(tree, route->router));
    if (ports > 1)
        port += config->selection == SELECTION_DETERMINISTIC ? route->packet->destination % ports
                : config->selection == SELECTION_HASH        ? port_of_flow(route, tree, ports)
                                                             : route_pick(route, ports);
    route_add(route, port, 0);
}

static void climb(struct route *route, FW_GLOBAL const struct tree *tree, uint32_t ports)
{
    FW_GLOBAL const struct up_down_config *config = route->routing->config;
    uint32_t first = tree_first_up(tree, route->router), up;
    switch (config->selection) {
    case SELECTION_ADAPTIVE:
        climb_adaptively(route, tree, ports);
        return;
    case SELECTION_FIRST:
        up = 0;
        break;
    case SELECTION_RANDOM:
        up = route_pick(route, ports);
        break;
    case SELECTION_OF_TWO:
        up = lesser_of_two(route, tree, ports);
        break;
    case SELECTION_DETERMINISTIC:
        up = port_of_destination(route, tree, ports);
        break;
    default:
        up = port_of_flow(route, tree, ports);
    }
    route_add(route, first + up, 0);
}

static void up_down_route(struct route *route)
{
    FW_GLOBAL const struct up_down_config *config = route->routing->config;
    FW_GLOBAL const struct tree *tree = routing_facts(route->routing);
    if (!turns_here(route, tree))
        climb(route, tree, tree_up_ports(tree, route->router));
    else if (config->reduced == REDUCED_ALWAYS)
        descend_adaptively(route, tree);
    else if (!route_ends(route))
        descend(route, tree);
}

#if FW_HOST
/* ---- where links have failed ---- */

struct left {
    const struct legal_ways *ways;
    const struct tree *tree; /* without failures */
};

static bool left_reaches(const struct routing *routing, uint32_t from, uint32_t to)
{
    return legal_ways_reach(((const struct left *)routing->state)->ways, from, to);
}

static void offer_least_of(struct route *route, const uint32_t *list)
{
    const struct up_down_config *config = route->routing->config;
    struct candidates candidates;
    candidates.count = 0;
    candidates_add_list(&candidates, route, &config->adaptive, list, route->routing->class_vcs[0]);
    candidates_offer(&candidates, route, &config->adaptive);
}

/* The less congested of two that are drawn; of equals the first. */
static uint32_t lesser_port(struct route *route, const uint32_t *ports, uint32_t count)
{
    uint32_t one = ports[route_pick(route, count)];
    if (route_is_checked(route))
        return one;
    uint32_t two = ports[route_pick(route, count)];
    return route_congestion(route, CONGESTION_PORT_AVERAGE, route->router, one, 0) >
                   route_congestion(route, CONGESTION_PORT_AVERAGE, route->router, two, 0)
               ? two
               : one;
}

/* As climbing and descending choose, among the ports of a list. */
static void left_choose(struct route *route, const struct left *left, const uint32_t *list)
{
    const struct up_down_config *config = route->routing->config;
    const uint32_t *ports = list + ROUTE_TABLE_PORTS;
    uint32_t count = list[ROUTE_TABLE_COUNT];
    if (config->selection == SELECTION_ADAPTIVE) {
        offer_least_of(route, list);
        return;
    }
    uint32_t port = config->selection == SELECTION_FIRST    ? ports[0]
                    : config->selection == SELECTION_RANDOM ? ports[route_pick(route, count)]
                    : config->selection == SELECTION_OF_TWO ? lesser_port(route, ports, count)
                    : config->selection == SELECTION_DETERMINISTIC
                        ? ports[port_of_destination(route, left->tree, count)]
                        : ports[port_of_flow(route, left->tree, count)];
    route_add(route, port, 0);
}

static void left_route(struct route *route)
{
    const struct left *left = route->routing->state;
    struct packet *packet = route->packet;
    if (route_ends(route))
        return;
    left_choose(
        route, left,
        legal_ways_list(left->ways, route->router, packet->destination_router, legal_ways_phase(left->ways, route)));
    packet->waypoint = route->router;
}

static void left_prepare(struct routing *routing, const struct tree *tree, const struct choice *self,
                         struct arena *arena, struct errors *errors)
{
    const struct up_down_config *config = self->config;
    struct left *left = arena_array(arena, struct left, 1);
    uint32_t *levels = arena_array(arena, uint32_t, routing->topology->routers);
    for (uint32_t router = 0; router < routing->topology->routers; router++)
        levels[router] = tree->levels - 1 - tree_level(tree, router);
    if (config->common_ancestor == ANCESTOR_TOP)
        choice_error(errors, self, "common_ancestor", "\"top\" is not for a tree with failures; accepted: \"least\"");
    if (config->reduced == REDUCED_ALWAYS)
        choice_error(errors, self, "reduced", "\"always\" is not for a tree with failures; accepted: \"up\"");
    *left = (struct left){legal_ways_create(routing, levels, self, arena, errors), tree};
    routing->state = left;
    routing->route = left_route;
    routing->reaches = left_reaches;
    routing->is_adaptive = config->selection == SELECTION_ADAPTIVE || config->selection == SELECTION_OF_TWO;
    adaptive_check(routing, self, config->selection == SELECTION_ADAPTIVE ? routing->topology->ports : 0, errors);
}

static const struct routing_ops up_down = {
    .name = "up_down",
    .summary = "up a folded_clos by the least congested or any port, then down by the only way",
    .options = up_down_options,
    .example = "{\"type\": \"up_down\", \"selection\": \"adaptive\", \"common_ancestor\": \"top\"}",
    .needs = "1 VC",
    .is_adaptive = true,
    .fits_level = FITS_LEVELS | FITS_BY_TERMINALS,
    .prepare = up_down_prepare,
    .route = up_down_route,
    DEVICE_FORM(up_down_route),
};
REGISTER_ROUTING(up_down);
#endif
