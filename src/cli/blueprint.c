/* SPDX-License-Identifier: Apache-2.0 */
/* The network of a configuration without its routers' insides, see blueprint.h. */
#include "cli/blueprint.h"

#include "flitwarp/butterfly.h"
#include "flitwarp/hyperx.h"
#include "flitwarp/tree.h"
#include "network/network.h"
#include "network/planes.h"

#include <stdlib.h>
#include <string.h>

bool blueprint_open(struct blueprint *blueprint, const char *config, char **overrides, int override_count)
{
    struct simulation *simulation = &blueprint->simulation;
    *blueprint = (struct blueprint){.config = config};
    simulation_init(simulation);
    if (!simulation_load(simulation, config, overrides, override_count))
        return false;
    const struct network_config *network = &simulation->config.network;
    if (simulation->config.model.component) {
        choice_error(&simulation->errors, &simulation->config.model, NULL, "found a model, expected a network");
        return false;
    }
    const struct interface_ops *interface = CHOICE_OPS(&network->interface, struct interface_ops);
    struct network terminals = {.config = network,
                                .plane_count = network->planes.count,
                                .injection_channels = interface->injection_channels(network->interface.config),
                                .ejection_channels = interface->ejection_channels(network->interface.config)};
    if (!planes_share_rails(&terminals, &simulation->errors))
        return false;
    blueprint->planes = terminals.plane_count;
    blueprint->terminal_links = terminals.injection_channels > terminals.ejection_channels
                                    ? terminals.injection_channels
                                    : terminals.ejection_channels;
    return topology_init(&blueprint->topology, &network->topology, &simulation->built, &simulation->errors) &&
           channel_latencies_init(&blueprint->latencies, network, &blueprint->topology, blueprint->topology.routers,
                                  &simulation->built, &simulation->errors);
}

void blueprint_release(struct blueprint *blueprint) { simulation_release(&blueprint->simulation); }

/* ---- links ---- */

/* To 12 digits: what lies behind them comes from a tick that is no binary fraction of a second. */
static double bandwidth_of(const struct blueprint *blueprint, uint64_t cycle)
{
    const struct simulation_config *config = &blueprint->simulation.config;
    char digits[32];
    snprintf(digits, sizeof digits, "%.12g", config->network.flit_bytes / ((double)cycle * config->simulator.tick));
    return strtod(digits, NULL);
}

bool blueprint_next(const struct blueprint *blueprint, struct blueprint_link *link)
{
    const struct topology *topology = &blueprint->topology;
    const struct channel_latencies *latencies = &blueprint->latencies;
    uint64_t end = (uint64_t)topology->routers * topology->ports;
    for (uint64_t slot = link->next; slot < end; slot++) {
        struct router_port from = {(uint32_t)(slot / topology->ports), (uint32_t)(slot % topology->ports)}, to;
        if (!topology->ops->peer(topology, from.router, from.port, &to) ||
            (uint64_t)to.router * topology->ports + to.port < slot) /* was named from its other end */
            continue;
        bool has_classes = topology->channel_classes && topology->ops->channel_class;
        *link = (struct blueprint_link){
            .next = slot + 1,
            .from = from,
            .to = to,
            .class = has_classes ? topology->ops->channel_class(topology, from.router, from.port) : 0,
            .latency = channel_latency(latencies, from.router, from.port, to.router),
            .latency_back = channel_latency(latencies, to.router, to.port, from.router),
            .bandwidth = bandwidth_of(blueprint, channel_cycle(latencies, from.router, from.port)),
        };
        return true;
    }
    return false;
}

uint32_t blueprint_classes(const struct blueprint *blueprint)
{
    return blueprint->topology.channel_classes ? blueprint->topology.channel_classes : 1;
}

const char *blueprint_class_name(const struct blueprint *blueprint, uint32_t class)
{
    const struct topology *topology = &blueprint->topology;
    return topology->channel_classes ? topology->channel_class_names[class] : "router";
}

double blueprint_terminal_bandwidth(const struct blueprint *blueprint)
{
    return bandwidth_of(blueprint, blueprint->simulation.config.network.terminal_channel.cycle);
}

/* ---- places ---- */

uint32_t blueprint_dimensions(const struct blueprint *blueprint)
{
    const struct topology *topology = &blueprint->topology;
    return topology->grid ? topology->grid->dimensions : topology->hyperx ? topology->hyperx->dimensions : 0;
}

uint32_t blueprint_coordinate(const struct blueprint *blueprint, uint32_t router, uint32_t dimension)
{
    const struct topology *topology = &blueprint->topology;
    if (topology->hyperx)
        return hyperx_coordinate(topology->hyperx, router, dimension);
    uint32_t coordinates[MAX_DIMENSIONS];
    grid_coordinates(topology->grid, router, coordinates);
    return coordinates[dimension];
}

uint32_t blueprint_level(const struct blueprint *blueprint, uint32_t router)
{
    const struct topology *topology = &blueprint->topology;
    if (topology->tree)
        return tree_level(topology->tree, router);
    return topology->butterfly ? router / topology->butterfly->rows : NONE;
}

/* Gives a number to everything that can be reached without a link of one class. */
static void flood(const struct blueprint *blueprint, uint32_t avoided, uint32_t router, uint32_t group,
                  uint32_t *groups, uint32_t *stack)
{
    const struct topology *topology = &blueprint->topology;
    uint32_t depth = 1;
    stack[0] = router;
    groups[router] = group;
    while (depth > 0) {
        uint32_t from = stack[--depth];
        for (uint32_t port = 0; port < topology->ports; port++) {
            struct router_port to;
            if (!topology->ops->peer(topology, from, port, &to) || groups[to.router] != NONE ||
                topology->ops->channel_class(topology, from, port) == avoided)
                continue;
            groups[to.router] = group;
            stack[depth++] = to.router;
        }
    }
}

const uint32_t *blueprint_groups(const struct blueprint *blueprint, struct arena *arena)
{
    uint32_t routers = blueprint->topology.routers, classes = blueprint->topology.channel_classes, global = 0,
             count = 0;
    while (global < classes && strcmp(blueprint_class_name(blueprint, global), "global") != 0)
        global++;
    if (global == classes)
        return NULL;
    uint32_t *groups = arena_array(arena, uint32_t, routers), *stack = arena_array(arena, uint32_t, routers);
    memset(groups, 0xff, sizeof *groups * routers);
    for (uint32_t router = 0; router < routers; router++)
        if (groups[router] == NONE)
            flood(blueprint, global, router, count++, groups, stack);
    return groups;
}
