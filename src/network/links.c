/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lies behind each port: the topology's answers as a flat array of links. A rank has those of the routers that it
 * builds there, and works out any other when it is asked.
 */
#include "network/network.h"

#include <math.h>

/* Flits that a buffer behind a channel holds. */
static uint32_t depth_behind(const struct network *network, uint32_t latency, uint64_t cycle)
{
    const struct router_plan *plan = &network->plan;
    if (plan->buffer_per_latency <= 0)
        return plan->buffer_depth;
    double cycles = (double)latency / (double)cycle;
    double flits = ceil(plan->buffer_per_latency * cycles * (1 - 1e-12)); /* 0.1 * 30 is 3 */
    return flits < plan->buffer_min     ? plan->buffer_min
           : flits < plan->buffer_depth ? (uint32_t)flits
                                        : plan->buffer_depth;
}

/* One channel of a terminal; its ports are numbered through all planes. */
static struct link terminal_link(const struct network *network, uint32_t plane, uint32_t terminal, uint32_t channel,
                                 uint32_t latency)
{
    return (struct link){
        .target = terminal,
        .first_lane = (uint16_t)((plane * network->terminal_ports + channel) * network->num_vcs),
        .to_terminal = true,
        .carries_out = channel < network->core->rails.ejection,
        .carries_in = channel < network->injection_channels,
        .depth = depth_behind(network, latency, network->core->config->terminal_channel.cycle),
        .latency = latency,
        .cycle = (uint16_t)network->core->config->terminal_channel.cycle,
    };
}

/* The links of a terminal at the router where it injects, and at the one where it ejects, should that be another. */
static void wire_terminal(const struct network *network, struct link *links, uint32_t plane, uint32_t terminal,
                          uint32_t latency)
{
    size_t place = plane * (size_t)network->topology.terminals + terminal;
    const struct network_core *core = network->core;
    uint32_t entry = core->terminal_router[place], exit = core->ejection_router[place];
    struct link *in = links + (size_t)entry * network->ports + core->terminal_slot[place] * network->terminal_ports;
    struct link *out = links + (size_t)exit * network->ports + core->ejection_slot[place] * network->terminal_ports;
    bits_add(network->delivers, exit);
    for (uint32_t channel = 0; channel < network->terminal_ports; channel++) {
        struct link both = terminal_link(network, plane, terminal, channel, latency), half = both;
        half.carries_out = false;
        if (network_builds(network, entry))
            in[channel] = in == out ? both : half;
        half = both;
        half.carries_in = false;
        if (in != out && network_builds(network, exit))
            out[channel] = half;
    }
}

/* Keeps `common` as long as all values are the same. */
static void note(tick_t *common, uint32_t value, bool is_first) { *common = is_first || *common == value ? value : 0; }

bool network_next_channel(const struct network *network, struct router_channel *channel)
{
    const struct topology *topology = &network->topology;
    uint64_t end = (uint64_t)topology->routers * topology->ports;
    for (; channel->next < end; channel->next++) {
        uint32_t router = (uint32_t)(channel->next / topology->ports),
                 port = (uint32_t)(channel->next % topology->ports);
        if (!topology->ops->peer(topology, router, port, &channel->to))
            continue;
        channel->next++;
        channel->from = (struct router_port){router, port};
        channel->latency = channel_latency(&network->core->latencies, router, port, channel->to.router);
        return true;
    }
    return false;
}

static struct link router_link(const struct network *network, const struct router_channel *channel)
{
    uint32_t cycle = channel_cycle(&network->core->latencies, channel->from.router, channel->from.port);
    return (struct link){
        .target = channel->to.router,
        .first_lane = (uint16_t)((network->routing.local_ports + channel->to.port) * network->num_vcs),
        .carries_out = true,
        .depth = depth_behind(network, channel->latency, cycle),
        .latency = channel->latency,
        .cycle = (uint16_t)cycle,
    };
}

struct link network_find_link(const struct network *network, uint32_t router, uint32_t port)
{
    if (network_builds(network, router))
        return *network_link(network, router, port);
    if (port < network->routing.local_ports)
        return (struct link){.target = FW_NONE, .to_terminal = true};
    struct router_channel channel = {.from = {router, port - network->routing.local_ports}};
    if (!network->topology.ops->peer(&network->topology, router, channel.from.port, &channel.to))
        return (struct link){.target = FW_NONE};
    channel.latency = channel_latency(&network->core->latencies, router, channel.from.port, channel.to.router);
    return router_link(network, &channel);
}

static void wire_terminals(struct network *network, struct link *links)
{
    for (uint32_t plane = 0; plane < network->plane_count; plane++)
        for (uint32_t terminal = 0; terminal < network->topology.terminals; terminal++) {
            uint32_t latency = terminal_latency(&network->core->latencies, planes_seat(network, plane, terminal));
            note(&network->terminal_latency, latency, plane == 0 && terminal == 0);
            wire_terminal(network, links, plane, terminal, latency);
        }
}

/* All ranks look at all channels, since windows and the usual router follow from these, but keep their own alone. */
void network_wire(struct network *network)
{
    size_t first = (size_t)network->first_router * network->ports, end = (size_t)network->end_router * network->ports;
    struct link *links = arena_array(network->arena, struct link, (size_t)network->topology.routers * network->ports);
    network->links = links;
    network->delivers = arena_array(network->arena, uint64_t, words_for(network->topology.routers));
    network->channel_latency = network->core->config->channel.latency; /* should there be no channel */
    network->channel_cycle = network->core->config->channel.cycle;
    network->terminal_cycle = network->core->config->terminal_channel.cycle;
    for (size_t i = first; i < end; i++)
        links[i].target = FW_NONE;
    wire_terminals(network, links);
    bool is_first = true;
    for (struct router_channel channel = {0}; network_next_channel(network, &channel); is_first = false) {
        uint32_t router = channel.from.router,
                 cycle = channel_cycle(&network->core->latencies, router, channel.from.port);
        note(&network->channel_latency, channel.latency, is_first);
        note(&network->channel_cycle, cycle, is_first);
        if (network_builds(network, router))
            links[(size_t)router * network->ports + network->routing.local_ports + channel.from.port] =
                router_link(network, &channel);
    }
}

void network_know_links(struct network *network)
{
    struct network whole = *network;
    whole.first_router = 0;
    whole.end_router = whole.topology.routers;
    if (network_builds_all(network))
        return;
    network_wire(&whole);
    network->links = whole.links;
}

uint32_t network_lag(const struct network *network, uint32_t router, uint32_t cycle)
{
    uint32_t fastest = cycle;
    for (uint32_t port = 0; port < network->ports; port++) {
        const struct link link = network_find_link(network, router, port);
        if (link.target != FW_NONE && link.carries_out && link.cycle < fastest)
            fastest = link.cycle;
    }
    if (bits_test(network->delivers, router) && network->terminal_cycle < fastest)
        fastest = (uint32_t)network->terminal_cycle;
    return network->plan.transfer.stores ? cycle : cycle - fastest;
}
