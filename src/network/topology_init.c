/* SPDX-License-Identifier: Apache-2.0 */
/* Asks a topology for its shape, and tries what it says: an author's slips are told here, in words. */
#include "network/network.h"

#include <string.h>

#define TRIED_PORTS 65536 /* of larger networks nobody asks: they have the same code */

/* Slips of a topology's author that would come out as broken invariants far from here. */
static bool is_shape_sound(const struct topology *topology, const struct choice *choice, struct errors *errors)
{
    uint64_t seats = (uint64_t)topology->routers * topology->concentration;
    if (topology->routers && topology->terminals && (topology->ops->router_of || topology->terminals <= seats))
        return true;
    return choice_error(
        errors, choice, NULL,
        "shape() of \"%s\" says %u routers, %u terminals and %u at each router (concentration), which do not fit",
        topology->ops->name, topology->routers, topology->terminals, topology->concentration);
}

static bool are_peers_sound(const struct topology *topology, const struct choice *choice, struct errors *errors)
{
    uint64_t ports = (uint64_t)topology->routers * topology->ports;
    for (uint32_t i = 0; ports <= TRIED_PORTS && i < ports; i++) {
        struct router_port from = {i / topology->ports, i % topology->ports}, to, back = {FW_NONE, FW_NONE};
        if (!topology->ops->peer(topology, from.router, from.port, &to))
            continue;
        bool is_there = to.router < topology->routers && to.port < topology->ports;
        if (is_there && topology->ops->peer(topology, to.router, to.port, &back) && back.router == from.router &&
            back.port == from.port)
            continue;
        return choice_error(
            errors, choice, NULL,
            "peer() of \"%s\" leads from router %u port %u to router %u port %u, which %s; accepted: a channel "
            "that both its ends know",
            topology->ops->name, from.router, from.port, to.router, to.port,
            is_there ? "does not lead back" : "is not there");
    }
    return true;
}

static void check_class_names(const struct topology *topology)
{
    for (uint32_t class = 0; topology->channel_class_names && class < topology->channel_classes; class ++) {
        const char *name = topology->channel_class_names[class];
        FW_CHECK(!name || !strpbrk(name, "<>&\",\n"), "shape() of \"%s\" names a class of channels '%s'",
                 topology->ops->name, name);
    }
}

bool topology_init(struct topology *topology, const struct choice *choice, struct arena *arena, struct errors *errors)
{
    uint32_t before = errors->count;
    *topology = (struct topology){.ops = CHOICE_OPS(choice, struct topology_ops), .config = choice->config};
    if (topology->ops->check)
        topology->ops->check(choice, errors);
    if (errors->count > before)
        return false;
    topology->ops->shape(topology->config, arena, topology);
    check_class_names(topology);
    return is_shape_sound(topology, choice, errors) && are_peers_sound(topology, choice, errors);
}
