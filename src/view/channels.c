/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers for channels, see channels.h. */
#include "view/channels.h"

#include <string.h>

void channels_init(struct channels *channels, const struct network *network, struct arena *arena)
{
    uint32_t ports = network->ports, slots = network->topology.routers * ports;
    *channels = (struct channels){.terminal_ports = network->plane_count * network->terminal_ports};
    size_t ejectors = (size_t)network->topology.terminals * channels->terminal_ports;
    channels->at = arena_array(arena, uint32_t, slots);
    channels->slots = arena_array(arena, uint32_t, slots);
    channels->seats = arena_array(arena, uint32_t, slots);
    channels->ejectors = arena_array(arena, uint32_t, ejectors);
    memset(channels->ejectors, 0xff, sizeof *channels->ejectors * ejectors);
    for (uint32_t slot = 0; slot < slots; slot++) {
        const struct link *link = &network->links[slot];
        channels->at[slot] = NONE;
        if (link->target == NONE)
            continue;
        if (!link->to_terminal) {
            channels->at[slot] = channels->count;
            channels->slots[channels->count++] = slot;
            continue;
        }
        channels->at[slot] = channels->local;
        channels->seats[channels->local++] = slot;
        if (link->carries_out)
            channels->ejectors[(size_t)link->target * channels->terminal_ports + link->first_lane / network->num_vcs] =
                slot;
    }
}

uint32_t channel_out(const struct channels *channels, const struct network *network, uint32_t router, uint32_t port)
{
    uint32_t at = channels->at[router * network->ports + port];
    return network_link(network, router, port)->to_terminal ? channels->count + 2 * at + 1 : at;
}

uint32_t channel_in(const struct channels *channels, const struct network *network, uint32_t router, uint32_t port)
{
    const struct link *link = network_link(network, router, port);
    return link->to_terminal ? channels->count + 2 * channels->at[router * network->ports + port]
                             : channels->at[link->target * network->ports + link->first_lane / network->num_vcs];
}

uint32_t channel_of_arrival(const struct channels *channels, const struct network *network, bool at_terminal,
                            struct lane_place to)
{
    uint32_t port = to.lane / network->num_vcs;
    if (!at_terminal)
        return channel_in(channels, network, to.target, port);
    uint32_t slot = channels->ejectors[(size_t)to.target * channels->terminal_ports + port];
    return channel_out(channels, network, slot / network->ports, slot % network->ports);
}

uint32_t channel_slot(const struct channels *channels, uint32_t channel)
{
    return channel < channels->count ? channels->slots[channel] : channels->seats[(channel - channels->count) / 2];
}
