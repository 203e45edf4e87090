/* SPDX-License-Identifier: Apache-2.0 */
/* The network of a configuration without its routers' insides, see blueprint.h. */
#include "blueprint/blueprint.h"

#include "network/network.h"

#include <stdlib.h>

bool blueprint_open(struct blueprint *blueprint, const char *config, char **overrides, int override_count)
{
    struct simulation *simulation = &blueprint->simulation;
    *blueprint = (struct blueprint){.config = config};
    simulation_init(simulation);
    if (!simulation_load(simulation, config, overrides, override_count))
        return false;
    const struct network_config *network = &simulation->config.network;
    if (simulation->config.model.component)
        return choice_error(&simulation->errors, &simulation->config.model, NULL, "found a model, expected a network");
    struct rails rails;
    if (!planes_share_rails(network, 0, &rails, &simulation->errors))
        return false;
    blueprint->planes = network->planes.count;
    blueprint->terminal_links = rails.injection > rails.ejection ? rails.injection : rails.ejection;
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
