/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routing facts of a network: the ports of terminals come first at a router,
 * each terminal's ports together, then those to other routers; the VCs of a port
 * are shared out evenly among the classes of the routing algorithm:
 *
 *     terminal 0     terminal 1     router ports
 *     port 0 1       port 2 3       port 4 5 6 7      (2 ejection channels)
 */
#include "network/routing/routing.h"

#include <stdlib.h>

/* Places of terminals at their routers, in rising order; returns the most that any router has. */
static uint32_t place_terminals(const struct topology *topology, uint16_t *terminal_slot)
{
    uint16_t *taken = memory_take(sizeof *taken * topology->routers);
    uint32_t most = 0;
    for (uint32_t router = 0; router < topology->routers; router++)
        taken[router] = 0;
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++) {
        uint32_t router = topology_router_of(topology, terminal);
        terminal_slot[terminal] = taken[router]++;
        if (taken[router] > most)
            most = taken[router];
    }
    free(taken);
    return most;
}

static const uint64_t *share_vcs(uint32_t num_vcs, uint32_t classes, struct arena *arena)
{
    uint64_t *shares =
        arena_array(arena, uint64_t, (size_t)classes + 1); /* one more, empty, for those who look ahead */
    for (uint32_t class = 0; class < classes; class ++)
        shares[class] = class_vcs(num_vcs, classes, class);
    return shares;
}

static const uint64_t *bake_ejection(const struct routing *routing, struct arena *arena)
{
    uint32_t terminals = routing->local_ports / routing->terminal_ports;
    uint64_t *vcs = arena_array(arena, uint64_t, terminals);
    for (uint32_t slot = 0; slot < terminals && routing->words == 1; slot++)
        vcs[slot] = bits_range(slot * routing->terminal_ports * routing->num_vcs,
                               routing->ejection_channels * routing->num_vcs);
    return vcs;
}

bool routing_init(struct routing *routing, const struct choice *choice, const struct topology *topology,
                  const struct routing_ports *ports, uint64_t seed, struct arena *arena, struct errors *errors)
{
    uint16_t *terminal_slot = arena_array(arena, uint16_t, topology->terminals);
    uint32_t terminal_ports =
        ports->injection_channels > ports->ejection_channels ? ports->injection_channels : ports->ejection_channels;
    uint32_t local_ports = place_terminals(topology, terminal_slot) * terminal_ports;
    *routing = (struct routing){
        .ops = CHOICE_OPS(choice, struct routing_ops),
        .inject = CHOICE_OPS(choice, struct routing_ops)->inject,
        .route = CHOICE_OPS(choice, struct routing_ops)->route,
        .config = choice->config,
        .topology = topology,
        .seed = seed,
        .num_vcs = ports->num_vcs,
        .classes = 1,
        .words = words_for((local_ports + topology->ports) * ports->num_vcs),
        .local_ports = local_ports,
        .terminal_ports = terminal_ports,
        .ejection_channels = ports->ejection_channels,
        .terminal_slot = terminal_slot,
    };
    routing->eject_vcs = bake_ejection(routing, arena);
    uint32_t errors_before = errors->count;
    routing->ops->prepare(routing, choice, arena, errors);
    if (errors->count > errors_before)
        return false;
    if (routing->num_vcs < routing->classes) {
        choice_error(errors, choice, NULL, "\"%s\" needs %u VCs on this topology, but network.router.num_vcs is %u",
                     routing->ops->name, routing->classes, routing->num_vcs);
        return false;
    }
    routing->class_vcs = share_vcs(routing->num_vcs, routing->classes, arena);
    return true;
}
