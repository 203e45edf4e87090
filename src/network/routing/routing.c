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

#include <stdio.h>
#include <stdlib.h>

const char *const decides_names[] = {"router", "source", NULL};

/* Places of terminals at their routers, in rising order; sets the most that any router has. */
static void routing_place_terminals(struct routing *routing, struct arena *arena)
{
    const struct topology *topology = routing->topology;
    uint16_t *slots = arena_array(arena, uint16_t, topology->terminals), *entries = slots;
    uint16_t *taken = memory_take(sizeof *taken * topology->routers);
    uint32_t most = 0;
    if (topology->ops->ejects_at)
        entries = arena_array(arena, uint16_t, topology->terminals);
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++) {
        uint32_t entry = topology_router_of(topology, terminal), exit = topology_ejects_at(topology, terminal);
        slots[terminal] = entries[terminal] = taken[entry]++;
        if (exit != entry)
            slots[terminal] = taken[exit]++;
        most = taken[entry] > most ? taken[entry] : most;
        most = taken[exit] > most ? taken[exit] : most;
    }
    free(taken);
    routing->terminal_slot = slots;
    routing->entry_slot = entries;
    routing->local_ports = most * routing->terminal_ports;
}

static const uint64_t *bake_ejection(const struct routing *routing, struct arena *arena)
{
    uint32_t terminals = routing->local_ports / routing->terminal_ports;
    uint64_t *vcs = arena_array(arena, uint64_t, terminals);
    for (uint32_t slot = 0; slot < terminals && routing->words == 1; slot++)
        for (uint32_t channel = 0; channel < routing->ejection_channels; channel++)
            vcs[slot] |= bits_range((slot * routing->terminal_ports + channel) * routing->num_vcs, routing->vcs);
    return vcs;
}

/* Algorithms know the VCs of the first protocol class alone; others have the same ways in VCs further up. */
static void route_and_move(struct route *route)
{
    route->routing->route_in_class(route);
    route_move_up(route);
}

void routing_misfit(const struct routing *routing, const struct choice *self, const char *needs, struct errors *errors)
{
    const char *name = routing->topology->ops->name;
    if (routing->topology->whole)
        choice_error(
            errors, self, NULL,
            "\"%s\" needs %s without failures, and here links of a \"%s\" have failed; accepted: " LIVES_WITH_FAILURES,
            self->component->name, needs, name);
    else
        choice_error(errors, self, NULL, "\"%s\" needs %s, not \"%s\", on which \"minimal\" works as on any topology",
                     self->component->name, needs, name);
}

/* A level's answers are sets of the whole network's output VCs. */
static void take_shape_of(struct routing *routing, const struct routing *whole)
{
    routing->is_level = true;
    routing->num_vcs = whole->num_vcs;
    routing->local_ports = whole->local_ports;
    routing->words = whole->words;
}

bool routing_init(struct routing *routing, const struct choice *choice, const struct topology *topology,
                  const struct routing_ports *ports, uint64_t seed, struct arena *arena, struct errors *errors)
{
    uint32_t terminal_ports =
        ports->injection_channels > ports->ejection_channels ? ports->injection_channels : ports->ejection_channels;
    const struct routing_ops *ops = CHOICE_OPS(choice, struct routing_ops);
    *routing = (struct routing){
        .ops = ops,
        .is_adaptive = ops->is_adaptive,
        .inject = ops->inject,
        .route = ops->route,
        .config = choice->config,
        .topology = topology,
        .seed = seed,
        .num_vcs = ports->num_vcs,
        .vcs = ports->num_vcs / (ports->protocol_classes ? ports->protocol_classes : 1),
        .classes = 1,
        .terminal_ports = terminal_ports,
        .first_asked = ports->first_router,
        .end_asked = ports->end_router ? ports->end_router : topology->routers,
        .ejection_channels = ports->ejection_channels,
    };
    routing->protocol_vcs = routing->vcs;
    routing_place_terminals(routing, arena);
    routing->words = words_for((routing->local_ports + topology->ports) * ports->num_vcs);
    if (ports->whole)
        take_shape_of(routing, ports->whole);
    routing->eject_vcs = bake_ejection(routing, arena);
    uint32_t errors_before = errors->count;
    ops->prepare(routing, choice, arena, errors);
    if (errors->count > errors_before)
        return false;
    if (routing->classes < ports->least_classes)
        routing->classes = ports->least_classes;
    if (routing->vcs < routing->classes && !ports->whole) {
        char each[64] = "";
        if (routing->vcs < routing->num_vcs)
            snprintf(each, sizeof each, " for each of %u protocol classes", ports->protocol_classes);
        return choice_error(errors, choice, NULL,
                            "\"%s\" needs %u VCs on this topology%s, but network.router.num_vcs is %u", ops->name,
                            routing->classes, each, routing->num_vcs);
    }
    uint64_t *shares =
        arena_array(arena, uint64_t, (size_t)routing->classes + 1); /* one more for those who look ahead */
    for (uint32_t class = 0; class < routing->classes; class ++)
        shares[class] = class_vcs(routing->vcs, routing->classes, class);
    routing->class_vcs = shares;
    for (uint32_t vc = 0; vc < routing->num_vcs; vc++)
        routing->all_escape_vcs |= (routing->escape_vcs >> vc % routing->vcs & 1) << vc;
    if (ports->protocol_classes > 1) {
        routing->route_in_class = routing->route;
        routing->route = route_and_move;
    }
    return true;
}
