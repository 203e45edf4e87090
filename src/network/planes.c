/* SPDX-License-Identifier: Apache-2.0 */
/* Several router planes, see network.h. */
#include "network/network.h"

#include "network/routing/routing.h"

#include <string.h>

#define MAX_RAILS 4096

enum order { ORDER_REVERSED, ORDER_IDENTICAL, ORDER_SHUFFLED };
static const char *const order_names[] = {"reversed", "identical", "shuffled", NULL};

const struct option planes_options[] = {
    OPTION_U32(struct planes_config, count, "1", 1, MAX_PLANES, "planes",
               "copies of the topology's routers, with all terminals on each"),
    OPTION_U32(struct planes_config, rails, "null", 1, MAX_RAILS, "rails",
               "channels of a terminal, in and out, shared evenly by the planes; null: as network.interface says for "
               "each plane"),
    OPTION_ENUM(struct planes_config, order, "\"reversed\"", order_names,
                "where terminals hang: in odd planes the other way round, alike in all, or at random in all but the "
                "first"),
    OPTION_CHOICE(struct planes_config, selection, "selection", "\"congestion\"",
                  "by which a terminal chooses a packet's plane"),
    OPTION_END,
};

/* ---- rails ---- */

/* The interface's own number of channels must be none in particular, or the same. */
static bool agrees_with_interface(const struct network_config *config, const char *key, uint32_t own, uint32_t channels,
                                  struct errors *errors)
{
    if (own == 1 || own == channels)
        return true;
    return choice_error(errors, &config->interface, key,
                        "%u contradict network.planes.rails, which are %u for each plane; give one of them", own,
                        channels);
}

bool planes_share_rails(const struct network_config *config, uint32_t num_vcs, struct rails *each,
                        struct errors *errors)
{
    const struct interface_ops *interface = CHOICE_OPS(&config->interface, struct interface_ops);
    uint32_t rails = config->planes.rails, planes = config->planes.count, channels = rails / planes;
    uint32_t most = num_vcs ? UINT16_MAX / num_vcs : UINT16_MAX; /* that lanes can be named of */
    *each = interface->rails ? interface->rails(config->interface.config) : (struct rails){1, 1};
    if (rails % planes) {
        uint32_t below = channels ? channels : 1;
        node_error(errors, network_node(config, "planes"), "rails",
                   "%u rails cannot be shared evenly by %u planes; accepted: multiples of %u, such as %u or %u", rails,
                   planes, planes, below * planes, (below + 1) * planes);
        return false;
    }
    if (rails && (!agrees_with_interface(config, "injection_channels", each->injection, channels, errors) ||
                  !agrees_with_interface(config, "ejection_channels", each->ejection, channels, errors)))
        return false;
    if (rails)
        each->injection = each->ejection = channels;
    channels = each->injection > each->ejection ? each->injection : each->ejection;
    if (channels * planes > most)
        return node_error(errors, network_node(config, "planes"), rails ? "rails" : "count",
                          "%u channels of a terminal, of %u VCs each, are too many; accepted: at most %u",
                          channels * planes, num_vcs, most);
    return true;
}

/* ---- the topology of all planes ---- */

static bool repeated_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer)
{
    const struct topology *one = &((const struct planes *)topology->state)->one;
    uint32_t first = router - router % one->routers;
    if (!one->ops->peer(one, router - first, port, peer))
        return false;
    peer->router += first;
    return true;
}

static uint32_t repeated_channel_class(const struct topology *topology, uint32_t router, uint32_t port)
{
    const struct topology *one = &((const struct planes *)topology->state)->one;
    return one->ops->channel_class(one, router % one->routers, port);
}

static const uint32_t *repeat_latencies(const struct topology *one, uint32_t planes, struct arena *arena)
{
    size_t channels = (size_t)one->routers * one->ports;
    if (!one->latencies)
        return NULL;
    uint32_t *latencies = arena_array(arena, uint32_t, planes * channels);
    for (uint32_t plane = 0; plane < planes; plane++)
        memcpy(latencies + plane * channels, one->latencies, channels * sizeof *latencies);
    return latencies;
}

static const uint32_t *seat_terminals(const struct network *network, enum order order)
{
    uint32_t terminals = network->topology.terminals;
    uint32_t *seats = arena_array(network->arena, uint32_t, (size_t)network->plane_count * terminals);
    for (uint32_t plane = 0; plane < network->plane_count; plane++) {
        uint32_t *here = seats + (size_t)plane * terminals;
        bool is_reversed = order == ORDER_REVERSED && plane % 2;
        for (uint32_t terminal = 0; terminal < terminals; terminal++)
            here[terminal] = is_reversed ? terminals - 1 - terminal : terminal;
        struct random random = random_stream(network->seed, UINT64_MAX - plane, RANDOM_PLANE);
        if (order == ORDER_SHUFFLED && plane)
            random_shuffle(&random, here, terminals);
    }
    return seats;
}

bool planes_repeat(struct network *network, struct errors *errors)
{
    const struct planes_config *config = &network->core->config->planes;
    struct arena *arena = network->arena;
    struct topology *all = &network->topology;
    if ((uint64_t)all->routers * config->count >= FW_NONE)
        return node_error(errors, network_node(network->core->config, "planes"), "count",
                          "%u planes of %u routers are too many; accepted: at most %u", config->count, all->routers,
                          FW_NONE / all->routers);
    struct planes *planes = arena_array(arena, struct planes, 1);
    struct topology_ops *ops = arena_array(arena, struct topology_ops, 1);
    planes->one = *all;
    /* By the name of the topology, but for routers of all planes; distances and terminals' routers are asked for in one. */
    *ops = *all->ops;
    ops->peer = repeated_peer;
    ops->channel_class = ops->channel_class ? repeated_channel_class : NULL;
    ops->router_of = ops->ejects_at = NULL;
    ops->distance = NULL;
    *all = (struct topology){
        .ops = ops,
        .config = planes->one.config,
        .routers = planes->one.routers * config->count,
        .terminals = planes->one.terminals,
        .concentration = planes->one.concentration,
        .ports = planes->one.ports,
        .state = planes,
        .channel_classes = planes->one.channel_classes,
        .channel_class_names = planes->one.channel_class_names,
        .latencies = repeat_latencies(&planes->one, config->count, arena),
        .terminal_latencies = planes->one.terminal_latencies,
    };
    uint8_t *plane_of = arena_array(arena, uint8_t, all->routers);
    for (uint32_t router = 0; router < all->routers; router++)
        plane_of[router] = (uint8_t)(router / planes->one.routers);
    planes->plane_of = plane_of;
    planes->seats = seat_terminals(network, (enum order)config->order);
    network->core->planes = planes;
    return true;
}

/* ---- routing in a plane ---- */

/* Asks with the numbers that the plane's routers and terminals have in plane 0. */
static inline void ask_in_plane(struct route *route, const struct planes *planes, void (*answer)(struct route *route))
{
    struct packet *packet = route->packet;
    uint32_t router = route->router, destination = packet->destination, exit = packet->destination_router;
    uint32_t plane = planes->plane_of[router];
    route->first_router = plane * planes->one.routers;
    route->router = router - route->first_router;
    packet->destination_router = exit - route->first_router;
    packet->destination = planes->seats[(size_t)plane * planes->one.terminals + destination];
    answer(route);
    route->router = router;
    packet->destination_router = exit;
    packet->destination = destination;
}

static const struct planes *planes_asked(const struct route *route) { return route->routing->planes; }
static void inject_in_plane(struct route *route)
{
    ask_in_plane(route, planes_asked(route), planes_asked(route)->inject);
}
static void route_in_plane(struct route *route)
{
    ask_in_plane(route, planes_asked(route), planes_asked(route)->route);
}

/* Where failures have made planes differ, each has its own facts. */
static void inject_in_left_plane(struct route *route)
{
    const struct routing *all = route->routing;
    const struct planes *planes = all->planes;
    route->routing = &planes->routings[planes->plane_of[route->router]];
    ask_in_plane(route, planes, route->routing->inject);
    route->routing = all;
}

static void route_in_left_plane(struct route *route)
{
    const struct routing *all = route->routing;
    const struct planes *planes = all->planes;
    route->routing = &planes->routings[planes->plane_of[route->router]];
    ask_in_plane(route, planes, route->routing->route);
    route->routing = all;
}

static bool make_selection(const struct network *network, struct selection *selection, struct arena *arena,
                           struct errors *errors)
{
    const struct selection space = {.seed = network->seed,
                                    .planes = network->plane_count,
                                    .terminals = network->topology.terminals,
                                    .protocol_classes = network->core->config->protocol_classes};
    return selection_init(selection, &network->core->config->planes.selection, &space, arena, errors);
}

/* What a selection of the configuration is asked where failures leave a packet some of the planes. */
struct left_planes {
    const struct network *network;
    const struct selection_ops *among; /* of the configuration */
};

static uint32_t select_among_left(const struct selection *selection, const struct plane_question *question)
{
    const struct left_planes *left = selection->left;
    struct plane_question among = *question;
    for (uint32_t plane = 0; plane < selection->planes; plane++)
        if (!network_joins_in(left->network, plane, question->packet->source, question->packet->destination))
            among.planes &= ~bit(plane);
    return left->among->select(selection, &among);
}

/* Then it is asked for packets that have a way in some plane alone: others are lost before. */
static void select_left(struct network *network, struct selection *selection)
{
    struct left_planes *left = arena_array(network->arena, struct left_planes, 1);
    struct selection_ops *ops = arena_array(network->arena, struct selection_ops, 1);
    *left = (struct left_planes){network, selection->ops};
    *ops = *selection->ops;
    ops->select = select_among_left;
    selection->ops = ops;
    selection->left = left;
}

bool planes_check_selection(const struct network *network, struct errors *errors)
{
    struct arena scratch = {0};
    struct selection unused;
    bool is_right = make_selection(network, &unused, &scratch, errors);
    arena_release(&scratch);
    return is_right;
}

/* The algorithm is made ready for each plane; what routers know of it must be the same in all. */
static bool route_left_planes(struct network *network, const struct routing_ports *ports, struct errors *errors)
{
    struct planes *planes = network->core->planes;
    const struct routing *first = &network->routing;
    planes->routings = arena_array(network->arena, struct routing, network->plane_count);
    planes->routings[0] = *first;
    for (uint32_t plane = 1; plane < network->plane_count; plane++) {
        struct routing *here = &planes->routings[plane];
        if (!routing_init(here, &network->core->config->routing, planes->left[plane], ports, network->seed,
                          network->arena, errors))
            return false;
        if (here->is_adaptive != first->is_adaptive || here->escape_vcs != first->escape_vcs ||
            !here->inject != !first->inject || here->looks_afar_key != first->looks_afar_key)
            return choice_error(errors, &network->core->config->routing, NULL,
                                "\"%s\" is another in plane %u than in plane 0 with what has failed there; accepted: "
                                "\"minimal\", or failures that leave both alike",
                                first->ops->name, plane);
        network->routing.candidates =
            here->candidates > first->candidates ? here->candidates : network->routing.candidates;
    }
    return true;
}

bool planes_join(struct network *network, const struct routing_ports *ports, struct errors *errors)
{
    struct planes *planes = network->core->planes;
    struct routing *routing = &network->routing;
    if (planes->left && !route_left_planes(network, ports, errors))
        return false;
    planes->inject = routing->inject;
    planes->route = routing->route;
    routing->planes = planes;
    routing->inject = !routing->inject ? NULL : planes->left ? inject_in_left_plane : inject_in_plane;
    routing->route = planes->left ? route_in_left_plane : route_in_plane;
    network->core->selection = arena_array(network->arena, struct selection, 1);
    if (!make_selection(network, network->core->selection, network->arena, errors))
        return false;
    if (network->core->failures)
        select_left(network, network->core->selection);
    return true;
}

uint32_t planes_source(const struct route *route)
{
    const struct planes *planes = route->routing->planes;
    uint32_t source = route->packet->source;
    return planes ? planes->seats[(size_t)(route->first_router / planes->one.routers) * planes->one.terminals + source]
                  : source;
}

struct routing planes_routing_of_one(const struct routing *routing)
{
    struct routing one = *routing;
    const struct planes *planes = routing->planes;
    if (planes) {
        one.inject = planes->inject;
        one.route = planes->route;
        one.planes = NULL;
    }
    return one;
}

uint32_t network_select_plane(const struct network *network, uint32_t handle, const struct plane_queue *queues)
{
    const struct selection *selection = network->core->selection;
    struct packet *packet = network_packet(network, handle);
    uint32_t hops[MAX_PLANES], terminals = network->topology.terminals;
    for (uint32_t plane = 0; plane < network->plane_count && selection->needs_hops; plane++)
        hops[plane] = network_hops_between(network, plane, packet->source, packet->destination);
    const struct plane_question question = {.packet = packet,
                                            .planes = bits_range(0, network->plane_count),
                                            .queues = queues,
                                            .hops = selection->needs_hops ? hops : NULL};
    uint32_t plane = selection->ops->select(selection, &question);
    FW_CHECK(plane < network->plane_count, "selection \"%s\" gives packet %u plane %u of %u", selection->ops->name,
             handle, plane, network->plane_count);
    packet->destination_router = network->core->ejection_router[(size_t)plane * terminals + packet->destination];
    if (network_is_traced(network, handle))
        network_trace(network, network->engine->now, FW_NONE, "select_plane", "plane %u, where %u packets wait", plane,
                      queues[plane].packets);
    return plane;
}
