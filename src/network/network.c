/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one builder. It has routers shared out and links made (links.c), and lets the router
 * architecture and the interface make their own state from them.
 */
#include "network/network.h"

#include "base/machine.h"
#include "base/pool.h"
#include "config/json.h"
#include "flitwarp/congestion.h"
#include "network/parallel/parts.h"
#include "network/deadlock/deadlock.h"
#include "network/failures/outages.h"
#include "network/failures/retries.h"
#include "network/graph/analysis.h"
#include "network/routing/routing.h"

#include <stdarg.h>

static const char *const on_deadlock_names[] = {"report", "recover", NULL};

const struct option network_options[] = {
    OPTION_CHOICE(struct network_config, topology, "topology", "\"torus\"", "which routers are joined"),
    OPTION_CHOICE(struct network_config, routing, "routing", "\"dimension_order\"", "which ways packets take"),
    OPTION_CHOICE(struct network_config, router, "router", "\"input_queued\"", "what a router is made of"),
    OPTION_BLOCK(struct network_config, channel, struct channel_config, channel_options, "channels between routers"),
    OPTION_BLOCK(struct network_config, terminal_channel, struct terminal_channel_config, terminal_channel_options,
                 "channels between a terminal and its router"),
    OPTION_BLOCK(struct network_config, planes, struct planes_config, planes_options,
                 "several copies of the routers side by side, and the rails of terminals to them"),
    OPTION_U32(struct network_config, protocol_classes, "1", 1, 64, NULL,
               "classes of messages (requests, replies) that share out the VCs evenly and never wait for each other"),
    OPTION_BLOCK(struct network_config, service, struct service_config, service_options,
                 "levels of service of the protocol classes, and what a higher one has of it"),
    OPTION_U32(struct network_config, flit_bytes, "32", 1, 65536, "bytes",
               "width of a flit: what bandwidths and sizes in bytes count with"),
    OPTION_ENUM(
        struct network_config, deadlock, "\"report\"", on_deadlock_names,
        "report: the run ends and names the cycle; recover: one packet of it goes by a side path, and the run goes on"),
    OPTION_TICKS(struct network_config, deadlock_interval, "10000", 0, 1e12,
                 "how often to look for packets that can never move while others do; 0: only when nothing moves"),
    OPTION_BLOCK(struct network_config, failures, struct failures_config, failures_options,
                 "links, routers and terminals that are broken or slow"),
    OPTION_CHOICE(struct network_config, interface, "interface", "\"standard\"", "how terminals meet the network"),
    OPTION_END,
};

/* Blocks do not know where they stand, but the topology beside them does. */
const struct json *network_node(const struct network_config *config, const char *block)
{
    const struct json *network = config->topology.node->parent, *node = json_find(network, block);
    return node ? node : network;
}

/* For topologies that do not know their distances. */
static uint16_t *find_distances(const struct topology *topology, struct arena *arena)
{
    size_t routers = topology->routers;
    struct arena scratch = {0};
    struct search search;
    search_init(&search, topology, &scratch);
    uint16_t *distances = arena_array(arena, uint16_t, routers * routers);
    for (size_t from = 0; from < routers; from++) {
        search_from(&search, (uint32_t)from);
        for (size_t to = 0; to < routers; to++)
            distances[from * routers + to] = (uint16_t)search.distance[to];
    }
    arena_release(&scratch);
    return distances;
}

static void find_all_distances(struct network *network)
{
    struct network_core *core = network->core;
    const struct topology **left = core->planes ? core->planes->left : NULL;
    if (!left) {
        core->distances = find_distances(network->routing.topology, network->arena);
        return;
    }
    core->plane_distances = arena_array(network->arena, uint16_t *, network->plane_count);
    for (uint32_t plane = 0; plane < network->plane_count; plane++)
        core->plane_distances[plane] = find_distances(left[plane], network->arena);
    core->distances = core->plane_distances[0];
}

/* Refuses at once what could never be built: the buffers alone would take more memory than there is. */
static bool fits_memory(const struct network *network, struct errors *errors)
{
    const struct topology *topology = &network->topology;
    double lanes = (double)topology->routers * topology->ports +
                   (double)topology->terminals * network->plane_count * network->injection_channels;
    double needed =
        network->plan.transfer.chunk ? 0 : lanes * network->num_vcs * network->plan.buffer_depth * sizeof(struct flit);
    double memory = machine_memory();
    if (needed <= memory)
        return true;
    return choice_error(
        errors, &network->core->config->topology, NULL,
        "the buffers of %u routers alone would take %.0f GiB; accepted: what fits this machine's %.0f GiB",
        topology->routers, needed / 0x1p30, memory / 0x1p30);
}

static const struct topology *one_plane(const struct network *network)
{
    return network->core->planes ? &network->core->planes->one : &network->topology;
}

/* By plane and terminal, what routing knows by seat. */
static const uint16_t *spread_slots(const struct network *network, const uint16_t *slots)
{
    uint32_t terminals = network->topology.terminals;
    if (!network->core->planes)
        return slots;
    uint16_t *spread = arena_array(network->arena, uint16_t, (size_t)network->plane_count * terminals);
    for (uint32_t plane = 0; plane < network->plane_count; plane++)
        for (uint32_t terminal = 0; terminal < terminals; terminal++)
            spread[(size_t)plane * terminals + terminal] = slots[planes_seat(network, plane, terminal)];
    return spread;
}

static void network_place_terminals(struct network *network)
{
    const struct topology *topology = one_plane(network);
    size_t count = (size_t)network->plane_count * topology->terminals, place = 0;
    uint32_t *entries = arena_array(network->arena, uint32_t, count), *exits = entries;
    if (topology->ops->ejects_at)
        exits = arena_array(network->arena, uint32_t, count);
    for (uint32_t plane = 0; plane < network->plane_count; plane++)
        for (uint32_t terminal = 0; terminal < topology->terminals; terminal++, place++) {
            uint32_t first = plane * topology->routers, seat = planes_seat(network, plane, terminal);
            entries[place] = first + topology_router_of(topology, seat);
            exits[place] = first + topology_ejects_at(topology, seat);
        }
    network->core->terminal_router = entries;
    network->core->ejection_router = exits;
}

/* A terminal's place in a plane, by one of the routers of all of them and of the slots there. */
static struct lane_place place_of(const struct network *network, uint32_t plane, uint32_t terminal,
                                  const uint32_t *routers, const uint16_t *slots)
{
    size_t seat = plane * (size_t)network->topology.terminals + terminal;
    return (struct lane_place){routers[seat], slots[seat] * network->terminal_ports * network->num_vcs};
}

struct lane_place network_entry(const struct network *network, uint32_t plane, uint32_t terminal)
{
    return place_of(network, plane, terminal, network->core->terminal_router, network->core->terminal_slot);
}

struct lane_place network_exit(const struct network *network, uint32_t plane, uint32_t terminal)
{
    return place_of(network, plane, terminal, network->core->ejection_router, network->core->ejection_slot);
}

/* The topology and what the router says of itself: what can be judged before anything large is built. */
static bool network_plan(struct network *network, const struct network_config *config, struct arena *arena,
                         uint64_t seed, struct errors *errors)
{
    uint32_t before = errors->count;
    *network = (struct network){
        .arena = arena, .seed = seed, .traced = FW_NONE, .core = arena_take(arena, sizeof *network->core)};
    network->core->config = config;
    network->core->bytes = arena->bytes;
    network->core->router_ops = CHOICE_OPS(&config->router, struct router_ops);
    network->core->interface_ops = CHOICE_OPS(&config->interface, struct interface_ops);
    network->core->router_ops->plan(&config->router, config->flit_bytes, &network->plan, errors);
    network->num_vcs = network->plan.num_vcs;
    network->plane_count = config->planes.count;
    planes_share_rails(config, network->num_vcs, &network->core->rails, errors);
    network->injection_channels = network->core->rails.injection;

    struct topology *topology = &network->topology;
    if (!topology_init(topology, &config->topology, arena, errors) || errors->count > before)
        return false;
    if ((network->plane_count > 1 && !planes_repeat(network, errors)) || !fits_memory(network, errors))
        return false;
    if (network->num_vcs % config->protocol_classes)
        return choice_error(errors, &config->router, NULL,
                            "num_vcs is %u, which %u protocol classes cannot share evenly", network->num_vcs,
                            config->protocol_classes);
    network->terminal_ports = network->core->rails.ejection > network->injection_channels
                                  ? network->core->rails.ejection
                                  : network->injection_channels;
    network_place_terminals(network);
    return service_plan(network, errors) &&
           channel_latencies_init(&network->core->latencies, config, topology, one_plane(network)->routers, arena,
                                  errors) &&
           network_damage(network, errors);
}

/* Tables of routing are of the routers that this rank builds, where they can be. */
struct routing_ports network_routing_ports(const struct network *network)
{
    const struct network_core *core = network->core;
    const struct topology *one = planes_left(network, 0);
    return (struct routing_ports){.num_vcs = network->num_vcs,
                                  .protocol_classes = core->config->protocol_classes,
                                  .injection_channels = network->injection_channels,
                                  .ejection_channels = core->rails.ejection,
                                  .first_router = core->planes ? 0 : network->first_router,
                                  .end_router = core->planes ? one->routers : network->end_router,
                                  .least_classes = outages_classes(core->outages)};
}

static bool network_plan_routing(struct network *network, struct errors *errors)
{
    const struct network_config *config = network->core->config;
    const struct topology *one = planes_left(network, 0);
    if (!outages_plan(network, errors))
        return false;
    const struct routing_ports ports = network_routing_ports(network);
    if (!routing_init(&network->routing, &config->routing, one, &ports, network->seed, network->arena, errors) ||
        !(network->core->planes ? planes_join(network, &ports, errors) : planes_check_selection(network, errors)))
        return false;
    network->ports = network->routing.local_ports + network->topology.ports;
    network->core->terminal_slot = spread_slots(network, network->routing.entry_slot);
    network->core->ejection_slot = spread_slots(network, network->routing.terminal_slot);
    bool needs_distances = !network->routing.ops->is_minimal || config->deadlock == DEADLOCK_RECOVER ||
                           (network->core->planes && network->core->selection->needs_hops);
    if (one->grid && needs_distances)
        network->core->coordinates = grid_bake(one, network->arena);
    if (((!one->grid && !one->ops->distance) || (network->core->planes && network->core->planes->left)) &&
        needs_distances)
        find_all_distances(network);
    return network_routes_in_parts(network, errors);
}

static void network_add_kinds(struct network *network)
{
    const struct router_ops *router = network->core->router_ops;
    const struct interface_ops *interface = network->core->interface_ops;
    const struct network_client *client = &network->core->client;
    const bool recovers = network->core->config->deadlock == DEADLOCK_RECOVER;
    const uint32_t flit = sizeof(struct flit_event);
    const uint32_t credit = network->plan.transfer.chunk ? sizeof(struct credits_event) : sizeof(struct credit_event);
    const struct event_kind kinds[] = {
        {"flit", 1, flit, false, router->receive_flits, network->core->routers},
        {"credit", 1, credit, false, router->receive_credits, network->core->routers},
        {"room", 1, credit, false, router->receive_room, network->core->routers},
        {"queued", 1, credit, false, router->receive_queued, network->core->routers},
        {"terminal flit", 1, flit, false, recovers ? recovery_receive : interface->receive_flits,
         recovers ? network : network->core->interfaces},
        {"terminal credit", 1, credit, false, interface->receive_credits, network->core->interfaces},
        {"message", 2, sizeof(struct message_event), true, client->receive, client->listener.context},
        {"wake", 2, sizeof(struct wake_event), client->wakes_are_ordered, client->wake, client->listener.context},
        {"interface step", 3, sizeof(struct step_event), false, interface->step, network->core->interfaces},
        {"router step", 3, sizeof(struct step_event), false, router->step, network->core->routers},
        {"output step", 4, sizeof(struct step_event), false, router->step_outputs, network->core->routers},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        engine_add_kind(network->engine, kinds[i]);
}

/* The sensors that the router's setting asks for. NULL with errors, and where routing would not look at them. */
static struct congestion *make_sensors(const struct network *network, struct errors *errors)
{
    const struct router_plan *plan = &network->plan;
    if (!network->routing.is_adaptive || !plan->congestion)
        return NULL;
    const struct congestion shape = {
        .ops = CHOICE_OPS(plan->congestion, struct congestion_ops),
        .config = plan->congestion->config,
        .routers = network->topology.routers,
        .ports = network->ports,
        .num_vcs = network->num_vcs,
        .first_router = network->first_router,
        .end_router = network->end_router,
        .depth = {[QUEUE_OUTPUT] = plan->output_depth, [QUEUE_DOWNSTREAM] = plan->buffer_depth},
        .links = network->links,
        .totals_alone = network->routing.sees_ports,
    };
    /* cppcheck-suppress returnDanglingLifetime -- what is built copies its shape */
    return shape.ops->build(plan->congestion, &shape, network->arena, errors);
}

static void *build_routers(struct network *network, const struct choice *self, struct errors *errors)
{
    const struct router_ops *ops = network->core->router_ops;
    uint64_t lanes = (uint64_t)network->ports * network->num_vcs;
    uint32_t before = errors->count;
    if (lanes >= LANE_WAITS)
        choice_error(errors, self, "num_vcs", "%u virtual channels at each of %u ports are more than %u in all",
                     network->num_vcs, network->ports, LANE_WAITS - 1);
    if (ops->check)
        ops->check(network, self, errors);
    struct congestion *congestion = network->congestion = make_sensors(network, errors);
    if (errors->count > before)
        return NULL;
    struct routers *routers = arena_take(network->arena, ops->size);
    *routers = (struct routers){
        .network = network,
        .engine = network->engine,
        .congestion = congestion,
        .question = {.routing = &network->routing, .congestion = congestion},
        .ports = network->ports,
        .num_vcs = network->num_vcs,
        .lanes = (uint32_t)lanes,
        .words = words_for((uint32_t)lanes),
    };
    ops->build(routers, self->config);
    if (ops->share)
        ops->share(routers);
    return routers;
}

static void *build_interfaces(struct network *network, const struct choice *self, struct errors *errors)
{
    const struct interface_ops *ops = network->core->interface_ops;
    uint32_t before = errors->count;
    if (ops->check)
        ops->check(network, self, errors);
    if (errors->count > before)
        return NULL;
    struct interfaces_head *interfaces = arena_take(network->arena, ops->size);
    *interfaces = (struct interfaces_head){network, network->engine};
    ops->build(interfaces, self->config);
    return interfaces;
}

bool network_build(struct network *network, const struct network_config *config, struct engine *engine,
                   struct arena *arena, uint64_t seed, const struct network_split *split, struct errors *errors)
{
    if (!network_plan(network, config, arena, seed, errors))
        return false;
    network->engine = engine;
    network->is_for_device = split->is_for_device;
    pool_init(&network->packets, sizeof(struct packet), arena->rewind);
    size_t before = arena->bytes;
    if (!network_share_out(network, split, errors))
        return false;
    size_t of_parts = arena->bytes - before + network->core->bytes;
    if (!network_plan_routing(network, errors))
        return false;
    network_wire(network);
    if (!retries_build(network, errors))
        return false;
    if (config->deadlock == DEADLOCK_RECOVER && !recovery_is_possible(network, errors))
        return false;
    network->core->routers = build_routers(network, &config->router, errors);
    network->core->interfaces = build_interfaces(network, &config->interface, errors);
    if (!network->core->routers || !network->core->interfaces)
        return false;
    network_lose_cut_off(network);
    network->core->bytes = arena->bytes - of_parts - network->device_bytes;
    network_make_parts(network, split);
    return true;
}

void network_connect(struct network *network, const struct network_client *client)
{
    network->core->client = *client;
    network->listener = client->listener;
    network_add_kinds(network);
}

uint32_t network_next_packet(struct network *network, uint32_t terminal)
{
    return network->core->interface_ops->withdraw(network->core->interfaces, terminal);
}

void network_withdraw(struct network *part, void (*withdrawn)(void *context, uint32_t packet), void *context)
{
    if (part->core->runner) {
        part->core->runner->withdraw(part->core->runner);
        return;
    }
    for (uint32_t terminal = 0; terminal < part->topology.terminals; terminal++) {
        bool is_here = !part->terminal_part || part->terminal_part[terminal] == part->part;
        for (uint32_t packet = 0; is_here && packet != FW_NONE;) {
            packet = part->core->interface_ops->withdraw(part->core->interfaces, terminal);
            if (packet != FW_NONE) {
                withdrawn(context, packet);
                pool_give(&part->packets, packet, sizeof(struct packet));
            }
        }
    }
}

void network_release(struct network *network)
{
    if (network->core)
        outages_release(network->core->outages);
    if (network->core && network->core->parts)
        network_release_parts(network);
}

const char *network_router_name(const struct network *network, uint32_t router, char *buffer, size_t size)
{
    const struct topology *one = network->routing.topology;
    size_t used = network->core->planes ? (size_t)snprintf(buffer, size, "p%u:", network_plane(network, router)) : 0;
    topology_router_name(one, router % one->routers, buffer + used, size - used);
    return buffer;
}

void network_trace(const struct network *network, tick_t now, uint32_t router, const char *stage, const char *format,
                   ...)
{
    char name[128] = "terminal";
    if (router != FW_NONE)
        network_router_name(network, router, name, sizeof name);
    fprintf(network->trace_out, "%8llu  %-12s %-16s ", (unsigned long long)now, name, stage);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(network->trace_out, format, arguments);
    va_end(arguments);
    fputc('\n', network->trace_out);
}
