/* SPDX-License-Identifier: Apache-2.0 */
/* What stays the same of a network, see scene.h. */
#include "view/scene.h"

#include "network/network.h"
#include "network/positions.h"

#include <math.h>

static void write_topology(struct text *out, const struct network *network)
{
    const struct topology *one = network->routing.topology;
    write_key(out, "topology");
    write_open(out, '{');
    write_text_at(out, "type", one->ops->name);
    write_u64_at(out, "routers", network->topology.routers);
    write_u64_at(out, "terminals", network->topology.terminals);
    write_bool_at(out, "wraps", one->grid && one->grid->wraps);
    write_key(out, "dimensions");
    write_open(out, '[');
    for (uint32_t d = 0; d < topology_dimensions(one); d++) {
        uint32_t width = 0;
        for (uint32_t router = 0; router < one->routers; router++) {
            uint32_t coordinate = topology_coordinate(one, router, d);
            width = coordinate + 1 > width ? coordinate + 1 : width;
        }
        write_u64(out, width);
    }
    write_close(out, ']');
    write_close(out, '}');
}

/* Planes stand side by side. */
static void write_layout(struct text *out, const struct network *network, const struct layout *layout)
{
    uint32_t routers = network->routing.topology->routers;
    double left = layout->routers[0].x, right = left;
    for (uint32_t router = 0; router < routers; router++) {
        left = fmin(left, layout->routers[router].x);
        right = fmax(right, layout->routers[router].x);
    }
    write_key(out, "layout");
    write_open(out, '{');
    write_text_at(out, "style", layout->style);
    write_text_at(out, "name", layout->name);
    write_u64_at(out, "planes", network->plane_count);
    for (uint32_t axis = 0; axis < 2; axis++) {
        write_key(out, axis ? "y" : "x");
        write_open(out, '[');
        for (uint32_t router = 0; router < network->topology.routers; router++) {
            struct spot spot = layout->routers[router % routers];
            write_f64(out, axis ? spot.y : spot.x + router / routers * (right - left + 2));
        }
        write_close(out, ']');
    }
    write_key(out, "group");
    write_open(out, '[');
    for (uint32_t router = 0; router < network->topology.routers && layout->groups; router++)
        write_u64(out, layout->groups[router % routers]);
    write_close(out, ']');
    write_key(out, "labels");
    write_open(out, '[');
    for (uint32_t i = 0; i < layout->label_count; i++) {
        write_open(out, '[');
        write_f64(out, layout->labels[i].at.x);
        write_f64(out, layout->labels[i].at.y);
        write_text(out, layout->labels[i].text);
        write_close(out, ']');
    }
    write_close(out, ']');
    write_close(out, '}');
}

static void write_names(struct text *out, const struct network *network)
{
    write_key(out, "names");
    write_open(out, '[');
    for (uint32_t router = 0; router < network->topology.routers; router++) {
        char name[128];
        write_text(out, network_router_name(network, router, name, sizeof name));
    }
    write_close(out, ']');
}

enum channel_column { FROM, FROM_PORT, TO, TO_PORT, LATENCY, CYCLE };

static uint32_t channel_fact(const struct watch *watch, uint32_t channel, enum channel_column column)
{
    const struct network *network = watch->network;
    uint32_t slot = watch->channels.slots[channel];
    const struct link *link = &network->links[slot];
    switch (column) {
    case FROM:
        return slot / network->ports;
    case FROM_PORT:
        return slot % network->ports;
    case TO:
        return link->target;
    case TO_PORT:
        return link->first_lane / network->num_vcs;
    case LATENCY:
        return link->latency;
    default:
        return link->cycle;
    }
}

static void write_channels(struct text *out, const struct watch *watch)
{
    static const char *const names[] = {"from", "from_port", "to", "to_port", "latency", "cycle"};
    write_key(out, "channels");
    write_open(out, '{');
    for (enum channel_column column = FROM; column <= CYCLE; column++) {
        write_key(out, names[column]);
        write_open(out, '[');
        for (uint32_t channel = 0; channel < watch->channels.count; channel++)
            write_u64(out, channel_fact(watch, channel, column));
        write_close(out, ']');
    }
    write_close(out, '}');
}

/* One entry for each port with a terminal behind it. */
static void write_terminals(struct text *out, const struct watch *watch)
{
    static const char *const names[] = {"terminal", "router", "port", "latency", "in", "out"};
    const struct network *network = watch->network;
    write_key(out, "terminals");
    write_open(out, '{');
    for (uint32_t column = 0; column < 6; column++) {
        write_key(out, names[column]);
        write_open(out, '[');
        for (uint32_t seat = 0; seat < watch->channels.local; seat++) {
            uint32_t slot = watch->channels.seats[seat];
            const struct link *link = &network->links[slot];
            const uint32_t facts[] = {link->target,  slot / network->ports, slot % network->ports,
                                      link->latency, link->carries_in,      link->carries_out};
            write_u64(out, facts[column]);
        }
        write_close(out, ']');
    }
    write_close(out, '}');
}

void scene_write(struct text *out, const struct watch *watch, const struct layout *layout)
{
    const struct network *network = watch->network;
    write_u64_at(out, "cycle", watch->cycle);
    write_topology(out, network);
    write_layout(out, network, layout);
    write_names(out, network);
    write_channels(out, watch);
    write_terminals(out, watch);
    write_key(out, "router");
    write_open(out, '{');
    write_text_at(out, "type", network->core->router_ops->name);
    write_u64_at(out, "ports", network->ports);
    write_u64_at(out, "terminal_ports", network->routing.local_ports);
    write_u64_at(out, "num_vcs", network->num_vcs);
    write_u64_at(out, "input_depth", network->plan.buffer_depth);
    write_u64_at(out, "delay", network->plan.transfer.delay);
    write_close(out, '}');
}
